#include "reaper/cli/check/checks.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

constexpr std::size_t longest_detail = 2000;

const char* word(Verdict verdict) {
    switch (verdict) {
        case Verdict::ok: return "ok";
        case Verdict::info: return "info";
        case Verdict::warn: return "warn";
        case Verdict::fail: return "fail";
    }
    return "";
}

const char* mark(Verdict verdict, bool color) {
    switch (verdict) {
        case Verdict::ok: return color ? "\x1b[32mok\x1b[0m  " : "ok  ";
        case Verdict::info: return color ? "\x1b[36minfo\x1b[0m" : "info";
        case Verdict::warn: return color ? "\x1b[33mwarn\x1b[0m" : "warn";
        case Verdict::fail: return color ? "\x1b[31mFAIL\x1b[0m" : "FAIL";
    }
    return "";
}

}  // namespace

std::string to_line(const Finding& finding, bool color) {
    return std::string(mark(finding.verdict, color)) + " " + finding.what + ": " +
           printable(finding.detail, longest_detail) + "\n";
}

nlohmann::json to_json(const std::vector<Finding>& findings) {
    nlohmann::json checks = nlohmann::json::array();
    for (const Finding& finding : findings)
        checks.push_back({{"verdict", word(finding.verdict)},
                          {"what", finding.what},
                          {"detail", finding.detail}});
    return {{"version", report::json_version}, {"ok", !any_failed(findings)}, {"checks", checks}};
}

report::Table findings_table(const std::vector<Finding>& findings) {
    report::Table table;
    table.columns = {report::column("verdict"), report::column("what"), report::under("detail")};
    table.key = 1;
    table.none = "Nothing was checked.";
    for (const Finding& finding : findings)
        table.rows.push_back({report::text_cell(word(finding.verdict)),
                              report::text_cell(finding.what), report::text_cell(finding.detail)});
    return table;
}

bool any_failed(const std::vector<Finding>& findings) {
    return std::ranges::any_of(
        findings, [](const Finding& finding) { return finding.verdict == Verdict::fail; });
}

std::string counted(std::size_t number, const char* one, const char* many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
}

}  // namespace reaper::cli

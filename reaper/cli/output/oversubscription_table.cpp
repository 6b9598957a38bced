#include "reaper/cli/output/oversubscription_table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace reaper::cli {
namespace {

using nlohmann::json;

std::string words_in(const json& each, const char* name) {
    const auto at = each.find(name);
    return at != each.end() && at->is_string() ? at->get<std::string>() : "";
}

report::Cell vcpus_in(const json& each, const char* name) {
    const auto at = each.find(name);
    if (at == each.end() || !at->is_number_integer()) return {};
    return report::Cell{at->get<std::int64_t>()};
}

bool is_set(const json& each, const char* name) {
    return each.value(name, json{}) == json(true);
}

/// Why nothing new is sold, but for the estimate.
std::string state_of(const json& each) {
    if (is_set(each, "too_busy")) return "too busy";
    if (is_set(each, "left_alone")) return "left alone";
    const auto wanted = each.find("wanted");
    return wanted == each.end() || wanted->is_null() ? "not known" : "";
}

std::vector<report::Cell> room_cells(const json& each) {
    const std::string name = words_in(each, "host_name");
    return {report::text_cell(name.empty() ? words_in(each, "host") : name),
            vcpus_in(each, "published"),
            vcpus_in(each, "used"),
            vcpus_in(each, "wanted"),
            vcpus_in(each, "excess"),
            report::text_cell(state_of(each)),
            report::text_cell(words_in(each, "host")),
            report::text_cell(words_in(each, "why"))};
}

}  // namespace

report::Table oversubscription_table(const json& said) {
    using report::column;
    using report::number;
    report::Table table;
    table.columns = {column("host"),          number("published"), number("used"),
                     number("wanted"),        number("excess"),    column("state"),
                     report::wide("host_id"), report::under("why")};
    table.none = "No hosts whose unused vCPUs are sold.";
    const json list = said.value("hosts", json::array());
    for (const json& each : list)
        table.rows.push_back(each.is_object() ? room_cells(each)
                                              : std::vector<report::Cell>(table.columns.size()));
    return table;
}

}  // namespace reaper::cli

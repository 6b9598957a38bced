#include "reaper/cli/cloud/saved_plan.hpp"

#include <ostream>
#include <utility>
#include <variant>

#include "reaper/cli/cloud/planning.hpp"
#include "reaper/cli/daemon/request_progress.hpp"
#include "reaper/cli/output/whole_file.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

const std::string saved_format = "reaper-plan";
constexpr int saved_version = 1;
constexpr std::size_t longest_name = 255;

Plan plan_in(const JsonPlace& in) {
    Decision decision = report::part_in(in, in.value(), report::decision_from_json);
    auto* const plan = std::get_if<Plan>(&decision);
    in.expect(plan != nullptr && !plan->victims().empty(), "a plan with victims");
    return std::move(*plan);
}

SavedPlan saved_in(const json& document) {
    const JsonPlace whole{document};
    whole.expect(document.is_object(), "a plan of 'reaper plan --save'");
    whole.expect(document.value("format", json{}) == json(saved_format),
                 "a plan of 'reaper plan --save'");
    const JsonPlace written = whole["version"];
    written.expect(written.integer() == saved_version, "1: another version of reaper wrote it");
    SavedPlan saved;
    saved.planned_at = whole["planned_at"].time();
    saved.planned_by = whole["planned_by"].text(longest_name);
    const JsonPlace request = whole["request"];
    request.expect(request.is_group(), "a request");
    saved.request = request.value();
    request["id"].id();
    const JsonPlace decision = whole["decision"];
    saved.plan = plan_in(decision);
    return saved;
}

}  // namespace

Result<void> save_plan(const std::string& path, const DescribedRequest& described,
                       const Request& request, const Plan& plan, const std::string& planned_by) {
    DescribedRequest same = described;
    same.id = request.id.str();
    same.project = request.project.str();
    const json document = {{"format", saved_format},
                           {"version", saved_version},
                           {"planned_at", iso_time(request.sent_at)},
                           {"planned_by", planned_by},
                           {"request", body_of(same)},
                           {"decision", report::to_json(Decision{plan})}};
    return write_whole_file(path,
                            [&](std::ostream& out) { out << report::dump(document, 2) << "\n"; });
}

Result<SavedPlan> read_saved_plan(const std::string& path) {
    const std::string name = path == "-" ? "stdin" : path;
    auto text = read_input(path);
    if (!text) return text.error();
    const auto document = parse_json(*text);
    if (!document)
        return Error{Errc::bad_input, name + ": " + document.error().what +
                                          "; expected a plan of 'reaper plan --save'"};
    try {
        return saved_in(*document);
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, name + ": " + wrong.what};
    }
}

}  // namespace reaper::cli

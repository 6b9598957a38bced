#include "reaper/api/approval.hpp"

#include <nlohmann/json.hpp>

#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"

namespace reaper::api {
namespace {

constexpr std::size_t longest_name = 255;

Approval approval_in(const JsonPlace& in) {
    Approval approval;
    in.each_member([](const std::string& name, const JsonPlace& member) {
        if (name != "by" && name != "planned_at" && name != "victims")
            member.fail("there is no such field; there are: by, planned_at, victims");
    });
    approval.by = in["by"].text(longest_name);
    approval.planned_at = in["planned_at"].time();
    in["victims"].each([&](const JsonPlace& each) { approval.victims.emplace(each.id()); });
    return approval;
}

}  // namespace

Result<ApprovedBody> take_approval(const std::string& body) {
    nlohmann::json said = nlohmann::json::parse(body, nullptr, false);
    if (!said.is_object() || !said.contains("approved")) return ApprovedBody{body, std::nullopt};
    if (const auto once = parse_body(body); !once) return once.error();
    try {
        const JsonPlace whole{said};
        const JsonPlace approved = whole["approved"];
        Approval approval = approval_in(approved);
        said.erase("approved");
        return ApprovedBody{said.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                            std::move(approval)};
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, "the body: " + wrong.what};
    }
}

}  // namespace reaper::api

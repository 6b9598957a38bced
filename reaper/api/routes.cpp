#include "reaper/api/routes.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "reaper/api/culling_candidates.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::admin {
namespace {

Task<QuestionAnswer> list_routes(const Service&, Question) {
    nlohmann::json list = nlohmann::json::array();
    for (const Route& route : routes())
        list.push_back({{"path", route.path}, {"help", route.help}});
    QuestionAnswer found;
    found.body =
        report::dump({{"version", report::json_version}, {"routes", std::move(list)}}) + "\n";
    co_return found;
}

constexpr Route table[] = {
    {"/v1", "this list", list_routes},
    {"/v1/culling_candidates",
     "?resources=VCPU:1,MEMORY_MB:2048 - hosts that could take a server of that size if "
     "preemptible ones went",
     culling_candidates},
};

const Route* find_route(const std::string& path) {
    for (const Route& route : table)
        if (route.path == path) return &route;
    return nullptr;
}

std::optional<Question> question_of(const std::string& target) {
    const auto parsed = boost::urls::parse_origin_form(target);
    if (!parsed) return std::nullopt;
    Question question;
    question.path = parsed->path();
    for (const auto parameter : parsed->params())
        question.parameters.emplace_back(parameter.key, parameter.value);
    return question;
}

}  // namespace

std::span<const Route> routes() {
    return table;
}

QuestionAnswer refuse(int status, const std::string& why) {
    QuestionAnswer refused;
    refused.status = status;
    refused.body = report::dump({{"version", report::json_version}, {"error", why}}) + "\n";
    return refused;
}

Task<QuestionAnswer> answer(const Service& service, std::string target) {
    auto question = question_of(target);
    if (!question) co_return refuse(400, "the address is no path with a query");
    const Route* const route = find_route(question->path);
    if (route == nullptr)
        co_return refuse(
            404, "there is no " + printable(question->path, 100) + "; GET /v1 lists what there is");
    Question asked = std::move(*question);
    co_return co_await route->answer(service, std::move(asked));
}

}  // namespace reaper::admin

#include "reaper/api/answers.hpp"

#include <algorithm>
#include <boost/url/url.hpp>
#include <charconv>
#include <set>

#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::api {

HttpResponse answered(nlohmann::json body, int status) {
    HttpResponse response;
    response.status = status;
    body["version"] = report::json_version;
    response.body = report::dump(body) + "\n";
    return response;
}

Query::Query(const ApiRequest& request, const std::vector<std::string_view>& known)
    : request_(request) {
    std::set<std::string> seen;
    for (const auto& [name, value] : request.parameters) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            std::string there;
            for (const auto& each : known) there += (there.empty() ? "" : ", ") + std::string{each};
            wrong_ = "unknown parameter " + in_quotes(name) + "; there " +
                     (known.empty() ? "is none" : "are: " + there);
        } else if (!seen.insert(name).second) {
            wrong_ = name + " is given twice";
        }
    }
}

const std::string& Query::text(std::string_view name) const {
    static const std::string none;
    for (const auto& [given, value] : request_.parameters)
        if (given == name) return value;
    return none;
}

Result<PageAsked> page_of(const Query& query, std::size_t usual, std::size_t most) {
    PageAsked page{usual, query.text("marker")};
    const std::string& limit = query.text("limit");
    if (limit.empty()) return page;
    const auto [end, failure] =
        std::from_chars(limit.data(), limit.data() + limit.size(), page.limit);
    if (failure != std::errc{} || end != limit.data() + limit.size())
        return Error{Errc::bad_input, "limit: expected a whole number, found " + in_quotes(limit)};
    if (page.limit == 0 || page.limit > most) page.limit = most;
    return page;
}

nlohmann::json next_link(const ApiRequest& request, const std::string& marker) {
    boost::urls::url next;
    next.set_path(request.path);
    for (const auto& [name, value] : request.parameters)
        if (name != "marker") next.params().append(boost::urls::param_view{name, value});
    next.params().append(boost::urls::param_view{"marker", marker});
    return nlohmann::json::array(
        {{{"rel", "next"}, {"href", std::string(next.data(), next.size())}}});
}

}  // namespace reaper::api

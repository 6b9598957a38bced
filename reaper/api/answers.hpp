// What answers of the admin API have in common: their shape, pages of a list, and what they ask of
// a query.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reaper/api/routes.hpp"
#include "reaper/model/text.hpp"

namespace reaper::api {

/// An object, with `version`.
HttpResponse answered(nlohmann::json body, int status = 200);

/// 503, as long as there is no cache.
HttpResponse cloud_not_read();

/// How a refusal begins if the journal can't be read; the journal's own reason follows.
inline constexpr std::string_view journal_trouble = "the journal can't be read: ";
/// 503, with that.
HttpResponse not_readable(const Error& error);

/// `?name=value` of a request, each at most once.
class Query {
public:
    /// `known`: the names there are; another one, or one that is given twice, is `wrong`.
    Query(const ApiRequest& request, const std::vector<std::string_view>& known);

    /// Why it can't be answered, as one line; none: it can.
    const std::optional<std::string>& wrong() const noexcept { return wrong_; }
    /// Empty if it is not given.
    const std::string& text(std::string_view name) const;

private:
    const ApiRequest& request_;
    std::optional<std::string> wrong_;
};

/// Where a page of a list begins, and how long it is, as OpenStack asks for it:
/// `?limit=N&marker=ID` (the last id of the page before).
struct PageAsked {
    std::size_t limit = 0;
    std::string marker;  ///< empty: from the beginning
};
/// 0 and what is above `most` count as `most`, as they do for Nova. `bad_input` for no number.
Result<PageAsked> page_of(const Query& query, std::size_t usual, std::size_t most);

/// Leaves of `all` those of the page, each with an id of its own; are there more after it?
/// `bad_input`: what the marker names is no more.
template <class Thing, class IdOf>
Result<bool> cut_to_page(std::vector<Thing>& all, const PageAsked& page, const IdOf& id_of) {
    if (!page.marker.empty()) {
        const auto last = std::ranges::find_if(
            all, [&](const Thing& each) { return id_of(each) == page.marker; });
        if (last == all.end())
            return Error{Errc::bad_input, "marker: there is no " + in_quotes(page.marker) +
                                              "; begin again without one"};
        all.erase(all.begin(), last + 1);
    }
    if (all.size() <= page.limit) return false;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(page.limit), all.end());
    return true;
}

/// `[{rel: "next", href: PATH?...}]`: the same question from `marker` on.
nlohmann::json next_link(const ApiRequest& request, const std::string& marker);

/// What is done with each of several hosts.
using HostVisit = std::function<void(const Host& host, const DaemonView& view)>;
/// Visits the hosts as they are by then, `at_once` before others run again; those that went are
/// left out. False: the cloud is no longer known. The arguments must outlive it.
Task<bool> visit_hosts(const Backend& backend, const std::vector<HostId>& ids, std::size_t at_once,
                       const HostVisit& visit);

// The project that a query names.

/// The project of this id or name: the daemon has it in its cache, or Keystone is asked. Else why
/// there is none: 404, 400 where several have the name, 503 while Keystone can't be asked.
Task<std::variant<ProjectId, HttpResponse>> project_of(const Backend& backend, std::string written);

}  // namespace reaper::api

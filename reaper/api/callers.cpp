#include "reaper/api/callers.hpp"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <utility>

#include "reaper/api/routes.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::api {
namespace {

constexpr Duration holds_for = std::chrono::minutes{1};
constexpr std::size_t max_known = 256;
/// Tokens that Keystone refuses cost it a call each: so many in a minute from one address, and then
/// five a second.
constexpr std::size_t max_refused = 30;
constexpr Duration refused_counts_for = std::chrono::minutes{1};
constexpr Duration between_asks{200};
/// Addresses beyond so many share one budget.
constexpr std::size_t max_addresses = 4096;

/// The header's value; more than one says nothing.
std::string only_value(const HttpHeaders& headers, std::string_view name) {
    std::string found;
    for (const auto& [key, value] : headers) {
        if (!boost::algorithm::iequals(key, name)) continue;
        if (!found.empty()) return {};
        found = value;
    }
    return found;
}

bool may_be_a_token(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
}

/// So that no name is another one's with its domain.
std::string escaped(const std::string& name) {
    std::string text;
    for (const char c : name) {
        if (c == '@')
            text += "%40";
        else if (c == '%')
            text += "%25";
        else
            text += c;
    }
    return text;
}

}  // namespace

Callers::Callers(CallerRules rules, Identity& identity, Clock& clock)
    : rules_(std::move(rules)), identity_(identity), clock_(clock) {}

Task<std::variant<Caller, HttpResponse>> Callers::identify(HttpRequest request) {
    if (rules_.tokens) {
        std::string token = only_value(request.headers, "X-Auth-Token");
        std::string why = "X-Auth-Token: expected a token of Keystone";
        if (may_be_a_token(token)) {
            if (!is_known(token) && !may_ask(request.address)) {
                HttpResponse later =
                    refuse(503, "too many tokens from your address were refused lately: try again");
                later.headers.emplace_back("Retry-After", "1");
                co_return later;
            }
            const auto owner = co_await owner_of(std::move(token), std::move(request.address));
            // What Keystone says of the reaper's own rights is for its operator.
            if (!owner && std::exchange(trouble_, owner.error().what) != owner.error().what)
                spdlog::warn("admin API: the owner of a token is not known: {}", trouble_);
            if (!owner)
                co_return refuse(503, "the owner of the token is not known now; the log has why");
            if (*owner) co_return by_owner(**owner);
            why = "X-Auth-Token: Keystone does not take it, or no longer";
        }
        HttpResponse refused = refuse(401, why);
        refused.headers.emplace_back("WWW-Authenticate",
                                     "Keystone uri=\"" + rules_.keystone_url + "\"");
        co_return refused;
    }
    if (rules_.certificates) {
        if (request.certificate_name.empty())
            co_return refuse(403, "the certificate's subject has no common name");
        co_return by_certificate(request.certificate_name);
    }
    Caller unknown;
    unknown.access = rules_.unknown;
    co_return unknown;
}

std::variant<Caller, HttpResponse> Callers::by_owner(const TokenOwner& owner) const {
    const auto has_one_of = [&](const std::vector<std::string>& roles) {
        return std::ranges::find_first_of(owner.roles, roles) != owner.roles.end();
    };
    Caller caller;
    caller.access = has_one_of(rules_.roles)        ? Access::act
                    : has_one_of(rules_.read_roles) ? Access::look
                                                    : Access::own;
    caller.principal = escaped(owner.user) + "@" + escaped(owner.user_domain);
    if (rules_.owners) caller.project = owner.project;
    if (rules_.owners || caller.access != Access::own) return caller;
    return refuse(403, printable(*caller.principal, 255) + " has none of the roles that may ask: " +
                           reaper::joined(rules_.roles) + " (admin.roles)");
}

std::variant<Caller, HttpResponse> Callers::by_certificate(const std::string& name) const {
    Caller caller;
    caller.access = Access::act;
    caller.principal = escaped(name);
    const bool any = std::ranges::any_of(rules_.principals, [&](const std::string& pattern) {
        return matches_glob(pattern, *caller.principal);
    });
    if (any) return caller;
    return refuse(403, "a certificate of " + printable(*caller.principal, 255) +
                           " may not ask (admin.principals)");
}

/// Has Keystone taken it, and has it not expired since?
bool Callers::is_known(const std::string& token) {
    std::erase_if(known_,
                  [this](const auto& each) { return each.second.owner.expires <= clock_.now(); });
    return known_.contains(token);
}

Callers::Budget& Callers::budget_of(const std::string& address) {
    const bool full = budgets_.size() >= max_addresses && !budgets_.contains(address);
    return budgets_[full ? "others" : address];
}

/// Whether Keystone is asked now about another token from that address.
bool Callers::may_ask(const std::string& address) {
    const Duration now = clock_.steady();
    for (auto& each : budgets_)
        std::erase_if(each.second.refused,
                      [&](Duration at) { return at + refused_counts_for <= now; });
    std::erase_if(budgets_, [](const auto& each) {
        return each.second.asking == 0 && each.second.refused.empty();
    });
    const Budget& budget = budget_of(address);
    if (budget.refused.size() + budget.asking < max_refused) return true;
    // One at a time then.
    return budget.asking == 0 && budget.refused.back() + between_asks <= now;
}

ResultTask<std::optional<TokenOwner>> Callers::owner_of(std::string token, std::string address) {
    if (const auto at = known_.find(token); at != known_.end()) {
        if (at->second.until > clock_.steady()) co_return at->second.owner;
        co_return co_await ask_keystone(std::move(token));
    }
    Budget& budget = budget_of(address);  // stays while a request is under way
    ++budget.asking;
    auto owner = co_await ask_keystone(std::move(token));
    --budget.asking;
    if (owner && !*owner) {
        budget.refused.push_back(clock_.steady());
        if (budget.refused.size() > max_refused) budget.refused.pop_front();
    }
    co_return owner;
}

ResultTask<std::optional<TokenOwner>> Callers::ask_keystone(std::string token) {
    std::string asked = token;
    auto owner = co_await identity_.owner_of(std::move(asked));
    if (owner && !*owner) known_.erase(token);
    if (!owner || !*owner) co_return owner;
    if (known_.size() >= max_known)
        known_.erase(std::ranges::min_element(
            known_, [](auto& one, auto& other) { return one.second.until < other.second.until; }));
    known_.insert_or_assign(std::move(token), Known{**owner, clock_.steady() + holds_for});
    co_return owner;
}

}  // namespace reaper::api

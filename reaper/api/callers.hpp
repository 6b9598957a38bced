// The callers of the admin API, and their rights: on the Unix socket its owner may do everything;
// on a port as the configuration says, by a token of Keystone or by the certificate of the caller.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reaper/ports/http_handler.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper::api {

/// Watching is what monitoring may. Owning shows a project its own servers, and nothing else.
/// Looking shows everything and changes nothing.
enum class Access { watch, own, look, act };

struct Caller {
    Access access = Access::look;
    /// Reserves and unreserves under this name: `USER@DOMAIN` of a token, or a certificate's common
    /// name; an `@` within a name is `%40`, and `%` is `%25`. None: the caller's identity
    /// is not known, and the request names it.
    std::optional<std::string> principal{};
    ProjectId project{};  ///< of his token, where owners may ask; else empty
};

/// How callers show who they are.
struct CallerRules {
    Access unknown = Access::look;  ///< of whom nothing is demanded
    bool certificates = false;      ///< the server demands one, and its name is the principal
    std::vector<std::string> principals{};  ///< patterns; a certificate's name must match one
    bool tokens = false;  ///< one is demanded in X-Auth-Token; its user is the principal
    std::vector<std::string> roles{};       ///< a token's user must have one of them
    std::vector<std::string> read_roles{};  ///< or one of these: his access is for reading then
    bool owners = false;                    ///< any other user owns what his token's project has
    std::string keystone_url{};             ///< where he gets a token, for the refusal
};

class Callers {
public:
    /// Both must outlive it. `identity` is asked for tokens alone.
    Callers(CallerRules rules, Identity& identity, Clock& clock);

    /// The caller; or why he is refused: 401 without a token that Keystone takes, 403 without a
    /// role or a name, 503 while Keystone can't be asked, or so many tokens from his address were
    /// refused lately that it is not asked about another one yet. What Keystone says of a token
    /// holds for a minute; one that it took is asked about again whatever was refused since.
    Task<std::variant<Caller, HttpResponse>> identify(HttpRequest request);

private:
    struct Known {
        TokenOwner owner;
        Duration until{};  ///< steady: then it is asked about again
    };
    /// What one address costs Keystone.
    struct Budget {
        std::size_t asking = 0;          ///< about tokens that are not known
        std::deque<Duration> refused{};  ///< steady: when Keystone took a token not, of late
    };

    ResultTask<std::optional<TokenOwner>> ask_keystone(std::string token);
    ResultTask<std::optional<TokenOwner>> owner_of(std::string token, std::string address);
    bool is_known(const std::string& token);
    bool may_ask(const std::string& address);
    Budget& budget_of(const std::string& address);
    std::variant<Caller, HttpResponse> by_owner(const TokenOwner& owner) const;
    std::variant<Caller, HttpResponse> by_certificate(const std::string& name) const;

    const CallerRules rules_;
    Identity& identity_;
    Clock& clock_;
    std::map<std::string, Known> known_;     // by token: those that Keystone took
    std::map<std::string, Budget> budgets_;  // by address
    std::string trouble_;                    // with Keystone, as last logged
};

}  // namespace reaper::api

// Who asks the admin API, and what he may do: on the Unix socket its owner, everything; on a port
// as the configuration says, by a token of Keystone or by the certificate that he shows.
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

/// Watching is what monitoring may. Looking shows everything and changes nothing.
enum class Access { watch, look, act };

struct Caller {
    Access access = Access::look;
    /// As whom he reserves and unreserves: `USER@DOMAIN` of a token, or a certificate's common
    /// name; an `@` within a name is `%40`, and `%` is `%25`. None: who he is is not known, and he
    /// says it himself.
    std::optional<std::string> principal{};
};

/// How callers show who they are.
struct CallerRules {
    Access unknown = Access::look;  ///< of whom nothing is demanded
    bool certificates = false;      ///< the server demands one, and its name is the principal
    std::vector<std::string> principals{};  ///< patterns; a certificate's name must match one
    bool tokens = false;  ///< one is demanded in X-Auth-Token; its user is the principal
    std::vector<std::string> roles{};  ///< a token's user must have one of them
    std::string keystone_url{};        ///< where he gets a token, for the refusal
};

class Callers {
public:
    /// Both must outlive it. `identity` is asked for tokens alone.
    Callers(CallerRules rules, Identity& identity, Clock& clock);

    /// The caller; or why he is refused: 401 without a token that Keystone takes, 403 without a
    /// role or a name, 503 while Keystone can't be asked, or so many tokens were refused lately
    /// that it is not asked about another one yet. What Keystone says of a token holds for a
    /// minute.
    Task<std::variant<Caller, HttpResponse>> identify(HttpRequest request);

private:
    struct Known {
        TokenOwner owner;
        Duration until{};  ///< steady
    };

    ResultTask<std::optional<TokenOwner>> owner_of(std::string token);
    bool is_known(const std::string& token);
    bool may_ask();
    std::variant<Caller, HttpResponse> by_owner(const TokenOwner& owner) const;
    std::variant<Caller, HttpResponse> by_certificate(const std::string& name) const;

    const CallerRules rules_;
    Identity& identity_;
    Clock& clock_;
    std::map<std::string, Known> known_;  // by token
    std::size_t asking_ = 0;              // about tokens that are not known
    std::deque<Duration> refused_;        // steady: when Keystone took a token not, of late
    std::string trouble_;                 // with Keystone, as it was told last
};

}  // namespace reaper::api

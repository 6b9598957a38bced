// The whole of the simulated cloud's HTTP: which service a path belongs to, whose token it is,
// faults, the witness, and the administrator's endpoint. No sockets.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tests/cloudsim/api/faults.hpp"
#include "tests/cloudsim/api/http.hpp"
#include "tests/cloudsim/api/witness.hpp"
#include "tests/cloudsim/core/lifecycle.hpp"
#include "tests/cloudsim/core/world.hpp"

namespace reaper::cloudsim {

/// What the administrator may do to the notifier. Without a broker they are refused.
struct NotifierControl {
    std::function<bool(const std::string& body, const std::string& routing_key)> publish;
    std::function<void(bool paused)> pause;
    std::function<std::string()> state_json;  ///< an object
};

class Site {
public:
    /// Fills an empty world; empty if all is well, else one line that says what can't be.
    using Seeder = std::function<std::string(World&, Lifecycle&)>;

    /// Without a seeder, the settings say what the cloud holds.
    Site(Settings settings, std::function<Time()> real, Seeder seeder = nullptr);

    /// Fills the cloud. Empty if all is well; else one line that says what can't be.
    std::string fill();
    /// Where clients reach it: `http://127.0.0.1:8000`.
    void set_root(std::string root) { root_ = std::move(root); }
    /// Told of everything that happens; must outlive the site.
    void listen(Listener& listener);
    void set_notifier(NotifierControl control) { notifier_ = std::move(control); }

    Response handle(const Request& request);
    /// How long a call takes by the settings, on the simulated clock.
    Micros delay_of(const Request& request) const;
    /// To be called when something may be due, and after each request.
    void run_due() { world_->clock.run_due(); }

    World& world() { return *world_; }
    Lifecycle& lifecycle() { return *lifecycle_; }
    Faults& faults() { return faults_; }
    const Witness& witness() const { return *witness_; }
    const std::string& root() const { return root_; }
    const NotifierControl& notifier() const { return notifier_; }

    /// The start state, ids included, or the same hosts without servers. Tokens stay good.
    void reset_to_empty();
    std::string reset_to_start();

private:
    Response answer(const Request& request, const Token* token);
    void note(const Request& request, const std::string& user, int status);

    std::function<Time()> real_;
    Seeder seeder_;
    std::unique_ptr<World> world_;
    std::unique_ptr<Lifecycle> lifecycle_;
    std::unique_ptr<Witness> witness_;
    Faults faults_;
    NotifierControl notifier_;
    std::string root_ = "http://127.0.0.1";
};

/// The administrator's endpoint, below /admin. Needs no token.
Response admin(Site& site, const Request& request);

}  // namespace reaper::cloudsim

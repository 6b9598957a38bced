#include "reaper/cli/channel/journal_channel.hpp"

#include <optional>
#include <utility>

#include "reaper/api/answers.hpp"
#include "reaper/api/routes.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/requests/record_feed.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

class NoDaemon final : public api::Daemon {
public:
    std::optional<DaemonView> view() const override { return std::nullopt; }
    DaemonStatus status() const override { return {}; }
    Task<std::optional<Decision>> would_decide(Request) override { co_return std::nullopt; }
    Task<std::optional<RoomAnswer>> room_for(Request) override { co_return std::nullopt; }
    OperatorTrigger* operators() override { return nullptr; }
    ReservationController* reservations() override { return nullptr; }
    ServerProtections* protections() override { return nullptr; }
    const RoomPublisher* room_publisher() override { return nullptr; }
};

class JournalChannel final : public ApiChannel {
public:
    JournalChannel(boost::asio::io_context& io, JournalReader& journal, std::string name)
        : io_(io), name_(std::move(name)), backend_{daemon_, journal, feed_} {}

    Result<http::LocalAnswer> ask(http::Method /*always GET*/, const std::string& target,
                                  const std::string& /*body*/) override {
        HttpRequest request{"GET", target};
        HttpResponse said = run_task(io_, api::answer(backend_, api::Caller{}, std::move(request)));
        http::LocalAnswer answer{said.status, std::move(said.body)};
        if (answer.status != 503) return answer;
        std::string why = why_refused(answer);
        if (why.starts_with(api::journal_trouble)) why.erase(0, api::journal_trouble.size());
        return Error{Errc::storage, std::move(why)};
    }
    Result<http::LocalAnswer> stream(
        http::Method method, const std::string& target, const std::string& body,
        const std::function<void(const std::string&)>& /*on_line*/) override {
        return ask(method, target, body);
    }
    std::string name() const override { return name_; }
    bool remote() const override { return false; }

private:
    boost::asio::io_context& io_;
    std::string name_;
    NoDaemon daemon_;
    RecordFeed feed_;
    api::Backend backend_;
};

}  // namespace

std::unique_ptr<ApiChannel> journal_channel(boost::asio::io_context& io, JournalReader& journal,
                                            const std::string& name) {
    return std::make_unique<JournalChannel>(io, journal, name);
}

}  // namespace reaper::cli

#include "reaper/cli/cloud/names_of_projects.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "reaper/model/time.hpp"

namespace reaper::cli {

struct NamesOfProjects::Asked {
    explicit Asked(const boost::asio::any_io_executor& executor) : told(executor, 1) {}

    /// The first word counts.
    void answer(Result<ProjectNames> said) {
        if (names) return;
        names = std::move(said);
        told.try_send(boost::system::error_code{});
    }
    static Task<void> ask(std::shared_ptr<Asked> asked, Identity& identity) {
        auto said = co_await identity.names_of_projects();
        asked->answer(std::move(said));
    }
    static Task<void> give_up(std::shared_ptr<Asked> asked, Clock& clock) {
        co_await clock.sleep(patience);
        asked->answer(
            Error{Errc::timeout, "Keystone did not tell them within " + format_duration(patience)});
    }

    std::optional<Result<ProjectNames>> names;
    boost::asio::experimental::channel<void(boost::system::error_code)> told;
};

NamesOfProjects::NamesOfProjects(const boost::asio::any_io_executor& executor, Identity& identity,
                                 Clock& clock)
    : asked_(std::make_shared<Asked>(executor)) {
    boost::asio::co_spawn(executor, Asked::ask(asked_, identity), boost::asio::detached);
    boost::asio::co_spawn(executor, Asked::give_up(asked_, clock), boost::asio::detached);
}

ResultTask<ProjectNames> NamesOfProjects::take() {
    const auto asked = asked_;
    if (!asked->names) co_await asked->told.async_receive(boost::asio::use_awaitable);
    co_return *asked->names;
}

std::optional<std::string> why_ids_alone(const Error& error) {
    if (error.code == Errc::forbidden) return std::nullopt;
    return "names of projects are not known, only their ids are shown: " + error.what;
}

}  // namespace reaper::cli

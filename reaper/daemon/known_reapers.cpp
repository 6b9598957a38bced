#include "reaper/daemon/known_reapers.hpp"

#include <optional>
#include <utility>

#include "clients/amqp/amqp_console.hpp"
#include "clients/journal/worker.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper {
namespace {

/// How long an answer is valid.
constexpr Duration holds_for{5'000};
constexpr int most_waiting = 4;

}  // namespace

class KnownReapers::Impl {
public:
    Impl(config::Broker broker, std::string journal, const MessageSource& messages, Clock& clock,
         bool dry_run)
        : broker_(std::move(broker)),
          here_{machine_name(), std::move(journal)},
          messages_(messages),
          clock_(clock),
          dry_run_(dry_run),
          thread_(most_waiting) {}

    ResultTask<std::vector<api::KnownReaper>> list() {
        std::vector<api::KnownReaper> all{{here_.machine, here_.journal, true, false, {}}};
        all.front().serves = !dry_run_ && messages_.serving() != 0;
        if (all.front().serves) co_return all;
        if (!answer_ || clock_.steady() >= holds_until_) {
            std::function<Result<ActiveReaper>()> question = [broker = broker_] {
                return AmqpConsole{broker}.active_reaper();
            };
            Error busy{Errc::conflict, "others ask the broker already; try again in a second"};
            auto answer = co_await thread_.run<ActiveReaper>(std::move(question), std::move(busy));
            answer_ = std::move(answer);
            holds_until_ = clock_.steady() + holds_for;
        }
        if (!*answer_) co_return answer_->error();
        const ActiveReaper& active = **answer_;
        if (active == here_)
            all.front().serves = true;
        else
            all.push_back({active.machine, active.journal, false, true, {}});
        co_return all;
    }

private:
    config::Broker broker_;
    const ActiveReaper here_;
    const MessageSource& messages_;
    Clock& clock_;
    const bool dry_run_;
    std::optional<Result<ActiveReaper>> answer_;
    Duration holds_until_{};  ///< steady
    journal::Worker thread_;
};

KnownReapers::KnownReapers(config::Broker broker, std::string journal,
                           const MessageSource& messages, Clock& clock, bool dry_run)
    : impl_(std::make_unique<Impl>(std::move(broker), std::move(journal), messages, clock,
                                   dry_run)) {}

KnownReapers::~KnownReapers() = default;

std::vector<api::KnownReaper> KnownReapers::of_journal(const ReaperList& list,
                                                       const std::string& journal) {
    std::vector<api::KnownReaper> all;
    for (const JournalReaper& each : list.all)
        all.push_back({each.note.machine, journal, each.here, each.active, each});
    return all;
}

ResultTask<std::vector<api::KnownReaper>> KnownReapers::list() {
    return impl_->list();
}

}  // namespace reaper

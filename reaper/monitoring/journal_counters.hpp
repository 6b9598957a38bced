// Counts what is written into the journal: requests and how they ended, victims, what happened to
// the room, and how long each took. Whatever happens is journaled first, so this is the one place
// that sees all of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "reaper/ports/journal.hpp"

namespace prometheus {
class Registry;
class Counter;
class Histogram;
template <typename T>
class Family;
}  // namespace prometheus

namespace reaper::monitoring {

class JournalCounters final : public JournalObserver {
public:
    /// The names of the taggers that call a server revocable; empty: it is no longer known.
    using TaggersOf = std::function<std::string(const HostId&, const ServerId&)>;

    /// Adds its families to the registry, which must outlive it.
    explicit JournalCounters(prometheus::Registry& registry);

    /// Looks up the servers of a plan; empty at first.
    void ask(TaggersOf taggers_of) { taggers_of_ = std::move(taggers_of); }

    void wrote(std::chrono::duration<double> took,
               const std::optional<std::string>& trouble) override;
    /// What an earlier process wrote: counted by that one, but how it goes on is counted here.
    void read_back(const RequestRecord& record) override;
    void admitted(const Request& request, TimePoint now) override;
    void admitted_again(const Request& request, TimePoint now) override { admitted(request, now); }
    void ended_at_once(const Request& request, const Outcome& outcome) override;
    void planned(const RequestId& id, const PlanEntry& plan) override;
    void stepped(const RequestId& id, const StepEntry& step) override;
    void ended(const RequestId& id, const Outcome& outcome) override;
    void freed_room(const RequestId& id, const FreedRoomResult& result) override;
    void noted_message(const MessageEntry& message) override;
    void noted_event(const JournalEvent& event) override;

    /// When the oldest request without an outcome was received; none if all have one.
    std::optional<TimePoint> oldest_open() const;
    /// Why the last write failed; none if it did not.
    const std::optional<std::string>& write_trouble() const noexcept { return write_trouble_; }
    /// Requests that it keeps in mind.
    std::size_t known() const noexcept { return known_.size(); }
    /// So many that ended wait at most for what becomes of their room.
    static constexpr std::size_t most_ended = 10'000;

private:
    using Counters = prometheus::Family<prometheus::Counter>;
    using Histograms = prometheus::Family<prometheus::Histogram>;
    struct Chosen {
        std::string strategy;
        std::string taggers;
    };
    struct Known {
        RequestSource source{};
        TimePoint sent_at{};
        TimePoint received_at{};
        std::map<ServerId, Chosen> chosen{};
        std::set<ServerId> sent{};  ///< whose deletion was
        bool ended = false;
    };

    void show_zeros();
    void count_end(RequestSource source, const Outcome& outcome);
    void keep_until_judged(const RequestId& id);

    Counters& requests_;
    Counters& refusals_;
    Counters& decisions_;
    Counters& planned_victims_;
    Counters& victims_;
    Counters& steps_;
    Counters& freed_rooms_;
    Counters& messages_;
    Counters& events_;
    Histograms& lag_;
    Histograms& to_room_;
    Histograms& to_taken_;
    prometheus::Counter& writes_;
    prometheus::Counter& failed_writes_;
    prometheus::Histogram& write_times_;

    TaggersOf taggers_of_;
    std::map<RequestId, Known> known_;
    std::deque<RequestId> waiting_;  ///< ended; the oldest first
    std::optional<std::string> write_trouble_;
};

}  // namespace reaper::monitoring

// A thread for blocking work: jobs run there one after the other, and each caller's coroutine
// resumes with the result on its own executor.
//
// Jobs that write and wait for the thread at the same time can be one group: it ends once for all
// of them (one transaction, synced once), and none of their callers resumes before.
#pragma once

#include <atomic>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "reaper/runtime/task.hpp"

namespace reaper::journal {

/// What a job is to a group.
enum class Grouping {
    alone,   ///< an open group ends before it
    reads,   ///< may be one of an open group: its result is reported when that has ended well
    writes,  ///< begins a group, if others wait
    patient  ///< all others that wait go first, and there is no open group
};

/// All of it runs on the thread, and must not throw.
struct Group {
    std::function<Result<void>()> begin;  ///< an error is that of the job that is not run
    std::function<Result<void>()> end;    ///< an error: nothing that the jobs did is there
    std::function<bool()> still_open;     ///< false: it ended by itself, and nothing of it is there
};

class Worker {
public:
    explicit Worker(int max_waiting, Group group = {})
        : group_(std::move(group)), max_waiting_(max_waiting) {}
    Worker& operator=(Worker&&) = delete;
    /// Waits for the jobs that were handed in.
    ~Worker() { thread_.join(); }

    /// Must not throw. Above the bound of waiting jobs, fails at once with `overload`.
    template <class T>
    ResultTask<T> run(std::function<Result<T>()> job, Error overload,
                      Grouping grouping = Grouping::alone) {
        namespace asio = boost::asio;
        auto start = [this, job = std::move(job), overload = std::move(overload),
                      grouping](auto handler) {
            // The caller's loop must not run dry while the job is on this thread.
            auto back = asio::prefer(asio::get_associated_executor(handler),
                                     asio::execution::outstanding_work.tracked);
            const bool patient = grouping == Grouping::patient;
            std::atomic<int>& waiting = patient ? patient_ : waiting_;
            if (waiting.load() >= max_waiting_) {
                auto refuse = [overload, handler = std::move(handler)]() mutable {
                    std::move(handler)(Result<T>{overload});
                };
                asio::dispatch(back, std::move(refuse));
                return;
            }
            waiting.fetch_add(1);
            auto work = [this, job, grouping, back, handler = std::move(handler)]() mutable {
                const Result<void> entered = enter(grouping);
                auto answer = std::make_shared<Answer<T, decltype(handler)>>(
                    entered ? job() : Result<T>{entered.error()}, std::move(handler));
                leave([answer, back](const Result<void>& ended) {
                    if (!ended) answer->result = ended.error();
                    asio::post(back, [answer] { answer->tell(); });
                });
            };
            post(std::move(work), patient);
        };
        return asio::async_initiate<const asio::use_awaitable_t<>, void(Result<T>)>(
            std::move(start), asio::use_awaitable);
    }

private:
    static constexpr std::size_t most_in_a_group = 256;
    using Tell = std::function<void(const Result<void>& ended)>;

    template <class T, class Handler>
    struct Answer {
        Answer(Result<T> told, Handler to) : result(std::move(told)), handler(std::move(to)) {}
        void tell() { std::move(handler)(std::move(result)); }
        Result<T> result;
        Handler handler;
    };

    template <class Work>
    void post(Work work, bool patient) {
        auto turn = [this, patient, work = std::move(work)]() mutable {
            // To the end of the queue, where one of the others is.
            if (patient && waiting_.load() > 0) return post(std::move(work), patient);
            if (patient) {
                patient_.fetch_sub(1);
                waiting_.fetch_add(1);
            }
            work();
        };
        boost::asio::post(thread_, std::move(turn));
    }

    // On the thread:
    Result<void> enter(Grouping grouping) {
        if (open_ && grouping == Grouping::alone) end_group();
        // This job is one of those that wait.
        const bool others = waiting_.load() > 1;
        if (open_ || !others || grouping != Grouping::writes || !group_.begin) return {};
        Result<void> begun = group_.begin();
        open_ = begun.has_value();
        return begun;
    }
    void leave(Tell tell) {
        const bool others = waiting_.fetch_sub(1) > 1;
        if (!open_) return tell(Result<void>{});
        held_.push_back(std::move(tell));
        if (!others || held_.size() >= most_in_a_group || !group_.still_open()) end_group();
    }
    void end_group() {
        open_ = false;
        const Result<void> ended = group_.end();
        for (const Tell& tell : std::exchange(held_, {})) tell(ended);
    }

    Group group_;
    bool open_ = false;
    std::vector<Tell> held_;  // of the open group
    std::atomic<int> waiting_{0};
    std::atomic<int> patient_{0};  // those whose turn has not come, not among `waiting_`
    int max_waiting_;
    boost::asio::thread_pool thread_{1};  // ends first
};

}  // namespace reaper::journal

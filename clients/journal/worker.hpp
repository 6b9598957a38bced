// A thread for blocking work: jobs run there one after the other, and each caller's coroutine
// resumes with the result on its own executor.
#pragma once

#include <atomic>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <utility>

#include "reaper/runtime/task.hpp"

namespace reaper::journal {

class Worker {
public:
    explicit Worker(int max_waiting) : max_waiting_(max_waiting) {}
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    /// Waits for the jobs that were handed in.
    ~Worker() { thread_.join(); }

    /// Must not throw. Above the bound of waiting jobs, fails at once with `overload`.
    template <class T>
    ResultTask<T> run(std::function<Result<T>()> job, Error overload) {
        namespace asio = boost::asio;
        auto start = [this, job = std::move(job), overload = std::move(overload)](auto handler) {
            // The caller's loop must not run dry while the job is on this thread.
            auto back = asio::prefer(asio::get_associated_executor(handler),
                                     asio::execution::outstanding_work.tracked);
            const bool full = waiting_.fetch_add(1) >= max_waiting_;
            auto work = [this, job, overload, full, back, handler = std::move(handler)]() mutable {
                Result<T> result = full ? Result<T>{overload} : job();
                waiting_.fetch_sub(1);
                auto resume = [handler = std::move(handler), result = std::move(result)]() mutable {
                    std::move(handler)(std::move(result));
                };
                asio::post(back, std::move(resume));
            };
            if (full)
                asio::dispatch(back, std::move(work));
            else
                asio::post(thread_, std::move(work));
        };
        return asio::async_initiate<const asio::use_awaitable_t<>, void(Result<T>)>(
            std::move(start), asio::use_awaitable);
    }

private:
    boost::asio::thread_pool thread_{1};
    std::atomic<int> waiting_{0};
    int max_waiting_;
};

}  // namespace reaper::journal

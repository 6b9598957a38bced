// A daemon elsewhere, for commands with --api: it answers by target, and keeps what was asked.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "reaper/cli/arguments/commands.hpp"
#include "support/http_server.hpp"

namespace reaper::cli {

class RemoteDaemon : public testing::Test {
protected:
    ~RemoteDaemon() override {
        io_.stop();
        if (runs_.joinable()) runs_.join();
    }
    void answers(const std::string& target, const nlohmann::json& body, int status = 200) {
        const std::scoped_lock lock{mutex_};
        replies_[target] = test::json_reply(status, body.dump());
    }
    /// One after the other, before what `answers` says.
    void answers_first(const std::string& target, std::vector<test::Reply> replies) {
        const std::scoped_lock lock{mutex_};
        for (auto& reply : replies) first_[target].push_back(std::move(reply));
    }
    void answers_no_more(const std::string& target) {
        const std::scoped_lock lock{mutex_};
        replies_.erase(target);
    }
    /// Call it when all is prepared.
    void serve() {
        runs_ = std::thread{[this] { io_.run(); }};
    }
    /// What the command says is in `out_` and `err_`.
    template <class Run>
    ExitCode captured(bool as_json, Run command) {
        GlobalOptions global;
        global.api.url = server_.url();
        global.json = as_json;
        if (as_json) global.list.format = ListFormat::json;
        const Terminal terminal{global};
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const ExitCode code = command(global, terminal);
        out_ = testing::internal::GetCapturedStdout();
        err_ = testing::internal::GetCapturedStderr();
        return code;
    }
    std::vector<std::string> asked() {
        std::vector<std::string> targets;
        for (const auto& each : requests()) targets.push_back(each.target);
        return targets;
    }
    std::vector<test::ServerRequest> requests() {
        const std::scoped_lock lock{mutex_};
        return requests_;
    }
    std::string url() const { return server_.url(); }

    std::map<std::string, test::Reply> replies_;
    std::string out_, err_;

private:
    test::Reply reply_to(const test::ServerRequest& request) {
        const std::scoped_lock lock{mutex_};
        requests_.push_back(request);
        if (auto& first = first_[request.target]; !first.empty()) {
            test::Reply reply = std::move(first.front());
            first.pop_front();
            return reply;
        }
        const auto known = replies_.find(request.target);
        return known == replies_.end() ? test::json_reply(503, R"({"error": {"message": "none"}})")
                                       : known->second;
    }

    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        io_.get_executor()};
    std::mutex mutex_;
    std::vector<test::ServerRequest> requests_;
    std::map<std::string, std::deque<test::Reply>> first_;
    test::HttpServer server_{
        io_, [this](const test::ServerRequest& request) { return reply_to(request); }};
    std::thread runs_;
};

}  // namespace reaper::cli

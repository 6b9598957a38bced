#include "tests/rabbitmq/support/holder.hpp"

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/amqp/amqp_source.hpp"

namespace reaper::test {
namespace {

constexpr unsigned life_s = 3'600;

using Clock = amqp::BootClock;

}  // namespace

int hold(int count, char** arguments) {
    if (count != 6) return 2;
    ::alarm(life_s);
    spdlog::set_level(spdlog::level::off);  // it would go to where the looks go
    config::Broker broker;
    broker.urls = {config::Secret(arguments[0])};
    broker.exchange = arguments[1];
    broker.queue = arguments[2];
    broker.dead_letter_queue = arguments[3];
    broker.heartbeat = std::chrono::seconds(std::atoi(arguments[4]));
    broker.queue_type = arguments[5];
    boost::asio::io_context context;
    const auto source = make_amqp_source(context.get_executor(), broker);
    DeliveryTicket ticket;
    unsigned long long messages = 0;
    source->start({[&](Delivery delivery) {
                       ticket = delivery.ticket;
                       ++messages;
                   },
                   [](const BrokerState&) {}});
    const auto open = boost::asio::make_work_guard(context);  // so that it waits when idle
    for (;;) {
        const auto at = Clock::now().time_since_epoch().count();
        const int holds = source->holds(ticket) ? 1 : 0;
        if (std::printf("%lld %llu %d\n", static_cast<long long>(at), messages, holds) < 0 ||
            std::fflush(stdout) != 0)
            return 1;
        context.run_for(std::chrono::milliseconds(5));
    }
}

Holder::Holder(const config::Broker& broker) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    std::string url = broker.urls.at(0).reveal();
    std::string exchange = broker.exchange;
    std::string queue = broker.queue;
    std::string dead = broker.dead_letter_queue;
    std::string heartbeat = std::to_string(broker.heartbeat.count());
    std::string type = broker.queue_type;
    std::string name = "rabbitmq_tests";
    std::string verb = "hold";
    std::array<char*, 9> words{name.data(),      verb.data(),  url.data(),
                               exchange.data(),  queue.data(), dead.data(),
                               heartbeat.data(), type.data(),  nullptr};
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) throw std::runtime_error("fork");
    if (process_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent || ::dup2(ends[1], STDOUT_FILENO) < 0) ::_exit(1);
        ::execv("/proc/self/exe", words.data());
        ::_exit(1);
    }
    ::close(ends[1]);
    lines_ = ends[0];
    reader_ = std::thread([this, lines = ::fdopen(lines_, "r")] {
        long long at = 0;
        unsigned long long messages = 0;
        int holds = 0;
        while (std::fscanf(lines, "%lld %llu %d", &at, &messages, &holds) == 3) {
            const std::lock_guard lock(mutex_);
            looks_.push_back({Clock::time_point(Clock::duration(at)), messages, holds != 0});
        }
        std::fclose(lines);
    });
}

Holder::~Holder() {
    kill();
    reader_.join();
}

void Holder::freeze() const {
    ::kill(process_, SIGSTOP);
    int status = 0;
    ::waitpid(process_, &status, WUNTRACED);
}

void Holder::wake() const {
    ::kill(process_, SIGCONT);
}

void Holder::kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
}

std::vector<Holder::RecheckResult> Holder::looks() const {
    const std::lock_guard lock(mutex_);
    return looks_;
}

Holder::RecheckResult Holder::last() const {
    const std::lock_guard lock(mutex_);
    return looks_.empty() ? RecheckResult{} : looks_.back();
}

}  // namespace reaper::test

// A reaper under test that sells unused vCPUs, with measurements that a test makes up.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/full_house.hpp"
#include "fakes/fake_metrics.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/oversubscription/inventory_plan.hpp"
#include "reaper/setup/slots.hpp"

namespace reaper::test {

inline const ResourceClass revocable_vcpu{"CUSTOM_REVOCABLE_VCPU"};

/// Measurements whose answers may be held back.
class HoldableMetrics final : public Metrics {
public:
    HoldableMetrics(Metrics& inner, FakeClock& clock) : inner_(inner), clock_(clock) {}

    ResultTask<std::vector<Sample>> query(std::string expression) override {
        while (hangs) co_await clock_.sleep(a_second);
        auto answer = co_await inner_.query(std::move(expression));
        if (slow > Duration{0}) co_await clock_.sleep(slow);
        co_return answer;
    }
    ResultTask<std::vector<SampleSeries>> query_range(std::string expression, TimePoint from,
                                                      TimePoint to, Duration step) override {
        while (hangs) co_await clock_.sleep(a_second);
        if (slow_past > Duration{0}) co_await clock_.sleep(slow_past);
        co_return co_await inner_.query_range(std::move(expression), from, to, step);
    }

    bool hangs = false;
    Duration slow{0};       ///< how long after it was made an answer about now comes
    Duration slow_past{0};  ///< how long each answer about the past takes

private:
    static constexpr Duration a_second{1'000};
    Metrics& inner_;
    FakeClock& clock_;
};

class OversoldHouse : public FullHouse {
protected:
    OversoldHouse() {
        metrics = &held_back;
        cloud.classes.insert(revocable_vcpu.str());
        config::Plugin resource;
        resource.name = "resource";
        resource.parameters["class"] = revocable_vcpu.str();
        settings.policy.taggers.push_back(resource);
        config::Oversubscription& sold = settings.oversubscription;
        sold.enabled = true;
        sold.prometheus.url = "http://prometheus";
        sold.prometheus.usage_query = "use";
        sold.prometheus.cores_query = "cores";
        sold.prometheus.age_query = "age";
        sold.prometheus.load5_query = "load5";
    }

    /// One of 16 VCPU, of which `regular` are allocated to a regular server.
    void busy_host(const std::string& name = "host1", Amount regular = 12) {
        cloud.add_host(name, Resources{{"VCPU", 16}, {"MEMORY_MB", 65'536}, {"DISK_GB", 1'000}});
        if (regular > 0)
            cloud.add_server(name + "-regular", name, "regular",
                             Resources{{"VCPU", regular}, {"MEMORY_MB", 8'192}, {"DISK_GB", 20}});
        use[name] = 4;
    }
    ProviderId room_provider(const std::string& host = "host1") const {
        return ProviderId{"rp-" + slot_provider_name(host, revocable_vcpu)};
    }
    /// As `reaper setup` makes it.
    void nested_provider(const std::string& host = "host1", Amount total = 0) {
        FakeNested& made = cloud.nested[room_provider(host)];
        made.name = slot_provider_name(host, revocable_vcpu);
        made.parent = HostId{cloud.provider_of(host)};
        if (total > 0) made.inventories[revocable_vcpu].total = total;
    }
    /// A server on so much of the room.
    FakeServer& holder(const std::string& id, Amount vcpus, const std::string& host = "host1") {
        FakeServer& server =
            cloud.add_server(id, host, "tenant", Resources{{"MEMORY_MB", 1'024}, {"DISK_GB", 10}});
        server.also[room_provider(host)].set(revocable_vcpu, vcpus);
        return server;
    }
    /// What Placement shows; 0: no inventory.
    Amount total(const std::string& host = "host1") const {
        const auto at = cloud.nested.find(room_provider(host));
        if (at == cloud.nested.end()) return 0;
        const auto inventory = at->second.inventories.find(revocable_vcpu);
        return inventory == at->second.inventories.end() ? 0 : inventory->second.total;
    }
    /// Of that, what may be taken: a closed one has nothing.
    Amount for_sale(const std::string& host = "host1") {
        return total(host) == 0 ? 0 : published_room(inventory(host));
    }
    Inventory& inventory(const std::string& host = "host1") {
        return cloud.nested.at(room_provider(host)).inventories.at(revocable_vcpu);
    }
    void estimate_fixed(std::int64_t vcpus) {
        settings.oversubscription.estimator = {"fixed", {{"vcpus", vcpus}}};
    }
    void estimate_slack() {
        settings.oversubscription.estimator = {"usage_slack", {{"smoothing", std::string{"0s"}}}};
    }
    void correct_load(const std::string& threshold) {
        settings.oversubscription.qos = {"load", {{"load_threshold_5min", threshold}}};
    }
    /// One reading of each host.
    void measure() {
        for (const auto& [host, cores] : use) {
            const std::map<std::string, std::string> labels{{"instance", host + ":9100"}};
            if (!use_of_servers.contains(host)) fake.measure("use", labels, cores);
            fake.measure("cores", labels, 16);
            fake.measure("age", labels, age);
            if (load.contains(host)) fake.measure("load5", labels, load.at(host));
            if (pressure.contains(host))
                fake.measure(settings.oversubscription.prometheus.pressure_query, labels,
                             pressure.at(host));
        }
        for (const auto& [host, servers] : use_of_servers)
            for (const auto& [server, cores] : servers)
                fake.measure("use", labels_of(host, server), cores);
        for (const auto& [host, servers] : waiting)
            for (const auto& [server, part] : servers)
                fake.measure("waiting", labels_of(host, server), part);
    }
    static std::map<std::string, std::string> labels_of(const std::string& host,
                                                        const std::string& server) {
        return {{"instance", host + ":9177"}, {"domain", server}};
    }
    /// As if the exporter that tells of its servers were gone, and no other.
    void servers_unmeasured(const std::string& host) {
        for (const auto& [server, cores] : use_of_servers.at(host))
            fake.forget("use", labels_of(host, server));
        use_of_servers.at(host).clear();
    }
    /// The same for the last hour.
    void measured_for_an_hour() {
        for (const auto& [host, cores] : use)
            for (auto at = clock.now() - std::chrono::minutes{62}; at <= clock.now();
                 at += std::chrono::seconds{30})
                fake.measure_at("use", {{"instance", host + ":9100"}}, at, cores);
    }
    /// Time runs, and a reading is made in every few seconds of it.
    void pass(std::function<bool()> done) {
        run_until([&] {
            if (measuring && clock.now() - measured_at >= std::chrono::seconds{5}) {
                measured_at = clock.now();
                measure();
            }
            return done();
        });
    }
    void pass(Duration duration) {
        const TimePoint until = clock.now() + duration;
        pass([&] { return clock.now() >= until; });
    }
    /// The first server that a correction gave notice to.
    std::string notified() {
        std::string server;
        pass([&] {
            for (const RequestRecord& record : corrections())
                for (const StepEntry& step : record.steps)
                    if (step.step == Step::notified && server.empty()) server = step.server.str();
            return !server.empty();
        });
        return server;
    }
    /// The only correction comes to nothing, and the owner hears so.
    void expect_withdrawn(const std::string& server) {
        const TimePoint then = clock.now();
        pass([&] { return corrections().front().outcome.has_value(); });
        EXPECT_LE(clock.now(), then + std::chrono::minutes{3});
        EXPECT_EQ(corrections().front().outcome->kind, OutcomeKind::refused);
        EXPECT_TRUE(journal.has_step(server, Step::withdrawn));
        EXPECT_FALSE(cloud.server_at(server).record.server.metadata.contains(evict_at_key));
        pass(std::chrono::minutes{15});
        EXPECT_EQ(corrections().size(), 1U);
        EXPECT_EQ(cloud.count("DELETE"), 0U);
    }
    std::vector<RequestRecord> corrections() const {
        std::vector<RequestRecord> all;
        for (const auto& [id, record] : journal.records)
            if (record.request.correction) all.push_back(record);
        return all;
    }

    FakeMetrics fake{clock};
    HoldableMetrics held_back{fake, clock};
    std::map<std::string, double> use;       ///< cores, by host
    std::map<std::string, double> load;      ///< by host; none: not measured
    std::map<std::string, double> pressure;  ///< by host
    /// By host and server, where the metrics tell them apart; in place of `use`.
    std::map<std::string, std::map<std::string, double>> use_of_servers;
    std::map<std::string, std::map<std::string, double>> waiting;  ///< by host
    double age = 0;
    bool measuring = true;
    TimePoint measured_at{};
};

}  // namespace reaper::test

// A cloud on which requests are decided and recorded, as the daemon does both, in a directory of
// its own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>
#include <stdexcept>

#include "config/loader.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/recording/gzip_lines.hpp"
#include "reaper/recording/recorder.hpp"
#include "reaper/recording/replay.hpp"
#include "reaper/rooms/room_keeper.hpp"

namespace reaper::recording::test {

class Scratch {
public:
    Scratch() {
        std::string pattern = ::testing::TempDir() + "/recording-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no directory");
        path_ = pattern;
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    const std::string& path() const { return path_; }

    /// All lines of all segments.
    std::string text() const {
        std::string all;
        for (const Segment& segment : segments_in(path_).value())
            EXPECT_TRUE(read_gzip_lines(segment.path, [&](std::string_view line) {
                all += line;
                all += '\n';
                return true;
            }));
        return all;
    }

private:
    std::string path_;
};

inline config::Policy policy_of(const std::string& strategy) {
    config::Policy policy = config::standard_policy();
    policy.strategy = {strategy, {}};
    return policy;
}

/// The recorded configuration, with overrides.
inline PolicyFor recorded_with(std::vector<config::Override> overrides = {}) {
    return [overrides](const PolicyLine& line) -> Result<ReplayPolicy> {
        auto loaded = config::load_policy_text("recorded", line.configuration, overrides,
                                               config::system_environment());
        auto* const policy = std::get_if<config::Policy>(&loaded);
        if (policy == nullptr)
            return Error{
                Errc::bad_input,
                config::to_string(std::get<std::vector<config::ConfigError>>(loaded).front())};
        policy->safeguards.protect.project_ids = line.project_ids;
        auto compiled = compile_policy(*policy);
        if (!compiled) return compiled.error();
        return ReplayPolicy{*compiled, false};
    };
}

class RecordedCloud {
public:
    explicit RecordedCloud(const std::string& directory, config::Policy policy = policy_of("cost"),
                           bool anonymous = false,
                           const RecordingWriter::Limits& limits = small_limits())
        : policy_(compile_policy(policy).value()) {
        RecorderSettings settings;
        settings.directory = directory;
        settings.anonymous = anonymous;
        settings.dry_run = true;
        settings.version = "test";
        settings.as_text = [](const config::Policy& each) { return config::to_yaml(each); };
        recorder_ = std::make_unique<Recorder>(std::move(settings), limits);
        recorder_->note_policy(*policy_);
        safeguards_ = Safeguards{policy_->safeguards};
    }

    /// Hosts full of revocable servers of several sizes and ages.
    void build(unsigned seed, int hosts = 6) {
        random_.seed(seed);
        Snapshot snapshot;
        snapshot.taken_at = now_;
        for (int h = 0; h < hosts; ++h) snapshot.hosts.push_back(host(h));
        TagData tags;
        tags.projects_by_tag["preemptible"] = {ProjectId{"spot-1"}, ProjectId{"spot-2"}};
        std::shared_ptr<const Taggers> taggers(policy_, &policy_->taggers);
        cache_.replace(std::move(snapshot), taggers, TagData{});
        cache_.retag(std::move(taggers), std::move(tags));
        recorder_->keep_up(cache_);
    }

    /// Decided and recorded; in the ledger while `held`.
    Decision decide(int vcpus, int slots, bool held = false) {
        now_ += std::chrono::minutes{7};
        Request request;
        request.id = RequestId{"req-" + std::to_string(++requests_)};
        request.project = ProjectId{"regular"};
        request.resources = {{"VCPU", vcpus}};
        request.slots = slots;
        request.sent_at = now_;
        return decide(std::move(request), held);
    }
    Decision decide(Request request, bool held) {
        const std::map<ServerId, std::string> skipped;
        Decision decision = reaper::decide(*policy_, request, cache_.index(), cache_.tag_data(),
                                           rooms_.ledger(), now_, safeguards_, skipped);
        recorder_->on_decision(
            {*policy_, request, cache_, rooms_.ledger(), safeguards_, skipped, decision, now_});
        recorder_->on_plan(request, {1, now_, decision});
        recorder_->on_outcome(request, {OutcomeKind::dry_run, "", now_, ""});
        if (held)
            rooms_.decided(request, decision, false, now_,
                           [this](const HostId& id) { return cache_.find(id); });
        return decision;
    }

    int below(int limit) { return std::uniform_int_distribution(0, limit - 1)(random_); }
    Recorder& recorder() { return *recorder_; }
    CloudCache& cache() { return cache_; }
    Safeguards& safeguards() { return safeguards_; }
    TimePoint now() const { return now_; }
    void advance(Duration by) { now_ += by; }
    void end() { recorder_.reset(); }

    static Host host(int number, std::mt19937& random, TimePoint now) {
        const auto pick = [&](int limit) {
            return std::uniform_int_distribution(0, limit - 1)(random);
        };
        Host host;
        host.name = host.service_host = "rack-" + std::to_string(number);
        host.id = HostId{"5e2d0c3a-0000-4000-8000-0000000000" + std::to_string(10 + number)};
        Provider root;
        root.id = host.id;
        root.name = host.name;
        root.inventories[ResourceClass{"VCPU"}] = {24, 0, 1.0, 1, 24, 1};
        for (int s = 0; s < 7; ++s) {
            Server server;
            server.id = ServerId{"7e2d0c3a-0000-4000-8000-00000000" +
                                 std::to_string(1000 + 10 * number + s)};
            server.name = "batch " + std::to_string(s);
            server.project =
                ProjectId{pick(3) == 0 ? "regular" : "spot-" + std::to_string(1 + pick(2))};
            server.host = host.service_host;
            server.status = "ACTIVE";
            server.created = now - std::chrono::minutes{30 + 60 * pick(48)};
            server.launched = server.created;
            server.allocations.insert_or_assign(host.id, Resources{{"VCPU", 1 + pick(3)}});
            root.used += server.resources();
            host.servers.push_back(server);
        }
        // The rest belongs to another client.
        const Amount others = 24 - root.used.get(ResourceClass{"VCPU"}) - pick(2);
        if (others > 0) {
            root.other_consumers[ServerId{"other-" + std::to_string(number)}] = {{"VCPU", others}};
            root.used += Resources{{"VCPU", others}};
        }
        host.providers = {root};
        host.read_at = now;
        return host;
    }
    Host host(int number) { return host(number, random_, now_); }

    static RecordingWriter::Limits small_limits() {
        RecordingWriter::Limits limits;
        limits.max_bytes = 64UL << 20U;
        limits.max_age = std::chrono::hours{24 * 30};
        limits.segment_bytes = 4UL << 20U;
        limits.gather = std::chrono::milliseconds{0};
        limits.retry_after = std::chrono::milliseconds{0};
        return limits;
    }

private:
    std::shared_ptr<const CompiledPolicy> policy_;
    std::unique_ptr<Recorder> recorder_;
    CloudCache cache_;
    RoomKeeper rooms_;
    Safeguards safeguards_;
    std::mt19937 random_;
    TimePoint now_{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};
    int requests_ = 0;
};

}  // namespace reaper::recording::test

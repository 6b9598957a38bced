// What is recorded comes back, whatever happens to the files; and decided again it is the same.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reaper/recording/replay.hpp"
#include "reaper/report/json.hpp"
#include "recording/recorded_cloud.hpp"
#include "support/unprivileged_user.hpp"

namespace reaper::recording::test::recording_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> lines_of(const std::string& path, bool& whole) {
    std::vector<std::string> lines;
    const auto end = read_gzip_lines(path, [&](std::string_view line) {
        lines.emplace_back(line);
        return true;
    });
    EXPECT_TRUE(end);
    whole = end && end->whole;
    return lines;
}

// ---- files ----

TEST(GzipLines, WhateverIsCutOffWhatCameBeforeIsRead) {
    const Scratch scratch;
    const std::string path = scratch.path() + "/lines";
    const std::string first = gzip_member("one\ntwo\n").value();
    const std::string both =
        first + gzip_member("three\n" + std::string(300'000, 'x') + "\n").value();
    bool whole = false;
    for (std::size_t size = first.size(); size < both.size(); ++size) {
        write_bytes(path, both.substr(0, size));
        const auto lines = lines_of(path, whole);
        ASSERT_GE(lines.size(), 2U) << size;
        EXPECT_EQ(lines[1], "two");
        EXPECT_EQ(whole, size == first.size()) << size;
    }
    write_bytes(path, both);
    EXPECT_EQ(lines_of(path, whole).size(), 4U);
    EXPECT_TRUE(whole);
}

TEST(GzipLines, DamageEndsTheFile) {
    const Scratch scratch;
    const std::string path = scratch.path() + "/lines";
    std::string bytes = gzip_member("one\n").value();
    const std::size_t second = bytes.size();
    bytes += gzip_member("two\n").value();
    bytes[second] = 'x';
    write_bytes(path, bytes);
    bool whole = true;
    EXPECT_EQ(lines_of(path, whole), std::vector<std::string>{"one"});
    EXPECT_FALSE(whole);
    EXPECT_FALSE(read_gzip_lines(scratch.path() + "/none", [](std::string_view) { return true; }));
}

TEST(GzipLines, AReaderMayHaveEnough) {
    const Scratch scratch;
    const std::string path = scratch.path() + "/lines";
    write_bytes(path, gzip_member("one\ntwo\n").value());
    int seen = 0;
    const auto end = read_gzip_lines(path, [&](std::string_view) { return ++seen < 1; });
    EXPECT_EQ(seen, 1);
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->stopped);
}

// ---- lines ----

TEST(Lines, WhatADecisionSawComesBack) {
    Seen seen;
    seen.request.id = RequestId{"req-1"};
    seen.request.project = ProjectId{"p"};
    seen.request.resources = {{"VCPU", 2}};
    seen.at = TimePoint{std::chrono::milliseconds{1'700'000'000'123}};
    seen.whole = true;
    seen.ledger = Ledger({{RequestId{"r"}, HostId{"h"}, ServerId{"s"}, seen.at, false}}, {});
    seen.given_up = {ServerId{"g"}};
    seen.skipped = {{ServerId{"k"}, "it is locked"}};
    seen.history = {
        {seen.at, RequestId{"r"}, ServerId{"v"}, "v \x1b[31m", ProjectId{"p"}, "c1", "w"}};
    seen.cooling = {HostId{"h"}};
    seen.held = "breaker";
    seen.held_because = "open";
    seen.no_move = "not now";
    seen.several_cells = true;
    seen.request.res_type_traits = {Trait{"CUSTOM_RES_TYPE_REGULAR"}};
    const std::string text = report::dump(line_json(std::make_shared<const Seen>(seen), nullptr));
    const auto line = line_from(text);
    ASSERT_TRUE(line) << line.error().what;
    const auto& back = *std::get<std::shared_ptr<const Seen>>(*line);
    EXPECT_EQ(report::dump(line_json(*line, nullptr)), text);
    EXPECT_EQ(back.history.front().workload, "w");
    EXPECT_EQ(back.request.res_type_traits, seen.request.res_type_traits);
    EXPECT_FALSE(back.ledger.evictions().front().counted);
}

TEST(Lines, AnonymousOnesHaveNoNames) {
    const report::NameChanger changer{[](report::NameKind kind, const std::string& name) {
        return report::pseudonym(kind, name, "1");
    }};
    const RequestId id{"secret-request"};
    const ServerId server{"secret-server"};
    const HostId host{"secret-host"};
    const std::string why = "a secret reason";
    Seen seen;
    seen.request.id = id;
    seen.request.project = ProjectId{"secret-project"};
    seen.request.resources = {{"VCPU", 2}};
    seen.ledger = Ledger({{id, host, server, seen.at, false}}, {});
    seen.given_up = {server};
    seen.skipped = {{server, why}};
    seen.history = {
        {seen.at, id, server, "secret name", ProjectId{"secret-project"}, "secret-c1", "secret-w"}};
    seen.cooling = {host};
    seen.held = "breaker";
    seen.held_because = why;
    seen.no_move = why;
    const FreedRoomResult freed{FreedRoomResultKind::wasted, why, {host}, seen.at};
    const std::vector<Line> lines{std::make_shared<const Seen>(seen), GoneLine{host},
                                  StepLine{id, {server, Step::skipped, why, seen.at}},
                                  OutcomeLine{id, {OutcomeKind::failed, why, seen.at}},
                                  FreedLine{id, freed}};
    for (const Line& line : lines) {
        const std::string text = report::dump(line_json(line, &changer));
        EXPECT_THAT(text, Not(HasSubstr("secret")));
        EXPECT_TRUE(line_from(text)) << text;
    }
}

TEST(Lines, WhatMakesNoSenseIsNamed) {
    for (const auto& [text, why] :
         {std::pair{"", "no JSON"},
          {"[]", "no JSON object"},
          {"{}", "line"},
          {R"({"line":"begin","format":"x"})", "does not belong to a recording"},
          {R"({"line":"gone","host":""})", "host"},
          {R"({"line":"host","host":{"id":"x"}})", "host"},
          {R"({"line":"seen","at":"soon"})", "at"}}) {
        const auto line = line_from(text);
        ASSERT_FALSE(line) << text;
        EXPECT_THAT(line.error().what, HasSubstr(why));
    }
    EXPECT_TRUE(std::holds_alternative<OtherLine>(line_from(R"({"line":"of tomorrow"})").value()));
    EXPECT_FALSE(line_from(R"({"line":"begin","format":"reaper-recording","version":2})"));
}

// ---- a recording ----

TEST(Recording, ItsOwnConfigurationMakesItsPlansAgain) {
    int plans = 0, others = 0;
    for (const char* strategy : {"cost", "strict", "chance", "strict_time"}) {
        for (unsigned seed = 1; seed <= 12; ++seed) {
            const Scratch scratch;
            {
                RecordedCloud cloud(scratch.path(), policy_of(strategy));
                cloud.build(seed);
                for (int i = 0; i < 8; ++i) {
                    if (i == 4) cloud.build(seed + 100);
                    const bool plan = std::holds_alternative<Plan>(
                        cloud.decide(1 + cloud.below(6), 1 + cloud.below(4), cloud.below(2) == 0));
                    ++(plan ? plans : others);
                }
            }
            const auto again = replay(scratch.path(), recorded_with(), recorded_with());
            ASSERT_TRUE(again) << again.error().what;
            EXPECT_EQ(again->checked, 8) << strategy << seed;
            EXPECT_EQ(again->reproduced, 8) << strategy << seed;
            EXPECT_EQ(again->requests.size(), 8U);
            EXPECT_TRUE(again->remarks.empty());
            EXPECT_TRUE(again->dry_run);
        }
    }
    EXPECT_GT(plans, 100);
    EXPECT_GT(others, 5);
}

TEST(Recording, WhatTheReplayKnowsOfThePastCounts) {
    const Scratch scratch;
    config::Policy policy = policy_of("cost");
    policy.safeguards.limits.victims_per_window = 3;
    {
        RecordedCloud cloud(scratch.path(), policy);
        cloud.build(1);
        for (int i = 0; i < 3; ++i)
            cloud.safeguards().note_victim({cloud.now(), RequestId{"before"},
                                            ServerId{"gone-" + std::to_string(i)}, "gone",
                                            ProjectId{"spot-1"}, "rack-1", ""});
        const Decision decision = cloud.decide(6, 1);
        ASSERT_EQ(std::get<NotEnough>(decision).safeguard, "limit-window");
    }
    const auto again = replay(scratch.path(), recorded_with(),
                              recorded_with({{"limits.victims_per_window", "0"}}));
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->reproduced, 1);
    ASSERT_EQ(again->requests.size(), 1U);
    EXPECT_EQ(again->requests[0].recorded->safeguard(), "limit-window");
    EXPECT_TRUE(again->requests[0].asked->frees());
}

TEST(Recording, NoServerIsDeletedTwiceAndVictimsCountAgainstLimits) {
    const Scratch scratch;
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(3);
        for (int i = 0; i < 12; ++i) cloud.decide(5, 1);
    }
    const auto free = replay(scratch.path(), recorded_with(), recorded_with());
    ASSERT_TRUE(free);
    std::set<ServerId> gone;
    std::size_t victims = 0;
    for (const auto& request : free->requests)
        if (const auto* plan = std::get_if<Plan>(&request.asked->decision))
            for (const Victim& victim : plan->victims()) {
                ++victims;
                gone.insert(victim.server);
            }
    EXPECT_EQ(gone.size(), victims);
    EXPECT_GT(victims, 4U);
    const auto bounded = replay(scratch.path(), recorded_with(),
                                recorded_with({{"limits.victims_per_window", "4"}}));
    ASSERT_TRUE(bounded);
    std::size_t fewer = 0, held = 0;
    for (const auto& request : bounded->requests) {
        if (const auto* plan = std::get_if<Plan>(&request.asked->decision))
            fewer += plan->victims().size();
        held += request.asked->safeguard() == "limit-window" ? 1 : 0;
    }
    EXPECT_LE(fewer, 4U * 2) << "two windows of an hour at most";
    EXPECT_LT(fewer, victims);
    EXPECT_GT(held, 0U);
}

TEST(Recording, ACrashCostsTheLastPieceAlone) {
    const Scratch scratch;
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(5);
        for (int i = 0; i < 5; ++i) {
            cloud.decide(3, 1);
            cloud.recorder().flush();
        }
    }
    const std::string path = segments_in(scratch.path()).value().front().path;
    const std::string whole = bytes_of(path);
    std::size_t before = 0;
    for (std::size_t size = whole.size() / 3; size < whole.size(); size += 97) {
        write_bytes(path, whole.substr(0, size));
        const auto again = replay(scratch.path(), recorded_with(), recorded_with());
        ASSERT_TRUE(again) << again.error().what;
        EXPECT_EQ(again->reproduced, again->checked);
        EXPECT_GE(again->requests.size(), before);
        before = again->requests.size();
    }
    EXPECT_GE(before, 4U);
    // The next start goes on in a file of its own.
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(6);
        cloud.decide(3, 1);
    }
    const auto again = replay(scratch.path(), recorded_with(), recorded_with());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->remarks.size(), 1U);
    EXPECT_EQ(segments_in(scratch.path()).value().size(), 2U);
}

TEST(Recording, ALineThatMakesNoSenseEndsItsFileAlone) {
    const Scratch scratch;
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(5);
        cloud.decide(3, 1);
    }
    const std::string path = segments_in(scratch.path()).value().front().path;
    write_bytes(path, bytes_of(path) + gzip_member("{\"line\":\"host\"}\n").value());
    const auto again = replay(scratch.path(), recorded_with(), recorded_with());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->requests.size(), 1U);
    ASSERT_EQ(again->remarks.size(), 1U);
    EXPECT_THAT(again->remarks[0], HasSubstr("host"));
    const Scratch empty;
    EXPECT_EQ(replay(empty.path(), recorded_with(), recorded_with()).error().code, Errc::bad_input);
    EXPECT_EQ(replay(empty.path() + "/none", recorded_with(), recorded_with()).error().code,
              Errc::storage);
}

TEST(Recording, ADirectoryThatMayBeListedAndNotEnteredIsReported) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
    const Scratch scratch;
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(5);
        cloud.decide(3, 1);
    }
    ::chmod(scratch.path().c_str(), 0744);
    const reaper::test::UnprivilegedUser unprivileged{};
    const auto found = segments_in(scratch.path());
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().what, HasSubstr("can't be read"));
    EXPECT_EQ(found.error().code, Errc::storage);
}

TEST(Recording, AnonymousItHasNoNamesAndIsDecidedAlike) {
    const Scratch named, nameless;
    config::Policy policy = policy_of("cost");
    policy.safeguards.protect.projects = {"secret-project"};
    policy.scheduler.cells = {Cell{"secret-cell", {"rack-*"}, {}, false}};
    for (const bool anonymous : {false, true}) {
        RecordedCloud cloud(anonymous ? nameless.path() : named.path(), policy, anonymous);
        cloud.build(7);
        for (int i = 0; i < 6; ++i) cloud.decide(2 + i, 1);
    }
    for (const char* name : {"rack-", "spot-", "batch", "\"project\":\"regular\"", "5e2d0c3a",
                             "7e2d0c3a", "req-1\"", "secret", "other-"}) {
        EXPECT_THAT(named.text(), HasSubstr(name));
        EXPECT_THAT(nameless.text(), Not(HasSubstr(name)));
    }
    const auto known = replay(named.path(), recorded_with(), recorded_with());
    const auto unknown = replay(nameless.path(), recorded_with(), recorded_with());
    ASSERT_TRUE(known && unknown) << unknown.error().what;
    EXPECT_TRUE(unknown->anonymous);
    ASSERT_EQ(unknown->requests.size(), known->requests.size());
    for (std::size_t i = 0; i < known->requests.size(); ++i) {
        const Choice& a = *known->requests[i].recorded;
        const Choice& b = *unknown->requests[i].recorded;
        EXPECT_EQ(a.decision.index(), b.decision.index()) << i;
        EXPECT_EQ(a.helps(), b.helps()) << i;
    }
}

TEST(Recording, AServerThatAnotherTaggerCallsRegularStays) {
    const Scratch scratch;
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(2);
        cloud.decide(6, 1);
    }
    const PolicyFor recompiled = [](const PolicyLine&) -> Result<ReplayPolicy> {
        config::Policy other = config::standard_policy();
        other.taggers = {{"flavor", {}}};
        return ReplayPolicy{compile_policy(other).value(), true};
    };
    const auto again = replay(scratch.path(), recorded_with(), recompiled);
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_TRUE(again->requests[0].recorded->frees());
    EXPECT_TRUE(std::holds_alternative<NotEnough>(again->requests[0].asked->decision));
    const PolicyFor unknown = [](const PolicyLine&) -> Result<ReplayPolicy> {
        config::Policy other = config::standard_policy();
        other.taggers = {{"project", {{"tag", std::string{"of-another-kind"}}}}};
        return ReplayPolicy{compile_policy(other).value(), true};
    };
    const auto failed = replay(scratch.path(), recorded_with(), unknown);
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().what, HasSubstr("of-another-kind"));
}

// ---- the writer ----

Item numbered(int number, std::size_t bytes) {
    // Nothing that shrinks.
    std::mt19937 random(static_cast<unsigned>(number));
    std::string noise;
    while (noise.size() < bytes) noise += std::to_string(random());
    Item item;
    item.line = [number, noise] {
        return json{{"line", "x"}, {"n", number}, {"noise", noise}}.dump();
    };
    return item;
}

std::uint64_t bytes_in(const std::string& directory) {
    std::uint64_t sum = 0;
    for (const Segment& segment : segments_in(directory).value()) sum += segment.bytes;
    return sum;
}

TEST(RecordingWriter, TheOldestGoesAndTheRestStays) {
    const Scratch scratch;
    RecordingWriter::Limits limits = RecordedCloud::small_limits();
    limits.max_bytes = 400'000;
    limits.segment_bytes = 40'000;
    RecordingWriter writer(scratch.path(), limits);
    int number = 0;
    for (int segment = 0; segment < 20; ++segment) {
        Item first = numbered(++number, 100);
        first.begins_segment = true;
        Item base = numbered(++number, 100);
        base.ends_base = true;
        std::vector<Item> items{first, base};
        for (int i = 0; i < 10; ++i) items.push_back(numbered(++number, 10'000));
        ASSERT_TRUE(writer.submit(std::move(items)));
        writer.flush();
        EXPECT_TRUE(writer.wants_segment());
        EXPECT_LE(bytes_in(scratch.path()), limits.max_bytes);
    }
    EXPECT_EQ(writer.losses(), 0U);
    EXPECT_GT(segments_in(scratch.path()).value().size(), 3U);
    const std::string text = scratch.text();
    EXPECT_THAT(text, HasSubstr("\"n\":" + std::to_string(number) + ","));
    EXPECT_THAT(text, Not(HasSubstr("\"n\":1,")));
}

TEST(RecordingWriter, ACloudThatIsTooLargeIsReportedAndKeptWithinBounds) {
    const Scratch scratch;
    RecordingWriter::Limits limits = RecordedCloud::small_limits();
    limits.max_bytes = 20'000;
    RecordingWriter writer(scratch.path(), limits);
    Item first = numbered(1, 100'000);
    first.begins_segment = true;
    ASSERT_TRUE(writer.submit({first}));
    writer.flush();
    EXPECT_GT(writer.losses(), 0U);
    EXPECT_FALSE(writer.writes());
    EXPECT_LE(bytes_in(scratch.path()), limits.max_bytes);
}

TEST(RecordingWriter, WhoSubmitsNeverWaits) {
    const Scratch scratch;
    std::mutex held;  // outlives the writer's thread
    RecordingWriter writer(scratch.path(), RecordedCloud::small_limits());
    held.lock();
    Item slow = numbered(1, 10);
    slow.line = [&held] {
        const std::lock_guard wait(held);
        return std::string{"{}"};
    };
    slow.begins_segment = true;
    ASSERT_TRUE(writer.submit({slow}));
    bool refused = false;
    for (int i = 0; i < 100 && !refused; ++i) {
        Item heavy = numbered(i, 10);
        heavy.weight = 50'000;
        refused = !writer.submit({heavy});
    }
    EXPECT_TRUE(refused);
    EXPECT_GT(writer.losses(), 0U);
    held.unlock();
}

/// While it lives, no file of the process grows beyond so many bytes.
class SmallFiles {
public:
    explicit SmallFiles(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit now = before_;
        now.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~SmallFiles() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_);
    }
    SmallFiles(const SmallFiles&) = delete;
    SmallFiles& operator=(const SmallFiles&) = delete;

private:
    rlimit before_{};
    void (*signal_)(int);
};

TEST(Recording, AFullDiskCostsTheRecordingAloneAndItBeginsAgain) {
    const Scratch scratch;
    int decisions = 0;
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(4);
        cloud.decide(3, 1);
        cloud.recorder().flush();
        {
            const auto now = bytes_in(scratch.path());
            const SmallFiles full(now + 700);
            for (unsigned i = 0; i < 5; ++i) {
                cloud.build(50 + i);
                EXPECT_FALSE(std::holds_alternative<Refused>(cloud.decide(3, 1)));
                cloud.recorder().flush();
            }
        }
        for (unsigned i = 0; i < 4; ++i) {
            cloud.build(70 + i);
            cloud.decide(2, 1);
            cloud.recorder().flush();
            ++decisions;
        }
    }
    const auto again = replay(scratch.path(), recorded_with(), recorded_with());
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_TRUE(again->remarks.empty()) << again->remarks.front();
    EXPECT_EQ(again->reproduced, again->checked);
    EXPECT_GE(again->checked, decisions) << "some after it, and the one before";
    EXPECT_LT(again->checked, 10) << "nothing was lost: the disk was not full";
}

TEST(RecordingWriter, WhatTheDiskDoesNotTakeIsLostAndItGoesOnWhenItDoes) {
    const Scratch scratch;
    const std::string directory = scratch.path() + "/recording";
    RecordingWriter writer(directory, RecordedCloud::small_limits());
    Item first = numbered(1, 10);
    first.begins_segment = true;
    ASSERT_TRUE(writer.submit({first}));
    writer.flush();
    EXPECT_FALSE(writer.writes());
    const auto before = writer.losses();
    ASSERT_TRUE(writer.submit({numbered(2, 10)}));
    writer.flush();
    EXPECT_GT(writer.losses(), before) << "another try is asked for";
    ASSERT_TRUE(RecordingWriter::prepare(directory));
    first = numbered(3, 10);
    first.begins_segment = true;
    ASSERT_TRUE(writer.submit({first}));
    writer.flush();
    EXPECT_EQ(segments_in(directory).value().size(), 1U);
    EXPECT_TRUE(writer.writes());
    const auto working = writer.losses();
    ASSERT_TRUE(writer.submit({numbered(4, 10)}));
    writer.flush();
    EXPECT_EQ(writer.losses(), working);
}

TEST(RecordingWriter, TwoNeverWriteToOneDirectory) {
    const Scratch scratch;
    auto first = DirectoryLock::take(scratch.path());
    EXPECT_NE(first, nullptr);
    EXPECT_EQ(DirectoryLock::take(scratch.path()), nullptr);
    first.reset();
    EXPECT_NE(DirectoryLock::take(scratch.path()), nullptr);
    EXPECT_EQ(DirectoryLock::take(scratch.path() + "/none"), nullptr);
}

TEST(RecordingWriter, ADirectoryThatCannotBeIsRefused) {
    const Scratch scratch;
    write_bytes(scratch.path() + "/file", "x");
    const auto refused = RecordingWriter::prepare(scratch.path() + "/file/recording");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("record.directory"));
}

// ---- the recorder ----

TEST(Recorder, AHostThatDidNotChangeIsWrittenOnce) {
    const Scratch scratch;
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(8);
        for (int i = 0; i < 5; ++i) cloud.build(8);  // read again, the same
    }
    std::istringstream lines(scratch.text());
    int hosts = 0;
    for (std::string line; std::getline(lines, line);)
        hosts += json::parse(line)["line"] == "host" ? 1 : 0;
    EXPECT_EQ(hosts, 6);
}

TEST(Recorder, ADecisionWaitsForNoHostAndIsMarkedIncomplete) {
    const Scratch scratch;
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(10, 1'500);
        cloud.decide(3, 1);
        EXPECT_LT(cloud.recorder().step(), std::chrono::seconds{1}) << "more is to be written";
        for (int i = 0; i < 10; ++i) cloud.recorder().keep_up(cloud.cache());
        EXPECT_EQ(cloud.recorder().step(), std::chrono::seconds{1});
        cloud.decide(3, 1);
    }
    const auto again = replay(scratch.path(), recorded_with(), recorded_with());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->undecided, 1);
    EXPECT_EQ(again->checked, 1);
    EXPECT_EQ(again->reproduced, 1);
    ASSERT_EQ(again->requests.size(), 2U);
    EXPECT_FALSE(again->requests[0].recorded);
    EXPECT_TRUE(again->requests[1].surely);
}

TEST(Recorder, ASegmentThatFollowsKnowsTheHostsOfTheOneBefore) {
    const Scratch scratch;
    int decisions = 0;
    {
        RecordingWriter::Limits limits = RecordedCloud::small_limits();
        limits.segment_bytes = 1;  // each is full when it is some times its base
        RecordedCloud cloud(scratch.path(), policy_of("cost"), false, limits);
        for (unsigned seed = 0; seed < 30; ++seed) {
            cloud.build(seed, 40);
            cloud.decide(3, 1);
            ++decisions;
            cloud.recorder().flush();
        }
    }
    EXPECT_GT(segments_in(scratch.path()).value().size(), 3U);
    const auto again = replay(scratch.path(), recorded_with(), recorded_with());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->checked, decisions);
    EXPECT_EQ(again->reproduced, decisions);
    // Without the first one the others are as good.
    std::filesystem::remove(segments_in(scratch.path()).value().front().path);
    const auto rest = replay(scratch.path(), recorded_with(), recorded_with());
    ASSERT_TRUE(rest);
    EXPECT_GT(rest->checked, decisions / 2);
    EXPECT_EQ(rest->reproduced, rest->checked);
}

TEST(Recorder, WhatIsGoneIsGone) {
    const Scratch scratch;
    {
        RecordedCloud cloud(scratch.path());
        cloud.build(9, 6);
        cloud.build(9, 2);
        cloud.decide(6, 6);
    }
    const auto again = replay(scratch.path(), recorded_with(), recorded_with());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->checked, 1);
    EXPECT_EQ(again->reproduced, 1);
    EXPECT_THAT(scratch.text(), HasSubstr("\"gone\""));
}

}  // namespace
}  // namespace reaper::recording::test::recording_test

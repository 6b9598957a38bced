#include "reaper/recording/recorder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <random>
#include <stdexcept>
#include <string_view>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/recording/gzip_lines.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::recording {

// The names of an anonymous recording: the same one for the same one as long as the process lives,
// and it can't be traced back. Names come as they are seen, so their order is not that of
// the originals: where a strategy has two equally good victims, it may choose the other one.

/// By a keyed hash, with a key that is drawn here and written nowhere. The rename may be used in
/// another thread.
report::NameChanger::Rename keyed_pseudonyms();
/// For tests: the key is given.
report::NameChanger::Rename keyed_pseudonyms(std::string key);

namespace {

constexpr std::size_t key_bytes = 32;
constexpr std::size_t digits_kept = 22;

/// Of the keyed hash, so many hexadecimal digits as a pseudonym takes.
std::string digits_of(const std::string& key, report::NameKind kind, const std::string& name) {
    const std::string text = std::to_string(static_cast<int>(kind)) + ":" + name;
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data(), &size);
    return hexadecimal({hash.data(), size}).substr(0, digits_kept);
}

}  // namespace

report::NameChanger::Rename keyed_pseudonyms() {
    std::string key(key_bytes, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), static_cast<int>(key.size())) != 1)
        throw std::runtime_error("there is no randomness");
    return keyed_pseudonyms(std::move(key));
}

report::NameChanger::Rename keyed_pseudonyms(std::string key) {
    return [key = std::move(key)](report::NameKind kind, const std::string& name) {
        return report::pseudonym(kind, name, digits_of(key, kind, name));
    };
}

namespace {

using std::chrono::steady_clock;

constexpr std::size_t batch_bytes = 4UL * 1024 * 1024;
/// So many times its base, at least, is a full segment.
constexpr std::uint64_t times_base = 4;
constexpr std::chrono::hours longest_segment{24};

std::string trouble(const std::string& what) {
    return what + " (" + std::strerror(errno) + ")";
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

std::unique_ptr<DirectoryLock> DirectoryLock::take(const std::string& directory) {
    const std::string path = directory + "/lock";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return nullptr;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0)
        return std::unique_ptr<DirectoryLock>(new DirectoryLock(file));
    ::close(file);
    return nullptr;
}

DirectoryLock::~DirectoryLock() {
    ::close(file_);
}

Result<void> RecordingWriter::prepare(const std::string& directory) {
    std::error_code failed;
    std::filesystem::create_directories(directory, failed);
    if (failed)
        return Error{Errc::storage, "record.directory: " + directory + " can't be made (" +
                                        failed.message() + ")"};
    if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0)
        return Error{Errc::storage,
                     trouble("record.directory: " + directory + " can't be written to")};
    return {};
}

RecordingWriter::RecordingWriter(std::string directory, Limits limits)
    : directory_(std::move(directory)), limits_(limits), thread_([this] { work(); }) {}

RecordingWriter::~RecordingWriter() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
    close_segment();
}

bool RecordingWriter::submit(std::vector<Item> items) {
    {
        const std::lock_guard lock(mutex_);
        std::size_t more = 0;
        for (const Item& item : items) more += item.weight;
        // One batch always has place: the bound is on what waits behind it.
        if (!queue_.empty() && weight_ + more > max_weight) {
            ++losses_;
            return false;
        }
        weight_ += more;
        for (Item& item : items) queue_.push_back(std::move(item));
    }
    wake_.notify_all();
    return true;
}

void RecordingWriter::flush() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return queue_.empty() && !busy_; });
}

void RecordingWriter::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        // More lines together are smaller.
        wake_.wait_for(lock, limits_.gather, [this] { return stopping_; });
        busy_ = true;
        std::deque<Item> items;
        items.swap(queue_);
        weight_ = 0;
        lock.unlock();
        write(std::move(items));
        lock.lock();
        busy_ = false;
        idle_.notify_all();
    }
}

void RecordingWriter::write(std::deque<Item> items) {
    std::string text;
    for (Item& item : items) {
        if (item.begins_segment) {
            append(text);
            close_segment();
            last_.clear();
            const auto opened = open_segment();
            if (!opened) lose(opened.error().what);
        }
        if (lost_) continue;
        std::string line = item.line();
        item.line = nullptr;  // frees what it holds
        if (!item.key.empty()) {
            const std::size_t hash = std::hash<std::string>{}(line);
            const auto known = last_.try_emplace(std::move(item.key), 0).first;
            if (known->second == hash) continue;
            known->second = hash;
        }
        text += line;
        text += '\n';
        if (item.ends_base || text.size() >= batch_bytes) append(text);
        if (item.ends_base && !lost_) base_size_ = size_;
    }
    append(text);
    note_size();
}

/// As one member; takes back what is half written.
void RecordingWriter::append(std::string& text) {
    if (text.empty() || lost_) return text.clear();
    const auto member = gzip_member(text);
    text.clear();
    if (!member) return lose(member.error().what);
    if (!write_all(file_, *member)) {
        const std::string why = trouble(path_ + " can't be written");
        if (::ftruncate(file_, static_cast<off_t>(size_)) != 0)
            spdlog::warn("{}", trouble(path_ + " ends in a broken piece"));
        return lose(why);
    }
    size_ += member->size();
}

Result<void> RecordingWriter::open_segment() {
    if (told_ && steady_clock::now() - failed_at_ < limits_.retry_after)
        return Error{Errc::storage, "the disk is tried again later"};
    prune();
    constexpr int most_tries = 1'000;
    for (int number = 0; number < most_tries; ++number) {
        path_ = directory_ + "/" + segment_name(std::time(nullptr), number);
        file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
        if (file_ >= 0 || errno != EEXIST) break;
    }
    if (file_ < 0) return Error{Errc::storage, trouble(path_ + " can't be made")};
    if (std::exchange(told_, false)) spdlog::info("recording goes on in {}", path_);
    lost_ = false;
    writes_ = true;
    size_ = base_size_ = 0;
    opened_at_ = steady_clock::now();
    wants_segment_ = false;
    return {};
}

void RecordingWriter::close_segment() {
    if (file_ < 0) return;
    const bool kept = ::fsync(file_) == 0;
    if (!kept) spdlog::warn("{}", trouble(path_ + " may not be on the disk"));
    ::close(file_);
    file_ = -1;
}

void RecordingWriter::lose(const std::string& why) {
    writes_ = false;
    if (!std::exchange(told_, true)) {
        failed_at_ = steady_clock::now();
        spdlog::error("nothing is recorded until it can be again: {}", why);
    } else if (steady_clock::now() - failed_at_ >= limits_.retry_after) {
        failed_at_ = steady_clock::now();
    }
    close_segment();
    if (!std::exchange(lost_, true)) ++losses_;
}

void RecordingWriter::note_size() {
    if (lost_) {
        // With a new segment it is tried again.
        if (told_ && steady_clock::now() - failed_at_ >= limits_.retry_after) ++losses_;
        return;
    }
    const bool full =
        base_size_ > 0 && size_ >= std::max(limits_.segment_bytes, times_base * base_size_);
    const bool old = steady_clock::now() - opened_at_ >= longest_segment;
    if ((full || old) && base_size_ > 0) wants_segment_ = true;
    prune();
}

/// The oldest go, never the one that is being written.
void RecordingWriter::prune() {
    auto all = segments_in(directory_);
    if (!all) return;
    std::uint64_t sum = 0;
    for (const Segment& segment : *all) sum += segment.bytes;
    const auto now = std::chrono::file_clock::now();
    for (const Segment& segment : *all) {
        if (file_ >= 0 && segment.path == path_) continue;
        if (sum <= limits_.max_bytes && now - segment.written_at <= limits_.max_age) continue;
        if (::unlink(segment.path.c_str()) == 0) sum -= segment.bytes;
    }
    // All that there is, and still too much: the cloud is too large for so few bytes.
    if (file_ < 0 || size_ <= limits_.max_bytes) return;
    close_segment();
    ::unlink(path_.c_str());
    lose("record.max_mib is too small for all hosts of this cloud");
}

namespace {

/// Copied while no request waits, and for a decision.
constexpr std::size_t hosts_at_a_time = 200;
constexpr std::size_t hosts_for_a_decision = 1'000;
constexpr std::size_t max_remembered = 100'000;
constexpr std::uint64_t segments_kept = 16;

RecordingWriter::Limits limits_of(const RecorderSettings& settings) {
    RecordingWriter::Limits limits;
    limits.max_bytes = settings.max_bytes;
    limits.max_age = settings.max_age;
    limits.segment_bytes = settings.max_bytes / segments_kept;
    return limits;
}

std::string random_name() {
    std::random_device random;
    char text[32];
    std::snprintf(text, sizeof text, "%08x%08x", random(), random());
    return text;
}

/// On which it rests, or which came nearest.
std::set<HostId> hosts_it_rests_on(const Decision& decision) {
    std::set<HostId> all;
    for (const HostPlan& plan : host_plans(decision)) all.insert(plan.host);
    if (const auto* const plan = std::get_if<Plan>(&decision))
        for (const Rejection& rejection : plan->rejected) all.insert(rejection.host);
    if (const auto* const too_little = std::get_if<NotEnough>(&decision))
        for (const Rejection& rejection : too_little->rejected) all.insert(rejection.host);
    return all;
}

}  // namespace

Recorder::Recorder(RecorderSettings settings) : Recorder(settings, limits_of(settings)) {}

Recorder::Recorder(RecorderSettings settings, RecordingWriter::Limits limits)
    : settings_(std::move(settings)),
      changer_(settings_.anonymous ? std::make_shared<const report::NameChanger>(keyed_pseudonyms())
                                   : nullptr),
      run_(random_name()),
      writer_(settings_.directory, limits) {}

void Recorder::add(Line line, std::string key, std::size_t weight) {
    Item item;
    item.line = [line = std::move(line), changer = changer_]() mutable {
        return report::dump(line_json(std::move(line), changer.get()));
    };
    item.key = std::move(key);
    item.weight = weight;
    pending_.push_back(std::move(item));
}

void Recorder::submit() {
    std::vector<Item> items;
    items.swap(pending_);
    if (!items.empty()) static_cast<void>(writer_.submit(std::move(items)));
}

// ---- segments ----

void Recorder::begin_if_due(TimePoint now) {
    last_at_ = now;
    const std::uint64_t losses = writer_.losses();
    const bool lost = losses != losses_seen_;
    if (begun_ && !lost && !writer_.wants_segment()) return;
    // A segment that has not seen all hosts yet is not followed by another one.
    if (begun_ && !lost && !base_ended_) return;
    losses_seen_ = losses;
    follows_ = begun_ && !lost;
    begin_segment(now);
}

void Recorder::begin_segment(TimePoint now) {
    begun_ = true;
    pending_.clear();
    if (!follows_) run_ = random_name();
    Begin begin;
    begin.at = now;
    begin.run = run_;
    begin.segment = ++segments_;
    begin.follows = follows_;
    begin.anonymous = settings_.anonymous;
    begin.dry_run = settings_.dry_run;
    begin.version = settings_.version;
    add(std::move(begin));
    pending_.back().begins_segment = true;
    base_begun_ = base_ended_ = false;
    base_left_.clear();
    if (!follows_) written_.clear();
    tags_.reset();
    told_.clear();
    add_policy();
    submit();
}

void Recorder::find_changed(const CloudCache& cache) {
    const bool known =
        cache.index().changes().read(changes_, [&](const HostId& id) { changed_.insert(id); });
    if (known && base_begun_) return;
    const bool from_scratch = !known || !follows_;
    base_begun_ = true;
    for (const Host* const host : cache.hosts())
        (from_scratch ? changed_ : base_left_).insert(host->id);
    // Hosts that are gone are recorded as gone.
    if (from_scratch) changed_.insert(written_.begin(), written_.end());
}

void Recorder::copy(const CloudCache& cache, const HostId& id) {
    const Host* const host = cache.find(id);
    if (host == nullptr) {
        written_.erase(id);
        add(GoneLine{id}, "host " + id.str());
        return;
    }
    written_.insert(id);
    add(HostLine{*host}, "host " + id.str(), 1 + host->servers.size());
}

/// Those of `first`, then others, up to `most`. True if a reader then knows the current state of
/// all of them.
bool Recorder::copy_changed(const CloudCache& cache, std::size_t most,
                            const std::set<HostId>& first) {
    for (const HostId& id : first)
        if (changed_.erase(id) > 0) copy(cache, id);
    for (std::size_t count = 0; count < most; ++count) {
        std::set<HostId>& from = changed_.empty() ? base_left_ : changed_;
        if (from.empty()) break;
        copy(cache, *from.begin());
        from.erase(from.begin());
    }
    if (!changed_.empty()) return false;
    if (base_left_.empty() && !base_ended_) {
        base_ended_ = true;
        add(WholeLine{});
        pending_.back().ends_base = true;
    }
    return base_ended_ || follows_;
}

void Recorder::keep_up(const CloudCache& cache) {
    begin_if_due(std::max(last_at_, cache.ages().built_at));
    find_changed(cache);
    copy_changed(cache, hosts_at_a_time, {});
    note_tags(cache.tag_data());
    submit();
}

Duration Recorder::step() const {
    constexpr Duration busy{100}, idle{1'000};
    return changed_.empty() && base_ended_ ? idle : busy;
}

// ---- decisions ----

void Recorder::note_policy(const CompiledPolicy& policy) {
    const auto& ids = policy.safeguards.protect.project_ids;
    const auto& servers = policy.safeguards.protect.servers;
    if (policy_ && policy_->first == policy.configured && policy_->second == ids &&
        protected_servers_ == servers)
        return;
    policy_.emplace(policy.configured, ids);
    protected_servers_ = servers;
    PolicyLine line;
    for (const auto& [server, reason] : servers)
        line.protected_servers.insert(changer_ ? changer_->of(report::NameKind::consumer, server)
                                               : server);
    line.policy = changer_ ? anonymous_policy(policy.configured, *changer_) : policy.configured;
    for (const auto& [written, id] : ids)
        if (changer_)
            line.project_ids.emplace(changer_->of(report::NameKind::project, written),
                                     changer_->of(report::NameKind::project, id));
        else
            line.project_ids.emplace(written, id);
    line.configuration = settings_.as_text(line.policy);
    line.revocable_classes = policy.revocable_classes;
    policy_line_ = std::move(line);
    if (begun_) add_policy();
}

void Recorder::add_policy() {
    if (policy_line_) add(*policy_line_);
}

void Recorder::note_tags(const TagData& tag_data) {
    if (tags_ && tags_->projects_by_tag == tag_data.projects_by_tag) return;
    tags_ = tag_data;
    add(TagsLine{tag_data});
}

void Recorder::on_decision(const DecisionSight& sight) {
    begin_if_due(sight.now);
    find_changed(sight.cache);
    const bool whole =
        copy_changed(sight.cache, hosts_for_a_decision, hosts_it_rests_on(sight.decision));
    note_policy(sight.policy);
    note_tags(sight.cache.tag_data());
    if (told_.size() >= max_remembered) told_.clear();
    told_.insert(sight.request.id);
    auto seen = std::make_shared<const Seen>(seen_by(sight, whole));
    const std::size_t weight = 1 + seen->history.size() + seen->skipped.size();
    add(std::move(seen), {}, weight);
    submit();
}

// ---- what came of it ----

/// A request that no decision looked at the cloud for.
void Recorder::note_request(const Request& request, TimePoint at) {
    if (told_.contains(request.id)) return;
    if (told_.size() >= max_remembered) told_.clear();
    told_.insert(request.id);
    add(RequestLine{request, at});
}

void Recorder::on_plan(const Request& request, const PlanEntry& plan) {
    begin_if_due(plan.at);
    note_request(request, plan.at);
    add(PlanLine{request.id, plan});
    submit();
}

void Recorder::on_step(const Request& request, const StepEntry& step) {
    if (!begun_) return;
    add(StepLine{request.id, step});
    submit();
}

void Recorder::on_outcome(const Request& request, const Outcome& outcome) {
    begin_if_due(outcome.at);
    note_request(request, outcome.at);
    add(OutcomeLine{request.id, outcome});
    submit();
}

void Recorder::on_freed_room(const RequestId& request, const FreedRoomResult& result) {
    if (!begun_) return;
    add(FreedLine{request, result});
    submit();
}

}  // namespace reaper::recording

#include "tests/cloudsim/api/witness.hpp"

#include <algorithm>

#include "tests/cloudsim/api/json_writer.hpp"

namespace reaper::cloudsim {

void Witness::add(WitnessEntry entry) {
    entry.number = ++last_;
    entry.at = clock_->now();
    entries_.push_back(std::move(entry));
    while (entries_.size() > limit_) entries_.pop_front();
}

void Witness::on_effect(const Effect& effect) {
    WitnessEntry entry;
    entry.what = effect.what;
    entry.server = effect.server;
    entry.host = effect.host;
    entry.project = effect.project;
    add(std::move(entry));
}

void Witness::on_request(WitnessEntry entry) {
    entry.is_request = true;
    ++requests_;
    add(std::move(entry));
}

namespace {

void write_entry(JsonWriter& json, const WitnessEntry& entry) {
    json.open_object().member("number", entry.number).member("at", iso_micro(entry.at));
    if (entry.is_request) {
        json.member("kind", "request").member("service", entry.service);
        json.member("method", entry.method).member("path", entry.path);
        json.member("query", entry.query).member("user", entry.user);
        json.member("action", entry.action).member("status", entry.status);
    } else {
        json.member("kind", "effect").member("what", entry.what);
        json.member("server", entry.server.text()).member("host", entry.host);
        json.member("project", entry.project);
    }
    json.close_object();
}

}  // namespace

void Witness::write(JsonWriter& json, std::uint64_t since, std::size_t most, std::string_view user,
                    std::string_view kind) const {
    const std::uint64_t before = entries_.empty() ? last_ : entries_.front().number - 1;
    json.open_object().member("last", last_).member("lost", before > since);
    std::uint64_t told = last_;
    json.open_array("entries");
    auto at = entries_.begin();
    if (since > before)
        at += static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(since - before, entries_.size()));
    std::size_t count = 0;
    for (; at != entries_.end(); ++at) {
        if (!user.empty() && at->user != user) continue;
        if (!kind.empty() && at->is_request != (kind == "request")) continue;
        if (count++ == most) {
            told = at->number - 1;
            break;
        }
        write_entry(json, *at);
    }
    json.close_array().member("next", told).close_object();
}

}  // namespace reaper::cloudsim

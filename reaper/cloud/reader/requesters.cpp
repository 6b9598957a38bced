#include "reaper/cloud/reader/requesters.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "reaper/runtime/async.hpp"

namespace reaper {
namespace {

/// A list costs Nova about as much as so many single servers.
constexpr std::size_t few = 8;

ResultTask<void> read_each(Compute& compute, const std::vector<ServerId>& wanted,
                           Requesters& records) {
    std::vector<std::optional<Result<std::optional<ServerRecord>>>> answers(wanted.size());
    std::vector<Task<void>> reads;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        ServerId id = wanted[i];
        reads.push_back(keep(compute.server(std::move(id)), answers[i]));
    }
    co_await run_all(std::move(reads));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!*answers[i]) co_return answers[i]->error();
        records[wanted[i]] = std::move(**answers[i]);
    }
    co_return Result<void>{};
}

}  // namespace

ResultTask<Requesters> read_requesters(Compute& compute, std::vector<ServerId> requesters) {
    Requesters records;
    // The first ones report which request to boot they are.
    while (requesters.size() > few) {
        std::vector<ServerId> first(requesters.end() - few, requesters.end());
        requesters.resize(requesters.size() - few);
        auto read = co_await read_each(compute, first, records);
        if (!read) co_return read.error();
        std::string reservation;
        for (const ServerId& id : first)
            if (const auto& record = records[id]) reservation = record->reservation;
        if (reservation.empty()) continue;
        auto listed = co_await compute.servers_of(std::move(reservation));
        if (!listed) co_return listed.error();
        for (ServerRecord& record : *listed) {
            ServerId id = record.server.id;
            records.insert_or_assign(std::move(id), std::move(record));
        }
        std::erase_if(requesters, [&](const ServerId& id) { return records.contains(id); });
        break;
    }
    // Those that are in no list: they are gone, or were booted by themselves.
    while (!requesters.empty()) {
        const std::size_t at_once = std::min(few, requesters.size());
        std::vector<ServerId> next(requesters.end() - static_cast<std::ptrdiff_t>(at_once),
                                   requesters.end());
        requesters.resize(requesters.size() - at_once);
        auto read = co_await read_each(compute, next, records);
        if (!read) co_return read.error();
    }
    co_return records;
}

}  // namespace reaper

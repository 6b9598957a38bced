#include "reaper/report/snapshot_file.hpp"

#include <iterator>
#include <set>
#include <vector>

#include "reaper/json/fields.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/snapshot_parts.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

/// By id.
using Providers = std::set<std::string>;

/// What is held on providers of no host here would lead nowhere.
json host_with_known(const Host& host, const Providers& known) {
    json object = host_json(host);
    for (json& server : object["servers"]) {
        json& held = server["allocations"];
        for (auto each = held.begin(); each != held.end();)
            each = known.contains(each.key()) ? std::next(each) : held.erase(each);
    }
    return object;
}

Providers providers_of(const Snapshot& snapshot) {
    Providers providers;
    for (const Host& host : snapshot.hosts)
        for (const Provider& provider : host.providers) providers.insert(provider.id.str());
    return providers;
}

json remarks_of(const Snapshot& snapshot) {
    const auto& all = snapshot.remarks;
    if (all.size() <= max_snapshot_remarks) return all;
    const std::size_t kept = max_snapshot_remarks - 1;
    json some(
        std::vector<std::string>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept)));
    some.push_back(more_remarks(all.size() - kept));
    return some;
}

/// All but the hosts.
json frame(const SnapshotFile& file) {
    json members{{"format", "reaper-snapshot"},
                 {"version", snapshot_version},
                 {"taken_at", iso_time(file.snapshot.taken_at)},
                 {"anonymous", file.anonymous},
                 {"facts", tag_data_json(file.tag_data)},
                 {"revocable_classes", json_of_value(file.snapshot.revocable_classes, PlainJson{})},
                 {"ledger", ledger_json(file.ledger)},
                 {"remarks", remarks_of(file.snapshot)}};
    json names = json::object();
    for (const Host& host : file.snapshot.hosts)
        add_project_names(names, host, file.snapshot.project_names);
    if (!names.empty()) members["project_names"] = std::move(names);
    return members;
}

}  // namespace

std::string more_remarks(std::size_t count) {
    return "and " + std::to_string(count) + " more remarks";
}

json to_json(const SnapshotFile& file) {
    json document = frame(file);
    json hosts = json::array();
    const Providers providers = providers_of(file.snapshot);
    for (const Host& host : file.snapshot.hosts) hosts.push_back(host_with_known(host, providers));
    document["hosts"] = std::move(hosts);
    return document;
}

void write_snapshot(std::ostream& out, const SnapshotFile& file) {
    // What the file is comes first, so that its beginning identifies it.
    out << "{\n\"format\": \"reaper-snapshot\"";
    const json members = frame(file);
    for (const auto& [name, value] : members.items())
        if (name != "format") out << ",\n\"" << name << "\": " << dump(value);
    out << ",\n\"hosts\": [";
    const Providers providers = providers_of(file.snapshot);
    const char* separator = "\n";
    for (const Host& host : file.snapshot.hosts) {
        out << separator << dump(host_with_known(host, providers));
        separator = ",\n";
    }
    out << "\n]\n}\n";
}

}  // namespace reaper::report

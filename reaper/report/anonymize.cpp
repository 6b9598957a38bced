#include "reaper/report/anonymize.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <string>

#include "reaper/report/name_changer.hpp"

namespace reaper::report {
namespace {

/// Of one kind, in order. First all originals are noted, then asked for.
using Replacements = std::map<std::string, std::string>;
using AllReplacements = std::array<Replacements, name_kinds>;

void change(SnapshotFile& file, const NameChanger& changer) {
    file.anonymous = true;
    file.snapshot.remarks.clear();
    file.snapshot.project_names.clear();
    for (Host& host : file.snapshot.hosts) changer.change(host);
    changer.change(file.tag_data);
    changer.change(file.ledger);
}

void number(AllReplacements& all) {
    for (std::size_t kind = 0; kind < all.size(); ++kind) {
        unsigned long n = 0;
        for (auto& [original, replacement] : all[kind]) {
            char digits[32];
            std::snprintf(digits, sizeof digits, "%lx", ++n);
            replacement = pseudonym(static_cast<NameKind>(kind), original, digits);
        }
    }
}

}  // namespace

SnapshotFile anonymized(const SnapshotFile& file) {
    AllReplacements all;
    const NameChanger noting([&](NameKind kind, const std::string& original) {
        all[static_cast<std::size_t>(kind)].emplace(original, "");
        return original;
    });
    SnapshotFile copy = file;
    change(copy, noting);
    number(all);
    const NameChanger changer([&](NameKind kind, const std::string& original) {
        return all[static_cast<std::size_t>(kind)].at(original);
    });
    SnapshotFile changed = file;
    change(changed, changer);
    return changed;
}

}  // namespace reaper::report

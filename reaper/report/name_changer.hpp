// Replaces the names of users and things in what the reaper knows of a cloud, each kind of name
// by a rule of the caller's. What is not known to be safe is replaced, or left out.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/rooms/ledger.hpp"
#include "tagging/tagger.hpp"

namespace reaper::report {

enum class NameKind {
    machine,
    provider,
    consumer,
    project,
    request,
    server,
    flavor,
    zone,
    aggregate,
    key,
    value,
    tag,
    project_tag,
    spec,
    image,
};
inline constexpr int name_kinds = 15;

/// In the place of free text.
inline constexpr const char* left_out = "left out: anonymous";

/// What stands in the place of `original`: a UUID for a UUID (also as 32 digits, and after `req-`),
/// else a word of the kind and `digits`. Those are hexadecimal, 22 at most; those that lack are
/// zeros before them.
std::string pseudonym(NameKind kind, const std::string& original, std::string digits);

class NameChanger {
public:
    /// Never called with an empty name; the same for the same, always.
    using Rename = std::function<std::string(NameKind, const std::string&)>;

    explicit NameChanger(Rename rename) : rename_(std::move(rename)) {}

    void change(Host& host) const;
    void change(TagData& tag_data) const;
    void change(Ledger& ledger) const;
    void change(Request& request) const;
    void change(Decision& decision) const;
    void change(std::map<ServerId, std::string>& skipped) const;

    std::string of(NameKind kind, const std::string& original) const;
    std::string of(NameKind kind, const SharedText& original) const {
        return of(kind, original.str());
    }
    template <class IdType>
    IdType of(NameKind kind, const IdType& id) const {
        return IdType{of(kind, id.str())};
    }

    HostAggregates aggregates(const HostAggregates& all) const;
    /// Extra specs of a flavor.
    std::map<std::string, std::string> specs(const std::map<std::string, std::string>& all) const;
    template <class Names>
    Names all_of(NameKind kind, const Names& originals) const {
        Names all;
        for (const auto& original : originals) all.insert(all.end(), of(kind, original));
        return all;
    }

private:
    Rename rename_;
};

}  // namespace reaper::report

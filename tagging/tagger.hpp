// A tagger decides which servers, and which requesters, are revocable.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "reaper/model/cloud.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

/// What taggers need to know about the cloud beyond the servers themselves.
struct TaggerInputs {
    std::set<std::string> project_tags;  ///< whose projects are asked from Keystone
    /// Extra specs of flavors, key and value: every server has its own.
    std::set<std::pair<std::string, std::string>> flavor_specs;
};

/// The answers.
struct TagData {
    std::map<std::string, std::set<ProjectId>> projects_by_tag;
    friend bool operator==(const TagData&, const TagData&) = default;
};

class Tagger {
public:
    virtual ~Tagger() = default;

    /// As in the table of taggers.
    virtual std::string_view name() const = 0;
    /// Adds what this tagger needs to know.
    virtual void ask(TaggerInputs& tagger_inputs) const = 0;
    /// Why the server is revocable; none if this tagger does not say so.
    virtual std::optional<std::string> why_revocable(const Server& server,
                                                     const TagData& tag_data) const = 0;
    /// Why a request comes from a revocable requester (it must never cause a cull); else none.
    virtual std::optional<std::string> why_revocable(const Request& request,
                                                     const TagData& tag_data) const = 0;
    /// Why the server is regular, where this tagger says that in so many words; most never do.
    virtual std::optional<std::string> why_regular(const Server&, const TagData&) const {
        return std::nullopt;
    }
    virtual std::optional<std::string> why_regular(const Request&, const TagData&) const {
        return std::nullopt;
    }
    /// Does the project alone decide, whatever else a server or a requester is?
    virtual bool goes_by_project() const { return false; }
    /// The class that a revocable server of this tagger is known by: an inventory of it is room
    /// that is offered as revocable.
    virtual std::optional<ResourceClass> marker_class() const { return std::nullopt; }
    /// The class that every revocable server of this tagger holds some of, if freed room is to be
    /// held against new ones: where none of the class is left, none can start.
    virtual std::optional<ResourceClass> held_class() const { return std::nullopt; }
};

}  // namespace reaper

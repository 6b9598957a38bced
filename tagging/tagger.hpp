// A tagger decides which servers, and which requesters, are revocable.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

/// What taggers need to be told about the cloud beyond the servers themselves.
struct TagQuestions {
    std::set<std::string> project_tags;  ///< whose projects are asked from Keystone
};

/// The answers.
struct TagFacts {
    std::map<std::string, std::set<ProjectId>> projects_by_tag;
    friend bool operator==(const TagFacts&, const TagFacts&) = default;
};

class Tagger {
public:
    virtual ~Tagger() = default;

    /// Adds what this tagger needs to know.
    virtual void ask(TagQuestions& questions) const = 0;
    /// Why the server is revocable; none if this tagger does not say so.
    virtual std::optional<std::string> why_revocable(const Server& server,
                                                     const TagFacts& facts) const = 0;
    /// Why a request comes from a revocable requester (it must never cause a cull); else none.
    virtual std::optional<std::string> why_revocable(const Request& request,
                                                     const TagFacts& facts) const = 0;
    /// The class that every revocable server of this tagger holds some of, if freed room is to be
    /// held against new ones: where none of the class is left, none can start.
    virtual std::optional<ResourceClass> held_class() const { return std::nullopt; }
};

}  // namespace reaper

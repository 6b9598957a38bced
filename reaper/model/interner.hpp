// Makes equal texts and containers one: a hundred thousand servers name the same few projects,
// hosts, flavors and classes. Used where they are read, so that a long list leaves no holes in the
// memory that the cache then keeps for days. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "reaper/model/cloud.hpp"

namespace reaper {

class Interner {
public:
    /// Everything in the host that others are likely to share; what equal servers of it hold is
    /// one, too.
    void share(Host& host);
    void share(Server& server);
    void share(Shared<std::set<Trait>>& traits);
    /// Forgets values that are no longer used elsewhere.
    void prune();

private:
    using TextMap = std::map<std::string, std::string>;

    SharedText text(const SharedText& text);
    template <class Id>
    Id id(const Id& id) {
        return Id::of(text(id.text()));
    }
    Resources resources(const Resources& resources);
    Allocations allocations(const Allocations& allocations);
    void share_all_but_allocations(Server& server);

    std::unordered_set<SharedText> texts_;
    std::map<TextMap, Shared<TextMap>> maps_;
    std::map<std::set<Trait>, Shared<std::set<Trait>>> traits_;
};

}  // namespace reaper

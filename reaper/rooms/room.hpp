// Room: all arithmetic about what is free on a host, in one place.
//
// For each host, class and provider (a *pool*):
//     room = capacity - used + evicting - promised to other requests
// `evicting` is what servers that go still hold in Placement's books, so the sum stays the
// same from the moment that a victim is chosen until it is gone; and so counts what servers hold
// whose deletion another client began (`Server::being_deleted`): a victim of a reaper that
// ended, a user's own. Not those that the ledger gave up on. A slot takes each class
// from ONE provider of the host's tree (Placement's rule for the unnumbered group), so the slots
// that a class gives are summed over its providers, each rounded down; the host gives what its
// scarcest class gives. Inventories whose min_unit, max_unit or step_size refuse the amount of one
// slot are no pools. Where groups or traits bind what comes from where (shape.hpp), the slots are
// those that fit together (packing.hpp), and providers that may give nothing of a class are no
// pools. Amounts are integers in Placement's units.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/request.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/rooms/packing.hpp"

namespace reaper {

/// The amount within limits that no cloud has, so that sums of thousands stay in range.
Amount sane(Amount amount);

/// One class on one provider.
struct Pool {
    ProviderId provider;
    std::size_t need = 0;  ///< index into the shape
    Amount room = 0;       ///< may be negative, when more is used than there is
    Amount capacity = 0;   ///< when empty
};

/// A consumer that is being deleted: its room counts already.
struct Going {
    ServerId server;
    std::string name;    ///< empty where Nova lists it no more
    std::string reason;  ///< who deletes it
    /// How readily a plan does without its room: strangers' deletions may be undone or fail unseen,
    /// those of other requests are watched by them, its own by itself.
    enum class By { stranger, other_request, same_request } by = By::stranger;
    RequestId covers;         ///< whose promise its room stands for first; empty if for none
    ByPool gains;             ///< what comes free with it; not all zero
    bool unfinished = false;  ///< see PendingRelease; and of one, these two
    ProjectId project{};
    std::string host{};
};

/// What is promised to one other request on pools that are alone for their need.
struct Claim {
    RequestId request;
    ByPool amounts;
};

/// The room of one host for one shape.
struct HostRoom {
    std::vector<Pool> pools;    ///< by need, then by provider id
    std::vector<Going> going;   ///< by id; part of the pools' room
    std::vector<Claim> claims;  ///< taken off the pools' room; by request
    /// Room that is promised to other requests and could be taken from any of several providers
    /// (with one provider it is already off the pool's room): by need, in slots of this shape that
    /// it may cost at worst, and in units.
    std::vector<Amount> promised_slots;
    std::vector<Amount> promised;
    /// How the parts of slots fit; null: each class by itself.
    std::shared_ptr<const Packing> packing;

    /// Slots if the pools had `room`; never negative. Where they have to be searched for
    /// (packing.hpp), not for more than `most`.
    Amount slots(const Shape& shape, const ByPool& room, Amount most = max_amount,
                 PackingWork* work = nullptr) const;
    /// At least so many.
    bool fits(const Shape& shape, const ByPool& room, Amount slots,
              PackingWork* work = nullptr) const;
    /// Whether the pool's room counts as 0 in the totals while it is overfull: another provider has
    /// the class too, and its free room is not less for that.
    bool counts_without_deficit(std::size_t pool) const;
    /// Per need: the sum over its pools, promised room taken off; may be negative where one
    /// provider has the class.
    std::vector<Amount> totals(const Shape& shape, const ByPool& room) const;
    /// Per need: what is missing for `slots` slots, if the pools had `room`; 0 if nothing is.
    /// With several providers: what is missing on the one that is nearest to one more slot.
    std::vector<Amount> missing(const Shape& shape, const ByPool& room, Amount slots) const;
    /// The same for people: `2 VCPU`, or, where the amounts are there but not in the right places,
    /// `a provider for VGPU=1 (group 1)`.
    std::string shortage(const Shape& shape, const ByPool& room, Amount slots) const;

    ByPool room_now() const;
    ByPool capacities() const;
};

/// The room on `host` for slots of `shape`, as `request` may count it.
HostRoom room_on(const Host& host, const Shape& shape, const Ledger& ledger,
                 const RequestId& request);

/// The server's deletion has begun, so that its room counts as coming free on a host where nothing
/// else is known. A soft deletion frees nothing: Nova keeps what it holds. But one that a reaper
/// began is finished by the reaper that needs the room, if the server is still revocable.
bool comes_free(const Server& server);
/// The same, knowing of what we delete and what has been given up on.
bool comes_free(const Server& server, const Ledger& ledger);

/// What comes free in each pool when the holder of `allocations` goes.
ByPool gains_of(const HostRoom& room, const Shape& shape, const Allocations& allocations);

/// `amounts` (by need) with the names of their classes; for people.
Resources named(const Shape& shape, const std::vector<Amount>& amounts);

/// True if Placement would allot `amount` at once from this inventory, were it empty enough.
bool units_allow(const Inventory& inventory, Amount amount);

/// For plans, whose numbers of slots are small; cut where an int ends.
int to_int(Amount amount);

}  // namespace reaper

// Placement's books: providers, inventories, consumers and what they hold, with Placement's
// arithmetic, generations and refusals. Pure; times do not matter here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/cloudsim/core/ids.hpp"

namespace reaper::cloudsim {

/// An answer that is no success, in the service's own words.
struct Refusal {
    int status = 400;
    std::string detail;
    std::string code = "placement.undefined_code";  ///< Placement's error code
};

using Outcome = std::optional<Refusal>;  ///< none: it was done

struct Inventory {
    std::int64_t total = 0;
    std::int64_t reserved = 0;
    std::int64_t min_unit = 1;
    std::int64_t max_unit = 0x7fffffff;
    std::int64_t step_size = 1;
    double allocation_ratio = 1.0;

    /// `(total - reserved) * allocation_ratio`, rounded down.
    std::int64_t capacity() const;
    /// Units only, not the room that is left.
    bool allows_amount(std::int64_t amount) const;
};

struct Room {
    NameId resource_class = 0;
    Inventory inventory;
    std::int64_t used = 0;

    bool fits(std::int64_t amount) const {
        return inventory.allows_amount(amount) && used + amount <= inventory.capacity();
    }
};

struct Consumer;

/// A resource provider. Address-stable while it exists.
struct Provider {
    Uuid uuid;
    std::string name;
    Provider* parent = nullptr;
    Provider* root = nullptr;  ///< itself, if it has no parent
    std::vector<Provider*> children;
    std::int64_t generation = 0;
    std::vector<Room> rooms;
    std::vector<NameId> traits;
    std::vector<Uuid> aggregates;
    std::vector<Consumer*> consumers;

    Room* room(NameId resource_class);
    const Room* room(NameId resource_class) const;
    bool has_trait(NameId trait) const;
    bool in_aggregate(const Uuid& aggregate) const;
};

struct Held {
    Provider* provider = nullptr;
    NameId resource_class = 0;
    std::int64_t amount = 0;
    friend bool operator==(const Held&, const Held&) = default;
};

struct Consumer {
    Uuid uuid;
    NameId project = 0;
    NameId user = 0;
    NameId type = 0;  ///< "unknown" unless its maker said more
    std::int64_t generation = 0;
    std::vector<Held> held;
};

/// What a consumer shall hold from now on; empty `held` removes it.
struct Claim {
    Uuid consumer;
    NameId project = 0;
    NameId user = 0;
    NameId type = 0;
    /// What the caller believes: none for "it does not exist yet". Absent: not checked (old API).
    std::optional<std::optional<std::int64_t>> generation;
    std::vector<Held> held;
};

class Placement {
public:
    explicit Placement(Names& names);

    // Providers
    const std::vector<Provider*>& providers() const { return order_; }
    Provider* find(const Uuid& uuid) const;
    Provider* find_name(const std::string& name) const;
    /// The parent, if given, exists. A name or uuid that exists is a refusal.
    Outcome create_provider(const Uuid& uuid, const std::string& name, Provider* parent);
    Outcome delete_provider(Provider& provider);
    Outcome rename(Provider& provider, const std::string& name);
    /// All inventories at once. A class in use can't go; `generation` must match.
    Outcome set_inventories(Provider& provider, const std::map<NameId, Inventory>& inventories,
                            std::int64_t generation);
    Outcome set_inventory(Provider& provider, NameId resource_class, const Inventory& inventory);
    Outcome delete_inventory(Provider& provider, NameId resource_class);
    void set_traits(Provider& provider, std::vector<NameId> traits);
    void set_aggregates(Provider& provider, std::vector<Uuid> aggregates, bool bump);

    // Consumers
    Consumer* find_consumer(const Uuid& uuid) const;
    std::size_t consumer_count() const { return consumers_.size(); }
    const auto& consumers() const { return consumers_; }
    /// All claims or none. Bumps the generation of every provider and consumer that it names.
    Outcome claim(const std::vector<Claim>& claims);
    /// The same without a question: a cloud that is copied may hold more than it has.
    void set_held(const std::vector<Claim>& claims);
    /// False if it held nothing. Bumps no provider's generation, as in Placement.
    bool remove_consumer(const Uuid& uuid);

    // Vocabulary
    Names& names() { return names_; }
    const Names& names() const { return names_; }
    bool knows_class(const std::string& name) const;
    bool knows_trait(const std::string& name) const;
    bool add_class(const std::string& name);  ///< false if it was there
    bool add_trait(const std::string& name);
    bool remove_class(const std::string& name);
    bool remove_trait(const std::string& name);
    const std::vector<std::string>& classes() const { return classes_; }
    const std::vector<std::string>& traits() const { return traits_; }

    void clear_consumers();

private:
    Outcome check_claims(const std::vector<Claim>& claims) const;
    Outcome check_generation(const Claim& claim) const;
    Outcome check_room(const std::vector<Claim>& claims) const;
    void release(Consumer& consumer);

    Names& names_;
    std::vector<Provider*> order_;
    std::unordered_map<Uuid, std::unique_ptr<Provider>, UuidHash> providers_;
    std::unordered_map<std::string, Provider*> by_name_;
    std::unordered_map<Uuid, std::unique_ptr<Consumer>, UuidHash> consumers_;
    std::vector<std::string> classes_;
    std::vector<std::string> traits_;
};

}  // namespace reaper::cloudsim

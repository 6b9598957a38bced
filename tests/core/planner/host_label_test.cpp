// What kind of room a host has: as it is, and as the cloud cache follows what happens.
#include "reaper/planner/host_label.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/cloud/cache/assemble.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "tagging/taggers.hpp"

namespace reaper::host_label_test {
namespace {

using namespace reaper::testing;

const Resources all_room{{"VCPU", 8}, {"MEMORY_MB", 8192}, {"DISK_GB", 80}};
const Resources small{{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};
const ResourceClass slot_class{"CUSTOM_PREEMPTIBLE"};
const ResourceClasses slots{slot_class};

Server labeled(const std::string& id, const Host& on) {
    Server made = revocable(id, on.id, small);
    Allocations held = made.allocations;
    held[on.providers.back().id].add(slot_class, 1);
    made.allocations = std::move(held);
    return made;
}

TEST(HostLabel, WithoutRevocableClassesTheServersDecide) {
    Host one = host("h", all_room);
    EXPECT_EQ(label_of(one, {}), HostLabel::regular);
    put(one, server("web", one.id, small));
    EXPECT_EQ(label_of(one, {}), HostLabel::regular);
    put(one, revocable("batch", one.id, small));
    EXPECT_EQ(label_of(one, {}), HostLabel::any);
}

TEST(HostLabel, InventoryOfARevocableClassIsARoomOffered) {
    Host one = host("h", all_room);
    EXPECT_EQ(label_of(one, slots), HostLabel::regular);
    nest(one, "h-slots", {{"CUSTOM_PREEMPTIBLE", 4}});
    EXPECT_EQ(label_of(one, slots), HostLabel::any);
    EXPECT_EQ(label_of(one, {}), HostLabel::regular);
    // Reserved to the last: nothing is offered.
    one.providers.back().inventories[slot_class].reserved = 4;
    EXPECT_EQ(label_of(one, slots), HostLabel::regular);
    put(one, labeled("batch", one));
    EXPECT_EQ(label_of(one, slots), HostLabel::any);
}

TEST(HostLabel, AHostWhoseOrdinaryRoomIsClosedIsRevocable) {
    Host one = host("h", {{"VCPU", 8}, {"MEMORY_MB", 8192}});
    nest(one, "h-slots", {{"CUSTOM_PREEMPTIBLE", 4}});
    one.providers.front().inventories[ResourceClass{"VCPU"}].reserved = 8;
    EXPECT_EQ(label_of(one, slots), HostLabel::revocable);
    put(one, server("web", one.id, small));
    EXPECT_EQ(label_of(one, slots), HostLabel::any);
}

TEST(HostLabel, AHostThatHoldsAndCanHoldRevocableServersAloneIsRevocable) {
    const auto labelled = [](const Inventory& cpus) {
        Host one = host("h", {{"VCPU", 8}, {"MEMORY_MB", 8192}});
        one.providers.front().inventories[ResourceClass{"VCPU"}] = cpus;
        put(one, revocable("batch", one.id, small));
        return label_of(one, slots);
    };
    EXPECT_EQ(labelled({.total = 8}), HostLabel::any) << "a deletion makes regular room";
    EXPECT_EQ(labelled({.total = 8, .reserved = 8}), HostLabel::revocable);
    EXPECT_EQ(labelled({.total = 8, .reserved = 6, .min_unit = 4}), HostLabel::revocable)
        << "the 2 that are left are too few for any server";
    EXPECT_EQ(labelled({.total = 8, .reserved = 5, .step_size = 4}), HostLabel::revocable);
    EXPECT_EQ(labelled({.total = 8, .reserved = 4, .min_unit = 3, .step_size = 4}), HostLabel::any);
}

TEST(HostLabel, PinnedCpusAreCpusAndBareMetalHasNone) {
    Host pinned = host("h", {{"PCPU", 8}, {"MEMORY_MB", 8192}});
    EXPECT_EQ(label_of(pinned, slots), HostLabel::regular);
    Host metal = host("m", {{"CUSTOM_BAREMETAL", 1}});
    nest(metal, "m-slots", {{"CUSTOM_PREEMPTIBLE", 1}});
    EXPECT_EQ(label_of(metal, slots), HostLabel::any);
    metal.providers.front().inventories.clear();
    EXPECT_EQ(label_of(metal, slots), HostLabel::revocable);
}

TEST(HostLabel, AHostIsWhatItsTraitDeclares) {
    Host one = host("h", all_room);
    nest(one, "h-slots", {{"CUSTOM_PREEMPTIBLE", 4}});
    const auto declare = [&](std::set<Trait> traits) {
        one.providers.front().traits = std::move(traits);
    };
    declare({revocable_trait});
    EXPECT_EQ(label_of(one, slots), HostLabel::revocable);
    EXPECT_FALSE(wrap(one, ResType::regular, slots));
    EXPECT_TRUE(wrap(one, ResType::revocable, slots));
    declare({regular_trait});
    EXPECT_EQ(label_of(one, slots), HostLabel::regular);
    EXPECT_FALSE(wrap(one, ResType::revocable, slots));
    declare({regular_trait, revocable_trait});
    EXPECT_EQ(label_of(one, slots), HostLabel::any);
}

TEST(HostLabel, AHostWithoutAnyRoomIsRegular) {
    EXPECT_EQ(label_of(host("h", {}), slots), HostLabel::regular);
}

TEST(HostLabel, AreCounted) {
    Snapshot cloud;
    cloud.revocable_classes = slots;
    cloud.hosts = {host("a", all_room), host("b", all_room), host("c", all_room)};
    nest(cloud.hosts[1], "b-slots", {{"CUSTOM_PREEMPTIBLE", 1}});
    EXPECT_EQ(count_labels(cloud),
              (std::map<HostLabel, std::size_t>{
                  {HostLabel::regular, 2}, {HostLabel::revocable, 0}, {HostLabel::any, 1}}));
}

TEST(WrappedHost, AnAnyHostAppearsWithTheRoomOfThePhase) {
    Host one = host("h", all_room);
    nest(one, "h-slots", {{"CUSTOM_PREEMPTIBLE", 3}});
    put(one, server("web", one.id, small));
    put(one, labeled("batch", one));

    const auto regular = wrap(one, ResType::regular, slots);
    ASSERT_TRUE(regular);
    EXPECT_EQ(regular->host, &one);
    EXPECT_EQ(regular->label, ResType::regular);
    EXPECT_EQ(regular->total, all_room);
    EXPECT_EQ(regular->free, all_room - small * 2);

    const auto revocable = wrap(one, ResType::revocable, slots);
    ASSERT_TRUE(revocable);
    EXPECT_EQ(revocable->label, ResType::revocable);
    EXPECT_EQ(revocable->total,
              (small + (all_room - small * 2) + Resources{{"CUSTOM_PREEMPTIBLE", 3}}));
    EXPECT_EQ(revocable->free, (all_room - small * 2 + Resources{{"CUSTOM_PREEMPTIBLE", 2}}));
}

TEST(WrappedHost, WithoutAFreeSlotFreeRoomIsNotOfferedAsRevocable) {
    Host one = host("h", all_room);
    nest(one, "h-slots", {{"CUSTOM_PREEMPTIBLE", 1}});
    put(one, labeled("batch", one));
    const auto wrapped = wrap(one, ResType::revocable, slots);
    ASSERT_TRUE(wrapped);
    EXPECT_EQ(wrapped->total, (small + Resources{{"CUSTOM_PREEMPTIBLE", 1}}));
    EXPECT_EQ(wrapped->free, Resources{});
}

TEST(WrappedHost, WithoutRevocableClassesRevocableRoomIsWhatRevocableServersHold) {
    Host one = host("h", all_room);
    put(one, revocable("batch", one.id, small));
    const auto wrapped = wrap(one, ResType::revocable, {});
    ASSERT_TRUE(wrapped);
    EXPECT_EQ(wrapped->total, small);
    EXPECT_EQ(wrapped->free, Resources{});
}

TEST(WrappedHost, AHostOfTheOtherLabelIsNoCandidate) {
    Host regular = host("h", all_room);
    EXPECT_FALSE(wrap(regular, ResType::revocable, slots));
    EXPECT_TRUE(wrap(regular, ResType::regular, slots));
    Host revocable = host("r", {});
    nest(revocable, "r-slots", {{"CUSTOM_PREEMPTIBLE", 3}});
    EXPECT_FALSE(wrap(revocable, ResType::regular, slots));
    EXPECT_TRUE(wrap(revocable, ResType::revocable, slots));
}

TEST(WrappedHost, WhatIsOverbookedIsNotFree) {
    Host one = host("h", {{"VCPU", 2}, {"MEMORY_MB", 8192}});
    put(one, server("web", one.id, {{"VCPU", 3}}));
    EXPECT_EQ(wrap(one, ResType::regular, {})->free, (Resources{{"MEMORY_MB", 8192}}));
}

TEST(WrappedHostProperty, TheLabelSaysWhichPhasesWrapIt) {
    holds("label and wrapping agree", [] {
        Host one = host("h", {{"VCPU", upto(2)}, {"MEMORY_MB", upto(2) * 2048}});
        if (upto(1) == 0) nest(one, "h-slots", {{"CUSTOM_PREEMPTIBLE", upto(3)}});
        for (int i = upto(3); i > 0; --i) {
            const std::string id = "s" + std::to_string(i);
            put(one, upto(1) == 0 ? server(id, one.id, {{"VCPU", upto(2)}}) : labeled(id, one));
        }
        const ResourceClasses classes = upto(2) == 0 ? ResourceClasses{} : slots;
        const HostLabel label = label_of(one, classes);
        const auto regular = wrap(one, ResType::regular, classes);
        const auto revocable = wrap(one, ResType::revocable, classes);
        RC_ASSERT(revocable.has_value() == (label != HostLabel::regular));
        if (revocable) RC_ASSERT(regular.has_value() == (label == HostLabel::any));
        for (const auto& wrapped : {regular, revocable}) {
            if (!wrapped) continue;
            RC_ASSERT(!wrapped->free.any_negative());
            RC_ASSERT(wrapped->free.fits_in(wrapped->total));
        }
    });
}

/// The label in the cloud cache, as Nova's events and Placement's answers come in.
class LabelInThePicture : public ::testing::Test {
protected:
    LabelInThePicture() {
        const auto* const info = find_tagger("resource");
        Taggers taggers;
        taggers.push_back(std::move(
            std::get<std::unique_ptr<Tagger>>(info->make(with_standards(info->parameters, {})))));
        classes_ = revocable_classes(taggers);
        Snapshot snapshot;
        snapshot.taken_at = at(0);
        for (const char* const name : {"a", "b"}) {
            snapshot.hosts.push_back(host(name, all_room));
            snapshot.hosts.back().read_at = at(0);
            // There for servers to hold, but closed: nothing is offered.
            snapshot.hosts.back().providers.front().inventories[slot_class] =
                Inventory{.total = 4, .reserved = 4};
        }
        cache_.replace(std::move(snapshot), std::make_shared<const Taggers>(std::move(taggers)),
                       {});
    }

    static ServerRecord record(const std::string& id, const std::string& on, bool revocable) {
        ServerRecord made;
        made.server.id = ServerId{id};
        made.server.host = on;
        made.server.project = ProjectId{"p"};
        made.server.status = "ACTIVE";
        made.flavor.name = revocable ? "spot" : "usual";
        made.flavor.vcpus = 2;
        made.flavor.memory_mb = 2048;
        made.flavor.root_gb = 20;
        if (revocable) made.flavor.extra_specs["resources1:CUSTOM_PREEMPTIBLE"] = "1";
        made.server.flavor_name = made.flavor.name;
        made.server.flavor_extra_specs = made.flavor.extra_specs;
        return made;
    }
    void see(const std::string& id, const std::string& on, bool revocable) {
        ++now_;
        cache_.apply(ServerSeen{record(id, on, revocable), on, at(now_)}, at(now_));
    }
    void lose(const std::string& id, const std::string& on) {
        ++now_;
        cache_.apply(ServerGone{ServerId{id}, on, at(now_)}, at(now_));
    }
    HostLabel label(const std::string& host) const {
        return label_of(*cache_.find(HostId{host}), classes_);
    }
    /// An exact reading: these classes in the inventory of the host's own provider.
    void read(const std::string& host, const Resources& inventory) {
        ++now_;
        HostReading reading;
        reading.host = HostId{host};
        reading.began = at(now_);
        ProviderState state;
        for (const auto& [resource_class, amount] : inventory)
            state.inventories[resource_class].total = amount;
        reading.states[HostId{host}] = std::move(state);
        ASSERT_TRUE(cache_.apply(reading));
    }

    ResourceClasses classes_;
    CloudCache cache_;
    long now_ = 0;
};

TEST_F(LabelInThePicture, CreateAndDelete) {
    EXPECT_EQ(label("a"), HostLabel::regular);
    see("s1", "a", true);
    EXPECT_EQ(label("a"), HostLabel::any);
    see("s2", "a", true);
    lose("s1", "a");
    EXPECT_EQ(label("a"), HostLabel::any);
    lose("s2", "a");
    EXPECT_EQ(label("a"), HostLabel::regular);
    see("s3", "a", false);
    EXPECT_EQ(label("a"), HostLabel::regular);
}

TEST_F(LabelInThePicture, AResizeChangesWhatAServerIs) {
    see("s1", "a", false);
    EXPECT_EQ(label("a"), HostLabel::regular);
    see("s1", "a", true);
    EXPECT_EQ(label("a"), HostLabel::any);
    see("s1", "a", false);
    EXPECT_EQ(label("a"), HostLabel::regular);
}

TEST_F(LabelInThePicture, AMigrationTakesTheLabelAlong) {
    see("s1", "a", true);
    see("s1", "b", true);
    EXPECT_EQ(label("a"), HostLabel::regular);
    EXPECT_EQ(label("b"), HostLabel::any);
}

TEST_F(LabelInThePicture, RoomThatIsOfferedComesAndGoes) {
    read("a", all_room + Resources{{"CUSTOM_PREEMPTIBLE", 4}});
    EXPECT_EQ(label("a"), HostLabel::any);
    EXPECT_EQ(label("b"), HostLabel::regular);
    read("a", Resources{{"CUSTOM_PREEMPTIBLE", 4}});
    EXPECT_EQ(label("a"), HostLabel::revocable);
    read("a", all_room);
    EXPECT_EQ(label("a"), HostLabel::regular);
}

TEST_F(LabelInThePicture, OtherTaggersChangeIt) {
    see("s1", "a", true);
    EXPECT_EQ(label("a"), HostLabel::any);
    cache_.retag(std::make_shared<const Taggers>(), {});
    EXPECT_EQ(label("a"), HostLabel::regular);
}

}  // namespace
}  // namespace reaper::host_label_test

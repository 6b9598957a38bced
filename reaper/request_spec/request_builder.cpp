#include "reaper/request_spec/request_builder.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/request_spec/admitted_room.hpp"
#include "reaper/request_spec/believed.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper {
namespace {

/// What an image property is called, how its trait begins, and how it may end, with blanks between.
/// A trait that os-traits does not have is not asked for. Source: os_traits of 2026.
struct ImageTrait {
    std::string_view property, prefix, known;
};

constexpr std::string_view buses = " FDC IDE LXC SATA SCSI USB VIRTIO UML XEN ";
constexpr ImageTrait image_traits[] = {
    {"hw_cdrom_bus", "COMPUTE_STORAGE_BUS_", buses},
    {"hw_disk_bus", "COMPUTE_STORAGE_BUS_", buses},
    {"hw_video_model", "COMPUTE_GRAPHICS_MODEL_",
     " BOCHS CIRRUS GOP NONE QXL VGA VIRTIO VMVGA XEN "},
    {"hw_vif_model", "COMPUTE_NET_VIF_MODEL_",
     " E1000 E1000E IGB LAN9118 NETFRONT NE2K_PCI PCNET RTL8139 SPAPR_VLAN SRIOV VIRTIO VMXNET "
     "VMXNET3 "},
    {"hw_architecture", "HW_ARCH_",
     " ALPHA ARMV6 ARMV7 ARMV7B AARCH64 CRIS I686 IA64 LM32 M68K MICROBLAZE MICROBLAZEEL MIPS "
     "MIPSEL MIPS64 MIPS64EL OPENRISC PARISC PARISC64 PPC PPCLE PPC64 PPC64LE PPCEMB S390 S390X "
     "SH4 SH4EB SPARC SPARC64 UNICORE32 X86_64 XTENSA XTENSAEB "},
    {"hw_emulation_architecture", "COMPUTE_ARCH_", " AARCH64 PPC64LE MIPSEL S390X RISCV64 X86_64 "},
    // os-traits calls them COMPUTE_VIOMMU_MODEL_..., so that Nova finds none.
    {"hw_viommu_model", "COMPUTE_VIOMMU_", ""},
};
constexpr ImageTrait image_type{"disk_format", "COMPUTE_IMAGE_TYPE_",
                                " AKI AMI ARI ISO PLOOP QCOW2 RAW VDI VHD VHDX VMDK "};

/// The trait of a value; none if there is no such trait.
std::optional<Trait> trait_of(const ImageTrait& row, std::string_view value) {
    std::string word = to_upper(value);
    std::ranges::replace(word, '-', '_');
    const bool known = !word.empty() && word.find(' ') == std::string::npos &&
                       row.known.find(" " + word + " ") != std::string_view::npos;
    if (!known) return std::nullopt;
    return Trait{std::string{row.prefix} + word};
}

/// All or none: one that there is no trait for lets all others pass.
void add_image_metadata(const ImageProperties& image, std::set<Trait>& traits) {
    std::set<Trait> found;
    for (const auto& row : image_traits) {
        const auto at = image.find(std::string{row.property});
        if (at == image.end()) continue;
        auto trait = trait_of(row, at->second);
        if (!trait) return;
        found.insert(std::move(*trait));
    }
    traits.merge(found);
}

void add_image_type(const ServerSpec& spec, std::set<Trait>& traits) {
    const auto at = spec.image.find(std::string{image_type.property});
    if (spec.boot_from_volume || at == spec.image.end()) return;
    if (auto trait = trait_of(image_type, at->second)) traits.insert(std::move(*trait));
}

Result<void> add_ephemeral_encryption(const Wishes& wishes, std::set<Trait>& traits) {
    auto wanted = wishes.wanted("ephemeral_encryption");
    if (!wanted) return wanted.error();
    if (!*wanted) return {};
    traits.emplace("COMPUTE_EPHEMERAL_ENCRYPTION");
    auto format = wishes.of_either("ephemeral_encryption_format", {"plain", "luks", "luksv2"});
    if (!format) return format.error();
    if (*format && !(*format)->empty())
        traits.emplace("COMPUTE_EPHEMERAL_ENCRYPTION_" + to_upper(**format));
    return {};
}

Result<void> add_sound(const Wishes& wishes, std::set<Trait>& traits) {
    auto model = wishes.of_either(
        "sound_model", {"sb16", "es1370", "pcspk", "ac97", "ich6", "ich9", "usb", "virtio"});
    if (!model) return model.error();
    if (*model == "virtio") traits.emplace("COMPUTE_SOUND_MODEL_VIRTIO");
    return {};
}

/// Which users may read the secret of a server's TPM: the flavor says, for servers that have one.
Result<void> add_tpm_secret(const Wishes& wishes, std::set<Trait>& traits) {
    if (wishes.of_flavor("tpm_version").value_or("").empty() &&
        wishes.of_image("tpm_version").value_or("").empty())
        return {};
    std::string security = wishes.of_flavor("tpm_secret_security").value_or("");
    if (security.empty()) security = "user";
    if (security != "user" && security != "host" && security != "deployment")
        return not_one_of("hw:tpm_secret_security", security, {"user", "host", "deployment"});
    traits.emplace("COMPUTE_SECURITY_TPM_SECRET_SECURITY_" + to_upper(security));
    return {};
}

}  // namespace

Result<std::set<Trait>> root_traits(const ServerSpec& spec, const SchedulerRules& rules) {
    const Wishes wishes{spec.flavor, spec.image};
    std::set<Trait> traits;
    if (rules.image_type_filter) add_image_type(spec, traits);
    if (rules.image_metadata_filter) add_image_metadata(spec.image, traits);
    if (!wishes.of_flavor("device_profile", "accel").value_or("").empty())
        traits.emplace("COMPUTE_ACCELERATORS");
    if (spec.release >= NovaRelease::r2024_1) {
        auto packed = wishes.wanted("virtio_packed_ring");
        if (!packed) return packed.error();
        if (*packed) traits.emplace("COMPUTE_NET_VIRTIO_PACKED");
    }
    if (auto done = add_ephemeral_encryption(wishes, traits); !done) return done.error();
    if (spec.release >= NovaRelease::r2025_2)
        if (auto done = add_sound(wishes, traits); !done) return done.error();
    if (spec.release >= NovaRelease::r2026_1)
        if (auto done = add_tpm_secret(wishes, traits); !done) return done.error();
    if (spec.release >= NovaRelease::r2026_2) traits.emplace("OWNER_NOVA");
    return traits;
}

namespace {

/// Between Nova's clocks, and for what it takes to record a failure and to report it.
constexpr Duration clock_difference{60'000};

/// A migration, when Nova doesn't say which: only a resize has another flavor than the server,
/// and only a live migration has none in its notice.
Operation guess_migration(const FailureNotice& notice, const RequesterFacts& facts) {
    if (!notice.flavor) return Operation::live_migrate;
    return facts.flavor && *facts.flavor == *notice.flavor ? Operation::migrate : Operation::resize;
}

std::variant<Operation, Refused> operation_of(const FailureNotice& notice,
                                              const RequesterFacts& facts) {
    const std::string action = facts.action ? facts.action->name : "";
    switch (notice.event) {
        case FailureEvent::build_instances:
            return action == "unshelve" ? Operation::unshelve : Operation::build;
        case FailureEvent::migrate_server:
            if (action == "resize") return Operation::resize;
            if (action == "migrate") return Operation::migrate;
            if (action == "live-migration") return Operation::live_migrate;
            return guess_migration(notice, facts);
        case FailureEvent::unshelve_server: return Operation::unshelve;
        case FailureEvent::rebuild_server:
            if (action == "evacuate") return Operation::evacuate;
            if (action == "rebuild")
                return Refused{"a rebuild stays on its host: no room elsewhere can help it"};
            return Refused{"Nova does not say whether it was an evacuation (action '" +
                           printable(action) +
                           "'), and no room can help a rebuild, which stays on its host"};
    }
    return Refused{"an unknown kind of failure"};
}

/// Why the server's own host is no place to go, for operations that move it away.
std::optional<std::string> why_not_own_host(Operation operation) {
    switch (operation) {
        case Operation::resize: return "the server that is resized is on it now";
        case Operation::migrate:
        case Operation::live_migrate: return "the server migrates away from it";
        case Operation::evacuate: return "the server is evacuated from it";
        case Operation::build:
        case Operation::rebuild:
        case Operation::unshelve:
        case Operation::manual: return std::nullopt;
    }
    return std::nullopt;
}

/// The flavor to make room for, and whether its root disk is a volume.
struct Wanted {
    Flavor flavor;
    bool boot_from_volume = false;
};

/// Only a resize asks for another flavor than the server's own.
std::variant<Wanted, Refused> wanted(const FailureNotice& notice, const RequesterFacts& facts,
                                     Operation operation) {
    if (operation == Operation::resize && facts.action) {
        // Nova resizes to no flavor that the server has: a later resize brought it.
        if (facts.new_flavor && facts.flavor == facts.new_flavor)
            return Refused{"server " + notice.server.str() + " was resized to flavor '" +
                           printable(facts.new_flavor->name, 64) + "' since"};
        if (facts.new_flavor) return Wanted{*facts.new_flavor, facts.boot_from_volume};
        return Refused{"Nova knows no flavor '" + printable(notice.flavor_id, 64) +
                           "', to which the message says that server " + notice.server.str() +
                           " is resized",
                       std::string{unconfirmed}};
    }
    if (operation != Operation::resize && facts.flavor)
        return Wanted{*facts.flavor, facts.boot_from_volume};
    if (notice.flavor) return Wanted{*notice.flavor, facts.boot_from_volume};
    return Refused{"neither the message nor server " + notice.server.str() + " tells a flavor"};
}

/// What was taken over of the image when the server was made, where something else than the image
/// service reports it; null if that does. Nova's API goes before everything. Of a boot the image is
/// as old as the message, which then has no say; of a server that ran before, the image may have
/// changed.
const ImageProperties* image_taken_over(const FailureNotice& notice, const RequesterFacts& facts,
                                        Operation operation) {
    if (!facts.kept_image.empty()) return &facts.kept_image;
    if (operation == Operation::build && !facts.image_properties.empty()) return nullptr;
    if (!notice.image.empty()) return &notice.image;
    if (facts.schedule && !facts.schedule->image.empty()) return &facts.schedule->image;
    return nullptr;
}

/// The image as Nova's scheduler has it. Nova leaves out the image's traits.
ImageProperties image_of(const FailureNotice& notice, const RequesterFacts& facts,
                         Operation operation) {
    ImageProperties image = facts.image_properties;
    const auto is_trait = [](const auto& each) { return each.first.starts_with("trait:"); };
    const ImageProperties* const told = image_taken_over(notice, facts, operation);
    if (told != nullptr) {
        std::erase_if(image, [&](const auto& each) { return !is_trait(each); });
        image.insert(told->begin(), told->end());
    }
    if (facts.schedule)
        for (const auto& trait : facts.schedule->required_traits)
            image.insert_or_assign("trait:" + trait.str(), "required");
    return image_meta(std::move(image));
}

/// The gateway does not ask Placement for these.
void leave_out_res_type(Request& request) {
    request.res_type_traits = remove_res_type_traits(request.required_traits);
    remove_res_type_traits(request.forbidden_traits);
    if (!request.fallback) return;
    remove_res_type_traits(request.fallback->required_traits);
    remove_res_type_traits(request.fallback->forbidden_traits);
}

/// What Placement is asked for one slot.
std::optional<Refused> ask(const ServerSpec& spec, const SchedulerRules& rules, Request& request) {
    auto resources = resource_request(spec);
    if (!resources) return Refused{resources.error().what};
    auto root = root_traits(spec, rules);
    if (!root) return Refused{root.error().what};
    request.resources = std::move(resources->shape.resources);
    request.required_traits = std::move(resources->shape.required_traits);
    request.forbidden_traits = std::move(resources->shape.forbidden_traits);
    request.groups = std::move(resources->groups);
    request.group_policy = resources->group_policy;
    request.fallback = std::move(resources->fallback);
    request.root_required_traits = std::move(*root);
    if (rules.res_type_taken_out) leave_out_res_type(request);
    return std::nullopt;
}

/// Where it may land, of what the server and the search for hosts show.
void land(const RequesterFacts& facts, Request& request) {
    if (const auto& schedule = facts.schedule) {
        request.placement = schedule->placement;
        // The message of a live migration or an unshelve has none.
        if (!request.availability_zone) request.availability_zone = schedule->availability_zone;
        for (const auto& host : schedule->ignored_hosts)
            request.excluded_hosts.emplace(host, "the request excludes it");
    }
    // Where Nova reports the wishes itself, no message does.
    if (facts.zone) request.availability_zone = facts.zone;
    if (!facts.same_host.empty()) request.placement.with = facts.same_host;
    if (!facts.different_host.empty()) request.placement.apart_from = facts.different_host;
    if (facts.group.apart() || facts.group.together()) request.placement.group = facts.group;
}

/// The requesters: of several servers of one request those that Nova knows, at most as many as
/// asked for.
void add_requesters(const FailureNotice& notice, const RequesterFacts& facts, Request& request) {
    request.requesters = {notice.server};
    request.slots = 1;
    if (request.operation != Operation::build || retries_exhausted(notice)) return;
    const int asked = std::max(notice.num_instances, 1);
    if (!facts.siblings) {
        request.slots = asked;
        return;
    }
    for (const auto& sibling : *facts.siblings)
        if (sibling != notice.server && static_cast<int>(request.requesters.size()) < asked)
            request.requesters.push_back(sibling);
    request.slots = static_cast<int>(request.requesters.size());
}

void add_names(const RequesterFacts& facts, Request& request) {
    for (const ServerId& requester : request.requesters)
        if (const auto name = facts.names.find(requester); name != facts.names.end())
            request.requester_names.insert(*name);
}

/// Of a server that never had a host, Nova shows the zone that was asked for.
std::optional<std::string> zone_of(const FailureNotice& notice, const RequesterFacts& facts,
                                   Operation operation) {
    const bool told = facts.action.has_value() && operation == Operation::build &&
                      facts.host.empty() && !retries_exhausted(notice);
    if (!told) return notice.availability_zone;
    if (facts.shown_zone.empty()) return std::nullopt;
    return facts.shown_zone;
}

/// The message's time, as far as Nova's own record allows it.
TimePoint sent_at(const FailureNotice& notice, const RequesterFacts& facts) {
    const auto at = failed_at(notice, facts);
    if (!at) return notice.sent_at;
    return std::clamp(notice.sent_at, *at - clock_difference, *at + clock_difference);
}

/// Nova's query has places in the group without a suffix. Where that has no resources, Placement
/// refuses it.
std::optional<Refused> refused_by_placement(const Request& request, const SchedulerRules& rules) {
    if (request.groups.empty() || !ungrouped_resources(request).empty()) return std::nullopt;
    const char* const what = request.availability_zone               ? "an availability zone"
                             : !request.placement.only_hosts.empty() ? "a host"
                             : rules.own_aggregates != SchedulerRules::OwnAggregates::off
                                 ? "aggregates of its project"
                                 : nullptr;
    if (what == nullptr) return std::nullopt;
    return Refused{std::string{"all resources of the request are in groups, and it asks for "} +
                   what + ": Placement refuses to search for that, so no room can help it"};
}

std::optional<Refused> refused_at_once(const FailureNotice& notice, const RequesterFacts& facts) {
    if (!facts.exists) return Refused{"server " + notice.server.str() + " is gone"};
    if (facts.deleting) return Refused{"server " + notice.server.str() + " is being deleted"};
    return std::nullopt;
}

}  // namespace

bool retries_exhausted(const FailureNotice& notice) {
    return std::string_view{notice.exception}.starts_with("MaxRetriesExceeded");
}

RequestId request_key(const FailureNotice& notice) {
    if (notice.event == FailureEvent::build_instances && retries_exhausted(notice))
        return RequestId{notice.request_id.str() + "/" + notice.server.str()};
    return notice.request_id;
}

std::variant<Resources, Refused> resources_of(const Flavor& flavor, bool boot_from_volume) {
    const ImageProperties no_image;
    auto request = resource_request(ServerSpec{flavor, no_image, boot_from_volume});
    if (!request) return Refused{request.error().what};
    return std::move(request->shape.resources);
}

std::variant<Request, Refused> build_request(const FailureNotice& notice,
                                             const RequesterFacts& facts,
                                             const SchedulerRules& rules) {
    if (auto refused = refused_at_once(notice, facts)) return std::move(*refused);
    auto operation = operation_of(notice, facts);
    if (auto* refused = std::get_if<Refused>(&operation)) return std::move(*refused);
    auto shape = wanted(notice, facts, std::get<Operation>(operation));
    if (auto* refused = std::get_if<Refused>(&shape)) return std::move(*refused);
    const auto& [flavor, boot_from_volume] = std::get<Wanted>(shape);
    const bool runs_already = std::get<Operation>(operation) != Operation::build;
    auto admitted =
        admitted_room(runs_already ? without_marks(facts.metadata) : facts.metadata,
                      flavor.extra_specs, facts.image_properties, rules.res_type_traits);
    if (auto* refused = std::get_if<Refused>(&admitted)) {
        refused->no_room_at_all = !runs_already;
        return std::move(*refused);
    }

    Request request;
    const ImageProperties image = image_of(notice, facts, std::get<Operation>(operation));
    const NovaRelease release = rules.release.value_or(facts.release);
    const bool devices = rules.pci_in_placement && release >= NovaRelease::r2023_1;
    const ServerSpec spec{flavor, image, boot_from_volume, release,
                          devices ? &notice.pci : nullptr};
    if (auto refused = ask(spec, rules, request)) return std::move(*refused);
    request.id = request_key(notice);
    request.operation = std::get<Operation>(operation);
    request.project = facts.project.empty() ? notice.project : facts.project;
    add_requesters(notice, facts, request);
    add_names(facts, request);
    request.availability_zone = zone_of(notice, facts, request.operation);
    if (const auto why = why_not_own_host(request.operation); why && !facts.host.empty())
        request.excluded_hosts.emplace(facts.host, *why);
    if (is_move(request.operation))
        request.from_host = facts.host.empty() ? facts.last_host : facts.host;
    request.migrations = facts.migrations;
    land(facts, request);
    if (auto refused = refused_by_placement(request, rules)) return std::move(*refused);
    request.flavor = flavor.name;
    request.flavor_extra_specs = flavor.extra_specs;
    request.image = facts.image;
    request.sent_at = sent_at(notice, facts);
    request.runs_revocable = runs_already && mark_in(facts.metadata) == ResType::revocable;
    request.phases = std::get<AdmittedRoom>(admitted).phases;
    request.phases_because = std::move(std::get<AdmittedRoom>(admitted).because);
    return request;
}

std::variant<Request, Refused> of_flavor(Request request, const Flavor& flavor, NovaRelease release,
                                         const SchedulerRules& rules) {
    static const ImageProperties no_image;
    const auto required = std::move(request.required_traits);
    const auto forbidden = std::move(request.forbidden_traits);
    const ServerSpec spec{flavor, no_image, false, rules.release.value_or(release)};
    if (auto refused = ask(spec, rules, request)) return std::move(*refused);
    request.required_traits.insert(required.begin(), required.end());
    request.forbidden_traits.insert(forbidden.begin(), forbidden.end());
    if (auto refused = refused_by_placement(request, rules)) return std::move(*refused);
    request.flavor = flavor.name;
    request.flavor_extra_specs = flavor.extra_specs;
    return request;
}

}  // namespace reaper

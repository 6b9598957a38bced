"""The flavors, images and operations for which it is recorded what Nova asks of Placement.

A setup is a configuration of nova-scheduler with the host aggregates that matter to it, and the same in
the words of the reaper's `scheduler:` section.
"""

from dataclasses import dataclass, field
from typing import Any

from query_recorder import Case

UEFI = {"hw_firmware_type": "uefi", "hw_machine_type": "q35"}


@dataclass(frozen=True)
class Setup:
    nova: str  # more of nova-scheduler.conf
    reaper: dict[str, Any]  # the section `scheduler:`
    # name: hosts, metadata; metadata may name the project `regular`
    aggregates: dict[str, tuple[list[str], dict[str, str]]] = field(default_factory=dict)


# As Nova is without the lab's settings.
FALLBACK = "[workarounds]\ndisable_fallback_pcpu_query = false\n"


def settings(**more: Any) -> dict[str, Any]:
    """The lab's scheduler isolates by traits, and asks for VCPU where there are no PCPU."""
    return {"nova_release": "zed", "trait_isolation": True, "pcpu_fallback": True} | more


SETUPS = {
    "plain": Setup(FALLBACK, settings()),
    "zones": Setup(
        FALLBACK,
        settings(),
        {
            "east": (["host-1"], {"availability_zone": "east"}),
            "west": (["host-2"], {"availability_zone": "west"}),
            "west too": (["host-3"], {"availability_zone": "west", "trait:CUSTOM_ROOM": "optional"}),
        },
    ),
    "isolated": Setup(
        FALLBACK,
        settings(),
        {
            "fast": (["host-1"], {"trait:CUSTOM_FAST": "required"}),
            "safe": (["host-2"], {"trait:COMPUTE_SECURITY_TPM_2_0": "required", "other": "required"}),
            "both": (["host-3"], {"trait:CUSTOM_FAST": "required", "trait:CUSTOM_GPU": "required"}),
            "open": (["host-1"], {"trait:CUSTOM_OPEN": "forbidden"}),
        },
    ),
    "tenants": Setup(
        "[scheduler]\nlimit_tenants_to_placement_aggregate = true\n",
        settings(own_aggregates="limit"),
        {
            "theirs": (["host-1"], {"filter_tenant_id": "regular"}),
            "also theirs": (["host-2"], {"filter_tenant_id_2": "regular", "availability_zone": "west"}),
            "several": (["host-3"], {"filter_tenant_id": "regular,spot"}),
            "not by this key": (["host-3"], {"owner": "regular"}),
        },
    ),
    "tenants required": Setup(
        "[scheduler]\nlimit_tenants_to_placement_aggregate = true\n"
        "placement_aggregate_required_for_tenants = true\n",
        settings(own_aggregates="required"),
        {"theirs": (["host-1"], {"filter_tenant_id": "regular"})},
    ),
    "prefilters": Setup(
        "[scheduler]\nquery_placement_for_image_type_support = true\nimage_metadata_prefilter = true\n",
        settings(image_type_filter=True, image_metadata_filter=True),
    ),
    "no fallback": Setup("", settings(pcpu_fallback=False)),
}  # fmt: skip


def specs(**given: str) -> dict[str, str]:
    """`hw__cpu_policy`: `hw:cpu_policy`."""
    return {name.replace("__", ":"): value for name, value in given.items()}


DEDICATED = {"hw:cpu_policy": "dedicated"}
MIXED = {"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": "0-1"}
TPM = {"hw:tpm_version": "2.0"}

CASES = [
    # Sizes and overrides
    Case("plain"),
    Case("three at once", count=3),
    Case("ephemeral disk and swap", ephemeral=7, swap=1500),
    Case("no disk", disk=0),
    Case("boot from volume", from_volume=True, disk=40),
    Case("boot from volume with ephemeral disk", from_volume=True, disk=40, ephemeral=3),
    Case("override VCPU", {"resources:VCPU": "1"}),
    Case("override VCPU with nothing", {"resources:VCPU": "0", "resources:CUSTOM_SHARE": "2"}),
    Case("override memory and disk", {"resources:MEMORY_MB": "512", "resources:DISK_GB": "0"}),
    Case("custom class", {"resources:CUSTOM_GPU": "3"}),
    Case("amount with blanks", {"resources:CUSTOM_GPU": " 3 "}),
    Case("amount that is none", {"resources:CUSTOM_GPU": "many"}),
    Case("amount below nothing", {"resources:CUSTOM_GPU": "-1"}),
    Case("unknown class", {"resources:GPU": "1"}),
    Case("custom class in small letters", {"resources:CUSTOM_gpu": "1"}),
    # Granular groups
    Case("one group", {"resources1:VGPU": "1"}),
    Case("one group with traits", {"resources1:VGPU": "1", "trait1:CUSTOM_NVIDIA": "required"}),
    Case(
        "a named group",
        {"resources:VCPU": "0", "resources_revocable:CUSTOM_REVOCABLE_VCPU": "2"},
    ),
    Case(
        "two groups apart",
        {
            "resources1:VGPU": "1",
            "resources2:VGPU": "1",
            "trait1:CUSTOM_BIG": "required",
            "trait2:CUSTOM_BIG": "forbidden",
            "group_policy": "isolate",
        },
    ),
    Case(
        "two groups anywhere",
        {"resources_a:VGPU": "1", "resources_b-1:CUSTOM_NIC": "2", "group_policy": "none"},
    ),
    Case("two groups without policy", {"resources1:VGPU": "1", "resources2:VGPU": "1"}),
    Case("policy that is none", {"resources1:VGPU": "1", "group_policy": "together"}),
    Case("policy without groups", {"group_policy": "isolate"}),
    Case("VCPU in a group", {"resources1:VCPU": "2"}),
    Case("memory in two groups", {
        "resources1:MEMORY_MB": "256", "resources2:MEMORY_MB": "768", "group_policy": "none",
    }),
    Case("a group of nothing", {"resources1:VGPU": "0", "resources:VGPU": "1"}),
    Case("a group of traits alone", {"trait1:CUSTOM_BIG": "required"}),
    # Traits
    Case("trait", {"trait:CUSTOM_FAST": "required"}),
    Case("trait forbidden", {"trait:CUSTOM_SLOW": "forbidden", "trait:HW_CPU_X86_AVX2": "required"}),
    Case("trait with another word", {"trait:CUSTOM_FAST": "preferred"}),
    Case("trait that Placement does not know", {"trait:CUSTOM_fast": "required"}),
    Case("trait of the image", image={"trait:CUSTOM_FAST": "required"}),
    Case("trait that the image forbids", image={"trait:CUSTOM_FAST": "forbidden"}),
    Case("trait of a group of the image", image={"trait1:CUSTOM_FAST": "required"}),
    Case(
        "traits of both",
        {"trait:CUSTOM_FAST": "required"},
        {"trait:CUSTOM_FAST": "required", "trait:CUSTOM_IMAGE": "required"},
    ),
    # CPUs
    Case("dedicated CPUs", DEDICATED),
    Case("dedicated CPUs, no fallback", DEDICATED, setup="no fallback"),
    Case("dedicated CPUs by the image", image={"hw_cpu_policy": "dedicated"}),
    Case("dedicated CPUs by both", DEDICATED, {"hw_cpu_policy": "dedicated"}),
    Case("shared CPUs by the image, dedicated by the flavor", DEDICATED, {"hw_cpu_policy": "shared"}),
    Case("shared CPUs", {"hw:cpu_policy": "shared"}),
    Case("dedicated CPUs with a thread for the emulator", DEDICATED | {
        "hw:emulator_threads_policy": "isolate",
    }),
    Case("a shared thread for the emulator", DEDICATED | {"hw:emulator_threads_policy": "share"}),
    Case("dedicated threads isolated", DEDICATED | {"hw:cpu_thread_policy": "isolate"}),
    Case("dedicated threads required", DEDICATED | {"hw:cpu_thread_policy": "require"}),
    Case("dedicated threads preferred", DEDICATED | {"hw:cpu_thread_policy": "prefer"}),
    Case("threads by the image", DEDICATED, {"hw_cpu_thread_policy": "require"}),
    Case("threads preferred by the flavor, isolated by the image",
         DEDICATED | {"hw:cpu_thread_policy": "prefer"}, {"hw_cpu_thread_policy": "isolate"}),
    Case("mixed CPUs", MIXED, vcpus=4),
    Case("mixed CPUs by exclusion", MIXED | {"hw:cpu_dedicated_mask": "^0"}, vcpus=4),
    Case("mixed CPUs with ranges", MIXED | {"hw:cpu_dedicated_mask": "0-3,^2"}, vcpus=6),
    Case("mixed CPUs with a thread for the emulator", MIXED | {
        "hw:emulator_threads_policy": "isolate",
    }, vcpus=4),
    Case("mixed CPUs by realtime", {
        "hw:cpu_policy": "mixed", "hw:cpu_realtime": "yes", "hw:cpu_realtime_mask": "^0",
    }, vcpus=4),
    Case("mixed CPUs by realtime of the image", {
        "hw:cpu_policy": "mixed", "hw:cpu_realtime": "true", "hw:cpu_realtime_mask": "^0",
    }, {"hw_cpu_realtime_mask": "^0-1"}, vcpus=4),
    Case("realtime CPUs", DEDICATED | {"hw:cpu_realtime": "yes", "hw:cpu_realtime_mask": "^0"}),
    Case("PCPU by override", {"resources:PCPU": "2"}),
    # Memory, security, devices
    Case("memory encryption", {"hw:mem_encryption": "True"}, UEFI),
    Case("memory encryption by the image", image=UEFI | {"hw_mem_encryption": "yes"}),
    Case("memory encryption turned off", {"hw:mem_encryption": "false"}, UEFI),
    Case("persistent memory", {"hw:pmem": "6GB, 6GB,big-one ,"}),
    Case("TPM", TPM),
    Case("TPM 1.2 by the image", image={"hw_tpm_version": "1.2"}),
    Case("TPM with a model", TPM | {"hw:tpm_model": "tpm-crb"}, {"hw_tpm_version": "2.0"}),
    Case("secure boot", {"os:secure_boot": "required"}),
    Case("secure boot by the image", image={"os_secure_boot": "required"}),
    Case("secure boot if possible", {"os:secure_boot": "optional"}),
    Case("PCI affinity by socket", {"hw:pci_numa_affinity_policy": "socket"}),
    Case("PCI affinity by socket of the image", image={"hw_pci_numa_affinity_policy": "socket"}),
    Case("PCI affinity of another kind", {"hw:pci_numa_affinity_policy": "required"}),
    Case("ephemeral encryption", {"hw:ephemeral_encryption": "on"}),
    Case("ephemeral encryption by the image", image={
        "hw_ephemeral_encryption": "true", "hw_ephemeral_encryption_format": "luks",
    }),
    Case("ephemeral encryption turned off", {
        "hw:ephemeral_encryption": "no", "hw:ephemeral_encryption_format": "plain",
    }),
    Case("accelerators", {"accel:device_profile": "fpga"}),
    Case("packed ring, which Zed does not know", {"hw:virtio_packed_ring": "true"}),
    Case("physical addresses, which Zed does not know", {"hw:maxphysaddr_mode": "emulate"}),
    Case("everything at once", DEDICATED | TPM | {
        "os:secure_boot": "required",
        "trait:CUSTOM_FAST": "required",
        "resources1:VGPU": "1",
        "trait1:CUSTOM_NVIDIA": "required",
        "resources:CUSTOM_LICENSE": "1",
    }, UEFI | {"trait:CUSTOM_IMAGE": "required", "hw_cpu_thread_policy": "require"}, zone="east",
        setup="zones"),
    # What the image is
    Case("image type raw", setup="prefilters"),
    Case("image type qcow2", image={"disk_format": "qcow2"}, setup="prefilters"),
    Case("image type from volume", from_volume=True, image={"disk_format": "qcow2"}, setup="prefilters"),
    Case("image type not asked for", image={"disk_format": "qcow2"}),
    Case("disk bus", image={"hw_disk_bus": "virtio"}, setup="prefilters"),
    Case("disk bus of VMware", image={"vmware_adaptertype": "lsiLogic"}, setup="prefilters"),
    Case("disk bus not asked for", image={"hw_disk_bus": "virtio"}),
    Case("all buses and models", image={
        "hw_disk_bus": "scsi", "hw_cdrom_bus": "sata", "hw_video_model": "qxl", "hw_vif_model": "spapr-vlan",
    }, setup="prefilters"),
    Case("architecture", image={"hw_architecture": "x86_64"}, setup="prefilters"),
    Case("architecture by its old name", image={"architecture": "AMD64"}, setup="prefilters"),
    Case("architecture by another name", image={"hw_architecture": "i386"}, setup="prefilters"),
    Case("emulated architecture", image={"hw_emulation_architecture": "aarch64"}, setup="prefilters"),
    Case("IOMMU, whose trait has another name", image={
        "hw_viommu_model": "intel", "hw_disk_bus": "virtio",
    }, setup="prefilters"),
    Case("network model of VMware", image={"hw_vif_model": "VirtualE1000"}, setup="prefilters"),
    Case("disk bus from volume", from_volume=True, image={"hw_disk_bus": "ide"}, setup="prefilters"),
    # Places
    Case("zone", zone="east", setup="zones"),
    Case("zone of two aggregates", zone="west", setup="zones"),
    Case("zone of no aggregate", zone="nova"),
    Case("zone and host", zone="east:host-1", setup="zones"),
    Case("forced host", zone="nova:host-2"),
    Case("requested host", host="host-2"),
    Case("requested host, searched", host="host-2", searched=True),
    Case("isolated aggregates", setup="isolated"),
    Case("isolated aggregates, one trait", {"trait:CUSTOM_FAST": "required"}, setup="isolated"),
    Case("isolated aggregates, trait of the image", image={"trait:CUSTOM_FAST": "required"}, setup="isolated"),
    Case("isolated aggregates, TPM", TPM, setup="isolated"),
    Case("isolated aggregates, trait of a group", {
        "resources1:VGPU": "1", "trait1:CUSTOM_GPU": "required", "trait:CUSTOM_FAST": "required",
    }, setup="isolated"),
    Case("project with aggregates", setup="tenants"),
    Case("project with aggregates, and zone", zone="west", setup="tenants"),
    Case("project without aggregates", project="spot", setup="tenants"),
    Case("project that must have aggregates", setup="tenants required"),
    Case("project that must have aggregates and has none", project="spot", setup="tenants required"),
    Case("server group apart", group="anti-affinity"),
    Case("server group together", group="affinity"),
    Case("hint at a cell", hints={"build_near_host_ip": "10.0.0.1"}),
    # Other operations
    Case("resize", what="resize", vcpus=4, ram=2048, disk=30),
    Case("resize to dedicated CPUs", DEDICATED, what="resize", vcpus=4),
    Case("resize to TPM", TPM, what="resize", vcpus=4),
    Case("resize in its zone", what="resize", vcpus=4, zone="west", on_server=True, setup="zones"),
    Case("resize with an image's traits", image=UEFI | {
        "hw_cpu_policy": "shared", "hw_disk_bus": "virtio",
    }, on_server=True, what="resize", vcpus=4),
    Case("migrate", what="migrate"),
    Case("migrate with the image's CPUs", image={"hw_cpu_policy": "dedicated"}, what="migrate", on_server=True),
    Case("migrate to a host", what="migrate", host="host-3"),
    Case("migrate, searched", what="migrate", searched=True),
    Case("live migration", what="live_migrate"),
    Case("live migration with the image's CPUs", image={"hw_cpu_policy": "dedicated"},
         what="live_migrate", on_server=True),
    Case("live migration in its zone", what="live_migrate", zone="west", on_server=True, setup="zones"),
    Case("live migration in its zone, searched", what="live_migrate", zone="west", on_server=True,
         searched=True, setup="zones"),
    Case("live migration to a host", what="live_migrate", host="host-3"),
    Case("evacuate", what="evacuate"),
    Case("evacuate in its zone", what="evacuate", zone="west", on_server=True, setup="zones"),
    Case("evacuate to a host", what="evacuate", host="host-3"),
    Case("evacuate in a server group", what="evacuate", group="anti-affinity"),
    Case("unshelve", what="unshelve"),
    Case("unshelve with the image's CPUs", image={"hw_cpu_policy": "dedicated"}, what="unshelve",
         on_server=True),
    Case("unshelve to a zone", what="unshelve", zone="east", setup="zones"),
    Case("unshelve in its zone", what="unshelve", zone="east", on_server=True, setup="zones"),
    Case("unshelve to a host", what="unshelve", host="host-2"),
]  # fmt: skip

assert len({case.name for case in CASES}) == len(CASES)

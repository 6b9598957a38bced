#include "reaper/cli/arguments/help_text.hpp"

namespace reaper::cli::help {

const Text setup{
    "Prepares the cloud: resource-tagging, reservations, ...",
    R"(Prepares the cloud for the reaper. It tells what it would do; with --apply it does it, and with
--undo it takes it away again.)",
    R"(Examples:
  reaper setup resource-tagging --slots 8
  reaper setup resource-tagging --slots 8 --apply
  reaper setup reservations --apply
  reaper setup oversubscription --apply
)"};

const Text setup_slots{
    "A resource class and slots on each host, for revocable servers",
    R"(Makes what the tagger 'resource' needs in Placement: a resource class of its own, and on each
compute host a nested provider (compute-1-preemptible) with so many slots of it. A flavor that asks
for a slot makes its servers revocable, and no more of them start on a host than it has slots.

Without --apply it only tells what it would do. What is there already is kept, another number of
slots is changed, and doing it again does the rest. --undo removes these providers and then the
class; a provider that somebody still holds something of stays, and is named (exit code 1). Only
providers of that name under a compute host are ever touched.)",
    R"(Examples:
  reaper setup resource-tagging --slots 8
  reaper setup resource-tagging --slots-per VCPU:2 --hosts 'compute-*' --apply
  openstack flavor set --property resources1:CUSTOM_PREEMPTIBLE=1 spot.small
  reaper setup resource-tagging --undo --apply
)"};

const Text setup_reservations{
    "Where Placement keeps the list of all reservations",
    R"(Makes what reservations (room that is kept for roles) need in Placement: the resource class
CUSTOM_REAPER_RESERVATION, and the provider openstack-reaper-reservations, which is no host and
belongs to no aggregate. Each reservation holds one unit there: that is the list of all of them.

Without --apply it only tells what it would do. What is there already is kept, and doing it again
does the rest. --undo removes the provider and then the class; while there are reservations, both
stay, and who holds units is named (exit code 1).)",
    R"(Examples:
  reaper setup reservations
  reaper setup reservations --apply
  reaper setup reservations --undo --apply
)"};

const Text setup_oversubscription{
    "Class, providers and example flavors for oversubscribed room",
    R"(Makes what oversubscription needs: the resource class of the configuration (oversubscription.class,
by default CUSTOM_REVOCABLE_VCPU); on each compute host that oversubscription.hosts and .aggregates
name a nested provider (compute-1-revocable-vcpu), without an inventory until room is published; and
two public flavors, revocable.small and revocable.medium, whose servers take 1 and 2 vCPUs of that
room and none of VCPU. Their memory and disk are ordinary room.

Without --apply it only tells what it would do. What is there already is kept, and doing it again
does the rest; a flavor of such a name that is not exactly ours is left as it is. --undo removes
these flavors unless servers have them, these providers unless somebody holds something there, and
then the class; what stays is named (exit code 1).)",
    R"(Examples:
  reaper setup oversubscription
  reaper setup oversubscription --hosts 'compute-1*' --apply
  openstack flavor create --vcpus 4 --ram 8192 --disk 40 --property resources:VCPU=0 \
            --property resources_revocable:CUSTOM_REVOCABLE_VCPU=4 revocable.large
  reaper setup oversubscription --undo --apply
)"};

const Text reserve{
    "Keeps room on hosts for a role",
    R"(Keeps room on hosts for a role: a path of names, to which the configuration assigns projects
(reservations.roles). Nova's scheduler places nobody there; what servers of the role and of roles
below it hold on the host counts as part of it. Several hosts succeed or fail together.

With --refines the room is taken from a reservation for a role above, and returns to it when it is
unreserved. Without --lend or --no-lend a new reservation is lent as reservations.lend says.)",
    R"(Examples:
  reaper reserve --host compute-1 --role engineering --resources VCPU=8,MEMORY_MB=16384
  reaper reserve --host compute-1 --role engineering/backend --refines engineering \
                 --resources VCPU=4 --lend --floor VCPU=1
  reaper reserve --host compute-1 --host compute-2 --role web --resources VCPU=4 --dry-run

Exit codes: 3 the hosts have not so much unreserved room, 6 there is no such host or resource class.
)"};

const Text unreserve{
    "Gives up room that is kept for a role",
    R"(Gives up room that 'reaper reserve' or POST /v1/reserve kept for a role: all of it or a part.
What refined another reservation is that one's again; where parts of it are of several, --refines
says which. What one reserved oneself goes first; --reserver names another principal, if the
configuration (reservations.acl) lets one. What the role's servers use stays reserved.
What is lent stays so too, unless --lent-too is given: its tenants are deleted first, and the order
waits for that. Room that the configuration reserves is given up there.)",
    R"(Examples:
  reaper unreserve --host compute-1 --role engineering --resources VCPU=8
  reaper unreserve --host compute-1 --role web --label purpose=peak --resources VCPU=2 --lent-too

Exit codes: 3 so much is not idle, 6 there is no such host or reservation.
)"};

const Text reservations{
    "Room that is kept for roles",
    R"(What each role is to have on each host (RESERVED), and what became of it: its own servers hold
it (USED), it is kept for them (HELD), revocable servers may use it for a while (LENT), or others
have the room and it is collected when it comes free (OWED). With --json also the last orders.)",
    R"(Examples:
  reaper reservations
  reaper reservations --role engineering --json
  reaper reservations --sort role -o wide
)"};

}  // namespace reaper::cli::help

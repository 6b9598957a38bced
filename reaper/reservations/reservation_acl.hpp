// Who may reserve for which roles, and who may unreserve what whom reserved.
//
// The first rule that names the principal decides. Where none does, everything is allowed, or
// nothing (`permissive`). Principals and roles are patterns: `*` stands for any text, so that
// `engineering/*` is every role below engineering; a principal that is not known is the empty text.
//
// Source: Mesos' ACLs reserve_resources and unreserve_resources.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/model/role.hpp"

namespace reaper {

struct ReserveRule {
    std::vector<std::string> principals;
    std::vector<std::string> roles;  ///< for these alone; empty: for none
    friend bool operator==(const ReserveRule&, const ReserveRule&) = default;
};

struct UnreserveRule {
    std::vector<std::string> principals;
    std::vector<std::string> of;  ///< what these reserved; empty: nothing
    friend bool operator==(const UnreserveRule&, const UnreserveRule&) = default;
};

struct ReservationAcl {
    std::vector<ReserveRule> reserve{};
    std::vector<UnreserveRule> unreserve{};
    bool permissive = true;
    friend bool operator==(const ReservationAcl&, const ReservationAcl&) = default;
};

bool may_reserve(const ReservationAcl& acl, const std::string& principal, const Role& role);
bool may_unreserve(const ReservationAcl& acl, const std::string& principal,
                   const std::string& reserver);

}  // namespace reaper

// Pieces that several reports share.
#pragma once

#include <string>
#include <vector>

#include "reaper/report/render.hpp"
#include "reaper/report/text.hpp"

namespace reaper::report {

/// Width as the options say it, within reason.
std::size_t width_of(const RenderOptions& options);

/// The age of a thing created then, or its creation time if the current time is not given.
std::string age(TimePoint created, const RenderOptions& options);
/// The head of that column.
std::string age_head(const RenderOptions& options);

/// `req-1: 2 x VCPU=4 MEMORY_MB=2048`, project, constraints: some lines.
std::string request_lines(const Request& request, const RenderOptions& options);

/// `2 x m1.small`, or of what it has no flavor for, `2 x VCPU=4 ...`.
std::string what_is_asked(const Request& request);

/// A line for each class: before and after.
TextTable room_table(const Resources& request, const Resources& before, const Resources& after);

TextTable victim_table(const std::vector<Victim>& victims, const RenderOptions& options);

/// Rejected hosts, by reason: those that are listed in full, and how many there are in all. Without
/// `counts`, those reported are all.
std::string rejected_lines(const std::vector<Rejection>& rejected,
                           const std::vector<RejectionCount>& counts, const RenderOptions& options);

/// The classes of several vectors: VCPU, MEMORY_MB, DISK_GB first, then by name.
std::vector<ResourceClass> classes_of(const std::vector<Resources>& vectors);

}  // namespace reaper::report

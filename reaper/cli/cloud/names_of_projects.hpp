// The names of all projects, which Keystone is asked for while a command reads the cloud. They are
// for people alone: no command waits long for them.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <string>

#include "reaper/model/project_names.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::cli {

class NamesOfProjects {
public:
    /// How long Keystone has for them.
    static constexpr Duration patience = std::chrono::seconds{3};

    /// Keystone is asked as soon as the executor runs. The references must outlive its runs.
    NamesOfProjects(const boost::asio::any_io_executor& executor, Identity& identity, Clock& clock);

    /// Returns when they are known, or when Keystone's time is over: `timeout`.
    ResultTask<ProjectNames> take();

private:
    struct Asked;
    std::shared_ptr<Asked> asked_;
};

/// What to tell people who see ids alone; none where the right to list projects is not granted,
/// which is no trouble.
std::optional<std::string> why_ids_alone(const Error& error);

}  // namespace reaper::cli

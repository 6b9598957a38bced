// Things for the journal to keep, and a way to call it without writing coroutines.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <filesystem>
#include <string>

#include "clients/journal/sqlite_journal.hpp"

namespace reaper::journal::test {

/// Runs one call to its end.
template <class T>
Result<T> wait(ResultTask<T> task) {
    boost::asio::io_context loop;
    auto result = boost::asio::co_spawn(loop, std::move(task), boost::asio::use_future);
    loop.run();
    return result.get();
}

/// Noon of 1 May 2024, and seconds later.
TimePoint noon(int seconds = 0);

Request request(const std::string& id);
/// A plan with all its parts filled.
Plan plan(const std::string& id);

/// A folder of its own, gone with the test.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string path(const std::string& name = "journal.db") const { return name_ + "/" + name; }

private:
    std::string name_;
};

}  // namespace reaper::journal::test

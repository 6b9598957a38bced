// The journal's contract, which holds on every engine: each test of a fixture of this kind runs on
// SQLite and on MariaDB.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "clients/journal/schema.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::journal::test {

enum class Engine { sqlite, mariadb };

/// Where the journal of one test is kept.
class Home {
public:
    virtual ~Home() = default;
    virtual Result<std::unique_ptr<Journal>> open(JournalOptions options = {}) = 0;
    virtual Result<std::unique_ptr<JournalReader>> open_for_reading() = 0;
    /// Changes rows behind the journal's back.
    virtual void execute(const std::string& sql) = 0;
    /// No write gets on until they are released.
    virtual void hold_writes() = 0;
    virtual void release_writes() = 0;
    /// How many transactions that wrote have been committed.
    virtual int transactions() = 0;
};

/// None if the engine is not installed.
std::unique_ptr<Home> make_home(Engine engine);

class OnEveryEngine : public testing::TestWithParam<Engine> {
protected:
    void SetUp() override;
    /// After the journal was opened.
    virtual void prepare() {}
    /// Again: what was written before is there.
    void open(JournalOptions options = {});

    std::unique_ptr<Home> home_;
    std::unique_ptr<Journal> journal_;
};

std::string engine_name(const testing::TestParamInfo<Engine>& info);

}  // namespace reaper::journal::test

#define REAPER_ON_EVERY_ENGINE(FIXTURE)                                               \
    INSTANTIATE_TEST_SUITE_P(On, FIXTURE,                                             \
                             testing::Values(reaper::journal::test::Engine::sqlite,   \
                                             reaper::journal::test::Engine::mariadb), \
                             reaper::journal::test::engine_name)

// Texts in golden/ beside this file; REAPER_UPDATE_GOLDEN=1 rewrites them.
#pragma once

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace reaper::test {

inline void expect_golden(const std::string& name, const std::string& text) {
    const std::string path =
        std::string(REAPER_SOURCE_DIR) + "/tests/app/cli/golden/" + name + ".txt";
    if (std::getenv("REAPER_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::ifstream file(path);
    std::stringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(text, expected.str()) << path;
}

}  // namespace reaper::test

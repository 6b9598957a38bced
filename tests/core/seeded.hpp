// Property tests with a seed that is printed and can be given again: RC_PARAMS="seed=...".
#pragma once

#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <rapidcheck.h>
#include <string>

namespace reaper::testing {

/// RapidCheck reads RC_PARAMS once; the standard seed makes runs repeatable.
inline void print_seed() {
    setenv("RC_PARAMS", "seed=20261120 max_success=100", 0);
    std::cout << "RC_PARAMS=\"" << std::getenv("RC_PARAMS") << "\"\n";
}

/// A number from 0 to `limit`, each as likely from the first case on.
inline int upto(int limit) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, limit + 1));
}

/// Fails the test with RapidCheck's counterexample if the property does not hold.
template <class Property>
void holds(const std::string& what, Property property) {
    print_seed();
    EXPECT_TRUE(rc::check(what, std::move(property)));
}

}  // namespace reaper::testing

// scheduler.cells
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/config/world.hpp"

namespace reaper::config::test::cells_test {
namespace {

using testing::HasSubstr;

TEST(CellsOfTheFile, AreRead) {
    World world;
    const auto cells = world
                           .good(minimal(R"(
scheduler:
  cells:
    - name: east
      hosts: [e1, "e2*"]
    - {name: west, aggregates: [rack-7], disabled: true}
  cross_cell_resize: true
)"))
                           .policy.scheduler.cells;
    ASSERT_EQ(cells.size(), 2U);
    EXPECT_EQ(cells[0], (Cell{"east", {"e1", "e2*"}, {}, false}));
    EXPECT_EQ(cells[1], (Cell{"west", {}, {"rack-7"}, true}));
    EXPECT_TRUE(world.good(minimal("scheduler: {cells: []}\n")).policy.scheduler.cells.empty());
}

TEST(CellsOfTheFile, ComeBackFromWhatIsShown) {
    World world;
    const Settings settings =
        world.good(minimal("scheduler:\n  cells:\n    - {name: a, hosts: [h], aggregates: [g]}\n"));
    EXPECT_THAT(to_yaml(settings), HasSubstr("- name: a\n      hosts: [h]\n      aggregates: [g]\n"
                                             "      disabled: false"));
}

struct Mistake {
    const char* what;
    const char* cells;
    const char* error;  ///< part of it
};

class WrongCells : public testing::TestWithParam<Mistake> {};

TEST_P(WrongCells, AreReportedWithTheirPlace) {
    World world;
    const auto errors =
        world.errors(minimal("scheduler:\n  cells: " + std::string{GetParam().cells} + "\n"));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_THAT(errors.front(), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Cells, WrongCells,
    testing::Values(Mistake{"NoList", "east", "scheduler.cells: is not a list"},
                    Mistake{"NoMapping", "[east]", "scheduler.cells[0]: is not a mapping"},
                    Mistake{"NoName", "[{hosts: [h]}]", "scheduler.cells[0]: has no name"},
                    Mistake{"NoHosts", "[{name: a}]", "scheduler.cells[0]: has no hosts"},
                    Mistake{"NoListOfHosts", "[{name: a, hosts: h}]",
                            "scheduler.cells[0].hosts: is not a list"},
                    Mistake{"NoFlag", "[{name: a, hosts: [h], disabled: maybe}]",
                            "scheduler.cells[0].disabled: is no flag"},
                    Mistake{"UnknownKey", "[{name: a, host: [h]}]",
                            "scheduler.cells[0].host: unknown key"},
                    Mistake{"Twice", "[{name: a, hosts: [h]}, {name: a, hosts: [i]}]",
                            "scheduler.cells[1].name: is there twice"}),
    [](const auto& row) { return row.param.what; });

}  // namespace
}  // namespace reaper::config::test::cells_test

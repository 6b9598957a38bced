// Which role a project has.
#include "reaper/controllers/reservations/project_roles.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_cloud.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::project_roles_test {
namespace {

class ProjectRolesTest : public ::testing::Test {
protected:
    ProjectRolesTest() {
        settings.roles_by_hierarchy = true;
        project("p-eng", "eng", "default", "default");
        project("p-backend", "backend", "default", "p-eng");
    }
    void project(const std::string& id, const std::string& name, const std::string& domain,
                 const std::string& parent) {
        Project made;
        made.id = ProjectId{id};
        made.name = name;
        made.domain = domain;
        made.parent = ProjectId{parent};
        cloud.known_projects[id] = made;
    }
    /// Empty: none.
    std::string role_of(const std::string& id) {
        const ProjectId project{id};
        EXPECT_TRUE(run_task(io, roles.learn({project})));
        EXPECT_TRUE(roles.knows(project));
        const auto role = roles.role_of(project);
        return role ? role->str() : "";
    }

    boost::asio::io_context io;
    FakeClock clock;
    FakeCloud cloud{clock};
    config::Reservations settings;
    ProjectRoles roles{cloud.ports(), settings};
};

TEST_F(ProjectRolesTest, ByTheHierarchyItIsThePathOfNames) {
    EXPECT_EQ(role_of("p-eng"), "eng");
    EXPECT_EQ(role_of("p-backend"), "eng/backend");
    settings.roles_by_hierarchy = false;
    EXPECT_EQ(role_of("p-backend"), "");
}

TEST_F(ProjectRolesTest, InAnUntrustedDomainNoProjectHasARoleByItsName) {
    project("p-alike", "eng", "elsewhere", "elsewhere");
    project("p-below", "backend", "elsewhere", "p-alike");
    EXPECT_EQ(role_of("p-alike"), "");
    EXPECT_EQ(role_of("p-below"), "");
    const auto before = roles.version();
    settings.roles_domains = {"default", "elsewhere"};
    EXPECT_EQ(role_of("p-below"), "eng/backend");
    EXPECT_NE(roles.version(), before);
    settings.roles_domains = {"default"};
    EXPECT_EQ(role_of("p-below"), "") << "cached roles are discarded";
}

TEST_F(ProjectRolesTest, ANameIsNotTakenForAPath) {
    project("p-odd", "eng/backend", "default", "default");
    project("p-below", "tools", "default", "p-odd");
    EXPECT_EQ(role_of("p-odd"), "");
    EXPECT_EQ(role_of("p-below"), "");
}

TEST_F(ProjectRolesTest, WithoutAnEndOfThePathThereIsNone) {
    project("p-one", "one", "default", "p-two");
    project("p-two", "two", "default", "p-one");
    EXPECT_EQ(role_of("p-one"), "");
}

TEST_F(ProjectRolesTest, WhatIsWrittenComesFirstInAnyDomain) {
    project("p-far", "far", "elsewhere", "elsewhere");
    settings.roles = {{Role::parse("eng").value(), {"p-far"}},
                      {Role::parse("sales").value(), {"p-backend"}}};
    EXPECT_EQ(role_of("p-far"), "eng");
    EXPECT_EQ(role_of("p-backend"), "sales");
}

}  // namespace
}  // namespace reaper::test::project_roles_test

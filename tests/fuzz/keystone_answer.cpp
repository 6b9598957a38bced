// Keystone's answers, the versions that services offer, and their words for errors. Each is
// read as the answer to every question.
#include "clients/openstack/keystone_format.hpp"
#include "clients/openstack/version.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

template <class T>
void check(const reaper::Result<T>& result) {
    if (result) return;
    reaper::fuzz::require_one_line(result.error().what);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    using namespace reaper::openstack;
    const auto text = fuzz::text_of(data, size);
    const std::string where = "GET keystone /x";
    check(read_token(text, where));
    check(read_projects(text, where));
    check(read_project(text, where));
    check(read_keystone_version(text, where));
    check(read_versions(text, where));
    return 0;
}

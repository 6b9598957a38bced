#include "reaper/request_spec/cpu_wishes.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/request_spec/cpu_list.hpp"

namespace reaper {
namespace {

constexpr Amount max_vcpus = 65'536;

using Policy = CpuWishes::Policy;
using Threads = CpuWishes::Threads;
using Text = std::optional<std::string>;

const std::initializer_list<std::string_view> policies = {"dedicated", "shared", "mixed"};
const std::initializer_list<std::string_view> thread_policies = {"prefer", "isolate", "require"};

/// One of `words`, or nothing.
Result<Text> said(const std::string& key, Text value,
                  std::initializer_list<std::string_view> words) {
    if (!value || value->empty()) return Text{};
    if (std::find(words.begin(), words.end(), *value) == words.end())
        return not_one_of(key, *value, words);
    return value;
}

Error overruled(const std::string& what, const Text& flavor, const Text& image) {
    return Error{Errc::bad_input, "the flavor's " + what + " is " + in_quotes(*flavor) +
                                      ", which the image's " + in_quotes(*image) +
                                      " may not overrule: Nova refuses that"};
}

/// The flavor's word goes before the image's, which may ask for less of what the flavor allows.
Result<Policy> policy_of(const Wishes& wishes) {
    auto flavor = said("hw:cpu_policy", wishes.of_flavor("cpu_policy"), policies);
    if (!flavor) return flavor.error();
    auto image = said("hw_cpu_policy", wishes.of_image("cpu_policy"), policies);
    if (!image) return image.error();
    const bool overruling =
        *flavor && *image &&
        ((**flavor == "mixed" && **image == "dedicated") ||
         (**flavor == "shared" && (**image == "dedicated" || **image == "mixed")));
    if (overruling) return overruled("hw:cpu_policy", *flavor, *image);
    const Text& policy = *flavor ? *flavor : *image;
    if (!policy) return Policy::none;
    if (*policy == "dedicated") return Policy::dedicated;
    return *policy == "mixed" ? Policy::mixed : Policy::shared;
}

Result<Threads> threads_of(const Wishes& wishes) {
    auto flavor =
        said("hw:cpu_thread_policy", wishes.of_flavor("cpu_thread_policy"), thread_policies);
    if (!flavor) return flavor.error();
    auto image =
        said("hw_cpu_thread_policy", wishes.of_image("cpu_thread_policy"), thread_policies);
    if (!image) return image.error();
    Text policy = *flavor;
    if (!*flavor)
        policy = *image;
    else if (**flavor != "prefer" && *image && **image != **flavor)
        return overruled("hw:cpu_thread_policy", *flavor, *image);
    if (!policy || *policy == "prefer") return Threads::any;
    return *policy == "require" ? Threads::required : Threads::forbidden;
}

/// How many of the server's CPUs a mask names; one that begins with ^ names the others.
Result<Amount> named_by(const std::string& mask, Amount vcpus) {
    const bool excludes = trimmed(mask).starts_with('^');
    const auto cpus = parse_cpu_list(
        excludes && vcpus > 0 ? "0-" + std::to_string(vcpus - 1) + "," + mask : mask);
    if (!cpus || *cpus->rbegin() >= vcpus)
        return Error{Errc::bad_input, "the mask of its dedicated CPUs, " + in_quotes(mask) +
                                          ", names no CPU of its " + std::to_string(vcpus) +
                                          ", or others"};
    return static_cast<Amount>(cpus->size());
}

/// Those of a mixed server that are its own: by a mask of theirs, else those that are realtime.
Result<Amount> own_of_mixed(const Wishes& wishes, Amount vcpus) {
    if (const auto mask = wishes.of_flavor("cpu_dedicated_mask"); mask && !mask->empty()) {
        auto own = named_by(*mask, vcpus);
        if (own && *own == vcpus)
            return Error{Errc::bad_input, "hw:cpu_dedicated_mask=" + printable(*mask, 100) +
                                              " leaves no shared CPU to a mixed server"};
        return own;
    }
    const auto realtime = wishes.of_flavor("cpu_realtime");
    if (!realtime || !means_yes(*realtime))
        return Error{Errc::bad_input,
                     "hw:cpu_policy=mixed does not tell which CPUs are dedicated: neither "
                     "hw:cpu_dedicated_mask nor hw:cpu_realtime is there"};
    auto mask = wishes.of_image("cpu_realtime_mask");
    if (!mask || mask->empty()) mask = wishes.of_flavor("cpu_realtime_mask");
    if (!mask || mask->empty()) return vcpus;
    return named_by(*mask, vcpus);
}

}  // namespace

Result<CpuWishes> cpu_wishes(const Wishes& wishes) {
    auto policy = policy_of(wishes);
    if (!policy) return policy.error();
    auto threads = threads_of(wishes);
    if (!threads) return threads.error();
    const Amount vcpus = std::clamp<Amount>(wishes.flavor().vcpus, 0, max_vcpus);
    CpuWishes cpus;
    cpus.policy = *policy;
    cpus.threads = *threads;
    if (cpus.policy == Policy::dedicated) cpus.dedicated = vcpus;
    if (cpus.policy == Policy::mixed) {
        auto own = own_of_mixed(wishes, vcpus);
        if (!own) return own.error();
        cpus.dedicated = *own;
        cpus.shared = vcpus - *own;
    }
    if (cpus.dedicated > 0 && wishes.of_flavor("emulator_threads_policy") == "isolate")
        ++cpus.dedicated;
    return cpus;
}

}  // namespace reaper

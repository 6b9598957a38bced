// clouds.yaml, and (after a line of `%%`) secure.yaml, which is laid over it.
#include "tests/fuzz/config_world.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = reaper::fuzz::text_of(data, size);
    const auto cut = std::min(text.find("\n%%\n"), text.size());
    std::map<std::string, std::string> files;
    files["/etc/openstack/clouds.yaml"] = text.substr(0, cut);
    if (cut < text.size()) files["/etc/openstack/secure.yaml"] = text.substr(cut + 4);
    static const std::string main_file =
        "cloud: {name: mine}\n"
        "broker: {urls: ['amqp://reaper:hidden-word@rabbit.example/']}\n"
        "taggers: [{name: project}]\n";
    const std::string_view secret = "hidden-word";
    // Unless the fuzzer found the word and put it where it is no secret.
    const bool hidden = text.find(secret) == std::string_view::npos;
    reaper::fuzz::load(main_file, files, hidden ? secret : std::string_view());
    return 0;
}

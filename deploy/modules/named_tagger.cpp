// A tagger: servers whose names begin with a prefix are revocable. What servers are called is their
// owners' to say, and a tagger that can't say whether a *requester* is revocable must not call it
// regular when it is: so the flavor of a requester decides, by a prefix too.
#include <reaper/modules/module.hpp>

namespace {

using namespace reaper;

class NamedTagger final : public Tagger {
public:
    explicit NamedTagger(std::string prefix) : prefix_{std::move(prefix)} {}

    std::string_view name() const override { return "named"; }
    void ask(TaggerInputs&) const override {}
    std::optional<std::string> why_revocable(const Server& server, const TagData&) const override {
        if (!server.name.starts_with(prefix_)) return std::nullopt;
        return "its name begins with '" + prefix_ + "'";
    }
    std::optional<std::string> why_revocable(const Request& request,
                                             const TagData&) const override {
        if (!request.flavor.starts_with(prefix_)) return std::nullopt;
        return "its flavor's name begins with '" + prefix_ + "'";
    }

private:
    std::string prefix_;
};

std::variant<std::unique_ptr<Tagger>, ParameterError> make_named(const Parameters& parameters) {
    const auto& prefix = std::get<std::string>(parameters.at("prefix"));
    if (prefix.empty())
        return ParameterError{"prefix", "a text: without one, every server is meant"};
    return std::make_unique<NamedTagger>(prefix);
}

std::variant<ModuleParts, ParameterError> make(const Parameters&) {
    ModuleParts parts;
    parts.taggers.push_back(
        {"named",
         "a server is revocable if its name begins with a prefix, a requester "
         "if its flavor's name does",
         {{"prefix", ParameterKind::text, std::string{"spot-"}, "the beginning of the name"}},
         make_named});
    return parts;
}

ModuleInfo info() {
    return {"by-name", "1.0", {}, make};
}

}  // namespace

REAPER_MODULE(info);

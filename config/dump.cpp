// The settings as YAML, by the table of keys; secrets as ***.
#include <yaml-cpp/yaml.h>

#include "config/keys.hpp"
#include "config/loader.hpp"
#include "config/values.hpp"
#include "reaper/model/time.hpp"

namespace reaper::config {
namespace {

using std::chrono::milliseconds;
constexpr const char* hidden = "***";

class Dump {
public:
    explicit Dump(Draft& draft) : draft_(draft) {}

    std::string text() {
        out_ << YAML::BeginMap;
        keys(sections().front());
        for (const auto& section : sections())
            if (!section.path.empty() && section.path.find('.') == std::string_view::npos)
                whole(section, section.path);
        out_ << YAML::EndMap;
        return std::string{out_.c_str()} + "\n";
    }

private:
    void whole(const Section& section, std::string_view name) {
        out_ << YAML::Key << std::string{name} << YAML::Value << YAML::BeginMap;
        keys(section);
        const std::string inside = std::string{section.path} + ".";
        for (const auto& child : sections())
            if (child.path.starts_with(inside)) whole(child, child.path.substr(inside.size()));
        out_ << YAML::EndMap;
    }

    void keys(const Section& section) {
        for (const auto& key : section.keys) {
            key_ = &key;
            std::visit([this](auto target) { write(target(draft_)); }, key.target);
        }
    }

    YAML::Emitter& begin() { return out_ << YAML::Key << std::string{key_->name} << YAML::Value; }
    void write(int value) { begin() << value; }
    void write(std::int64_t value) { begin() << value; }
    void write(std::uint64_t value) {
        begin() << value / static_cast<std::uint64_t>(std::get<WholeNumber>(key_->type).unit);
    }
    void write(milliseconds value) { begin() << exact_duration(value); }
    void write(std::chrono::seconds value) { begin() << exact_duration(value); }
    void write(double value) { begin() << fraction_text(value); }
    void write(bool value) {
        if (!key_->standard.empty()) begin() << value;
    }
    void write(const std::string& value) {
        if (!value.empty()) begin() << value;
    }
    void write(const Secret& value) {
        if (!value.empty()) begin() << hidden;
    }
    void write(const std::vector<std::string>& values) { begin() << YAML::Flow << values; }
    void write(const std::vector<Secret>& values) {
        begin() << YAML::Flow << std::vector<std::string>(values.size(), hidden);
    }
    void write(const Plugin& plugin) {
        begin();
        mapping(plugin);
    }
    void write(const std::vector<Plugin>& plugins) {
        begin() << YAML::BeginSeq;
        for (const auto& plugin : plugins) mapping(plugin);
        out_ << YAML::EndSeq;
    }
    void write(const std::vector<Module>& modules) { entries(modules); }
    void write(const std::vector<Cell>& cells) { entries(cells); }
    template <class Entry>
    void entries(const std::vector<Entry>& all) {
        begin();
        if (all.empty()) out_ << YAML::Flow;
        out_ << YAML::BeginSeq;
        for (const auto& entry : all) mapping(entry);
        out_ << YAML::EndSeq;
    }
    void write(const std::vector<RoleProjects>& roles) { entries(roles); }
    void write(const std::vector<StaticReservation>& reserved) { entries(reserved); }
    void write(const std::vector<ReserveRule>& rules) { entries(rules); }
    void write(const std::vector<UnreserveRule>& rules) { entries(rules); }
    void write(const std::vector<Mark>& marks) { entries(marks); }
    void write(const std::vector<TaggerSpan>& spans) { entries(spans); }
    template <class Value>
    void member(const char* name, const Value& value) {
        out_ << YAML::Key << name << YAML::Value << value;
    }
    void member(const char* name, const std::vector<std::string>& texts) {
        out_ << YAML::Key << name << YAML::Value << YAML::Flow << texts;
    }
    void member(const char* name, const Resources& resources) {
        out_ << YAML::Key << name << YAML::Value << YAML::Flow << YAML::BeginMap;
        for (const auto& [each, amount] : resources)
            out_ << YAML::Key << each.str() << YAML::Value << amount;
        out_ << YAML::EndMap;
    }
    void mapping(const RoleProjects& roles) {
        out_ << YAML::BeginMap;
        member("role", roles.role.str());
        member("projects", roles.projects);
        out_ << YAML::EndMap;
    }
    void mapping(const StaticReservation& reserved) {
        out_ << YAML::BeginMap;
        member("role", reserved.role.str());
        member("hosts", reserved.hosts);
        member("aggregates", reserved.aggregates);
        member("resources", reserved.resources);
        out_ << YAML::Key << "labels" << YAML::Value << YAML::Flow << reserved.labels;
        if (!reserved.principal.empty()) member("principal", reserved.principal);
        member("lend", reserved.lending.lend);
        member("floor", reserved.lending.floor);
        member("longest_loan", exact_duration(reserved.lending.longest));
        out_ << YAML::EndMap;
    }
    void mapping(const ReserveRule& rule) {
        out_ << YAML::BeginMap;
        member("principals", rule.principals);
        member("roles", rule.roles);
        out_ << YAML::EndMap;
    }
    void mapping(const UnreserveRule& rule) {
        out_ << YAML::BeginMap;
        member("principals", rule.principals);
        member("of", rule.of);
        out_ << YAML::EndMap;
    }
    void mapping(const Mark& mark) {
        out_ << YAML::BeginMap;
        member("class", mark.resource_class.str());
        member("high", mark.high);
        member("low", mark.low);
        out_ << YAML::EndMap;
    }
    void mapping(const TaggerSpan& span) {
        out_ << YAML::BeginMap;
        member("tagger", span.tagger);
        member("after", exact_duration(span.after));
        out_ << YAML::EndMap;
    }
    void mapping(const Cell& cell) {
        out_ << YAML::BeginMap;
        member("name", cell.name);
        member("hosts", cell.hosts);
        member("aggregates", cell.aggregates);
        member("disabled", cell.disabled);
        out_ << YAML::EndMap;
    }
    void mapping(const Plugin& plugin) {
        out_ << YAML::BeginMap << YAML::Key << "name" << YAML::Value << plugin.name;
        members(plugin.parameters);
        out_ << YAML::EndMap;
    }
    void mapping(const Module& module) {
        out_ << YAML::BeginMap;
        member("path", module.path);
        if (!module.sha256.empty()) member("sha256", module.sha256);
        out_ << YAML::Key << "parameters" << YAML::Value << YAML::BeginMap;
        members(module.parameters);
        out_ << YAML::EndMap << YAML::EndMap;
    }
    void members(const Parameters& parameters) {
        for (const auto& [name, value] : parameters) {
            out_ << YAML::Key << name << YAML::Value;
            if (std::holds_alternative<std::vector<std::string>>(value)) out_ << YAML::Flow;
            std::visit([this](const auto& each) { out_ << each; }, value);
        }
    }

    Draft& draft_;
    YAML::Emitter out_;
    const Key* key_ = nullptr;
};

}  // namespace

std::string to_yaml(const Settings& settings) {
    Draft draft{settings, "", "", false, ""};
    return Dump{draft}.text();
}

}  // namespace reaper::config

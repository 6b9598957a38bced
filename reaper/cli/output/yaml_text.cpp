#include "reaper/cli/output/yaml_text.hpp"

#include "config/yaml_writer.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

void write(config::YamlWriter& out, const json& value) {
    switch (value.type()) {
        case json::value_t::object:
            out.begin_map();
            for (const auto& [name, member] : value.items()) {
                out.key(name);
                write(out, member);
            }
            return out.end_map();
        case json::value_t::array:
            out.begin_list();
            for (const json& item : value) write(out, item);
            return out.end_list();
        case json::value_t::string: return out.text(value.get_ref<const std::string&>());
        case json::value_t::null: return out.null();
        default: return out.plain(report::dump(value));  // numbers, true, false
    }
}

}  // namespace

std::string yaml_text(const json& document) {
    config::YamlWriter out;
    write(out, document);
    return out.finish();
}

}  // namespace reaper::cli

#include "reaper/cli/reservations_table.hpp"

#include <string>
#include <vector>

namespace reaper::cli {
namespace {

using nlohmann::json;

std::string text_in(const json& each, const char* name) {
    const auto at = each.find(name);
    return at != each.end() && at->is_string() ? at->get<std::string>() : "";
}

/// `VCPU=4 MEMORY_MB=2048`
report::Cell pairs(const json& each, const char* name) {
    std::string text;
    if (const auto at = each.find(name); at != each.end() && at->is_object())
        for (const auto& [key, value] : at->items())
            text += (text.empty() ? "" : " ") + key + "=" +
                    (value.is_string() ? value.get<std::string>() : value.dump());
    return report::text_cell(text);
}

std::vector<report::Cell> reservation_cells(const json& each) {
    const std::string name = text_in(each, "host_name");
    const std::string trouble = text_in(each, "trouble");
    const bool from_config = each.value("from_config", json{}) == json(true);
    return {report::text_cell(name.empty() ? text_in(each, "host") : name),
            report::text_cell(text_in(each, "role")),
            pairs(each, "labels"),
            pairs(each, "resources"),
            pairs(each, "used"),
            pairs(each, "held"),
            pairs(each, "lent"),
            pairs(each, "owed"),
            from_config ? report::Cell{std::string{"the configuration"}}
                        : report::text_cell(text_in(each, "principal")),
            report::text_cell(text_in(each, "id")),
            report::text_cell(text_in(each, "host")),
            trouble.empty() ? report::Cell{} : report::Cell{"not as it should be: " + trouble}};
}

}  // namespace

report::Table reservations_table(const json& said) {
    using report::column;
    report::Table table;
    table.columns = {column("host"),     column("role"),          column("labels"),
                     column("reserved"), column("used"),          column("held"),
                     column("lent"),     column("owed"),          column("by"),
                     report::wide("id"), report::wide("host_id"), report::under("trouble")};
    table.key = 9;
    table.none = "No reservations.";
    const json list = said.value("reservations", json::array());
    for (const json& each : list)
        table.rows.push_back(each.is_object() ? reservation_cells(each)
                                              : std::vector<report::Cell>(table.columns.size()));
    const json remarks = said.value("remarks", json::array());
    for (const json& remark : remarks)
        if (remark.is_string()) table.remarks.push_back(remark.get<std::string>());
    return table;
}

report::Table reapers_table(const json& said) {
    report::Table table;
    table.columns = {report::column("machine"), report::column("journal"),
                     report::column("answers"), report::column("serves")};
    table.none = "No reapers.";
    const auto yes_or_no = [](const json& each, const char* name) {
        return report::text_cell(each.value(name, json{}) == json(true) ? "yes" : "no");
    };
    const json list = said.value("reapers", json::array());
    for (const json& each : list)
        if (each.is_object())
            table.rows.push_back({report::text_cell(text_in(each, "machine")),
                                  report::text_cell(text_in(each, "journal")),
                                  yes_or_no(each, "here"), yes_or_no(each, "serves")});
    if (const std::string why = text_in(said, "unknown"); !why.empty())
        table.remarks.push_back("which one serves is not known: " + why);
    return table;
}

}  // namespace reaper::cli

#include "reaper/cli/output/room_tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "reaper/cli/output/list_output.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

report::Cell vcpus_in(const json& each, const char* name) {
    const auto at = each.find(name);
    if (at == each.end() || !at->is_number_integer()) return {};
    return report::Cell{at->get<std::int64_t>()};
}

/// Why nothing new is sold, but for the estimate.
std::string state_of(const json& each) {
    if (is_true(each, "too_busy")) return "too busy";
    if (is_true(each, "left_alone")) return "left alone";
    const auto wanted = each.find("wanted");
    return wanted == each.end() || wanted->is_null() ? "not known" : "";
}

std::vector<report::Cell> room_cells(const json& each) {
    const std::string name = text_in(each, "host_name");
    return {report::text_cell(name.empty() ? text_in(each, "host") : name),
            vcpus_in(each, "published"),
            vcpus_in(each, "used"),
            vcpus_in(each, "wanted"),
            vcpus_in(each, "excess"),
            report::text_cell(state_of(each)),
            report::text_cell(text_in(each, "host")),
            report::text_cell(text_in(each, "why"))};
}

}  // namespace

report::Table oversubscription_table(const json& said) {
    using report::column;
    using report::number;
    report::Table table;
    table.columns = {column("host"),          number("published"), number("used"),
                     number("wanted"),        number("excess"),    column("state"),
                     report::wide("host_id"), report::under("why")};
    table.none = "No hosts whose unused vCPUs are sold.";
    const json list = said.value("hosts", json::array());
    for (const json& each : list)
        table.rows.push_back(each.is_object() ? room_cells(each)
                                              : std::vector<report::Cell>(table.columns.size()));
    return table;
}

namespace {

using nlohmann::json;

/// `VCPU=4 MEMORY_MB=2048`
std::string pairs_text(const json& object) {
    std::string text;
    if (object.is_object())
        for (const auto& [key, value] : object.items())
            text += (text.empty() ? "" : " ") + key + "=" +
                    (value.is_string() ? value.get<std::string>() : value.dump());
    return text;
}

report::Cell pairs(const json& each, const char* name) {
    const auto at = each.find(name);
    return report::text_cell(at == each.end() ? "" : pairs_text(*at));
}

/// `the configuration`, or `alice (the configuration)`.
report::Cell configured_by(const json& each) {
    const std::string principal = text_in(each, "principal");
    const std::string place = "the configuration";
    return report::text_cell(principal.empty() ? place : principal + " (" + place + ")");
}

/// `alice`; of several, how much is whose: `alice (VCPU=4), bob (VCPU=2)`.
report::Cell reservers(const json& each) {
    const auto at = each.find("reservers");
    if (at == each.end() || !at->is_object() || at->size() < 2)
        return report::text_cell(text_in(each, "principal"));
    std::string text;
    for (const auto& [principal, amounts] : at->items())
        text += (text.empty() ? "" : ", ") + (principal.empty() ? "no principal" : principal) +
                " (" + pairs_text(amounts) + ")";
    return report::text_cell(text);
}

/// The reservation that it was taken from, by its role and labels.
report::Cell refined(const json& each) {
    const std::string role = text_in(each, "refines_role");
    const auto at = each.find("refines_labels");
    const std::string labels = at == each.end() ? "" : pairs_text(*at);
    return report::text_cell(role + (labels.empty() ? "" : " ") + labels);
}

std::vector<report::Cell> reservation_cells(const json& each) {
    const std::string name = text_in(each, "host_name");
    const std::string trouble = text_in(each, "trouble");
    return {report::text_cell(name.empty() ? text_in(each, "host") : name),
            report::text_cell(text_in(each, "role")),
            pairs(each, "labels"),
            pairs(each, "resources"),
            pairs(each, "used"),
            pairs(each, "held"),
            pairs(each, "lent"),
            pairs(each, "owed"),
            is_true(each, "from_config") ? configured_by(each) : reservers(each),
            refined(each),
            report::text_cell(text_in(each, "id")),
            report::text_cell(text_in(each, "host")),
            trouble.empty() ? report::Cell{} : report::Cell{"not as it should be: " + trouble}};
}

}  // namespace

report::Table reservations_table(const json& said) {
    using report::column;
    report::Table table;
    table.columns = {column("host"),          column("role"),     column("labels"),
                     column("reserved"),      column("used"),     column("held"),
                     column("lent"),          column("owed"),     column("by"),
                     report::wide("refines"), report::wide("id"), report::wide("host_id"),
                     report::under("trouble")};
    table.key = 10;
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
        return report::text_cell(is_true(each, name) ? "yes" : "no");
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

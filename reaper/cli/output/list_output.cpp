#include "reaper/cli/output/list_output.hpp"

#include <utility>
#include <vector>

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

namespace {

bool is_document(ListFormat format) {
    return format == ListFormat::json || format == ListFormat::yaml;
}

std::string document_text(const json& document, ListFormat format) {
    return format == ListFormat::yaml ? yaml_text(document) : report::dump(document, 2) + "\n";
}

json ordered_rows(json rows, const std::vector<std::size_t>& order) {
    if (!rows.is_array() || rows.size() != order.size()) return rows;
    json done = json::array();
    for (const std::size_t from : order) done.push_back(std::move(rows[from]));
    return done;
}

std::string table_as(const report::Table& table, ListFormat format, const Page& page) {
    switch (format) {
        case ListFormat::csv: return report::table_csv(table);
        case ListFormat::name: return report::table_names(table);
        case ListFormat::wide: return report::table_lines(table, true, page.paint);
        default: break;
    }
    return page.interactive ? report::table_text(table, page.width, page.paint)
                            : report::table_lines(table, false, page.paint);
}

}  // namespace

std::string text_in(const json& object, const char* name) {
    const auto at = object.find(name);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

bool is_true(const json& object, const char* name) {
    const auto at = object.find(name);
    return at != object.end() && *at == json(true);
}

Result<std::string> list_text(List list, const ListOptions& options, const Page& page) {
    const bool as_document = is_document(options.format);
    std::vector<std::size_t> order;
    if (!options.sort.empty()) {
        auto found = report::order_of(list.table, options.sort);
        if (!found) return found.error();
        if (as_document && list.rows.empty())
            return Error{Errc::bad_input,
                         "--sort: the JSON of this list has no order; it goes with -o table, wide, "
                         "csv and name"};
        order = std::move(*found);
    }
    if (as_document) {
        json document = list.document();
        if (!options.sort.empty())
            document[list.rows] = ordered_rows(std::move(document[list.rows]), order);
        return document_text(document, options.format);
    }
    report::Table table = std::move(list.table);
    if (!options.sort.empty()) table = report::ordered(std::move(table), order);
    if (!options.columns.empty()) {
        auto chosen = report::with_columns(std::move(table), options.columns);
        if (!chosen) return chosen.error();
        table = std::move(*chosen);
    }
    return table_as(table, options.format, page);
}

ExitCode show_list(const Terminal& terminal, List list) {
    const ListOptions& options = terminal.list();
    std::vector<std::string> remarks;
    if (!is_document(options.format)) remarks = list.table.remarks;
    const Page page{terminal.interactive(), terminal.width(), report::Paint{terminal.color()}};
    const auto text = list_text(std::move(list), options, page);
    if (!text) return terminal.fail(ExitCode::usage, text.error());
    terminal.answer(*text);
    for (const std::string& remark : remarks) terminal.complain(remark);
    return ExitCode::ok;
}

bool wants_document(const Terminal& terminal) {
    return is_document(terminal.list().format);
}

void answer_document(const Terminal& terminal, const json& document) {
    terminal.answer(document_text(document, terminal.list().format));
}

ExitCode show_document(const Terminal& terminal, const std::function<json()>& document,
                       const std::function<std::string()>& text) {
    const ListOptions& options = terminal.list();
    const bool of_lists = options.format == ListFormat::wide || options.format == ListFormat::csv ||
                          options.format == ListFormat::name || !options.sort.empty() ||
                          !options.columns.empty();
    if (of_lists) {
        terminal.complain(
            "the answer is no list: -o table, json and yaml go with it; --sort and --columns "
            "don't");
        return ExitCode::usage;
    }
    terminal.answer(is_document(options.format) ? document_text(document(), options.format)
                                                : text());
    return ExitCode::ok;
}

}  // namespace reaper::cli

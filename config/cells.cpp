#include "config/cells.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "config/document.hpp"
#include "config/reader.hpp"
#include "config/values.hpp"

namespace reaper::config {
namespace {

const std::vector<std::string> cell_keys{"aggregates", "disabled", "hosts", "name"};
constexpr std::size_t longest_name = 255;

class CellReader {
public:
    CellReader(std::string key, Findings& findings) : key_{std::move(key)}, findings_{findings} {}

    std::optional<Cell> read(const YAML::Node& node) {
        if (!node.IsMap()) {
            findings_.error(key_, "is not a mapping", cells_expected);
            return std::nullopt;
        }
        Cell cell;
        bool good = true;
        for (const auto& entry : node) {
            const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "?";
            const std::string full = key_ + "." + name;
            if (!findings_.place(full, line_of(entry.first))) {
                findings_.error(full, "given twice", "one");
                good = false;
                continue;
            }
            good = read_member(name, full, entry.second, cell) && good;
        }
        if (!good) return std::nullopt;
        if (cell.name.empty()) return missing("has no name");
        if (cell.hosts.empty() && cell.aggregates.empty()) return missing("has no hosts");
        return cell;
    }

private:
    std::optional<Cell> missing(const char* what) {
        findings_.error(key_, what, cells_expected);
        return std::nullopt;
    }

    bool read_member(const std::string& name, const std::string& full, const YAML::Node& node,
                     Cell& cell) {
        if (name == "name") {
            auto text = read_text(node, full, longest_name, "a text", findings_);
            cell.name = text.value_or("");
            return text.has_value();
        }
        if (name == "hosts") return read_list(full, node, cell.hosts);
        if (name == "aggregates") return read_list(full, node, cell.aggregates);
        if (name == "disabled") {
            const bool flag =
                node.IsScalar() && (node.Scalar() == "true" || node.Scalar() == "false");
            if (!flag) findings_.error(full, "is no flag", "true or false");
            cell.disabled = flag && node.Scalar() == "true";
            return flag;
        }
        const auto near = nearest(name, cell_keys);
        findings_.error(full, "unknown key", near ? *near : "one of " + joined(cell_keys));
        return false;
    }

    bool read_list(const std::string& full, const YAML::Node& node,
                   std::vector<std::string>& texts) {
        if (!node.IsSequence()) {
            findings_.error(full, "is not a list", "a list of texts");
            return false;
        }
        bool good = true;
        for (std::size_t i = 0; i < node.size(); ++i) {
            const std::string item = full + "[" + std::to_string(i) + "]";
            findings_.place(item, line_of(node[i]) > 0 ? line_of(node[i]) : findings_.line(full));
            auto text =
                read_text(node[i], item, longest_name, "a text of 1 to 255 bytes", findings_);
            good = good && text.has_value();
            if (text) texts.push_back(std::move(*text));
        }
        return good;
    }

    std::string key_;
    Findings& findings_;
};

}  // namespace

std::vector<Cell> read_cells(const YAML::Node& node, const std::string& key, Findings& findings) {
    std::vector<Cell> cells;
    if (!node.IsSequence()) {
        findings.error(key, "is not a list", cells_expected);
        return cells;
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < node.size(); ++i) {
        const std::string item = key + "[" + std::to_string(i) + "]";
        findings.place(item, line_of(node[i]) > 0 ? line_of(node[i]) : findings.line(key));
        auto cell = CellReader{item, findings}.read(node[i]);
        if (!cell) continue;
        if (!names.insert(cell->name).second)
            findings.error(item + ".name", "is there twice", "another name");
        cells.push_back(std::move(*cell));
    }
    return cells;
}

}  // namespace reaper::config

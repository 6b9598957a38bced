#include "reaper/report/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "reaper/model/text.hpp"

namespace reaper::report {
namespace {

std::string escaped(char32_t c) {
    if (c == '\n') return "\\n";
    if (c == '\t') return "\\t";
    if (c == '\r') return "\\r";
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), c < 0x100 ? "\\x%02x" : "\\u{%x}",
                  static_cast<unsigned>(c));
    return text.data();
}

}  // namespace

std::string safe(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const Character next = first_character(text);
        if (next.size == 0)
            result += escaped(static_cast<unsigned char>(text.front()));
        else if (is_invisible(next.value))
            result += escaped(next.value);
        else
            result += text.substr(0, next.size);
        text.remove_prefix(std::max<std::size_t>(next.size, 1));
    }
    return result;
}

std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string shortened(const std::string& text, std::size_t width) {
    if (columns(text) <= width) return text;
    const std::size_t keep = width > 3 ? width - 3 : 0;
    std::size_t end = 0;
    for (std::size_t seen = 0; end < text.size(); ++end) {
        const bool starts = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
        if (starts && seen++ == keep) break;
    }
    return text.substr(0, end) + "...";
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    const std::string clean = safe(text);
    const std::string margin(indent, ' ');
    std::string result;
    std::string line;
    std::size_t from = 0;
    while (from < clean.size()) {
        const std::size_t end = std::min(clean.find(' ', from), clean.size());
        const std::string word = clean.substr(from, end - from);
        from = end + 1;
        if (word.empty()) continue;
        if (!line.empty() && indent + columns(line) + 1 + columns(word) > width) {
            result += margin + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return line.empty() ? result : result + margin + line + "\n";
}

void TextTable::row(std::vector<std::string> cells) {
    for (auto& cell : cells) cell = safe(cell);
    cells.resize(head_.size());
    rows_.push_back({std::move(cells), {}});
}

void TextTable::note(std::string text) {
    if (!rows_.empty() && !text.empty()) rows_.back().notes.push_back(std::move(text));
}

std::vector<std::size_t> TextTable::widths() const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < head_.size(); ++i) {
        std::size_t widest = columns(head_[i].head);
        for (const auto& row : rows_) widest = std::max(widest, columns(row.cells[i]));
        widths.push_back(widest);
    }
    return widths;
}

std::string TextTable::line(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths, std::size_t indent) const {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::string fill(widths[i] - std::min(widths[i], columns(cells[i])), ' ');
        text += (i == 0 ? "" : "  ");
        text += head_[i].align == Align::right ? fill + cells[i] : cells[i] + fill;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

std::string TextTable::folded(const Row& row, std::size_t kept) const {
    std::string text;
    for (std::size_t i = kept; i < row.cells.size(); ++i) {
        if (row.cells[i].empty()) continue;
        text += (text.empty() ? "" : "; ") + to_lower(head_[i].head) + " " + row.cells[i];
    }
    return text;
}

std::size_t TextTable::width() const {
    std::size_t total = 0;
    for (const std::size_t each : widths()) total += each + 2;
    return total < 2 ? 0 : total - 2;
}

std::string TextTable::text(std::size_t indent, std::size_t width, const Paint& paint) const {
    auto widths = this->widths();
    std::size_t total = indent + this->width();
    constexpr std::size_t least_columns = 2;
    while (total > width && widths.size() > least_columns) {
        total -= widths.back() + 2;
        widths.pop_back();
    }
    std::vector<std::string> heads;
    for (const auto& column : head_) heads.push_back(column.head);
    std::string text = paint.dim(line(heads, widths, indent)) + "\n";
    for (const auto& row : rows_) {
        text += line(row.cells, widths, indent) + "\n";
        text += wrapped(folded(row, widths.size()), indent + 4, width);
        for (const auto& note : row.notes) text += wrapped(note, indent + 4, width);
    }
    return text;
}

}  // namespace reaper::report

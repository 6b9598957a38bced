// Text for terminals: made safe, measured, wrapped, put into tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace reaper::report {

/// Nothing that moves the cursor, ends the line, changes direction or hides: control characters,
/// bytes that are not UTF-8 and invisible characters become `\n`, `\x1b`, `\u{202e}`.
std::string safe(std::string_view text);

/// Columns that a safe text takes: one for each code point.
std::size_t columns(std::string_view text);

/// At most `width` columns; what is cut shows as `...`.
std::string shortened(const std::string& text, std::size_t width);

/// `text` in lines of at most `width` columns, each after `indent` spaces and with a newline. Words
/// longer than a line stay whole.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

/// What colours are for; empty escapes when not wanted.
class Paint {
public:
    explicit Paint(bool color) : color_(color) {}
    std::string bold(const std::string& text) const { return with("1", text); }
    std::string dim(const std::string& text) const { return with("2", text); }
    std::string red(const std::string& text) const { return with("31", text); }
    std::string green(const std::string& text) const { return with("32", text); }
    std::string yellow(const std::string& text) const { return with("33", text); }

private:
    std::string with(const char* code, const std::string& text) const {
        return color_ ? std::string{"\x1b["} + code + "m" + text + "\x1b[0m" : text;
    }
    bool color_;
};

/// Rows under a head, columns as wide as their widest cell. What does not fit beside each other
/// goes under its row: the last columns first, as `head cell; head cell`.
class TextTable {
public:
    enum class Align { left, right };
    struct Column {
        std::string head;
        Align align = Align::left;
    };
    explicit TextTable(std::vector<Column> head) : head_(std::move(head)) {}

    /// As many cells as columns; made safe here.
    void row(std::vector<std::string> cells);
    /// A wrapped line of text under the last row.
    void note(std::string text);
    bool empty() const noexcept { return rows_.empty(); }
    /// All columns beside each other.
    std::size_t width() const;
    std::string text(std::size_t indent, std::size_t width, const Paint& paint) const;

private:
    struct Row {
        std::vector<std::string> cells;
        std::vector<std::string> notes;
    };
    std::vector<std::size_t> widths() const;
    /// The first cells, as many as there are widths.
    std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                     std::size_t indent) const;
    /// The cells from `kept` on, with their heads.
    std::string folded(const Row& row, std::size_t kept) const;
    std::vector<Column> head_;
    std::vector<Row> rows_;
};

}  // namespace reaper::report

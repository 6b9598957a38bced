#include "clients/journal/copy.hpp"

#include <array>
#include <filesystem>
#include <openssl/evp.h>
#include <stdexcept>
#include <utility>

#include "clients/journal/stored_journal.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper {
namespace {

using journal::Database;
using journal::guarded;
using journal::OwnedDatabase;
using journal::Statement;
using journal::Transaction;

constexpr std::int64_t rows_at_once = 500;

/// Columns of a table: the first is of its key; `numbers` says of each whether it is one.
struct Table {
    const char* name;
    const char* columns;
    const char* numbers;  ///< a letter for each column: n or t
    bool key_of_two = false;
    std::string read{}, insert{};

    std::size_t width() const { return std::char_traits<char>::length(numbers); }
};

/// What refers to another comes after it.
std::vector<Table> tables_to_copy() {
    std::vector<Table> tables{
        {"request",
         "seq, id, request, received_at, outcome, outcome_reason, finished_at, safeguard, "
         "freed_room, freed_room_reason, untaken, freed_room_at, takers",
         "nttnttntttntt"},
        {"request_search", "request, project, project_name, flavor", "nttt"},
        {"plan", "seq, request, round, at, decision", "nnnnt"},
        {"chosen", "request, server, name, project, project_name, host", "nttttt", true},
        {"step", "seq, request, server, step, detail, at", "nntttn"},
        {"message", "seq, message_id, event_type, request, verdict, reason, at", "ntttttn"},
        {"event", "seq, kind, reason, at", "nttn"},
        {"hold",
         "seq, provider, class, host, host_name, \"before\", raised, request, since, how, reason, "
         "ended_at",
         "nttttnntnttn"},
        {"reservation_order",
         "seq, \"key\", principal, content, mark, removes, state, reason, given_at, changed_at",
         "ntttttttnn"},
        {"reservation", "id, project, user, at", "tttn"},
        {"protection", "server, name, since, until, author, reason", "ttnntt"}};
    for (Table& table : tables) {
        const std::string columns = table.columns;
        const std::string key = columns.substr(0, columns.find(','));
        const std::string second = "server";
        const std::string behind = table.key_of_two
                                       ? key + " > ?1 OR (" + key + " = ?1 AND " + second +
                                             " > ?2) ORDER BY " + key + ", " + second
                                       : key + " > ?1 ORDER BY " + key;
        table.read = "SELECT " + columns + " FROM " + table.name + " WHERE " + behind + " LIMIT ?3";
        std::string marks;
        for (std::size_t i = 1; i <= table.width(); ++i)
            marks += (i == 1 ? "?" : ", ?") + std::to_string(i);
        table.insert =
            "INSERT INTO " + std::string{table.name} + " (" + columns + ") VALUES (" + marks + ")";
    }
    return tables;
}

struct Null {};
using Cell = std::variant<Null, std::int64_t, std::string>;
using Row = std::vector<Cell>;

class Sha256 {
public:
    Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
        if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
            throw std::runtime_error("no SHA-256");
    }
    void add(const Row& row) {
        for (const Cell& cell : row) {
            if (std::holds_alternative<Null>(cell)) {
                add("-;");
            } else if (const auto* const number = std::get_if<std::int64_t>(&cell)) {
                add(std::to_string(*number) + ";");
            } else {
                const auto& text = std::get<std::string>(cell);
                add(std::to_string(text.size()) + ":" + text);
            }
        }
    }
    std::string hexadecimal() {
        std::array<unsigned char, 32> bytes{};
        EVP_DigestFinal_ex(context_.get(), bytes.data(), nullptr);
        std::string text;
        for (const unsigned char byte : bytes) {
            text += "0123456789abcdef"[byte >> 4U];
            text += "0123456789abcdef"[byte & 15U];
        }
        return text;
    }

private:
    void add(const std::string& text) {
        EVP_DigestUpdate(context_.get(), text.data(), text.size());
    }
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// The rows of a table in the order of its key, some at a time.
class Rows {
public:
    Rows(OwnedDatabase& owner, const Table& table) : owner_(owner), table_(table) {
        first_ = table.numbers[0] == 'n' ? Cell{std::int64_t{-1}} : Cell{std::string{}};
        second_ = std::string{};
    }
    /// Go on behind this one.
    void behind(const Row& row) {
        first_ = row[0];
        if (table_.key_of_two) second_ = row[1];
    }
    /// Empty: no more.
    std::vector<Row> next() {
        if (owner_.ownership)
            if (const auto ours = owner_.ownership->check(); !ours)
                throw std::runtime_error(ours.error().what);
        std::vector<Row> rows;
        auto select = owner_.database->statement(table_.read.c_str());
        if (const auto* const number = std::get_if<std::int64_t>(&first_))
            select.bind(1, *number);
        else
            select.bind(1, std::get<std::string>(first_));
        if (table_.key_of_two) select.bind(2, std::get<std::string>(second_));
        select.bind(3, rows_at_once);
        while (select.step()) rows.push_back(row_of(select));
        if (!rows.empty()) behind(rows.back());
        return rows;
    }

private:
    Row row_of(const Statement& select) const {
        Row row;
        for (std::size_t i = 0; i < table_.width(); ++i) {
            const int column = static_cast<int>(i);
            if (select.null(column))
                row.emplace_back(Null{});
            else if (table_.numbers[i] == 'n')
                row.emplace_back(select.number(column));
            else
                row.emplace_back(select.text(column));
        }
        return row;
    }

    OwnedDatabase& owner_;
    const Table& table_;
    Cell first_, second_;
};

void insert_rows(Database& database, const Table& table, const std::vector<Row>& rows) {
    Transaction transaction{database};
    for (const Row& row : rows) {
        auto insert = database.statement(table.insert.c_str());
        for (std::size_t i = 0; i < row.size(); ++i) {
            const int index = static_cast<int>(i) + 1;
            if (const auto* const number = std::get_if<std::int64_t>(&row[i]))
                insert.bind(index, *number);
            else if (const auto* const text = std::get_if<std::string>(&row[i]))
                insert.bind(index, *text);
        }
        insert.run();
    }
    transaction.commit();
}

/// Both at once, as long as they are the same; the last row that both have, and whether the target
/// has no other.
struct Common {
    Row last;
    bool all_of_target = true;
};

std::string digest_of(const std::vector<Row>& rows) {
    Sha256 digest;
    for (const Row& row : rows) digest.add(row);
    return digest.hexadecimal();
}

Common common_rows(OwnedDatabase& from, OwnedDatabase& to, const Table& table) {
    Rows source{from, table};
    Rows target{to, table};
    Common common;
    while (true) {
        const auto there = target.next();
        if (there.empty()) return common;
        auto here = source.next();
        if (here.size() > there.size()) {
            here.resize(there.size());
            source.behind(here.back());
        }
        if (digest_of(here) != digest_of(there)) {
            common.all_of_target = false;
            return common;
        }
        common.last = there.back();
    }
}

CopiedTable digest_of(OwnedDatabase& owner, const Table& table) {
    CopiedTable copied;
    copied.name = table.name;
    Sha256 digest;
    Rows rows{owner, table};
    for (auto some = rows.next(); !some.empty(); some = rows.next()) {
        for (const Row& row : some) digest.add(row);
        copied.rows += static_cast<std::int64_t>(some.size());
    }
    copied.digest = digest.hexadecimal();
    return copied;
}

Error copy_refused(const OwnedDatabase& to, const std::string& why) {
    return Error{Errc::storage, "journal " + to.name + ": " + why};
}

Result<std::vector<CopiedTable>> copy_tables(const std::vector<Table>& tables, OwnedDatabase& from,
                                             OwnedDatabase& to) {
    std::vector<Row> last;
    for (const Table& table : tables) {
        Common common = common_rows(from, to, table);
        if (!common.all_of_target)
            return copy_refused(to, "its table " + std::string{table.name} +
                                        " has rows that are not of " + from.name +
                                        ": copy into an empty journal");
        last.push_back(std::move(common.last));
    }
    for (std::size_t i = 0; i < tables.size(); ++i) {
        Rows rows{from, tables[i]};
        if (!last[i].empty()) rows.behind(last[i]);
        for (auto some = rows.next(); !some.empty(); some = rows.next())
            insert_rows(*to.database, tables[i], some);
    }
    std::vector<CopiedTable> copied;
    for (const Table& table : tables) {
        copied.push_back(digest_of(to, table));
        if (copied.back().digest != digest_of(from, table).digest)
            return copy_refused(to, "its table " + copied.back().name + " differs from that of " +
                                        from.name +
                                        " after the copy; make it empty, and try again");
    }
    return copied;
}

std::string name_of(const JournalPlace& place) {
    const auto* const path = std::get_if<std::string>(&place);
    return path != nullptr ? *path : std::get<journal::MariadbAddress>(place).url();
}

Result<OwnedDatabase> own(const JournalPlace& place) {
    if (const auto* const path = std::get_if<std::string>(&place)) return journal::own_file(*path);
    return journal::own_database(std::get<journal::MariadbAddress>(place),
                                 machine_name() + ", reaper journal copy");
}

}  // namespace

Result<std::vector<CopiedTable>> copy_journal(const JournalPlace& from, const JournalPlace& to) {
    using Copied = std::vector<CopiedTable>;
    const auto* const file = std::get_if<std::string>(&from);
    if (file != nullptr && !std::filesystem::exists(*file))
        return Error{Errc::not_found, "journal " + *file + ": does not exist"};
    if (name_of(from) == name_of(to))
        return Error{Errc::bad_input, "journal " + name_of(from) + ": is both source and target"};
    // The text of statements outlives the databases, which know them by it.
    const auto tables = tables_to_copy();
    auto source = own(from);
    if (!source) return source.error();
    auto target = own(to);
    if (!target) return target.error();
    return guarded<Copied>(target->name, [&] { return copy_tables(tables, *source, *target); });
}

}  // namespace reaper

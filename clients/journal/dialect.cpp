#include "clients/journal/dialect.hpp"

#include <cctype>

namespace reaper::journal {
namespace {

struct Phrase {
    std::string_view sqlite, mariadb;
};

constexpr Phrase phrases[] = {
    {VICTIMS_OF_PLAN,
     "JSON_TABLE(" JSON_OR_EMPTY("plan.decision") ", '$.hosts[*].victims[*]' "
                                                  "COLUMNS (server TEXT PATH '$.server', flavor "
                                                  "TEXT PATH '$.flavor')) AS victim"},
    {VICTIM_SERVER, "victim.server"},
    {VICTIM_FLAVOR, "victim.flavor"},
    {REQUEST_SOURCE, "JSON_VALUE(" JSON_OR_EMPTY("request.request") ", '$.source')"},
    {REQUESTERS, "JSON_TABLE(" JSON_OR_EMPTY("request.request") ", '$.requesters[*]' "
                                                                "COLUMNS (value TEXT PATH '$'))"},
    {REQUESTER_NAMES,
     "JSON_TABLE(" JSON_OR_EMPTY("request.request") ", '$.requester_names.*' "
                                                    "COLUMNS (value TEXT PATH '$'))"},
    // Both take the tables in this order.
    {"CROSS JOIN", "STRAIGHT_JOIN"},
    {"ON CONFLICT DO NOTHING", "ON DUPLICATE KEY UPDATE seq = seq"},
};

std::string with_its_phrases(std::string_view sql) {
    std::string text{sql};
    for (const auto& [sqlite, mariadb] : phrases)
        for (std::size_t at = text.find(sqlite); at != std::string::npos;
             at = text.find(sqlite, at + mariadb.size()))
            text.replace(at, sqlite.size(), mariadb);
    return text;
}

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

MariadbSql for_mariadb(std::string_view sql) {
    const std::string text = with_its_phrases(sql);
    MariadbSql translated;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == 0 && (c == '\'' || c == '"'))
            quote = c;
        else if (c == quote)
            quote = 0;
        translated.text += c;
        if (c != '?' || quote != 0) continue;
        int number = 0;
        for (; i + 1 < text.size() && is_digit(text[i + 1]); ++i)
            number = number * 10 + (text[i + 1] - '0');
        translated.parameters.push_back(number);
    }
    return translated;
}

}  // namespace reaper::journal

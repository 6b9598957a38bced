// The SQL of this folder is SQLite's. Here is what MariaDB says otherwise, and nowhere else but in
// the tables of mariadb_schema.cpp.
//
// Shared words: names that MariaDB reserves are quoted ("key", "before"), and a subquery with a
// LIMIT stands within another one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Rows out of JSON columns; of what is not JSON, none.

#define JSON_OR_EMPTY(COLUMN) "CASE WHEN json_valid(" COLUMN ") THEN " COLUMN " ELSE '{}' END"

/// The victims of a row of `plan`, and columns of them.
#define VICTIMS_OF_PLAN \
    "json_each(" JSON_OR_EMPTY("plan.decision") ", '$.hosts') " \
    "AS host, json_each(host.value, '$.victims') AS victim"
#define VICTIM_SERVER "victim.value ->> 'server'"
#define VICTIM_FLAVOR "victim.value ->> 'flavor'"

/// The servers that wait for a row of `request`, and their names, as `value`.
#define REQUEST_SOURCE JSON_OR_EMPTY("request.request") " ->> '$.source'"
#define REQUESTERS "json_each(" JSON_OR_EMPTY("request.request") ", '$.requesters')"
#define REQUESTER_NAMES "json_each(" JSON_OR_EMPTY("request.request") ", '$.requester_names')"

namespace reaper::journal {

struct MariadbSql {
    std::string text;             ///< a `?` for each parameter
    std::vector<int> parameters;  ///< the number that each `?` had
};

MariadbSql for_mariadb(std::string_view sql);

}  // namespace reaper::journal

// The store's reading side: which projects, hosts and flavors it knows.
#include "clients/journal/store.hpp"

namespace reaper::journal {
namespace {

constexpr const char* project_by_id_sql =
    "SELECT EXISTS (SELECT 1 FROM chosen WHERE project = ?1) "
    "OR EXISTS (SELECT 1 FROM request_search WHERE project = ?1)";

// Some of them: enough to say that there are several.
constexpr const char* projects_by_name_sql =
    "SELECT project FROM chosen WHERE project_name = ?1 AND project_name <> '' "
    "UNION SELECT project FROM request_search WHERE project_name = ?1 AND project_name <> '' "
    "ORDER BY 1 LIMIT 100";

constexpr const char* host_sql = "SELECT EXISTS (SELECT 1 FROM chosen WHERE host = ?1)";

constexpr const char* flavor_sql =
    "SELECT EXISTS (SELECT 1 FROM request_search WHERE flavor = ?1) "
    "OR EXISTS (SELECT 1 FROM plan, "
    "json_each(CASE WHEN json_valid(plan.decision) THEN plan.decision ELSE '{}' END, '$.hosts') "
    "AS host, json_each(host.value, '$.victims') AS victim "
    "WHERE victim.value ->> 'flavor' = ?1)";

bool has_row(Database& database, const char* sql, const std::string& value) {
    auto select = database.statement(sql);
    select.bind(1, value);
    return select.step() && select.number(0) != 0;
}

}  // namespace

Result<KnownValues> Store::known_values(const JournalQuery& query) {
    KnownValues known;
    if (!query.host.empty()) known.host = has_row(database_, host_sql, query.host);
    if (!query.flavor.empty()) known.flavor = has_row(database_, flavor_sql, query.flavor);
    if (query.project.empty()) return known;
    if (has_row(database_, project_by_id_sql, query.project)) {
        known.projects.emplace_back(query.project);
        return known;
    }
    auto select = database_.statement(projects_by_name_sql);
    select.bind(1, query.project);
    while (select.step()) known.projects.emplace_back(select.text(0));
    return known;
}

}  // namespace reaper::journal

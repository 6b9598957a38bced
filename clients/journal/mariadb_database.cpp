#include "clients/journal/mariadb_database.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <mysql.h>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "clients/journal/dialect.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::journal {
namespace {

// https://mariadb.com/kb/en/mariadb-error-codes/; those from 2000 on are the connector's own.
struct Code {
    enum : unsigned {
        disk_full = 1021,
        record_changed = 1020,  ///< since it was read: innodb_snapshot_isolation
        write_failed = 1026,
        engine_failed = 1030,  ///< also for want of room on the disk
        too_many_connections = 1040,
        no_right_to_database = 1044,
        access_denied = 1045,
        not_ready = 1047,  ///< "WSREP has not yet prepared node for application use"
        unknown_database = 1049,
        shutting_down = 1053,
        table_full = 1114,
        no_right_to_table = 1142,
        no_table = 1146,
        commit_failed = 1180,  ///< Galera: the node was cut off meanwhile
        too_many_of_user = 1203,
        lock_wait_timeout = 1205,
        lock_table_full = 1206,
        deadlock = 1213,  ///< also a transaction that Galera did not certify
        option_prevents = 1290,
        read_only = 1836,
        killed = 1927,
        took_too_long = 1969,
        socket_error = 2002,
        connect_error = 2003,
        unknown_host = 2005,
        server_gone = 2006,
        lost = 2013,
        tls_error = 2026,
        lost_extended = 2055,
    };
};

/// The connection is of no use any longer; another server may be.
bool ends_connection(unsigned code) {
    switch (code) {
        case Code::disk_full:
        case Code::write_failed:
        case Code::engine_failed:
        case Code::not_ready:
        case Code::shutting_down:
        case Code::table_full:
        case Code::commit_failed:
        case Code::option_prevents:
        case Code::read_only:
        case Code::killed:
        case Code::socket_error:
        case Code::connect_error:
        case Code::server_gone:
        case Code::lost:
        case Code::lost_extended: return true;
        default: return false;
    }
}

/// Nothing of the transaction is there, or may be (innodb_rollback_on_timeout), and the server
/// still says that it is open.
bool undoes_transaction(unsigned code) {
    switch (code) {
        case Code::record_changed:
        case Code::lock_wait_timeout:
        case Code::lock_table_full:
        case Code::deadlock: return true;
        default: return false;
    }
}

bool may_work_later(unsigned code) {
    if (undoes_transaction(code)) return true;
    switch (code) {
        case Code::too_many_connections:
        case Code::too_many_of_user:
        case Code::unknown_host: return true;
        default: return ends_connection(code);
    }
}

const char* mariadb_advice(unsigned code) {
    switch (code) {
        case Code::disk_full:
        case Code::write_failed:
        case Code::engine_failed:
        case Code::table_full: return "the disk of the database server is full: free some space";
        case Code::too_many_connections:
        case Code::too_many_of_user: return "raise max_connections of the server or of the user";
        case Code::access_denied:
            return "check the user, its password, and from where it may connect";
        case Code::no_right_to_database:
        case Code::no_right_to_table: return "GRANT the user its rights on the database";
        case Code::unknown_database: return "create the database, then run: reaper journal migrate";
        case Code::no_table: return "run: reaper journal migrate";
        case Code::not_ready: return "the node is not part of the cluster's primary component";
        case Code::option_prevents:
        case Code::read_only: return "the server takes no writes";
        case Code::took_too_long: return "the server is too slow, or journal.timeout is too short";
        case Code::tls_error: return "check journal.ca_file and the server's certificate";
        case Code::socket_error:
        case Code::connect_error:
        case Code::unknown_host: return "check that the server runs and can be reached";
        default: return "";
    }
}

struct Unknown {};  // NULL

/// What the last statement without rows did.
struct Written {
    std::int64_t row = 0;  ///< the number of the last row that got one
    std::int64_t changes = 0;
};

class MariadbPrepared final : public Prepared {
public:
    using Fail = std::function<void(unsigned code, const std::string& message)>;  // throws

    /// Throws what `fail` throws.
    MariadbPrepared(MYSQL* handle, std::string_view sql, Written& written, Fail on_failure)
        : fail_(std::move(on_failure)), written_(written), statement_(mysql_stmt_init(handle)) {
        if (!statement_) fail_(mysql_errno(handle), mysql_error(handle));
        MariadbSql translated = for_mariadb(sql);
        parameters_ = std::move(translated.parameters);
        const auto& text = translated.text;
        if (mysql_stmt_prepare(statement_.get(), text.data(), text.size()) != 0) fail();
        int most = 0;
        for (const int number : parameters_) most = std::max(most, number);
        values_.resize(static_cast<std::size_t>(most));
    }

    void bind(int index, std::string_view text) override { value(index) = std::string{text}; }
    void bind(int index, std::int64_t number) override { value(index) = number; }
    bool step() override {
        if (!executed_) run();
        if (columns_.empty()) return false;
        const int code = mysql_stmt_fetch(statement_.get());
        if (code == MYSQL_NO_DATA) return false;
        if (code != 0 && code != MYSQL_DATA_TRUNCATED) fail();
        return true;
    }
    std::int64_t number(int column) const override {
        long long number = 0;
        my_bool is_null = 0;
        MYSQL_BIND bind{};
        bind.buffer_type = MYSQL_TYPE_LONGLONG;
        bind.buffer = &number;
        bind.is_null = &is_null;
        fetch(column, bind);
        return is_null != 0 ? 0 : number;
    }
    std::string text(int column) const override {
        if (null(column)) return {};
        // A number as a text needs no more than this.
        std::string text(std::max<std::size_t>(column_at(column).length, 32), '\0');
        unsigned long length = 0;
        MYSQL_BIND bind{};
        bind.buffer_type = MYSQL_TYPE_STRING;
        bind.buffer = text.data();
        bind.buffer_length = text.size();
        bind.length = &length;
        fetch(column, bind);
        text.resize(std::min<std::size_t>(length, text.size()));
        return text;
    }
    bool null(int column) const override { return column_at(column).is_null != 0; }
    void reset() noexcept override {
        if (executed_) mysql_stmt_free_result(statement_.get());
        executed_ = false;
        std::fill(values_.begin(), values_.end(), Value{});
    }

private:
    using Value = std::variant<Unknown, std::int64_t, std::string>;
    struct Column {
        unsigned long length = 0;
        my_bool is_null = 0;
    };
    struct Close {
        void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
    };

    [[noreturn]] void fail() const {
        fail_(mysql_stmt_errno(statement_.get()), mysql_stmt_error(statement_.get()));
        std::terminate();
    }
    Value& value(int index) { return values_.at(static_cast<std::size_t>(index) - 1); }
    const Column& column_at(int column) const {
        return columns_.at(static_cast<std::size_t>(column));
    }
    void fetch(int column, MYSQL_BIND& bind) const {
        if (mysql_stmt_fetch_column(statement_.get(), &bind, static_cast<unsigned>(column), 0) != 0)
            fail();
    }
    void run() {
        std::vector<MYSQL_BIND> binds(parameters_.size());
        for (std::size_t i = 0; i < binds.size(); ++i) {
            MYSQL_BIND& bind = binds[i];
            Value& bound = value(parameters_[i]);
            bind.buffer_type = MYSQL_TYPE_NULL;
            if (auto* const number = std::get_if<std::int64_t>(&bound)) {
                bind.buffer_type = MYSQL_TYPE_LONGLONG;
                bind.buffer = number;
            } else if (auto* const text = std::get_if<std::string>(&bound)) {
                // Bytes, of no character set.
                bind.buffer_type = MYSQL_TYPE_BLOB;
                bind.buffer = text->data();
                bind.buffer_length = text->size();
            }
        }
        executed_ = true;
        if (!binds.empty() && mysql_stmt_bind_param(statement_.get(), binds.data()) != 0) fail();
        if (mysql_stmt_execute(statement_.get()) != 0) fail();
        columns_.assign(mysql_stmt_field_count(statement_.get()), Column{});
        if (columns_.empty()) {
            const auto row = mysql_stmt_insert_id(statement_.get());
            if (row != 0) written_.row = static_cast<std::int64_t>(row);
            written_.changes =
                static_cast<std::int64_t>(mysql_stmt_affected_rows(statement_.get()));
            return;
        }
        // Columns are fetched when they are asked for: here only how long they are.
        std::vector<MYSQL_BIND> results(columns_.size());
        for (std::size_t i = 0; i < results.size(); ++i) {
            results[i].buffer_type = MYSQL_TYPE_BLOB;
            results[i].length = &columns_[i].length;
            results[i].is_null = &columns_[i].is_null;
        }
        if (mysql_stmt_bind_result(statement_.get(), results.data()) != 0) fail();
        // Whole, so that other statements may run while its rows are read.
        if (mysql_stmt_store_result(statement_.get()) != 0) fail();
    }

    Fail fail_;
    Written& written_;
    std::unique_ptr<MYSQL_STMT, Close> statement_;
    std::vector<int> parameters_;
    std::vector<Value> values_;
    std::vector<Column> columns_;
    bool executed_ = false;
};

/// Without the end of its last line.
std::string password_in(const std::string& file) {
    if (file.empty()) return {};
    std::ifstream stream{file, std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{stream}, {}};
    if (!stream && text.empty())
        throw DatabaseFailure{0, "can't read the password in " + file,
                              "give the file to the reaper's user"};
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

}  // namespace

std::string MariadbAddress::url() const {
    std::string text = "mysql://" + user + "@";
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const bool version_6 = hosts[i].name.find(':') != std::string::npos;
        text += (i == 0 ? "" : ",") + (version_6 ? "[" + hosts[i].name + "]" : hosts[i].name);
        if (hosts[i].port != 3306) text += ":" + std::to_string(hosts[i].port);
    }
    text += "/" + database;
    return socket.empty() ? text : text + "?unix_socket=" + socket;
}

class MariadbDatabase::Connection {
public:
    Connection(MariadbAddress address, Use use) : address_(std::move(address)), use_(use) {
        static std::once_flag library;
        std::call_once(library, [] { mysql_library_init(0, nullptr, nullptr); });
        if (!address_.socket.empty()) address_.hosts = {MariadbHost{"localhost", 0}};
        connect();
    }

    /// Connects if need be. In a transaction, throws if the connection or the transaction is gone.
    /// Throws if it is time to give up.
    MYSQL* ready() {
        if (open_ && !in_transaction())
            throw DatabaseFailure{static_cast<int>(Code::server_gone),
                                  "the transaction was undone by the server", "", true};
        if (!open_ && (broken_ || !handle_)) connect();
        if (end_) limit_statement();
        return handle_.get();
    }
    void give_up_at(std::optional<std::chrono::steady_clock::time_point> end) {
        const bool was_limited = end_.has_value();
        end_ = end;
        if (!was_limited || end || !usable()) return;
        if (!limit_statements_to(address_.timeout)) broken_ = true;
    }
    bool usable() const { return handle_ && !broken_; }
    bool in_transaction() const { return !undone_ && to_roll_back(); }
    void query(const std::string& sql) {
        MYSQL* const handle = ready();
        if (mysql_real_query(handle, sql.data(), sql.size()) != 0) fail();
    }
    std::unique_ptr<MariadbPrepared> make(std::string_view sql) {
        return std::make_unique<MariadbPrepared>(
            ready(), sql, written_,
            [this](unsigned code, const std::string& message) { fail(code, message); });
    }
    MariadbPrepared& prepared(const char* sql) {
        ready();
        const auto known = statements_.find(sql);
        if (known != statements_.end()) return *known->second;
        return *statements_.emplace(sql, make(sql)).first->second;
    }
    void begin(bool writes) {
        ready();
        if (open_)
            throw DatabaseFailure{static_cast<int>(Code::server_gone),
                                  "the transaction was undone by the server", "", true};
        query(writes ? "START TRANSACTION"
                     : "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
        open_ = true;
        if (!writes || !check_) return;
        try {
            check_();
        } catch (...) {
            rollback();
            throw;
        }
    }
    void commit() {
        MYSQL* const handle = ready();
        committing_ = true;
        const bool good = mysql_real_query(handle, "COMMIT", 6) == 0;
        // On an error the transaction is open still; its owner undoes it.
        if (good) open_ = false;
        if (!good) fail();
        committing_ = false;
    }
    void rollback() {
        const bool there = to_roll_back();
        open_ = false;
        undone_ = false;
        committing_ = false;
        if (there && mysql_real_query(handle_.get(), "ROLLBACK", 8) != 0) broken_ = true;
    }

    std::function<void()> check_;
    Written written_;

private:
    struct Close {
        void operator()(MYSQL* handle) const { mysql_close(handle); }
    };

    unsigned status() const {
        unsigned status = 0;
        mariadb_get_infov(handle_.get(), MARIADB_CONNECTION_SERVER_STATUS, &status);
        return status;
    }
    bool to_roll_back() const {
        return open_ && usable() && (status() & SERVER_STATUS_IN_TRANS) != 0;
    }
    const MariadbHost& host() const { return address_.hosts.at(at_); }
    std::string place() const {
        if (!address_.socket.empty()) return address_.socket;
        return host().name + ":" + std::to_string(host().port);
    }
    [[noreturn]] void fail() { fail(mysql_errno(handle_.get()), mysql_error(handle_.get())); }
    [[noreturn]] void fail(unsigned code, const std::string& message) {
        DatabaseFailure failure{
            static_cast<int>(code),
            message + " (error " + std::to_string(code) + " of " + place() + ")",
            mariadb_advice(code), may_work_later(code)};
        failure.given_up = end_ && code == Code::took_too_long;
        if (failure.given_up) failure.advice = "it takes too long";
        undone_ = open_ && (undone_ || undoes_transaction(code));
        if (ends_connection(code)) {
            broken_ = true;
            if (std::exchange(committing_, false)) {
                failure.again = false;
                failure.advice = "whether the last write is there is not known";
            }
            at_ = (at_ + 1) % address_.hosts.size();
        }
        throw failure;
    }

    bool limit_statements_to(std::chrono::milliseconds longest) {
        const std::string sql =
            "SET SESSION max_statement_time = " + std::to_string(longest.count()) + " / 1000";
        return mysql_real_query(handle_.get(), sql.data(), sql.size()) == 0;
    }
    void limit_statement() {
        using std::chrono::milliseconds;
        const auto left =
            std::chrono::duration_cast<milliseconds>(*end_ - std::chrono::steady_clock::now());
        if (left <= milliseconds{0}) fail(Code::took_too_long, "given up");  // 0 is no limit
        if (!limit_statements_to(std::min<milliseconds>(left, address_.timeout))) fail();
    }

    /// To the first server that answers and may be used, from the last one on.
    void connect() {
        statements_.clear();
        handle_.reset();
        std::string failures;
        DatabaseFailure last;
        for (std::size_t tried = 0; tried < address_.hosts.size(); ++tried) {
            try {
                connect_to_host();
                return;
            } catch (const DatabaseFailure& failure) {
                handle_.reset();
                last = failure;
                failures += (failures.empty() ? "" : "; ") + failure.message;
                at_ = (at_ + 1) % address_.hosts.size();
            }
        }
        last.message = failures;
        throw last;
    }
    void connect_to_host() {
        handle_.reset(mysql_init(nullptr));
        if (!handle_) throw DatabaseFailure{0, "no memory for a connection"};
        broken_ = false;
        set_options();
        const std::string password = password_in(address_.password_file);
        const bool local = !address_.socket.empty();
        const MYSQL* const connected = mysql_real_connect(
            handle_.get(), host().name.c_str(), address_.user.c_str(), password.c_str(),
            address_.database.c_str(), host().port, local ? address_.socket.c_str() : nullptr, 0);
        if (connected == nullptr) refuse_host();
        set_up_session();
        check_node();
    }
    /// As `fail`, but the next host is the caller's to choose.
    [[noreturn]] void refuse_host() {
        const unsigned code = mysql_errno(handle_.get());
        throw DatabaseFailure{static_cast<int>(code),
                              std::string{mysql_error(handle_.get())} + " (error " +
                                  std::to_string(code) + " of " + place() + ")",
                              mariadb_advice(code), may_work_later(code)};
    }
    void set_options() {
        MYSQL* const handle = handle_.get();
        const auto seconds = static_cast<unsigned>(address_.timeout.count());
        const unsigned reads = seconds + 1;  // the server gives a statement up first
        mysql_options(handle, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
        mysql_options(handle, MYSQL_OPT_READ_TIMEOUT, &reads);
        mysql_options(handle, MYSQL_OPT_WRITE_TIMEOUT, &seconds);
        mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
        // A server must not be able to ask for files or for the password in clear.
        const unsigned no_files = 0;
        mysql_options(handle, MYSQL_OPT_LOCAL_INFILE, &no_files);
        mysql_optionsv(handle, MARIADB_OPT_RESTRICTED_AUTH,
                       "mysql_native_password,client_ed25519,caching_sha2_password");
        const my_bool off = 0;
        mysql_options(handle, MYSQL_OPT_RECONNECT, &off);
        // Newer connectors verify by default.
        mysql_options(handle, MYSQL_OPT_SSL_ENFORCE, &off);
        mysql_options(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &off);
        if (!address_.socket.empty()) return;
        const unsigned tcp = MYSQL_PROTOCOL_TCP;  // also to "localhost"
        mysql_options(handle, MYSQL_OPT_PROTOCOL, &tcp);
        if (!address_.tls) return;
        const my_bool on = 1;
        mysql_ssl_set(handle, nullptr, nullptr,
                      address_.ca_file.empty() ? nullptr : address_.ca_file.c_str(), nullptr,
                      nullptr);
        mysql_options(handle, MYSQL_OPT_SSL_ENFORCE, &on);
        mysql_options(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on);
    }
    void tell(const std::string& sql) {
        if (mysql_real_query(handle_.get(), sql.data(), sql.size()) != 0) refuse_host();
    }
    /// The second column of the only row, or none.
    std::string shown(const std::string& sql) {
        tell(sql);
        const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows{
            mysql_store_result(handle_.get()), &mysql_free_result};
        if (!rows) refuse_host();
        const MYSQL_ROW row = mysql_fetch_row(rows.get());
        return row == nullptr || row[1] == nullptr ? std::string{} : std::string{row[1]};
    }
    void set_up_session() {
        const auto seconds = address_.timeout.count();
        // A wait for a lock ends first: it is tried again, a statement that took too long is not.
        const auto lock_seconds = std::max<decltype(seconds)>(seconds - 1, 1);
        // Numbers of rows follow each other on every node: one reaper writes at a time.
        tell(
            "SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
            "autocommit = 1, time_zone = '+00:00', tx_isolation = 'REPEATABLE-READ', "
            "auto_increment_increment = 1, auto_increment_offset = 1, "
            "innodb_lock_wait_timeout = " +
            std::to_string(lock_seconds) + ", max_statement_time = " + std::to_string(seconds));
        // A writer that froze or was cut off must not keep the row of the lease locked.
        if (use_ == Use::writing) tell("SET SESSION idle_transaction_timeout = 10");
    }
    /// A node of a cluster that lost the others answers, and must not be asked.
    void check_node() {
        if (use_ == Use::writing && shown("SHOW GLOBAL VARIABLES LIKE 'read_only'") == "ON")
            unfit(Code::read_only, "it is read-only");
        if (shown("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'") != "ON") return;
        const std::string part = shown("SHOW GLOBAL STATUS LIKE 'wsrep_cluster_status'");
        if (part != "Primary") unfit(Code::not_ready, "its part of the cluster is " + part);
        if (shown("SHOW GLOBAL STATUS LIKE 'wsrep_ready'") != "ON")
            unfit(Code::not_ready, "it is not ready");
        // What another node has written before is seen.
        tell("SET SESSION wsrep_sync_wait = 1");
    }
    [[noreturn]] void unfit(unsigned code, const std::string& why) {
        throw DatabaseFailure{static_cast<int>(code), place() + ": " + why, mariadb_advice(code),
                              true};
    }

    MariadbAddress address_;
    Use use_;
    std::size_t at_ = 0;  ///< of the hosts
    std::unique_ptr<MYSQL, Close> handle_;
    std::map<std::string_view, std::unique_ptr<MariadbPrepared>> statements_;  // end first
    bool broken_ = false;
    bool open_ = false;    ///< a transaction was begun, and neither committed nor rolled back by us
    bool undone_ = false;  ///< that transaction, by the server
    bool committing_ = false;
    std::optional<std::chrono::steady_clock::time_point> end_;  ///< of give_up_at
};

MariadbDatabase::MariadbDatabase(MariadbAddress address, Use use)
    : connection_(std::make_unique<Connection>(std::move(address), use)) {}

MariadbDatabase::~MariadbDatabase() = default;

void MariadbDatabase::execute(const std::string& sql) {
    connection_->query(sql);
}

std::string MariadbDatabase::ask(const std::string& sql) {
    const auto once = connection_->make(sql);
    return once->step() ? once->text(0) : std::string{};
}

std::int64_t MariadbDatabase::last_row() const {
    return connection_->written_.row;
}

std::int64_t MariadbDatabase::changes() const {
    return connection_->written_.changes;
}

bool MariadbDatabase::in_transaction() const {
    return connection_->in_transaction();
}

void MariadbDatabase::give_up_at(std::optional<std::chrono::steady_clock::time_point> end) {
    connection_->give_up_at(end);
}

void MariadbDatabase::fence(std::function<void()> check) {
    connection_->check_ = std::move(check);
}

bool MariadbDatabase::connected() const {
    return connection_->usable();
}

Prepared& MariadbDatabase::prepared(const char* sql) {
    return connection_->prepared(sql);
}

void MariadbDatabase::begin(bool writes) {
    connection_->begin(writes);
}

void MariadbDatabase::commit() {
    connection_->commit();
}

void MariadbDatabase::rollback() {
    connection_->rollback();
}

}  // namespace reaper::journal

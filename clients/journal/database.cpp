#include "clients/journal/database.hpp"

namespace reaper::journal {

Error storage_error(const std::string& path, const DatabaseFailure& failure) {
    std::string line = "journal " + path + ": " + failure.message;
    if (!failure.advice.empty()) line += "; " + failure.advice;
    if (failure.given_up) return Error{Errc::timeout, line};
    return Error{failure.displaced ? Errc::conflict : Errc::storage, line};
}

std::int64_t Database::ask_number(const std::string& sql) {
    const std::string text = ask(sql);
    return text.empty() ? 0 : std::stoll(text);
}

Transaction::Transaction(Database& database, Kind kind)
    : database_(&database), within_(database.in_transaction()) {
    if (within_)
        database.begin_within();
    else
        database.begin(kind == Kind::write);
}

Transaction::~Transaction() {
    if (database_ == nullptr) return;
    try {
        if (within_)
            database_->rollback_within();
        else
            database_->rollback();
    } catch (const DatabaseFailure&) {
        // The engine has already rolled back (full disk, lost connection): nothing is left to undo.
    }
}

void Transaction::commit() {
    if (within_)
        database_->commit_within();
    else
        database_->commit();
    database_ = nullptr;
}

}  // namespace reaper::journal

#include "clients/amqp/amqp_bytes.hpp"

namespace reaper::amqp {

amqp_field_value_t& Table::entry(std::string key, amqp_field_value_kind_t kind) {
    texts_.push_back(std::move(key));
    amqp_table_entry_t added{};
    added.key = bytes(texts_.back());
    added.value.kind = static_cast<std::uint8_t>(kind);
    return entries_.emplace_back(added).value;
}

void Table::add(std::string key, std::string text) {
    texts_.push_back(std::move(text));
    const amqp_bytes_t value = bytes(texts_.back());
    entry(std::move(key), AMQP_FIELD_KIND_UTF8).value.bytes = value;
}

void Table::add(std::string key, bool value) {
    entry(std::move(key), AMQP_FIELD_KIND_BOOLEAN).value.boolean = value ? 1 : 0;
}

void Table::add_integer(std::string key, std::int64_t value) {
    entry(std::move(key), AMQP_FIELD_KIND_I64).value.i64 = value;
}

void Table::add_time(std::string key, std::uint64_t seconds) {
    entry(std::move(key), AMQP_FIELD_KIND_TIMESTAMP).value.u64 = seconds;
}

void Table::add(std::string key, const Table& inner) {
    entry(std::move(key), AMQP_FIELD_KIND_TABLE).value.table = inner.raw();
}

amqp_table_t Table::raw() const {
    return {static_cast<int>(entries_.size()),
            const_cast<amqp_table_entry_t*>(entries_.data())};  // the library never writes to it
}

}  // namespace reaper::amqp

// librabbitmq's counted texts and tables, without copying. Internal to clients/amqp.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "clients/amqp/rabbitmq_c.hpp"

namespace reaper::amqp {

/// Refers to the text, which must outlive the call that it is for.
inline amqp_bytes_t bytes(std::string_view text) {
    return {text.size(), const_cast<char*>(text.data())};  // the library never writes to it
}

inline std::string_view view(amqp_bytes_t raw) {
    return {static_cast<const char*>(raw.bytes), raw.len};
}

/// A field table under construction; owns its texts. Not copied: entries point into it.
class Table {
public:
    Table() = default;
    Table& operator=(Table&&) = delete;

    void add(std::string key, std::string text);
    void add(std::string key, bool value);
    void add_integer(std::string key, std::int64_t value);
    void add_time(std::string key, std::uint64_t seconds);
    /// `inner` must outlive this table.
    void add(std::string key, const Table& inner);

    amqp_table_t raw() const;

private:
    amqp_field_value_t& entry(std::string key, amqp_field_value_kind_t kind);

    std::deque<std::string> texts_;
    std::vector<amqp_table_entry_t> entries_;
};

}  // namespace reaper::amqp

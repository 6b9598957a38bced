#include "clients/amqp/frame_assembler.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "clients/amqp/amqp_bytes.hpp"

namespace reaper::amqp {

namespace {

/// Not what routes a message, and not what the broker adds to each delivery: RabbitMQ 4.3 counts
/// twice.
bool is_of_sender(std::string_view key) {
    return key != "CC" && key != "BCC" && key != "x-delivery-count" && key != "x-acquired-count";
}

}  // namespace

struct Headers::Kept {
    Kept() { init_amqp_pool(&pool, 1024); }
    ~Kept() { empty_amqp_pool(&pool); }
    Kept& operator=(Kept&&) = delete;

    amqp_pool_t pool{};
    std::vector<amqp_table_entry_t> entries;  // what they point to is in the pool
};

Headers::Headers(const amqp_basic_properties_t& raw) {
    if ((raw._flags & AMQP_BASIC_HEADERS_FLAG) == 0 || raw.headers.num_entries == 0) return;
    auto kept = std::make_shared<Kept>();
    amqp_table_t copy{};
    if (amqp_table_clone(&raw.headers, &copy, &kept->pool) != AMQP_STATUS_OK)
        throw std::bad_alloc();
    for (int i = 0; i < copy.num_entries; ++i) {
        if (is_of_sender(view(copy.entries[i].key))) kept->entries.push_back(copy.entries[i]);
    }
    kept_ = std::move(kept);
}

std::string Headers::text(std::string_view key) const {
    if (!kept_) return {};
    for (const auto& entry : kept_->entries)
        if (view(entry.key) == key &&
            (entry.value.kind == AMQP_FIELD_KIND_UTF8 || entry.value.kind == AMQP_FIELD_KIND_BYTES))
            return std::string(view(entry.value.value.bytes));
    return {};
}

std::optional<std::int64_t> Headers::integer(std::string_view key) const {
    if (!kept_) return std::nullopt;
    for (const auto& entry : kept_->entries) {
        if (view(entry.key) != key) continue;
        if (entry.value.kind == AMQP_FIELD_KIND_I64) return entry.value.value.i64;
        if (entry.value.kind == AMQP_FIELD_KIND_I32) return entry.value.value.i32;
        if (entry.value.kind == AMQP_FIELD_KIND_TIMESTAMP)
            return static_cast<std::int64_t>(entry.value.value.u64);
    }
    return std::nullopt;
}

amqp_table_t Headers::raw() const {
    if (!kept_) return amqp_empty_table;
    return {static_cast<int>(kept_->entries.size()), kept_->entries.data()};
}

ContentProperties ContentProperties::from(const amqp_basic_properties_t& raw) {
    ContentProperties kept;
    const auto get = [&raw](amqp_bytes_t field, amqp_flags_t flag) {
        return (raw._flags & flag) != 0 ? std::string(view(field)) : std::string();
    };
    kept.content_type = get(raw.content_type, AMQP_BASIC_CONTENT_TYPE_FLAG);
    kept.content_encoding = get(raw.content_encoding, AMQP_BASIC_CONTENT_ENCODING_FLAG);
    kept.message_id = get(raw.message_id, AMQP_BASIC_MESSAGE_ID_FLAG);
    kept.correlation_id = get(raw.correlation_id, AMQP_BASIC_CORRELATION_ID_FLAG);
    kept.type = get(raw.type, AMQP_BASIC_TYPE_FLAG);
    kept.app_id = get(raw.app_id, AMQP_BASIC_APP_ID_FLAG);
    kept.reply_to = get(raw.reply_to, AMQP_BASIC_REPLY_TO_FLAG);
    if ((raw._flags & AMQP_BASIC_TIMESTAMP_FLAG) != 0) kept.timestamp = raw.timestamp;
    if ((raw._flags & AMQP_BASIC_PRIORITY_FLAG) != 0) kept.priority = raw.priority;
    return kept;
}

amqp_basic_properties_t ContentProperties::raw(const amqp_table_t& headers) const {
    amqp_basic_properties_t raw{};
    raw._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_HEADERS_FLAG;
    raw.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    raw.headers = headers;
    const auto set = [&raw](const std::string& text, amqp_bytes_t& field, amqp_flags_t flag) {
        if (text.empty()) return;
        field = bytes(text);
        raw._flags |= flag;
    };
    set(content_type, raw.content_type, AMQP_BASIC_CONTENT_TYPE_FLAG);
    set(content_encoding, raw.content_encoding, AMQP_BASIC_CONTENT_ENCODING_FLAG);
    set(message_id, raw.message_id, AMQP_BASIC_MESSAGE_ID_FLAG);
    set(correlation_id, raw.correlation_id, AMQP_BASIC_CORRELATION_ID_FLAG);
    set(type, raw.type, AMQP_BASIC_TYPE_FLAG);
    set(app_id, raw.app_id, AMQP_BASIC_APP_ID_FLAG);
    if (timestamp) {
        raw.timestamp = *timestamp;
        raw._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
    }
    if (priority) {
        raw.priority = *priority;
        raw._flags |= AMQP_BASIC_PRIORITY_FLAG;
    }
    return raw;
}

void FrameAssembler::start(const amqp_basic_deliver_t& deliver) {
    message_.emplace();
    message_->tag = deliver.delivery_tag;
    message_->routing_key = view(deliver.routing_key);
    message_->redelivered = deliver.redelivered != 0;
    received_ = 0;
}

std::optional<Message> FrameAssembler::add(const amqp_frame_t& frame) {
    if (!message_) return std::nullopt;  // the content of something that we did not start
    if (frame.frame_type == AMQP_FRAME_HEADER) {
        message_->full_size = frame.payload.properties.body_size;
        const auto& raw =
            *static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
        message_->properties = ContentProperties::from(raw);
        message_->headers = Headers(raw);
        keep_ = message_->full_size <= max_body_bytes_
                    ? static_cast<std::size_t>(message_->full_size)
                    : copy_bytes_;
    } else {
        const std::string_view fragment = view(frame.payload.body_fragment);
        received_ += fragment.size();
        message_->body += fragment.substr(0, keep_ - std::min(keep_, message_->body.size()));
    }
    return take_if_complete();
}

std::optional<Message> FrameAssembler::take_if_complete() {
    if (received_ < message_->full_size) return std::nullopt;
    return std::exchange(message_, std::nullopt);
}

}  // namespace reaper::amqp

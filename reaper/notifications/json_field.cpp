#include "reaper/notifications/json_field.hpp"

#include <algorithm>
#include <cctype>

#include "reaper/model/text.hpp"

namespace reaper::amqp {
namespace {

using nlohmann::json;

/// Also finds U+0080 to U+009F, which terminals obey too.
bool has_control(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        if (c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next <= 0x9f)) return true;
    }
    return false;
}

/// Levels of brackets outside of strings; stops counting above `limit`.
int depth_of(std::string_view text, int limit) {
    int depth = 0;
    int deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size() && deepest <= limit; ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            deepest = std::max(deepest, ++depth);
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return deepest;
}

}  // namespace

json parse_json(std::string_view text, const std::string& what, int max_depth) {
    if (depth_of(text, max_depth) > max_depth) {
        throw BadField{what + " is nested deeper than " + std::to_string(max_depth) + " levels"};
    }
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        throw BadField{what + " is not JSON (at byte " + std::to_string(error.byte) + " of " +
                       std::to_string(text.size()) + ")"};
    } catch (const json::exception&) {
        throw BadField{what + " holds a number that is out of range"};
    }
}

bool is_uuid(std::string_view text) {
    bool good = text.size() == 36;
    for (std::size_t i = 0; good && i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        good = dash ? text[i] == '-' : std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
    }
    return good;
}

void JsonField::fail(const std::string& why) const {
    throw BadField{path_ + ": " + why};
}

JsonField JsonField::at(const std::string& key) const {
    if (!value_->is_object()) fail(std::string("expected an object, got ") + value_->type_name());
    const auto found = value_->find(key);
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (found == value_->end()) throw BadField{path + ": missing"};
    return {*found, path};
}

std::optional<JsonField> JsonField::maybe(const std::string& key) const {
    if (!value_->is_object()) fail(std::string("expected an object, got ") + value_->type_name());
    const auto found = value_->find(key);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return JsonField{*found, path_.empty() ? key : path_ + "." + key};
}

bool JsonField::is_nova_object() const {
    return value_->is_object() && value_->contains("nova_object.data");
}

JsonField JsonField::nova_data() const {
    const JsonField data = at("nova_object.data");
    if (!data.value().is_object()) data.fail("expected an object");
    return {data.value(), path_};
}

const std::string& JsonField::text(std::size_t max) const {
    if (!value_->is_string()) fail(std::string("expected a text, got ") + value_->type_name());
    const auto& text = value_->get_ref<const std::string&>();
    if (text.size() > max) fail("longer than " + std::to_string(max) + " bytes");
    return text;
}

const std::string& JsonField::name() const {
    const std::string& name = text(255);
    if (name.empty()) fail("is empty");
    if (has_control(name)) fail("holds control characters");
    return name;
}

const std::string& JsonField::uuid() const {
    const std::string& id = text(255);
    if (!is_uuid(id)) fail("expected a UUID, got '" + printable(id, 50) + "'");
    return id;
}

std::int64_t JsonField::integer(std::int64_t low, std::int64_t high) const {
    const std::string range =
        "expected an integer from " + std::to_string(low) + " to " + std::to_string(high);
    if (!value_->is_number_integer()) fail(range + ", got " + value_->type_name());
    const bool huge = value_->is_number_unsigned() &&
                      value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    const auto number = huge ? INT64_MAX : value_->get<std::int64_t>();
    if (number < low || number > high) fail(range + ", got " + value_->dump());
    return number;
}

}  // namespace reaper::amqp

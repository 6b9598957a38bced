#include "reaper/notifications/nova_json.hpp"

#include "reaper/json/json_text.hpp"
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

}  // namespace

json parse_json(std::string_view text) {
    if (is_too_deep(text))
        throw WrongJson{"the message is nested deeper than " + std::to_string(max_json_depth) +
                        " levels"};
    try {
        json message = json::parse(text);
        if (!message.is_object()) throw WrongJson{"the message is not a JSON object"};
        return message;
    } catch (const json::parse_error& error) {
        throw WrongJson{"the message is not JSON (at byte " + std::to_string(error.byte) + " of " +
                        std::to_string(text.size()) + ")"};
    } catch (const json::exception&) {
        throw WrongJson{"the message holds a number that is out of range"};
    }
}

JsonPlace nova_data(const JsonPlace& object) {
    const JsonPlace data = object["nova_object.data"];
    data.expect(data.value().is_object(), "an object");
    return object.holding(data.value());
}

std::map<std::string, std::string> image_in(const JsonPlace& object) {
    std::map<std::string, std::string> image;
    const JsonPlace data = nova_data(object);
    if (const auto format = data.maybe("disk_format"))
        image.emplace("disk_format", format->text(max_text_bytes));
    const auto properties = data.maybe("properties");
    if (!properties) return image;
    nova_data(*properties).each_member([&](const std::string& name, const JsonPlace& property) {
        if (property.is_text())
            image.emplace(name, property.text(max_text_bytes));
        else if (property.value().is_boolean())
            image.emplace(name, property.boolean() ? "true" : "false");
        else if (property.value().is_number_integer())
            image.emplace(name, std::to_string(property.integer()));
    });
    return image;
}

const std::string& name_in(const JsonPlace& place) {
    const std::string& name = place.text(255);
    if (name.empty()) place.fail("is empty");
    if (has_control(name)) place.fail("holds control characters");
    return name;
}

const std::string& uuid_in(const JsonPlace& place) {
    const std::string& id = place.text(255);
    if (!is_uuid(id)) place.fail("expected a UUID, found '" + printable(id, 50) + "'");
    return id;
}

}  // namespace reaper::amqp

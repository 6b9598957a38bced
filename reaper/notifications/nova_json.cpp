#include "reaper/notifications/nova_json.hpp"

#include <cstring>

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
        std::string copy;
        json message = json::parse(without_lone_surrogates(text, copy));
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

namespace {

constexpr std::string_view version_key = "oslo.version";
constexpr std::string_view message_key = "oslo.message";

void append_utf8(std::string& out, std::uint32_t code) {
    const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xc0U | (code >> 6U));
        byte(0x80U | (code & 0x3fU));
    } else if (code < 0x10000) {
        byte(0xe0U | (code >> 12U));
        byte(0x80U | ((code >> 6U) & 0x3fU));
        byte(0x80U | (code & 0x3fU));
    } else {
        byte(0xf0U | (code >> 18U));
        byte(0x80U | ((code >> 12U) & 0x3fU));
        byte(0x80U | ((code >> 6U) & 0x3fU));
        byte(0x80U | (code & 0x3fU));
    }
}

/// Goes through the members of the envelope, whose values are texts.
class EnvelopeScanner {
public:
    explicit EnvelopeScanner(std::string_view text) : text_(text) {}

    bool take(char c) {
        if (!at(c)) return false;
        ++at_;
        return true;
    }
    bool at_text() { return at('"'); }
    void expect(char c) {
        if (!take(c)) fail();
    }
    /// A text as it is written, escapes and all.
    std::string_view raw_text() {
        expect('"');
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
        if (at_ >= text_.size()) fail();
        return text_.substr(begin, at_++ - begin);
    }
    /// A text, unescaped.
    void text(std::string& out) {
        expect('"');
        for (;;) {
            const std::size_t end = text_.find_first_of("\"\\", at_);
            if (end == std::string_view::npos) fail();
            out.append(text_, at_, end - at_);
            at_ = end + 1;
            if (text_[end] == '"') return;
            escape(out);
        }
    }
    [[noreturn]] void fail() const {
        throw WrongJson{"the envelope is not JSON (at byte " + std::to_string(at_) + " of " +
                        std::to_string(text_.size()) + ")"};
    }

private:
    /// After white space.
    bool at(char c) {
        while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) && text_[at_]) ++at_;
        return at_ < text_.size() && text_[at_] == c;
    }
    void escape(std::string& out) {
        if (at_ >= text_.size()) fail();
        switch (const char c = text_[at_++]; c) {
            case '"':
            case '\\':
            case '/': out += c; return;
            case 'n': out += '\n'; return;
            case 't': out += '\t'; return;
            case 'r': out += '\r'; return;
            case 'b': out += '\b'; return;
            case 'f': out += '\f'; return;
            case 'u': append_utf8(out, code_point()); return;
            default: fail();
        }
    }
    std::uint32_t code_point() {
        const std::uint32_t first = four_digits();
        if (first < 0xd800 || first > 0xdfff) return first;
        if (first > 0xdbff || text_.substr(at_, 2) != "\\u") fail();
        at_ += 2;
        const std::uint32_t second = four_digits();
        if (second < 0xdc00 || second > 0xdfff) fail();
        return 0x10000 + ((first - 0xd800) << 10U) + (second - 0xdc00);
    }
    std::uint32_t four_digits() {
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i, ++at_) {
            const char c = at_ < text_.size() ? text_[at_] : '\0';
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (digit < 0) fail();
            value = value * 16 + static_cast<std::uint32_t>(digit);
        }
        return value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::string_view open_envelope(std::string_view body, std::string& buffer) {
    if (body.size() > max_message_bytes) throw WrongJson{"the message is larger than 8 MiB"};
    EnvelopeScanner in(body);
    if (!in.take('{')) throw WrongJson{"the message is not a JSON object"};
    bool versioned = false;
    bool found = false;
    do {
        const bool first = !versioned && !found;
        if (first && !in.at_text()) return body;
        const std::string_view key = in.raw_text();
        const bool known = key == version_key || key == message_key;
        if (first && !known) return body;
        in.expect(':');
        if (!in.at_text()) throw WrongJson{printable(key, 100) + ": expected a text"};
        if (key == message_key) {
            buffer.clear();
            in.text(buffer);
            found = true;
        } else if (const std::string_view value = in.raw_text(); key == version_key) {
            if (!value.starts_with("2."))
                throw WrongJson{"oslo.version: expected 2.0, found '" + printable(value, 20) + "'"};
            versioned = true;
        }
    } while (in.take(','));
    in.expect('}');
    if (!versioned) throw WrongJson{"oslo.version: missing"};
    if (!found) throw WrongJson{"oslo.message: missing"};
    return buffer;
}

}  // namespace reaper::amqp

// Writes JSON into a string, member by member, in the order of the calls: answers of thousands of
// servers are written without building a tree first.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reaper::cloudsim {

class JsonWriter {
public:
    JsonWriter& open_object() { return open('{'); }
    JsonWriter& close_object() { return close('}'); }
    JsonWriter& open_array() { return open('['); }
    JsonWriter& close_array() { return close(']'); }
    JsonWriter& open_object(std::string_view key) { return name(key).open('{'); }
    JsonWriter& open_array(std::string_view key) { return name(key).open('['); }

    JsonWriter& name(std::string_view key) {
        comma();
        quote(key);
        out_ += ':';
        fresh_ = true;
        return *this;
    }
    /// An empty text is null.
    JsonWriter& text_or_null(std::string_view key, std::string_view text) {
        name(key);
        return text.empty() ? value(nullptr) : value(text);
    }
    JsonWriter& value(std::string_view text) {
        comma();
        quote(text);
        return *this;
    }
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
    JsonWriter& value(bool yes) {
        comma();
        out_ += yes ? "true" : "false";
        return *this;
    }
    JsonWriter& value(std::integral auto number) {
        comma();
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, number);
        out_.append(digits, end.ptr);
        return *this;
    }
    /// Always with a point, as Python writes floats.
    JsonWriter& value(double number);
    JsonWriter& value(std::nullptr_t) {
        comma();
        out_ += "null";
        return *this;
    }
    template <class T>
    JsonWriter& value(const std::optional<T>& maybe) {
        return maybe ? value(*maybe) : value(nullptr);
    }
    template <class T>
    JsonWriter& member(std::string_view key, const T& what) {
        return name(key).value(what);
    }
    /// JSON that is already written.
    JsonWriter& raw(std::string_view json) {
        comma();
        out_ += json;
        return *this;
    }

    std::string take() { return std::move(out_); }
    std::string& text() { return out_; }

private:
    JsonWriter& open(char bracket) {
        comma();
        out_ += bracket;
        fresh_ = true;
        return *this;
    }
    JsonWriter& close(char bracket) {
        out_ += bracket;
        fresh_ = false;
        return *this;
    }
    void comma() {
        if (!fresh_) out_ += ',';
        fresh_ = false;
    }
    void quote(std::string_view text);

    std::string out_;
    bool fresh_ = true;
};

/// A list of texts.
template <class Texts>
JsonWriter& write_texts(JsonWriter& json, std::string_view key, const Texts& texts) {
    json.open_array(key);
    for (const auto& text : texts) json.value(text);
    return json.close_array();
}

/// A map of texts.
template <class Map>
JsonWriter& write_map(JsonWriter& json, std::string_view key, const Map& map) {
    json.open_object(key);
    for (const auto& [name, value] : map) json.member(name, value);
    return json.close_object();
}

}  // namespace reaper::cloudsim

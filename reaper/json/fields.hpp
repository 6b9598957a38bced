// The members of a type in JSON, each named once. A list of them is made in a .cpp file:
//
//   constexpr auto victim_fields = fields_of<Victim>([](auto& io, auto& victim) {
//       io.required("server", victim.server);
//       io.optional("workload", victim.workload);
//   });
//
// `victim_fields.write(victim)` is the object, `victim_fields.get(place)` the inverse, which throws
// WrongJson with the path of what is wrong. A list is itself a coder for members of its type.
//
// Coders say how a value stands in JSON. Of a vector, a set, an optional value or the values of a
// map, a coder is for the elements, unless it is for the whole container. Absent values are null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "reaper/json/json_place.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/shared.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// Texts, ids and numbers as they are, times as `2026-11-20T13:12:30.000Z`, words of enums,
/// resources as an object. Reads an `int` or `size_t` of 0 or more, resources of any amount.
struct PlainJson {
    static nlohmann::json write(const std::string& text);
    static nlohmann::json write(const char* text) { return write(std::string{text}); }
    static nlohmann::json write(const bool& value);
    static nlohmann::json write(const int& value);
    static nlohmann::json write(const std::int64_t& value);
    static nlohmann::json write(const std::size_t& value);
    static nlohmann::json write(const double& value);
    static nlohmann::json write(const TimePoint& time);
    static nlohmann::json write(const Resources& resources);
    template <class Tag>
    static nlohmann::json write(const Id<Tag>& id) {
        return write(id.str());
    }
    template <class Kind>
    requires std::is_enum_v<Kind>
    static nlohmann::json write(const Kind& kind) { return write(std::string{to_string(kind)}); }

    static void read(const JsonPlace& in, std::string& text) { text = in.text(); }
    static void read(const JsonPlace& in, SharedText& text) { text = in.text(); }
    static void read(const JsonPlace& in, bool& value) { value = in.boolean(); }
    static void read(const JsonPlace& in, int& value) { value = in.count(); }
    static void read(const JsonPlace& in, std::int64_t& value) { value = in.integer(); }
    static void read(const JsonPlace& in, double& value) { value = in.number(); }
    static void read(const JsonPlace& in, TimePoint& time) { time = in.time(); }
    static void read(const JsonPlace& in, std::size_t& value) {
        value = static_cast<std::size_t>(in.count());
    }
    static void read(const JsonPlace& in, Resources& resources) {
        resources = in.resources(std::numeric_limits<Amount>::min());
    }
    template <class Tag>
    static void read(const JsonPlace& in, Id<Tag>& id) {
        id = Id<Tag>{in.text()};
    }
};

/// As PlainJson, but refuses negative amounts, and ids and texts that are empty.
struct StrictJson : PlainJson {
    using PlainJson::read;
    static void read(const JsonPlace& in, std::string& text) { text = in.id(); }
    static void read(const JsonPlace& in, std::int64_t& value) { value = in.amount(); }
    static void read(const JsonPlace& in, Resources& resources) { resources = in.resources(); }
    template <class Tag>
    static void read(const JsonPlace& in, Id<Tag>& id) {
        id = Id<Tag>{in.id()};
    }
};
inline constexpr StrictJson strict_json{};

/// Words, by `to_string` and this inverse of it.
template <class Kind>
class JsonWords {
public:
    using From = std::optional<Kind> (*)(std::string_view);
    constexpr explicit JsonWords(From from) : from_(from) {}

    nlohmann::json write(const Kind& kind) const {
        return PlainJson::write(std::string{to_string(kind)});
    }
    void read(const JsonPlace& in, Kind& kind) const {
        const auto found = from_(in.text());
        if (!found) in.fail_unknown_word(in.text());
        kind = *found;
    }

private:
    From from_;
};

/// By functions.
template <class Value>
struct JsonCoder {
    nlohmann::json (*to)(const Value&);
    Value (*from)(const JsonPlace&);

    nlohmann::json write(const Value& value) const { return to(value); }
    void read(const JsonPlace& in, Value& value) const { value = from(in); }
};

// Not inline: what is made of JSON values is long to compile.
nlohmann::json empty_object();
nlohmann::json empty_list();
void set_member(nlohmann::json& object, const std::string& name, nlohmann::json value);
void add_element(nlohmann::json& list, nlohmann::json value);

/// The text of a key, which is a text, an id or a word.
template <class Key>
std::string key_text(const Key& key) {
    if constexpr (requires { key.str(); })
        return key.str();
    else if constexpr (std::is_enum_v<Key>)
        return std::string{to_string(key)};
    else
        return key;
}

template <class Value, class Coder>
nlohmann::json json_of_value(const Value& value, const Coder& coder) {
    if constexpr (requires { coder.write(value); }) {
        return coder.write(value);
    } else if constexpr (requires { value.has_value(); }) {
        return value ? json_of_value(*value, coder) : nlohmann::json(nullptr);
    } else if constexpr (requires { value.begin()->second; }) {
        nlohmann::json object = empty_object();
        for (const auto& [key, each] : value)
            set_member(object, key_text(key), json_of_value(each, coder));
        return object;
    } else {
        nlohmann::json list = empty_list();
        for (const auto& each : value) add_element(list, json_of_value(each, coder));
        return list;
    }
}

template <class Container, class Coder>
void read_value(const JsonPlace& in, Shared<Container>& value, const Coder& coder);

template <class Value, class Coder>
void read_value(const JsonPlace& in, Value& value, const Coder& coder) {
    if constexpr (requires { coder.read(in, value); }) {
        coder.read(in, value);
    } else if constexpr (requires { value.has_value(); }) {
        value.reset();
        if (!in.is_null()) read_value(in, value.emplace(), coder);
    } else if constexpr (requires { typename Value::mapped_type; }) {
        Value all;
        in.each_member([&](const std::string& name, const JsonPlace& place) {
            typename Value::mapped_type each{};
            read_value(place, each, coder);
            all.emplace(typename Value::key_type{name}, std::move(each));
        });
        value = std::move(all);
    } else {
        Value all;
        in.each([&](const JsonPlace& place) {
            typename Value::value_type each{};
            read_value(place, each, coder);
            all.insert(all.end(), std::move(each));
        });
        value = std::move(all);
    }
}

template <class Container, class Coder>
void read_value(const JsonPlace& in, Shared<Container>& value, const Coder& coder) {
    Container all;
    read_value(in, all, coder);
    value = std::move(all);
}

template <class Value>
bool is_nothing(const Value& value) {
    if constexpr (requires { value.has_value(); })
        return !value.has_value();
    else if constexpr (requires { value.empty(); })
        return value.empty();
    else
        return value == Value{};
}

/// What a list is called with. `Io` has `member(name, value, coder, must_be, is_there)`: must it be
/// there to be read, and is it written?
template <class Io>
class FieldIo {
public:
    /// Is always there.
    template <class Value, class Coder = PlainJson>
    void required(const char* name, Value& value, const Coder& coder = {}) {
        self().member(name, value, coder, true, true);
    }
    /// Is always written; if it is not there to be read, it stays as it was.
    template <class Value, class Coder = PlainJson>
    void lenient(const char* name, Value& value, const Coder& coder = {}) {
        self().member(name, value, coder, false, true);
    }
    /// The same, but is left out where it is empty, absent, false or zero.
    template <class Value, class Coder = PlainJson>
    void optional(const char* name, Value& value, const Coder& coder = {}) {
        self().member(name, value, coder, false, !is_nothing(value));
    }
    /// The same, but is left out unless `there`.
    template <class Value, class Coder = PlainJson>
    void given(bool there, const char* name, Value& value, const Coder& coder = {}) {
        self().member(name, value, coder, false, there);
    }
    /// Is written, and not read.
    void constant(const char* /*name*/, const auto& /*value*/) {}

private:
    Io& self() { return static_cast<Io&>(*this); }
};

class FieldWriter : public FieldIo<FieldWriter> {
public:
    void member(const char* name, const auto& value, const auto& coder, bool /*must_be*/,
                bool is_there) {
        if (is_there) set_member(object, name, json_of_value(value, coder));
    }
    void constant(const char* name, const auto& value) {
        set_member(object, name, PlainJson::write(value));
    }

    nlohmann::json object = empty_object();
};

class FieldReader : public FieldIo<FieldReader> {
public:
    explicit FieldReader(const JsonPlace& in) : in_(in) {}

    void member(const char* name, auto& value, const auto& coder, bool must_be, bool /*is_there*/) {
        if (must_be)
            read_value(in_[name], value, coder);
        else if (const auto found = in_.maybe(name))
            read_value(*found, value, coder);
    }

private:
    const JsonPlace& in_;
};

/// The members of a type, in the order in which they are read.
template <class Type, class List>
struct Fields {
    List list;

    nlohmann::json write(const Type& value) const {
        FieldWriter writer;
        list(writer, value);
        return std::move(writer.object);
    }
    /// What is not there stays as it is in `value`.
    void read(const JsonPlace& in, Type& value) const {
        FieldReader reader(in);
        list(reader, value);
    }
    /// Calls the list with something else than a reader or writer.
    void each(auto& io, Type& value) const { list(io, value); }
    Type get(const JsonPlace& in) const {
        Type value{};
        read(in, value);
        return value;
    }
};

template <class Type, class List>
constexpr Fields<Type, List> fields_of(List list) {
    return {list};
}

}  // namespace reaper

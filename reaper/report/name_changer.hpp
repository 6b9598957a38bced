// Replaces the names of users and things in what the reaper knows of a cloud, each kind of name
// by a rule of the caller's. What is not known to be safe is replaced, or left out.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "reaper/json/fields.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/rooms/ledger.hpp"
#include "tagging/tagger.hpp"

namespace reaper::report {

enum class NameKind {
    machine,
    provider,
    consumer,
    project,
    request,
    server,
    flavor,
    zone,
    aggregate,
    key,
    value,
    tag,
    project_tag,
    spec,
    image,
};
inline constexpr int name_kinds = 15;

/// In the place of free text.
inline constexpr const char* left_out = "left out: anonymous";

/// What stands in the place of `original`: a UUID for a UUID (also as 32 digits, and after `req-`),
/// else a word of the kind and `digits`. Those are hexadecimal, 22 at most; those that lack are
/// zeros before them.
std::string pseudonym(NameKind kind, const std::string& original, std::string digits);

class NameChanger {
public:
    /// Never called with an empty name; the same for the same, always.
    using Rename = std::function<std::string(NameKind, const std::string&)>;

    explicit NameChanger(Rename rename) : rename_(std::move(rename)) {}

    void change(Host& host) const;
    void change(TagData& tag_data) const;
    void change(Ledger& ledger) const;
    void change(Request& request) const;
    void change(Decision& decision) const;

    std::string of(NameKind kind, const std::string& original) const;
    std::string of(NameKind kind, const SharedText& original) const {
        return of(kind, original.str());
    }
    template <class IdType>
    IdType of(NameKind kind, const IdType& id) const {
        return IdType{of(kind, id.str())};
    }

    HostAggregates aggregates(const HostAggregates& all) const;
    /// Extra specs of a flavor.
    std::map<std::string, std::string> specs(const std::map<std::string, std::string>& all) const;
    template <class Names>
    Names all_of(NameKind kind, const Names& originals) const {
        Names all;
        for (const auto& original : originals) all.insert(all.end(), of(kind, original));
        return all;
    }

private:
    Rename rename_;
};

// Makes a list of fields (reaper/json/fields.hpp) anonymous: its coders say what each text names. A
// text or an id of which that is not said does not compile.

/// Names something of this kind.
template <NameKind kind, class Coder = PlainJson>
struct NamedJson : Coder {
    static void rename(const NameChanger& changer, std::string& name) {
        name = changer.of(kind, name);
    }
    static void rename(const NameChanger& changer, SharedText& name) {
        name = changer.of(kind, name);
    }
    template <class Tag>
    static void rename(const NameChanger& changer, Id<Tag>& id) {
        id = changer.of(kind, id);
    }
};
template <NameKind kind, class Coder = PlainJson>
inline constexpr NamedJson<kind, Coder> named{};

/// Of a map: its keys name something of this kind.
template <NameKind kind, class Coder>
struct KeyedJson : Coder {
    static constexpr NameKind key_kind = kind;
};
template <NameKind kind, class Coder>
constexpr KeyedJson<kind, Coder> keyed(const Coder& coder) {
    return {coder};
}

/// Is kept as it is: it holds no name.
template <class Coder>
struct NoNameJson : Coder {
    static void rename(const NameChanger& /*changer*/, auto& /*value*/) {}
};
template <class Coder>
constexpr NoNameJson<Coder> no_name_as(const Coder& coder) {
    return {coder};
}
inline constexpr NoNameJson<PlainJson> no_name{};

/// Has names within, of which the changer knows.
template <class Coder>
struct ChangedJson : Coder {
    static void rename(const NameChanger& changer, auto& value) { changer.change(value); }
};
template <class Coder>
constexpr ChangedJson<Coder> changed_as(const Coder& coder) {
    return {coder};
}

/// May say anything: is emptied.
template <class Coder>
struct ClearedJson : Coder {
    static void rename(const NameChanger& /*changer*/, auto& value) { value = {}; }
};
template <class Coder>
constexpr ClearedJson<Coder> cleared_as(const Coder& coder) {
    return {coder};
}
inline constexpr ClearedJson<PlainJson> cleared{};

/// May say anything: is replaced by words.
struct LeftOutJson : PlainJson {
    bool always = true;  ///< also where it is empty
    const char* words = left_out;

    template <class Text>
    requires(std::is_same_v<Text, std::string> ||
             std::is_same_v<Text, SharedText>) void rename(const NameChanger& /*changer*/,
                                                           Text& text) const {
        if (always || !text.empty()) text = words;
    }
};
inline constexpr LeftOutJson left_out_json{};

/// Extra specs of a flavor.
struct SpecsJson : PlainJson {
    static void rename(const NameChanger& changer, std::map<std::string, std::string>& specs) {
        specs = changer.specs(specs);
    }
};

/// What a list is called with.
class NameWalk : public FieldIo<NameWalk> {
public:
    explicit NameWalk(const NameChanger& changer) : changer_(changer) {}

    void member(const char* /*name*/, auto& value, const auto& coder, bool /*must_be*/,
                bool /*is_there*/) {
        change(value, coder);
    }

private:
    template <class Value>
    static constexpr bool names_nothing =
        std::is_arithmetic_v<Value> || std::is_enum_v<Value> || std::is_same_v<Value, TimePoint> ||
        std::is_same_v<Value, Resources> || std::is_same_v<Value, Trait> ||
        std::is_same_v<Value, Phases>;

    template <class Container, class Coder>
    void change(Shared<Container>& value, const Coder& coder) {
        if constexpr (requires { coder.rename(changer_, value); }) {
            coder.rename(changer_, value);
        } else {
            Container all = value.get();
            change(all, coder);
            value = std::move(all);
        }
    }

    template <class Value, class Coder>
    void change(Value& value, const Coder& coder) {
        if constexpr (requires { coder.rename(changer_, value); }) {
            coder.rename(changer_, value);
        } else if constexpr (requires { coder.each(*this, value); }) {
            coder.each(*this, value);
        } else if constexpr (names_nothing<Value>) {
        } else if constexpr (requires { value.has_value(); }) {
            if (value) change(*value, coder);
        } else if constexpr (requires { typename Value::mapped_type; }) {
            Value all;
            for (auto& [key, each] : value) {
                change(each, coder);
                all.emplace(changer_.of(Coder::key_kind, key), std::move(each));
            }
            value = std::move(all);
        } else if constexpr (requires { value.insert(value.end(), *value.begin()); }) {
            static_assert(!std::is_same_v<Value, std::string>, "say what the text names");
            if constexpr (std::is_const_v<std::remove_reference_t<decltype(*value.begin())>>) {
                Value all;
                for (auto each : value) {
                    change(each, coder);
                    all.insert(std::move(each));
                }
                value = std::move(all);
            } else {
                for (auto& each : value) change(each, coder);
            }
        } else {
            static_assert(names_nothing<Value>, "say what it names");
        }
    }

    const NameChanger& changer_;
};

}  // namespace reaper::report

// Reads JSON that people or other programs wrote: whatever is wrong is named by its place, such as
// `hosts[3].servers[17].created`.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// `hosts[3].name: expected a text, found null`. The reader of the document catches it.
struct WrongJson {
    std::string what;
    Errc code = Errc::bad_answer;
};

/// A value and how it was reached. The path is put together only when something is wrong. Refers to
/// the document, to the names and to the place that it came from; all must outlive it: no member of
/// a place that has no name (but for one that is reached by `->`, which is never stored).
class JsonPlace {
public:
    static constexpr std::size_t no_index = std::string_view::npos;

    /// A document, or the part of one that is called `name` or `name[index]`.
    explicit JsonPlace(const nlohmann::json& value, std::string_view name = {},
                       std::size_t index = no_index)
        : value_(&value), name_(name), index_(index) {}
    /// The same place, as if it held the value.
    JsonPlace holding(const nlohmann::json& value) const;

    const nlohmann::json& value() const { return *value_; }
    std::string path() const;
    [[noreturn]] void fail(const std::string& why) const;
    [[noreturn]] void fail_unknown_word(const std::string& word) const;
    /// Fails with what there should be, unless it is met.
    void expect(bool met, const char* what) const;

    /// The member; fails if this is no object or has no such member.
    JsonPlace operator[](std::string_view name) const&;
    JsonPlace operator[](std::string_view name) const&& = delete;
    /// The member, unless it is absent or null.
    std::optional<JsonPlace> maybe(std::string_view name) const&;
    std::optional<JsonPlace> maybe(std::string_view name) const&& = delete;
    /// Is the member there, and not null?
    bool has(std::string_view name) const { return this->maybe(name).has_value(); }
    /// `visit(name, place)` for each member.
    template <class Visit>
    void each_member(Visit visit) const {
        visit_members([](void* with, const std::string& name,
                         const JsonPlace& member) { (*static_cast<Visit*>(with))(name, member); },
                      &visit);
    }
    /// `visit(place)` for each element.
    template <class Visit>
    void each(Visit visit) const {
        visit_elements(
            [](void* with, const JsonPlace& element) { (*static_cast<Visit*>(with))(element); },
            &visit);
    }

    /// What `read(place)` makes of each element.
    template <class Read>
    auto list(Read read) const {
        std::vector<std::decay_t<decltype(read(*this))>> all;
        each([&](const JsonPlace& element) { all.push_back(read(element)); });
        return all;
    }

    bool is_null() const { return value_->is_null(); }
    bool is_text() const { return value_->is_string(); }
    bool is_group() const { return value_->is_object(); }
    /// A text of at most so many bytes.
    const std::string& text(std::size_t most = std::string::npos) const;
    /// A text that is not empty.
    const std::string& id() const;
    bool boolean() const;
    std::int64_t integer(std::int64_t low = std::numeric_limits<std::int64_t>::min(),
                         std::int64_t high = std::numeric_limits<std::int64_t>::max()) const;
    /// One that is not negative.
    Amount amount() const { return integer(0); }
    int count(int low = 0, int high = std::numeric_limits<int>::max()) const {
        return static_cast<int>(integer(low, high));
    }
    double number() const;
    TimePoint time() const;
    std::optional<TimePoint> time_or_null() const;

    /// Of members that may be absent or null.
    std::string text_or_empty(std::string_view name) const;
    bool boolean_or(std::string_view name, bool otherwise) const;

    std::map<std::string, std::string> text_map() const;
    std::set<std::string> text_set() const;
    std::vector<std::string> texts() const;
    /// Class to amount.
    Resources resources(Amount least = 0) const;

private:
    // No templates: the loops over JSON are long to compile.
    void visit_members(void (*visit)(void* with, const std::string& name, const JsonPlace& member),
                       void* with) const;
    void visit_elements(void (*visit)(void* with, const JsonPlace& element), void* with) const;
    JsonPlace below(const nlohmann::json& value, std::string_view name,
                    std::size_t index = no_index) const;

    const nlohmann::json* value_;
    const JsonPlace* above_ = nullptr;
    std::string_view name_;
    std::size_t index_;
};

}  // namespace reaper

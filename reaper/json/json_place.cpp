#include "reaper/json/json_place.hpp"

#include "reaper/model/text.hpp"

namespace reaper {

JsonPlace JsonPlace::holding(const nlohmann::json& value) const {
    JsonPlace place = *this;
    place.value_ = &value;
    return place;
}

JsonPlace JsonPlace::below(const nlohmann::json& value, std::string_view name,
                           std::size_t index) const {
    JsonPlace place(value, name, index);
    place.above_ = this;
    return place;
}

std::string JsonPlace::path() const {
    std::string path = above_ == nullptr ? std::string() : above_->path();
    if (!path.empty() && index_ == no_index) path += '.';
    path += printable(name_, 100);
    if (index_ != no_index) path += '[' + std::to_string(index_) + ']';
    return path;
}

void JsonPlace::fail(const std::string& why) const {
    const std::string where = path();
    throw WrongJson{where.empty() ? why : where + ": " + why};
}

void JsonPlace::fail_unknown_word(const std::string& word) const {
    fail("unknown word '" + printable(word, 50) + "'");
}

void JsonPlace::expect(bool met, const char* what) const {
    if (!met) fail(std::string("expected ") + what + ", found " + value_->type_name());
}

JsonPlace JsonPlace::operator[](std::string_view name) const& {
    expect(value_->is_object(), "an object");
    const auto found = value_->find(name);
    if (found == value_->end()) below(*value_, name).fail("missing");
    return below(*found, name);
}

std::optional<JsonPlace> JsonPlace::maybe(std::string_view name) const& {
    expect(value_->is_object(), "an object");
    const auto found = value_->find(name);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return below(*found, name);
}

void JsonPlace::visit_members(void (*visit)(void* with, const std::string& name,
                                            const JsonPlace& member),
                              void* with) const {
    expect(value_->is_object(), "an object");
    for (auto member = value_->begin(); member != value_->end(); ++member)
        visit(with, member.key(), below(*member, member.key()));
}

void JsonPlace::visit_elements(void (*visit)(void* with, const JsonPlace& element),
                               void* with) const {
    expect(value_->is_array(), "a list");
    std::size_t index = 0;
    for (const auto& element : *value_) visit(with, below(element, {}, index++));
}

const std::string& JsonPlace::text(std::size_t most) const {
    expect(is_text(), "a text");
    const auto& found = value_->get_ref<const std::string&>();
    if (found.size() > most) fail("longer than " + std::to_string(most) + " bytes");
    return found;
}

const std::string& JsonPlace::id() const {
    const std::string& found = text();
    if (found.empty()) fail("is empty");
    return found;
}

bool JsonPlace::boolean() const {
    expect(value_->is_boolean(), "true or false");
    return value_->get<bool>();
}

std::int64_t JsonPlace::integer(std::int64_t low, std::int64_t high) const {
    expect(value_->is_number_integer(), "a whole number");
    const bool huge = value_->is_number_unsigned() &&
                      value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    const auto found = value_->get<std::int64_t>();
    if (huge || found < low || found > high)
        fail("expected a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
             ", found " + value_->dump());
    return found;
}

double JsonPlace::number() const {
    expect(value_->is_number(), "a number");
    return value_->get<double>();
}

TimePoint JsonPlace::time() const {
    const auto found = parse_time(text());
    if (!found)
        fail("expected a time such as 2026-11-20T13:12:30Z, found '" + printable(text(), 50) + "'");
    return *found;
}

std::optional<TimePoint> JsonPlace::time_or_null() const {
    return is_null() ? std::nullopt : std::optional(time());
}

std::string JsonPlace::text_or_empty(std::string_view name) const {
    const auto found = maybe(name);
    return found ? found->text() : std::string();
}

bool JsonPlace::boolean_or(std::string_view name, bool otherwise) const {
    const auto found = maybe(name);
    return found ? found->boolean() : otherwise;
}

std::map<std::string, std::string> JsonPlace::text_map() const {
    std::map<std::string, std::string> all;
    each_member(
        [&](const std::string& name, const JsonPlace& value) { all.emplace(name, value.text()); });
    return all;
}

std::set<std::string> JsonPlace::text_set() const {
    std::set<std::string> all;
    each([&](const JsonPlace& each) { all.insert(each.text()); });
    return all;
}

std::vector<std::string> JsonPlace::texts() const {
    return list([](const JsonPlace& each) { return each.text(); });
}

Resources JsonPlace::resources(Amount least) const {
    Resources all;
    each_member([&](const std::string& name, const JsonPlace& amount) {
        all.set(ResourceClass{name}, amount.integer(least));
    });
    return all;
}

}  // namespace reaper

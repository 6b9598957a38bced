#include "reaper/json/json_parts.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

using nlohmann::json;

/// Gets nlohmann's parse events, and puts together the wanted parts.
class PartCollector final : public json::json_sax_t {
public:
    PartCollector(const JsonParts& parts, std::size_t bytes) : parts_(parts), bytes_(bytes) {}

    json take() { return std::move(document_); }

    bool null() override { return scalar(nullptr); }
    bool boolean(bool value) override { return scalar(value); }
    bool number_integer(number_integer_t value) override { return scalar(value); }
    bool number_unsigned(number_unsigned_t value) override { return scalar(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override {
        return scalar(value);
    }
    bool string(string_t& value) override { return scalar(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }  // JSON has none
    bool start_object(std::size_t /*elements*/) override { return open(json::object()); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t /*elements*/) override { return open(json::array()); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        Frame& object = open_.back();
        object.key = std::move(name);
        const bool twice = open_.size() == 1
                               ? !members_.insert(object.key).second
                               : object.value != nullptr && object.value->contains(object.key);
        if (twice) throw WrongJson{path() + ": is there twice"};
        return true;
    }

    bool parse_error(std::size_t byte, const std::string& /*token*/,
                     const nlohmann::detail::exception& error) override {
        constexpr int number_out_of_range = 406;
        if (error.id == number_out_of_range) throw WrongJson{"a number is out of range"};
        throw WrongJson{"not JSON (at byte " + std::to_string(byte) + " of " +
                        std::to_string(bytes_) + ")"};
    }

private:
    /// A list or object that has begun.
    struct Frame {
        json* value = nullptr;  ///< null: it is not kept
        bool object = false;
        bool handed_out = false;
        std::size_t held_before = 0;  ///< values, besides the elements
        std::string name{};           ///< for whom it is handed out
        std::size_t index = 0;        ///< of the element that comes
        std::string key{};            ///< of the member that comes
    };

    void count() {
        if (++values_ <= parts_.free_values || values_ <= bytes_ / parts_.bytes_for_value) return;
        throw WrongJson{"holds too many values for its size (more than one in " +
                        std::to_string(parts_.bytes_for_value) + " bytes)"};
    }

    void hold() {
        if (++held_ <= parts_.max_held_values) return;
        throw WrongJson{path() + ": more than " + std::to_string(parts_.max_held_values) +
                        " values in one place"};
    }

    /// Where the value that comes is put; null: nowhere.
    json* place(json value) {
        if (open_.empty() || open_.back().handed_out || open_.back().value != nullptr) hold();
        if (open_.empty()) return value.is_object() ? &(document_ = std::move(value)) : nullptr;
        Frame& in = open_.back();
        if (in.handed_out) return &(element_ = std::move(value));
        if (in.value == nullptr) return nullptr;
        if (in.object) return &((*in.value)[in.key] = std::move(value));
        in.value->push_back(std::move(value));
        return &in.value->back();
    }

    bool scalar(json value) {
        count();
        const bool member = open_.size() == 1 && open_.back().object;
        if (member && !parts_.keeps(open_.back().key)) return true;
        json* const at = place(std::move(value));
        if (at != nullptr && member) parts_.plain(open_.back().key, *at);
        came();
        return true;
    }

    bool open(json value) {
        count();
        if (open_.size() >= static_cast<std::size_t>(parts_.max_depth))
            throw WrongJson{"nested deeper than " + std::to_string(parts_.max_depth) + " levels"};
        Frame frame;
        frame.object = value.is_object();
        const bool member = open_.size() == 1 && open_.back().object;
        if (!member || parts_.keeps(open_.back().key)) frame.value = place(std::move(value));
        const bool shallow = !open_.empty() && open_.size() <= 2 && open_.back().object;
        if (shallow && frame.value != nullptr && parts_.hands_out(path())) {
            frame.name = path();
            frame.handed_out = !frame.object;
            frame.held_before = held_;
            frame.value = nullptr;
        }
        open_.push_back(std::move(frame));
        return true;
    }

    bool close() {
        open_.pop_back();
        came();
        return true;
    }

    /// A value is there whole.
    void came() {
        if (open_.empty()) return;
        Frame& in = open_.back();
        if (in.handed_out) {
            parts_.element(in.name, in.index, element_);
            element_ = nullptr;
            held_ = in.held_before;
        }
        ++in.index;
    }

    std::string path() const {
        std::string path;
        for (const Frame& frame : open_)
            path += frame.object ? (path.empty() ? "" : ".") + printable(frame.key, 100)
                                 : "[" + std::to_string(frame.index) + "]";
        return path;
    }

    const JsonParts& parts_;
    const std::size_t bytes_;
    std::size_t values_ = 0;
    std::size_t held_ = 0;  // of them, those that are in memory
    std::vector<Frame> open_;
    std::set<std::string> members_;  // of the document
    json document_;
    json element_;
};

/// The parser keeps a text whole, and more than once, before it reports it.
void check_texts(std::string_view text, std::size_t most) {
    constexpr auto none = std::string_view::npos;
    for (std::size_t at = text.find('"'); at != none; at = text.find('"', at)) {
        const std::size_t start = ++at;
        for (at = text.find_first_of("\"\\", at); at != none && text[at] == '\\';
             at = text.find_first_of("\"\\", at + 2)) {
        }
        const std::size_t end = std::min(at, text.size());
        if (end - start > most)
            throw WrongJson{"a text of more than " + std::to_string(most) + " bytes (at byte " +
                            std::to_string(start) + " of " + std::to_string(text.size()) + ")"};
        if (at == none) return;
        ++at;
    }
}

}  // namespace

json read_json_parts(std::string_view text, const JsonParts& parts) {
    check_texts(text, parts.max_text);
    PartCollector collector{parts, text.size()};
    json::sax_parse(text, &collector);
    return collector.take();
}

}  // namespace reaper

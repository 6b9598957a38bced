#include "reaper/reservations/reservation_order.hpp"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <charconv>
#include <string_view>
#include <utility>

#include "reaper/model/resources_text.hpp"
#include "reaper/reservations/record_fields.hpp"

namespace reaper {
namespace {

/// Names of orders, and of nothing else.
constexpr boost::uuids::uuid all_orders{{0x3c, 0x52, 0x8e, 0x01, 0x77, 0x1b, 0x49, 0xd4, 0xa6, 0x0f,
                                         0x1e, 0x92, 0x58, 0xcb, 0x04, 0x6d}};
constexpr std::size_t key_digits = 8, content_digits = 8;

std::string digest(const std::string& text, std::size_t digits) {
    boost::uuids::name_generator_sha1 generate{all_orders};
    return boost::uuids::to_string(generate(text)).substr(0, digits);
}

void append_name(std::string& text, const ReservationName& name, char role, char label) {
    append_field(text, role, escaped(name.role.str()));
    for (const auto& [key, value] : name.labels)
        append_field(text, label, escaped(key) + "=" + escaped(value));
}

std::string line_of(const ReservationOrder& order) {
    std::string text;
    const auto* const reserves = std::get_if<ReserveOrder>(&order);
    append_field(text, 'o', reserves != nullptr ? "reserve" : "unreserve");
    const auto common = [&](const auto& each) {
        append_field(text, 'h', escaped(each.host.str()));
        append_name(text, each.name, 'r', 'l');
        append_field(text, 'a', amounts_field(each.resources));
    };
    std::visit(common, order);
    if (reserves == nullptr) {
        const auto& gives = std::get<UnreserveOrder>(order);
        if (gives.lent_too) append_field(text, 'e', "");
        if (gives.unrefined) append_field(text, 'u', "");
        if (gives.reserver) append_field(text, 'p', escaped(*gives.reserver));
        if (gives.refines) append_name(text, *gives.refines, 'f', 'g');
        return text;
    }
    if (reserves->refines) append_name(text, *reserves->refines, 'f', 'g');
    if (!reserves->lending) return text;
    append_field(text, 'y', reserves->lending->lend ? "lend" : "keep");
    if (!reserves->lending->floor.empty())
        append_field(text, 'm', amounts_field(reserves->lending->floor));
    append_field(text, 't', std::to_string(reserves->lending->longest.count()));
    return text;
}

/// All that a line may say.
struct Line {
    bool reserves = false;
    HostId host;
    ReservationName name;
    Resources resources;
    std::optional<ReservationName> refines;
    std::optional<LendingPolicy> lending;
    bool lent_too = false;
    bool unrefined = false;
    std::optional<std::string> reserver;
};

bool read_role(ReservationName& name, std::string_view value) {
    const auto text = unescaped(value);
    auto role = Role::parse(text.value_or(""));
    if (role) name.role = std::move(*role);
    return role.has_value();
}

bool read_label(ReservationName& name, std::string_view value) {
    const auto middle = value.find('=');
    if (middle == value.npos) return false;
    auto key = unescaped(value.substr(0, middle));
    auto word = unescaped(value.substr(middle + 1));
    return key && word && name.labels.emplace(std::move(*key), std::move(*word)).second;
}

bool read_amounts(Resources& into, std::string_view value) {
    auto read = parse_resources(value);
    if (read) into = std::move(*read);
    return read.has_value();
}

bool read_duration(Duration& into, std::string_view value) {
    Duration::rep amount = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), amount);
    into = Duration{amount};
    return error == std::errc{} && end == value.data() + value.size();
}

bool read_field(Line& line, char name, std::string_view value) {
    switch (name) {
        case 'o': line.reserves = value == "reserve"; return line.reserves || value == "unreserve";
        case 'h': {
            auto host = unescaped(value);
            if (host) line.host = HostId{std::move(*host)};
            return host.has_value();
        }
        case 'r': return read_role(line.name, value);
        case 'l': return read_label(line.name, value);
        case 'a': return read_amounts(line.resources, value);
        case 'f': return read_role(line.refines.emplace(), value);
        case 'g': return line.refines && read_label(*line.refines, value);
        case 'y': line.lending.emplace().lend = value == "lend"; return true;
        case 'm': return line.lending && read_amounts(line.lending->floor, value);
        case 't': return line.lending && read_duration(line.lending->longest, value);
        case 'e': return line.lent_too = true;
        case 'u': return line.unrefined = true;
        case 'p': line.reserver = unescaped(value); return line.reserver.has_value();
        default: return false;
    }
}

ReservationOrder order_of(Line line) {
    if (line.reserves) {
        ReserveOrder order;
        order.host = std::move(line.host);
        order.name = std::move(line.name);
        order.resources = std::move(line.resources);
        order.refines = std::move(line.refines);
        order.lending = std::move(line.lending);
        return order;
    }
    UnreserveOrder order;
    order.host = std::move(line.host);
    order.name = std::move(line.name);
    order.resources = std::move(line.resources);
    order.lent_too = line.lent_too;
    order.unrefined = line.unrefined;
    order.reserver = std::move(line.reserver);
    order.refines = std::move(line.refines);
    return order;
}

}  // namespace

const HostId& host_of(const ReservationOrder& order) {
    return std::visit([](const auto& each) -> const HostId& { return each.host; }, order);
}

bool any_lent_too(const std::vector<ReservationOrder>& orders) {
    return std::any_of(orders.begin(), orders.end(), [](const ReservationOrder& order) {
        const auto* const gives = std::get_if<UnreserveOrder>(&order);
        return gives != nullptr && gives->lent_too;
    });
}

std::vector<ReservationOrder> without_lent(std::vector<ReservationOrder> orders) {
    for (ReservationOrder& order : orders)
        if (auto* const gives = std::get_if<UnreserveOrder>(&order)) gives->lent_too = false;
    return orders;
}

std::string text_of_orders(const std::vector<ReservationOrder>& orders) {
    std::string text;
    for (const ReservationOrder& order : orders) {
        if (!text.empty()) text += '\n';
        text += line_of(order);
    }
    return text;
}

Result<std::vector<ReservationOrder>> parse_orders(const std::string& text) {
    std::vector<ReservationOrder> orders;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view written = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(written.size());
        if (!rest.empty()) rest.remove_prefix(1);
        Line line;
        const auto read = [&](char name, std::string_view value) {
            return read_field(line, name, value);
        };
        if (!each_field(written, read) || line.host.empty() || line.resources.empty())
            return Error{Errc::bad_input, "an order can't be read"};
        orders.push_back(order_of(std::move(line)));
    }
    return orders;
}

std::string mark_of_order(const std::string& principal, const std::string& key,
                          const std::string& content) {
    if (key.empty()) return {};
    const std::string of_key = std::to_string(principal.size()) + principal + key;
    return digest("key" + of_key, key_digits) + digest("content" + content, content_digits);
}

bool same_key(const std::string& mark, const std::string& other) {
    return !mark.empty() && mark.substr(0, key_digits) == other.substr(0, key_digits);
}

}  // namespace reaper

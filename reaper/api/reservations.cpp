#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "reaper/api/answers.hpp"
#include "reaper/api/handlers.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/json/fields.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"

namespace reaper::api {
namespace {

using nlohmann::json;

constexpr const char* example =
    R"({"reservations": [{"host": "compute-1", "role": "eng", "resources": {"VCPU": 8}}]})";
constexpr std::size_t most_text = 255;
constexpr std::size_t most_orders = 100;       ///< in one body
constexpr std::size_t all_in_one = 1'000'000;  ///< without a limit

int status_of(Errc code) {
    switch (code) {
        case Errc::bad_input: return 400;
        case Errc::forbidden: return 403;
        case Errc::not_found: return 404;
        case Errc::conflict: return 409;
        default: return 503;
    }
}

HttpResponse refusal_for(const Error& error) {
    return api::refuse(status_of(error.code), error.what);
}

// ---- reading ----

[[noreturn]] void fail(Errc code, const std::string& what) {
    throw WrongJson{what, code};
}

/// Unknown members are mistakes: what they were to say would not be done.
void expect_only(const JsonPlace& place, const std::set<std::string_view>& known) {
    place.each_member([&](const std::string& name, const JsonPlace& member) {
        if (!known.contains(name)) member.fail("it is not known here");
    });
}

struct Known {
    const CloudCache& cache;
    const ReservationController& reservations;
};

HostId host_of(const JsonPlace& place, const Known& known) {
    const std::string& text = place.id();
    const CloudCache& cache = known.cache;
    // Of a host that is gone, reservations may be given up.
    if (known.reservations.has_on(HostId{text})) return HostId{text};
    if (const Host* const host = cache.find(HostId{text})) return host->id;
    const auto found = host_named(cache.hosts(), text);
    if (!found) fail(found.error().code, found.error().what);
    return (*found)->id;
}

/// `{"why": "peak"}`, or pairs: `[{"key": "why", "value": "peak"}]`. A key may have no value.
Labels labels_of(const JsonPlace& place) {
    Labels labels;
    const auto add = [&](const JsonPlace& at, const std::string& key, const JsonPlace* value) {
        if (key.empty()) at.fail("a label has a key that is not empty");
        const bool none = value == nullptr || value->is_null();
        if (!labels.emplace(key, none ? std::string{} : value->text(most_text)).second)
            at.fail("label " + in_quotes(printable(key, 64)) + " is there twice");
    };
    if (!place.value().is_array()) {
        place.each_member(
            [&](const std::string& key, const JsonPlace& value) { add(place, key, &value); });
        return labels;
    }
    place.each([&](const JsonPlace& pair) {
        expect_only(pair, {"key", "value"});
        const JsonPlace key = pair["key"];
        const auto value = pair.maybe("value");
        add(pair, key.text(most_text), value ? &*value : nullptr);
    });
    return labels;
}

ReservationName name_of(const JsonPlace& place) {
    ReservationName name;
    const JsonPlace role = place["role"];
    auto parsed = Role::parse(role.id());
    if (!parsed) role.fail(parsed.error().what);
    name.role = std::move(*parsed);
    if (const auto labels = place.maybe("labels")) name.labels = labels_of(*labels);
    return name;
}

/// What it does not say of a loan's length is as the configuration has it.
LendingPolicy lending_of(const JsonPlace& place, const Known& known) {
    expect_only(place, {"lend", "floor", "longest_loan_s"});
    LendingPolicy lending = known.reservations.lending_by_default();
    lending.lend = place.boolean_or("lend", true);
    if (const auto floor = place.maybe("floor")) {
        lending.floor = floor->resources();
        for (const auto& [name, amount] : lending.floor)
            if (!is_upper_name(name.str()) || amount > max_placement_amount)
                floor->fail("expected resource classes and amounts");
    }
    if (const auto longest = place.maybe("longest_loan_s"))
        lending.longest = std::chrono::seconds{longest->integer(0, 10L * 365 * 86'400)};
    return lending;
}

ReservationOrder reserve_order(const JsonPlace& place, const Known& known) {
    expect_only(place, {"host", "role", "labels", "resources", "refines", "lending"});
    const JsonPlace host = place["host"];
    const JsonPlace resources = place["resources"];
    ReserveOrder order;
    order.name = name_of(place);
    order.resources = resources.resources(1);
    if (const auto refines = place.maybe("refines")) {
        expect_only(*refines, {"role", "labels"});
        order.refines = name_of(*refines);
    }
    if (const auto lending = place.maybe("lending")) order.lending = lending_of(*lending, known);
    order.host = host_of(host, known);
    return order;
}

ReservationOrder unreserve_order(const JsonPlace& place, const Known& known) {
    expect_only(place, {"host", "role", "labels", "resources", "refines", "reserver", "lent_too"});
    const JsonPlace host = place["host"];
    const JsonPlace resources = place["resources"];
    UnreserveOrder order;
    order.name = name_of(place);
    order.resources = resources.resources(1);
    order.lent_too = place.boolean_or("lent_too", false);
    if (const auto reserver = place.maybe("reserver")) order.reserver = reserver->text(most_text);
    if (const auto refines = place.maybe("refines")) {
        expect_only(*refines, {"role", "labels"});
        order.unrefined = refines->has("role") && (*refines)["role"].text(most_text).empty();
        if (!order.unrefined) order.refines = name_of(*refines);
    }
    order.host = host_of(host, known);
    return order;
}

struct Orders {
    std::string key;
    std::string principal;
    bool dry_run = false;
    std::vector<ReservationOrder> orders;
};

using ReadOrder = ReservationOrder (*)(const JsonPlace& place, const Known& known);

Result<Orders> read_orders(const std::string& body, const Known& known, ReadOrder read) {
    try {
        const auto document = parse_body(body, example);
        if (!document) return document.error();
        const JsonPlace place{*document, "the body"};
        expect_only(place, {"key", "principal", "dry_run", "reservations"});
        Orders orders;
        if (const auto key = place.maybe("key")) orders.key = key->text(most_text);
        if (const auto principal = place.maybe("principal"))
            orders.principal = principal->text(most_text);
        orders.dry_run = place.boolean_or("dry_run", false);
        const JsonPlace list = place["reservations"];
        list.each([&](const JsonPlace& each) {
            if (orders.orders.size() == most_orders)
                fail(Errc::bad_input, "reservations: more than " + std::to_string(most_orders));
            orders.orders.push_back(read(each, known));
        });
        if (orders.orders.empty()) fail(Errc::bad_input, "reservations: there are none");
        return orders;
    } catch (const WrongJson& wrong) {
        const Errc code = wrong.code == Errc::bad_answer ? Errc::bad_input : wrong.code;
        return Error{code, wrong.what};
    }
}

// ---- telling ----

json json_of(const LendingPolicy& lending) {
    return {{"lend", lending.lend},
            {"floor", report::to_json(lending.floor)},
            {"longest_loan_s",
             std::chrono::duration_cast<std::chrono::seconds>(lending.longest).count()}};
}

json json_of(const ReservationView& view) {
    const ReservationIdentity& identity = view.reservation.identity;
    return {{"id", view.id.str()},
            {"host", identity.host.str()},
            {"host_name", view.host_name},
            {"role", identity.role.str()},
            {"labels", identity.labels},
            {"principal", identity.principal},
            {"reservers", json_of_value(view.reservers, PlainJson{})},
            {"from_config", identity.from_config},
            {"refines", identity.refines.empty() ? json(nullptr) : json(identity.refines.str())},
            {"refines_role", view.refines ? json(view.refines->role.str()) : json(nullptr)},
            {"refines_labels", view.refines ? json(view.refines->labels) : json(nullptr)},
            {"resources", report::to_json(view.reservation.asked)},
            {"used", report::to_json(view.balance.used)},
            {"held", report::to_json(view.balance.held)},
            {"lent", report::to_json(view.balance.lent)},
            {"owed", report::to_json(view.balance.owed)},
            {"lending", json_of(view.reservation.lending)},
            {"tenants", json_of_value(view.tenants, PlainJson{})},
            {"calm_for_s", std::chrono::ceil<std::chrono::seconds>(view.calm_for).count()},
            {"trouble", view.trouble}};
}

constexpr JsonCoder<ReservationView> view_json{json_of, nullptr};

constexpr auto order_fields = fields_of<OrderState>([](auto& io, auto& order) {
    io.required("key", order.key);
    io.required("principal", order.principal);
    io.required("state", order.kind);
    io.required("orders", order.told);
    io.required("reason", order.reason);
    io.required("at", order.at);
});

Task<HttpResponse> give(const Backend& backend, ApiRequest request, ReadOrder read) {
    ReservationController* const reservations = backend.daemon.reservations();
    const auto view = backend.daemon.view();
    if (reservations == nullptr || !view)
        co_return api::refuse(503, "the daemon has not read the cloud yet");
    const Known known{view->cache, *reservations};
    auto orders = read_orders(request.body, known, read);
    if (!orders) co_return refusal_for(orders.error());
    if (request.principal && !orders->principal.empty() && orders->principal != *request.principal)
        co_return refusal_for(Error{Errc::forbidden, "principal: you are " +
                                                         in_quotes(printable(*request.principal)) +
                                                         ", and no other user"});
    if (request.principal) orders->principal = *request.principal;
    const bool dry_run = orders->dry_run;
    auto given = co_await reservations->give(std::move(orders->key), std::move(orders->principal),
                                             std::move(orders->orders), dry_run);
    if (!given) co_return refusal_for(given.error());
    co_return answered(order_fields.write(*given), dry_run ? 200 : 202);
}

}  // namespace

Task<HttpResponse> get_reservations(const Backend& backend, ApiRequest request) {
    const Query query{request, {"limit", "marker", "role", "host"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto page = page_of(query, all_in_one, all_in_one);
    if (!page) co_return refuse(400, page.error().what);
    const std::string& role = query.text("role");
    const std::string& host = query.text("host");
    const ReservationController* const reservations = backend.daemon.reservations();
    if (reservations == nullptr) co_return api::refuse(503, "the daemon has not started yet");
    if (auto why = reservations->why_not_known()) co_return refusal_for(*why);
    std::vector<ReservationView> views = reservations->list();
    std::erase_if(views, [&](const ReservationView& view) {
        const ReservationIdentity& identity = view.reservation.identity;
        return (!role.empty() && identity.role.str() != role) ||
               (!host.empty() && view.host_name != host && identity.host.str() != host);
    });
    const auto id_of = [](const ReservationView& view) { return view.id.str(); };
    const auto more = cut_to_page(views, *page, id_of);
    if (!more) co_return refuse(400, more.error().what);
    json links = *more ? next_link(request, views.back().id.str()) : json::array();
    co_return answered({{"reservations", json_of_value(views, view_json)},
                        {"reservations_links", std::move(links)},
                        {"orders", json_of_value(reservations->orders(), order_fields)},
                        {"remarks", reservations->remarks()}});
}

Task<HttpResponse> post_reserve(const Backend& backend, ApiRequest request) {
    co_return co_await give(backend, std::move(request), reserve_order);
}

Task<HttpResponse> post_unreserve(const Backend& backend, ApiRequest request) {
    co_return co_await give(backend, std::move(request), unreserve_order);
}

}  // namespace reaper::api

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <vector>

#include "reaper/json/fields.hpp"

namespace reaper::json_fields_test {

enum class Colour { red, green };

std::string_view to_string(Colour colour) {
    return colour == Colour::red ? "red" : "green";
}

namespace {

using nlohmann::json;

std::optional<Colour> colour_from(std::string_view text) {
    if (text == "red") return Colour::red;
    if (text == "green") return Colour::green;
    return std::nullopt;
}

struct Wheel {
    int spokes = 0;
    std::string maker;
    friend bool operator==(const Wheel&, const Wheel&) = default;
};

struct Cart {
    ServerId id;
    Colour colour{};
    TimePoint built{};
    Resources load;
    double weight = 0;
    std::vector<Wheel> wheels;
    std::map<ProjectId, std::string> owners;
    std::set<Trait> traits;
    Shared<std::set<std::string>> tags;
    std::optional<TimePoint> sold;
    std::string note;
    bool broken = false;
    int seats = 2;
    friend bool operator==(const Cart&, const Cart&) = default;
};

constexpr auto wheel_fields = fields_of<Wheel>([](auto& io, auto& wheel) {
    io.required("spokes", wheel.spokes);
    io.optional("maker", wheel.maker);
});

constexpr auto cart_fields = fields_of<Cart>([](auto& io, auto& cart) {
    io.constant("version", 7);
    io.required("id", cart.id, strict_json);
    io.required("colour", cart.colour, JsonWords{colour_from});
    io.required("built", cart.built);
    io.required("load", cart.load, strict_json);
    io.required("weight", cart.weight);
    io.required("wheels", cart.wheels, wheel_fields);
    io.required("owners", cart.owners);
    io.required("traits", cart.traits, strict_json);
    io.required("tags", cart.tags);
    io.required("sold", cart.sold);
    io.optional("note", cart.note);
    io.optional("broken", cart.broken);
    io.lenient("seats", cart.seats);
});

Cart full_cart() {
    Cart cart;
    cart.id = ServerId{"c1"};
    cart.colour = Colour::green;
    cart.built = TimePoint{std::chrono::milliseconds{1'000}};
    cart.load = {{"VCPU", 4}};
    cart.weight = 1.5;
    cart.wheels = {{12, "smith"}, {16, ""}};
    cart.owners = {{ProjectId{"p1"}, "web"}};
    cart.traits = {Trait{"CUSTOM_FAST"}};
    cart.tags = {"a", "b"};
    cart.sold = TimePoint{};
    cart.note = "n";
    cart.broken = true;
    cart.seats = 3;
    return cart;
}

/// What is wrong with the document; empty if nothing is.
std::string wrong_with(const json& document) {
    try {
        cart_fields.get(JsonPlace{document, "cart"});
        return {};
    } catch (const WrongJson& wrong) {
        return wrong.what;
    }
}

json cart_with(const std::string& pointer, json value) {
    json document = cart_fields.write(full_cart());
    document[json::json_pointer{pointer}] = std::move(value);
    return document;
}

TEST(JsonFields, WritesEachMemberByItsName) {
    EXPECT_EQ(cart_fields.write(full_cart()),
              json::parse(R"({"version": 7, "id": "c1", "colour": "green",
                  "built": "1970-01-01T00:00:01.000Z", "load": {"VCPU": 4}, "weight": 1.5,
                  "wheels": [{"spokes": 12, "maker": "smith"}, {"spokes": 16}],
                  "owners": {"p1": "web"}, "traits": ["CUSTOM_FAST"], "tags": ["a", "b"],
                  "sold": "1970-01-01T00:00:00.000Z", "note": "n", "broken": true, "seats": 3})"));
}

TEST(JsonFields, EmptyListsStayListsAndEmptyObjectsObjects) {
    EXPECT_EQ(cart_fields.write(Cart{}), json::parse(R"({"version": 7, "id": "", "colour": "red",
                  "built": "1970-01-01T00:00:00.000Z", "load": {}, "weight": 0.0, "wheels": [],
                  "owners": {}, "traits": [], "tags": [], "sold": null, "seats": 2})"));
}

TEST(JsonFields, WhatIsWrittenIsReadBack) {
    Cart cart = full_cart();
    const auto again = [&] {
        const json document = json::parse(cart_fields.write(cart).dump());
        return cart_fields.get(JsonPlace{document});
    };
    EXPECT_EQ(again(), cart);
    cart = Cart{};
    cart.id = ServerId{"c2"};
    EXPECT_EQ(again(), cart);
}

TEST(JsonFields, WhatMayBeAbsentMayBeNull) {
    json document = cart_fields.write(full_cart());
    for (const char* const name : {"note", "broken", "seats"}) document[name] = nullptr;
    const Cart with_null = cart_fields.get(JsonPlace{document});
    for (const char* const name : {"note", "broken", "seats"}) document.erase(name);
    const Cart without = cart_fields.get(JsonPlace{document});
    EXPECT_EQ(with_null, without);
    EXPECT_EQ(without.note, "");
    EXPECT_EQ(without.broken, false);
    EXPECT_EQ(without.seats, 2);
}

TEST(JsonFields, AMemberThatIsMissingIsNamedByItsPath) {
    json document = cart_fields.write(full_cart());
    document["wheels"][1].erase("spokes");
    EXPECT_EQ(wrong_with(document), "cart.wheels[1].spokes: missing");
    document.erase("sold");
    document.erase("colour");
    EXPECT_EQ(wrong_with(document), "cart.colour: missing") << "the first in the list's order";
}

TEST(JsonFields, AWrongTypeIsNamedByItsPath) {
    EXPECT_EQ(wrong_with(cart_with("/wheels/0/spokes", "x")),
              "cart.wheels[0].spokes: expected a whole number, found string");
    EXPECT_EQ(wrong_with(cart_with("/owners/p1", 1)),
              "cart.owners.p1: expected a text, found number");
    EXPECT_EQ(wrong_with(cart_with("/tags/1", nullptr)),
              "cart.tags[1]: expected a text, found null");
    EXPECT_EQ(wrong_with(cart_with("/wheels", json::object())),
              "cart.wheels: expected a list, found object");
    EXPECT_EQ(wrong_with(cart_with("/seats", true)),
              "cart.seats: expected a whole number, found boolean");
    EXPECT_EQ(wrong_with(json::array()), "cart: expected an object, found array");
}

TEST(JsonFields, AnUnknownWordIsNamedByItsPath) {
    EXPECT_EQ(wrong_with(cart_with("/colour", "blue")), "cart.colour: unknown word 'blue'");
}

TEST(JsonFields, StrictMembersRefuseEmptyIdsAndNegativeAmounts) {
    EXPECT_EQ(wrong_with(cart_with("/id", "")), "cart.id: is empty");
    EXPECT_EQ(wrong_with(cart_with("/traits/0", "")), "cart.traits[0]: is empty");
    EXPECT_NE(wrong_with(cart_with("/load/VCPU", -1)), "");
}

}  // namespace
}  // namespace reaper::json_fields_test

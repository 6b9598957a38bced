// The constraint language: every line of Swarm's document, and what else may be written.
#include <gtest/gtest.h>
#include <map>
#include <regex>

#include "core/seeded.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper::constraint_test {
namespace {

using namespace reaper::testing;

constexpr Phases only_regular{ResType::regular, false};
constexpr Phases regular_first{ResType::regular, true};
constexpr Phases only_revocable{ResType::revocable, false};
constexpr Phases revocable_first{ResType::revocable, true};

struct Written {
    const char* text;
    Phases means;
};

void PrintTo(const Written& written, std::ostream* out) {
    *out << written.text;
}

class Constraint : public ::testing::TestWithParam<Written> {};

TEST_P(Constraint, Means) {
    const auto phases = phases_of(GetParam().text);
    ASSERT_TRUE(phases) << phases.error().what;
    EXPECT_EQ(to_string(*phases), to_string(GetParam().means));
}

INSTANTIATE_TEST_SUITE_P(
    SwarmsDocument, Constraint,
    ::testing::Values(Written{"constraint:res-type==regular", only_regular},
                      Written{"constraint:res-type==~regular", regular_first},
                      Written{"constraint:res-type==revocable", only_revocable},
                      Written{"constraint:res-type==~revocable", revocable_first},
                      Written{"constraint:res-type==*", regular_first},
                      Written{"constraint:res-type!=revocable", only_regular},
                      Written{"constraint:res-type==revoca*", only_revocable},
                      Written{"constraint:res-type==re*", regular_first}));

INSTANTIATE_TEST_SUITE_P(
    OtherSpellings, Constraint,
    ::testing::Values(
        Written{"res-type==regular", only_regular}, Written{"res_type==~regular", regular_first},
        Written{"==revocable", only_revocable}, Written{"!=regular", only_revocable},
        Written{"revocable", only_revocable}, Written{"regular", only_regular},
        Written{"~regular", regular_first}, Written{"~revocable", revocable_first},
        Written{"*", regular_first}, Written{"~*", regular_first}, Written{"**", regular_first},
        Written{"~re*", regular_first}, Written{"reg*", only_regular}, Written{"*r", only_regular},
        Written{"*v*", only_revocable}, Written{"re?ular", only_regular},
        Written{"???????", only_regular}, Written{"?????????", only_revocable},
        Written{"~revoc*", revocable_first}, Written{"!=reg*", only_revocable},
        Written{"!=~revocable", regular_first}, Written{"!=~regular", revocable_first},
        Written{"  res-type == ~ regular\n", regular_first},
        Written{"constraint: res-type !=revocable", only_regular}));

struct Refused {
    const char* text;
    const char* because;
};

void PrintTo(const Refused& refused, std::ostream* out) {
    *out << refused.text;
}

class WrongConstraint : public ::testing::TestWithParam<Refused> {};

TEST_P(WrongConstraint, IsRefusedInOneLine) {
    const auto phases = phases_of(GetParam().text);
    ASSERT_FALSE(phases) << to_string(*phases);
    EXPECT_EQ(phases.error().code, Errc::bad_input);
    EXPECT_NE(phases.error().what.find(GetParam().because), std::string::npos)
        << phases.error().what;
    EXPECT_EQ(phases.error().what.find('\n'), std::string::npos);
    EXPECT_LT(phases.error().what.size(), 500u);
}

INSTANTIATE_TEST_SUITE_P(
    SwarmsDocument, WrongConstraint,
    ::testing::Values(Refused{"constraint:res-type!=re*", "leaves no kind of room"},
                      Refused{"constraint:res-type==regular,constraint:res-type==~revocable",
                              "one constraint at most"}));

INSTANTIATE_TEST_SUITE_P(
    Others, WrongConstraint,
    ::testing::Values(
        Refused{"!=*", "leaves no kind of room"}, Refused{"!=~re*", "leaves no kind of room"},
        Refused{"regular,regular", "one constraint at most"},
        Refused{"regular revocable", "one constraint at most"},
        Refused{"res-type==regular; res-type==regular", "one constraint at most"},
        Refused{"res-type==regular res-type==revocable", "one constraint at most"},
        Refused{"regluar", "matches neither"}, Refused{"!=revokable", "matches neither"},
        Refused{"Regular", "matches neither"}, Refused{"any", "matches neither"},
        Refused{"regular*x", "matches neither"}, Refused{"~~regular", "matches neither"},
        Refused{"", "there is no pattern"}, Refused{"  ", "there is no pattern"},
        Refused{"~", "there is no pattern"}, Refused{"res-type==", "there is no pattern"},
        Refused{"constraint:regular", "there is no operator"},
        Refused{"constraint:==regular", "the key is ''"},
        Refused{"storage==ssd", "the key is 'storage'"},
        Refused{"res-type=regular", "neither == nor !="},
        Refused{"res-type!regular", "neither == nor !="},
        Refused{"\x1b[31mregular", "matches neither"}));

TEST(Constraints, AnAbsentOneMeansRegular) {
    const auto phases = phases_of(std::vector<std::string>{});
    ASSERT_TRUE(phases);
    EXPECT_EQ(*phases, only_regular);
}

TEST(Constraints, OneIsReadAsIfItStoodAlone) {
    const auto phases = phases_of(std::vector<std::string>{"~revocable"});
    ASSERT_TRUE(phases);
    EXPECT_EQ(*phases, revocable_first);
}

TEST(Constraints, TwoAreAnErrorThatNamesBothEvenIfTheyAgree) {
    const auto phases = phases_of(std::vector<std::string>{"regular", "~revocable"});
    ASSERT_FALSE(phases);
    EXPECT_NE(phases.error().what.find("'regular' and '~revocable'"), std::string::npos);
    EXPECT_FALSE(phases_of(std::vector<std::string>{"regular", "regular"}));
}

TEST(Constraints, ALongOneIsNotShownWhole) {
    const auto phases = phases_of(std::string(100'000, '*') + "x");
    ASSERT_FALSE(phases);
    EXPECT_LT(phases.error().what.size(), 600u);
}

TEST(PhasesText, GoesBothWays) {
    for (const Phases& phases : {only_regular, regular_first, only_revocable, revocable_first}) {
        EXPECT_EQ(phases_from(to_string(phases)), phases);
        const auto read = phases_of(to_string(phases));
        ASSERT_TRUE(read);
        EXPECT_EQ(*read, phases);
    }
    for (const char* const text : {"", "~", "*", "any", "regular ", "~~regular"})
        EXPECT_EQ(phases_from(text), std::nullopt) << text;
}

/// A pattern that often matches: pieces of the names, with wildcards in between.
std::string random_pattern() {
    const std::string name = upto(1) == 0 ? "regular" : "revocable";
    std::string pattern;
    for (const char c : name) switch (upto(5)) {
            case 0: pattern += '*'; break;
            case 1: pattern += '?'; break;
            case 2:
                if (upto(2) == 0) pattern += '*';
                break;
            default: pattern += c;
        }
    if (upto(3) == 0) pattern += '*';
    return pattern.empty() ? "*" : pattern;
}

std::regex as_regex(const std::string& pattern) {
    std::string text;
    for (const char c : pattern) text += c == '*' ? ".*" : c == '?' ? "." : std::string(1, c);
    return std::regex{text};
}

TEST(ConstraintProperty, APatternAdmitsWhatItMatchesAndItsOppositeTheRest) {
    std::map<std::string, int> seen;
    holds("patterns agree with matching both names", [&] {
        const std::string pattern = random_pattern();
        const bool regular = std::regex_match("regular", as_regex(pattern));
        const bool revocable = std::regex_match("revocable", as_regex(pattern));
        const auto is = phases_of("==" + pattern);
        const auto is_not = phases_of("!=" + pattern);
        const auto rather = phases_of("==~" + pattern);
        const auto rather_not = phases_of("!=~" + pattern);
        const bool some = regular || revocable;
        const bool one = regular != revocable;
        RC_LOG() << pattern << "\n";
        RC_ASSERT(is.has_value() == some);
        RC_ASSERT(rather.has_value() == some);
        RC_ASSERT(is_not.has_value() == one);
        RC_ASSERT(rather_not.has_value() == one);
        if (some) {
            RC_ASSERT(is->admits(ResType::regular) == regular);
            RC_ASSERT(is->admits(ResType::revocable) == revocable);
            RC_ASSERT(rather->both);
            RC_ASSERT(rather->first == is->first);
        }
        if (one) {
            RC_ASSERT(!is_not->both);
            RC_ASSERT(is_not->first == other_than(is->first));
            RC_ASSERT((*rather_not == Phases{is_not->first, true}));
        }
        ++seen[some ? one ? "one" : "both" : "none"];
    });
    for (const char* const kind : {"one", "both", "none"}) EXPECT_GT(seen[kind], 3) << kind;
}

TEST(ConstraintProperty, NoTextIsTooStrange) {
    holds("any text is read or refused in one line", [] {
        const auto text = *rc::gen::container<std::string>(
            rc::gen::element('r', 'e', '*', '?', '~', '=', '!', ',', ' ', '\n', '\0', ':', '-'));
        const auto phases = phases_of(text);
        if (!phases) RC_ASSERT(phases.error().what.find('\n') == std::string::npos);
    });
}

}  // namespace
}  // namespace reaper::constraint_test

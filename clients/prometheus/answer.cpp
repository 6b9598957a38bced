#include "clients/prometheus/answer.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>

#include "clients/http/failure.hpp"
#include "clients/prometheus/prometheus.hpp"
#include "reaper/json/json_parts.hpp"
#include "reaper/model/text.hpp"

namespace reaper::prometheus {

namespace {

using nlohmann::json;

constexpr std::size_t message_limit = 300;
constexpr std::size_t most_remarks = 20;
const std::string result_member = "data.result";

std::string address_hint() {
    return "; is " + std::string(settings_name) +
           ".url the address of Prometheus, with its path prefix and without /api/v1?";
}

/// A value in Prometheus' words: `0.25`, `1e+09`, `NaN`, `+Inf`, `-Inf`.
double value_of(const JsonPlace& place) {
    const std::string& text = place.text();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
    if (text == "-Inf") return -std::numeric_limits<double>::infinity();
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc{} || stop != end || !std::isfinite(value))
        place.fail("expected a number, found \"" + one_line(text, 40) + '"');
    return value;
}

/// Seconds since 1970, with decimals.
TimePoint time_of(const JsonPlace& place) {
    constexpr double latest = 1e11;  // in 3,000 years
    const double seconds = place.number();
    if (std::abs(seconds) > latest) place.fail("expected seconds since 1970, found another number");
    return TimePoint(Duration(std::llround(seconds * 1000)));
}

/// `[1700000000.5, "0.25"]`
std::pair<TimePoint, double> point_of(const JsonPlace& place) {
    const json& pair = place.value();
    if (!pair.is_array() || pair.size() != 2) place.fail("expected a list of time and value");
    return {time_of(place.holding(pair[0])), value_of(place.holding(pair[1]))};
}

/// What an answer may still hold.
class Allowance {
public:
    explicit Allowance(std::size_t most) : most_(most), left_(most) {}
    void take(std::size_t values) {
        if (values > left_)
            throw WrongJson{"more than " + std::to_string(most_) +
                            " values and labels; ask for less at a time"};
        left_ -= values;
    }

private:
    std::size_t most_;
    std::size_t left_;
};

using Labels = std::map<std::string, std::string>;

Labels labels_of(const JsonPlace& place, Allowance& allowance) {
    const JsonPlace metric = place["metric"];
    allowance.take(metric.value().size());
    return metric.text_map();
}

void no_histogram(const JsonPlace& place) {
    if (place.has("histogram") || place.has("histograms"))
        place.fail("is a native histogram, not a number");
}

void take_series(const JsonPlace& place, Allowance& allowance, std::vector<SampleSeries>& all) {
    no_histogram(place);
    SampleSeries series;
    series.labels = labels_of(place, allowance);
    const JsonPlace values = place["values"];
    allowance.take(values.value().size());
    series.points.reserve(values.value().size());
    values.each([&](const JsonPlace& each) {
        const auto point = point_of(each);
        if (!series.points.empty() && point.first <= series.points.back().first)
            each.fail("is not later than the one before it");
        series.points.push_back(point);
    });
    all.push_back(std::move(series));
}

/// A vector comes as objects, a scalar as a list of time and value.
class SampleReader {
public:
    explicit SampleReader(std::size_t most) : allowance_(most) {}

    void take(const JsonPlace& place) {
        if (!place.is_group()) return take_part(place);
        no_histogram(place);
        allowance_.take(1);
        Sample sample;
        sample.labels = labels_of(place, allowance_);
        const JsonPlace value = place["value"];
        std::tie(sample.at, sample.value) = point_of(value);
        samples_.push_back(std::move(sample));
    }

    std::vector<Sample> all(const std::string& kind) {
        const bool scalar = kind == "scalar";
        if (scalar != !parts_.empty() || (scalar && !samples_.empty()))
            throw WrongJson{result_member + ": is no " + kind};
        if (!scalar) return std::move(samples_);
        const auto [at, value] = point_of(JsonPlace(parts_, result_member));
        Sample sample;
        sample.value = value;
        sample.at = at;
        return {std::move(sample)};
    }

private:
    void take_part(const JsonPlace& place) {
        if (parts_.size() >= 2) place.fail("expected an object, or a list of time and value");
        parts_.push_back(place.value());
    }

    Allowance allowance_;
    std::vector<Sample> samples_;
    json parts_ = json::array();
};

struct Envelope {
    std::string kind;
    std::vector<std::string> remarks;
};

void add_remarks(const JsonPlace& in, std::string_view name, std::vector<std::string>& remarks) {
    const auto all = in.maybe(name);
    if (!all) return;
    all->each([&](const JsonPlace& each) {
        if (remarks.size() < most_remarks) remarks.push_back(one_line(each.text(), message_limit));
    });
}

/// Reads all but the elements of the result, which `take` gets one by one. An element that is wrong
/// is reported only when the whole is of the kind that is wanted. Throws WrongJson.
Envelope read_envelope(std::string_view body, const std::set<std::string>& kinds,
                       const std::function<void(const JsonPlace&)>& take) {
    static const std::set<std::string> known{"status", "data",     "errorType",
                                             "error",  "warnings", "infos"};
    std::optional<WrongJson> wrong;
    JsonParts parts;
    parts.keeps = [](const std::string& member) { return known.contains(member); };
    parts.hands_out = [](const std::string& member) { return member == result_member; };
    parts.plain = [](const std::string& /*member*/, const json& /*value*/) {};
    parts.element = [&](const std::string& member, std::size_t index, const json& value) {
        try {
            if (!wrong) take(JsonPlace(value, member, index));
        } catch (const WrongJson& error) {
            wrong = error;
        }
    };
    parts.bytes_for_value = 4;  // `[1700000000,"0"]` has three
    const json document = read_json_parts(body, parts);
    const JsonPlace in(document);
    const JsonPlace status = in["status"];
    if (status.text() != "success") status.fail("is no success: " + in.text_or_empty("error"));
    const JsonPlace data = in["data"];
    Envelope envelope;
    envelope.kind = data["resultType"].text(40);
    if (!kinds.contains(envelope.kind)) {
        std::string wanted;
        for (const std::string& kind : kinds) wanted += (wanted.empty() ? "a " : " or a ") + kind;
        throw WrongJson{"the result is a " + envelope.kind + ", where " + wanted + " is expected"};
    }
    if (wrong) throw *wrong;
    data["result"].each([](const JsonPlace&) {});
    add_remarks(in, "warnings", envelope.remarks);
    add_remarks(in, "infos", envelope.remarks);
    return envelope;
}

/// Is it JSON of Prometheus, if a wrong one?
bool is_prometheus(std::string_view body) {
    return body.find("\"status\"") != std::string_view::npos &&
           body.find("\"resultType\"") != std::string_view::npos;
}

Error not_understood(const WrongJson& wrong, std::string_view body) {
    std::string what = one_line(wrong.what, message_limit);
    if (!is_prometheus(body)) {
        what = "no answer of Prometheus: " + what;
        const std::string words = one_line(http::without_tags(body), 80);
        if (!words.empty()) what += ", \"" + words + '"';
        what += address_hint();
    }
    return {Errc::bad_answer, std::move(what)};
}

struct Words {
    std::string status, type, message;
};

/// Prometheus' own: `{"status": "error", "errorType": "bad_data", "error": ...}`; of others' bodies
/// the beginning.
Words words_of(std::string_view body) {
    Words words;
    JsonParts parts;
    parts.keeps = [](const std::string& member) {
        return member == "status" || member == "errorType" || member == "error";
    };
    parts.hands_out = [](const std::string&) { return true; };
    parts.element = [](const std::string&, std::size_t, const json&) {};
    parts.plain = [&](const std::string& member, const json& value) {
        if (!value.is_string()) return;
        if (member == "status") words.status = value;
        if (member == "errorType") words.type = value;
        if (member == "error") words.message = value;
    };
    try {
        read_json_parts(body, parts);
    } catch (const WrongJson&) {
        words = {};
    }
    if (words.status != "error") words = {{}, {}, http::without_tags(body)};
    return words;
}

Errc code_of(int status, const std::string& type) {
    if (type == "timeout") return Errc::timeout;
    return http::failure_kind(status);
}

std::string hint_for(const http::Response& response, const Words& words) {
    const std::string settings(settings_name);
    if (response.status == 401)
        return "; set " + settings + ".username and password, or token, to right ones";
    if (response.status == 403)
        return "; the user or token of " + settings + " may not ask for this";
    if (response.status == 404 && words.type.empty()) return address_hint();
    return http::redirect_hint(response);
}

}  // namespace

Result<Found<Sample>> read_samples(std::string_view body, std::size_t most) {
    try {
        SampleReader reader(most);
        Found<Sample> found;
        Envelope envelope = read_envelope(body, {"vector", "scalar"},
                                          [&](const JsonPlace& place) { reader.take(place); });
        found.rows = reader.all(envelope.kind);
        found.remarks = std::move(envelope.remarks);
        return found;
    } catch (const WrongJson& wrong) {
        return not_understood(wrong, body);
    }
}

Result<Found<SampleSeries>> read_series(std::string_view body, std::size_t most) {
    try {
        Allowance allowance(most);
        Found<SampleSeries> found;
        Envelope envelope = read_envelope(body, {"matrix"}, [&](const JsonPlace& place) {
            take_series(place, allowance, found.rows);
        });
        found.remarks = std::move(envelope.remarks);
        return found;
    } catch (const WrongJson& wrong) {
        return not_understood(wrong, body);
    }
}

Error refusal(const http::Response& response) {
    const Words words = words_of(response.body);
    std::string text = std::to_string(response.status);
    for (const std::string* each : {&words.type, &words.message})
        if (const std::string line = one_line(*each, message_limit); !line.empty())
            text += ": " + line;
    return {code_of(response.status, words.type), text + hint_for(response, words)};
}

}  // namespace reaper::prometheus

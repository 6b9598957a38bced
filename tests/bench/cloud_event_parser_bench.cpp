// How many of Nova's INFO messages one core can read per second.
#include <benchmark/benchmark.h>

#include "reaper/notifications/cloud_event_parser.hpp"
#include "tests/clients/amqp/recorded_messages.hpp"

namespace reaper::cloud_event_parser_bench {
namespace {

void parse(benchmark::State& state, const std::string& body) {
    CloudEventParser parser;
    for (auto _ : state) {
        ParsedEvent parsed = parser.parse(body);
        benchmark::DoNotOptimize(parsed);
    }
    state.counters["messages/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    state.SetBytesProcessed(static_cast<std::int64_t>(body.size()) * state.iterations());
}

/// A server as large clouds have them: addresses, metadata, flavor with extra specs.
std::string rich_update() {
    return test::edited("instance.update.json", [](nlohmann::json& m) {
        auto& data = test::payload(m);
        for (int i = 0; i < 8; ++i) {
            data["metadata"]["key-" + std::to_string(i)] = std::string(60, 'v');
            data["flavor"]["nova_object.data"]["extra_specs"]["hw:" + std::to_string(i)] = "1";
            data["ip_addresses"].push_back(
                {{"nova_object.name", "IpPayload"},
                 {"nova_object.data", {{"address", "10.0.0.1"}, {"mac", "fa:16:3e:4c:2c:30"}}}});
        }
    });
}

void register_all() {
    const auto add = [](const std::string& name, const std::string& body) {
        benchmark::RegisterBenchmark(("CloudEventParser/" + name).c_str(), parse, body);
    };
    for (const char* name : {"instance.update", "instance.create.end", "instance.delete.end",
                             "instance.create.start", "scheduler.select_destinations.end"}) {
        add(name, test::read(test::recorded / (std::string(name) + ".json")));
    }
    add("instance.update with metadata", rich_update());
}

[[maybe_unused]] const bool registered = (register_all(), true);

}  // namespace
}  // namespace reaper::cloud_event_parser_bench

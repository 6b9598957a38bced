// Prometheus' answers (and those of any other server at its address): each is read as the answer to
// both questions, and as a refusal.
#include "clients/prometheus/answer.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

constexpr std::size_t most = 100;

template <class Row>
void check(const reaper::Result<reaper::prometheus::Found<Row>>& found) {
    if (!found) {
        reaper::fuzz::require_one_line(found.error().what);
        return;
    }
    std::size_t values = 0;
    for (const Row& row : found->rows) {
        values += row.labels.size();
        if constexpr (requires { row.points; })
            values += row.points.size();
        else
            ++values;
    }
    reaper::fuzz::require(values <= most, "an answer has no more values than allowed");
    for (const std::string& remark : found->remarks) reaper::fuzz::require_one_line(remark);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    const auto text = fuzz::text_of(data, size);
    check(prometheus::read_samples(text, most));
    check(prometheus::read_series(text, most));
    http::Response response;
    response.status = 503;
    response.body = text;
    fuzz::require_one_line(prometheus::refusal(response).what);
    return 0;
}

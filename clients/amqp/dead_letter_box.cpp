// The dead-letter queue, for people: what is in it, and back with it to the reaper's own queue.
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <openssl/evp.h>
#include <utility>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_console.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/compression.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

using namespace amqp;

constexpr amqp_channel_t letters_channel = 8;
constexpr amqp_channel_t retry_channel = 9;
constexpr int frames_at_once = 64;
constexpr std::size_t id_bytes = 6;
constexpr std::string_view consumer = "reaper-dead-letters";
/// Until the broker shows in the queue what was given back to it.
constexpr auto longest_return = std::chrono::seconds(5);
constexpr auto between_looks = std::chrono::milliseconds(20);
constexpr std::uint64_t max_retried_bytes = 256ULL * 1024 * 1024;

std::string id_of(const std::string& body) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(body.data(), body.size(), digest.data(), &size, EVP_sha256(), nullptr);
    return hexadecimal(std::span{digest}.first(id_bytes));
}

DeadLetter letter_of(const Message& message) {
    DeadLetter letter;
    letter.id = id_of(message.body);
    if (const auto at = message.headers.integer("x-reaper-time"))
        letter.set_aside = TimePoint{} + std::chrono::seconds(*at);
    letter.reason = message.headers.text("x-reaper-reason");
    letter.routing_key = message.headers.text("x-reaper-routing-key");
    letter.content_type = message.properties.content_type;
    letter.compression = message.headers.text(compression_header);
    letter.size = message.body.size();
    const auto full = message.headers.integer(cut_header);
    letter.full_size =
        full ? static_cast<std::uint64_t>(std::max<std::int64_t>(*full, 0)) : letter.size;
    return letter;
}

void add_body(DeadLetter& letter, std::string body) {
    letter.body = std::move(body);
    if (letter.compression.empty()) return;
    auto whole = unpacked(letter.body, letter.compression, ConnectionTuning{}.max_body_bytes);
    if (whole)
        letter.body = std::move(*whole);
    else
        letter.unreadable = whole.error().what;
}

/// Reads what is in the queue now, once. What is not acknowledged goes back when it ends.
class LetterReader {
public:
    /// For each letter, and then the next one: a failure ends it.
    using Visit = std::function<Outcome(Message)>;

    LetterReader(Connection& connection, const config::Broker& broker)
        : connection_(connection), broker_(broker) {}

    Outcome run(const Visit& visit) {
        QueueCounts counts;
        auto none = look_at_queue(connection_, broker_.dead_letter_queue, counts);
        if (none && !none->fatal && none->code == 404) return {};
        if (none) return none;
        kept_ = left_ = std::min(counts.messages, max_dead_letters);
        if (left_ == 0) return {};
        if (auto failed = consume()) return failed;
        while (left_ > 0)
            if (auto failed = wait_for_some([&] { return left_ == 0; }, visit)) return failed;
        return {};
    }

    /// Sends the letter on, and takes it out of the queue when that is stored.
    Outcome send_on(const Message& message) {
        if (auto failed = open_retry()) return failed;
        std::vector<amqp_table_entry_t> headers;
        const amqp_table_t all = message.headers.raw();
        for (int i = 0; i < all.num_entries; ++i)
            if (!view(all.entries[i].key).starts_with(copy_header_prefix))
                headers.push_back(all.entries[i]);
        const amqp_basic_properties_t properties =
            message.properties.raw(amqp_table_t{static_cast<int>(headers.size()), headers.data()});
        constexpr amqp_boolean_t mandatory = 1;
        confirmed_ = returned_ = false;
        const int status = amqp_basic_publish(connection_.raw(), retry_channel, amqp_empty_bytes,
                                              bytes(broker_.queue), mandatory, 0, &properties,
                                              bytes(message.body));
        if (auto failed = connection_.check_status(status, "sending a message again"))
            return failed;
        const Visit nothing = [](const Message&) { return Outcome(); };  // all are read already
        while (!confirmed_)
            if (auto failed = wait_for_some([&] { return confirmed_; }, nothing)) return failed;
        if (returned_)
            return Failure{
                {Errc::not_found, connection_.name() + ": there is no queue '" + broker_.queue +
                                      "': start a reaper, which declares it"},
                0,
                false};
        --kept_;
        return connection_.check_status(
            amqp_basic_ack(connection_.raw(), letters_channel, message.tag, 0), "acknowledging");
    }

    /// Gives back what was only read, and waits until it is there: the next reader finds it.
    /// (When the connection ends the broker does the same, at some time later.)
    Outcome give_back() {
        if (kept_ == 0) return {};
        amqp_basic_cancel(connection_.raw(), letters_channel, bytes(consumer));
        if (auto failed = connection_.check(letters_channel, "ending to read")) return failed;
        constexpr amqp_boolean_t yes = 1;
        const int status = amqp_basic_nack(connection_.raw(), letters_channel, 0, yes, yes);
        if (auto failed = connection_.check_status(status, "giving letters back")) return failed;
        const auto deadline = Steady::now() + longest_return;
        QueueCounts counts;
        do {
            if (auto failed = look_at_queue(connection_, broker_.dead_letter_queue, counts))
                return failed;
            if (counts.messages >= kept_) return {};
            connection_.wait(-1, Steady::now() + between_looks);
        } while (Steady::now() < deadline);
        return {};  // another client reads them, or they were dropped for newer ones
    }

private:
    Outcome consume() {
        if (auto failed = connection_.open_channel(letters_channel)) return failed;
        // All of them may have to be unacknowledged at once: none comes twice.
        const auto most = static_cast<std::uint16_t>(std::min<std::uint64_t>(left_, 65'535));
        amqp_basic_qos(connection_.raw(), letters_channel, 0, most, 0);
        if (auto failed = connection_.check(letters_channel, "setting the prefetch")) return failed;
        amqp_basic_consume(connection_.raw(), letters_channel, bytes(broker_.dead_letter_queue),
                           bytes(consumer), 0, 0, 0, amqp_empty_table);
        return connection_.check(letters_channel,
                                 "reading queue '" + broker_.dead_letter_queue + "'");
    }

    Outcome open_retry() {
        if (std::exchange(retries_, true)) return {};
        if (auto failed = connection_.open_channel(retry_channel)) return failed;
        amqp_confirm_select(connection_.raw(), retry_channel);
        return connection_.check(retry_channel, "asking for confirmations");
    }

    /// Serves frames until `enough`, or until none came for as long as an answer may take.
    Outcome wait_for_some(const std::function<bool()>& enough, const Visit& visit) {
        const auto deadline = Steady::now() + ConnectionTuning{}.answer_timeout;
        const auto before = served_;
        bool more = false;
        do {
            if (auto failed = connection_.read_frames(
                    frames_at_once, more,
                    [&](const amqp_frame_t& frame) { return serve(frame, visit); }))
                return failed;
            if (enough() || served_ > before) return {};
            if (!more) connection_.wait(-1, deadline);
        } while (Steady::now() < deadline);
        return Failure{
            {Errc::timeout, connection_.name() + ": queue '" + broker_.dead_letter_queue +
                                "': the broker did not send or confirm in time"},
            0,
            true};
    }

    Outcome serve(const amqp_frame_t& frame, const Visit& visit) {
        ++served_;
        if (frame.frame_type != AMQP_FRAME_METHOD) {
            if (frame.channel != letters_channel) return {};
            auto message = assembler_.add(frame);
            if (!message || left_ == 0) return {};
            --left_;
            return visit(std::move(*message));
        }
        const amqp_method_t& method = frame.payload.method;
        if (method.id == AMQP_CHANNEL_CLOSE_METHOD || method.id == AMQP_CONNECTION_CLOSE_METHOD) {
            std::string why;
            if (auto lost = connection_.closed_by_broker(frame.channel, method, why)) return lost;
            return Failure{{Errc::server_error, why}, 0, false};
        }
        if (frame.channel == letters_channel && method.id == AMQP_BASIC_DELIVER_METHOD)
            assembler_.start(*static_cast<const amqp_basic_deliver_t*>(method.decoded));
        if (frame.channel == retry_channel) {
            if (method.id == AMQP_BASIC_RETURN_METHOD) returned_ = true;
            if (method.id == AMQP_BASIC_ACK_METHOD) confirmed_ = true;
            if (method.id == AMQP_BASIC_NACK_METHOD)
                return Failure{
                    {Errc::server_error, connection_.name() + ": the broker could not store it"},
                    0,
                    false};
        }
        return {};
    }

    Connection& connection_;
    const config::Broker& broker_;
    FrameAssembler assembler_{std::numeric_limits<std::size_t>::max(), 0};
    std::uint64_t left_ = 0;  ///< to be read
    std::uint64_t kept_ = 0;  ///< that stay in the queue
    std::uint64_t served_ = 0;
    bool retries_ = false, confirmed_ = false, returned_ = false;
};

/// Connects, and lets `use` work with the letters.
Result<void> with_letters(const config::Broker& broker,
                          const std::function<Outcome(LetterReader&)>& use) {
    ConnectionAborter aborter;
    std::vector<std::string> remarks;
    auto connected = connect_any(broker, aborter, remarks);
    if (!connected) return connected.error();
    LetterReader reader(**connected, broker);
    auto failed = use(reader);
    if (!failed) failed = reader.give_back();
    (*connected)->close(ConnectionTuning{}.stop_timeout);
    if (failed) return failed->error;
    return {};
}

}  // namespace

Result<std::vector<DeadLetter>> AmqpConsole::dead_letters(const std::set<std::string>& bodies_of) {
    std::vector<DeadLetter> all;
    const auto read = with_letters(broker_, [&](LetterReader& reader) {
        return reader.run([&](Message message) {
            all.push_back(letter_of(message));
            if (bodies_of.contains(all.back().id)) add_body(all.back(), std::move(message.body));
            return Outcome();
        });
    });
    if (!read) return read.error();
    return all;
}

Result<RetriedLetters> AmqpConsole::retry(const std::set<std::string>& ids) {
    RetriedLetters retried;
    const auto done = with_letters(broker_, [&](LetterReader& reader) -> Outcome {
        // A letter that comes back at once is a new one, and stays.
        std::vector<Message> chosen;
        std::uint64_t taken = 0;
        if (auto failed = reader.run([&](Message message) {
                const DeadLetter letter = letter_of(message);
                if (!ids.empty() && !ids.contains(letter.id)) return Outcome();
                taken += letter.size;
                if (!letter.whole())
                    retried.cut.push_back(letter.id);
                else if (taken > max_retried_bytes)
                    retried.left.push_back(letter.id);
                else
                    chosen.push_back(std::move(message));
                return Outcome();
            }))
            return failed;
        for (const Message& message : chosen) {
            if (auto failed = reader.send_on(message)) return failed;
            retried.sent.push_back(id_of(message.body));
        }
        return {};
    });
    if (!done) return done.error();
    return retried;
}

}  // namespace reaper

// Unreadable messages, on a real RabbitMQ: kept as they came, listed, shown, retried.
#include <gmock/gmock.h>

#include "clients/amqp/amqp_console.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_dead_letters_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::UnorderedElementsAre;

/// `not JSON`, by zlib.
const std::string packed("\x78\x9c\xcb\xcb\x2f\x51\xf0\x0a\xf6\xf7\x03\x00\x0c\xe6\x02\xac", 16);
const std::string damaged("\x78\x9c\xff\xff\0not zlib", 13);

class AmqpDeadLetters : public testing::Test {
protected:
    AmqpDeadLetters() { admin.declare_exchange(run.broker.exchange); }

    /// As oslo.messaging sends it with `kombu_compression`.
    void publish(const std::string& body, const std::string& compression = "application/x-gzip") {
        sent.encoding = "binary";
        sent.headers["compression"] = compression;
        admin.publish_as(run.broker.exchange, error_key, body, sent);
    }
    /// The reaper sets aside what comes, with the reason that the client or `parser` gives.
    void set_aside(std::size_t count, const std::string& parser = "not JSON") {
        ASSERT_TRUE(run.until_messages(count));
        const Delivery& last = run.messages[count - 1];
        run.source->set_aside(last, last.unreadable.empty() ? parser : last.unreadable);
        ASSERT_TRUE(until_ready(admin, run.broker.dead_letter_queue, 1));
        ASSERT_TRUE(until_ready(admin, run.broker.queue, 0)) << "it is acknowledged";
    }
    std::vector<DeadLetter> letters(const std::set<std::string>& bodies = {}) {
        auto found = AmqpConsole{run.broker}.dead_letters(bodies);
        EXPECT_TRUE(found) << found.error().what;
        return found ? std::move(*found) : std::vector<DeadLetter>{};
    }
    std::vector<std::string> retry(const std::set<std::string>& ids) {
        const auto retried = AmqpConsole{run.broker}.retry(ids);
        EXPECT_TRUE(retried) << retried.error().what;
        return retried ? retried->sent : std::vector<std::string>{};
    }
    /// In the reaper's queue is what was sent, and no trace of where it was meanwhile.
    void expect_as_sent(const std::string& body) {
        const Fetched again = admin.take(run.broker.queue);
        EXPECT_EQ(again.body, body);
        EXPECT_EQ(again.content_type, sent.type);
        EXPECT_EQ(again.content_encoding, sent.encoding);
        EXPECT_EQ(again.message_id, "id-of-the-original");
        EXPECT_EQ(again.delivery_mode, 2);
        EXPECT_EQ(again.headers, sent.headers);
    }

    BrokerAdmin admin;
    SourceRunner run{broker_settings()};
    Content sent{"application/json", {}, {{"of-the-sender", "kept"}}};
};

TEST_F(AmqpDeadLetters, ACompressedMessageThatIsDamagedIsListedShownAndSentAgainAsItWas) {
    run.start();
    ASSERT_TRUE(run.until_consuming());
    publish(damaged);
    ASSERT_NO_FATAL_FAILURE(set_aside(1));
    EXPECT_THAT(run.messages[0].unreadable, HasSubstr("it is damaged"));
    ASSERT_TRUE(run.stop());

    const auto listed = letters();
    ASSERT_EQ(listed.size(), 1U);
    const DeadLetter& letter = listed[0];
    EXPECT_THAT(letter.reason, HasSubstr("it is damaged"));
    EXPECT_EQ(letter.routing_key, error_key);
    EXPECT_EQ(letter.content_type, "application/json");
    EXPECT_EQ(letter.compression, "application/x-gzip");
    EXPECT_EQ(letter.size, damaged.size());
    EXPECT_TRUE(letter.whole());
    EXPECT_GT(letter.set_aside, TimePoint{});
    EXPECT_THAT(letter.body, IsEmpty()) << "it was not asked for";

    const auto shown = letters({letter.id});
    ASSERT_EQ(shown.size(), 1U) << "a look takes none away";
    EXPECT_EQ(shown[0].id, letter.id);
    EXPECT_EQ(shown[0].body, damaged);
    EXPECT_THAT(shown[0].unreadable, HasSubstr("it is damaged"));

    EXPECT_THAT(retry({"another-id"}), IsEmpty());
    EXPECT_TRUE(until_ready(admin, run.broker.dead_letter_queue, 1));
    EXPECT_THAT(retry({letter.id}), ElementsAre(letter.id));
    EXPECT_TRUE(until_ready(admin, run.broker.dead_letter_queue, 0));
    expect_as_sent(damaged);
}

TEST_F(AmqpDeadLetters, TheCopyHasTheHeadersOfTheOriginalBesideItsOwn) {
    run.start();
    ASSERT_TRUE(run.until_consuming());
    publish(damaged);
    ASSERT_NO_FATAL_FAILURE(set_aside(1));
    ASSERT_TRUE(run.stop());
    auto copy = admin.fetch(run.broker.dead_letter_queue);
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->body, damaged);
    EXPECT_EQ(copy->content_type, "application/json");
    EXPECT_EQ(copy->content_encoding, "binary");
    EXPECT_EQ(copy->headers.at("compression"), "application/x-gzip");
    EXPECT_EQ(copy->headers.at("of-the-sender"), "kept");
    EXPECT_THAT(copy->headers.at("x-reaper-reason"), HasSubstr("it is damaged"));
    copy->headers.erase("x-delivery-count");  // of this queue, by the broker
    copy->headers.erase("x-acquired-count");  // the same, since RabbitMQ 4.3
    EXPECT_THAT(copy->headers, UnorderedElementsAre(
                                   Key("compression"), Key("of-the-sender"), Key("x-reaper-reason"),
                                   Key("x-reaper-routing-key"), Key("x-reaper-time")));
}

TEST_F(AmqpDeadLetters, OneThatCanBeUnpackedIsShownUnpackedAndSentAgainPacked) {
    run.start();
    ASSERT_TRUE(run.until_consuming());
    publish(packed);
    ASSERT_NO_FATAL_FAILURE(set_aside(1));
    EXPECT_EQ(run.messages[0].body, "not JSON");
    ASSERT_TRUE(run.stop());
    const auto listed = letters();
    ASSERT_EQ(listed.size(), 1U);
    const auto shown = letters({listed[0].id});
    ASSERT_EQ(shown.size(), 1U);
    EXPECT_EQ(shown[0].body, "not JSON");
    EXPECT_THAT(shown[0].unreadable, IsEmpty());
    EXPECT_EQ(shown[0].size, packed.size());
    EXPECT_THAT(retry({}), ElementsAre(listed[0].id)) << "none named: all";
    ASSERT_TRUE(until_ready(admin, run.broker.queue, 1));
    expect_as_sent(packed);
}

TEST_F(AmqpDeadLetters, WhatIsNotUnderstoodAgainIsALetterAgainWithOneReason) {
    run.start();
    ASSERT_TRUE(run.until_consuming());
    publish(damaged, "application/x-unheard-of");
    ASSERT_NO_FATAL_FAILURE(set_aside(1));
    const auto listed = letters();
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_THAT(listed[0].reason, HasSubstr("kombu_compression")) << "what to do";
    EXPECT_THAT(retry({listed[0].id}), ElementsAre(listed[0].id));
    ASSERT_TRUE(run.until_messages(2)) << "the reaper gets it";
    EXPECT_EQ(run.messages[1].body, damaged);
    ASSERT_NO_FATAL_FAILURE(set_aside(2));
    const auto again = letters();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].id, listed[0].id);
    ASSERT_TRUE(run.stop());
    EXPECT_THAT(retry({}), ElementsAre(listed[0].id));
    ASSERT_TRUE(until_ready(admin, run.broker.queue, 1));
    expect_as_sent(damaged);
}

}  // namespace
}  // namespace reaper::test::amqp_dead_letters_test

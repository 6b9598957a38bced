// For how long deliveries are surely ours.
#include "clients/amqp/consumer_lease.hpp"

#include <gtest/gtest.h>

namespace reaper::amqp::tenure_test {
namespace {

using namespace std::chrono_literals;

constexpr Tenure::Time start{1000s};
constexpr DeliveryTicket ticket{7, 1};

TEST(Tenure, NothingIsOursBeforeItBeginsAndAfterItsEnd) {
    Tenure tenure;
    EXPECT_FALSE(tenure.holds(DeliveryTicket{}, start));
    EXPECT_FALSE(tenure.holds(ticket, start));
    tenure.begin(7, start, 5s);
    EXPECT_TRUE(tenure.holds(ticket, start));
    tenure.end();
    EXPECT_FALSE(tenure.holds(ticket, start));
    EXPECT_FALSE(tenure.holds(DeliveryTicket{}, start));
}

TEST(Tenure, ATicketOfAnotherConnectionIsNotOurs) {
    Tenure tenure;
    tenure.begin(8, start, 5s);
    EXPECT_FALSE(tenure.holds(ticket, start));
    EXPECT_TRUE(tenure.holds(DeliveryTicket{8, 1}, start));
}

TEST(Tenure, LastsForTheLeaseAndNotLonger) {
    Tenure tenure;
    tenure.begin(7, start, 5s);
    EXPECT_TRUE(tenure.holds(ticket, start + 5s - 1ns));
    EXPECT_FALSE(tenure.holds(ticket, start + 5s));
    tenure.renew(start + 2s);
    EXPECT_TRUE(tenure.holds(ticket, start + 7s - 1ns));
    EXPECT_FALSE(tenure.holds(ticket, start + 7s));
}

TEST(Tenure, AnOldAnswerRenewsNothing) {
    Tenure tenure;
    tenure.begin(7, start, 5s);
    tenure.renew(start + 1s);  // read late: what counts is when it was asked
    EXPECT_FALSE(tenure.holds(ticket, start + 60s));
    tenure.begin(8, start + 60s, 5s);
    tenure.renew(start + 2s);  // of the connection before
    EXPECT_TRUE(tenure.holds(DeliveryTicket{8, 1}, start + 64s));
}

TEST(Tenure, ComesBackWithTheNextProof) {
    Tenure tenure;
    tenure.begin(7, start, 5s);
    EXPECT_FALSE(tenure.holds(ticket, start + 6s));
    tenure.renew(start + 6s);
    EXPECT_TRUE(tenure.holds(ticket, start + 6s));
}

TEST(Tenure, WithoutALeaseItLastsUntilItsEnd) {
    Tenure tenure;
    tenure.begin(7, start, std::nullopt);
    EXPECT_TRUE(tenure.holds(ticket, start + 24h));
    tenure.end();
    EXPECT_FALSE(tenure.holds(ticket, start));
}

TEST(Tenure, TheLeaseIsOneHeartbeatAndBounded) {
    EXPECT_EQ(lease_for(1s), 1s);
    EXPECT_EQ(lease_for(5s), 5s);
    EXPECT_EQ(lease_for(3600s), 30s);
    EXPECT_EQ(lease_for(0s), 30s);
}

TEST(BootClock, GoesOn) {
    const auto before = BootClock::now();
    EXPECT_GT(before.time_since_epoch(), 0ns);
    EXPECT_GE(BootClock::now(), before);
}

}  // namespace
}  // namespace reaper::amqp::tenure_test

// For how long deliveries are surely ours.
#include <gtest/gtest.h>

#include "clients/amqp/dispatcher.hpp"

namespace reaper::amqp::tenure_test {
namespace {

using namespace std::chrono_literals;

constexpr ConsumerLease::Time start{1000s};
constexpr DeliveryTicket ticket{7, 1};

TEST(ConsumerLease, NothingIsOursBeforeItBeginsAndAfterItsEnd) {
    ConsumerLease lease;
    EXPECT_FALSE(lease.holds(DeliveryTicket{}, start));
    EXPECT_FALSE(lease.holds(ticket, start));
    lease.begin(7, start, 5s);
    EXPECT_TRUE(lease.holds(ticket, start));
    lease.end();
    EXPECT_FALSE(lease.holds(ticket, start));
    EXPECT_FALSE(lease.holds(DeliveryTicket{}, start));
}

TEST(ConsumerLease, ATicketOfAnotherConnectionIsNotOurs) {
    ConsumerLease lease;
    lease.begin(8, start, 5s);
    EXPECT_FALSE(lease.holds(ticket, start));
    EXPECT_TRUE(lease.holds(DeliveryTicket{8, 1}, start));
}

TEST(ConsumerLease, LastsForTheLeaseAndNotLonger) {
    ConsumerLease lease;
    lease.begin(7, start, 5s);
    EXPECT_TRUE(lease.holds(ticket, start + 5s - 1ns));
    EXPECT_FALSE(lease.holds(ticket, start + 5s));
    lease.renew(start + 2s);
    EXPECT_TRUE(lease.holds(ticket, start + 7s - 1ns));
    EXPECT_FALSE(lease.holds(ticket, start + 7s));
}

TEST(ConsumerLease, AnOldAnswerRenewsNothing) {
    ConsumerLease lease;
    lease.begin(7, start, 5s);
    lease.renew(start + 1s);  // read late: what counts is when it was asked
    EXPECT_FALSE(lease.holds(ticket, start + 60s));
    lease.begin(8, start + 60s, 5s);
    lease.renew(start + 2s);  // of the connection before
    EXPECT_TRUE(lease.holds(DeliveryTicket{8, 1}, start + 64s));
}

TEST(ConsumerLease, ComesBackWithTheNextProof) {
    ConsumerLease lease;
    lease.begin(7, start, 5s);
    EXPECT_FALSE(lease.holds(ticket, start + 6s));
    lease.renew(start + 6s);
    EXPECT_TRUE(lease.holds(ticket, start + 6s));
}

TEST(ConsumerLease, WithoutALeaseItLastsUntilItsEnd) {
    ConsumerLease lease;
    lease.begin(7, start, std::nullopt);
    EXPECT_TRUE(lease.holds(ticket, start + 24h));
    lease.end();
    EXPECT_FALSE(lease.holds(ticket, start));
}

TEST(ConsumerLease, TheLeaseIsOneHeartbeatAndBounded) {
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

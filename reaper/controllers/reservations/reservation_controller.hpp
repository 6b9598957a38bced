// Keeps reservations: what configuration and operators ask for, and what Placement holds for it.
//
// All that is known of them is in Placement's register. It is read when this reaper begins to
// serve, and once an hour. Then the parts do what is due in each step, and for requests:
//
//   HostBooks          what is reserved, owed and known of each host
//   ReservationOrders  what operators order
//   ReservationLoans   idle room for a request, released or lent, and what the ledger has of it
//
// Here is the rest: what the configuration asks for, and each host with reservations. It is looked
// at when something happened to it, and from time to time: what its role's servers use, what is
// free, what each reservation holds, and what it is to hold next. Where that differs, the host is
// read again and all of its reservations are changed in one transaction. One that lacks room waits
// until room is free; no server is deleted for it.
//
// One thread; what it is made with must outlive it.
#pragma once

#include "reaper/controllers/reservations/reservation_orders.hpp"

namespace reaper {

class ReservationController {
public:
    using Dependencies = ReservationDependencies;
    using Giving = reaper::Giving;
    using Search = ReservationLoans::Search;
    using Release = ReservationLoans::Release;

    ReservationController(const boost::asio::any_io_executor& executor, Dependencies dependencies);

    /// What is due. To be called every `step`. An error: it could not be read.
    ResultTask<void> check();
    static constexpr Duration step{1000};
    /// What is reserved is known when it returns, and told to the ledger: for who decides once, on
    /// a cloud that is read.
    ResultTask<void> read_now();
    /// When what is reserved is known, or can't be known: before a decision, as a reaper that
    /// begins to serve has to read it.
    Task<void> until_known();
    /// Nothing is written: what it finds is reported as what would be decided.
    bool is_read_only() const noexcept { return dependencies_.is_read_only; }
    /// Why this reaper can't tell what is reserved; none if it read it as the one that serves.
    std::optional<Error> why_not_known() const { return books_.why_not_known(); }
    /// What is wrong with the register, for people; empty: nothing.
    const std::vector<std::string>& remarks() const noexcept { return books_.remarks(); }
    /// Are there any on this host, be it gone?
    bool has_on(const HostId& host) const { return books_.contains(host); }
    std::vector<ReservationView> list() const { return books_.list(); }

    // The parts', which say what they do.

    Task<Role> role_of(ProjectId project, Giving giving = Giving::write) {
        return books_.role_of(std::move(project), giving);
    }
    ResultTask<OrderState> give(std::string key, std::string principal,
                                std::vector<ReservationOrder> orders, bool dry_run = false) {
        return orders_.give(std::move(key), std::move(principal), std::move(orders), dry_run);
    }
    const std::deque<OrderState>& orders() const noexcept { return orders_.last(); }
    LendingPolicy lending_by_default() const { return orders_.lending_by_default(); }
    Task<Release> release_for(Request request, Search search, std::size_t most_victims,
                              Giving giving = Giving::write) {
        return loans_.release_for(std::move(request), std::move(search), most_victims, giving);
    }
    Task<Release> lend_to(Request request, Search search, Giving giving = Giving::write) {
        return loans_.lend_to(std::move(request), std::move(search), giving);
    }
    void keep_free_for(const Request& request, const std::vector<HostPlan>& plans) {
        loans_.keep_free_for(request, plans);
    }
    std::vector<Host> as_if_given(const Request& request) const {
        return loans_.as_if_given(request);
    }
    bool lends() const { return loans_.lends(); }
    void on_plan(const Role& role, const Plan& plan) { loans_.on_plan(role, plan); }
    void update_ledger() { loans_.update_ledger(); }
    std::set<std::string> hosts_lent_by(const Role& role) const {
        return loans_.hosts_lent_by(role);
    }

private:
    static constexpr std::size_t hosts_at_a_step = 256;
    static constexpr std::size_t readings_at_a_step = 16;

    ResultTask<void> load();
    Task<void> configure_all();
    std::map<ReservationId, Reservation> configured_on(const Host& host) const;
    std::vector<HostId> due();
    Task<void> look_at(HostId host);
    ResultTask<bool> settle(HostId host);
    bool wants_reading(const HostId& host) const;
    std::string why_gone(const HostId& host, const HostBook& book) const;
    Task<void> report_health(HostId host);

    Dependencies dependencies_;
    HostBooks books_;
    ReservationLoans loans_;
    ReservationOrders orders_;
    Duration configured_at_{};       ///< steady
    std::size_t readings_left_ = 0;  ///< of this step
    ChangeLog<HostId>::Reader seen_;
    std::uint64_t awaited_for_ = 0;  ///< `serving` when a request waited for it first
    Duration awaited_since_{};       ///< steady
};

}  // namespace reaper

#include "faults/schedules/process.hpp"

#include <boost/asio/co_spawn.hpp>
#include <stdexcept>

#include "faults/schedules/sold_room.hpp"

namespace reaper::faults {

namespace {

config::Cloud cloud_of(const SchedulePlan& plan, const cloudsim::Site& site) {
    config::Cloud cloud;
    cloud.credentials.auth_url = site.root() + "/identity/v3";
    cloud.credentials.username = "reaper";
    cloud.credentials.password = config::Secret("cloudsim-reaper");
    cloud.credentials.project_name = "service";
    cloud.region = plan.soft_delete ? "SoftRegion" : "RegionOne";
    return cloud;
}

std::string text(Duration span) {
    return std::to_string(span.count() / 1000) + "s";
}

std::string decimal(double value) {
    return std::to_string(value).substr(0, 4);
}

config::Plugin qos_by(const SoldPlan& sold) {
    config::Plugin qos{"noop", {}};
    if (!sold.watches()) return qos;
    qos.parameters["evict"] = std::string{sold.evict_all ? "all" : "step"};
    if (sold.pressure > 0) {
        qos.name = "pressure";
        qos.parameters["pressure_threshold"] = decimal(sold.pressure);
        qos.parameters["for"] = std::int64_t{sold.in_a_row};
        return qos;
    }
    qos.name = "load";
    qos.parameters["for"] = std::int64_t{1};
    if (sold.load5 > 0) qos.parameters["load_threshold_5min"] = decimal(sold.load5);
    if (sold.load15 > 0) qos.parameters["load_threshold_15min"] = decimal(sold.load15);
    if (sold.per_core) qos.parameters["per_core"] = std::string{"true"};
    return qos;
}

config::Oversubscription sold_by(const SchedulePlan& plan) {
    config::Oversubscription sold;
    if (!plan.sold) return sold;
    sold.enabled = true;
    sold.publication = plan.sold->publication;
    sold.excess = plan.sold->drain ? "drain" : "evict";
    if (plan.sold->fixed) {
        sold.estimator = {"fixed", {{"vcpus", *plan.sold->fixed}}};
    } else {
        std::string margin = std::to_string(plan.sold->margin);
        sold.estimator = {"usage_slack",
                          {{"margin", margin.substr(0, 4)},
                           {"smoothing", std::string{"0s"}},
                           {"peak", text(plan.sold->peak)}}};
    }
    sold.qos = qos_by(*plan.sold);
    if (plan.sold->per_server) sold.prometheus.server_label = SoldQueries::server;
    sold.prometheus.url = "http://prometheus";
    sold.prometheus.usage_query = SoldQueries::use;
    sold.prometheus.cores_query = SoldQueries::cores;
    sold.prometheus.age_query = SoldQueries::age;
    sold.prometheus.load5_query = SoldQueries::load5;
    sold.prometheus.load15_query = SoldQueries::load15;
    sold.prometheus.pressure_query = SoldQueries::pressure;
    return sold;
}

LiveSettings settings_of(const SchedulePlan& plan, const Reloaded& configured) {
    LiveSettings settings;
    config::Policy policy = plan.policy;
    policy.safeguards = configured.safeguards;
    if (!configured.protected_project.empty())
        policy.safeguards.protect.projects.push_back(configured.protected_project);
    settings.policy = compile_policy(policy).value();
    settings.cull = plan.cull;
    settings.trigger = plan.trigger;
    settings.cache = plan.cache;
    settings.gateway = plan.gateway;
    settings.reservations = configured.reservations;
    settings.oversubscription = compile_oversubscription(sold_by(plan)).value();
    settings.dry_run = plan.dry_run;
    return settings;
}

}  // namespace

Process::Process(const SchedulePlan& plan, const Reloaded& configured, Timeline& timeline,
                 Network& network, Broker& broker, test::FakeJournal& journal, Switch& pause,
                 Switch& breaker, cloudsim::Site& site, Metrics* metrics)
    : timeline_(timeline), io_(std::make_unique<boost::asio::io_context>(1)) {
    const config::Cloud cloud = cloud_of(plan, site);
    http::Options options = http_options(cloud, plan.http);
    options.random = [&network] { return network.jitter(); };
    auto client = http::make_client(network.transport(), std::move(options), timeline);
    auto parts = connect_over(io_->get_executor(), cloud, std::move(client), timeline);
    if (!parts) throw std::runtime_error(parts.error().what);
    cloud_ = std::move(*parts);
    messages_ = broker.messages();
    if (plan.cache.events) events_ = broker.events();
    const CloudPorts ports{*cloud_.identity, *cloud_.compute, *cloud_.placement, *cloud_.images,
                           timeline};
    service_ = make_service(ServicePorts{ports,
                                         journal,
                                         *messages_,
                                         events_.get(),
                                         pause,
                                         breaker,
                                         metrics,
                                         nullptr,
                                         {},
                                         plan.shares_journal()},
                            settings_of(plan, configured), [](const ServiceStatus&) {});
    boost::asio::co_spawn(*io_, service_->run(),
                          [this](std::exception_ptr error, Result<void> result) {
                              if (error) std::rethrow_exception(error);
                              ended_ = result ? "stopped" : result.error().what;
                          });
}

Process::~Process() {
    service_.reset();
    cloud_ = {};
    timeline_.forget_sleepers(*io_);
    io_.reset();
}

void Process::reload(const SchedulePlan& plan, const Reloaded& configured) {
    service_->reload(settings_of(plan, configured));
}

void Process::spawn(Task<void> task) {
    boost::asio::co_spawn(*io_, std::move(task), [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
    });
}

bool Process::poll_one() {
    io_->restart();
    return io_->poll_one() > 0;
}

}  // namespace reaper::faults

#include "strategies/stepwise.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace reaper {
namespace {

/// a / b rounded down; b > 0.
Amount floor_divide(Amount a, Amount b) {
    return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}

/// A host's next slot: what it adds, as a bound or exactly.
struct Step {
    Cost added;
    std::size_t host = 0;
    bool searched = false;

    friend bool operator<(const Step& a, const Step& b) {
        if (a.added != b.added) return a.added < b.added;
        return a.host < b.host;
    }
};

class Steps {
public:
    explicit Steps(Searches& searches) : searches_{searches}, hosts_{searches.problem().hosts} {}

    std::vector<Share> run(std::size_t slots) {
        for (std::size_t host = 0; host < hosts_.size(); ++host) offer(host);
        while (slots > 0 && !steps_.empty()) {
            const Step first = *steps_.begin();
            steps_.erase(steps_.begin());
            if (!first.searched) {
                const Cover& cover = searches_.best(first.host, next_slots(first.host));
                steps_.insert(Step{cover.cost - cost_of(first.host), first.host, true});
                continue;
            }
            ++given_[first.host];
            --slots;
            offer(first.host);
        }
        std::vector<Share> shares;
        for (const auto& [host, extra] : given_) shares.push_back(Share{host, extra});
        return shares;
    }

    /// The least that so many slots cost in the first level.
    Amount least(std::size_t slots) {
        std::map<Amount, std::size_t> prices;  // of one slot; how many slots there are at it
        for (std::size_t host = 0; host < hosts_.size(); ++host) {
            const Amount most = hosts_.possible(host) - hosts_.ready(host);
            if (most <= 0) continue;
            Amount price = 0;
            for (Amount extra = 1; extra <= most; ++extra) {
                Cost bound;
                searches_.bound(host, hosts_.ready(host) + extra, sketch_, nullptr, bound);
                const Amount each = floor_divide(bound[0], extra);
                price = extra == 1 ? each : std::min(price, each);
            }
            prices[price] += static_cast<std::size_t>(most);
        }
        Amount sum = 0;
        for (const auto& [price, there] : prices) {
            const std::size_t taken = std::min(slots, there);
            sum = saturating_add(sum, saturating_multiply(price, static_cast<Amount>(taken)));
            slots -= taken;
        }
        return sum;
    }

private:
    std::size_t given(std::size_t host) const {
        const auto at = given_.find(host);
        return at == given_.end() ? 0 : at->second;
    }
    Amount next_slots(std::size_t host) const {
        return hosts_.ready(host) + static_cast<Amount>(given(host)) + 1;
    }
    /// Of what the host gives already.
    Cost cost_of(std::size_t host) const {
        return given(host) == 0 ? Cost{} : searches_.found(host, next_slots(host) - 1)->cost;
    }

    void offer(std::size_t host) {
        if (next_slots(host) > hosts_.possible(host)) return;
        Cost bound;
        searches_.bound(host, next_slots(host), sketch_, nullptr, bound);
        steps_.insert(Step{bound - cost_of(host), host, false});
    }

    Searches& searches_;
    const HostList& hosts_;
    HostSketch sketch_;
    std::set<Step> steps_;
    std::map<std::size_t, std::size_t> given_;  // slots beyond the ready ones, by host
};

}  // namespace

Stepwise stepwise(Searches& searches, std::size_t slots) {
    Steps steps{searches};
    Stepwise result;
    result.shares = steps.run(slots);
    result.least = steps.least(slots);
    return result;
}

}  // namespace reaper

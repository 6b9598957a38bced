#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

class DecisionText {
public:
    DecisionText(const Request& request, const RenderOptions& options)
        : request_(request), options_(options), paint_(options.color), width_(width_of(options)) {}

    std::string operator()(const Plan& plan) const {
        std::string text = hosts(plan.hosts) + rejected(plan.rejected, plan.rejected_counts);
        if (!plan.note.empty()) text += wrapped("Note: " + plan.note, 0, width_) + "\n";
        return text +
               verdict(plan.victims().empty() ? paint_.green("Plan") : paint_.red("Plan"), plan);
    }
    std::string operator()(const NothingToDo& nothing) const {
        return hosts(nothing.hosts) + verdict(paint_.green("Verdict"), nothing);
    }
    std::string operator()(const Refused& refused) const {
        return verdict(paint_.yellow("Verdict"), refused);
    }
    std::string operator()(const NotEnough& not_enough) const {
        std::string text = rejected(not_enough.rejected, not_enough.rejected_counts);
        if (not_enough.slots_requested > 0)
            text += "Possible: " + std::to_string(not_enough.slots_possible) + " of " +
                    counted(count(not_enough.slots_requested), "slot") + "\n\n";
        return text + verdict(paint_.yellow("Verdict"), not_enough);
    }

private:
    static std::size_t count(int n) { return static_cast<std::size_t>(std::max(n, 0)); }

    std::string verdict(const std::string& word, const Decision& decision) const {
        return word + ": " + safe(summary(decision)) + "\n";
    }

    std::string rejected(const std::vector<Rejection>& rejections,
                         const std::vector<RejectionCount>& counts) const {
        const std::string text = rejected_lines(rejections, counts, options_);
        return text.empty() ? text : text + "\n";
    }

    std::string hosts(const std::vector<HostPlan>& plans) const {
        std::string text;
        for (const auto& host : plans) text += this->host(host) + "\n";
        return text;
    }

    std::string host(const HostPlan& host) const {
        if (request_.correction) return corrected(host);
        std::string head = counted(count(host.slots), "slot");
        if (host.slots_ready > 0 && host.slots_ready == host.slots)
            head += ", ready";
        else if (host.slots_ready > 0)
            head += " (" + std::to_string(host.slots_ready) + " ready)";
        head += host.victims.empty() ? ", no servers deleted"
                                     : ", " + counted(host.victims.size(), "victim");
        std::string text = paint_.bold("Host " + safe(host.host_name)) + ": " + head + "\n";
        text += wrapped(host.reason, 2, width_);
        text += wrapped(on_its_way(host.pending_releases), 2, width_);
        const Resources& slot = host.slot.empty() ? request_.resources : host.slot;
        text += room_table(slot, host.free_before, host.free_after).text(2, width_, paint_);
        if (!host.victims.empty())
            text += victim_table(host.victims, options_).text(2, width_, paint_);
        return text;
    }

    std::string corrected(const HostPlan& host) const {
        return paint_.bold("Host " + safe(host.host_name)) + ": " +
               counted(host.victims.size(), "victim") + "\n" +
               victim_table(host.victims, options_).text(2, width_, paint_);
    }

    static std::string on_its_way(const std::vector<PendingRelease>& pending_releases) {
        std::string text;
        for (const auto& each : pending_releases)
            text += (text.empty() ? "room on its way: " : ", ") +
                    (each.name.empty() ? "" : each.name + " ") + each.server.str() + " (" +
                    each.reason + ")";
        return text;
    }

    const Request& request_;
    const RenderOptions& options_;
    Paint paint_;
    std::size_t width_;
};

}  // namespace

std::string render_decision(const Decision& decision, const Request& request,
                            const RenderOptions& options) {
    return request_lines(request, options) + "\n" +
           std::visit(DecisionText{request, options}, decision);
}

}  // namespace reaper::report

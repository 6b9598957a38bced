// Checks of what the broker lets us do, and of the topics that it knows.
#include <algorithm>

#include "reaper/cli/check/checks.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {

void check_broker_use(const config::Broker& broker, const BrokerReport& found,
                      const Report& report) {
    for (const std::string& line : found.missing_rights)
        report({Verdict::fail, "rights on the broker", line});
    if (found.missing_rights.empty())
        report({Verdict::ok, "rights on the broker",
                "the user may declare, bind and read its queues, and publish to them"});
    const std::string usual = config::Broker{}.topics.front();
    for (const std::string& topic : broker.topics) {
        const std::string what = "topic " + in_quotes(topic);
        const bool heard = std::find(found.unheard_topics.begin(), found.unheard_topics.end(),
                                     topic) == found.unheard_topics.end();
        if (heard)
            report({Verdict::ok, what, "used"});
        else if (found.usual_topic_heard)
            report({Verdict::fail, what,
                    "nobody has published on it, while " + in_quotes(usual) +
                        " is used: set broker.topics to what [notifications] "
                        "versioned_notifications_topics is in nova.conf"});
        else
            report({Verdict::warn, what,
                    "nobody has published on it yet: is it what [notifications] "
                    "versioned_notifications_topics is in nova.conf?"});
    }
}

}  // namespace reaper::cli

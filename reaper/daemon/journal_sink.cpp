#include "reaper/daemon/journal_sink.hpp"

#include <mutex>
#include <spdlog/sinks/base_sink.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>
#include <utility>

#include "reaper/daemon/log_records.hpp"

namespace reaper {
namespace {

class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    JournalSink(JournalSend send, std::shared_ptr<spdlog::sinks::sink> otherwise)
        : send_(std::move(send)), otherwise_(std::move(otherwise)) {}

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (!send_(journal_fields(message))) otherwise_->log(message);
    }
    void flush_() override { otherwise_->flush(); }

    JournalSend send_;
    std::shared_ptr<spdlog::sinks::sink> otherwise_;
};

bool send_to_journald(const std::vector<std::string>& fields) {
    std::vector<iovec> parts;
    for (const std::string& field : fields)
        parts.push_back({const_cast<char*>(field.data()), field.size()});
    return sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) == 0;
}

}  // namespace

std::shared_ptr<spdlog::sinks::sink> journal_sink(JournalSend send,
                                                  std::shared_ptr<spdlog::sinks::sink> otherwise) {
    return std::make_shared<JournalSink>(std::move(send), std::move(otherwise));
}

JournalSend system_journal() {
    // Without it, sending succeeds and tells nobody.
    if (access("/run/systemd/journal/socket", W_OK) != 0) return nullptr;
    return send_to_journald;
}

}  // namespace reaper

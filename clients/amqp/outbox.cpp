#include "clients/amqp/outbox.hpp"

#include <utility>

namespace reaper::amqp {

void Outbox::store(Copy copy) {
    {
        const std::lock_guard lock(mutex_);
        copies_.push_back(std::move(copy));
    }
    wake();
}

void Outbox::forget_copies() {
    const std::lock_guard lock(mutex_);
    copies_.clear();
    forget_taken_ = on_its_way_;
}

bool Outbox::idle() const {
    const std::lock_guard lock(mutex_);
    return copies_.empty() && !on_its_way_;
}

bool Outbox::blocked() const {
    const std::lock_guard lock(mutex_);
    return blocked_;
}

bool Outbox::take_missing() {
    const std::lock_guard lock(mutex_);
    return std::exchange(missing_, false);
}

void Outbox::queue_missing() {
    {
        const std::lock_guard lock(mutex_);
        missing_ = true;
    }
    commands_.wake();
}

void Outbox::answer(std::string mailbox) {
    constexpr std::size_t most_at_a_time = 64;
    {
        const std::lock_guard lock(mutex_);
        if (mailboxes_.size() == most_at_a_time) return;
        mailboxes_.push_back(std::move(mailbox));
    }
    wake();
}

std::optional<std::string> Outbox::take_mailbox() {
    const std::lock_guard lock(mutex_);
    if (mailboxes_.empty()) return std::nullopt;
    std::optional<std::string> mailbox = std::move(mailboxes_.front());
    mailboxes_.pop_front();
    return mailbox;
}

void Outbox::publish_token() {
    {
        const std::lock_guard lock(mutex_);
        token_wanted_ = true;
        token_confirmed_ = false;
    }
    wake();
}

bool Outbox::tokens_settled() const {
    const std::lock_guard lock(mutex_);
    return !token_wanted_ && !token_on_its_way_;
}

bool Outbox::token_confirmed() const {
    const std::lock_guard lock(mutex_);
    return token_confirmed_;
}

std::optional<std::string> Outbox::token_refusal() const {
    const std::lock_guard lock(mutex_);
    return token_refusal_;
}

std::optional<Copy> Outbox::take_copy() {
    const std::lock_guard lock(mutex_);
    if (copies_.empty() || on_its_way_) return std::nullopt;
    std::optional<Copy> copy = std::move(copies_.front());
    copies_.pop_front();
    on_its_way_ = true;
    forget_taken_ = false;
    return copy;
}

bool Outbox::has_copies() const {
    const std::lock_guard lock(mutex_);
    return !copies_.empty();
}

void Outbox::stored(const Copy& copy) {
    drop();
    commands_.push(Command{copy.ticket, std::nullopt, {}});
}

void Outbox::give_back(Copy copy) {
    {
        const std::lock_guard lock(mutex_);
        on_its_way_ = false;
        if (!forget_taken_) copies_.push_back(std::move(copy));
    }
    commands_.wake();
}

void Outbox::drop() {
    {
        const std::lock_guard lock(mutex_);
        on_its_way_ = false;
    }
    commands_.wake();
}

void Outbox::set_blocked(bool blocked) {
    {
        const std::lock_guard lock(mutex_);
        blocked_ = blocked;
    }
    commands_.wake();
}

bool Outbox::take_token() {
    const std::lock_guard lock(mutex_);
    if (!token_wanted_) return false;
    token_wanted_ = false;
    token_on_its_way_ = true;
    return true;
}

void Outbox::token_settled(std::optional<std::string> refusal) {
    {
        const std::lock_guard lock(mutex_);
        token_on_its_way_ = false;
        token_confirmed_ = !refusal;
        token_refusal_ = std::move(refusal);
    }
    commands_.wake();
}

void Outbox::tokens_lost() {
    {
        const std::lock_guard lock(mutex_);
        token_on_its_way_ = false;
    }
    commands_.wake();
}

}  // namespace reaper::amqp

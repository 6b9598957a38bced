// A container that copies share until one of them is changed.
#pragma once

#include <atomic>
#include <initializer_list>
#include <utility>

namespace reaper {

/// Reads like a `const Container` (a map or a set). Eight bytes; an empty one takes no memory
/// beyond. Copies may be used in different threads.
template <class Container>
class Shared {
public:
    using value_type = typename Container::value_type;
    using const_iterator = typename Container::const_iterator;

    Shared() = default;
    Shared(Container all)  // NOLINT(google-explicit-constructor): it stands for the container
        : rep_(all.empty() ? nullptr : new Rep(std::move(all))) {}
    Shared(std::initializer_list<value_type> all) : Shared(Container(all)) {}
    Shared(const Shared& other) noexcept : rep_(other.rep_) {
        if (rep_ != nullptr) rep_->users.fetch_add(1, std::memory_order_relaxed);
    }
    Shared(Shared&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
    Shared& operator=(Shared other) noexcept {
        std::swap(rep_, other.rep_);
        return *this;
    }
    ~Shared() {
        if (rep_ != nullptr && rep_->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete rep_;
    }

    const Container& get() const noexcept {
        static const Container none;
        return rep_ == nullptr ? none : rep_->all;
    }
    operator const Container&() const noexcept { return get(); }  // NOLINT(google-explicit-*)
    const_iterator begin() const noexcept { return get().begin(); }
    const_iterator end() const noexcept { return get().end(); }
    std::size_t size() const noexcept { return get().size(); }
    bool empty() const noexcept { return get().empty(); }
    template <class Key>
    const_iterator find(const Key& key) const {
        return get().find(key);
    }
    template <class Key>
    bool contains(const Key& key) const {
        return get().contains(key);
    }
    template <class Key>
    const auto& at(const Key& key) const {
        return get().at(key);
    }

    /// True if no copy shares it.
    bool unshared() const noexcept {
        return rep_ == nullptr || rep_->users.load(std::memory_order_relaxed) == 1;
    }

    /// A copy of its own to change; worth it for a few only.
    template <class... Arguments>
    void emplace(Arguments&&... arguments) {
        change([&](Container& own) { own.emplace(std::forward<Arguments>(arguments)...); });
    }
    template <class Key, class Value>
    void insert_or_assign(const Key& key, Value value) {
        change([&](Container& own) { own.insert_or_assign(key, std::move(value)); });
    }

    friend bool operator==(const Shared& a, const Shared& b) {
        return a.rep_ == b.rep_ || a.get() == b.get();
    }
    friend bool operator==(const Shared& a, const Container& b) { return a.get() == b; }

private:
    struct Rep {
        explicit Rep(Container container) : all(std::move(container)) {}
        const Container all;
        std::atomic<unsigned> users = 1;
    };

    template <class Change>
    void change(Change apply) {
        Container own = get();
        apply(own);
        *this = Shared(std::move(own));
    }

    Rep* rep_ = nullptr;  // null: empty
};

}  // namespace reaper

// A container that copies share until one of them is changed.
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>

namespace reaper {

/// Reads like a `const Container` (a map or a set); an empty one takes no memory.
template <class Container>
class Shared {
public:
    using value_type = typename Container::value_type;
    using const_iterator = typename Container::const_iterator;

    Shared() = default;
    Shared(Container all)  // NOLINT(google-explicit-constructor): it stands for the container
        : held_(all.empty() ? nullptr : std::make_shared<const Container>(std::move(all))) {}
    Shared(std::initializer_list<value_type> all) : Shared(Container(all)) {}

    const Container& get() const noexcept {
        static const Container none;
        return held_ ? *held_ : none;
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
    bool unshared() const noexcept { return held_.use_count() <= 1; }

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
        return a.held_ == b.held_ || a.get() == b.get();
    }
    friend bool operator==(const Shared& a, const Container& b) { return a.get() == b; }

private:
    template <class Change>
    void change(Change apply) {
        Container own = get();
        apply(own);
        held_ = std::make_shared<const Container>(std::move(own));
    }

    std::shared_ptr<const Container> held_;  // null: empty
};

}  // namespace reaper

// A container that copies share until one of them is changed.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
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

// An immutable text of eight bytes: copies share it. A cache of a large cloud names the same
// projects, hosts and classes a hundred thousand times.

/// Reads like a `const std::string`. Copies may be used in different threads.
class SharedText {
public:
    SharedText() = default;
    SharedText(std::string text)  // NOLINT(google-explicit-constructor): it stands for the string
        : rep_(text.empty() ? nullptr : new Rep(std::move(text))) {}
    SharedText(const char* text) : SharedText(std::string(text)) {}  // NOLINT(google-explicit-*)
    SharedText(const SharedText& other) noexcept : rep_(other.rep_) {
        if (rep_ != nullptr) rep_->users.fetch_add(1, std::memory_order_relaxed);
    }
    SharedText(SharedText&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
    SharedText& operator=(SharedText other) noexcept {
        std::swap(rep_, other.rep_);
        return *this;
    }
    ~SharedText() {
        if (rep_ != nullptr && rep_->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete rep_;
    }

    const std::string& str() const noexcept { return rep_ == nullptr ? nothing() : rep_->text; }
    operator const std::string&() const noexcept { return str(); }  // NOLINT(google-explicit-*)
    operator std::string_view() const noexcept { return str(); }    // NOLINT(google-explicit-*)
    bool empty() const noexcept { return rep_ == nullptr; }
    std::size_t size() const noexcept { return str().size(); }
    /// True if no copy shares it.
    bool unshared() const noexcept {
        return rep_ == nullptr || rep_->users.load(std::memory_order_relaxed) == 1;
    }

    friend bool operator==(const SharedText& a, const SharedText& b) noexcept {
        return a.rep_ == b.rep_ || a.str() == b.str();
    }
    friend bool operator==(const SharedText& a, const std::string& b) noexcept {
        return a.str() == b;
    }
    friend bool operator==(const SharedText& a, const char* b) noexcept { return a.str() == b; }
    friend std::strong_ordering operator<=>(const SharedText& a, const SharedText& b) noexcept {
        if (a.rep_ == b.rep_) return std::strong_ordering::equal;
        return a.str() <=> b.str();
    }
    friend std::string operator+(const SharedText& a, const std::string& b) { return a.str() + b; }
    friend std::string operator+(const SharedText& a, const char* b) { return a.str() + b; }
    friend std::string operator+(std::string a, const SharedText& b) { return a += b.str(); }
    friend std::string operator+(const char* a, const SharedText& b) { return a + b.str(); }
    friend std::ostream& operator<<(std::ostream& out, const SharedText& text) {
        return out << text.str();
    }

private:
    struct Rep {
        explicit Rep(std::string said) : text(std::move(said)) { text.shrink_to_fit(); }
        std::atomic<std::size_t> users{1};
        std::string text;
    };
    static const std::string& nothing() noexcept {
        static const std::string none;
        return none;
    }

    Rep* rep_ = nullptr;  // null: empty
};

}  // namespace reaper

template <>
struct std::hash<reaper::SharedText> {
    std::size_t operator()(const reaper::SharedText& text) const noexcept {
        return std::hash<std::string>{}(text.str());
    }
};

// SPDX-License-Identifier: BSD-3-Clause
//
// What simulations share: what is to happen when, and room for what is on its way.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace isochrone::core::simulate {

/// Happenings in order of time; those of one moment in the order in which they were foreseen.
template <class Happening>
class Agenda {
  public:
    void foresee(double at_s, Happening happening) { entries_.push({at_s, next_order_++, happening}); }

    /// Whether anything is left. If so, `happening` becomes the next, and the time its.
    bool next(Happening& happening) {
        if (entries_.empty()) return false;
        now_s_ = entries_.top().at_s;
        happening = entries_.top().happening;
        entries_.pop();
        return true;
    }
    [[nodiscard]] double now_s() const { return now_s_; }
    /// When the next is; infinity: there is none.
    [[nodiscard]] double next_s() const {
        return entries_.empty() ? std::numeric_limits<double>::infinity() : entries_.top().at_s;
    }

  private:
    struct Entry {
        double at_s;
        std::uint64_t order;
        Happening happening;

        friend bool operator>(const Entry& a, const Entry& b) {
            return a.at_s != b.at_s ? a.at_s > b.at_s : a.order > b.order;
        }
    };
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
    std::uint64_t next_order_ = 0;
    double now_s_ = 0;
};

/// Values by numbers, which are used again.
template <class Value>
class Slots {
  public:
    int keep(Value value) {
        if (unused_.empty()) {
            values_.push_back(std::move(value));
            return static_cast<int>(values_.size()) - 1;
        }
        const int index = unused_.back();
        unused_.pop_back();
        (*this)[index] = std::move(value);
        return index;
    }
    /// The value stays until another takes its place.
    void release(int index) { unused_.push_back(index); }
    Value& operator[](int index) { return values_[static_cast<std::size_t>(index)]; }

  private:
    std::vector<Value> values_;
    std::vector<int> unused_;
};

}  // namespace isochrone::core::simulate

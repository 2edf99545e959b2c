// SPDX-License-Identifier: BSD-3-Clause
//
// How often and how much, by key: a table of open addresses, which allocates only when it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochrone::mpi::record {

struct Key {
    std::uint64_t where = 0;
    std::uint64_t what = 0;

    friend bool operator==(const Key&, const Key&) = default;
};

struct Count {
    Key key;
    std::int64_t times = 0;  ///< 0: nothing is here
    std::int64_t bytes = 0;
};

class Counts {
  public:
    /// Throws std::bad_alloc where it would have to grow and cannot; it is then as it was.
    void add(const Key& key, std::int64_t times, std::int64_t bytes) {
        Count* found = &find(slots_, key);
        if (found->times == 0) {
            if (2 * (used_ + 1) > slots_.size()) {
                grow();
                found = &find(slots_, key);
            }
            found->key = key;
            ++used_;
        }
        found->times += times;
        found->bytes += bytes;
    }

    [[nodiscard]] std::size_t size() const { return used_; }

    template <class Visit>
    void each(Visit&& visit) const {
        for (const Count& count : slots_) {
            if (count.times != 0) visit(count);
        }
    }

  private:
    static Count& find(std::vector<Count>& slots, const Key& key) {
        const std::size_t mask = slots.size() - 1;
        // Neighbouring ranks are to land apart: the multiplier is 2^64 over the golden ratio.
        std::uint64_t hash = (key.where ^ key.what * 0xff51afd7ed558ccdULL) * 0x9e3779b97f4a7c15ULL;
        std::size_t at = static_cast<std::size_t>(hash >> 32U) & mask;
        while (slots[at].times != 0 && slots[at].key != key) at = (at + 1) & mask;
        return slots[at];
    }
    void grow() {
        std::vector<Count> larger(2 * slots_.size());
        each([&](const Count& count) { find(larger, count.key) = count; });
        slots_.swap(larger);
    }

    std::vector<Count> slots_ = std::vector<Count>(64);
    std::size_t used_ = 0;
};

}  // namespace isochrone::mpi::record

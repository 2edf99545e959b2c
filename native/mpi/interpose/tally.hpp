// SPDX-License-Identifier: BSD-3-Clause
//
// What recipes have done on this rank: how often they ran, how long that took, and what it is thought to have
// saved. Calls that go to the MPI library are not looked at.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "executor/dispatcher.hpp"

namespace isochrone::mpi::interpose {

/// Of one recipe. Any thread may add.
class Tally {
  public:
    /// `speedup`: over the library's own; 0: it is not known, and nothing counts as saved.
    void add(std::chrono::nanoseconds time, double speedup) {
        calls_.fetch_add(1, std::memory_order_relaxed);
        nanoseconds_.fetch_add(time.count(), std::memory_order_relaxed);
        if (speedup > 0) saved_s_.fetch_add(1e-9 * static_cast<double>(time.count()) * (speedup - 1));
    }
    [[nodiscard]] std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
    [[nodiscard]] double seconds() const {
        return 1e-9 * static_cast<double>(nanoseconds_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] double saved_s() const { return saved_s_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> calls_ = 0;
    std::atomic<std::int64_t> nanoseconds_ = 0;
    std::atomic<double> saved_s_ = 0;
};

class Tallies {
  public:
    /// That of a decision which is not the library's own. The reference stays good. Takes a lock.
    Tally& of(const executor::Dispatcher::Decision& decision);

    struct Sum {
        std::uint64_t calls = 0;
        double seconds = 0;  ///< in them, with the time in which they waited for other ranks
        double saved_s = 0;  ///< seconds * (speedup - 1); nothing where none is known
    };
    /// Of one collective, or of all for nullptr.
    [[nodiscard]] Sum sum(const core::collectives::Collective* collective) const;

    /// In words, a line for each collective and recipe, and one for all if there are several.
    [[nodiscard]] std::vector<std::string> lines() const;

  private:
    using Key = std::pair<const core::collectives::Collective*, std::string>;

    static void add(Sum& sum, const Tally& tally);

    mutable std::mutex mutex_;  // guards the map
    std::map<Key, Tally> tallies_;
};

}  // namespace isochrone::mpi::interpose

// SPDX-License-Identifier: BSD-3-Clause
//
// How long a pair may take so that all are measured in the time there is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace isochrone::mpi::probe {

class Budget {
  public:
    /// `total_s` 0: as much time as it takes.
    explicit Budget(double total_s) : total_s_(total_s) {}

    [[nodiscard]] bool limited() const { return total_s_ > 0; }

    /// Infinite without a limit; 0 where time is up, which asks for the least there is.
    [[nodiscard]] double pair_s(double spent_s, std::int64_t steps_left) const {
        if (!limited()) return std::numeric_limits<double>::infinity();
        const auto steps = static_cast<double>(std::max<std::int64_t>(steps_left, 1));
        return std::max(0.0, (total_s_ - spent_s) / steps - beside_s_);
    }

    /// Some steps took so long, with pairs that had `allowed_s` each. What a step takes beside that (turns,
    /// waiting, writing) is expected of the next steps too.
    void learn(double took_s, std::int64_t steps, double allowed_s) {
        if (limited() && steps > 0) {
            beside_s_ = std::max(0.0, took_s / static_cast<double>(steps) - allowed_s);
        }
    }

    /// No more of the steps that are left than after which there is something to learn.
    [[nodiscard]] std::int64_t batch(std::int64_t steps, std::int64_t steps_left) const {
        return limited() ? std::min(steps, std::max<std::int64_t>(1, steps_left / 4)) : steps;
    }

  private:
    double total_s_;
    double beside_s_ = 0;
};

}  // namespace isochrone::mpi::probe

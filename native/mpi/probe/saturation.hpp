// SPDX-License-Identifier: BSD-3-Clause
//
// The gap from the times of bursts that are twice as long each time: what each message adds, once bursts are
// so long that more of them add as much (Reinfjell 2023, section 3.1.2).
//
// There, slopes that differ by 1 % are the same, which noise seldom lets happen, and sometimes by chance. So
// here bursts of one length tell by how much they scatter. Slopes are the same, too, if scatter explains the
// difference, and bursts are long enough when it leaves the slope uncertain by 5 % at most.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace isochrone::mpi::probe {

class Saturation {
  public:
    /// How long bursts of `count` messages took, of which there is one at least; twice as many as before.
    /// The quickest counts: what disturbs a burst only makes it longer.
    void add(std::int64_t count, const std::vector<double>& times_s);

    /// Whether longer bursts are of no use.
    [[nodiscard]] bool reached() const { return reached_; }

    /// The time that each message adds: the last slope if it is reached, the least uncertain one until then.
    [[nodiscard]] double gap_s() const { return gap_s_; }

  private:
    std::int64_t count_ = 0;
    double least_s_ = 0;
    std::vector<double> scatters_s_;  ///< of each length
    double slope_s_ = 0;
    double uncertain_s_ = 0;  ///< by how much the slope may be off because bursts scatter
    bool reached_ = false;
    double gap_s_ = 0;
    double off_s_ = std::numeric_limits<double>::infinity();  ///< by how much the gap may be off
};

}  // namespace isochrone::mpi::probe

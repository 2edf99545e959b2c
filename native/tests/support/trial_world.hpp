// SPDX-License-Identifier: BSD-3-Clause
//
// A made-up program whose calls can go one of two ways, for tests of trials: what the calls and the
// agreements take, and what of that was lost.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "trial/trial.hpp"

namespace isochrone::tests {

/// Tells after each call whether what ranks agree on is there: as many calls after it was begun as in a
/// program.
class Agreeing {
  public:
    /// `is_due`: what Trial::record said.
    bool is_there(bool is_due) {
        if (left_ > 0) return --left_ == 0;
        if (is_due) left_ = core::trial::calls_of_an_agreement;
        return false;
    }

  private:
    int left_ = 0;
};

/// Ways of which one takes `ratio` times as long as the other, and what they have cost.
struct World {
    double incumbent_s = 1e-3;  ///< of the first incumbent
    double ratio = 1;           ///< the first challenger's time over it
    double noise = 0;           ///< sigma of the logarithm
    double held_up = 0;         ///< share of calls
    double held_up_by = 10;     ///< how many times as long these take at most
    double price_s = 0;         ///< what the model says of the challenger; 0: as it is
    double set_up_s = 0;        ///< what the challenger's first call takes longer
    double agreement_s = 0;     ///< what each agreement takes
    double measured_s = 0;      ///< what a survey says of the incumbent, where it is compared with that
    double claimed = 1;         ///< and of the challenger's time over it
    /// What the nth call of either way takes, from 0, in place of what ratio, noise and held-up calls make.
    std::function<double(bool is_challenger, int nth)> takes = {};
    std::mt19937_64 random{1};

    bool is_swapped = false;
    int agreements = 0;
    Agreeing agreeing = {};
    int rounds = 0;
    double spent_s = 0;
    double best_s = 0;  ///< what the first incumbent alone would have taken
    double lost_s = 0;  ///< by what was dearer than the better of the two
    std::vector<bool> ran_challenger = {};

    double time_s(bool is_challenger) {
        if (takes) {
            const auto before = std::count(ran_challenger.begin(), ran_challenger.end(), is_challenger);
            return takes(is_challenger, static_cast<int>(before) - 1);
        }
        double seconds = incumbent_s * (is_challenger ? ratio : 1);
        if (noise > 0) seconds *= std::exp(std::normal_distribution<double>(0, noise)(random));
        if (held_up == 0 || !std::bernoulli_distribution(held_up)(random)) return seconds;
        return seconds * std::uniform_real_distribution<double>(2, held_up_by)(random);
    }

    void call(core::trial::Trial& trial) {
        const bool challenger = (trial.next() == core::trial::Way::challenger) != is_swapped;
        ran_challenger.push_back(challenger);
        const double set_up = challenger ? std::exchange(set_up_s, 0) : 0;
        const double seconds = time_s(challenger) + set_up;
        spent_s += seconds;
        best_s += incumbent_s * std::min(1.0, ratio);
        lost_s += incumbent_s * ((challenger ? ratio : 1) - std::min(1.0, ratio)) + set_up;
        if (!agreeing.is_there(trial.record(seconds))) return;
        const core::trial::News news = trial.agreed(trial.recorded(), agreements > 0 ? agreement_s : 0);
        ++agreements;
        spent_s += agreement_s;
        if (news == core::trial::News::timed) trial.compared(measured_s, measured_s, claimed);
        if (news == core::trial::News::seeks) trial.challenge(price_s > 0 ? price_s : incumbent_s * ratio);
        if (news == core::trial::News::lost) is_swapped = !is_swapped;
        if (news == core::trial::News::lost || news == core::trial::News::holds) ++rounds;
    }

    void calls(core::trial::Trial& trial, int count) {
        for (int i = 0; i < count; ++i) call(trial);
    }
};

}  // namespace isochrone::tests

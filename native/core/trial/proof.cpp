// SPDX-License-Identifier: BSD-3-Clause
#include "trial/proof.hpp"

namespace isochrone::core::trial {

void Proof::add(const Trial::Round& round, bool incumbent_is_native, bool challenger_is_native,
                bool is_lost) {
    const double incumbent_s = round.incumbent_s;
    const double challenger_s = incumbent_s * round.ratio();
    const double low = round.low();
    const double high = round.high();
    const double better_s = is_lost ? challenger_s : incumbent_s;
    if (is_lost ? challenger_is_native : incumbent_is_native) {
        *this = {.native_s = better_s, .own_s = better_s, .blocks = round.ratios.size()};
    } else if (challenger_is_native) {
        // What was given up soon is a reason to stay, and no proof: calls may have been held up.
        if (round.ratios.size() < blocks_of_a_round) return;
        *this = {.native_s = challenger_s,
                 .own_s = incumbent_s,
                 .speedup = round.ratio(),
                 .least = low,
                 .largest = high,
                 .blocks = round.ratios.size()};
    } else if (incumbent_is_native) {
        *this = {.native_s = incumbent_s,
                 .own_s = challenger_s,
                 .speedup = 1 / round.ratio(),
                 .least = 1 / high,
                 .largest = 1 / low,
                 .blocks = round.ratios.size()};
    } else if (is_lost) {
        // One recipe has taken the place of another.
        speedup /= round.ratio();
        least /= high;
        largest /= low;
        own_s = challenger_s;
        native_s = challenger_s * speedup;
        blocks = round.ratios.size();
    }
}

}  // namespace isochrone::core::trial

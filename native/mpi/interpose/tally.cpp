// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/tally.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "compose/recipe.hpp"

namespace isochrone::mpi::interpose {
namespace {

/// Three digits and a unit: "1.23 ms".
std::string in_words(double seconds) {
    std::array<char, 32> text{};
    double scaled = seconds;
    const char* unit = "s";
    for (const char* smaller : {"ms", "us"}) {
        if (std::abs(scaled) >= 1 || scaled == 0) break;
        scaled *= 1000;
        unit = smaller;
    }
    std::snprintf(text.data(), text.size(), "%.3g %s", scaled, unit);
    // Four digits before the point would come with an exponent.
    if (std::abs(scaled) >= 999.5) std::snprintf(text.data(), text.size(), "%.0f %s", scaled, unit);
    return text.data();
}

std::string in_words(const Tallies::Sum& sum) {
    return in_words(sum.seconds) + " in them, about " + in_words(sum.saved_s) + " saved";
}

}  // namespace

Tally& Tallies::of(const executor::Dispatcher::Decision& decision) {
    const std::lock_guard lock(mutex_);
    return tallies_[{decision.resolved->collective, core::compose::to_text(decision.resolved->recipe)}];
}

void Tallies::add(Sum& sum, const Tally& tally) {
    sum.calls += tally.calls();
    sum.seconds += tally.seconds();
    sum.saved_s += tally.saved_s();
}

Tallies::Sum Tallies::sum(const core::collectives::Collective* collective) const {
    const std::lock_guard lock(mutex_);
    Sum sum;
    for (const auto& [key, tally] : tallies_) {
        if (collective == nullptr || key.first == collective) add(sum, tally);
    }
    return sum;
}

std::vector<std::string> Tallies::lines() const {
    std::vector<std::string> lines;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, tally] : tallies_) {
            const auto calls = tally.calls();
            if (calls == 0) continue;
            Sum each;
            add(each, tally);
            lines.push_back(std::to_string(calls) + ' ' + std::string(key.first->words) +
                            (calls == 1 ? "" : "s") + " by " + key.second + " on rank 0: " + in_words(each));
        }
    }
    if (lines.empty()) return {"no collective ran by a recipe on rank 0"};
    if (lines.size() > 1) {
        const Sum all = sum(nullptr);
        lines.push_back(std::to_string(all.calls) + " collectives by recipes on rank 0: " + in_words(all));
    }
    return lines;
}

}  // namespace isochrone::mpi::interpose

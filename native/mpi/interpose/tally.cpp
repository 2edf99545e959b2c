// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/tally.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

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
    return tallies_[{decision.resolved->collective, core::compose::to_text(decision.resolved->recipe),
                     decision.speedup}];
}

void Tallies::add(Sum& sum, const Key& key, const Tally& tally) {
    const double speedup = std::get<double>(key);
    const double seconds = tally.seconds();
    sum.calls += tally.calls();
    sum.seconds += seconds;
    if (speedup > 0) sum.saved_s += seconds * (speedup - 1);
}

Tallies::Sum Tallies::sum(const core::collectives::Collective* collective) const {
    const std::lock_guard lock(mutex_);
    Sum sum;
    for (const auto& [key, tally] : tallies_) {
        if (collective == nullptr || std::get<0>(key) == collective) add(sum, key, tally);
    }
    return sum;
}

std::vector<std::string> Tallies::lines() const {
    struct Told {
        std::string_view collective;
        std::string recipe;
        Sum sum;
    };
    std::vector<Told> all_told;  // the map has those of one collective and recipe together
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, tally] : tallies_) {
            if (tally.calls() == 0) continue;
            const std::string_view collective = std::get<0>(key)->words;
            const std::string recipe = std::get<1>(key);
            if (all_told.empty() || all_told.back().collective != collective ||
                all_told.back().recipe != recipe)
                all_told.push_back({collective, recipe, {}});
            add(all_told.back().sum, key, tally);
        }
    }
    if (all_told.empty()) return {"no collective ran by a recipe on rank 0"};
    std::vector<std::string> lines;
    for (const auto& [collective, recipe, each] : all_told) {
        lines.push_back(std::to_string(each.calls) + ' ' + std::string(collective) +
                        (each.calls == 1 ? "" : "s") + " by " + recipe + " on rank 0: " + in_words(each));
    }
    if (lines.size() > 1) {
        const Sum all = sum(nullptr);
        lines.push_back(std::to_string(all.calls) + " collectives by recipes on rank 0: " + in_words(all));
    }
    return lines;
}

}  // namespace isochrone::mpi::interpose

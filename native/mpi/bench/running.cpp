// SPDX-License-Identifier: BSD-3-Clause
#include "bench/running.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/first_calls.hpp"
#include "comm/program.hpp"
#include "compose/recipe.hpp"

namespace isochrone::mpi::bench {
namespace {

/// Collective over all ranks of the timer.
void make_candidates(Running& running, const AlignedTimer& timer) {
    const Case& one = *running.one;
    std::string why;
    std::array<double, 1> unfit = {-1};  // which recipe
    running.candidates.reserve(one.recipes.size());
    try {
        for (const auto& recipe : one.recipes) running.candidates.emplace_back(recipe, one, *running.party);
    } catch (const std::invalid_argument& error) {
        why = error.what();
        unfit[0] = static_cast<double>(running.candidates.size());
    }
    // All ranks of a party come to the same end; those beside it have to be told.
    if (!one.members.empty()) timer.maximum(unfit);
    if (unfit[0] < 0) return;
    if (why.empty()) {
        why = "recipe '" + one.recipes[static_cast<std::size_t>(unfit[0])] + "' cannot run among " +
              std::to_string(one.members.size()) + " of the ranks";
    }
    throw std::invalid_argument(why);
}

void refuse_wrong_bytes(const Case& one, const std::vector<bool>& wrong) {
    const auto first = std::find(wrong.begin(), wrong.end(), true);
    if (first == wrong.end()) return;
    std::string what(one.words());
    if (one.has_data()) what += " of " + std::to_string(one.bytes) + " bytes";
    if (one.rooted()) what += ", root " + std::to_string(one.root);
    const auto which = static_cast<std::size_t>(first - wrong.begin());
    throw comm::Failure(comm::failure, "recipe '" + one.recipes[which] + "' left wrong bytes in a " + what);
}

/// All ranks know the same times.
void drop_what_is_slow(Running& running, const Work& work) {
    auto& expected = running.expected_s;
    const double least = *std::min_element(expected.begin(), expected.end());
    const double share = work.patience_s / static_cast<double>(expected.size());
    for (std::size_t i = expected.size(); i-- > 0;) {
        // What the others are compared with stays.
        if (running.candidates[i].name() == core::compose::native_name) continue;
        if (expected[i] <= work.drop * least || expected[i] <= share) continue;
        running.candidates.erase(running.candidates.begin() + static_cast<std::ptrdiff_t>(i));
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

}  // namespace

void wait_for_members(const std::vector<int>& members, const AlignedTimer& timer) {
    if (Buffer::holds_contents() || members.empty()) return;
    std::array<double, 1> nothing{};
    timer.maximum(nothing);
}

std::int64_t open(Running& running, const Work& work, Memories& memories, const AlignedTimer& timer,
                  unsigned check) {
    const Case& one = *running.one;
    const bool takes_part = running.party->takes_part();
    make_candidates(running, timer);
    running.expected_s.assign(one.recipes.size(), 0);
    if (!Buffer::holds_contents()) {
        // What a library sets up in its first call on a communicator is no part of any other call.
        std::int64_t calls = 0;
        for (const Candidate& candidate : running.candidates) {
            if (!takes_part || !candidate.has_library_inside()) continue;
            candidate.run(memories.next(candidate.operands()));
            ++calls;
        }
        wait_for_members(one.members, timer);
        return calls;
    }
    Memory memory;
    if (takes_part) memory = memories.next(running.candidates.front().operands());
    const Memory* const own = takes_part ? &memory : nullptr;
    const bool own_is_known = one.expected_s.contains(std::string(core::compose::native_name));
    auto first = first_calls(timer, running.candidates, own, check, own_is_known);
    refuse_wrong_bytes(one, first.wrong);
    auto calls = static_cast<std::int64_t>(running.candidates.size());
    running.expected_s = std::move(first.taken_s);
    for (std::size_t i = 0; i < running.candidates.size(); ++i) {
        const auto known = one.expected_s.find(running.candidates[i].name());
        if (known != one.expected_s.end()) running.expected_s[i] = known->second;
    }
    drop_what_is_slow(running, work);
    if (one.pattern != nullptr) {
        running.expected_s.front() = choose_rounds(timer, running.candidates.front(), own);
        ++calls;
    }
    return calls;
}

}  // namespace isochrone::mpi::bench

// SPDX-License-Identifier: BSD-3-Clause
//
// What all ranks of a job agree on before anything is improved: that all of them have this library, of one
// version and over one MPI library, and which plan holds.
//
// Rank 0 hears what each rank says of itself (preload/roll_call.hpp), reads the plan, and sends it to all.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/place.hpp"
#include "interpose/environment.hpp"
#include "preload/roll_call.hpp"

namespace isochrone::mpi::interpose {

struct Agreement {
    std::string plan;                 ///< text
    std::string topology;             ///< text
    std::string only;                 ///< which recipes are to run; empty: all
    std::string delays;               ///< what a fabric's server has said; empty: none was asked
    std::vector<comm::Place> places;  ///< of all ranks
    std::vector<std::array<int, 3>>
        inner;                ///< ... at core::place::inner_levels of its host; see hardware_groups
    bool unsurveyed = false;  ///< there is no plan, and the tree is that of the hardware
    bool explain = false;
    bool check = false;
    bool reproducible = false;
    bool summary = false;
    Trials trials = Trials::on;
    bool threads = false;  ///< whether several threads of any rank may be in collectives at once
};

/// Says why a plan does not hold, in one line; empty if it does. May add what only rank 0 finds out.
using Judge = std::function<std::string(Agreement&)>;

/// To be called by all ranks that have this library. All get the same: nothing where there is no plan, where
/// `judge` (asked on rank 0) is against it, where a rank is not able to go on (`is_able`), or where not all
/// ranks agree; rank 0 then says so in one line. Throws comm::Error.
[[nodiscard]] std::optional<Agreement> agree(preload::Occasion occasion, bool is_able, const Judge& judge);

}  // namespace isochrone::mpi::interpose

// SPDX-License-Identifier: BSD-3-Clause
//
// What a recipe is expected to take in a program's calls: its price by the model, and what was missing in the
// prices of those that were tried before.
//
// The model knows how much of a message goes where. It knows less of what each segment takes, as where ranks
// share cores, and nothing of ranks that come late. With w for those and c for each segment, a recipe of
// price p in k segments is expected to take
//
//     p + w + c min(k, most),    w >= 0, c >= 0,
//
// fitted to those tried of the same kind of calls by least squares. It is not extrapolated to more segments
// than were tried. Where all of them went in as many, c is what other kinds have shown on the communicator
// (SegmentCost), or else w is 0. Before any was tried it is p.
#pragma once

#include <vector>

#include "compose/recipe.hpp"

namespace isochrone::core::select {

struct Priced {
    compose::Recipe recipe;
    double seconds = 0;
    double segments = 1;  ///< that a message goes in
};

/// One that was tried: what it took, or 0 where it could not run.
struct Tried {
    Priced priced;
    double measured_s = 0;
};

/// What each segment takes beside the price, as several kinds of calls on one communicator have shown: how
/// recipes in more and in fewer segments differed, each kind beside its own mean, as w and what a byte takes
/// differ between kinds. Kinds whose recipes all went in as many tell nothing.
class SegmentCost {
  public:
    /// All that was tried of one kind.
    void add(const std::vector<Tried>& tried);

    [[nodiscard]] bool is_known() const { return squares_ > 0; }
    /// At least 0; 0 where nothing is known.
    [[nodiscard]] double each_s() const;
    /// It was seen in as many segments, and not in more.
    [[nodiscard]] double most_segments() const { return most_segments_; }

  private:
    double together_s_ = 0;  // sums of products beside the means
    double squares_ = 0;
    double most_segments_ = 0;
};

class Expectation {
  public:
    /// `tried`: of this kind of calls. `elsewhere`: of other kinds.
    explicit Expectation(std::vector<Tried> tried, const SegmentCost& elsewhere = {});

    /// Seconds.
    [[nodiscard]] double of(const Priced& one) const;
    [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }
    /// Whether one of this kind was measured.
    [[nodiscard]] bool is_measured() const { return is_measured_; }

  private:
    std::vector<Tried> tried_;
    bool is_measured_ = false;
    double all_s_ = 0;   // w
    double each_s_ = 0;  // c
    double most_segments_ = 0;
};

}  // namespace isochrone::core::select

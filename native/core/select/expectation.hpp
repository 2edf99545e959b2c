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
// fitted to those tried by least squares. It is not extrapolated to more segments than were tried. Where all
// of a kind of calls went in as many, c is what calls of other kinds have shown on the same communicator: how
// those in more and in fewer segments differed, each kind beside its own mean, as w and what a byte takes are
// other ones there. If these went in fewer segments, it is all due to segments.
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

/// What trials have shown of one kind of calls.
class Shown {
  public:
    Shown() = default;
    explicit Shown(const std::vector<Tried>& tried);

    /// Of several kinds of calls on one communicator, what they tell of segments.
    Shown& operator+=(const Shown& other);

    [[nodiscard]] bool is_nothing() const { return count_ == 0; }
    /// Whether some went in more segments than others.
    [[nodiscard]] bool has_slope() const { return squares_ > 0; }
    /// What each segment takes beside the price, as these have it; at least 0.
    [[nodiscard]] double each_s() const;
    [[nodiscard]] double most_segments() const { return most_segments_; }
    /// Of one kind: beside the prices, and in which number of segments, on the mean.
    [[nodiscard]] double missing_s() const { return missing_s_; }
    [[nodiscard]] double segments() const { return segments_; }

  private:
    double count_ = 0;
    double missing_s_ = 0;
    double segments_ = 0;
    double most_segments_ = 0;
    double together_s_ = 0;  // sums of products beside the means
    double squares_ = 0;
};

class Expectation {
  public:
    /// `tried`: in calls of this kind. `elsewhere`: in others.
    explicit Expectation(std::vector<Tried> tried, const Shown& elsewhere = {});

    /// Seconds.
    [[nodiscard]] double of(const Priced& one) const;
    [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }
    /// Whether one of this kind was measured. If not, it tells which to try rather than what that will take.
    [[nodiscard]] bool is_measured() const { return !shown_.is_nothing(); }

  private:
    std::vector<Tried> tried_;
    Shown shown_;
    double all_s_ = 0;   // what is expected beside the price, but for segments
    double each_s_ = 0;  // ... and for each of them
    double most_segments_ = 0;
};

}  // namespace isochrone::core::select

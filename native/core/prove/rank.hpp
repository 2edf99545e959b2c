// SPDX-License-Identifier: BSD-3-Clause
//
// One rank while its schedule runs on symbolic buffers: what each unit holds, which counts are known, and
// which slices are in use. What lies between the ranks is in prove.cpp.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "prove/prove.hpp"
#include "schedule/progress.hpp"

namespace isochrone::core::prove {

/// A claim that does not hold, in one line.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A slice that is in use: read, or written.
struct Use {
    int buffer;
    std::vector<schedule::Range> ranges;
    bool writes;
};

/// Whether two uses overlap and one of them writes.
[[nodiscard]] bool collide(const Use& a, const Use& b);

/// Everything that finds an error throws Failure.
class Rank {
  public:
    Rank(const core::schedule::Schedule& schedule, const Claim& claim, int window);

    [[nodiscard]] bool segmented(const core::schedule::Op& op) const;
    [[nodiscard]] bool is_counts(const core::schedule::Slice& slice) const;

    /// The units that a slice stands for.
    [[nodiscard]] Use use(const core::schedule::Slice& slice, core::schedule::Instance instance, bool writes);
    /// Takes the slices of an operation into use, until its end.
    void begin(core::schedule::Instance instance, const std::vector<Use>& uses);
    void end(core::schedule::Instance instance);

    [[nodiscard]] Memory read(const Use& use);
    void write(const Use& use, const Memory& contents);
    [[nodiscard]] std::vector<std::int64_t> read_counts(const Use& use, core::schedule::Instance instance);
    void write_counts(const Use& use, const std::vector<std::int64_t>& counts);
    [[nodiscard]] const Memory& output() const;

    [[nodiscard]] std::string describe(core::schedule::Instance instance) const;

    const core::schedule::Schedule& schedule;
    core::schedule::Resolver resolver;
    core::schedule::Progress progress;
    bool in_collective = false;

  private:
    std::vector<Memory> memory_;
    std::vector<std::vector<bool>> known_;  // counts, by buffer and entry
    std::vector<std::pair<core::schedule::Instance, std::vector<Use>>> in_use_;
};

}  // namespace isochrone::core::prove

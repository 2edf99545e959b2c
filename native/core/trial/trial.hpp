// SPDX-License-Identifier: BSD-3-Clause
//
// Which of two ways is faster, found out in a program's own calls: the MPI library's, and a recipe that is
// only predicted; or a recipe of a plan, and the library's again, to see whether the plan still holds.
//
// One way runs, the incumbent. The other, the challenger, gets blocks of two calls now and then:
//
//   I I I I I I I I ... I I I C C I I I I I I I C C I I I C C ...     | agreement of all ranks, begun after
//                 |             |                                     the call before it
//
// The first block is agreed on alone, as it may be a surprise. The others are agreed on together, up to where
// they may decide something, unless one is expected to lose more than an agreement takes. An agreement goes
// on beside some calls of the incumbent, so that ranks hardly ever wait for it. These are not looked at.
//
// All that is decided follows from the number of calls and from times that all ranks have agreed on, so all
// decide alike, and none waits for another that does not come.
//
// The time of a call is that of its slowest rank, each rank's being from when it calls to when it returns: no
// clocks are compared. Where ranks come late to a call, the others wait for them, and that wait is in the
// time. It is there with either way, so it draws the ratio of the two towards 1, and makes neither the
// faster. But ranks leave a call at different times, by which they come late to the next: what one way leaves
// behind is the wait of the other. So only calls that follow one of their own way are compared, each block
// with the incumbent's calls right before it, and blocks alternate with calls of the incumbent.
//
// A plan's rule may say how long its recipe took. That is held against the first calls, in an agreement that
// costs no slower call: where it is so, the library's own is looked at when that can be afforded; and else
// soon.
//
// Blocks are begun when they are expected to gain more than their agreement takes, or else only when what was
// lost so far, and what they are expected to lose, is within a share of the time of all calls so far. What an
// agreement takes is what ranks spend in it, and that may be much of a small call. Nor is a challenger asked
// for before that can be afforded, once it is known what it takes. What a challenger costs beyond that
// share is the surprise of its first block, which the calls after it make up for. Some of that is paid once:
// the first call of a recipe connects ranks. It is spent whether or not the round goes on, so it does not
// hold up its own round. It does hold up those after it.
//
// Several challengers may be tried one after the other, each against the best so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace isochrone::core::trial {

inline constexpr double trial_share = 0.0125;  ///< of the time of all calls, that an unproven way may lose
inline constexpr double check_share = 0.01;    ///< ... and that seeing whether a proven one holds may
inline constexpr double better = 0.95;         ///< of the incumbent's time, what a round is to show

/// That an agreement goes on beside, at most. Ranks that waited for it at once would lose as much as two or
/// three small calls take; the first time, when it connects them, as much as five.
inline constexpr int calls_of_an_agreement = 4;

/// After as many blocks a round is decided, or after more. One that is hopeless ends before, and one whose
/// first blocks are all against the challenger.
inline constexpr std::size_t blocks_of_a_round = 6;

enum class Way : std::uint8_t { incumbent, challenger };

/// What an agreement has brought.
enum class News : std::uint8_t {
    nothing,
    timed,  ///< what the incumbent takes: compared() says what that tells
    seeks,  ///< a challenger is wanted: challenge() or none_is_left(), else it is asked again later
    holds,  ///< the incumbent stays
    lost,   ///< the challenger is the incumbent from now on, and the other way round
};

class Trial {
  public:
    /// The incumbent is unproven as well, but safe: a challenger is sought.
    static Trial seeking();
    /// The incumbent was measured, its challenger taking `ratio` times as long.
    static Trial checking(double ratio);
    /// The same, where it is known how long the incumbent took: that is compared first, which loses nothing.
    static Trial comparing();

    /// What the next call is to run.
    [[nodiscard]] Way next() const;
    /// Whether no call will be looked at any more.
    [[nodiscard]] bool is_settled() const { return stage_ == Stage::settled; }

    /// After each call: how long it took on this rank. True: ranks are to agree, on the largest of each of
    /// recorded(). Until they have, the incumbent runs, and nothing is recorded.
    [[nodiscard]] bool record(double seconds);
    /// As many on all ranks.
    [[nodiscard]] const std::vector<double>& recorded() const { return recorded_; }
    /// After the same number of calls on all ranks. `agreement_s`: what the agreement before this one took,
    /// as agreed in this one; 0 in the first.
    News agreed(std::vector<double> slowest_s, double agreement_s = 0);

    /// The incumbent was measured to take from `least_s` to `most_s`, and its challenger `ratio` times as
    /// long. If it still does, or nearly, the challenger is looked at only when that is within its share.
    void compared(double least_s, double most_s, double ratio);
    /// A challenger that is expected to take so long.
    void challenge(double expected_s);
    /// There is none yet: it is asked for again after so many calls in all, but no later than after eight
    /// times as many as now. To ask takes an agreement, so that what was said to be too soon is dear.
    void wait_until(std::int64_t calls);
    /// After a round: another challenger is wanted, before the two of that round are looked at again.
    void seek();
    /// There is no challenger, or no other one: the two that are known are looked at again, ever more seldom.
    void none_is_left();

    [[nodiscard]] std::int64_t calls() const { return calls_; }
    /// As agreed last; 0: not yet.
    [[nodiscard]] double incumbent_s() const { return incumbent_s_; }

    /// The last round that was decided: the challenger's times over the incumbent's of then.
    struct Round {
        double incumbent_s = 0;
        std::vector<double> ratios;  ///< ascending; empty: none was decided
        [[nodiscard]] double ratio() const;
        /// Two of the ratios that hold the median of all such ratios between them with a probability of 97 %,
        /// whatever their distribution (the interval of the sign test). Of fewer than a whole round's they
        /// are the least and the largest, which hold it less surely.
        [[nodiscard]] double low() const { return ratios[spare()]; }
        [[nodiscard]] double high() const { return ratios[ratios.size() - 1 - spare()]; }

      private:
        [[nodiscard]] std::size_t spare() const;
    };
    [[nodiscard]] const Round& round() const { return round_; }

  private:
    enum class Stage : std::uint8_t { comparing, seeking, waiting, settled };

    News look(double fastest_ratio);
    News decide(double fastest_ratio);
    void end_round(std::int64_t next_at, double expected_ratio);
    [[nodiscard]] std::int64_t after(std::int64_t least);
    void next_blocks(std::int64_t earliest, std::size_t most, double expected_ratio);
    [[nodiscard]] std::int64_t affordable_at(double loss_s) const;
    void ask_at(std::int64_t calls);
    void look_soon(double ratio);

    Stage stage_ = Stage::seeking;
    bool is_check_ = false;  ///< the incumbent is proven
    bool is_agreeing_ = false;
    bool is_look_ = false;  ///< the round goes on only if one of the next blocks is a surprise
    std::int64_t calls_ = 0;
    std::int64_t agree_at_ = 0;  ///< seeking and comparing: number of calls
    std::int64_t block_at_ = std::numeric_limits<std::int64_t>::max();
    std::size_t wanted_ = 1;  ///< blocks before the next agreement
    Way last_ = Way::challenger;
    std::vector<double> recorded_;   ///< of each block the incumbent's before it, then its own
    std::vector<std::size_t> ends_;  ///< of the blocks, in these
    double incumbent_s_ = 0;
    double agreement_s_ = 0;   ///< what an agreement takes
    double lost_s_ = 0;        ///< by challengers and agreements so far; what was gained counts against it
    double sunk_s_ = 0;        ///< of these, in the first block of this round
    std::uint32_t draws_ = 0;  ///< see after()
    std::vector<double> ratios_;
    Round round_;
};

}  // namespace isochrone::core::trial

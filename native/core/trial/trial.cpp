// SPDX-License-Identifier: BSD-3-Clause
#include "trial/trial.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace isochrone::core::trial {
namespace {

constexpr std::int64_t first_agreement = 8;  // enough of them for a median
/// Whoever is asked for a challenger may tell the other ranks of it as they agree.
static_assert(calls_of_an_agreement < first_agreement);
constexpr std::size_t most_recorded = 8;
/// For a challenger, in times of the calls so far: whoever looks for one may have guessed.
constexpr std::int64_t longest_wait = 8;
constexpr int calls_of_a_block = 2;  // the first follows one of the other way, and is not compared
/// At the least, and of how many numbers of calls one is drawn. More of them leave a wrong plan later: among
/// ranks that share cores, blocks after more calls of a slow way tell less.
constexpr std::int64_t between_blocks = 3;
constexpr std::int64_t more_between = 2;
/// The first look at a plan's rule comes in its share of the time, but within these: a wrong one is to be
/// noticed, and left, within 200 calls. Where what the rule's recipe takes is what was measured it is not
/// wrong in that, and need not be looked at so soon.
constexpr std::int64_t earliest_look = 32;
constexpr std::int64_t latest_look = 128;
/// How many times as long, or as short, what was measured may take to be as it was.
constexpr double as_measured = 1.25;
/// At a plan's rule, before it is left for longer: one may be held up by something else.
constexpr std::size_t looks_at_a_plan = 2;
constexpr std::int64_t between_looks = 8;
constexpr double surprise = 0.9;  // what a look has to show for the round to go on
constexpr double hopeless = 2;    // twice, and the round is over
/// A round is decided after so many blocks. While its challenger looks better, but too many blocks are
/// against it, as where calls are held up now and then, it goes on by some more.
constexpr std::size_t more_blocks = 3;
static_assert(blocks_of_a_round == 2 * more_blocks);
constexpr std::size_t most_blocks = 6 * more_blocks;
/// The least and the largest of six ratios hold their median between them with this probability, but for it.
constexpr double beside = 1.0 / 32;
/// Rounds that nothing came of are the farther apart, the more calls there were.
constexpr std::int64_t again = 2;
constexpr std::int64_t again_if_hopeless = 8;
constexpr double least_s = 1e-9;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double lower_median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) / 2];
}

/// Of the blocks of a round that was won. By chance, among equals, it is so few in one of nine rounds of six
/// blocks, and in one of twenty of eighteen.
std::ptrdiff_t most_against(std::size_t blocks) { return static_cast<std::ptrdiff_t>(blocks / 3) - 1; }

/// How many more blocks there are to be before a round may be decided.
std::size_t to_a_decision(std::size_t blocks) { return more_blocks - blocks % more_blocks; }

/// Seconds that a block loses; below 0, what it gains.
double loss(double ratio, double incumbent_s) { return calls_of_a_block * (ratio - 1) * incumbent_s; }

}  // namespace

double Trial::Round::ratio() const { return ratios.empty() ? 0 : median(ratios); }

/// How many at either end may be left out.
std::size_t Trial::Round::spare() const {
    const auto count = static_cast<double>(ratios.size());
    double exactly = std::pow(0.5, count);  // so many of them below the median
    double at_most = exactly;
    std::size_t left_out = 0;
    for (double below = 1; below < count / 2; ++below) {
        exactly *= (count - below + 1) / below;
        at_most += exactly;
        if (2 * at_most > beside) break;
        ++left_out;
    }
    return left_out;
}

Trial Trial::seeking() {
    Trial trial;
    trial.agree_at_ = first_agreement;
    return trial;
}

Trial Trial::checking(double ratio) {
    Trial trial;
    trial.look_soon(ratio);
    return trial;
}

Trial Trial::comparing() {
    Trial trial;
    trial.stage_ = Stage::comparing;
    trial.agree_at_ = earliest_look;
    return trial;
}

void Trial::compared(double least_s, double most_s, double ratio) {
    // What takes longer gains less, if the challenger takes what it took.
    look_soon(std::max(1.0, ratio * std::min(1.0, most_s / incumbent_s_)));
    if (incumbent_s_ < least_s / as_measured || incumbent_s_ > most_s * as_measured) return;
    block_at_ =
        std::max(block_at_, affordable_at(static_cast<double>(looks_at_a_plan) * loss(ratio, incumbent_s_)));
}

/// At a plan's rule, in the share of the time that one block may lose, but within the calls in which a wrong
/// one is to be noticed.
void Trial::look_soon(double ratio) {
    stage_ = Stage::waiting;
    is_check_ = true;
    is_look_ = true;
    wanted_ = looks_at_a_plan;
    const auto calls = static_cast<std::int64_t>(
        std::clamp(std::ceil(loss(ratio, 1) / check_share), double{earliest_look}, double{latest_look}));
    block_at_ = std::max(calls, calls_ + between_blocks);
}

Way Trial::next() const {
    return stage_ == Stage::waiting && !is_agreeing_ && calls_ >= block_at_ ? Way::challenger
                                                                            : Way::incumbent;
}

bool Trial::record(double seconds) {
    if (stage_ == Stage::settled) return false;
    const Way way = next();
    const bool follows = way == last_;
    last_ = way;
    ++calls_;
    if (is_agreeing_) return false;
    if (way == Way::challenger) {
        recorded_.push_back(seconds);
        if (calls_ < block_at_ + calls_of_a_block) return false;
        ends_.push_back(recorded_.size());
        block_at_ = calls_ + after(is_look_ ? between_looks : between_blocks);
        is_agreeing_ = ends_.size() == wanted_;
        return is_agreeing_;
    }
    if (follows) {
        const std::size_t begin = ends_.empty() ? 0 : ends_.back();
        if (recorded_.size() == begin + most_recorded)
            recorded_.erase(recorded_.begin() + static_cast<std::ptrdiff_t>(begin));
        recorded_.push_back(seconds);
    }
    is_agreeing_ = stage_ != Stage::waiting && calls_ == agree_at_;
    return is_agreeing_;
}

News Trial::agreed(std::vector<double> slowest_s, double agreement_s) {
    is_agreeing_ = false;
    recorded_.clear();
    agreement_s_ = agreement_s;
    lost_s_ += agreement_s;
    if (stage_ != Stage::waiting) {
        incumbent_s_ = std::max(least_s, median(slowest_s));
        if (stage_ == Stage::comparing) return News::timed;
        ask_at(2 * calls_);
        return News::seeks;
    }
    const double lost_before_s = lost_s_;
    double fastest_ratio = std::numeric_limits<double>::max();
    auto begin = slowest_s.cbegin();
    for (const std::size_t length : std::exchange(ends_, {})) {
        const auto end = slowest_s.cbegin() + static_cast<std::ptrdiff_t>(length);
        const auto block = end - calls_of_a_block;
        incumbent_s_ = std::max(least_s, median({begin, block}));
        const double fastest_s = *std::min_element(block, end);
        fastest_ratio = std::min(fastest_ratio, fastest_s / incumbent_s_);
        // What holds up one call of a block is not the way's, except in the first of a round, which sets
        // things up.
        const bool is_first = !is_look_ && ratios_.empty();
        for (auto call = block; call != end; ++call) lost_s_ += (is_first ? *call : fastest_s) - incumbent_s_;
        ratios_.push_back(end[-1] / incumbent_s_);
        begin = end;
    }
    lost_s_ = std::max(0.0, lost_s_);
    if (is_look_) return look(fastest_ratio);
    if (ratios_.size() == 1) sunk_s_ = std::max(0.0, lost_s_ - lost_before_s);
    return decide(fastest_ratio);
}

/// Looks are there to be surprised: the fastest of their calls counts, so that what held one up does not end
/// it.
News Trial::look(double fastest_ratio) {
    if (fastest_ratio < surprise) {
        is_look_ = false;
        next_blocks(calls_ + after(between_blocks), to_a_decision(ratios_.size()), fastest_ratio);
    } else {
        end_round(again * calls_, fastest_ratio);
    }
    return News::nothing;
}

/// `fastest_ratio`: of all calls of the last blocks. What is expected of the next block may not hang on one
/// call, which may have been held up: of the first block the faster call tells, of two blocks the faster
/// block.
News Trial::decide(double fastest_ratio) {
    const std::size_t blocks = ratios_.size();
    const double ratio = median(ratios_);
    const double expected = blocks == 1 ? fastest_ratio : lower_median(ratios_);
    const bool is_hopeless = blocks > 1 && expected > hopeless;
    const auto against = std::count_if(ratios_.begin(), ratios_.end(), [](double one) { return one >= 1; });
    const bool looks_better = ratio <= better;
    const bool is_won = looks_better && blocks % more_blocks == 0 && against <= most_against(blocks);
    // Of a way that is faster so many blocks in a row are hardly ever all against it, and then it would have
    // to win most of a dozen.
    const bool are_all_against = blocks >= more_blocks && against == static_cast<std::ptrdiff_t>(blocks);
    const bool goes_on = blocks < blocks_of_a_round || (looks_better && !is_won && blocks < most_blocks);
    if (goes_on && !is_hopeless && !are_all_against) {
        next_blocks(calls_ + after(between_blocks), to_a_decision(blocks), expected);
        return News::nothing;
    }
    std::sort(ratios_.begin(), ratios_.end());
    round_ = {.incumbent_s = incumbent_s_, .ratios = ratios_};
    if (!is_won) {
        end_round((is_hopeless ? again_if_hopeless : again) * calls_, ratio);
        return News::holds;
    }
    incumbent_s_ *= ratio;
    last_ = Way::challenger;  // the incumbent of before has just run
    end_round(again * calls_, 1 / ratio);
    return News::lost;
}

void Trial::end_round(std::int64_t next_at, double expected_ratio) {
    ratios_.clear();
    sunk_s_ = 0;
    is_check_ = true;
    is_look_ = true;
    next_blocks(next_at, 1, expected_ratio);
}

/// The calls until the next block: not always as many. Where a program makes different calls of one kind in
/// turn, as in each step of a loop, blocks would compare the same two of them again and again. All ranks draw
/// the same numbers (the generator of Press et al., "Numerical Recipes", section 7.1).
std::int64_t Trial::after(std::int64_t least) {
    draws_ = draws_ * 1664525U + 1013904223U;
    return least + static_cast<std::int64_t>(draws_ >> 16U) % more_between;
}

/// `most`: of them, before the next agreement. Where one loses more than an agreement takes, it is one.
void Trial::next_blocks(std::int64_t earliest, std::size_t most, double expected_ratio) {
    const double of_one_s = loss(expected_ratio, incumbent_s_);
    stage_ = Stage::waiting;
    wanted_ = of_one_s > agreement_s_ ? 1 : most;
    block_at_ = earliest;
    const double loss_s = static_cast<double>(wanted_) * of_one_s + agreement_s_;
    // What gains needs not be afforded: a first call that set up connections is made up for soonest so.
    if (expected_ratio <= better && loss_s <= 0) return;
    block_at_ = std::max(earliest, affordable_at(loss_s));
}

/// The number of calls from which on `loss_s` more, and what was lost so far, are within their share.
std::int64_t Trial::affordable_at(double loss_s) const {
    constexpr double never = 1e18;
    const double risked_s = std::max(0.0, lost_s_ - sunk_s_) + std::max(0.0, loss_s);
    const double share = is_check_ ? check_share : trial_share;
    return static_cast<std::int64_t>(std::ceil(std::min(never, risked_s / (share * incumbent_s_))));
}

/// Seeking: agrees after so many calls in all, or when that can be afforded.
void Trial::ask_at(std::int64_t calls) { agree_at_ = std::max(calls, affordable_at(agreement_s_)); }

void Trial::challenge(double expected_s) {
    is_check_ = false;
    is_look_ = false;
    next_blocks(calls_ + after(between_blocks), 1, expected_s / incumbent_s_);
}

void Trial::wait_until(std::int64_t calls) {
    ask_at(std::clamp(calls, calls_ + first_agreement, longest_wait * calls_));
}

void Trial::seek() {
    stage_ = Stage::seeking;
    is_check_ = false;
    ask_at(calls_ + first_agreement);
}

void Trial::none_is_left() {
    stage_ = Stage::settled;
    if (round_.ratios.empty()) return;
    stage_ = Stage::waiting;
    is_check_ = true;
    // The look that the last round left may be behind: to find that nothing is left took calls and
    // agreements.
    block_at_ = std::max({block_at_, calls_ + between_blocks, affordable_at(agreement_s_)});
}

}  // namespace isochrone::core::trial

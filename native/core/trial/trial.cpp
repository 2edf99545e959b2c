// SPDX-License-Identifier: BSD-3-Clause
#include "trial/trial.hpp"

#include <algorithm>
#include <cmath>

namespace isochrone::core::trial {
namespace {

constexpr std::int64_t first_agreement = 8;  // enough of them for a median
constexpr std::size_t most_recorded = 8;
constexpr int calls_of_a_block = 2;  // the first follows one of the other way, and is not compared
constexpr std::int64_t between_blocks = 3;
/// The first look at a plan's rule comes in its share of the time, but within these: a wrong one is to be
/// noticed, and left, within 200 calls.
constexpr double earliest_look = 32;
constexpr double latest_look = 128;
/// At a plan's rule, before it is left for longer: one may be held up by something else.
constexpr int looks_at_a_plan = 2;
constexpr std::int64_t between_looks = 8;
constexpr double surprise = 0.9;  // what a look has to show for the round to go on
constexpr double hopeless = 2;    // twice, and the round is over
constexpr double better = 0.95;
/// A round is decided after so many blocks. While its challenger looks better, but too many blocks are
/// against it, as where calls are held up now and then, it goes on by some more.
constexpr std::size_t more_blocks = 3;
constexpr std::size_t blocks_of_a_round = 2 * more_blocks;
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
    trial.recorded_.reserve(most_recorded + calls_of_a_block);
    return trial;
}

Trial Trial::checking(double ratio) {
    Trial trial;
    trial.stage_ = Stage::waiting;
    trial.is_check_ = true;
    trial.looks_ = looks_at_a_plan;
    trial.recorded_.reserve(most_recorded + calls_of_a_block);
    trial.block_at_ = static_cast<std::int64_t>(
        std::clamp(std::ceil(loss(ratio, 1) / check_share), earliest_look, latest_look));
    return trial;
}

Way Trial::next() const {
    return stage_ == Stage::waiting && calls_ >= block_at_ ? Way::challenger : Way::incumbent;
}

bool Trial::record(double seconds) {
    if (stage_ == Stage::settled) return false;
    const Way way = next();
    const bool follows = way == last_;
    last_ = way;
    ++calls_;
    if (way == Way::challenger) {
        recorded_.push_back(seconds);
        return calls_ == block_at_ + calls_of_a_block;
    }
    if (follows) {
        if (recorded_.size() == most_recorded) recorded_.erase(recorded_.begin());
        recorded_.push_back(seconds);
    }
    return stage_ == Stage::seeking && calls_ == agree_at_;
}

News Trial::agreed(std::vector<double> slowest_s, double agreement_s) {
    recorded_.clear();
    agreement_s_ = agreement_s;
    lost_s_ += agreement_s;
    if (stage_ == Stage::seeking) {
        incumbent_s_ = std::max(least_s, median(slowest_s));
        agree_at_ = 2 * calls_;
        return News::seeks;
    }
    const auto block = slowest_s.end() - calls_of_a_block;
    incumbent_s_ = std::max(least_s, median({slowest_s.begin(), block}));
    if (looks_ > 0) return look(*std::min_element(block, slowest_s.end()));
    const double lost_before_s = lost_s_;
    for (auto call = block; call != slowest_s.end(); ++call) lost_s_ += *call - incumbent_s_;
    lost_s_ = std::max(0.0, lost_s_);
    if (ratios_.empty()) sunk_s_ = std::max(0.0, lost_s_ - lost_before_s);
    ratios_.push_back(slowest_s.back() / incumbent_s_);
    return decide(*std::min_element(block, slowest_s.end()) / incumbent_s_);
}

/// A look is there to be surprised: the faster of its calls counts, so that what held one up does not end it.
News Trial::look(double seconds) {
    const double ratio = seconds / incumbent_s_;
    lost_s_ = std::max(0.0, lost_s_ + calls_of_a_block * (seconds - incumbent_s_));
    if (ratio < surprise) {
        looks_ = 0;
        ratios_ = {ratio};
        next_block(calls_ + between_blocks, ratio);
    } else if (--looks_ > 0) {
        block_at_ = calls_ + between_looks;
    } else {
        end_round(again * calls_, ratio);
    }
    return News::nothing;
}

/// `fastest_ratio`: of all calls of the last block. What is expected of the next block may not hang on one
/// call, which may have been held up: of the first block the faster call tells, of two blocks the faster
/// block.
News Trial::decide(double fastest_ratio) {
    const std::size_t blocks = ratios_.size();
    const double ratio = median(ratios_);
    const double expected = blocks == 1 ? fastest_ratio : lower_median(ratios_);
    if (blocks > 1 && expected > hopeless) {
        std::sort(ratios_.begin(), ratios_.end());
        round_ = {.incumbent_s = incumbent_s_, .ratios = ratios_};
        end_round(again_if_hopeless * calls_, ratio);
        return News::holds;
    }
    const auto against = std::count_if(ratios_.begin(), ratios_.end(), [](double one) { return one >= 1; });
    const bool looks_better = ratio <= better;
    const bool is_won = looks_better && blocks % more_blocks == 0 && against <= most_against(blocks);
    if (blocks < blocks_of_a_round || (looks_better && !is_won && blocks < most_blocks)) {
        next_block(calls_ + between_blocks, expected);
        return News::nothing;
    }
    std::sort(ratios_.begin(), ratios_.end());
    round_ = {.incumbent_s = incumbent_s_, .ratios = ratios_};
    if (!is_won) {
        end_round(again * calls_, ratio);
        return News::holds;
    }
    incumbent_s_ *= ratio;
    last_ = Way::incumbent;  // what was the challenger has just run
    end_round(again * calls_, 1 / ratio);
    return News::lost;
}

void Trial::end_round(std::int64_t next_at, double expected_ratio) {
    ratios_.clear();
    sunk_s_ = 0;
    is_check_ = true;
    looks_ = 1;
    next_block(next_at, expected_ratio);
}

void Trial::next_block(std::int64_t earliest, double expected_ratio) {
    stage_ = Stage::waiting;
    block_at_ = earliest;
    const double loss_s = loss(expected_ratio, incumbent_s_) + agreement_s_;
    // What gains needs not be afforded: a first call that set up connections is made up for soonest so.
    if (expected_ratio <= better && loss_s <= 0) return;
    const double risked_s = std::max(0.0, lost_s_ - sunk_s_) + std::max(0.0, loss_s);
    const double affordable = risked_s / (share() * incumbent_s_);
    constexpr double never = 1e18;
    block_at_ = std::max(earliest, static_cast<std::int64_t>(std::ceil(std::min(never, affordable))));
}

void Trial::challenge(double expected_s) {
    is_check_ = false;
    looks_ = 0;
    next_block(calls_ + between_blocks, expected_s / incumbent_s_);
}

void Trial::wait_until(std::int64_t calls) {
    agree_at_ = std::clamp(calls, calls_ + first_agreement, 2 * calls_);
}

void Trial::seek() {
    stage_ = Stage::seeking;
    agree_at_ = calls_ + first_agreement;
}

void Trial::none_is_left() { stage_ = round_.ratios.empty() ? Stage::settled : Stage::waiting; }

}  // namespace isochrone::core::trial

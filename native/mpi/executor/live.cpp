// SPDX-License-Identifier: BSD-3-Clause
#include "executor/live.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <type_traits>
#include <utility>

#include "comm/check.hpp"

namespace isochrone::mpi::executor {

using comm::check;
using core::select::Basis;
using core::trial::News;
using core::trial::Trial;
using core::trial::Way;

namespace {

/// In place of how long an agreement took: a recipe has failed on a rank.
constexpr int has_failed = 1 << 20;
static_assert(has_failed > core::trial::calls_of_an_agreement);

/// Whether a decision rests on times of calls of a known size on this shape.
bool is_measured_at_a_size(const Dispatcher::Decision& decision) {
    return decision.basis == Basis::measured && decision.rule != nullptr && decision.rule->bytes &&
           decision.rule->seconds > 0;
}

/// Of this thread: where ranks share cores, what others take meanwhile is no cost of pricing.
double cpu_time_s() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Adds the time of a block to what ranks spend in agreeing.
class Watch {
  public:
    explicit Watch(double& sum_s) : sum_s_(sum_s) {}
    ~Watch() { sum_s_ += PMPI_Wtime() - begin_s_; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

  private:
    double& sum_s_;
    double begin_s_ = PMPI_Wtime();
};

std::string times(double ratio) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2fx", ratio);
    return text.data();
}

std::string in_ms(double seconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g ms", 1e3 * seconds);
    return text.data();
}

}  // namespace

Live::Live(Dispatcher& dispatcher, Tell tell) : dispatcher_(dispatcher), tell_(std::move(tell)) {
    native_.basis = Basis::live;
    native_.reason = "it runs now and then in place of a recipe, to see whether that is still faster";
}

Live::Turn Live::next(const Dispatcher::Question& question, std::int64_t bytes,
                      const Dispatcher::Decision& decision) {
    if (is_over_ || decision.basis == Basis::none) return {&decision, nullptr};
    Kind* const kind = kind_of(question, bytes, decision);
    if (kind == nullptr) return {&decision, nullptr};
    const std::int64_t size = question.collective->agreed_bytes(bytes);
    kind->seen = {std::min(kind->seen.min_bytes, size), std::max(kind->seen.max_bytes, size)};
    const bool is_challenger = kind->trial.next() == Way::challenger;
    // Of its own root it may say more.
    const auto* incumbent = kind->incumbent == kind->planned ? &decision : kind->incumbent;
    const auto* const chosen = is_challenger ? kind->challenger : incumbent;
    return {chosen, kind->trial.is_settled() ? nullptr : kind};
}

Live::Kind* Live::kind_of(const Dispatcher::Question& question, std::int64_t bytes,
                          const Dispatcher::Decision& decision) {
    auto sizes = core::select::size_class(question.collective->agreed_bytes(bytes));
    const auto [known, is_new] = known_.try_emplace({&decision, sizes.min_bytes}, nullptr);
    if (!is_new) return known->second;
    // What was found to be the library's own needs no trial.
    const bool is_planned = decision.resolved != nullptr;
    if (!is_planned && decision.basis != Basis::predicted) return nullptr;
    // A rule may end within a class.
    sizes = {std::max(sizes.min_bytes, decision.min_bytes), std::min(sizes.max_bytes, decision.max_bytes)};
    std::string shape = core::select::shape_for(*question.collective, dispatcher_.layout(), question.root);
    const auto [kind, is_first] =
        kinds_.try_emplace({question.collective, question.in_order, std::move(shape), sizes.min_bytes});
    if (is_first) {
        Kind& made = kind->second;
        made.question = question;
        made.bytes = bytes;
        made.shape = std::get<std::string>(kind->first);
        made.sizes = sizes;
        made.planned = made.incumbent = &decision;
        if (is_planned) {
            made.trial = is_measured_at_a_size(decision) ? Trial::comparing()
                                                         : Trial::checking(std::max(1.0, decision.speedup));
            made.challenger = &native_;
        } else {
            const core::select::Search::Call call{question.collective, question.root, bytes,
                                                  question.in_order};
            made.search.emplace(dispatcher_.plan(), dispatcher_.layout(), call, cpu_time_s);
        }
    }
    return known->second = &kind->second;
}

Live::~Live() { end_talks(); }

void Live::end_talks() noexcept {
    for (auto& [key, kind] : kinds_) {
        kind.talk.calls_left = 0;
        if (kind.talk.request != MPI_REQUEST_NULL) PMPI_Wait(&kind.talk.request, MPI_STATUS_IGNORE);
    }
}

void Live::ended(Kind& kind, double seconds, MPI_Comm comm, int rank) {
    const bool is_due = kind.trial.record(seconds);
    if (kind.talk.calls_left > 0) {
        go_on(kind, comm, rank);
    } else if (is_due) {
        tell_times(kind, comm);
    }
}

void Live::tell_times(Kind& kind, MPI_Comm comm) {
    auto& talk = kind.talk;
    talk.slowest_s = kind.trial.recorded();
    const int longest = std::exchange(talk.longest, 0);
    talk.slowest_s.push_back(dispatcher_.has_failed() ? has_failed : longest);
    // What the agreement before took, of the rank that spent least in it: others may have come later.
    talk.slowest_s.push_back(-std::exchange(talk.spent_s, 0));
    const Watch watch(talk.spent_s);
    check(PMPI_Iallreduce(MPI_IN_PLACE, talk.slowest_s.data(), static_cast<int>(talk.slowest_s.size()),
                          MPI_DOUBLE, MPI_MAX, comm, &talk.request),
          "MPI_Iallreduce");
    talk.about = Talk::About::times;
    talk.calls_left = talk.calls;
}

void Live::tell_proposal(Kind& kind, MPI_Comm comm) {
    static_assert(std::is_trivially_copyable_v<Message>);
    auto& talk = kind.talk;
    const Watch watch(talk.spent_s);
    check(PMPI_Ibcast(&talk.proposal, sizeof talk.proposal, MPI_BYTE, 0, comm, &talk.request), "MPI_Ibcast");
    talk.about = Talk::About::proposal;
    talk.calls_left = talk.calls;
}

/// After a call that a talk went on beside. What fails is over: nothing is heard of it, and the incumbent
/// stays.
void Live::go_on(Kind& kind, MPI_Comm comm, int rank) {
    auto& talk = kind.talk;
    const int calls_left = std::exchange(talk.calls_left, 0) - 1;
    if (talk.request != MPI_REQUEST_NULL) {
        const Watch watch(talk.spent_s);
        int is_done = 0;
        check(PMPI_Test(&talk.request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
        if (is_done != 0) {
            talk.longest = std::max(talk.longest, talk.calls - calls_left);
        } else if (calls_left == 0) {
            check(PMPI_Wait(&talk.request, MPI_STATUS_IGNORE), "MPI_Wait");
            talk.longest = core::trial::calls_of_an_agreement;
        }
    }
    talk.calls_left = calls_left;
    if (calls_left > 0) return;
    if (talk.about == Talk::About::times) {
        hear_times(kind, comm, rank);
    } else {
        hear_proposal(kind);
    }
}

void Live::hear_times(Kind& kind, MPI_Comm comm, int rank) {
    auto& talk = kind.talk;
    auto& slowest_s = talk.slowest_s;
    const double agreement_s = -slowest_s.back();
    slowest_s.pop_back();
    const auto longest = static_cast<int>(slowest_s.back());
    slowest_s.pop_back();
    is_over_ = is_over_ || longest == has_failed;
    if (is_over_) return dispatcher_.stop();
    if (longest > 0) talk.calls = longest;
    switch (kind.trial.agreed(std::move(slowest_s), agreement_s)) {
        case News::nothing:
            break;
        case News::timed:
            compare(kind);
            break;
        case News::seeks:
            if (rank == 0) {
                try {
                    kind.talk.proposal = propose(kind);
                } catch (const std::exception&) {
                    kind.talk.proposal = {};  // the others wait for it
                }
            }
            tell_proposal(kind, comm);
            break;
        case News::lost:
            decided(kind, true);
            break;
        case News::holds:
            decided(kind, false);
    }
}

/// Holds what a recipe takes against what its rule says. A call of another size than the one that was
/// measured takes as long, or in proportion longer or shorter, or something between.
void Live::compare(Kind& kind) {
    const core::select::Measured& measured = *kind.planned->rule;
    const auto of_measured = [&](std::int64_t size) {
        return (static_cast<double>(size) + 1) / (static_cast<double>(*measured.bytes) + 1);
    };
    kind.trial.compared(measured.seconds * std::min(1.0, of_measured(kind.seen.min_bytes)),
                        measured.seconds * std::max(1.0, of_measured(kind.seen.max_bytes)),
                        std::max(1.0, kind.planned->speedup));
}

void Live::decided(Kind& kind, bool is_lost) {
    const bool incumbent_is_native = kind.incumbent->resolved == nullptr;
    const bool challenger_is_native = kind.challenger->resolved == nullptr;
    const auto& round = kind.trial.round();
    kind.proof.add(round, incumbent_is_native, challenger_is_native, is_lost);
    const bool was_seeking = kind.is_seeking();
    if (was_seeking) kind.search->took(round.incumbent_s * round.ratio(), is_lost);
    if (is_lost) {
        turn_over(kind);
    } else if (!challenger_is_native && (kind.nearest == nullptr || round.ratio() < kind.nearest_ratio)) {
        kind.nearest = kind.challenger;
        kind.nearest_ratio = round.ratio();
    }
    if (kind.incumbent->resolved == nullptr) dispatcher_.release_scratch();
    const bool is_told = is_lost || incumbent_is_native || challenger_is_native;
    if (was_seeking && kind.search->is_full()) end_seeking(kind);
    if (is_told)
        tell_(kind, kind.incumbent->resolved != nullptr ? Event::recipe_is_kept : Event::native_is_kept);
    if (kind.is_seeking()) kind.trial.seek();
}

/// From now on the library's own is looked at again beside a recipe, and beside the library's own the recipe
/// that came nearest to it.
void Live::end_seeking(Kind& kind) {
    kind.search->end();
    if (kind.incumbent->resolved != nullptr) {
        kind.challenger = &native_;
    } else if (kind.nearest != nullptr) {
        kind.challenger = kind.nearest;
    }
}

void Live::turn_over(Kind& kind) {
    Dispatcher::Decision better = *kind.challenger;
    better.basis = Basis::live;
    better.rule = nullptr;
    if (better.resolved != nullptr) {
        better.speedup = kind.proof.speedup;
        better.reason = "found live: " + times(better.speedup) + " faster than native for " + kind.shape;
    } else {
        better.reason = "found live: native is " + times(1 / kind.trial.round().ratio()) + " faster than " +
                        core::compose::to_text(kind.incumbent->resolved->recipe) + " for " + kind.shape;
    }
    kind.challenger = kind.incumbent;
    kind.incumbent = &kind.made.emplace_back(std::move(better));
}

/// On rank 0.
Live::Message Live::propose(Kind& kind) {
    core::select::MessageCost elsewhere;
    for (const auto& [key, other] : kinds_) {
        if (&other != &kind && other.search) elsewhere.add(other.search->tried());
    }
    const auto found = kind.search->propose(kind.trial.incumbent_s(), kind.trial.calls(), elsewhere);
    Message message{.what = found.what,
                    .wait_until = found.wait_until,
                    .price_s = found.priced.seconds,
                    .messages = found.priced.messages,
                    .took = found.priced.took,
                    .is_by_messages = found.is_by_messages,
                    .expected_s = found.expected_s,
                    .recipe = {}};
    if (found.what != core::select::Proposal::What::recipe) return message;
    const std::string text = core::compose::to_text(found.priced.recipe);
    if (text.size() >= message.recipe.size()) return {};
    text.copy(message.recipe.data(), text.size());
    return message;
}

void Live::hear_proposal(Kind& kind) {
    using What = core::select::Proposal::What;
    const Message& proposal = kind.talk.proposal;
    if (proposal.what == What::wait) return kind.trial.wait_until(proposal.wait_until);
    Dispatcher::Decision decision;
    if (proposal.what == What::recipe) {
        const auto recipe = core::compose::parse_recipe(proposal.recipe.data());
        const core::select::Priced priced{recipe, proposal.price_s, proposal.messages, proposal.took};
        kind.search->tries(priced);
        decision = dispatcher_.decide_on(kind.question, recipe, kind.bytes);
        decision.model_s = priced.model_s();
    }
    if (decision.resolved == nullptr) {
        // The next may run here.
        if (proposal.what == What::recipe && !kind.search->is_full()) return kind.trial.seek();
        end_seeking(kind);
        tell_(kind, Event::nothing_is_left);
        return kind.trial.none_is_left();
    }
    decision.basis = Basis::predicted;
    decision.reason = "predicted " + in_ms(proposal.price_s);
    if (proposal.is_by_messages) decision.reason += ", others less, but messages take long";
    if (kind.proof.blocks > 0) decision.reason += ", after those before " + in_ms(proposal.expected_s);
    decision.reason +=
        ", what runs takes " + in_ms(kind.trial.incumbent_s()) + ": on trial for " + kind.shape;
    kind.challenger = &kind.made.emplace_back(std::move(decision));
    kind.trial.challenge(proposal.expected_s);
    tell_(kind, Event::begun);
}

}  // namespace isochrone::mpi::executor

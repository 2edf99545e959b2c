// SPDX-License-Identifier: BSD-3-Clause
#include "bench/candidate.hpp"

#include <stdexcept>

#include "bench/buffer.hpp"
#include "clock/clock.hpp"

namespace isochrone::mpi::bench {
namespace {

/// Others on each rank and in each check, so that nothing is right by chance, or from the check before.
unsigned contents(unsigned check, int rank) { return check * 977 + static_cast<unsigned>(rank) * 7919; }

int iterations(const Case& one) { return one.loop ? one.loop->iterations : 1; }

}  // namespace

Candidate::Candidate(std::string name, const Case& one, const Party& party)
    : name_(std::move(name)), case_(&one), party_(&party) {
    if (!party.takes_part()) return;
    operands_ = operands_of(one, party.rank(), party.size());
    if (one.pattern != nullptr) {
        round_ = {.comm = party.comm(),
                  .peers = one.pattern->peers(party.rank(), party.size(), one.root),
                  .bytes = static_cast<int>(one.bytes),
                  .window = one.window};
        return;
    }
    party.library().prepare(*one.collective, "");
    if (name_ == core::compose::native_name) return;
    if (name_.starts_with(native_prefix)) {
        algorithm_ = name_.substr(native_prefix.size());
        party.library().prepare(*one.collective, algorithm_);
    } else if (name_ == "plan") {
        if (party.dispatcher() == nullptr) throw std::invalid_argument("recipe 'plan' needs --plan");
        from_plan_ = true;
        for (int i = 0; i < iterations(one); ++i) party.dispatcher()->decide(question(root_in(i)), one.bytes);
    } else {
        resolved_ = &party.communicator().resolve(*one.collective, core::compose::parse_recipe(name_));
        for (int i = 0; i < iterations(one); ++i) party.communicator().prepare(*resolved_, root_in(i));
    }
}

bool Candidate::is_one_call_of_library() const {
    return name_ == core::compose::native_name && case_->pattern == nullptr && !case_->loop;
}

bool Candidate::has_library_inside() const {
    const core::compose::Resolved* resolved =
        from_plan_ ? party_->dispatcher()->decide(question(case_->root), case_->bytes).resolved : resolved_;
    return resolved != nullptr && resolved->has_library_inside();
}

double Candidate::parts() const {
    if (case_->pattern == nullptr) return 1;
    return static_cast<double>(rounds_) * core::patterns::parts(*case_->pattern, case_->window);
}

void Candidate::fill(const Memory& memory, unsigned check) const {
    const unsigned own = contents(check, party_->rank());
    Buffer::fill(memory.input, operands_.input_bytes, own);
    Buffer::fill(memory.output, operands_.output_bytes, own + 389);
}

std::vector<std::byte> Candidate::expected(const Memory& memory, unsigned check) const {
    std::vector<std::byte> result(memory.output, memory.output + operands_.output_bytes);
    if (case_->pattern == nullptr) {
        // However often it is called, and whoever is the root then: all have the same after the first.
        run_library("", {memory.input, result.data()}, case_->root);
        return result;
    }
    std::byte* message = result.data();
    for (int i = 0; i < round_.window; ++i) {
        for (const auto& from : round_.peers.from) {
            Buffer::fill(message, case_->bytes, contents(check, from.rank), from.slot * case_->bytes);
            message += case_->bytes;
        }
    }
    return result;
}

void Candidate::run_pattern(const Memory& memory) const {
    using core::patterns::Flow;
    switch (case_->pattern->flow) {
        case Flow::ping_pong:
            return patterns::ping_pong(round_, rounds_, memory.input, memory.output);
        case Flow::exchange:
            return patterns::exchange(round_, rounds_, memory.input, memory.output);
        case Flow::stream:
            return patterns::stream(round_, rounds_, memory.input, memory.output);
    }
}

void Candidate::run(const Memory& memory) const {
    if (case_->pattern != nullptr) return run_pattern(memory);
    if (case_->loop) return run_loop(memory);
    run_once(memory, case_->root);
}

void Candidate::run_loop(const Memory& memory) const {
    const Loop& loop = *case_->loop;
    for (int i = 0; i < loop.iterations; ++i) {
        for (int call = 0; call < loop.calls; ++call) run_once(memory, root_in(i));
        if (loop.compute_s > 0) clock::sleep_until(clock::now() + loop.compute_s, party_->occupancy());
    }
}

int Candidate::root_in(int iteration) const {
    if (!case_->loop) return case_->root;
    const std::int64_t moved = std::int64_t{case_->loop->root_step} * iteration;
    return static_cast<int>((case_->root + moved) % party_->size());
}

void Candidate::run_once(const Memory& memory, int root) const {
    if (from_plan_) {
        const auto& decision = party_->dispatcher()->decide(question(root), case_->bytes);
        if (decision.resolved != nullptr) {
            party_->dispatcher()->run(decision, root, buffers(memory), operands_.sizes);
            return;
        }
    }
    if (resolved_ != nullptr) {
        party_->communicator().run(*resolved_, root, buffers(memory), operands_.sizes);
    } else {
        run_library(algorithm_, memory, root);
    }
}

void Candidate::run_library(const std::string& algorithm, const Memory& memory, int root) const {
    party_->library().run(*case_->collective, algorithm,
                          {.input = memory.input,
                           .output = memory.output,
                           .count = static_cast<int>(operands_.count),
                           .type = operands_.type,
                           .op = operands_.op,
                           .root = root,
                           .input_blocks = &operands_.input,
                           .output_blocks = &operands_.output});
}

executor::Buffers Candidate::buffers(const Memory& memory) const {
    return {.input = operands_.has_input ? memory.input : memory.output,
            .output = operands_.has_output ? memory.output : nullptr,
            .unit_bytes = operands_.element_bytes,
            .datatype = operands_.type,
            .op = operands_.op};
}

}  // namespace isochrone::mpi::bench

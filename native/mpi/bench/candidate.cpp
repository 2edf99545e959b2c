// SPDX-License-Identifier: BSD-3-Clause
#include "bench/candidate.hpp"

#include <stdexcept>

#include "bench/buffer.hpp"

namespace isochrone::mpi::bench {
namespace {

/// Others on each rank and in each check, so that nothing is right by chance, or from the check before.
unsigned contents(unsigned check, int rank) { return check * 977 + static_cast<unsigned>(rank) * 7919; }

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
        party.dispatcher()->decide(question(), one.bytes);
    } else {
        if (party.communicator() == nullptr)
            throw std::invalid_argument("recipe '" + name_ + "' needs --topology");
        resolved_ = &party.communicator()->resolve(*one.collective, core::compose::parse_recipe(name_));
        party.communicator()->prepare(*resolved_, one.root);
    }
}

bool Candidate::has_library_inside() const {
    const core::compose::Resolved* resolved =
        from_plan_ ? party_->dispatcher()->decide(question(), case_->bytes).resolved : resolved_;
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
        run_library("", {memory.input, result.data()});
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
    if (from_plan_) {
        const auto& decision = party_->dispatcher()->decide(question(), case_->bytes);
        if (decision.resolved != nullptr) {
            party_->dispatcher()->run(decision, case_->root, buffers(memory), operands_.sizes);
            return;
        }
    }
    if (resolved_ != nullptr) {
        party_->communicator()->run(*resolved_, case_->root, buffers(memory), operands_.sizes);
    } else {
        run_library(algorithm_, memory);
    }
}

void Candidate::run_library(const std::string& algorithm, const Memory& memory) const {
    party_->library().run(*case_->collective, algorithm,
                          {.input = memory.input,
                           .output = memory.output,
                           .count = static_cast<int>(operands_.count),
                           .type = operands_.type,
                           .op = operands_.op,
                           .root = case_->root,
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

// SPDX-License-Identifier: BSD-3-Clause
#include "bench/candidate.hpp"

#include <stdexcept>

namespace isochrone::mpi::bench {

Candidate::Candidate(std::string name, const Case& one, const Party& party)
    : name_(std::move(name)), case_(&one), party_(&party) {
    if (!party.takes_part()) return;
    operands_ = operands_of(one, party.rank(), party.size());
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

void Candidate::run(const Memory& memory) const {
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

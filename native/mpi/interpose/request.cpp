// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/request.hpp"

#include "preload/word.hpp"

namespace isochrone::mpi::interpose {

using executor::Dispatcher;
using preload::handle;

Request Requests::examine(const Call& call, int rank, int size) {
    const auto& collective = *call.collective;
    Request request{.question = {&collective, call.root}};
    if (call.root < 0 || call.root >= size) return request;
    if (!collective.has_data) {
        request.is_valid = request.is_possible = true;
        return request;
    }
    if (collective.has_blocks()) {
        examine_blocks(call, rank, size, request);
        return request;
    }
    const auto type = handle<MPI_Datatype>(call.type);
    if (call.count < 0 || type == MPI_DATATYPE_NULL) return request;
    if (call.count == 0) {
        request.is_valid = true;
        return request;
    }
    const bool has_output = collective.has_output(rank == call.root);
    // Of the first rank of an exscan, libraries do not look at it.
    const bool gets_nothing = collective.skips_first && rank == 0 && call.input != MPI_IN_PLACE;
    if (has_output && !gets_nothing && call.output == MPI_IN_PLACE) return request;
    if (collective.reduces) {
        // A program that names one buffer twice means the same, though MPI does not allow it.
        request.in_place = has_output && (call.input == MPI_IN_PLACE || call.input == call.output);
        if (call.input == MPI_IN_PLACE && !has_output) return request;
        if (!request.in_place && call.input == nullptr) return request;
    }
    const void* some = has_output && (!gets_nothing || request.in_place) ? call.output : call.input;
    request.type = types_.find(const_cast<void*>(some), call.count, type);
    if (request.type == nullptr || __builtin_mul_overflow(request.type->size, call.count, &request.bytes)) {
        request.bytes = 0;
        return request;
    }
    request.is_valid = true;
    request.is_possible = request.bytes > 0;
    if (!collective.reduces) return request;
    // All ranks give the same type (MPI-3.1, section 5.9.1), so all come to the same.
    const Type& about = *request.type;
    examine_operation(call, type, about.dense && about.begin == 0 && about.extent == about.size, request);
    return request;
}

void Requests::examine_blocks(const Call& call, int rank, int size, Request& request) {
    const auto& collective = *call.collective;
    request.blocks = BlocksCall::read(call, rank, size, types_);
    if (!request.blocks) return;
    request.is_valid = true;
    request.bytes = request.blocks->agreed_bytes(collective);
    // Of what ranks do not know alike nothing may be decided.
    request.is_possible = collective.agreed == core::collectives::Agreed::nothing || request.bytes > 0;
    if (!collective.reduces) return;
    examine_operation(call, request.blocks->input.datatype, request.blocks->is_dense(), request);
}

/// Of a reduction. `is_dense`: it can work on the program's memory as it is.
void Requests::examine_operation(const Call& call, MPI_Datatype type, bool is_dense, Request& request) {
    const auto op = handle<MPI_Op>(call.op);
    request.is_valid = operations_.fit(op, type, types_.is_basic(type), self_);
    request.is_possible = request.is_possible && request.is_valid && is_dense;
    request.is_exact = Operations::is_exact(op, type);
    if (request.is_possible) request.question.in_order = reproducible_ || !Operations::commutes(op);
}

void Requests::run(Dispatcher& dispatcher, const Dispatcher::Decision& decision, const Call& call,
                   const Request& request, int rank) {
    const auto& collective = *call.collective;
    const auto type = handle<MPI_Datatype>(call.type);
    if (!collective.has_data) {
        dispatcher.run(decision, call.root, {}, 0);
    } else if (request.blocks) {
        run_blocks(dispatcher, decision, call, *request.blocks, rank, self_);
    } else if (collective.reduces) {
        const executor::Buffers buffers{
            .input = request.in_place ? call.output : call.input,
            .output = collective.has_output(rank == call.root) ? call.output : nullptr,
            .in_place = request.in_place,
            .unit_bytes = request.type->size,
            .datatype = type,
            .op = handle<MPI_Op>(call.op)};
        dispatcher.run(decision, call.root, buffers, call.count);
    } else {
        const bool is_root = rank == call.root;
        Packed packed(call.output, call.count, type, *request.type, self_, is_root);
        try {
            dispatcher.run(decision, call.root, {.input = packed.data(), .output = packed.data()},
                           request.bytes);
        } catch (...) {
            packed.abandon();
            throw;
        }
        if (!is_root) packed.unpack();
    }
}

}  // namespace isochrone::mpi::interpose

// SPDX-License-Identifier: BSD-3-Clause
//
// What reductions are compared by: an operation that shows in which order it was applied.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace isochrone::tests {

/// x -> a x + b (mod 2^64), composed: associative, not commutative.
struct Affine {
    std::uint64_t a;
    std::uint64_t b;
    friend bool operator==(const Affine&, const Affine&) = default;
};
inline void compose_affine(void* left, void* right, int* count, MPI_Datatype*) {
    const auto* f = static_cast<Affine*>(left);
    auto* g = static_cast<Affine*>(right);
    for (int i = 0; i < *count; ++i) g[i] = {f[i].a * g[i].a, f[i].a * g[i].b + f[i].b};
}

/// Affine functions, and how they are combined: in rank order, or, since translations commute, in any.
class Affines {
  public:
    explicit Affines(bool commute) : commute_(commute) {
        MPI_Type_contiguous(2, MPI_UINT64_T, &type_);
        MPI_Type_commit(&type_);
        MPI_Op_create(compose_affine, commute ? 1 : 0, &op_);
    }
    ~Affines() {
        MPI_Op_free(&op_);
        MPI_Type_free(&type_);
    }
    Affines(const Affines&) = delete;
    Affines& operator=(const Affines&) = delete;

    [[nodiscard]] std::vector<Affine> some(std::size_t count, std::uint64_t seed) const {
        std::mt19937_64 random(seed);
        std::vector<Affine> result(count);
        for (auto& f : result) f = {commute_ ? 1 : random() | 1U, random()};
        return result;
    }
    [[nodiscard]] bool commute() const { return commute_; }
    [[nodiscard]] MPI_Datatype type() const { return type_; }
    [[nodiscard]] MPI_Op op() const { return op_; }

  private:
    bool commute_;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    MPI_Op op_ = MPI_OP_NULL;
};

}  // namespace isochrone::tests

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/layout.hpp"

#include <algorithm>
#include <vector>

#include "comm/check.hpp"

namespace isochrone::mpi::interpose {
namespace {

using comm::check;

#ifdef ISOCHRONE_LARGE_COUNTS
using Length = MPI_Count;
#else
using Length = int;
#endif

/// By which constructor a type was made, and of how many numbers and types.
struct Envelope {
    explicit Envelope(MPI_Datatype type) {
#ifdef ISOCHRONE_LARGE_COUNTS
        // This one tells of all types; MPI_Type_get_envelope fails for those made with large counts.
        check(PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner),
              "MPI_Type_get_envelope");
#else
        check(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner),
              "MPI_Type_get_envelope");
#endif
    }
    [[nodiscard]] bool has_name() const {
        return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
               combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
    }

    int combiner = MPI_COMBINER_NAMED;
    Length integers = 0;
    Length addresses = 0;
    Length counts = 0;  // only of types made with large ones
    Length types = 0;
};

/// How a type was made (MPI-3.1, section 4.1.13): its numbers in the order of the standard, whatever the
/// width in which the constructor took them, and the types it was made of.
class Construction {
  public:
    explicit Construction(MPI_Datatype type) : envelope_(type) {
        if (has_name()) return;
        std::vector<int> small(static_cast<std::size_t>(envelope_.integers));
        std::vector<MPI_Aint> bytes(static_cast<std::size_t>(envelope_.addresses));
        std::vector<MPI_Count> large(static_cast<std::size_t>(envelope_.counts));
        types_.resize(static_cast<std::size_t>(envelope_.types), MPI_DATATYPE_NULL);
#ifdef ISOCHRONE_LARGE_COUNTS
        check(PMPI_Type_get_contents_c(type, envelope_.integers, envelope_.addresses, envelope_.counts,
                                       envelope_.types, small.data(), bytes.data(), large.data(),
                                       types_.data()),
              "MPI_Type_get_contents");
#else
        check(PMPI_Type_get_contents(type, envelope_.integers, envelope_.addresses, envelope_.types,
                                     small.data(), bytes.data(), types_.data()),
              "MPI_Type_get_contents");
#endif
        // A subarray's order comes last without large counts, and before them with.
        if (combiner() == MPI_COMBINER_SUBARRAY) {
            order_ = small.back();
            small.pop_back();
        }
        numbers_.assign(small.begin(), small.end());
        numbers_.insert(numbers_.end(), bytes.begin(), bytes.end());
        numbers_.insert(numbers_.end(), large.begin(), large.end());
    }
    ~Construction() {
        for (MPI_Datatype& type : types_) {
            if (type != MPI_DATATYPE_NULL && !Envelope(type).has_name()) PMPI_Type_free(&type);
        }
    }
    Construction(const Construction&) = delete;
    Construction& operator=(const Construction&) = delete;

    [[nodiscard]] bool has_name() const { return envelope_.has_name(); }
    [[nodiscard]] int combiner() const { return envelope_.combiner; }
    /// Whether it is made of nothing.
    [[nodiscard]] bool is_empty() const { return types_.empty(); }
    [[nodiscard]] bool is_row_major() const { return order_ == MPI_ORDER_C; }
    [[nodiscard]] std::int64_t number(std::int64_t index) const {
        return numbers_[static_cast<std::size_t>(index)];
    }
    [[nodiscard]] MPI_Datatype type(std::int64_t index) const {
        return types_[static_cast<std::size_t>(index)];
    }

  private:
    Envelope envelope_;
    int order_ = MPI_ORDER_C;
    std::vector<std::int64_t> numbers_;
    std::vector<MPI_Datatype> types_;
};

/// A part of a type: its block, and how far it is from one element to the next.
struct Element {
    Block block;
    std::int64_t extent = 0;
};

std::optional<Element> element(MPI_Datatype type) {
    const auto block = one_block(type);
    if (!block) return {};
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    check(PMPI_Type_get_extent_x(type, &lower, &extent), "MPI_Type_get_extent");
    return Element{*block, extent};
}

/// Blocks as they come: in one piece as long as each begins where the one before ends.
class Row {
  public:
    /// `count` elements, the first at `at`. False: not in one piece.
    bool add(std::int64_t at, std::int64_t count, const Element& one) {
        const std::int64_t size = count * one.block.size;
        if (size == 0) return true;
        if (count > 1 && one.extent != one.block.size) return false;
        const std::int64_t begin = at + one.block.begin;
        if (block_.size == 0) {
            block_ = {begin, size};
            return true;
        }
        if (begin != block_.begin + block_.size) return false;
        block_.size += size;
        return true;
    }
    [[nodiscard]] Block block() const { return block_; }

  private:
    Block block_;
};

/// The elements of a subarray: one run if all dimensions inside one are whole, and all outside it have one.
bool add_subarray(const Construction& made, const Element& one, Row& row) {
    const std::int64_t dimensions = made.number(0);
    std::int64_t whole = 1;   // elements in all inner dimensions
    std::int64_t first = 0;   // of the run
    std::int64_t length = 1;  // of the run
    bool inner_are_whole = true;
    for (std::int64_t i = 0; i < dimensions; ++i) {
        const std::int64_t d = made.is_row_major() ? dimensions - 1 - i : i;
        const std::int64_t size = made.number(1 + d);
        const std::int64_t part = made.number(1 + dimensions + d);
        if (!inner_are_whole && part != 1) return false;
        first += made.number(1 + 2 * dimensions + d) * whole;
        length *= part;
        whole *= size;
        inner_are_whole = inner_are_whole && part == size;
    }
    return row.add(first * one.extent, length, one);
}

/// Adds all blocks of a type; false: not in one piece.
bool add_all(const Construction& made, Row& row) {
    if (made.is_empty()) return true;
    // Those of MPI_Type_struct differ, of the others all are of one.
    auto one = element(made.type(0));
    if (!one) return false;
    const auto n = [&](std::int64_t index) { return made.number(index); };
    switch (made.combiner()) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED:
            return row.add(0, 1, *one);
        case MPI_COMBINER_CONTIGUOUS:
            return row.add(0, n(0), *one);
        case MPI_COMBINER_VECTOR:
        case MPI_COMBINER_HVECTOR: {
            const std::int64_t stride = made.combiner() == MPI_COMBINER_VECTOR ? n(2) * one->extent : n(2);
            Row block;
            if (!block.add(0, n(1), *one)) return false;
            return row.add(0, n(0), {block.block(), stride});
        }
        case MPI_COMBINER_INDEXED:
        case MPI_COMBINER_HINDEXED:
        case MPI_COMBINER_STRUCT: {
            const std::int64_t unit = made.combiner() == MPI_COMBINER_INDEXED ? one->extent : 1;
            for (std::int64_t i = 0; i < n(0); ++i) {
                if (made.combiner() == MPI_COMBINER_STRUCT && n(1 + i) > 0) {
                    one = element(made.type(i));
                    if (!one) return false;
                }
                if (!row.add(n(1 + n(0) + i) * unit, n(1 + i), *one)) return false;
            }
            return true;
        }
        case MPI_COMBINER_INDEXED_BLOCK:
        case MPI_COMBINER_HINDEXED_BLOCK: {
            const std::int64_t unit = made.combiner() == MPI_COMBINER_INDEXED_BLOCK ? one->extent : 1;
            for (std::int64_t i = 0; i < n(0); ++i) {
                if (!row.add(n(2 + i) * unit, n(1), *one)) return false;
            }
            return true;
        }
        case MPI_COMBINER_SUBARRAY:
            return add_subarray(made, *one, row);
        default:
            return false;
    }
}

}  // namespace

std::optional<Block> one_block(MPI_Datatype type) {
    const Construction made(type);
    if (made.has_name()) {
        MPI_Count size = 0;
        MPI_Count lower = 0;
        MPI_Count extent = 0;
        check(PMPI_Type_size_x(type, &size), "MPI_Type_size");
        check(PMPI_Type_get_true_extent_x(type, &lower, &extent), "MPI_Type_get_true_extent");
        if (size != extent) return {};
        return Block{lower, size};
    }
    Row row;
    if (!add_all(made, row)) return {};
    return row.block();
}

}  // namespace isochrone::mpi::interpose

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/datatype.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "comm/check.hpp"
#include "executor/message.hpp"
#include "interpose/layout.hpp"

namespace isochrone::mpi::interpose {
namespace {

using comm::check;

/// MPI_Pack counts bytes in int: larger messages are packed in parts.
constexpr std::int64_t largest_part = std::int64_t{1} << 30;

int forget_type(MPI_Datatype /*type*/, int /*key*/, void* value, void* /*extra*/) {
    delete static_cast<Type*>(value);
    return MPI_SUCCESS;
}

/// The types with a name that programs use most, all in one piece. Others are found out about like any.
constexpr auto basic_types = [] {
    return std::array{MPI_BYTE,
                      MPI_CHAR,
                      MPI_SIGNED_CHAR,
                      MPI_UNSIGNED_CHAR,
                      MPI_PACKED,
                      MPI_SHORT,
                      MPI_UNSIGNED_SHORT,
                      MPI_INT,
                      MPI_UNSIGNED,
                      MPI_LONG,
                      MPI_UNSIGNED_LONG,
                      MPI_LONG_LONG_INT,
                      MPI_UNSIGNED_LONG_LONG,
                      MPI_FLOAT,
                      MPI_DOUBLE,
                      MPI_INT8_T,
                      MPI_INT16_T,
                      MPI_INT32_T,
                      MPI_INT64_T,
                      MPI_UINT8_T,
                      MPI_UINT16_T,
                      MPI_UINT32_T,
                      MPI_UINT64_T,
                      MPI_AINT,
                      MPI_OFFSET,
                      MPI_COUNT,
                      MPI_C_BOOL,
                      MPI_C_FLOAT_COMPLEX,
                      MPI_C_DOUBLE_COMPLEX,
                      MPI_WCHAR,
                      MPI_INTEGER,
                      MPI_REAL,
                      MPI_DOUBLE_PRECISION,
                      MPI_COMPLEX,
                      MPI_DOUBLE_COMPLEX,
                      MPI_LOGICAL,
                      MPI_CHARACTER};
};

Type describe(MPI_Datatype type) {
    MPI_Count size = 0;
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    check(PMPI_Type_size_x(type, &size), "MPI_Type_size");
    check(PMPI_Type_get_extent_x(type, &lower, &extent), "MPI_Type_get_extent");
    Type about{.size = size, .extent = extent};
    if (const auto block = one_block(type)) {
        about.begin = block->begin;
        about.dense = block->size == size;
    }
    return about;
}

}  // namespace

Types::Types(Self& self) : self_(self) {
    check(PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget_type, &key_, nullptr),
          "MPI_Type_create_keyval");
    for (MPI_Datatype type : basic_types()) {
        if (type != MPI_DATATYPE_NULL) basic_.emplace(type, describe(type));  // no Fortran: no Fortran types
    }
}

const Type* Types::find(void* buffer, std::int64_t count, MPI_Datatype type) {
    if (const auto basic = basic_.find(type); basic != basic_.end()) {
        return buffer != nullptr ? &basic->second : nullptr;
    }
    // The library's own call looks at the same things, and returns what it finds.
    const auto some = static_cast<int>(std::min<std::int64_t>(count, std::numeric_limits<int>::max()));
    const int code = self_.with([&](MPI_Comm comm) { return PMPI_Bcast(buffer, some, type, 0, comm); });
    if (code != MPI_SUCCESS) return nullptr;
    void* value = nullptr;
    int found = 0;
    check(PMPI_Type_get_attr(type, key_, static_cast<void*>(&value), &found), "MPI_Type_get_attr");
    if (found != 0) return static_cast<Type*>(value);
    const std::lock_guard lock(mutex_);
    check(PMPI_Type_get_attr(type, key_, static_cast<void*>(&value), &found), "MPI_Type_get_attr");
    if (found != 0) return static_cast<Type*>(value);
    auto about = std::make_unique<Type>(describe(type));
    check(PMPI_Type_set_attr(type, key_, about.get()), "MPI_Type_set_attr");
    return about.release();
}

/// Calls part(address, elements, offset in the copy, bytes) for as many elements at once as MPI can count.
template <class Part>
void Packed::in_parts(Part&& part) {
    const std::int64_t most =
        std::clamp<std::int64_t>(largest_part / about_.size, 1, std::numeric_limits<int>::max());
    for (std::int64_t first = 0; first < count_; first += most) {
        const std::int64_t here = std::min(most, count_ - first);
        part(static_cast<char*>(buffer_) + about_.extent * first, static_cast<int>(here),
             copy_.get() + first * about_.size, here * about_.size);
    }
}

/// Whether the data are to be packed by a message to this rank itself: MPI_Pack takes no null pointer, which
/// MPI_BOTTOM is, and no element of more bytes than an int counts.
bool Packed::by_message() const { return buffer_ == nullptr || about_.size > largest_part; }

void Packed::send_to_self(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                          MPI_Datatype to_type) {
    check(self_.with([&](MPI_Comm comm) {
        return PMPI_Sendrecv(from, count, type, 0, 0, to, to_count, to_type, 0, 0, comm, MPI_STATUS_IGNORE);
    }),
          "MPI_Sendrecv");
}

Packed::Packed(void* buffer, std::int64_t count, MPI_Datatype type, const Type& about, Self& self, bool fill)
    : buffer_(buffer), count_(count), type_(type), about_(about), self_(self) {
    if (about.dense && (count == 1 || about.extent == about.size)) {
        direct_ = static_cast<char*>(buffer) + about.begin;
        return;
    }
    copy_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(count * about.size));
    if (!fill) return;
    in_parts([&](char* address, int elements, char* copy, std::int64_t bytes) {
        if (by_message()) {
            const executor::Message flat(copy, {{0, bytes}}, 1);
            send_to_self(address, elements, type_, flat.address(), flat.count(), flat.type());
        } else {
            int position = 0;
            check(
                PMPI_Pack(address, elements, type_, copy, static_cast<int>(bytes), &position, MPI_COMM_SELF),
                "MPI_Pack");
        }
    });
}

void Packed::unpack() {
    if (!copy_) return;
    in_parts([&](char* address, int elements, char* copy, std::int64_t bytes) {
        if (by_message()) {
            const executor::Message flat(copy, {{0, bytes}}, 1);
            send_to_self(flat.address(), flat.count(), flat.type(), address, elements, type_);
        } else {
            int position = 0;
            check(PMPI_Unpack(copy, static_cast<int>(bytes), &position, address, elements, type_,
                              MPI_COMM_SELF),
                  "MPI_Unpack");
        }
    });
}

}  // namespace isochrone::mpi::interpose

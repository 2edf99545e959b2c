// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISOCHRONE_SMPI
#include "bench/control_variable.hpp"

#include <array>

#include "comm/check.hpp"

namespace isochrone::mpi::bench {

using comm::check;

namespace {

/// Of a variable, for as long as it is read or written.
class Handle {
  public:
    explicit Handle(int index) {
        int count = 0;
        check(MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count), "MPI_T_cvar_handle_alloc");
    }
    ~Handle() { MPI_T_cvar_handle_free(&handle_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    [[nodiscard]] MPI_T_cvar_handle get() const { return handle_; }

  private:
    MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
};

}  // namespace

ControlVariable find_variable(const std::string& wanted) {
    int index = -1;
    if (MPI_T_cvar_get_index(wanted.c_str(), &index) != MPI_SUCCESS) return {};
    std::array<char, 256> name{};
    std::array<char, 4096> description{};
    int name_length = static_cast<int>(name.size());
    int description_length = static_cast<int>(description.size());
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &type, &names, description.data(),
                            &description_length, &binding, &scope) != MPI_SUCCESS) {
        return {};
    }
    const bool is_fixed = scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY;
    return {index, names, description.data(), is_fixed};
}

void set_variable(int index, int value) {
    const Handle handle(index);
    check(MPI_T_cvar_write(handle.get(), &value), "MPI_T_cvar_write");
}

int value_of(const std::string& name) {
    const int index = find_variable(name).index;
    if (index < 0) return 0;
    const Handle handle(index);
    std::array<int, 8> value{};  // room for any basic type
    check(MPI_T_cvar_read(handle.get(), value.data()), "MPI_T_cvar_read");
    return value[0];
}

}  // namespace isochrone::mpi::bench
#endif

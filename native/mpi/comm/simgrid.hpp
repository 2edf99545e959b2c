// SPDX-License-Identifier: BSD-3-Clause
//
// Which algorithm SimGrid runs for a collective, on all simulated ranks. It exports these functions, and none
// of its headers declares them.
#pragma once

#ifdef ISOCHRONE_SMPI

#include <string>

namespace simgrid::smpi::colls {
void set_bcast(const std::string& name);
void set_reduce(const std::string& name);
void set_allreduce(const std::string& name);
void set_barrier(const std::string& name);
void set_gather(const std::string& name);
void set_scatter(const std::string& name);
void set_allgather(const std::string& name);
void set_allgatherv(const std::string& name);
void set_alltoall(const std::string& name);
void set_alltoallv(const std::string& name);
void set_reduce_scatter(const std::string& name);
}  // namespace simgrid::smpi::colls

#endif

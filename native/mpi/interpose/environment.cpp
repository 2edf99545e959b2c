// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/environment.hpp"

#include <link.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "comm/check.hpp"
#include "comm/library.hpp"

namespace isochrone::mpi::interpose {
namespace {

using comm::check;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string read_file(const std::string& path, std::string& complaint) {
    constexpr std::size_t largest = std::size_t{1} << 28;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream contents;
    if (!file || !(contents << file.rdbuf()) || contents.str().size() > largest) {
        if (complaint.empty()) complaint = path + " cannot be read";
        return {};
    }
    return contents.str();
}

void share(MPI_Comm comm, std::string& text) {
    int length = static_cast<int>(text.size());
    check(PMPI_Bcast(&length, 1, MPI_INT, 0, comm), "MPI_Bcast");
    text.resize(static_cast<std::size_t>(length));
    check(PMPI_Bcast(text.data(), length, MPI_CHAR, 0, comm), "MPI_Bcast");
}

/// Calls visit(file name without folders) for each loaded object.
template <class Visit>
void each_object(Visit&& visit) {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
            (*static_cast<Visit*>(data))(path.substr(path.rfind('/') + 1));
            return 0;
        },
        &visit);
}

}  // namespace

Inputs read_inputs(MPI_Comm comm) {
    Inputs inputs;
    std::string explain;
    if (comm::rank_in(comm) == 0) {
        explain = variable("ISOCHRONE_EXPLAIN");
        if (const std::string path = variable("ISOCHRONE_PLAN"); !path.empty()) {
            inputs.plan = read_file(path, inputs.complaint);
            inputs.topology = read_file(variable("ISOCHRONE_TOPOLOGY"), inputs.complaint);
        }
    }
    for (std::string* text : {&inputs.plan, &inputs.topology, &inputs.complaint, &explain})
        share(comm, *text);
    inputs.explain = !explain.empty() && explain != "0";
    return inputs;
}

void check_belongs(const core::select::Plan& plan, const core::topology::Topology& topology) {
    if (plan.topology_fingerprint != topology.fingerprint)
        throw std::invalid_argument("the plan was made for another topology");
    const comm::Library library = comm::library_identity();
    if (plan.mpi_abi != library.abi) {
        throw std::invalid_argument("the plan was made for " + plan.mpi_abi + ", and this program runs on " +
                                    library.abi);
    }
    if (plan.mpi_library != library.name) {
        throw std::invalid_argument("the plan was made for " + plan.mpi_library +
                                    ", and this program runs on " + library.name);
    }
}

bool gpu_runtime_is_loaded() {
    bool found = false;
    each_object([&](std::string_view name) {
        for (const char* runtime :
             {"libcuda.so", "libcudart", "libamdhip64", "libhsa-runtime", "libze_loader"}) {
            found = found || name.starts_with(runtime);
        }
    });
    return found;
}

bool is_rank_0_of_launcher() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const std::string rank = variable(name); !rank.empty()) return rank == "0";
    }
    return true;
}

bool plan_is_asked_for() { return !variable("ISOCHRONE_PLAN").empty(); }

bool fortran_goes_around() {
    if (!plan_is_asked_for()) return false;
    bool found = false;
    each_object([&](std::string_view name) { found = found || name.starts_with("libmpi_mpifh.so"); });
    return found;
}

int loaded_mpi_libraries() {
    std::set<std::string_view> names;
    each_object([&](std::string_view name) {
        if (name.starts_with("libmpi.so") || name.starts_with("libmpich.so") ||
            name.starts_with("libmpi_abi.so")) {
            names.insert(name);
        }
    });
    return static_cast<int>(names.size());
}

}  // namespace isochrone::mpi::interpose

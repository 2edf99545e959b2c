// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/environment.hpp"

#include <link.h>
#include <mpi.h>

#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "comm/library.hpp"
#include "preload/environment.hpp"

namespace isochrone::mpi::interpose {

using preload::is_on;
using preload::read_file;
using preload::variable;

namespace {

/// Named by the program; empty: the environment tells.
std::string plan_file;
std::string topology_file;

std::string or_else(const std::string& named, const char* name) {
    return named.empty() ? variable(name) : named;
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

Inputs read_inputs() {
    Inputs inputs;
    inputs.unsurveyed = is_on("ISOCHRONE_UNSURVEYED");
    inputs.explain = is_on("ISOCHRONE_EXPLAIN");
    inputs.check = is_on("ISOCHRONE_CHECK");
    inputs.reproducible = is_on("ISOCHRONE_REPRODUCIBLE");
    inputs.summary = is_on("ISOCHRONE_SUMMARY");
    inputs.only = variable("ISOCHRONE_ONLY");
    inputs.learn = variable("ISOCHRONE_LEARN");
    const std::string trials = variable("ISOCHRONE_TRIALS");
    if (trials == "off" || trials == "0") {
        inputs.trials = Trials::off;
    } else if (trials == "all") {
        inputs.trials = Trials::all;
    } else if (!trials.empty() && trials != "on" && trials != "1") {
        inputs.complaint = "ISOCHRONE_TRIALS is '" + trials.substr(0, 60) + "', and none of on, off and all";
    }
    inputs.fabric = variable("ISOCHRONE_FABRIC");
    if (const std::string path = plan_name(); !path.empty()) {
        const std::string whether = variable("ISOCHRONE");
        if (!whether.empty() && whether != "on" && whether != "1") {
            inputs.complaint = "ISOCHRONE is '" + whether.substr(0, 60) + "', and neither on nor off";
        }
        inputs.plan = read_file(path, inputs.complaint);
        const std::string topology = topology_name();
        if (!topology.empty()) {
            inputs.topology = read_file(topology, inputs.complaint);
        } else if (inputs.complaint.empty()) {
            inputs.complaint = "ISOCHRONE_TOPOLOGY is not set";
        }
    }
    return inputs;
}

std::string plan_name() { return or_else(plan_file, "ISOCHRONE_PLAN"); }
std::string topology_name() { return or_else(topology_file, "ISOCHRONE_TOPOLOGY"); }

void name_files(std::string plan, std::string topology) {
    plan_file = std::move(plan);
    topology_file = std::move(topology);
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

bool plan_is_asked_for() { return !plan_name().empty() || is_on("ISOCHRONE_UNSURVEYED"); }

}  // namespace isochrone::mpi::interpose

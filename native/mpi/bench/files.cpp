// SPDX-License-Identifier: BSD-3-Clause
#include "bench/files.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "comm/check.hpp"
#include "comm/cpu_list.hpp"
#include "comm/library.hpp"
#include "comm/program.hpp"
#include "comm/shared_text.hpp"

namespace isochrone::mpi::bench {
namespace {

#ifdef ISOCHRONE_SMPI
constexpr bool simulated = true;
#else
constexpr bool simulated = false;
#endif

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream contents;
    if (!file || !(contents << file.rdbuf()))
        throw comm::Failure(comm::usage_error, path + ": cannot be read, or is empty");
    auto text = std::move(contents).str();
    if (text.size() > comm::longest_text) throw comm::Failure(comm::usage_error, path + ": is too long");
    return text;
}

#ifdef ISOCHRONE_SMPI

/// Simulated ranks share a file system for certain, and messages take real time to simulate.
std::string shared_text(MPI_Comm /*comm*/, const std::string& path) {
    return path.empty() ? std::string() : read_file(path);
}

#else

/// The text of rank 0's file, on all ranks.
std::string shared_text(MPI_Comm comm, const std::string& path) {
    if (path.empty()) return {};
    return comm::shared_text(comm, [&] { return read_file(path); }).value();
}

#endif

}  // namespace

Inputs read_inputs(MPI_Comm comm, const Options& options) {
    return {shared_text(comm, options.work), shared_text(comm, options.topology),
            shared_text(comm, options.plan)};
}

Output::Output(MPI_Comm comm, const std::string& path) : comm_(comm), path_(path) {
    int error = 0;
    if (comm::rank_in(comm) == 0) {
        file_.reset(std::fopen(path.c_str(), "w"));
        if (!file_) error = errno;
    }
    comm::check(PMPI_Bcast(&error, 1, MPI_INT, 0, comm), "MPI_Bcast");
    if (error != 0) {
        throw comm::Failure(comm::failure, "cannot write " + path + ": " + std::strerror(error) +
                                               ": choose another --output");
    }
}

void Output::header(const std::vector<comm::Place>& places, const AlignedTimer& timer,
                    nlohmann::ordered_json provenance) {
    line({{"isochrone", "bench"},
          {"schema_version", 1},
          {"ranks", places.size()},
          {"places", comm::places_json(places)},
          {"mpi", comm::library_json(comm::library_identity())},
          {"start", "clock"},
          {"sync_error_s", timer.sync_error_s()},
          {"oversubscribed", timer.oversubscribed()},
          {"simulated", simulated},
          {"provenance", std::move(provenance)}});
}

void Output::time(const Case& one, const std::string& recipe, int repetition, double slowest_s) {
    nlohmann::ordered_json value;
    if (one.pattern != nullptr) {
        value["pattern"] = one.pattern->name;
        value["moved_bytes"] = one.moved_bytes;
    } else {
        value["collective"] = one.loop ? std::string_view(one.loop->name) : one.collective->name;
    }
    value.update({{"bytes", one.bytes},
                  {"root", one.root},
                  {"recipe", recipe},
                  {"repetition", repetition},
                  {"slowest_s", slowest_s}});
    if (!one.members.empty()) value["members"] = comm::format_cpu_list(one.members);
    line(value);
}

void Output::end(double elapsed_s, std::int64_t calls) {
    line({{"end", true}, {"elapsed_s", elapsed_s}, {"calls", calls}});
}

void Output::line(const nlohmann::ordered_json& value) {
    if (!file_ || failed_) return;
    const std::string text = comm::json_line(value) + '\n';
    failed_ =
        std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() || std::fflush(file_.get()) != 0;
    if (failed_)
        std::fprintf(stderr, "isochrone-bench: cannot write %s: %s\n", path_.c_str(), std::strerror(errno));
}

int Output::agree() {
    int code = failed_ ? comm::failure : comm::success;
    comm::check(PMPI_Bcast(&code, 1, MPI_INT, 0, comm_), "MPI_Bcast");
    return code;
}

}  // namespace isochrone::mpi::bench

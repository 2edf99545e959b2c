// SPDX-License-Identifier: BSD-3-Clause
//
// What isochrone-bench reads and writes. Rank 0 alone touches files; what it meets there, all ranks learn.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/aligned.hpp"
#include "bench/options.hpp"
#include "bench/work.hpp"
#include "comm/json.hpp"
#include "comm/place.hpp"

namespace isochrone::mpi::bench {

/// The texts of the input files; empty where the options name none.
struct Inputs {
    std::string work;
    std::string topology;
    std::string plan;
};

/// Collective. Throws comm::Failure on all ranks if a file cannot be read.
[[nodiscard]] Inputs read_inputs(MPI_Comm comm, const Options& options);

/// bench.jsonl, written line by line on rank 0; on other ranks all but agree() does nothing.
class Output {
  public:
    /// Collective. Throws comm::Failure on all ranks if the file cannot be opened.
    Output(MPI_Comm comm, const std::string& path);

    void header(const std::vector<comm::Place>& places, const AlignedTimer& timer,
                nlohmann::ordered_json provenance);
    void time(const Case& one, const std::string& recipe, int repetition, double slowest_s);
    void end(double elapsed_s, std::int64_t calls);

    /// Collective. The exit code: whether everything could be written.
    [[nodiscard]] int agree();

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    void line(const nlohmann::ordered_json& value);

    MPI_Comm comm_;
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    bool failed_ = false;
};

}  // namespace isochrone::mpi::bench

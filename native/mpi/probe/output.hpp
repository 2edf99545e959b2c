// SPDX-License-Identifier: BSD-3-Clause
//
// The file that the probe writes, and goes on writing when it is run again.
#pragma once

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "probe/resume.hpp"

namespace isochrone::mpi::probe {

/// All methods throw comm::Failure, with a line that names the file, if the system refuses.
class Output {
  public:
    /// Opens or creates the file, reads what it holds of this run (see read_measurements), cuts off a damaged
    /// last line and writes `header` where there is none. What is no regular file (a pipe, a device) is only
    /// written to.
    Output(std::string path, const nlohmann::ordered_json& header);

    [[nodiscard]] const Resume& resume() const { return resume_; }

    /// Writes the text and hands it to the system, so that it outlives this process.
    void append(const std::string& text);

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    [[noreturn]] void refuse(const char* verb, const char* todo) const;
    void open();

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    Resume resume_;
};

}  // namespace isochrone::mpi::probe

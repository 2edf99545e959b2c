// SPDX-License-Identifier: BSD-3-Clause
//
// What the command lines of all programs have in common. For the one source of each that knows its options:
// the header of CLI11 is large.
#pragma once

#include <functional>
#include <optional>
#include <string>

// SimGrid's compiler makes macros of these, and CLI11 has methods of the same names.
#ifdef ISOCHRONE_SMPI
#undef exit
#undef free
#undef malloc
#undef getopt
#endif
#include <CLI/CLI.hpp>

#include "comm/program.hpp"

namespace isochrone::mpi::comm {

/// Parses the command line of `app`, which has its name and its options, and then calls `check`, which
/// may throw CLI::ValidationError. Returns why there is nothing to do, if so.
inline std::optional<Leave> parse(CLI::App& app, int argc, const char* const* argv,
                                  const std::function<void()>& check) {
    try {
        app.parse(argc, argv);
        check();
    } catch (const CLI::CallForHelp&) {
        return Leave{app.help(), success};
    } catch (const CLI::CallForVersion&) {
        return Leave{app.version() + '\n', success};
    } catch (const CLI::ParseError& error) {
        return Leave{app.get_name() + ": " + error.what() + " (see --help)\n", usage_error};
    }
    return std::nullopt;
}

}  // namespace isochrone::mpi::comm

// SPDX-License-Identifier: BSD-3-Clause
#include "comm/shared_text.hpp"

#include <array>
#include <cstddef>
#include <exception>
#include <utility>

#include "comm/check.hpp"
#include "comm/program.hpp"
#include "comm/wait.hpp"

namespace isochrone::mpi::comm {
namespace {

constexpr int no_text = -1;  // in place of a length

/// What rank 0 found: a text or none, or with another code than success what there is to complain about.
struct Found {
    ExitCode code = success;
    std::optional<std::string> text;
};

Found found_by(const std::function<std::optional<std::string>()>& read) {
    try {
        Found found{success, read()};
        if (found.text && found.text->size() > longest_text) return {usage_error, "a text is too long"};
        return found;
    } catch (const Failure& error) {
        return {error.code(), error.what()};
    } catch (const std::exception& error) {
        return {failure, error.what()};
    }
}

}  // namespace

std::optional<std::string> shared_text(MPI_Comm comm,
                                       const std::function<std::optional<std::string>()>& read) {
    Found found;
    if (rank_in(comm) == 0) found = found_by(read);
    wait_for_rank_0(comm);
    std::array<int, 2> head{found.code, found.text ? static_cast<int>(found.text->size()) : no_text};
    check(PMPI_Bcast(head.data(), static_cast<int>(head.size()), MPI_INT, 0, comm), "MPI_Bcast");
    const auto [code, length] = head;
    if (length == no_text) return std::nullopt;
    if (!found.text) found.text.emplace(static_cast<std::size_t>(length), '\0');
    check(PMPI_Bcast(found.text->data(), length, MPI_CHAR, 0, comm), "MPI_Bcast");
    if (code != success) throw Failure(static_cast<ExitCode>(code), *found.text);
    return std::move(found.text);
}

}  // namespace isochrone::mpi::comm

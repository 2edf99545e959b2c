// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "comm/check.hpp"
#include "comm/program.hpp"
#include "comm/shared_text.hpp"

namespace isochrone::tests {
namespace {

namespace comm = mpi::comm;

/// What all ranks have of a text that rank 0 alone may ask for.
std::optional<std::string> shared(const std::optional<std::string>& text) {
    return comm::shared_text(MPI_COMM_WORLD, [&]() -> std::optional<std::string> {
        EXPECT_EQ(comm::rank_in(MPI_COMM_WORLD), 0);
        return text;
    });
}

TEST(SharedText, IsRank0sOnAllRanks) {
    const std::string own = "of rank " + std::to_string(comm::rank_in(MPI_COMM_WORLD));
    EXPECT_EQ(shared(own), "of rank 0");
    const std::string long_one(300'000, 'x');
    EXPECT_EQ(shared(long_one), long_one);
    EXPECT_EQ(shared(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(SharedText, IsToldFromNoneWhereItIsEmpty) {
    EXPECT_EQ(shared(""), "");
    EXPECT_EQ(shared(std::nullopt), std::nullopt);
}

TEST(SharedText, IsAFailureOnAllRanksWhereRank0MetOne) {
    const auto failed = [](const auto& error) {
        try {
            static_cast<void>(
                comm::shared_text(MPI_COMM_WORLD, [&]() -> std::optional<std::string> { throw error; }));
        } catch (const comm::Failure& failure) {
            return failure;
        }
        return comm::Failure(comm::success, "nothing was thrown");
    };
    const auto wrong = failed(comm::Failure(comm::usage_error, "plan.json: cannot be read"));
    EXPECT_STREQ(wrong.what(), "plan.json: cannot be read");
    EXPECT_EQ(wrong.code(), comm::usage_error);
    const auto silent = failed(std::runtime_error("no answer"));
    EXPECT_STREQ(silent.what(), "no answer");
    EXPECT_EQ(silent.code(), comm::failure);
    const auto nameless = failed(comm::Failure(comm::failure, ""));
    EXPECT_EQ(nameless.code(), comm::failure);
}

}  // namespace
}  // namespace isochrone::tests

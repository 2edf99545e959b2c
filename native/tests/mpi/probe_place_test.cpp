// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "comm/check.hpp"
#include "comm/cpu_list.hpp"
#include "comm/json.hpp"
#include "comm/library.hpp"
#include "comm/place.hpp"

namespace isochrone::tests {
namespace {

namespace comm = mpi::comm;
using Cpus = std::vector<int>;
using Names = std::vector<std::string>;

TEST(CpuList, IsWrittenWithRanges) {
    EXPECT_EQ(comm::format_cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
    EXPECT_EQ(comm::format_cpu_list({}), "");
}

TEST(CpuList, IsReadInAnyOrderAndOnceEach) {
    EXPECT_EQ(comm::parse_cpu_list("8,0-3,2"), (Cpus{0, 1, 2, 3, 8}));
    EXPECT_EQ(comm::parse_cpu_list(""), Cpus{});
}

TEST(CpuList, MayBeOfRanksWhichAreMore) {
    const auto ranks = comm::parse_cpu_list("0-69999", 70000);
    ASSERT_TRUE(ranks);
    EXPECT_EQ(ranks->size(), 70000U);
    EXPECT_FALSE(comm::parse_cpu_list("0-70000", 70000));
    EXPECT_FALSE(comm::parse_cpu_list("0-69999"));
}

TEST(CpuList, IsRefusedWhereItIsNone) {
    for (const char* text :
         {"x", "1-", "3-1", "1,", ",1", "-1", "1 2", "99999999999", "0-99999999", "1--2"}) {
        EXPECT_FALSE(comm::parse_cpu_list(text)) << text;
    }
}

TEST(HostNames, LoseTheirDomain) {
    EXPECT_EQ(comm::short_host_names({"n0.cluster.org", "n1.cluster.org", "n0.cluster.org"}),
              (Names{"n0", "n1", "n0"}));
}

TEST(HostNames, KeepTheirDomainWhereTheyWouldBeMixedUp) {
    EXPECT_EQ(comm::short_host_names({"n0.east", "n0.west", "n1.east"}), (Names{"n0.east", "n0.west", "n1"}));
    EXPECT_EQ(comm::short_host_names({"10.0.0.1", "10.0.0.1"}), (Names{"10.0.0.1", "10.0.0.1"}));
}

TEST(Places, AreThoseOfAllRanksAndTheSameOnAll) {
    const std::vector<comm::Place> places = comm::gather_places(MPI_COMM_WORLD);
    ASSERT_EQ(static_cast<int>(places.size()), comm::size_of(MPI_COMM_WORLD));
    for (const comm::Place& place : places) {
        EXPECT_FALSE(place.host.empty());
        EXPECT_FALSE(place.signature.empty());
        EXPECT_TRUE(comm::parse_cpu_list(place.cpus));
    }
}

TEST(Places, OfMachinesWithOneNameAreToldApart) {
    const auto text = [](const char* host, const char* machine) {
        return comm::place_text({host, "0-3", "x"}, machine);
    };
    const auto hosts = [](const std::vector<std::string>& texts) {
        Names found;
        for (const comm::Place& place : comm::places_of(texts)) {
            EXPECT_EQ(place.cpus, "0-3");
            EXPECT_EQ(place.signature, "x");
            found.push_back(place.host);
        }
        return found;
    };
    EXPECT_EQ(hosts({text("web", "3f2a"), text("db", "3f2a"), text("web", "77b1")}),
              (Names{"web~3f2a", "db", "web~77b1"}));
    EXPECT_EQ(hosts({text("web", "3f2a"), text("web", "3f2a")}), (Names{"web", "web"}));
    EXPECT_EQ(hosts({text("web", ""), text("web", "")}), (Names{"web", "web"}));
}

TEST(Places, AreUnboundAsNullInJson) {
    const auto json = comm::places_json({{"n0", "", "x"}, {"n1", "0-3", "x"}});
    EXPECT_TRUE(json[0]["cpus"].is_null());
    EXPECT_EQ(json[1]["cpus"], "0-3");
}

TEST(Library, NamesItselfStandardAndAbi) {
    const comm::Library library = comm::library_identity();
    EXPECT_FALSE(library.name.empty());
    EXPECT_EQ(library.name.find('\n'), std::string::npos);
    EXPECT_NE(library.version.find('.'), std::string::npos);
    EXPECT_EQ(library.abi.substr(0, 6), "libmpi");
}

TEST(MpiErrors, SayWhichCallFailedAndWhy) {
    comm::return_errors(MPI_COMM_WORLD);
    try {
        comm::check(MPI_Send(nullptr, 0, MPI_BYTE, comm::size_of(MPI_COMM_WORLD), 0, MPI_COMM_WORLD),
                    "MPI_Send");
        FAIL() << "sending to a rank that does not exist succeeded";
    } catch (const comm::Error& error) {
        EXPECT_EQ(std::string(error.what()).find("MPI_Send failed: "), 0U) << error.what();
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace
}  // namespace isochrone::tests

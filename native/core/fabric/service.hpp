// SPDX-License-Identifier: BSD-3-Clause
//
// The lines that a fabric server is asked, and what it answers (Subramoni et al., Design and Evaluation of
// Network Topology-/Speed-Aware Broadcast Algorithms for InfiniBand Clusters, section IV-A):
//
//   query A:B          A 0xGUID ... B          the switches that a packet from A to B passes
//   ports A:B          A 0xGUID:IN:OUT ... B   ... with the ports that it comes in and goes out by
//   hops A:B           3                       how many they are
//   speed A:B          100                     Gb/s of data over the slowest cable; 0 where one's is not
//                                              known
//   matrix A,B,...     matrix hops 2 uint16 8  and as many bytes: hops from each (row) to each,
//                                              little-endian; 65535 where no route arrives
//   matrix speed A,B   matrix speed 2 float32 16   the same of speeds; 0 where no route arrives, and an error
//                                              where a cable's is not known
//   version            what answers, and which generation of the fabric
//   health             whether all is well
//
// A host is named as its node description begins, with or without a domain; without it where only one host is
// called so. Anything on the fabric may be named by the GUID of its node or port, 0x and hexadecimal digits.
// What cannot be answered gets a line that begins with "error". Lines end with LF or CR LF.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/routes.hpp"

namespace isochrone::core::fabric {

/// The most bytes of a line, its end not counted.
inline constexpr std::size_t longest_line = 1 << 18;
/// The most hosts of a matrix.
inline constexpr std::size_t most_hosts = 4096;

/// Answers from one generation of a fabric; never changed, so threads may share it.
class Service {
  public:
    /// Args: `guids`, [vertex], of switches and ends; `names`, of hosts, and of what is known by another GUID
    /// as well; `version`, the answer to that question.
    Service(Routes routes, std::vector<std::uint64_t> guids,
            const std::vector<std::pair<std::string, int>>& names,
            const std::vector<std::pair<std::uint64_t, int>>& more_guids, std::string version);

    struct Answers {
        std::string text;
        std::size_t used = 0;    ///< bytes of the lines that are answered
        std::size_t lines = 0;   ///< how many they are
        std::size_t errors = 0;  ///< of these, answered with an error
    };

    /// Answers whole lines, in order. What follows the last end of a line is left, and so are lines after a
    /// long answer. Never throws for what the lines hold.
    [[nodiscard]] Answers answer(std::string_view lines, std::string_view health) const;

    [[nodiscard]] const Routes& routes() const { return routes_; }

    /// The vertex of a host or GUID, or none.
    [[nodiscard]] int find(std::string_view name) const;

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };

    void answer_line(std::string_view line, std::string_view health, std::string& text) const;
    void answer_pair(std::string_view command, std::string_view pair, std::string& text) const;
    void answer_matrix(std::string_view hosts, std::string& text) const;

    Routes routes_;
    std::vector<std::uint64_t> guids_;
    std::unordered_map<std::string, int, Hash, std::equal_to<>> by_name_;
    /// What stands before the domain; none where several hosts are called so.
    std::unordered_map<std::string, int, Hash, std::equal_to<>> by_short_name_;
    std::unordered_map<std::uint64_t, int> by_guid_;
    std::string version_;
};

}  // namespace isochrone::core::fabric

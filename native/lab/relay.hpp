// SPDX-License-Identifier: BSD-3-Clause
//
// Takes frames from the hosts' TAP devices, has the network say when they arrive, and hands them over then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host.hpp"
#include "network.hpp"

namespace isochrone::lab {

class Relay {
  public:
    /// `status` is a listening, non-blocking socket: whoever connects is sent `report()` and nothing else.
    Relay(Network network, std::vector<Host> hosts, int status);

    /// Runs until the process is ended. Throws std::system_error.
    [[noreturn]] void run();

  private:
    void wait();
    void hand_over(Nanoseconds now);
    void take_in(int host);
    void answer();
    [[nodiscard]] std::string report() const;

    Network network_;
    std::vector<Host> hosts_;         ///< in the order of Network::hosts()
    std::vector<int> host_at_;        ///< [node], -1: a switch
    std::vector<Lateness> lateness_;  ///< [host]
    std::int64_t refused_ = 0;        ///< bursts that a host's own queue had no room for
    std::int64_t foreign_ = 0;        ///< frames to nobody
    int status_;
    int events_;
    Nanoseconds start_;
    std::vector<std::byte> frame_;
};

}  // namespace isochrone::lab

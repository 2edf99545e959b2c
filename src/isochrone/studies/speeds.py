# SPDX-License-Identifier: BSD-3-Clause
"""How fast the cables between simulated hosts are, told as a fabric's server tells it, so that trees are laid
by the code that lays them on a real fabric.
"""

from __future__ import annotations

import contextlib
import socketserver
import threading
from collections.abc import Iterator

import numpy as np

from isochrone import _core
from isochrone.sim.faults import SlowLink, path_with
from isochrone.sim.system import System, node_name
from isochrone.statistics import FloatArray

_PATIENCE_S = 60
_ASKED = "matrix speed "
_LONGEST_LINE = _core.FABRIC_LONGEST_LINE + 1


def differ(system: System) -> bool:
    """Whether some cables are slower than others of their kind."""
    return any(isinstance(fault, SlowLink) and fault.bandwidth != 1.0 for fault in system.faults)


def speeds(system: System) -> FloatArray:
    """Between nodes, [from][to], in Gb/s: of the slowest cable on the way. 0 from a node to itself."""
    found = np.zeros((system.nodes, system.nodes))
    for source in range(system.nodes):
        for destination in range(system.nodes):
            if source != destination:
                path = system.network.path(source, destination)
                slow = path_with(system.faults, source, destination, path, 0.0)
                found[source, destination] = slow.bandwidth_bytes_per_s * 8e-9
    return found


@contextlib.contextmanager
def serving_speeds(system: System) -> Iterator[str]:
    """Answers the one line that ranks ask of a fabric's server (native/core/fabric/service.hpp), at the
    address that it gives.
    """
    known = speeds(system)
    number = {node_name(system, node): node for node in range(system.nodes)}

    class Answer(socketserver.StreamRequestHandler):
        timeout = _PATIENCE_S

        def handle(self) -> None:
            line = self.rfile.readline(_LONGEST_LINE).decode("utf-8", "replace").rstrip("\n")
            names = line.removeprefix(_ASKED).split(",")
            if not line.startswith(_ASKED) or not number.keys() >= set(names):
                self.wfile.write(b"error only speeds between the hosts of the simulation are known\n")
                return
            hosts = [number[name] for name in names]
            asked = known[np.ix_(hosts, hosts)].astype("<f4").tobytes()
            self.wfile.write(f"matrix speed {len(hosts)} float32 {len(asked)}\n".encode() + asked)

    class Server(socketserver.ThreadingTCPServer):
        # The end does not wait for who is connected and asks nothing.
        daemon_threads = True

    with Server(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"speed@127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()

# SPDX-License-Identifier: BSD-3-Clause
"""Fat trees as ``ibsim`` reads them and ``ibnetdiscover`` prints them, with or without forwarding tables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Speed = Callable[[str, str], str]
"""The speed of a cable between two nodes, by their names: ``4xHDR``."""

_SWITCH_GUID = 0x0002C90300100000
_HOST_GUID = 0x0002C90300800000


@dataclass
class Net:
    """Nodes and cables. Names of switches do not begin with ``node``."""

    cables: dict[str, list[tuple[str, int, str]]] = field(default_factory=dict)

    def add(self, name: str) -> str:
        self.cables.setdefault(name, [])
        return name

    def join(self, one: str, other: str, speed: str) -> None:
        one_port, other_port = len(self.cables[one]) + 1, len(self.cables[other]) + 1
        self.cables[one].append((other, other_port, speed))
        self.cables[other].append((one, one_port, speed))

    @property
    def hosts(self) -> list[str]:
        return [name for name in self.cables if name.startswith("node")]

    @property
    def switches(self) -> list[str]:
        return [name for name in self.cables if not name.startswith("node")]

    def text(self) -> str:
        """As ibnetdiscover prints it; LIDs as ``lids`` gives them."""
        guids = self.guids()
        lids = self.lids()
        radix = max(len(self.cables[name]) for name in self.switches)
        # ibsim's subnet manager sits at the first node.
        order = [self.hosts[0], *(name for name in self.cables if name != self.hosts[0])]
        lines = []
        for name in order:
            guid = guids[name]
            is_host = name.startswith("node")
            lines += ["vendid=0x2c9", f"devid=0x{0x673C if is_host else 0xBD36:x}"]
            lines.append(f"sysimgguid=0x{guid + 3:x}")
            if is_host:
                lines.append(f"caguid=0x{guid:x}")
                lines.append(f'Ca\t{len(self.cables[name])} "H-{guid:016x}"\t\t# "{name} HCA-1"')
            else:
                lines.append(f"switchguid=0x{guid:x}({guid:x})")
                lines.append(
                    f'Switch\t{radix} "S-{guid:016x}"\t\t# "{name}" base port 0 lid {lids[name]} lmc 0'
                )
            for port, (other, other_port, speed) in enumerate(self.cables[name], start=1):
                far = f'"{"H" if other.startswith("node") else "S"}-{guids[other]:016x}"[{other_port}]'
                if is_host:
                    own = f"[{port}]({guid + port:x})"
                    lines.append(
                        f'{own}\t{far}\t\t# lid {lids[name]} lmc 0 "{other}" lid {lids[other]} {speed}'
                    )
                else:
                    far += f"({guids[other] + other_port:x})" if other.startswith("node") else ""
                    device = " HCA-1" if other.startswith("node") else ""
                    lines.append(f'[{port}]\t{far}\t\t# "{other}{device}" lid {lids[other]} {speed}')
            lines.append("")
        return "\n".join(lines)

    def lids(self) -> dict[str, int]:
        """One for each node, in their order."""
        return {name: number for number, name in enumerate(self.cables, start=1)}

    def tables(self) -> str:
        """Tables of shortest routes as dump_fts prints them, over different uplinks to different LIDs."""
        lids = self.lids()
        guids = self.guids()
        outs: dict[str, list[int]] = {name: [] for name in self.switches}
        near: dict[str, dict[str, int]] = {}
        for target, lid in lids.items():
            leaf = self.cables[target][0][0] if target.startswith("node") else target
            if leaf not in near:
                near[leaf] = self._distances(leaf)
            distance = near[leaf]
            for name in self.switches:
                if name == target:
                    outs[name].append(0)
                elif name == leaf:
                    outs[name].append(self.cables[target][0][1])
                else:
                    ways = [
                        port
                        for port, (other, _, _) in enumerate(self.cables[name], start=1)
                        if distance.get(other, len(self.cables)) < distance[name]
                    ]
                    outs[name].append(ways[lid % len(ways)])
        kinds = {name: "Channel Adapter" if name.startswith("node") else "Switch" for name in self.cables}
        ends = [
            f": ({kinds[name]} portguid 0x{guids[name] + name.startswith('node'):016x}: '{name}')"
            for name in self.cables
        ]
        parts = []
        for number, name in enumerate(self.switches):
            parts.append(
                f"Unicast lids [0x0-0x{len(lids):x}] of switch DR path slid 0; dlid 0; 0,{number} "
                f"guid 0x{guids[name]:016x} ({name}):\n  Lid  Out   Destination\n       Port     Info \n"
            )
            parts += [
                f"0x{lid:04x} {out:03d} {end}\n"
                for lid, (out, end) in enumerate(zip(outs[name], ends, strict=True), start=1)
            ]
            parts.append(f"{len(lids)} valid lids dumped \n")
        return "".join(parts)

    def dump(self, folder: Path) -> Path:
        """Writes a folder of dumps."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ibnetdiscover.txt").write_text(self.text())
        (folder / "dump_fts.txt").write_text(self.tables())
        return folder

    def guids(self) -> dict[str, int]:
        hosts = {name: _HOST_GUID + index * 0x10 for index, name in enumerate(self.hosts)}
        return hosts | {name: _SWITCH_GUID + index * 0x10 for index, name in enumerate(self.switches)}

    def _distances(self, start: str) -> dict[str, int]:
        found = {start: 0}
        queue = deque([start])
        while queue:
            name = queue.popleft()
            for other, _, _ in self.cables[name]:
                if other not in found and not other.startswith("node"):
                    found[other] = found[name] + 1
                    queue.append(other)
        return found


def two_level(leaves: int, hosts: int, spines: int, uplinks: int = 1, speed: Speed | None = None) -> Net:
    """Leaves with so many hosts each, and so many cables from each to every spine."""
    net, of = Net(), speed or (lambda one, other: "4xHDR")
    for leaf in range(leaves):
        net.add(f"leaf-{leaf:02d}")
    for spine in range(spines):
        net.add(f"spine-{spine:02d}")
    for leaf in range(leaves):
        for host in range(hosts):
            _host(net, leaf, host, f"leaf-{leaf:02d}", of)
        for spine in range(spines):
            for _ in range(uplinks):
                _join(net, f"leaf-{leaf:02d}", f"spine-{spine:02d}", of)
    return net


def three_level(
    pods: int, leaves: int, hosts: int, middles: int, cores: int, speed: Speed | None = None
) -> Net:
    """Pods of leaves and middle switches; middle switch m of each pod is below the cores of group m."""
    net, of = Net(), speed or (lambda one, other: "4xHDR")
    for middle in range(middles):
        for core in range(cores):
            net.add(f"core-{middle:02d}-{core:02d}")
    for pod in range(pods):
        for middle in range(middles):
            net.add(f"middle-{pod:02d}-{middle:02d}")
            for core in range(cores):
                _join(net, f"middle-{pod:02d}-{middle:02d}", f"core-{middle:02d}-{core:02d}", of)
        for leaf in range(leaves):
            name = net.add(f"leaf-{pod:02d}-{leaf:02d}")
            for host in range(hosts):
                _host(net, pod * leaves + leaf, host, name, of)
            for middle in range(middles):
                _join(net, name, f"middle-{pod:02d}-{middle:02d}", of)
    return net


def mixed(one: str, other: str) -> str:
    """Speeds of hosts in turn from SDR to HDR; spines of 12 and of 4 lanes."""
    if one.startswith("node"):
        return ("4xSDR", "4xDDR", "4xQDR", "4xHDR")[int(one.rpartition("-")[2]) % 4]
    return ("12xQDR", "4xHDR")[int(other.rpartition("-")[2]) % 2]


def _host(net: Net, leaf: int, host: int, above: str, speed: Speed) -> None:
    _join(net, net.add(f"node-{leaf:03d}-{host:03d}"), above, speed)


def _join(net: Net, one: str, other: str, speed: Speed) -> None:
    net.join(one, other, speed(one, other))

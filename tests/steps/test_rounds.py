# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of benchmarks: what they are known by, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from made_channel import MadeChannel
from msgspec import structs
from tuned import topology_of

from isochrone.errors import IsochroneError
from isochrone.files import Bench, BenchKey, Case, MpiLibrary, Place, read_work, write_bench, write_topology
from isochrone.launch.process import Talk
from isochrone.steps.rounds import START, Rounds, forget_rounds

HOSTS = ("a", "a", "b", "b")


@dataclass
class Ranks:
    """A target whose ranks are at some places."""

    places: Sequence[Place]
    name: str = "made up"
    identity: str = ""
    simulated: bool = False
    library: None = None
    works: list[Path] = field(default_factory=list)

    def with_variables(self, variables: Mapping[str, str]) -> Ranks:
        return self

    def check(self, program: str, output: Path) -> None:
        """All that is made up is true."""

    def run(self, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        given = dict(zip(arguments[::2], arguments[1::2], strict=True))
        self.works.append(Path(given["--work"]))
        work = read_work(given["--work"])
        times = {
            BenchKey(case.size_bytes, case.root, recipe, case.collective): np.ones(work.repetitions)
            for case in work.cases
            for recipe in case.recipes
        }
        mpi = MpiLibrary("made up", "4.0", "libmpi.so.12")
        bench = Bench(tuple(self.places), mpi, "clock", 0.0, False, self.simulated, times, 1.0)
        write_bench(given["--output"], bench)


def measure(target: Ranks, folder: Path, variables: Mapping[str, str] | None = None) -> None:
    topology = topology_of(HOSTS)
    write_topology(folder / "topology.json", topology)
    rounds = Rounds(target, topology, folder / "topology.json", folder / "kept", variables=variables)  # type: ignore[arg-type]
    rounds.measure("", [Case(64, 0, ("native", "flat"))], 3, 1)


def other_host(places: Sequence[Place]) -> list[Place]:
    return [structs.replace(place, host=f"other-{place.host}") for place in places]


def in_turn(places: Sequence[Place]) -> list[Place]:
    return [places[rank] for rank in (0, 2, 1, 3)]


def other_hardware(places: Sequence[Place]) -> list[Place]:
    return [structs.replace(place, host=f"other-{place.host}", signature="new") for place in places]


def the_other_way_round(places: Sequence[Place]) -> list[Place]:
    return list(reversed(places))


def on_one_host(places: Sequence[Place]) -> list[Place]:
    return [places[0]] * 4


@pytest.mark.parametrize("ran", [list, other_host, the_other_way_round])
def test_ranks_on_hosts_like_those_that_were_surveyed_are_timed(
    tmp_path: Path, ran: Callable[[Sequence[Place]], list[Place]]
) -> None:
    measure(Ranks(ran(topology_of(HOSTS).places)), tmp_path)
    assert len(list((tmp_path / "kept").glob("*.jsonl"))) == 1


@pytest.mark.parametrize(
    ("ran", "why"),
    [
        (in_turn, "in cyclic, and .* in block was surveyed"),
        (other_hardware, "ranks ran elsewhere"),
        (on_one_host, "4 ranks in one"),
    ],
)
def test_ranks_in_another_order_or_elsewhere_are_refused_and_nothing_is_kept(
    tmp_path: Path, ran: Callable[[Sequence[Place]], list[Place]], why: str
) -> None:
    places = topology_of(HOSTS).places
    with pytest.raises(IsochroneError, match=why) as refused:
        measure(Ranks(ran(places)), tmp_path)
    assert "\n" not in str(refused.value)
    assert not list((tmp_path / "kept").glob("*.jsonl"))
    # Launched as for the survey, it goes on.
    measure(Ranks(places), tmp_path)
    # In a simulation ranks are where they are said to be.
    measure(replace(Ranks(ran(places)), simulated=True), tmp_path / "kept")


def test_what_is_timed_is_said_beside_the_output_where_rank_0_can_read_it(tmp_path: Path) -> None:
    target = Ranks(topology_of(HOSTS).places)
    measure(target, tmp_path)
    (work,) = target.works
    assert work.parent == tmp_path / "kept"
    assert not work.exists()
    # Killed, it stays.
    work.write_text("{}")
    forget_rounds(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_what_a_launch_takes_to_start_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a tuning that goes on measures depends on it: it would find none of its rounds else."""
    now_s, launch_s = 0.0, 4.0
    target = Ranks(topology_of(HOSTS).places)
    write_topology(tmp_path / "topology.json", topology_of(HOSTS))
    kept = tmp_path / "kept"

    def rounds(name: str = "made up") -> Rounds:
        where = replace(target, name=name)
        monkeypatch.setattr(where, "run", slow_launch)
        return Rounds(where, topology_of(HOSTS), tmp_path / "topology.json", kept)  # type: ignore[arg-type]

    def slow_launch(program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        nonlocal now_s
        now_s += launch_s
        if talk is not None:
            return talk(MadeChannel(lambda asked: Ranks.run(target, program, asked)))
        return Ranks.run(target, program, arguments)

    monkeypatch.setattr("isochrone.steps.rounds.time.monotonic", lambda: now_s)
    first = rounds()
    assert first.in_one_launch(lambda: first.start_s(1)) == 4.0
    launch_s = 1.0
    assert rounds().start_s(1) == 4.0
    # Another library starts as it does.
    assert rounds("another").start_s(1) == 1.0
    for broken in ("", "nan", "-1", "Infinity", "[]", '"many"'):
        for file in kept.glob(f"*{START}"):
            file.write_text(broken)
        assert rounds().start_s(1) == 1.0
    forget_rounds(kept)
    assert not kept.exists()


def test_a_round_is_of_what_is_in_the_files_that_the_library_reads(tmp_path: Path) -> None:
    target = Ranks(topology_of(HOSTS).places)
    rules = tmp_path / "rules"
    for text, launches in (("one", 1), ("one", 1), ("another", 2), ("one", 2)):
        rules.write_text(text)
        measure(target, tmp_path, {"RULES": str(rules)})
        assert len(target.works) == launches

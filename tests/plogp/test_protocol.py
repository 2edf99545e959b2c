# SPDX-License-Identifier: BSD-3-Clause
"""Where the library goes from one protocol to another: found in RTT(m), and said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.detect import detect
from isochrone.files import PairParameters
from isochrone.plogp.protocol import ProtocolStep, level_steps, protocol_step

DOUBLED = [0, *(1 << k for k in range(22))]


def times_s(sizes: Sequence[int], limit_bytes: int, rise_s: float = 1e-5) -> list[float]:
    return [2e-6 + size * 1e-10 + (rise_s if size > limit_bytes else 0) for size in sizes]


def test_the_step_between_protocols_is_found_between_its_sizes(
    make_parameters: Callable[..., PairParameters],
) -> None:
    sizes = [0, 1024, 4096, 8192, 16384, 16400, 32768, 65536]
    step = protocol_step(make_parameters(times_s(sizes, 16390, 1e-6), sizes, [0.0] * 8))
    assert step is not None
    assert (step.below_bytes, step.from_bytes) == (16384, 16400)
    assert step.rise_s == pytest.approx(1e-6, rel=0.05)


def test_a_straight_line_has_no_step(make_parameters: Callable[..., PairParameters]) -> None:
    straight = times_s(DOUBLED, 1 << 30)
    assert protocol_step(make_parameters(straight, DOUBLED, [0.0] * len(DOUBLED))) is None


def test_disturbed_round_trips_are_no_step(make_parameters: Callable[..., PairParameters]) -> None:
    clean = times_s(DOUBLED, 8192)
    disturbed = make_parameters(clean, DOUBLED, [0.0] * len(DOUBLED))
    disturbed.rtt_s[3] *= 50
    disturbed.rtt_s[15:, 1:] += 0.02
    assert protocol_step(disturbed) == protocol_step(make_parameters(clean, DOUBLED, [0.0] * len(DOUBLED)))
    flat = make_parameters(times_s(DOUBLED, 1 << 30), DOUBLED, [0.0] * len(DOUBLED))
    flat.rtt_s[5] *= 3
    assert protocol_step(flat) is None


def test_sizes_close_to_a_step_do_not_hide_it(make_parameters: Callable[..., PairParameters]) -> None:
    sizes = sorted([*DOUBLED, 8128, 8160])
    rtt_s = times_s(sizes, 8192)
    rtt_s[sizes.index(8160)] *= 1.1
    rtt_s[sizes.index(8192)] *= 1.2
    step = protocol_step(make_parameters(rtt_s, sizes, [0.0] * len(sizes)))
    assert step is not None
    assert (step.below_bytes, step.from_bytes) == (8192, 16384)


def test_what_scatters_as_much_as_it_rises_is_no_step(make_parameters: Callable[..., PairParameters]) -> None:
    scattered = make_parameters(times_s(DOUBLED, 8192), DOUBLED, [0.0] * len(DOUBLED))
    scattered.rtt_s[:, 3] += 1.2e-5
    assert protocol_step(scattered) is None


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("noise", "rise_s"), [(0.01, 0.0), (0.03, 0.0), (0.1, 0.0), (0.01, 1e-6), (0.03, 3e-6)]
)
def test_noise_is_no_step_and_hides_none_that_is_larger(
    noise: float, rise_s: float, seed: int, make_parameters: Callable[..., PairParameters]
) -> None:
    """Ten round trips of each size, disturbed one by one."""
    random = np.random.default_rng(seed)
    sizes = sorted({*DOUBLED, *random.integers(1, 4096, 12).tolist()})
    clean = np.array(times_s(sizes, 16384, rise_s))
    rtt_s = clean[:, None] * random.lognormal(0, noise, (len(sizes), 10))
    parameters = make_parameters(clean.tolist(), sizes, [0.0] * len(sizes))
    parameters.rtt_s[:] = np.quantile(rtt_s, [0, 0.25, 0.5, 0.75], axis=1).T
    step = protocol_step(parameters)
    assert (step and step.below_bytes) == (16384 if rise_s else None)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (ProtocolStep(65536, 131072, 3.1e-6), "eager limit about 64 KiB: +3.10 µs"),
        (ProtocolStep(3840, 3968, 1.3e-5), "eager limit about 3.75 KiB: +13.0 µs"),
        (ProtocolStep(512, 1024, 2.504e-7), "eager limit about 512 B: +250 ns"),
        (ProtocolStep(1 << 20, 1 << 21, 0.0012), "eager limit about 1 MiB: +1.20 ms"),
    ],
)
def test_a_step_is_said_in_the_words_of_the_field(step: ProtocolStep, words: str) -> None:
    assert str(step) == words


def test_a_level_has_the_step_of_most_pairs_that_meet_there(
    make_parameters: Callable[..., PairParameters],
) -> None:
    node = np.arange(8) // 4
    rtt_s = np.where(node[:, None] == node, 1e-6, 4e-6)[:, :, None]
    measurements = synthetic(rtt_s, hosts=[f"n{host}" for host in node], send_overhead_s=rtt_s)
    topology, _ = detect(measurements)
    assert [level.name for level in topology.levels] == ["machine", "node"]

    def steps(limits: dict[tuple[int, int], int]) -> list[int | None]:
        parameters = {
            pair: make_parameters(times_s(DOUBLED, limit), DOUBLED, [0.0] * len(DOUBLED), *pair)
            for pair, limit in limits.items()
        }
        found = level_steps(replace(measurements, parameters=parameters), topology)
        return [step and step.below_bytes for step in found]

    none = 1 << 30
    assert steps({}) == [None, None]
    assert steps({(0, 4): 8192, (1, 5): 64, (2, 6): 8192, (0, 1): 4096}) == [8192, 4096]
    assert steps({(0, 4): 8192, (1, 5): none, (0, 1): none, (0, 2): none, (0, 3): 4096}) == [None, None]

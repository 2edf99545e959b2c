# SPDX-License-Identifier: BSD-3-Clause
"""What Python uses of Isochrone's core: recipes, layouts, predicted times, schedules and plans.

Every function raises ValueError, with one line that says what is wrong, for what it cannot use. Levels are
indices into ``Layout.levels``; sizes are in bytes, times in seconds.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str

class Algorithm(TypedDict):
    """A row of the table of a collective; for type checkers only.

    ``words`` is what a sentence calls it. ``default_parameter`` is 0 for an algorithm that takes none,
    ``default_segment`` (bytes) for one that is not segmented unless the recipe says so.
    ``tuned_parameters`` are those that tuning tries, if not the default alone. With ``quadratic_messages``
    the number of messages grows with the square of the group. With ``commutative_only`` operands are
    combined in an order of its own. What is ``mappable`` runs along a tree that can be laid over the network.
    """

    collective: str
    name: str
    words: str
    good_for: str
    source: str
    default_parameter: int
    default_segment: int
    tuned_parameters: list[int]
    quadratic_messages: bool
    commutative_only: bool
    mappable: bool

class Collective(TypedDict):
    """A row of the table of collectives; for type checkers only.

    ``words`` is what a sentence calls it. Without ``has_data`` its messages are empty. With ``has_blocks``
    ranks have a block for each other, or of each. ``agreed`` is what all know of the sizes alike: "message",
    "block" (all blocks are alike), "blocks" (of each), or "nothing". ``in_order``: operands are combined in
    the order of ranks, whatever the operation. ``up``, ``across`` and
    ``down`` are the tables of algorithms of its phases; empty: it has no such phase. A flat recipe is all
    across, and so is the outermost level of a hierarchical one.
    """

    name: str
    words: str
    rooted: bool
    reduces: bool
    has_data: bool
    has_blocks: bool
    agreed: str
    in_order: bool
    up: list[Algorithm]
    across: list[Algorithm]
    down: list[Algorithm]

class Pattern(TypedDict):
    """A row of the table of point-to-point patterns; for type checkers only.

    ``words`` is what a sentence calls it, ``like`` the benchmarks whose figures are the same.
    """

    name: str
    words: str
    like: str
    rooted: bool

class Optimiser(TypedDict):
    """A row of the table of optimisers of mappings; for type checkers only."""

    name: str
    words: str
    source: str

class Operation(TypedDict):
    """What a rank does in one step of a schedule; for type checkers only.

    ``kind`` is "send", "recv", "reduce", "copy" or "collective" (the MPI library's own, among the rank's
    group of ``level``, which is None otherwise). ``peer`` is the rank at the other end, or the root of a
    collective, or -1. ``after`` lists the operations, by index, that must come before.
    """

    kind: str
    peer: int
    level: int | None
    stage: int
    after: list[int]

class RecipeParts(TypedDict):
    """A recipe in parts; for type checkers only.

    ``levels`` is empty for a flat one. ``algorithms`` has for each level, the outermost first, or for all
    ranks one on the way up and, where it is named, another on the way down; it is empty for ``native``.
    ``order`` is that of ranks at the outermost level: "ordered", "depth_first", "breadth_first",
    "longest_first", or empty. ``segment_bytes`` is 0 where none is named.
    """

    levels: list[str]
    algorithms: list[list[str]]
    segment_bytes: int
    order: str

class Step(TypedDict):
    """One operation of one rank, in one segment, and when; for type checkers only.

    ``kind``, ``peer`` and ``op``, the operation's index, are those of ``Operation``. ``level`` is where the
    two ends of a message meet, or whose groups a collective is of; None for local work. ``sent_by`` is the
    step that sent what a receive takes. From ``begin_s`` to ``free_s`` the rank's processor is busy with it;
    before, the rank has waited. ``leave_s`` is when the first byte of a send leaves, and ``begin_s`` of
    others. It is done at ``end_s``: a send when its last byte has left. ``after`` are steps of the same rank
    that were to be done before it began, ``behind`` is one that was to have started, or None.
    """

    rank: int
    kind: str
    peer: int
    level: int | None
    op: int
    segment: int
    size_bytes: int
    sent_by: int | None
    begin_s: float
    free_s: float
    leave_s: float
    end_s: float
    after: list[int]
    behind: int | None

def algorithms() -> list[Algorithm]:
    """The rows of the tables of algorithms that work across a group, of all collectives."""

def collectives() -> list[Collective]:
    """The rows of the table of collectives."""

def patterns() -> list[Pattern]:
    """The rows of the table of point-to-point patterns."""

def check_fabric_address(text: str) -> None:
    """Whether a text is ``[hops@|speed@|time@]HOST:PORT``.

    Raises:
        ValueError: it is not.
    """

def parse_recipe(text: str) -> str:
    """The recipe as Isochrone writes it. The error line says what is wrong at which character."""

def recipe_parts(text: str) -> RecipeParts:
    """What a recipe is made of. The error line says what is wrong at which character."""

def rename_levels(recipe: str, names: Mapping[str, str]) -> str:
    """The recipe as Isochrone writes it, with new names for its levels, by their old ones; those that are
    not among these stay.
    """

class Layout:
    """The groups of the ranks of one communicator, level by level."""

    @property
    def size(self) -> int:
        """Number of ranks."""

    @property
    def levels(self) -> list[str]:
        """Names of the levels, outermost first."""

    @property
    def group_of(self) -> list[list[int]]:
        """[level][rank]: the number of the rank's group."""

    def shape(self, root: int | None = None) -> str:
        """The shape as the rules of plans name it; without ``root`` that of collectives that have none."""

    def shapes(self) -> list[str]:
        """[root], the shape with each root."""

    def order(self) -> str:
        """In which order the ranks go through the groups, as rules of plans name it: ``block``,
        ``cyclic``, ``block:cyclic`` and so on, or a digest.
        """

    def has_runs(self, level: str) -> bool:
        """Whether every group of a level is a run of consecutive ranks."""

    def way_s_per_byte(self) -> list[float]:
        """[level], the seconds that a byte keeps the way out of one of its groups, or the way in; 0 where
        nothing is shared. By the capacity that was measured, else, for nodes and what is around them, by what
        a pair gets.
        """

    def restricted_to(self, ranks: Sequence[int]) -> Layout:
        """The layout of some of the ranks, in this order."""

_Points = Sequence[tuple[int, float]]

def layout(
    levels: Sequence[str],
    group_of: Sequence[Sequence[int]],
    links: Sequence[tuple[float, _Points, _Points, _Points, float | None] | None],
) -> Layout:
    """A layout of levels, outermost first, [level][rank] groups, and for each level latency, overheads of
    sending and receiving, gap and capacity in seconds and bytes a second, as in ``files.Links``; None where
    nothing was measured. ValueError if their numbers differ.
    """

def hardware(hosts: Sequence[str]) -> Layout:
    """The layout of ranks that nobody surveyed, by the host of each, with links of the parameters that their
    kind usually has. ValueError if there are none.
    """

def match(topology_json: str, places: Sequence[tuple[str, str | None, str]]) -> Layout:
    """The layout of ranks at places (host, cpus or None, signature), by the text of a ``topology.json``.

    A host that was not surveyed is taken for one of the same signature; ValueError if there is none.
    """

def predict(collective: str, layout: Layout, recipe: str, root: int, size_bytes: int) -> float:
    """Simulated time of the slowest rank in a collective, in seconds. ``root`` is 0 where it has none.

    ValueError for ``native``, which has no price. The model is PLogP (Kielmann, Bal and Verstoep, IPDPS 2000)
    with shared ways. The GIL is released meanwhile.
    """

def message_cost(kinds: Sequence[Sequence[tuple[float, float, float]]]) -> tuple[float, float] | None:
    """What each message took beside prices, in seconds, and with how many that was seen at the most.

    `kinds`: of calls, each with the price of its recipes, the messages of all ranks and the time that was
    measured, both in seconds. None: in no kind they differ in their messages.
    """

def timeline(
    collective: str, layout: Layout, recipe: str, root: int, size_bytes: int, most: int
) -> list[Step]:
    """What all ranks do in a collective, and when, as ``predict`` foresees it: no step comes before one that
    it waits for, and steps name each other by their index. The end of the last one is what ``predict`` says.

    ValueError as there, and for more than ``most`` steps. The GIL is released while it is simulated.
    """

def schedule(collective: str, layout: Layout, recipe: str, rank: int, root: int) -> list[Operation]:
    """What one rank does in a collective, in list order.

    An operation of a segmented recipe stands for all its segments.
    """

def messages(collective: str, layout: Layout, recipe: str, root: int, size_bytes: int) -> int:
    """How many messages all ranks send in a collective, one for each segment. ValueError for ``native``, and
    for a recipe that does not fit the layout.
    """

def traffic(collective: str, ranks: int, recipe: str, root: int, size_bytes: int, most: int) -> bytes:
    """What ranks send one another in a collective by a flat recipe: native int64, [row][4] of source, target,
    messages and bytes, where a pair may have several rows. ``size_bytes`` as in ``predict``.

    ValueError for more than ``most`` rows.
    """

def exchange_s(
    flows: NDArray[np.int64],
    rounds: int,
    layout: Layout,
    pool_of: Sequence[int],
    processors: Sequence[int],
    most: int,
) -> list[float]:
    """When the last rank ends each of some rounds of messages, in seconds, under PLogP with shared ways. A
    rank goes on to the next round when its own messages are done.

    ``flows`` is [row][4]: source, target, messages in a round, and bytes of these; a rank sends in the order
    of the rows. ``pool_of`` is [rank], the pool of ``processors`` that ranks take turns on, or empty where
    each has one of its own. ValueError for more than ``most`` messages in a round.

    The GIL is released meanwhile.
    """

def choose(
    plan_json: str, collective: str, layout: Layout, root: int, size_bytes: int, as_surveyed: bool = False
) -> tuple[str, str]:
    """The recipe that the text of a ``plan.json`` gives for a collective, or ``native``, and why.

    Args:
        as_surveyed: it is a reduction whose result may differ in the last bit, so that recipes that were
            found live are not for it.
    """

def basis(plan_json: str, collective: str, layout: Layout, root: int, size_bytes: int) -> tuple[str, float]:
    """How it is known what `choose` says: ``measured``, ``live``, ``interpolated``, ``predicted`` (the
    library's own runs until a trial in the program's calls shows what is faster), or ``none``; and its
    speedup over the library's own, 0 where that is not known.
    """

def predicted(
    plan_json: str, collective: str, layout: Layout, root: int, size_bytes: int, most_s: float
) -> list[tuple[str, float]] | None:
    """Recipes that a program may try where a plan has no rule, each with the seconds that are expected: the
    first that it would try, if its price is below what runs takes, then the cheapest, ascending; empty: no
    recipe has a price. None: to price them takes longer than `most_s`.
    """

def optimisers() -> list[Optimiser]:
    """The rows of the table of optimisers of mappings, the default first."""

class MappingProblem:
    """Tasks, and places for them."""

    def __init__(
        self,
        first: NDArray[np.int64],
        neighbours: NDArray[np.int32],
        weights: NDArray[np.float64],
        groups: Sequence[Sequence[int]],
        distances: Sequence[Sequence[Sequence[float]]],
        capacities: Sequence[int],
        fixed: Sequence[int] = ...,
        dimensions: Sequence[int] = ...,
    ) -> None:
        """A problem. ValueError where it is impossible, with one line that says why.

        Args:
            first, neighbours, weights: the graph in compressed rows, each edge at both ends; [task + 1],
                [end], [end, term].
            groups: [level][place], outermost level first; the first has one group, each refines the one
                before.
            distances: [level][group][term], of pairs that meet there.
            capacities: [place], how many tasks it holds.
            fixed: [task], the place that it has to have, or -1.
            dimensions: of the grid that the tasks are, row by row.
        """

    def search(
        self,
        method: str,
        seed: int = 0,
        threads: int = 1,
        seconds: float | None = None,
        tick: Callable[[float], None] | None = None,
    ) -> list[int]:
        """The place of each task; empty where the method does not apply.

        Ends after its usual work, the same for the same seed, or goes on for so many seconds. ``tick`` is
        called with the seconds gone by. The GIL is released meanwhile, and Ctrl-C ends it.
        """

    def cost(self, at: Sequence[int]) -> float:
        """What a mapping costs, each edge counted once."""

    def relieved(
        self,
        out: NDArray[np.float64],
        in_: NDArray[np.float64],
        prices: Sequence[Sequence[float]],
        at: Sequence[int],
        seed: int = 0,
        seconds: float | None = None,
    ) -> list[int]:
        """A mapping from which single swaps and moves have taken what keeps the busiest ways busy.

        Args:
            out, in_: [end], bytes from the task to its neighbour, and from there.
            prices: [level][group], how long a byte keeps the way out of a group, or into it, busy.
            at: the mapping to begin with.
            seed, seconds: as in ``search``; without ``seconds`` until nothing helps any more.
        """

    def overload(self, at: Sequence[int]) -> int:
        """How many tasks are at places beyond their capacity."""

class FabricRoutes:
    """Where the forwarding tables of a fabric send packets.

    Vertices are the switches, and behind them the ends: ports of adapters and routers. ``peer``
    [switch, port] is the vertex at the other end of a cable (-1: none) and ``peer_port`` its port there,
    ``rate`` its Gb/s, ``out`` [switch, lid] the table (255: no entry), ``lid`` and ``lmc`` [vertex] the LIDs,
    and ``above``, ``above_port``, ``above_rate`` [end] the cables of ends.
    """

    def __init__(
        self,
        peer: NDArray[np.int32],
        peer_port: NDArray[np.uint8],
        rate: NDArray[np.float32],
        out: NDArray[np.uint8],
        lid: NDArray[np.int32],
        lmc: NDArray[np.uint8],
        above: NDArray[np.int32],
        above_port: NDArray[np.uint8],
        above_rate: NDArray[np.float32],
    ) -> None: ...
    def route(
        self, source: int, target: int, path: int = 0
    ) -> tuple[int, list[tuple[int, int, int]], float]: ...
    def hops(self, vertices: Sequence[int]) -> NDArray[np.uint16]: ...
    def rates(self, vertices: Sequence[int]) -> NDArray[np.float32]: ...
    def broken(
        self, vertices: Sequence[int], examples: int
    ) -> tuple[list[int], list[tuple[int, int, int]]]: ...
    def asymmetric(self, vertices: Sequence[int], examples: int) -> tuple[int, list[tuple[int, int]]]: ...
    def loads(
        self, source: NDArray[np.int32], target: NDArray[np.int32], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]: ...
    def uniform(
        self, vertices: Sequence[int]
    ) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64], float], NDArray[np.float64]]: ...

class FabricService:
    """Answers to the lines that a server is asked, from one generation of a fabric; threads may share it."""

    def __init__(
        self,
        routes: FabricRoutes,
        guids: Sequence[int],
        names: Sequence[tuple[str, int]],
        more_guids: Sequence[tuple[int, int]],
        version: str,
    ) -> None: ...
    def answer(self, lines: bytes, health: bytes) -> tuple[bytes, int, int, int]: ...
    def find(self, name: str) -> int: ...

FABRIC_LONGEST_LINE: int

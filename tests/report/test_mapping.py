# SPDX-License-Identifier: BSD-3-Clause
"""The section on mapping: what it says is what mapping.json holds, and only where that fits the survey."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from report_page import Reader

from isochrone.cli.main import main
from isochrone.files import (
    LevelTraffic,
    Place,
    Prediction,
    read_graph,
    read_mapping,
    write_graph,
    write_mapping,
)
from isochrone.files.graph import rows_of
from isochrone.mapping.graph import task_graph
from isochrone.mapping.system import system_of_tree
from isochrone.report import read_facts, summary_lines, survey_document
from isochrone.report.chartdata import MOST_CELLS, chart_data, sent_document
from isochrone.report.facts import Facts
from isochrone.report.headline import mapping_sentences
from isochrone.report.page import page
from isochrone.report.plots.traffic import mapping as mapping_figure
from isochrone.report.traffic import blocks_by_place, by_place, sent
from isochrone.report.write import write_page
from isochrone.units import approximate_bytes


@pytest.fixture(scope="module")
def written(survey_of: Callable, map_in: Callable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = survey_of("cluster").write(tmp_path_factory.mktemp("mapped"))
    map_in(folder, 4, seconds=12.0)
    return folder


@pytest.fixture
def mapped(written: Path, tmp_path: Path) -> Path:
    """The folder of a survey with a mapping, to be changed by one test."""
    return Path(shutil.copytree(written, tmp_path / "survey"))


def everything(facts: Facts) -> list[str]:
    return [
        Reader(page(facts)).text,
        "\n".join(summary_lines(facts)),
        json.dumps(survey_document(facts, Path("report.html"))),
    ]


def sections_and_links(facts: Facts) -> tuple[list[str | None], list[str | None]]:
    elements = Reader(page(facts)).elements
    return (
        [attributes.get("id") for tag, attributes in elements if tag == "section"],
        [attributes.get("href") for tag, attributes in elements if tag == "a"],
    )


def test_a_survey_without_a_mapping_does_not_speak_of_one(survey_of: Callable, tmp_path: Path) -> None:
    folder = survey_of("laptop").write(tmp_path)
    facts = read_facts(folder)
    sections, links = sections_and_links(facts)
    assert "mapping" not in sections
    assert "#mapping" not in links
    assert "mapping" not in chart_data(facts)
    assert json.loads(everything(facts)[2])["mapping"] is None
    assert mapping_figure(facts) is None


def test_the_section_is_linked_and_has_its_figure_as_files(mapped: Path) -> None:
    facts = read_facts(mapped)
    write_page(facts)
    sections, links = sections_and_links(facts)
    assert sections[-3:] == ["plan", "mapping", "provenance"]
    assert "#mapping" in links
    for kind in ("png", "svg", "pdf"):
        assert f"figures/mapping.{kind}" in links
        assert (mapped / "figures" / f"mapping.{kind}").stat().st_size > 0
    assert {"mapping.json", "graph.json"} <= set(links)


def test_the_headline_says_costs_and_predictions_on_the_page_and_in_the_terminal(mapped: Path) -> None:
    path = mapped / "mapping.json"
    write_mapping(
        path,
        structs.replace(
            read_mapping(path), cost=0.5, identity_cost=1.25, prediction=Prediction(0.010, 0.004, run_s=2.0)
        ),
    )
    facts = read_facts(mapped)
    sentences = [
        "The messages of 128 ranks, one after another, cost 1.25 s in their order and 500 ms mapped, "
        "2.50× less.",
        "Predicted, messages alone: 10.0 ms in their order, 4.00 ms mapped, 2.50× as fast.",
        "Predicted, recorded run: 2.00 s in their order, 1.99 s mapped, 1.00× as fast.",
    ]
    assert mapping_sentences(facts.mapping) == sentences
    assert " ".join(sentences) in Reader(page(facts)).text
    lines = summary_lines(facts)
    assert [line for line in lines if line in sentences] == sentences


def test_the_time_of_the_busiest_way_is_a_cost_too(mapped: Path) -> None:
    path = mapped / "mapping.json"
    busiest = structs.replace(
        read_mapping(path), objective="load", cost=0.5, identity_cost=1.25, prediction=None
    )
    write_mapping(path, busiest)
    assert mapping_sentences(read_facts(mapped).mapping) == [
        "The messages of 128 ranks keep the busiest way busy for 1.25 s in their order and 500 ms mapped, "
        "2.50× less."
    ]


@pytest.mark.parametrize(("cost", "gain"), [(1200, ""), (1199, ""), (800, ", 1.50× less"), (0, "")])
def test_only_what_is_less_is_said_to_be_less(mapped: Path, cost: float, gain: str) -> None:
    path = mapped / "mapping.json"
    found = structs.replace(
        read_mapping(path), objective="hops", cost=cost, identity_cost=1200, prediction=None
    )
    write_mapping(path, found)
    (sentence,) = mapping_sentences(read_facts(mapped).mapping)
    assert sentence.endswith(f" mapped{gain}.")


@pytest.mark.parametrize(
    ("objective", "unit"), [("volume", "bytes times distance"), ("hops", "bytes times links")]
)
def test_costs_that_are_no_times_have_their_unit(mapped: Path, objective: str, unit: str) -> None:
    path = mapped / "mapping.json"
    other = structs.replace(
        read_mapping(path), objective=objective, cost=400, identity_cost=1200, prediction=None
    )
    write_mapping(path, other)
    assert mapping_sentences(read_facts(mapped).mapping) == [
        f"The messages of 128 ranks cost 1,200 {unit} in their order and 400 mapped, 3.00× less."
    ]


def test_where_mapping_does_not_help_the_headline_says_why_and_claims_no_gain(
    survey_of: Callable, map_in: Callable, tmp_path: Path
) -> None:
    folder = survey_of("laptop").write(tmp_path)
    map_in(folder, 2)
    told = mapping_sentences(read_facts(folder).mapping)
    assert re.fullmatch(
        r"The messages of 4 ranks, one after another, cost (\S+ \S+) in their order and \1 mapped\.", told[0]
    )
    assert told[-1] == "Mapping does not help: the ranks' own order is as good already."


def test_the_table_has_the_bytes_of_each_level_of_the_file(mapped: Path) -> None:
    kept = read_mapping(mapped / "mapping.json")
    total = sum(level.before_bytes for level in kept.levels)
    text = Reader(page(read_facts(mapped))).text
    rows = text[text.index("Bytes that meet at each level") :]
    for name, level in zip(("Machine", "Switch", "Node", "Socket"), kept.levels, strict=False):
        before, after = level.before_bytes, level.after_bytes
        assert (
            f"{name}{approximate_bytes(before)}{100 * before / total:.1f} %"
            f"{approximate_bytes(after)}{100 * after / total:.1f} %"
        ) in rows
    assert "Place" not in rows[: rows.index("Where each rank goes")]


def test_programs_get_the_figures_of_the_file(
    mapped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    line = ["map", str(mapped / "graph.json"), "--topology", str(mapped), "--json"]
    assert main([*line, "-o", str(tmp_path / "other.json")]) == 0
    of_map = json.loads(capsys.readouterr().out)
    assert main(["report", str(mapped), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["mapping"]
    assert found == {name: of_map[name] for name in found}
    assert {"ranks", "cost", "identity_cost", "levels", "prediction", "advice"} <= set(found)


def test_each_rank_is_listed_at_its_host(mapped: Path) -> None:
    kept = read_mapping(mapped / "mapping.json")
    text = Reader(page(read_facts(mapped))).text
    listed = text[text.index("Where each rank goes") :]
    moved = sum(a.host != b.host for a, b in zip(kept.places, kept.identity, strict=True))
    assert f"{moved} of 128 ranks run on another host than in their order." in listed
    for host in ("n0", "n1", "n2", "n3"):
        ranks = re.search(rf"{host}: ranks ([0-9, -]+)", listed)
        assert ranks is not None
        found = set()
        for part in ranks[1].split(", "):
            first, _, last = part.partition("-")
            found |= set(range(int(first), int(last or first) + 1))
        assert found == {rank for rank, place in enumerate(kept.places) if place.host == host}


def test_on_a_single_host_ranks_are_listed_by_their_cpus(
    survey_of: Callable, map_in: Callable, tmp_path: Path
) -> None:
    folder = survey_of("laptop").write(tmp_path)
    map_in(folder, 2)
    places = read_mapping(folder / "mapping.json").places
    text = Reader(page(read_facts(folder))).text
    for rank, place in enumerate(places):
        assert f"CPU {place.cpus}: rank {rank}" in text


def test_many_hosts_are_folded(
    survey_of: Callable, machine_of: Callable, map_in: Callable, tmp_path: Path
) -> None:
    machine = machine_of([("machine", 1, 2e-6), ("node", 50, 6e-7), ("core", 2, 0)])
    folder = survey_of(machine).write(tmp_path)
    map_in(folder, 50)
    assert "50 hosts" in Reader(page(read_facts(folder))).text
    assert "n7: rank" in Reader(page(read_facts(folder))).text


def test_ranks_by_place_have_every_group_together() -> None:
    groups = [[0] * 6, [1, 0, 1, 0, 1, 0]]
    order = by_place(groups, (5, 0, 1, 4))
    assert order.tolist() == [1, 3, 2, 0]
    assert blocks_by_place(groups, (5, 0, 1, 4)) == [[(0, 4)], [(0, 2), (2, 4)]]


def test_the_matrix_of_many_ranks_stays_small_and_keeps_all_bytes() -> None:
    random = np.random.default_rng(1)
    ranks = 4096
    pairs = random.integers(0, ranks, (200_000, 2))
    volumes = random.integers(1, 1 << 30, 200_000)
    tasks = task_graph(ranks, np.column_stack([pairs, np.ones(len(pairs), np.int64), volumes]))
    system = system_of_tree([16, 16, 16])
    found = sent(tasks, system.groups, random.permutation(ranks).tolist(), MOST_CELLS)
    assert found is not None
    drawn = sent_document(found)
    assert len(json.dumps(drawn, separators=(",", ":"))) < 1.2e6
    assert found.side == drawn["side"] == 256
    for matrix in (drawn["found"], drawn["mapped"]):
        assert isinstance(matrix, list)
        total = sum(10**value for value in matrix if value is not None)
        assert total == pytest.approx(tasks.volume_bytes.sum(), rel=2e-3)


def left_out(folder: Path, name: str, words: str) -> Facts:
    """That a file is not shown, and why is said everywhere, once in the terminal."""
    facts = read_facts(folder)
    assert words in facts.not_shown[name]
    assert "\n".join(summary_lines(facts)).count(words) == 1
    for text in everything(facts):
        assert words in text
        assert "isochrone map" in text
    return facts


def changed(folder: Path, **fields: object) -> None:
    path = folder / "mapping.json"
    write_mapping(path, structs.replace(read_mapping(path), **fields))


@pytest.mark.parametrize("what", ["host", "cpus", "tree", "levels", "twice", "identity"])
def test_a_mapping_for_other_places_is_not_shown(mapped: Path, what: str) -> None:
    kept = read_mapping(mapped / "mapping.json")
    first = kept.places[0]
    other = {
        "host": {"places": (structs.replace(first, host="elsewhere"), *kept.places[1:])},
        "cpus": {"places": (structs.replace(first, cpus="0-99"), *kept.places[1:])},
        "tree": {"places": (), "identity": ()},
        "levels": {"levels": (LevelTraffic("rack", 1, 1), LevelTraffic("place", 0, 0))},
        "twice": {"places": (kept.places[1], *kept.places[1:])},
        "identity": {"identity": (Place("elsewhere", None, ""), *kept.identity[1:])},
    }[what]
    changed(mapped, **other)
    facts = left_out(
        mapped, "mapping.json", "The mapping (mapping.json) was made for other places than those of topology"
    )
    assert facts.mapping is None
    sections, links = sections_and_links(facts)
    assert "mapping" in sections
    assert "#mapping" in links
    assert "Where each rank goes" not in everything(facts)[0]
    assert mapping_figure(facts) is None


def test_a_mapping_to_some_of_the_hosts_is_drawn_at_their_places(
    mapped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = read_graph(mapped / "graph.json")
    half = rows_of([(1, a, 63 - a, 1, 1000) for a in range(64)])
    write_graph(mapped / "graph.json", replace(graph, ranks=64, rows=half, places=()))
    (tmp_path / "hosts").write_text("n3 32\nn1 32\n")
    line = ["map", str(mapped / "graph.json"), "--topology", str(mapped), "--hosts", str(tmp_path / "hosts")]
    assert main([*line, "-o", str(mapped / "mapping.json")]) == 0
    facts = read_facts(mapped)
    assert facts.mapping is not None
    hosts = [facts.places[facts.topology.ranks[place]].host for place in facts.mapping.at]
    assert hosts == [place.host for place in facts.mapping.file.places]
    assert set(hosts) == {"n1", "n3"}
    assert facts.mapping.tasks is not None


def test_a_graph_of_another_number_of_ranks_is_not_drawn(mapped: Path) -> None:
    graph = read_graph(mapped / "graph.json")
    few = replace(graph, ranks=8, rows=rows_of([(1, 0, 7, 1, 10)]), places=())
    write_graph(mapped / "graph.json", few)
    words = "The graph (graph.json) is of 8 ranks and the mapping of 128, so what ranks send is not drawn"
    no_matrix(left_out(mapped, "graph.json", words))


def test_a_graph_of_other_bytes_than_were_mapped_is_not_drawn(mapped: Path) -> None:
    graph = read_graph(mapped / "graph.json")
    more = replace(graph.rows, volume_bytes=graph.rows.volume_bytes + 1)
    write_graph(mapped / "graph.json", replace(graph, rows=more))
    words = "The graph (graph.json) has other bytes than were mapped, so what ranks send is not drawn"
    no_matrix(left_out(mapped, "graph.json", words))


def test_without_the_graph_bars_and_table_stay(mapped: Path) -> None:
    (mapped / "graph.json").unlink()
    facts = read_facts(mapped)
    assert not facts.warnings
    assert "What was mapped is not in this folder (graph.json)" in everything(facts)[0]
    no_matrix(facts)


def no_matrix(facts: Facts) -> None:
    text = page(facts)
    assert 'id="mapping-found"' not in text
    assert 'id="mapping-levels"' in text
    assert "Bytes that meet at each level" in text
    figure = mapping_figure(facts)
    assert figure is not None
    assert len(figure.axes) == 1


def test_ranks_that_send_nothing_have_no_drawing(mapped: Path) -> None:
    graph = read_graph(mapped / "graph.json")
    write_graph(mapped / "graph.json", replace(graph, rows=rows_of([])))
    line = ["map", str(mapped / "graph.json"), "--topology", str(mapped)]
    assert main([*line, "-o", str(mapped / "mapping.json")]) == 0
    facts = read_facts(mapped)
    text = page(facts)
    assert "Mapping does not help: the ranks send each other nothing." in Reader(text).text
    assert 'id="mapping-' not in text.replace('id="mapping-heading"', "")
    assert mapping_figure(facts) is None


@pytest.mark.parametrize("name", ["mapping.json", "graph.json"])
@pytest.mark.parametrize("content", ["{", '{"isochrone": "plan", "schema_version": 1}', ""])
def test_a_damaged_file_is_one_line(
    mapped: Path, name: str, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (mapped / name).write_text(content)
    capsys.readouterr()
    assert main(["report", str(mapped)]) == 1
    error = capsys.readouterr().err
    assert name in error
    assert len(error.splitlines()) == 1
    assert not (mapped / "report.html").exists()


def test_words_of_a_mapping_are_text_and_never_markup(mapped: Path) -> None:
    changed(mapped, advice="<img src=x onerror=alert(1)>\x1b[31m")
    facts = read_facts(mapped)
    reader = Reader(page(facts))
    assert reader.closed()
    assert all((a["src"] or "").startswith("data:") for tag, a in reader.elements if tag == "img")
    assert all(line.isprintable() for line in summary_lines(facts))


def test_a_mapping_that_was_made_without_a_graph_only_says_where_ranks_go(
    mapped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (mapped / "graph.json").unlink()
    line = ["map", "--topology", str(mapped), "--method", "identity", "-o", str(mapped / "mapping.json")]
    assert main(line) == 0
    facts = read_facts(mapped)
    assert mapping_sentences(facts.mapping) == []
    text = Reader(page(facts)).text
    assert "0 of 128 ranks run on another host than in their order." in text
    assert "What was mapped" not in text
    assert "Bytes that meet" not in text
    assert mapping_figure(facts) is None

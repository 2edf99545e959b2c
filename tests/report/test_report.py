# SPDX-License-Identifier: BSD-3-Clause
import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec import structs
from report_page import Reader
from squares import without

from isochrone.errors import IsochroneError
from isochrone.files import PairParameters, Rule
from isochrone.report import read_facts, summary_lines, survey_document, write_page
from isochrone.report.html import data_block, tag
from isochrone.report.page import page
from isochrone.report.plots import write_figures

HOSTILE = "\"><script>alert({})</script><img src=x onerror=alert(1)>&amp;'</title>"
FIGURES = [
    f"{stem}.{kind}"
    for stem in ("topology", "latency-matrix", "dendrogram", "broadcast")
    for kind in ("png", "svg", "pdf")
]


@pytest.fixture(scope="module")
def cluster(survey_of: Callable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = survey_of("cluster").write(tmp_path_factory.mktemp("survey"))
    write_page(read_facts(folder, lambda _: ()))
    return folder


def test_the_page_is_whole_well_formed_and_says_what_was_found(cluster: Path) -> None:
    reader = Reader((cluster / "report.html").read_text())
    assert reader.closed()
    assert "128 ranks in 2 switches, 4 nodes and 8 sockets" in reader.text
    assert "between sockets a chain, inside each socket the library's own" in reader.text.lower()
    assert "isochrone survey --sim fram" in reader.text
    headings = [attributes.get("id") for tag, attributes in reader.elements if tag == "section"]
    assert headings == [
        "topology",
        "latency",
        "tree",
        "accuracy",
        "findings",
        "broadcast",
        "plan",
        "provenance",
    ]


def test_the_page_loads_nothing_from_elsewhere(cluster: Path) -> None:
    reader = Reader((cluster / "report.html").read_text())
    tags = {tag for tag, _ in reader.elements}
    assert not tags & {"link", "iframe", "object", "embed", "base"}
    targets = [attributes["href"] for _, attributes in reader.elements if "href" in attributes]
    sources = [attributes["src"] for _, attributes in reader.elements if "src" in attributes]
    assert all(source is not None and source.startswith("data:") for source in sources)
    for target in targets:
        assert target is not None
        assert target.startswith("#") or (cluster / target).is_file(), target


def test_only_the_scripts_that_were_put_in_may_run(cluster: Path) -> None:
    reader = Reader((cluster / "report.html").read_text())
    policy = next(
        a["content"] for t, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    run = [text for attributes, text in reader.scripts if attributes.get("type") != "application/json"]
    assert len(run) == 2
    assert {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run} == allowed


def test_every_chart_of_the_page_has_words_for_those_who_cannot_see_it(cluster: Path) -> None:
    reader = Reader((cluster / "report.html").read_text())
    pictures = [attributes for _, attributes in reader.elements if attributes.get("role") == "img"]
    assert len(pictures) == 6
    assert all(a.get("aria-label") or a.get("class") == "topology" for a in pictures)


def test_the_figures_are_files_too_and_the_same_for_the_same_survey(cluster: Path, tmp_path: Path) -> None:
    assert sorted(path.name for path in (cluster / "figures").iterdir()) == sorted(FIGURES)
    write_figures(read_facts(cluster), tmp_path)
    for name in FIGURES:
        content = (tmp_path / name).read_bytes()
        assert content == (cluster / "figures" / name).read_bytes()
        if name.endswith("svg"):
            assert ElementTree.fromstring(content).tag.endswith("svg")  # noqa: S314


def with_eager_limit(made: Any, limit_bytes: int) -> Any:
    """The survey with the PLogP parameters of rank 0 with each other rank."""
    sizes = [0, *(1 << power for power in range(20))]
    rtt_s = np.array([2e-6 + size * 1e-10 + (3e-6 if size > limit_bytes else 0) for size in sizes])
    nothing = np.zeros(len(sizes))
    parameters = {
        (0, rank): PairParameters(
            0, rank, tuple(sizes), np.repeat(rtt_s[:, None], 4, axis=1), nothing, nothing, nothing
        )
        for rank in range(1, made.measurements.ranks)
    }
    return replace(made, measurements=replace(made.measurements, parameters=parameters))


def test_the_eager_limit_of_each_level_is_said_on_the_page_and_in_the_terminal(survey_of: Callable) -> None:
    facts = with_eager_limit(survey_of("cluster"), 65536).facts()
    reader = Reader(page(facts))
    assert "Eager limit" in reader.text
    assert reader.text.count("about 64 KiB: +3.00 µs") == 4
    lines = [line for line in summary_lines(facts) if line.endswith("eager limit about 64 KiB: +3.00 µs")]
    assert [line.split()[0] for line in lines] == ["machine", "switch", "node", "socket"]
    document = survey_document(facts, Path("report.html"))
    steps = [level["protocol_step"] for level in document["levels"]]
    assert [(step["below_bytes"], step["from_bytes"]) for step in steps] == [(65536, 131072)] * 4


def test_a_level_without_a_step_has_a_dash_and_a_survey_without_parameters_no_column(
    survey_of: Callable,
) -> None:
    straight = with_eager_limit(survey_of("cluster"), 1 << 30).facts()
    assert "Eager limit" in Reader(page(straight)).text
    assert "eager limit about" not in "\n".join(summary_lines(straight))
    assert "ager limit" not in Reader(page(survey_of("cluster").facts())).text


def test_names_from_files_are_text_and_never_markup(survey_of: Callable, machine_of: Callable) -> None:
    machine = machine_of([("machine", 1, 2e-6), ("node", 2, 1e-6), ("core", 3, 0)], host=HOSTILE)
    made = survey_of(machine)
    key = next(key for key in made.bench.slowest_s if key.recipe == "native")
    rival = key._replace(recipe=f"native:{HOSTILE}")
    bench = replace(made.bench, slowest_s={**made.bench.slowest_s, rival: made.bench.slowest_s[key] / 10})
    rule: Rule = structs.replace(made.plan.rules[0], recipe=HOSTILE, shape=HOSTILE, collective=HOSTILE)
    mpi = structs.replace(made.measurements.mpi, library=HOSTILE)
    provenance = {"command": [HOSTILE], "time": HOSTILE, "host": HOSTILE, "version": HOSTILE}
    made = replace(
        made,
        bench=bench,
        plan=structs.replace(made.plan, rules=(rule,), provenance=provenance),
        measurements=replace(made.measurements, mpi=mpi),
        topology=structs.replace(made.topology, agreement={HOSTILE: {"source": HOSTILE, "level": HOSTILE}}),
    )
    for survey in (
        None,
        structs.replace(made.survey, target=HOSTILE, command=[HOSTILE], provenance=provenance),
    ):
        text = page(replace(made.facts(), survey=survey, not_shown={"plan.json": HOSTILE}))
        reader = Reader(text)
        assert reader.closed()
        assert [attributes.get("type") for attributes, _ in reader.scripts] == [
            "application/json",
            None,
            None,
        ]
        assert not [tag for tag, _ in reader.elements if tag == "img"]
        assert not [name for _, a in reader.elements for name in a if name.startswith("on")]
        data = json.loads(reader.scripts[0][1])
        assert data["hosts"][0] == made.topology.places[0].host
        assert HOSTILE.format(0) in reader.text


def test_without_plan_and_verification_the_report_says_so(survey_of: Callable, tmp_path: Path) -> None:
    folder = survey_of("uneven").write(tmp_path, leave_out=["plan.json", "bench.jsonl"])
    (folder / "figures").mkdir()
    (folder / "figures" / "broadcast.png").write_bytes(b"of an earlier survey")
    text = Reader(write_page(read_facts(folder)).read_text()).text
    assert "No plan is in this folder (plan.json)" in text
    assert "No verification run is in this folder (bench.jsonl)" in text
    assert not (folder / "figures" / "broadcast.png").exists()


@pytest.mark.parametrize("cores", [1, 2])
def test_the_smallest_machines_have_a_report(
    survey_of: Callable, machine_of: Callable, tmp_path: Path, cores: int
) -> None:
    made = survey_of(machine_of([("node", 1, 5e-7), ("core", cores, 0)]))
    folder = made.write(tmp_path, leave_out=["plan.json", "bench.jsonl"])
    assert Reader(write_page(read_facts(folder)).read_text()).closed()


def test_a_machine_of_512_ranks_fits_into_twelve_megabytes(survey_of: Callable) -> None:
    assert len(page(survey_of("large").facts()).encode()) < 12e6


@pytest.fixture(scope="module")
def sparse(survey_of: Callable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The survey of 128 ranks of which some with all others, and few other pairs, were measured."""
    made = survey_of("cluster")
    generator = np.random.default_rng(1)
    measured = generator.random((128, 128)) < 0.04
    measured[:, generator.choice(128, 24, replace=False)] = True
    pairs = list(zip(*np.nonzero(np.triu(measured | measured.T, 1)), strict=True))
    made = replace(made, measurements=made.measurements.only_pairs(pairs))
    folder = made.write(tmp_path_factory.mktemp("sparse"))
    write_page(read_facts(folder))
    return folder


def test_a_survey_of_some_pairs_has_its_tree_and_says_which_pairs_are_its_evidence(sparse: Path) -> None:
    facts = read_facts(sparse)
    few, all_pairs = facts.measurements.pairs_measured, 128 * 127 // 2
    assert few < all_pairs / 2
    assert facts.tree is not None
    assert [cut.level for cut in facts.tree.cuts] == [1, 2, 3]
    reader = Reader((sparse / "report.html").read_text())
    assert reader.closed()
    assert f"not measured: {all_pairs - few:,} of {all_pairs:,} pairs" in reader.text
    assert f"for the {few:,} of {all_pairs:,} pairs that were measured" in reader.text
    assert "Between two branches of which no pair was measured" in reader.text
    assert f"{few:,} of {all_pairs:,} pairs, 10 round trips" in reader.text
    (label,) = (a["aria-label"] for _, a in reader.elements if a.get("id") == "matrix-found")
    assert label is not None
    assert f"{all_pairs - few:,} of {all_pairs:,} pairs were not measured" in label
    assert {path.name for path in (sparse / "figures").iterdir()} == set(FIGURES)
    assert f"not measured: {all_pairs - few:,}" in (sparse / "figures" / "latency-matrix.svg").read_text()


def test_the_matrix_shows_measured_pairs_only(sparse: Path) -> None:
    facts = read_facts(sparse)
    data = json.loads(Reader((sparse / "report.html").read_text()).scripts[0][1])
    values = data["latency_us"]
    assert len(values) - values.count(None) == facts.measurements.pairs_measured


def test_of_too_many_ranks_no_matrix_is_drawn_and_the_page_says_so(
    survey_of: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = survey_of("laptop").write(tmp_path)
    write_page(read_facts(folder))
    assert (folder / "figures" / "latency-matrix.svg").exists()
    for module in ("facts", "sections.latency"):
        monkeypatch.setattr(f"isochrone.report.{module}.MOST_IN_MATRIX", 3)
    reader = Reader(write_page(read_facts(folder)).read_text())
    assert reader.closed()
    assert "A matrix of more than 3 ranks is not drawn." in reader.text
    assert json.loads(reader.scripts[0][1])["latency_us"] is None
    assert not any(a.get("id") == "matrix-found" for _, a in reader.elements)
    assert not (folder / "figures" / "latency-matrix.svg").exists()


def test_a_survey_of_all_pairs_does_not_speak_of_others(cluster: Path) -> None:
    text = Reader((cluster / "report.html").read_text()).text
    assert "Latency of every pair" in text
    assert "not measured:" not in text
    assert "that were measured" not in text
    assert "not measured" not in (cluster / "figures" / "latency-matrix.svg").read_text()


def test_a_probe_that_has_not_ended_has_no_tree(survey_of: Callable, tmp_path: Path) -> None:
    made = survey_of("laptop")
    made = replace(made, measurements=replace(without(made.measurements, 0, 1), ended=False))
    folder = made.write(tmp_path)
    assert read_facts(folder).tree is None
    assert "the probe has not ended" in Reader(write_page(read_facts(folder)).read_text()).text


def test_a_report_without_every_pair_has_no_tree_and_says_so(survey_of: Callable) -> None:
    facts = replace(survey_of("cluster").facts(), tree=None)
    assert "pairs are missing" in Reader(page(facts)).text


@pytest.mark.parametrize("name", ["measurements.jsonl", "topology.json", "plan.json", "bench.jsonl"])
def test_a_damaged_file_is_one_clear_line(survey_of: Callable, tmp_path: Path, name: str) -> None:
    folder = survey_of("laptop").write(tmp_path)
    (folder / name).write_text('{"isochrone": "something else"}\n' * 3)
    with pytest.raises(IsochroneError, match=name):
        write_page(read_facts(folder))
    assert not (folder / "report.html").exists()


def test_files_of_two_surveys_are_not_mixed(survey_of: Callable, tmp_path: Path) -> None:
    folder = survey_of("laptop").write(tmp_path / "a")
    other = survey_of("uneven").write(tmp_path / "b")
    (other / "topology.json").replace(folder / "topology.json")
    with pytest.raises(IsochroneError, match=r"9 ranks, but 4 were measured"):
        write_page(read_facts(folder))


def test_a_folder_that_cannot_be_written_to_is_one_clear_line(survey_of: Callable, tmp_path: Path) -> None:
    folder = survey_of("laptop").write(tmp_path)
    (folder / "figures").write_text("a file in the way")
    with pytest.raises(IsochroneError, match="cannot write the report"):
        write_page(read_facts(folder))


def test_ranks_that_shared_cores_are_warned_about(survey_of: Callable) -> None:
    made = survey_of("laptop")
    made = replace(made, measurements=replace(made.measurements, simulated=False))
    shared = replace(made, survey=structs.replace(made.survey, cores=2)).facts()
    warning = "4 ranks shared 2 cores"
    assert warning in Reader(page(shared)).text
    assert warning in "\n".join(summary_lines(shared))
    assert (
        warning not in Reader(page(replace(made, survey=structs.replace(made.survey, cores=4)).facts())).text
    )


def test_the_terminals_summary_is_short_however_deep_and_wide_the_tree(
    survey_of: Callable, machine_of: Callable
) -> None:
    names = ["site", "rack", "switch", "machine", "node", "socket", "numa", "l3", "l2"]
    levels = [(name, 2 if index else 1, 1e-5 / 1.5**index) for index, name in enumerate(names)]
    lines = summary_lines(survey_of(machine_of([*levels, ("core", 2, 0)])).facts())
    assert len(lines) <= 8 + 25 + 5
    assert lines[0].startswith("512 ranks in 2 racks")
    assert any("more levels" in line for line in lines)
    assert any("L2 group" in line for line in lines)


def test_the_terminal_is_sent_no_control_characters(survey_of: Callable) -> None:
    made = survey_of("laptop")
    times = {key._replace(collective="\x1b[2Jbcast"): values for key, values in made.bench.slowest_s.items()}
    made = replace(made, bench=replace(made.bench, slowest_s=times))
    facts = replace(made.facts(), not_shown={"plan.json": "\x1b[31m"})
    assert all(line.isprintable() for line in summary_lines(facts))


def test_attributes_are_escaped_and_json_cannot_end_its_element() -> None:
    assert tag("a", "<b>", href='"><i x="').markup == '<a href="&quot;&gt;&lt;i x=&quot;">&lt;b&gt;</a>'
    assert data_block("data", {"host": "</script><!--"}).markup.count("<") == 2

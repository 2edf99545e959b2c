# SPDX-License-Identifier: BSD-3-Clause
"""Files for launchers: what is in them, and what is refused. Launching with them is tested in the lab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError, UsageError
from isochrone.files import Place
from isochrone.mapping.emitters import FORMS, Job, emit, find_form, forms_of
from isochrone.mapping.readers import FORMATS

PLACES = tuple(
    Place(host, cpus, "1x4x1")
    for host, cpus in [("mic0", "0"), ("mic0", "3,1-2"), ("mic1", "0-1"), ("mic0", "5"), ("mic1", "2")]
)
PROGRAM = ("/home/test/app", "-x", "1")


def written(tmp_path: Path, form: str, job: Job) -> tuple[str, list[str]]:
    path = tmp_path / "file"
    line = emit(find_form(form), job, path)
    return path.read_text(encoding="utf-8"), [word.replace(str(path), "F") for word in line]


def test_configuration_files_of_intel_mpi_are_in_the_seeds_form(tmp_path: Path) -> None:
    extra = ("-env", "I_MPI_STATS", "4", "-wdir", "/work dir")
    text, line = written(tmp_path, "intel-configfile", Job(PLACES, PROGRAM, extra))
    begin = '-env I_MPI_STATS 4 -wdir "/work dir" -n'
    assert text == "".join(
        f"{begin} {count} -host {host} /home/test/app -x 1\n"
        for count, host in [(2, "mic0"), (1, "mic1"), (1, "mic0"), (1, "mic1")]
    )
    assert line == ["mpirun", "-configfile", "F"]


def test_rankfiles_bind(tmp_path: Path) -> None:
    text, line = written(tmp_path, "openmpi4-rankfile", Job(PLACES, PROGRAM))
    assert text.splitlines()[:3] == ["rank 0=mic0 slot=0", "rank 1=mic0 slot=1-3", "rank 2=mic1 slot=0-1"]
    assert " ".join(line) == "mpirun --mca rmaps_rank_file_physical 1 --rankfile F -n 5 /home/test/app -x 1"
    same, line = written(tmp_path, "openmpi5-rankfile", Job(PLACES, PROGRAM))
    assert same == text
    assert line[1:5] == ["--host", "mic0:3,mic1:2", "--map-by", "rankfile:file=F:hwtcpus"]
    assert line[5:7] == ["--bind-to", "hwthread:overload-allowed"]


def test_other_forms(tmp_path: Path) -> None:
    job = Job(PLACES, PROGRAM)
    assert written(tmp_path, "intel-machinefile", job)[0] == "mic0:2\nmic1:1\nmic0:1\nmic1:1\n"
    assert written(tmp_path, "mpich-hostfile", job)[0] == "mic0:2\nmic1:1\nmic0:1\nmic1:1\n"
    assert written(tmp_path, "mpich-configfile", job)[0] == (
        "-hosts mic0,mic1 -rankmap 0,0,1,0,1 -n 5 /home/test/app -x 1\n"
    )
    text, line = written(tmp_path, "mpich-rankmap", job)
    assert text == "mic0:3\nmic1:2\n"
    assert " ".join(line) == "mpirun -f F -rankmap 0,0,1,0,1 -n 5 /home/test/app -x 1"
    for form in ("openmpi-sequential", "slurm-hostfile"):
        assert written(tmp_path, form, job)[0] == "mic0\nmic0\nmic1\nmic0\nmic1\n"
    _, line = written(tmp_path, "slurm-hostfile", job)
    assert " ".join(line) == "env SLURM_HOSTFILE=F srun -m arbitrary -n 5 /home/test/app -x 1"


@pytest.mark.parametrize("form", ["intel-configfile", "mpich-configfile"])
@pytest.mark.parametrize("word", ["", "a\nb", "a\tb", ":", 'a "b"', "\x00"])
def test_words_that_would_be_read_otherwise_are_refused(tmp_path: Path, form: str, word: str) -> None:
    with pytest.raises(UsageError, match=r"would be read otherwise|has blanks and quotes") as caught:
        written(tmp_path, form, Job(PLACES, ("app", word)))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("word", ["a#b", "# x", '"a'])
def test_words_that_intel_mpi_would_read_otherwise_are_refused(tmp_path: Path, word: str) -> None:
    with pytest.raises(UsageError, match="would be read otherwise"):
        written(tmp_path, "intel-configfile", Job(PLACES, ("app", word)))


@pytest.mark.parametrize("form", [form.name for form in FORMS])
@pytest.mark.parametrize("host", ["", "a b", "a\nb", "a:1", "-rf", "a,b", "fe80::1", "a=b", "#a"])
def test_hosts_that_would_be_read_otherwise_are_refused(tmp_path: Path, form: str, host: str) -> None:
    places = (Place(host, "0", "1x1"),)
    job = Job(places, PROGRAM)
    with pytest.raises(IsochroneError):
        written(tmp_path, form, job)
    assert not (tmp_path / "file").exists()


def test_what_a_form_cannot_say_is_refused(tmp_path: Path) -> None:
    unbound = (Place("a", None, "1x1"),)
    for form in ("openmpi4-rankfile", "openmpi5-rankfile"):
        with pytest.raises(IsochroneError, match="rank 0 has none; use the form openmpi-sequential"):
            written(tmp_path, form, Job(unbound, PROGRAM))
    scattered = (Place("a", ",".join(str(cpu) for cpu in range(0, 80, 2)), "1x1"),)
    with pytest.raises(IsochroneError, match="too long for Open MPI"):
        written(tmp_path, "openmpi4-rankfile", Job(scattered, PROGRAM))
    with pytest.raises(IsochroneError, match="a:b: Open MPI 5 takes no rankfile with a colon in its path"):
        find_form("openmpi5-rankfile").launch(Job(PLACES, PROGRAM), "a:b")
    for form in ("intel-configfile", "mpich-configfile"):
        with pytest.raises(UsageError, match="files name the program"):
            written(tmp_path, form, Job(unbound))
    with pytest.raises(UsageError, match="over 16 KB from a file; use mpich-rankmap"):
        written(tmp_path, "mpich-configfile", Job(unbound * 9000, PROGRAM))
    with pytest.raises(IsochroneError, match="there are no ranks"):
        written(tmp_path, "slurm-hostfile", Job((), PROGRAM))
    with pytest.raises(UsageError, match="'x' is no form"):
        find_form("x")


def test_forms_are_told_by_launcher_and_version() -> None:
    def names(vendor: str, version: tuple[int, ...]) -> list[str]:
        return [form.name for form in forms_of(vendor, version)]

    assert names("Open MPI", (4, 1, 4)) == ["openmpi-sequential", "openmpi4-rankfile"]
    assert names("Open MPI", (5, 0, 11)) == ["openmpi-sequential", "openmpi5-rankfile"]
    assert names("MPICH", (4, 0, 2)) == ["mpich-hostfile"]
    assert names("MPICH", (5, 0, 1)) == ["mpich-hostfile"]
    assert names("MPICH", (5, 0, 2)) == ["mpich-configfile", "mpich-rankmap", "mpich-hostfile"]
    assert names("Intel MPI", (2021, 18)) == ["intel-machinefile", "intel-configfile"]
    assert names("Slurm", (22, 5)) == ["slurm-hostfile"]


def test_the_docs_have_every_form_and_its_launch_line() -> None:
    page = Path(__file__, "../../../docs/howto/map.md").resolve().read_text(encoding="utf-8")
    section = page.partition("## Give the launcher the map")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| (.*) \| `(.*)` \|$", section, re.MULTILINE)
    job = Job(tuple(Place(f"h{rank > 3:d}", "0", "1x1") for rank in range(9)), ("APP",))
    assert rows == [(form.name, form.launchers, " ".join(form.launch(job, "F"))) for form in FORMS]


def test_the_docs_have_every_format_of_graphs() -> None:
    page = Path(__file__, "../../../docs/howto/map.md").resolve().read_text(encoding="utf-8")
    section = page.partition("## Graphs of other programs")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([\w-]+)`", section, re.MULTILINE) == [form.name for form in FORMATS]

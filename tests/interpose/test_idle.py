# SPDX-License-Identifier: BSD-3-Clause
"""The preload with which waiting ranks leave their core to others returns what polls would have returned."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from planned import defaults_of

_UCX = "unsigned ucp_worker_progress(void* worker) { return ++*(unsigned*)worker % 20 == 0; }\n"
_CALLER = """\
unsigned ucp_worker_progress(void* worker);
int sched_yield(void);
int polled(void) {
    unsigned calls = 0;
    int found = 0;
    for (int call = 0; call < 100; ++call) found += ucp_worker_progress(&calls) + sched_yield();
    return found;
}
"""
_MAIN = "int polled(void);\nint main(void) { return polled(); }\n"
_LOADER = """\
#include <dlfcn.h>
int main(int argc, char** argv) {
    int (*polled)(void) = (int (*)(void))dlsym(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), "polled");
    return argc == 2 ? polled() : 0;
}
"""


@pytest.mark.parametrize("loaded", [False, True], ids=["linked", "loaded-for-itself"])
def test_what_ucx_finds_is_passed_on(tmp_path: Path, loaded: bool) -> None:
    def make(name: str, source: str, *words: str) -> Path:
        (tmp_path / f"{name}.c").write_text(source, encoding="utf-8")
        here = [f"-L{tmp_path}", f"-Wl,-rpath,{tmp_path}"]
        subprocess.run(["cc", "-o", name, f"{name}.c", *here, *words], check=True, cwd=tmp_path)
        return tmp_path / name

    make("libucp.so.0", _UCX, "-shared", "-fPIC")
    caller = make("libcaller.so", _CALLER, "-shared", "-fPIC", "-l:libucp.so.0")
    argv = [make("program", _LOADER), caller] if loaded else [make("program", _MAIN, "-l:libcaller.so")]
    for preload in ("", defaults_of("mpiexec.mpich")["LD_PRELOAD"]):
        assert subprocess.run(argv, env={**os.environ, "LD_PRELOAD": preload}).returncode == 5

"""Loading with too little address space: an error in words, or a death that a host can explain.

A process of its own loads the demo pair while `RLIMIT_AS` leaves it a share of what the load takes.
llama.cpp answers to most failed allocations, but not to all: an assertion or a C++ exception that
is not caught ends the process by a signal. A traceback or a hang must not happen.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from architecture.source import REPOSITORY
from paceline.engine.model.memory_hints import MIN_PROPOSAL_TOKENS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts on Linux's RLIMIT_AS")

N_STEPS = 8
N_CTX = 2048  # what the demo pair was trained for

CHILD = """
import json, resource, sys
target, draft, share, need = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
from paceline.engine.native import llama_backend
from paceline.engine.cancel import CancelFlag
from paceline.engine.service import EngineService
from paceline.messages import DraftModel, LoadFailed, LoadPair, ModelParams, PairLoaded

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))

llama_backend().describe()
seen = []
engine = EngineService(seen.append, take_between=lambda: None, cancel=CancelFlag())
before = status("VmSize")
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
if need:
    resource.setrlimit(resource.RLIMIT_AS, (before + int(share * need), hard))
models = [ModelParams(path, n_ctx=2048, n_threads=1) for path in (target, draft)]
engine.handle(LoadPair(models[0], DraftModel(models[1])))
resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
last = seen[-1]
report = {"kind": type(last).__name__, "need": status("VmPeak") - before}
if isinstance(last, LoadFailed):
    report |= {"code": last.code, "message": last.message, "hint": last.hint}
print(json.dumps(report))
"""


@dataclass(frozen=True, slots=True)
class Load:
    """Outcome of one load; `report` is empty if the process died of `signal`."""

    share: float
    signal: int
    report: dict[str, object]
    stderr: str


def load(pair: tuple[Path, Path], share: float = 0.0, need: int = 0) -> Load:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, pair), str(share), str(need)],
        cwd=REPOSITORY / "app", capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    died = max(-done.returncode, 0)
    assert done.returncode == -died, done.stderr
    return Load(share, died, {} if died else json.loads(done.stdout), done.stderr)


def sweep(pair: tuple[Path, Path], n_steps: int) -> list[Load]:
    free = load(pair)
    assert free.report["kind"] == "PairLoaded"
    need = free.report["need"]
    assert isinstance(need, int)
    assert need > 2**20
    shares = [0.1 + 0.9 * step / (n_steps - 1) for step in range(n_steps)]
    return [load(pair, share, need) for share in shares]


def check(end: Load) -> None:
    assert "Traceback" not in end.stderr
    if end.signal:
        assert end.signal in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS), end
    elif end.report["kind"] == "LoadFailed":
        message, hint = end.report["message"], end.report["hint"]
        assert end.report["code"] in ("does-not-fit", "out-of-memory"), end
        assert isinstance(message, str)
        assert isinstance(hint, str)
        assert message.endswith(".")
        assert hint.endswith(".")
        numbers = [int(word) for word in hint.split() if word.isdigit()]
        assert all(MIN_PROPOSAL_TOKENS <= number < N_CTX for number in numbers), hint
    else:
        assert end.report["kind"] == "PairLoaded"


@pytest.mark.long
def test_a_load_with_too_little_memory_says_so_or_dies_of_a_signal(
    demo_pair: tuple[Path, Path],
) -> None:
    ends = sweep(demo_pair, N_STEPS)
    for end in ends:
        check(end)
    told = [end for end in ends if end.report.get("kind") == "LoadFailed"]
    assert told, "the limit never showed"

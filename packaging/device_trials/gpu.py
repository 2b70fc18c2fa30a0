"""Trials to be run once on a machine with a GPU: build, `doctor`, and figures for the guide.

Each step is a child whose output goes into a file of its own; one that fails is told, and those
that need nothing of it go on. Standard library only, since the first step makes the environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PACKAGING = Path(__file__).resolve().parent.parent
ROOT = PACKAGING.parent
ALL = ("--gpu-layers", "99")
BOTH = (*ALL, "--gpu-layers-draft", "99")
FIXED = "auto,draft:n_max=2,draft:n_max=4,draft:n_max=8,suffix"
FIND = (
    "from paceline import starter; from paceline.paths import Paths; "
    "print(starter.find(Paths.from_environment().models_dir) or '')"
)


class Steps:
    """Runs steps one after the other.

    Attributes:
        folder: Folder for their output.
        failed: Names of those that ended with another exit code than 0.
    """

    def __init__(self, out: Path, show: Callable[[str], None]) -> None:
        """Begin.

        Args:
            out: The folder for their output.
            show: Called with a line for each.
        """
        self.folder = out
        self._show = show
        self.failed: list[str] = []
        out.mkdir(parents=True, exist_ok=True)

    def run(self, name: str, *command: str) -> str:
        """Run a step; return its output, or empty if it failed."""
        start = time.monotonic()
        file = self.folder / f"{name}.txt"
        env = os.environ | {"PYTHONPATH": str(PACKAGING)}
        with file.open("w", encoding="utf-8") as out:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, check=False
            )
        text = file.read_text("utf-8", "replace")
        end = "done" if done.returncode == 0 else f"FAILED with exit code {done.returncode}"
        self._show(f"{name}: {end} after {time.monotonic() - start:.0f} s ({file})")
        if done.returncode:
            self.failed.append(name)
            return ""
        return text


def run(backend: str, out: Path, show: Callable[[str], None]) -> list[str]:
    """Run all steps; returns the names of those that failed.

    Args:
        backend: Backend as for `bootstrap.py --backend`.
        out: The folder for what is found.
        show: Called with a line for each step.
    """
    steps = Steps(out, show)
    bootstrap = str(PACKAGING / "bootstrap.py")
    if not steps.run("doctor", sys.executable, bootstrap, "--backend", backend, "run", "doctor"):
        return steps.failed
    python = str(ROOT / ".venv" / "bin" / "python")
    paceline = (python, "-m", "paceline")
    steps.run("bench-demo", *paceline, "bench", *BOTH, "--strategies", FIXED)
    starter = steps.run("starter", python, "-c", FIND).strip()
    if starter:
        words = ("--target", starter, "--strategies", "auto,suffix,prompt-lookup")
        steps.run("bench-starter", *paceline, "bench", *ALL, *words)
        _cost(steps, python, "starter", starter)
    made = steps.run("make-7b", python, "-m", "device_trials.large_pair", str(out)).split()
    if made:
        target, draft = made[-2:]
        words = ("--target", target, "--draft", draft, "--strategies", FIXED, "--repeat", "2")
        steps.run("bench-7b", *paceline, "bench", *BOTH, *words)
        _cost(steps, python, "7b", target)
    return steps.failed


def _cost(steps: Steps, python: str, name: str, target: str) -> None:
    """Measure what decodes of several tokens take, and the program's own time per step."""
    tokens = steps.folder / "tokens.json"
    tokens.write_text(json.dumps(list(range(300, 364))))
    words = ("--prompt-tokens", str(tokens), "--strategy", "off", "--target", target, *ALL)
    rows = str(steps.folder / f"rows-{name}.npz")
    steps.run(f"widths-{name}", python, "-m", "device_trials.rows_child", rows, *words)
    own_time = ("own_time", target, "--strategies", "auto", "--samplings", "0.7", "--rounds", "2")
    steps.run(f"own-time-{name}", python, str(PACKAGING / "benchmarks"), *own_time)

"""The example for scripts, run as a user would run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from architecture.source import REPOSITORY

EXAMPLE = REPOSITORY / "tests" / "examples" / "own_drafter.py"


def test_the_example_drafts_and_keeps_the_text(
    demo_pair: tuple[Path, Path], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *map(str, demo_pair)],
        cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    *rows, figures, same, drafters, chained = done.stdout.splitlines()
    steps = [row.split("\t") for row in rows]
    assert len(steps) == 100
    n_accepted, n_drafted, n_steps = (
        int(word.strip(",")) for word in figures.split() if word.strip(",").isdigit()
    )
    sources = [source for _, source, _, _ in steps]
    assert sources.count("Successors") == n_accepted
    assert 0 < n_accepted < n_drafted
    assert int(steps[-1][0]) == n_steps == 99 - n_accepted + (sources[-1] == "Successors")
    assert same == "same tokens as plain: True"
    assert drafters == "drafted by: own, draft"
    assert chained == "same tokens in a chain: True"

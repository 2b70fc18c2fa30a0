"""Memory that an unload frees, compared with the plan, within 10 % or 64 MiB.

Measured on an engine in a process of its own: its anonymous memory, since pages of the mapped files
count as free all the time. Other programs' memory does not blur that number.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

import make_pairs
from gguf_file import read
from hosting.engines import Host
from paceline.catalog.models import Models
from paceline.messages import DescribeEngine, EngineDescribed
from paceline.params import DraftModel
from paceline.paths import Paths
from quantised_model import quantised

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems do not tell anonymous memory"
)
MIB = 2**20
N_CTX = 16384


@pytest.fixture
def models(paceline_home: Path, tmp_path: Path) -> Iterator[Models]:
    made = Models(Paths.below(paceline_home), environ={}, home=tmp_path / "home", offline=True)
    yield made
    made.close()


def anonymous(pid: int) -> int:
    """Memory of a process that no file holds, in bytes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("Anonymous:"))
    return int(line.split()[1]) * 1024


def long_context(source: Path, folder: Path, *, is_copied: bool = False) -> Path:
    """Write a model again, as one that takes a long context, and perhaps as one of 4 bits."""
    model = quantised(read(source)) if is_copied else read(source)
    model.set(llama__context_length=N_CTX)
    path = folder / f"{source.stem}{'-q4_0' * is_copied}.gguf"
    with path.open("wb") as out:
        model.write(out)
    return path


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("is_copied", [False, True])
def test_a_loaded_pair_gives_back_what_its_plan_says(
    models: Models, demo_pair: tuple[Path, Path], tmp_path: Path, *, is_copied: bool
) -> None:
    target = long_context(make_pairs.path("twin-70m"), tmp_path, is_copied=is_copied)
    draft = long_context(demo_pair[1], tmp_path)
    with Host("process", (target, draft)) as host:
        described = host.submit(DescribeEngine())
        assert isinstance(described, EngineDescribed)
        wanted = structs.replace(
            host.pair,
            target=replace(host.pair.target, n_ctx=N_CTX),
            drafting=DraftModel(replace(host.pair.target, path=str(draft), n_ctx=N_CTX)),
        )
        plan = models.plan(wanted.target, wanted.drafting, described.devices)
        before = anonymous(host.service.pid)
        host.pair = wanted
        host.must_load()
        host.reply(prompt="What is a list? " * 120, max_tokens=2, seed=1, strategy="draft")
        taken = anonymous(host.service.pid) - before
        said = plan.gives_back["CPU"]
        print(f"given back: said {said / MIB:.1f} MiB, taken {taken / MIB:.1f} MiB")
        assert taken > 200 * MIB  # much more than what is allowed to be wrong
        assert abs(said - taken) <= max(taken / 10, 64 * MIB)

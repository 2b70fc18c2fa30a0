"""Fixtures shared by the tests of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hosting import children
from hosting.children import Script
from hosting.observed import Host, finished_text
from hosting.rig import MakeRig, Rig
from paceline.hosting.exit_reasons import RestartPolicy


@pytest.fixture
def rig() -> Iterator[MakeRig]:
    rigs: list[Rig] = []

    def make(script: Script = children.obedient, **options: RestartPolicy) -> Rig:
        rigs.append(Rig(script, **options))
        return rigs[-1]

    yield make
    for made in rigs:
        made.on_event = lambda event: None
        assert made.client.close()
        assert made.service.pid == 0


@pytest.fixture(scope="session")
def whole(demo_pair: tuple[Path, Path]) -> str:
    """The text of `Host.reply`, the first one of a fresh pair, that nothing disturbs."""
    with Host(demo_pair) as host:
        host.ready()
        return finished_text(host.reply())

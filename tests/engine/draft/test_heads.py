"""The table of kinds of heads: what has a drafter can be named, chosen and loaded."""

from __future__ import annotations

import argparse
import re

import pytest

from cli.program import paceline
from paceline.cli.model_options import add_heads
from paceline.engine.draft import registry
from paceline.engine.draft.heads import (
    HEAD_KINDS,
    HeadKind,
    drafts_with,
    head_kind,
    head_title,
    usable_heads,
)
from paceline.engine.draft.strategy import needs_of, parse_strategy
from paceline.params import drafter_of, read_head

IDS = [kind.id for kind in HEAD_KINDS]
USABLE = usable_heads()


def test_every_kind_stands_once() -> None:
    assert len(set(IDS)) == len(IDS)
    architectures = [name for kind in HEAD_KINDS for name in kind.architectures]
    assert len(set(architectures)) == len(architectures)
    assert not {"draft", ""} & set(IDS)
    assert drafts_with("mtp") == drafts_with("assistant") == "mtp"
    assert (head_kind("none"), head_title("none"), drafts_with("none")) == (None, "none", "")


@pytest.mark.parametrize("kind", HEAD_KINDS, ids=IDS)
def test_a_kind_drafts_by_one_that_has_a_drafter(kind: HeadKind) -> None:
    assert kind.title
    assert re.compile(kind.word)
    assert drafts_with(kind.id) in ("", *(each.id for each in USABLE))
    assert drafts_with(kind.id) == kind.id or kind.info is None


@pytest.mark.parametrize("kind", USABLE, ids=lambda kind: kind.id)
def test_a_kind_with_a_drafter_is_a_strategy_an_option_and_a_choice(kind: HeadKind) -> None:
    assert kind.info is not None
    info = kind.info()
    assert (info.id, info.family, registry.find(kind.id)) == (kind.id, "model", info)
    assert needs_of([info]) == parse_strategy(f"suffix+{kind.id}").needs == kind.id
    portfolio = registry.portfolio({"n_max": 32}, model=kind.id)
    assert portfolio[-1][0] is info, "Auto drafts with it, too"
    assert drafter_of(read_head(f"{kind.id}=/m/head.gguf")) == kind.id
    parser = argparse.ArgumentParser()
    add_heads(parser)
    assert vars(parser.parse_args([f"--{kind.id}", "x.gguf"]))[kind.id] == "x.gguf"
    assert f"--{kind.id} " in paceline("chat", "--help").out

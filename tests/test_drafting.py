"""The drafting of a pair: one value within the program, and the form that files have."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from message_samples import sample
from paceline.chat.pair import Pair, PairState
from paceline.codec import decode, encode
from paceline.engine.draft.heads import HEAD_KINDS
from paceline.messages import Command, LoadPair, ModelInfo, ModelParams, Translating
from paceline.params import (
    DRAFT,
    OWN_HEAD,
    Drafting,
    DraftModel,
    TargetHead,
    drafter_of,
    file_of,
    moved,
    params_of,
    read_head,
    with_params,
    written_head,
)
from paceline.settings import KeptPair, SavedPair

TARGET, SMALL = ModelParams("/m/target.gguf", n_ctx=512), ModelParams("/m/small.gguf", 64)
HEAD = TargetHead("mtp", "/m/mtp-target.gguf")
ALL: tuple[Drafting, ...] = (
    None, OWN_HEAD, HEAD, TargetHead("eagle", "C:\\m\\a=b.gguf"), DraftModel(SMALL),
    DraftModel(SMALL, Translating((("a", "b"),), bridges=True)),
)  # fmt: skip
FILES = st.text(min_size=1).map("/m/{}".format) | st.just("hf:o/r:a=b.gguf")


@given(
    head=st.none()
    | st.just(OWN_HEAD)
    | st.builds(TargetHead, st.sampled_from([kind.id for kind in HEAD_KINDS]), FILES)
)
def test_a_head_is_read_as_it_was_written(head: TargetHead | None) -> None:
    assert read_head(written_head(head)) == head


@pytest.mark.parametrize("drafting", ALL)
def test_a_pair_is_kept_with_all_but_how_it_translates(drafting: Drafting) -> None:
    pair = Pair(TARGET, drafting, "/m/cache.bin", exact=True)
    kept = decode(KeptPair, json.loads(json.dumps(encode(pair.kept))))
    again = Pair.of(kept)
    assert dataclasses.replace(again, drafting=None) == dataclasses.replace(pair, drafting=None)
    assert again.files == pair.files
    assert (params_of(again.drafting), drafter_of(again.drafting)) == (
        params_of(drafting), drafter_of(drafting),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "drafting"),
    [
        ({}, OWN_HEAD),  # from before there were heads
        ({"mtp": "auto"}, OWN_HEAD),
        ({"mtp": "off"}, None),
        ({"mtp": "/m/mtp-target.gguf"}, HEAD),
        ({"mtp": "auto", "draft": {"path": "/m/small.gguf", "n_ctx": 64}}, DraftModel(SMALL)),
        ({"mtp": "off", "draft": {"path": "/m/small.gguf", "n_ctx": 64}}, DraftModel(SMALL)),
    ],
)
def test_a_pair_of_the_version_before_is_read(
    fields: dict[str, object], drafting: Drafting
) -> None:
    data = {"target": {"path": "/m/target.gguf", "n_ctx": 512}, "name": "Mine", **fields}
    saved = decode(SavedPair, data)
    assert (saved.name, Pair.of(saved)) == ("Mine", Pair(TARGET, drafting))
    assert encode(saved)["mtp"] == fields.get("mtp", "auto"), "an older program reads it, too"


@pytest.mark.parametrize("drafting", ALL)
def test_a_load_crosses_to_another_process(drafting: Drafting) -> None:
    command = LoadPair(TARGET, drafting)
    assert decode(Command, json.loads(json.dumps(encode(command)))) == command


@pytest.mark.parametrize("drafting", ALL)
def test_only_what_has_a_file_or_parameters_is_changed(drafting: Drafting) -> None:
    elsewhere = moved(drafting, "/other{}".format)
    assert file_of(elsewhere) == (f"/other{file_of(drafting)}" if file_of(drafting) else "")
    assert drafter_of(elsewhere) == drafter_of(drafting)
    other = with_params(drafting, TARGET)
    if isinstance(drafting, DraftModel):
        assert other == DraftModel(TARGET, drafting.translating)
        assert with_params(drafting, None) is drafting
    else:
        assert other is drafting


def test_the_state_says_which_drafter_is_loaded() -> None:
    info = sample(ModelInfo)
    for drafting, drafter in ((DraftModel(SMALL), DRAFT), (HEAD, "mtp"), (OWN_HEAD, "mtp")):
        state = PairState("ready", Pair(TARGET, drafting), info, info)
        assert state.drafter == drafter
        assert dataclasses.replace(state, draft=None).drafter == "", "the file had no head"

"""The contract of all drafters: built-in lookups and models, heads, example plug-ins, a plain one.

Each lives through random turns on texts of three letters and gaps: it is asked, is right in part,
is tuned, and begins again on the same text, a shortened one or an edited one. What a single drafter
finds is tested by its own file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from architecture.source import REPOSITORY
from engine.gaps import gap, sequence
from engine.harness import Scripted, decoder_for, random_language, run
from engine.workbench import workbench
from fake_model import EOG, N_VOCAB, FakeModel, Logits
from paceline.engine.draft import registry
from paceline.engine.draft.base import (
    Draft,
    Drafter,
    DrafterInfo,
    Extender,
    Parameter,
    Tunable,
)
from paceline.engine.draft.heads import usable_heads
from paceline.engine.draft.lookups import lookup
from paceline.engine.draft.strategy import CompleteStrategy
from paceline.engine.model.backend import Rows
from paceline.engine.model.context import CachedContext
from paceline.engine.model.tokens import Gap, TokenSequence, gaps_of
from paceline.engine.sample.sampling import Sampler
from paceline.messages import SamplingParams

LETTERS = tuple(b"abc")
OLD_REPLY = tuple(b"abcabcaabbcabcabcab")
SHORT = {"n": 2, "m": 4, "n_match": 2, "n_min": 0, "min_match": 1, "p_min": 0.0}
"""Settings by which a drafter finds something all the time."""
PACKAGE = REPOSITORY / "tests" / "plugins" / "paceline-example-drafters" / "src"
Settings = Mapping[str, float]


class Head(FakeModel):
    """A scripted head; `shares_memory` as with an assistant that looks into the target's cache."""

    def __init__(self, logits: Logits, kind: str, *, shares_memory: bool) -> None:
        super().__init__(logits)
        self.drafter = kind
        self.origin, self.first_place = 0, 0
        self.n_true: int | None = None
        self.n_most = 3
        self.shares_memory = shares_memory

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        """Read tokens, of which there may be none where it shares the target's cache."""
        return super().decode(tokens, n_rows) if tokens else np.empty((0, N_VOCAB), np.float32)

    def clear(self, *, wipe: bool = False) -> None:
        super().clear(wipe=wipe)
        self.origin = 0


@dataclass(frozen=True)
class Subject:
    """A drafter, the settings that it is tested with, and the model that it drafts with."""

    name: str
    info: DrafterInfo = field(repr=False)
    settings: Settings
    model: str = ""  # "", "draft", or how a head reads: "reading" or "sharing"

    def context(self) -> CachedContext | None:
        """Return a new context of its model."""
        language = few_letters(random_language(3))
        if not self.model:
            return None
        if self.model == "draft":
            return CachedContext(FakeModel(language))
        return CachedContext(Head(language, self.info.id, shares_memory=self.model == "sharing"))

    def make(self, settings: Settings | None = None) -> Drafter:
        """Make it, on an empty shelf."""
        bench = workbench(
            sampler=Sampler(SamplingParams(temperature=0), 1),
            draft=self.context(),
            eog=frozenset({EOG}),
            replaced=(OLD_REPLY,),
        )
        return self.info.make(bench, settings or self.settings)


def few_letters(language: Logits) -> Logits:
    """Make a language of three letters of another one, so that a text repeats itself soon."""
    rows = [letter not in LETTERS for letter in range(N_VOCAB)]

    def logits(tokens: Sequence[int]) -> object:
        row = language(tokens)
        row[rows] -= 100
        return row

    return logits  # type: ignore[return-value]


def with_short_matches(info: DrafterInfo) -> Settings:
    return {p.name: SHORT.get(p.name, p.default) for p in info.parameters}


def example_plugins() -> list[DrafterInfo]:
    """Describe the two examples of `tests/plugins`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PACKAGE)
        phrases = import_module("paceline_example_drafters.phrases").Phrases
        patterns = import_module("paceline_example_drafters.regex").RegexDrafter
    return [
        registry.describe(f"plugin.{name}", made)
        for name, made in (("phrases", phrases), ("regex", patterns))
    ]


def copy_last(history: Sequence[int], n_max: int) -> Sequence[int]:
    return [max(history[-1], 0)] * min(n_max, 2)


def subjects() -> Iterator[Subject]:
    infos = registry.built_in()
    for info in infos:
        if info.family == "lookup":
            yield Subject(info.id, info, with_short_matches(info))
    for info, settings in registry.portfolio(
        {"n_max": 32}, model="", has_earlier=True, has_cache=True
    ):
        yield Subject(f"{info.id} of Auto", info, settings)
    for info in infos:
        if info.family == "model" and info.id not in {head.id for head in usable_heads()}:
            yield Subject(info.id, info, with_short_matches(info), "draft")
    for kind in usable_heads():
        assert kind.info is not None
        for model in ("reading", "sharing"):
            info = kind.info()
            yield Subject(f"{info.id} {model}", info, with_short_matches(info), model)
    for info in example_plugins():
        yield Subject(info.id, info, with_short_matches(info))
    plain = DrafterInfo(
        "plain", "Plain", "For tests.", "lookup", (), lambda _bench, _have: Scripted(copy_last)
    )
    yield Subject("plain", plain, {})


SUBJECTS = {subject.name: subject for subject in subjects()}


@pytest.fixture(autouse=True, scope="module")
def _world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let plug-ins know these letters, and no clock end an index that is being built."""
    folder: Path = tmp_path_factory.mktemp("plugins")
    (folder / "phrases.txt").write_text("abca\nbcab\ncc\n", "utf-8")
    (folder / "patterns.txt").write_text("abca\nb+c\nca[ab]c\n", "utf-8")
    with (
        mock.patch.multiple(lookup, STEP_S=600.0, PREFILL_S=600.0),
        mock.patch.dict(
            "os.environ",
            PACELINE_PHRASES=str(folder / "phrases.txt"),
            PACELINE_PATTERNS=str(folder / "patterns.txt"),
        ),
    ):
        yield


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    return SUBJECTS[request.param]


def test_every_drafter_of_the_registry_is_held_to_it() -> None:
    held = {subject.info.id for subject in SUBJECTS.values()}
    assert {info.id for info in registry.built_in() if info.family in ("lookup", "model")} <= held


# ------------------------------------------------------------------------------------------ lives


@dataclass(frozen=True)
class Step:
    """A proposal is asked for, and the target agrees with its first `n_right` tokens."""

    n_max: int
    ahead: tuple[int, ...]
    n_right: int
    then: int
    is_verified: bool


@dataclass(frozen=True)
class Turn:
    """A turn on the first `n_kept` cells of the text before, and then `more`.

    The turn before is closed `n_closes` times.
    """

    n_kept: int
    more: tuple[int | Gap, ...]
    n_closes: int
    steps: tuple[Step, ...]


LETTER = st.sampled_from(LETTERS)
GAP = st.builds(gap, st.just("x"), st.integers(1, 3))
STEP = st.builds(
    Step,
    n_max=st.integers(1, 9),
    ahead=st.lists(LETTER, max_size=3).map(tuple),
    n_right=st.integers(0, 9),
    then=LETTER,
    is_verified=st.booleans(),
)
TURN = st.builds(
    Turn,
    n_kept=st.integers(0, 40) | st.just(1000),
    more=st.lists(st.one_of(*[LETTER] * 5, GAP), max_size=12).map(tuple),
    n_closes=st.integers(0, 2),
    steps=st.lists(STEP, max_size=6).map(tuple),
)
TURNS = st.lists(TURN, min_size=1, max_size=4)
Proposal = tuple[list[int], list[float]]


def parts_of(draft: Draft) -> Proposal:
    """Return a proposal as what can be compared."""
    return list(draft.tokens), list(draft.confidences)


def asked(drafter: Drafter, step: Step) -> Proposal:
    """Ask for a proposal and check what is true of any; asking once more changes nothing."""
    draft = parts_of(drafter.propose(step.n_max))
    proposals = [draft, parts_of(drafter.propose(step.n_max))]
    if isinstance(drafter, Extender):
        check(parts_of(drafter.extend(step.ahead, step.n_max)), step.n_max)
        proposals.append(parts_of(drafter.extend((), step.n_max)))
    check(draft, step.n_max)
    assert proposals == [draft] * len(proposals)
    return draft


def check(proposal: Proposal, n_max: int) -> None:
    tokens, confidences = proposal
    assert len(tokens) <= n_max
    assert all(token in range(N_VOCAB) for token in tokens), "ids of the vocabulary alone"
    assert len(confidences) in (0, len(tokens))
    assert all(0 <= sure <= 1 for sure in confidences)


def nothing(_text: TokenSequence, _n_prompt: int) -> None: ...


def live(
    drafter: Drafter,
    turns: Sequence[Turn],
    *,
    verifies: bool = True,
    before_steps: Callable[[TokenSequence, int], None] = nothing,
) -> list[Proposal]:
    """Lead a drafter through turns; returns what it has proposed."""
    text, proposals = TokenSequence(), []
    for number, turn in enumerate(turns):
        for _ in range(turn.n_closes if number else 0):
            drafter.close()
        text = sequence([*parts(text, turn.n_kept), *turn.more, LETTERS[0]])
        n_prompt = len(text)
        drafter.begin(text, n_prompt)
        for step in turn.steps:
            before_steps(text, n_prompt)
            held = list(text)
            tokens, _ = proposal = asked(drafter, step)
            assert list(text) == held, "a history is only read"
            proposals.append(proposal)
            right = tokens[: step.n_right]
            text.extend([*right, step.then])
            is_judged = verifies and step.is_verified and tokens
            drafter.observe(len(right) if is_judged else None)
        before_steps(text, n_prompt)
    drafter.close()
    drafter.close()
    return proposals


def parts(text: TokenSequence, n: int) -> list[int | Gap]:
    """Return the first cells of a text as ids and whole gaps."""
    gaps = dict(gaps_of(text))
    return [gaps.get(i, token) for i, token in enumerate(text[:n]) if token >= 0 or i in gaps]


@given(turns=TURNS)
def test_any_life_has_proposals_within_bounds_and_can_be_repeated(
    subject: Subject, turns: list[Turn]
) -> None:
    assert live(subject.make(), turns) == live(subject.make(), turns)


@given(turns=TURNS)
def test_after_rollbacks_and_edits_it_drafts_as_one_that_knows_this_text_alone(
    subject: Subject, turns: list[Turn]
) -> None:
    """So what was asked for, and not verified, has changed nothing either."""
    drafter = subject.make()

    def compare(text: TokenSequence, n_prompt: int) -> None:
        fresh = subject.make()
        fresh.begin(text, n_prompt)
        assert parts_of(drafter.propose(5)) == parts_of(fresh.propose(5))

    live(drafter, turns, verifies=False, before_steps=compare)


@given(turn=TURN, letters=st.lists(LETTER, min_size=1, max_size=40))
def test_several_steps_may_be_seen_at_once(
    subject: Subject, turn: Turn, letters: list[int]
) -> None:
    late, prompt = subject.make(), sequence([*turn.more, LETTERS[0]])
    text = sequence([*turn.more, LETTERS[0]])
    late.begin(text, len(prompt))
    for letter in letters:
        text.append(letter)
    late.observe(None)
    at_once = subject.make()
    at_once.begin(text, len(prompt))
    assert parts_of(late.propose(5)) == parts_of(at_once.propose(5))


@given(turn=TURN, data=st.data())
def test_settings_that_change_in_mid_reply_are_as_those_from_its_beginning(
    subject: Subject, turn: Turn, data: st.DataObject
) -> None:
    drafter = subject.make()
    if subject.name == "plain":  # it has no settings
        return
    assert isinstance(drafter, Tunable)
    settings = {p.name: data.draw(setting(p)) for p in subject.info.parameters}
    if "n_min" in settings:
        settings["n_min"] = min(settings["n_min"], settings["n_max"])

    def compare(text: TokenSequence, n_prompt: int) -> None:
        fresh = subject.make(settings)
        fresh.begin(text, n_prompt)
        drafter.tune(settings)
        text.append(LETTERS[1])
        for each in (drafter, fresh):
            each.observe(None)
        assert parts_of(drafter.propose(5)) == parts_of(fresh.propose(5))

    live(drafter, [turn], verifies=False, before_steps=compare)


def setting(parameter: Parameter) -> st.SearchStrategy[float]:
    """Return values of a setting: small ones, by which something is found in a short text."""
    if parameter.kind == "int":
        return st.integers(int(parameter.low), int(min(parameter.high, parameter.low + 4)))
    return st.sampled_from([parameter.low, 0.4])


# ---------------------------------------------------------------------------------------- replies


def test_the_text_is_that_of_plain_decoding(subject: Subject) -> None:
    """Compare on several texts, with right and wrong drafts."""
    n_accepted = n_drafted = 0
    for seed, temperature in ((1, 0.0), (2, 0.0), (3, 0.9), (4, 0.9)):
        language = few_letters(random_language(seed))
        sampling = SamplingParams(temperature=temperature)
        plain = decoder_for(FakeModel(language), sampling=sampling)
        run(plain)
        decoder = decoder_for(FakeModel(language), sampling=sampling, draft=subject.context())
        decoder.switch(CompleteStrategy(((subject.info, subject.settings),)))
        run(decoder)
        assert decoder.generated == plain.generated
        assert decoder.draft_failures == []
        counts = decoder.meter.freeze()
        n_accepted += counts.n_accepted
        n_drafted += counts.n_drafted
    assert 0 < n_accepted < n_drafted or subject.info.id == "earlier"  # which has no reply here

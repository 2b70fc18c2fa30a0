"""Coupled noise pays: drafts that use it are accepted more often than the likeliest token.

The target writes replies on its own. At every position the draft model is asked twice what comes
next: as Paceline uses it, with the noise that the target draws with, and for its most likely token,
as llama.cpp drafts. So both are judged by the same tokens, and each position is one trial.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from paceline.engine.api import Pair, generate, load_pair
from paceline.engine.draft import draft_model
from paceline.engine.draft.base import NO_DRAFT, Draft, Settings, Workbench
from paceline.engine.draft.draft_model import ModelDrafter
from paceline.engine.sample.sampling import Sampler
from paceline.messages import ChatMessage
from paceline.params import ModelParams, SamplingParams

QUESTIONS = (
    "What does os.path.join do?",
    "How do I read a file line by line?",
    "Explain the list and dict types.",
    "How can I parse JSON and handle errors?",
    "Write a function that sums a list.",
    "Describe the sqlite3 module in detail.",
)
N_TOKENS = 150  # longer replies of small models begin to repeat themselves


class ArgmaxDraft(ModelDrafter):
    """The draft model at temperature 0, at any temperature of the target."""

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        params = replace(bench.sampler.params, temperature=0.0)
        never = () if bench.eog else bench.vocab.eog  # what the target does not draw either
        sampler = Sampler(params, bench.sampler.seed, never)
        super().__init__(replace(bench, sampler=sampler), settings)


class Duel:
    """A drafter that drafts nothing, but asks two others and notes by how much the first wins."""

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self.wins: list[int] = []
        self._rivals = ModelDrafter(bench, settings), ArgmaxDraft(bench, settings)
        self._drafts: list[Draft] = []
        self._history: Sequence[int] = ()

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        self._history = history
        for rival in self._rivals:
            rival.begin(history, n_prompt)

    def propose(self, n_max: int) -> Draft:
        self._drafts = [rival.propose(1) for rival in self._rivals]
        return NO_DRAFT

    def observe(self, n_accepted: int | None) -> None:
        if self._drafts and all(draft.tokens for draft in self._drafts):
            ours, theirs = (draft.tokens[0] == self._history[-1] for draft in self._drafts)
            self.wins.append(ours - theirs)
        self._drafts = []
        for rival in self._rivals:
            rival.observe(n_accepted)

    def close(self) -> None:
        for rival in self._rivals:
            rival.close()


@pytest.fixture(scope="module")
def pair(demo_pair: tuple[Path, Path]) -> Iterator[Pair]:
    with load_pair(*(ModelParams(str(path), n_threads=1) for path in demo_pair)) as loaded:
        yield loaded


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("temperature", [0.6, 0.8, 1.0])
def test_coupled_drafts_are_accepted_more_often(
    pair: Pair, temperature: float, *, is_long: bool
) -> None:
    made: list[Duel] = []

    def make(bench: Workbench, settings: Settings) -> Duel:
        made.append(Duel(bench, dict.fromkeys(settings, 0) | {"n_max": 1}))
        return made[-1]

    for seed in range(3 if is_long else 2):
        for question in QUESTIONS:
            generate(
                pair,
                [ChatMessage.of_text("user", question)],
                strategy=replace(draft_model.INFO, id="duel", make=make),
                sampling=SamplingParams(temperature=temperature),
                max_tokens=N_TOKENS,
                seed=seed,
                ignore_eog=True,
            ).finish()
    wins = [win for duel in made for win in duel.wins]
    assert len(wins) > (2250 if is_long else 1500)
    standard_error = statistics.pstdev(wins) / len(wins) ** 0.5
    assert statistics.fmean(wins) > 2 * standard_error

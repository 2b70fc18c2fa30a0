"""How often drafts are accepted: ``python packaging/benchmarks acceptance``.

With coupled noise and without it. The target writes replies on its own. At every position the draft
model is asked twice what comes next: as Paceline uses it, with the noise that the target draws
with, and for its most likely token, as llama.cpp drafts ("sample and match"). So both are judged by
the same tokens, each position is one trial, and the difference is known much better than either
rate. Intervals are at 95 %: Wilson's for the rates, the paired normal one for the difference.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from paceline.engine.cancel import CancelFlag
from paceline.engine.draft import draft_model
from paceline.engine.draft.base import NO_DRAFT, Draft, Settings, Workbench
from paceline.engine.draft.draft_model import DraftModel
from paceline.engine.facts import Facts
from paceline.engine.native import llama_backend
from paceline.engine.pair import LoadedPair
from paceline.engine.sample.sampling import Sampler
from paceline.engine.turn import Turn
from paceline.messages import ChatMessage, ModelParams, StartTurn, Strategy
from paceline.params import SamplingParams
from paceline.paths import demo_pair

TEMPERATURES = (0.6, 0.8, 1.0)
QUESTIONS = (
    "What does os.path.join do?",
    "How do I read a file line by line?",
    "Explain the list and dict types.",
    "How can I parse JSON and handle errors?",
    "Write a function that sums a list.",
    "Describe the sqlite3 module in detail.",
)
N_TOKENS = 150  # longer replies of small models begin to repeat themselves
_Z = 1.96


class ArgmaxDraft(DraftModel):
    """The draft model at temperature 0, at any temperature of the target."""

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        params = replace(bench.sampler.params, temperature=0.0)
        never = () if bench.eog else bench.vocab.eog  # what the target does not draw either
        sampler = Sampler(params, bench.sampler.seed, never)
        super().__init__(replace(bench, sampler=sampler), settings)


class Duel:
    """A drafter that drafts nothing, but asks two others and notes who would have been right."""

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self.hits: list[tuple[bool, bool]] = []
        self._pair = DraftModel(bench, settings), ArgmaxDraft(bench, settings)
        self._drafts: list[Draft] = []
        self._history: Sequence[int] = ()

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Begin both."""
        self._history = history
        for drafter in self._pair:
            drafter.begin(history, n_prompt)

    def propose(self, n_max: int) -> Draft:
        """Ask both for a token, and let the target decode alone."""
        del n_max
        self._drafts = [drafter.propose(1) for drafter in self._pair]
        return NO_DRAFT

    def observe(self, n_accepted: int | None) -> None:
        """Compare with what the target committed."""
        if self._drafts and all(draft.tokens for draft in self._drafts):
            ours, theirs = (draft.tokens[0] == self._history[-1] for draft in self._drafts)
            self.hits.append((ours, theirs))
        self._drafts = []
        for drafter in self._pair:
            drafter.observe(n_accepted)

    def close(self) -> None:
        """Close both."""
        for drafter in self._pair:
            drafter.close()


@dataclass(frozen=True, slots=True)
class Rate:
    """A measured rate, or difference of rates, with its interval."""

    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The two ways of drafting at one temperature, over `n` positions."""

    temperature: float
    n: int
    coupled: Rate
    argmax: Rate
    gain: Rate


def wilson(n_hits: int, n: int) -> Rate:
    """Return the rate of hits with Wilson's interval; needs at least one trial."""
    p, z2 = n_hits / n, _Z * _Z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Rate(p, max(centre - half, 0.0), min(centre + half, 1.0))


def paired_gain(hits: Sequence[tuple[bool, bool]]) -> Rate:
    """Return how much oftener the first of each pair hits; needs at least one pair."""
    n = len(hits)
    gains = [int(ours) - int(theirs) for ours, theirs in hits]
    mean = sum(gains) / n
    half = _Z * math.sqrt((sum(gain * gain for gain in gains) / n - mean * mean) / n)
    return Rate(mean, mean - half, mean + half)


def measure(
    pair: LoadedPair,
    sampling: SamplingParams,
    *,
    questions: Sequence[str] = QUESTIONS,
    n_seeds: int = 6,
    n_tokens: int = N_TOKENS,
) -> Acceptance:
    """Write a reply per question and seed, and count who would have been right."""
    hits: list[tuple[bool, bool]] = []
    for seed in range(n_seeds):
        for question in questions:
            hits += _reply(pair, sampling, question, seed, n_tokens)
    return Acceptance(
        sampling.temperature,
        len(hits),
        wilson(sum(ours for ours, _ in hits), len(hits)),
        wilson(sum(theirs for _, theirs in hits), len(hits)),
        paired_gain(hits),
    )


def _reply(
    pair: LoadedPair, sampling: SamplingParams, question: str, seed: int, n_tokens: int
) -> list[tuple[bool, bool]]:
    made: list[Duel] = []

    def make(bench: Workbench, settings: Settings) -> Duel:
        made.append(Duel(bench, settings))
        return made[-1]

    info = replace(draft_model.INFO, id="duel", make=make)
    settings = (("n_max", 1.0), ("n_min", 0.0), ("p_min", 0.0))
    command = StartTurn(
        "bench",
        messages=(ChatMessage("user", question),),
        sampling=sampling,
        strategy=Strategy(((info.id, settings),)),
        max_tokens=n_tokens,
        ignore_eog=True,
    )
    turn = Turn(
        pair,
        command,
        seed,
        lambda _event: None,
        take_tune=lambda _turn_id: None,
        cancel=CancelFlag(),
        find=lambda _name: info,
    )
    for _ in turn.run():
        pass
    return made[0].hits


def load(target: Path, draft: Path) -> LoadedPair:
    """Load a pair on one thread."""
    backend, flag = llama_backend(), CancelFlag()
    models = [
        backend.load(
            ModelParams(str(path), n_threads=1),
            n_rows=2,  # with one, there would be no room for a draft
            cancel=flag,
            progress=lambda _fraction: None,
        )
        for path in (target, draft)
    ]
    return LoadedPair(models[0], models[1], Facts(""))


def main(argv: list[str] | None = None) -> int:
    """Print a table, or JSON; exit 1 where coupled drafts are not accepted more often."""
    target, draft = demo_pair()
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks acceptance")
    parser.add_argument("--target", type=Path, default=target)
    parser.add_argument("--draft", type=Path, default=draft)
    parser.add_argument("--seeds", type=int, default=6, help=f"for {len(QUESTIONS)} questions each")
    parser.add_argument("--tokens", type=int, default=N_TOKENS, help="per reply")
    parser.add_argument(
        "--no-truncation", action="store_true", help="switch top-k, top-p and min-p off"
    )
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    sampling = SamplingParams()
    if args.no_truncation:
        sampling = SamplingParams(top_k=0, top_p=1.0, min_p=0.0)
    pair = load(args.target, args.draft)
    try:
        results = [
            measure(
                pair, replace(sampling, temperature=t), n_seeds=args.seeds, n_tokens=args.tokens
            )
            for t in TEMPERATURES
        ]
    finally:
        pair.close()
    if args.json:
        print(json.dumps([asdict(result) for result in results], indent=1))
    else:
        print(f"{'T':>4}{'tokens':>8}{'coupled':>24}{'argmax':>24}{'gain':>26}")
        for r in results:
            cells = f"{_cell(r.coupled)}{_cell(r.argmax)}{_cell(r.gain, '+')}"
            print(f"{r.temperature:4g}{r.n:8}{cells}")
    return int(any(r.gain.rate <= 0 for r in results))


def _cell(rate: Rate, sign: str = "") -> str:
    texts = [f"{number:{sign}.3f}" for number in (rate.rate, rate.low, rate.high)]
    return f"  {texts[0]:>7} ({texts[1]} to {texts[2]})"


if __name__ == "__main__":
    raise SystemExit(main())

"""Every strategy under every sampler gives the tokens of plain decoding, on real weights.

A cell of the matrix is a strategy under a sampler, over several prompts and seeds. It counts as
covered when some of its drafts were accepted and some rejected; a cell where that did not happen
is reported as skipped, and at least four fifths of the matrix must be covered. The lookups get
short n-grams, so that they fire on replies of ordinary text; and in Auto chance decides in the
controller's place, since on a busy machine a controller may well decide never to draft.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from engine.random_control import RandomControl
from integration.engine import Engine
from paceline.engine.draft import auto_chain
from paceline.messages import LogitBias, SamplingParams

STRATEGIES = (
    "draft:n_max=4:p_min=0",
    "draft",
    "prompt-lookup:max_ngram=2:n_pred=4",
    "ngram-simple:n=2:m=4",
    "ngram-map-k:n=2:m=4",
    "ngram-map-k4v:n=1:m=2",
    "ngram-mod:n_match=2:n_min=1:n_max=6",
    "ngram-cache:n_max=4",
    "suffix:min_match=1:max=6",
    "suffix+draft:suffix.max=4:draft.n_max=3:draft.p_min=0",
    "ngram-mod+draft:n_match=2:ngram-mod.n_min=1:ngram-mod.n_max=4:draft.n_max=3:draft.p_min=0",
    "ngram-simple+suffix+draft:n=3:m=4:max=4:draft.n_max=3",
    "auto",
)
LIST = 'root ::= ("- " [A-Za-z ]{3,24} "\\n")+ "the end of the list"'
SAMPLERS = {
    "greedy": SamplingParams(temperature=0),
    "t0.8": SamplingParams(temperature=0.8),
    "t1.2 open": SamplingParams(temperature=1.2, top_k=0, top_p=1, min_p=0),
    "penalties": SamplingParams(
        temperature=0.8, repeat_penalty=1.1, presence_penalty=0.2, frequency_penalty=0.1,
        logit_bias=(LogitBias(198, 0.5), LogitBias(5, float("-inf"))),
    ),
    "grammar": SamplingParams(temperature=0.8, grammar=LIST),
}  # fmt: skip
PROMPTS = (
    "List the methods of str and what each of them does.",
    "Rename foo to bar: def foo(x): return foo(x - 1) if foo(x) else foo(x + 1)",
)
SEEDS = (1, 2)
N_TOKENS = 200
_covered: dict[tuple[str, str], bool] = {}
_plain: dict[tuple[str, str, int], tuple[int, ...]] = {}


@pytest.fixture(scope="module")
def engine(demo_pair: tuple[Path, Path]) -> Iterator[Engine]:
    with Engine(*demo_pair) as engine:
        yield engine


def control_at_random(
    _knowledge: object, models: Sequence[str], lookups: Sequence[str], **_: object
) -> RandomControl:
    return RandomControl(7, models, lookups, n_most=6)


@pytest.mark.grid(short=3)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_tokens_are_those_of_plain_decoding(
    engine: Engine, strategy: str, sampler: str, monkeypatch: pytest.MonkeyPatch, *, is_long: bool
) -> None:
    monkeypatch.setattr(auto_chain, "Controller", control_at_random)
    sampling = SAMPLERS[sampler]
    n_accepted = n_rejected = 0
    for prompt in PROMPTS if is_long else PROMPTS[1:]:
        for seed in SEEDS if sampling.temperature and is_long else SEEDS[:1]:
            options = {
                "sampling": sampling,
                "seed": seed,
                "ignore_eog": not sampling.grammar,
                "max_tokens": N_TOKENS,
            }
            key = (sampler, prompt, seed)
            if key not in _plain:
                _plain[key] = engine.reply(prompt, **options).tokens
                assert engine.reply(prompt, **options).tokens == _plain[key], "off, once more"
            drafted = engine.reply(prompt, strategy=strategy, **options)
            assert drafted.tokens == _plain[key]
            stats = drafted.stats
            n_accepted += stats.n_accepted
            n_rejected += stats.n_drafted - stats.n_accepted - stats.n_discarded
            for counts in stats.by_drafter:
                assert sum(counts.accepted_per_position) == counts.tokens_accepted
            assert sum(counts.tokens for counts in stats.by_drafter) == stats.n_drafted
    _covered[strategy, sampler] = n_accepted > 0 and n_rejected > 0
    if not _covered[strategy, sampler]:
        pytest.skip(f"uncovered: {n_accepted} accepted, {n_rejected} rejected")


def test_replies_are_long_enough() -> None:
    assert all(
        len(tokens) == N_TOKENS for (sampler, *_), tokens in _plain.items() if sampler != "grammar"
    )


def test_most_of_the_matrix_is_covered() -> None:
    if len(_covered) < len(STRATEGIES) * len(SAMPLERS):
        pytest.skip("only a part of the matrix was run")
    assert sum(_covered.values()) >= 0.8 * len(_covered)


@pytest.mark.long  # the usual run has it in test_sameness.py
@pytest.mark.parametrize("strategy", STRATEGIES[:1] + STRATEGIES[4:10:2])
def test_exact_mode_with_two_threads(demo_pair: tuple[Path, Path], strategy: str) -> None:
    with Engine(*demo_pair, n_threads=2, exact=True) as engine:
        options = {"max_tokens": 640, "ignore_eog": True, "sampling": SAMPLERS["t0.8"]}
        plain = engine.reply(PROMPTS[0], **options)
        drafted = engine.reply(PROMPTS[0], strategy=strategy, **options)
        assert drafted.tokens == plain.tokens
        assert 0 < drafted.stats.n_accepted < drafted.stats.n_drafted
        assert drafted.stats.batch_invariant is not False

"""Random schemas, random walks through their grammars, replies: all that end validate."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from engine.schema.compiled import attempt, walks
from paceline.engine import ModelParams, SamplingParams, generate, load_pair
from paceline.engine.model.backend import VocabularyFile
from paceline.errors import UserError
from schemas.random_schemas import random_schema
from schemas.validity import Judge
from trials import Trials


def _keyword(said: str) -> str:
    found = re.search("“([^”]+)”", re.sub("^property “[^”]*”: ", "", said))
    return found[1] if found else said[:30]


def test_random_walks_that_end_are_valid(
    vocab: VocabularyFile, trials: Trials, is_long: bool
) -> None:
    refused: Counter[str] = Counter()
    n_taken = n_ended = n_cut = 0
    for seed in trials(60, 2000):
        schema = random_schema(seed)
        grammar = attempt(vocab, schema)
        if isinstance(grammar, str):
            refused[_keyword(grammar)] += 1
            continue
        n_taken += 1
        judge = Judge(schema)
        for text in walks(vocab, grammar, random.Random(seed), 5 if is_long else 2):
            n_cut += text is None
            n_ended += text is not None
            assert text is None or not judge.problem_of(text), (schema, text)
        grammar.close()
    print(f"{n_taken} taken, {n_ended} valid, {n_cut} cut, refused: {refused.most_common()}")
    assert n_taken > refused.total()
    assert n_ended > n_taken


@pytest.mark.long
def test_replies_of_a_model_that_end_are_valid(demo_pair: tuple[Path, Path]) -> None:
    ended: Counter[str] = Counter()
    target, draft = (ModelParams(str(path), n_threads=1) for path in demo_pair)
    with load_pair(target, draft) as pair:
        n_schemas, seed = 0, 0
        while n_schemas < 200:
            seed += 1
            schema = random_schema(seed)
            judge = Judge(schema)
            for i in range(5):
                sampling = SamplingParams(1.5, json_schema=json.dumps(schema))
                try:
                    reply = generate(pair, "Write JSON.", sampling=sampling, max_tokens=200, seed=i)
                    text = "".join(step.text for step in reply)
                except UserError as error:
                    assert error.code in {"bad-json-schema", "grammar-too-slow"}  # noqa: PT017
                    ended[error.code] += 1
                    if error.code == "bad-json-schema":
                        break
                    continue
                reason = reply.result.reason
                ended[reason] += 1
                if reason == "eog":
                    assert not judge.problem_of(text), (schema, text)
            else:
                n_schemas += 1
    print(ended)
    assert ended["eog"] > 300

"""How long drawing a token from one row takes: ``python packaging/benchmarks sampling``.

Made-up rows of three shapes at three vocabulary sizes, one thread. Before each row the caches are
swept, as a decode sweeps them, and the row is written anew. On 152k tokens a row may take 350 µs
with top-k, top-p and min-p, 1 ms without any truncation, and 2 ms with top-p alone, for which the
whole row must be summed, too; on fewer tokens proportionally less, but never less than what the
numpy calls need: 150 µs with top-k, 400 µs without. A greedy row may take as long as `argmax`, plus
10 µs.

Rows under a JSON schema are drawn with the vocabularies of the files of ``--models``, or the demo
pair's target: the first one, which compiles the schema, before and after the tokenizer was prepared
for grammars, and the median of those that follow.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import Row, VocabularyFile
from paceline.engine.sample.sampling import Sampler
from paceline.params import LogitBias, SamplingParams

VOCABULARIES = (8_192, 32_000, 151_936)
SHAPES = ("peaked", "usual", "flat")
GREEDY_US = 10.0
TRUNCATED_US = 350.0
UNTRUNCATED_US = 1000.0
TOP_P_US = 2000.0
LEAST_TRUNCATED_US = 150.0
LEAST_US = 400.0
SCHEMA_US = 1500.0
FIRST_US = 100_000.0
PREPARED_US = 5_000_000.0
"""Limits under a schema, for 262k tokens."""
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 40},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "tags": {"type": "array", "items": {"enum": ["red", "green"]}, "maxItems": 5},
        },
        "required": ["name", "age", "tags"],
        "additionalProperties": False,
    }
)
_DEMO = Path(__file__).parents[2] / "resources" / "models" / "paceline-demo-target-q8_0.gguf"
_SWEEP_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Setting:
    """A named set of parameters and what a row of 152k tokens may take, microseconds."""

    name: str
    params: SamplingParams
    limit_us: float


@dataclass(frozen=True, slots=True)
class RowTime:
    """The median over rows, microseconds of CPU time."""

    setting: str
    n_vocab: int
    shape: str
    row_us: float
    limit_us: float
    share_of_limit: float


def settings() -> list[Setting]:
    """Return what is measured."""
    off = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}
    penalties = {"repeat_penalty": 1.1, "presence_penalty": 0.5, "frequency_penalty": 0.2}
    biases = tuple(LogitBias(token, 1.0) for token in range(20))

    def setting(name: str, limit_us: float, **values: object) -> Setting:
        return Setting(name, SamplingParams(**values), limit_us)  # type: ignore[arg-type]

    return [
        setting("greedy", 0.0, temperature=0.0),
        setting("k 40, p 0.95, min-p 0.05", TRUNCATED_US, temperature=0.8),
        setting("… with penalties", TRUNCATED_US, temperature=0.8, **penalties),
        setting("… with 20 biases", TRUNCATED_US, temperature=0.8, logit_bias=biases),
        *(
            setting(f"all off, T {t}", UNTRUNCATED_US, temperature=t, **off)
            for t in (0.7, 1.0, 1.2)
        ),
        setting("min-p 0.05", UNTRUNCATED_US, temperature=0.8, **off | {"min_p": 0.05}),
        setting("top-p 0.95", TOP_P_US, temperature=0.8, **off | {"top_p": 0.95}),
    ]


def make_rows(shape: str, n_vocab: int, n_rows: int) -> NDArray[np.float32]:
    """Return logits, float32 [n_rows, n_vocab]: one token far ahead, some ahead, or none."""
    rng = np.random.default_rng(n_vocab)
    spread = 0.3 if shape == "flat" else 2.5
    rows = (rng.standard_normal((n_rows, n_vocab), np.float32) * spread).astype(np.float32)
    if shape == "peaked":
        rows[np.arange(n_rows), rng.integers(n_vocab, size=n_rows)] = 22.0
    return rows


class Stopwatch:
    """Times calls on fresh rows after the caches were swept."""

    def __init__(self) -> None:
        self._sweep = np.zeros(_SWEEP_BYTES, np.uint8)

    def time(self, call: Callable[[Row], object], fresh: Row, target: Row) -> float:
        """Return the microseconds of one call on a copy of `fresh` in `target`."""
        self._sweep += 1
        target[:] = fresh
        began = time.thread_time_ns()
        call(target)
        return (time.thread_time_ns() - began) / 1e3


def measure(n_vocab: int, shape: str, n_calls: int) -> list[RowTime]:
    """Measure all settings in turn on rows of one shape."""
    rows = make_rows(shape, n_vocab, 16)
    target = np.empty(n_vocab, np.float32)
    watch = Stopwatch()
    window = [int(t) for t in np.random.default_rng(1).integers(n_vocab, size=64)]
    chosen = settings()
    samplers = [Sampler(setting.params, 1, n_vocab=n_vocab) for setting in chosen]
    for sampler in samplers:
        sampler.start(window)
    times: list[list[float]] = [[] for _ in chosen]
    argmax: list[float] = []
    for i in range(n_calls):  # in turn, so that a busy machine slows all alike
        row = rows[i % len(rows)]
        argmax.append(watch.time(lambda target: target.argmax(), row, target))
        for sampler, measured in zip(samplers, times, strict=True):
            draw = functools.partial(sampler.sample, position=i)
            measured.append(watch.time(draw, row, target))
    scale = n_vocab / max(VOCABULARIES)
    greedy_us = statistics.median(argmax) + GREEDY_US
    results = []
    for setting, measured in zip(chosen, times, strict=True):
        least = LEAST_TRUNCATED_US if setting.params.top_k else LEAST_US
        limit = max(setting.limit_us * scale, least) if setting.limit_us else greedy_us
        row_us = statistics.median(measured)
        results.append(RowTime(setting.name, n_vocab, shape, row_us, limit, row_us / limit))
    return results


def measure_schema(path: str, n_calls: int) -> list[RowTime]:
    """Measure rows under a schema with a model's vocabulary."""
    vocab = LlamaBackend().load_vocabulary(path)
    try:
        return _measure_schema(vocab, n_calls)
    finally:
        vocab.close()


def _measure_schema(vocab: VocabularyFile, n_calls: int) -> list[RowTime]:
    n_vocab = vocab.n_tokens
    rows = make_rows("usual", n_vocab, 16)
    target = np.empty(n_vocab, np.float32)
    watch = Stopwatch()
    begun: list[Sampler] = []

    def begin(row: Row) -> int:
        grammar = vocab.grammar_of_schema(SCHEMA)
        begun.append(Sampler(SamplingParams(), 1, n_vocab=n_vocab, grammar=grammar))
        return begun[-1].sample(row, 0)

    first_us = [watch.time(begin, rows[0], target) for _ in range(6)]
    times: list[float] = []
    sampler, drawn = begun.pop(), [0]
    for i in range(n_calls):
        draw = functools.partial(_draw_into, drawn, sampler, i)
        times.append(watch.time(draw, rows[i % len(rows)], target))
        sampler.commit(drawn[0])
        if drawn[0] in vocab.eog:
            sampler.close()
            begin(rows[0].copy())
            sampler = begun.pop()
    for each in (sampler, *begun):
        each.close()
    scale = max(n_vocab / 262_144, 0.3)
    found = (
        ("first under a schema", first_us[0], PREPARED_US),
        ("… tokenizer prepared", statistics.median(first_us[1:]), FIRST_US),
        ("… those that follow", statistics.median(times), SCHEMA_US),
    )
    return [
        RowTime(name, n_vocab, "usual", us, limit * scale, us / (limit * scale))
        for name, us, limit in found
    ]


def _draw_into(drawn: list[int], sampler: Sampler, position: int, row: Row) -> None:
    drawn[0] = sampler.sample(row, position)


def main(argv: list[str] | None = None) -> int:
    """Print a table, or JSON; exit 1 when a median is above its limit."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks sampling")
    parser.add_argument("--vocabularies", default=",".join(map(str, VOCABULARIES)))
    parser.add_argument("--models", nargs="*", default=[str(_DEMO)], metavar="FILE")
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    results = [
        result
        for n_vocab in map(int, args.vocabularies.split(","))
        for shape in SHAPES
        for result in measure(n_vocab, shape, args.calls)
    ]
    results += [found for path in args.models for found in measure_schema(path, args.calls)]
    if args.json:
        print(json.dumps([asdict(result) for result in results], indent=1))
    else:
        print(f"{'setting':26}{'tokens':>8}  {'rows':8}{'µs/row':>8}{'limit':>8}{'share':>7}")
        for r in results:
            print(
                f"{r.setting:26}{r.n_vocab:8}  {r.shape:8}{r.row_us:8.0f}{r.limit_us:8.0f}"
                f"{r.share_of_limit:7.2f}"
            )
    return int(any(result.share_of_limit > 1 for result in results))


if __name__ == "__main__":
    raise SystemExit(main())

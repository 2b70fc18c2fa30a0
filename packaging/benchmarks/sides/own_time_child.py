"""The process of one side of `own_time`: loads a target, and makes replies on request.

It is ready with the number of tokens in the vocabulary, and its order is

    ["reply", PROMPT, SAMPLING, OPTIONS, IS_BY_PART]

where SAMPLING has fields of `SamplingParams` and OPTIONS are others of `generate`. The answer has
``steps_us``, the microseconds of CPU time outside llama.cpp of each step but the first;
``n_tokens``, the tokens of these steps; ``parts_us``, their microseconds by part and of the rest,
empty where they are not asked for, since the clocks of the parts add some 50 µs to each step.

It runs with versions before this one, too, so it uses of Paceline what all of them have, and passes
over parts that a version lacks.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any
from unittest import mock

from benchmarks.sides.serving import serve
from paceline.engine.api import Pair, generate, load_pair
from paceline.messages import ChatMessage, ModelParams, SamplingParams

PARTS: dict[str, tuple[str, ...]] = {
    "sample": ("sample.sampling:Sampler.sample", "sample.sampling:Sampler.draws"),
    "decode": ("model.context:CachedContext.feed",),
    "propose": ("draft.chain:Chain.propose", "draft.auto_chain:AutoChain.propose"),
    "learn": ("draft.chain:Chain.timed", "draft.auto_chain:AutoChain.timed"),
    "clock": ("draft.step_clock:StepClock.lap",),
    "text": ("decode.text:TextAssembler.push",),
}
"""The methods of each part, below `paceline.engine`; a part within another one counts by itself."""
REST = "rest"
_N_CTX = 2048


def carry_out(pair: Pair, order: list[Any]) -> dict[str, Any]:
    """Make a reply; returns the answer."""
    match order:
        case ["reply", prompt, sampling, options, is_by_part]:
            parts = dict.fromkeys(PARTS, 0.0) if is_by_part else {}
            with timed_parts(pair, parts) if is_by_part else nullcontext():
                steps_us, n_tokens = reply(pair, prompt, SamplingParams(**sampling), **options)
            if is_by_part:
                parts[REST] = sum(steps_us) - sum(parts.values())
            return {"steps_us": steps_us, "n_tokens": n_tokens, "parts_us": parts}
        case other:
            raise ValueError(other)


def reply(
    pair: Pair, prompt: str, sampling: SamplingParams, **options: Any
) -> tuple[list[float], int]:
    """Return microseconds outside llama.cpp, and tokens, of a reply's steps but the first."""
    model = pair.loaded.target.model
    marks, n_tokens = [], []
    for step in generate(
        pair,
        [ChatMessage.of_text("user", prompt)],
        sampling=sampling,
        ignore_eog=not sampling.json_schema,  # which says itself where the reply ends
        **options,
    ):
        marks.append(time.thread_time() - model.native_s)
        n_tokens.append(len(step.tokens))
    return [1e6 * (now - before) for before, now in itertools.pairwise(marks)], sum(n_tokens[1:])


@contextmanager
def timed_parts(pair: Pair, parts_us: dict[str, float]) -> Iterator[None]:
    """Add to `parts_us` the CPU time that each part takes, without that in llama.cpp."""
    model = pair.loaded.target.model
    within = [0.0]  # microseconds of the parts that a running part has asked

    @contextmanager
    def counted(name: str) -> Iterator[None]:
        native_s, began = model.native_s, time.thread_time()
        within.append(0.0)
        try:
            yield
        finally:
            took = 1e6 * (time.thread_time() - began - (model.native_s - native_s))
            parts_us[name] += took - within.pop()
            within[-1] += took

    def timed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            with counted(name):
                result = method(*args, **kwargs)
            return pulled(name, result) if isinstance(result, Iterator) else result

        return call

    def pulled(name: str, values: Iterator[Any]) -> Iterator[Any]:
        while True:
            with counted(name):
                try:
                    value = next(values)
                except StopIteration:
                    return
            yield value

    with ExitStack() as stack:
        for name, places in PARTS.items():
            for owner, method in filter(None, map(method_of, places)):
                call = timed(name, getattr(owner, method))
                stack.enter_context(mock.patch.object(owner, method, call))
        yield


def method_of(place: str) -> tuple[type, str] | None:
    """Return the class and the name of a method, or None if this version lacks it."""
    module, _, names = place.partition(":")
    owner, _, method = names.partition(".")
    try:
        found = getattr(importlib.import_module(f"paceline.engine.{module}"), owner)
    except (ImportError, AttributeError):
        return None
    return (found, method) if method in vars(found) else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer until stdin is closed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--core", type=int, help="run on this one alone")
    args = parser.parse_args(arguments)
    if args.core is not None:
        os.sched_setaffinity(0, {args.core})
    with load_pair(ModelParams(args.target, n_ctx=_N_CTX, n_threads=1)) as pair:
        model = pair.loaded.target.model
        model.clock = time.thread_time
        serve(model.vocab.n_tokens, functools.partial(carry_out, pair))


if __name__ == "__main__":
    main()

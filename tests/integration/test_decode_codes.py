"""Every return code of `llama_decode` at each of the first fifty decodes, on the demo pair.

The binding is replaced by one that gives the code at decode number n and runs nothing then; what
the engine makes of it is held against the table in `decode/decoder.py`. One thread and
a short prompt: every batch then stays below 64 tokens, where the numbers do not depend on the
width, so that a reply that goes on must go on with the very same tokens, filled again or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import llama_cpp
import numpy as np
import pytest

from inline_client import InlineClient
from integration.engine import Engine, native_context
from paceline.chat.pair import Pair, PairLoader
from paceline.chat.reply import TurnOptions
from paceline.chat.session import ChatSession
from paceline.engine.cancel import CancelFlag
from paceline.engine.decode.decoder import SMALL_BATCH
from paceline.engine.llama import LlamaBackend, LlamaModel
from paceline.engine.model.memory_hints import what_to_do
from paceline.errors import ContextFullError, DecodeMemoryError, ModelError
from paceline.messages import (
    ModelParams,
    PairLoaded,
    SamplingParams,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    Unloaded,
)
from paceline.params import DraftModel, ReplySettings, Strategy
from strategies import whole

QUESTION = "What does os.path.join do?"
N_CALLS = 50
CODES = (1, 2, -1, -2, -3)
DRAFT = "draft:n_max=3:p_min=0"
MAX_TOKENS = {"off": 52, DRAFT: 36}  # enough for fifty decodes


class Call(NamedTuple):
    """One decode: of which model, and how many tokens."""

    is_target: bool
    n_tokens: int


@dataclass
class Binding:
    """Stands in for `llama_decode`: gives the codes of a plan, counted from 1, else decodes."""

    decode: Callable[[Any, Any], int]
    plan: dict[int, int] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    target: Any = None

    def __call__(self, context: Any, batch: Any) -> int:
        self.calls.append(Call(context is self.target, batch.n_tokens))
        code = self.plan.get(len(self.calls))
        return self.decode(context, batch) if code is None else code

    def start(self, engine: Engine, plan: dict[int, int]) -> None:
        self.plan, self.calls = plan, []
        self.target = native_context(target_of(engine))


def target_of(engine: Engine) -> LlamaModel:
    model = engine.pair.target.model
    assert isinstance(model, LlamaModel)
    return model


@pytest.fixture
def binding(monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]) -> Binding:
    allow_warnings(r"llama_decode gave -?\d+ for \d+ tokens after \d+ with \d+ rows, n_ctx \d+$")
    binding = Binding(llama_cpp.llama_decode)
    monkeypatch.setattr(llama_cpp, "llama_decode", binding)
    return binding


class Bench:
    """One pair for all cases, loaded again where a case has cost it."""

    def __init__(self, paths: tuple[Path, Path]) -> None:
        self.paths = paths
        self.engine: Engine = self._load()
        self.undisturbed: dict[str, TurnFinished] = {}

    def _load(self) -> Engine:
        engine = Engine(*self.paths, n_ctx=512)
        assert isinstance(engine.loaded, PairLoaded)
        engine.reply(QUESTION, max_tokens=8, ignore_eog=True)  # the plain steps after a load
        return engine

    def reply(self, strategy: str, **options: Any) -> TurnFinished | TurnFailed:
        options = {
            "strategy": strategy,
            "max_tokens": MAX_TOKENS[strategy],
            "ignore_eog": True,
        } | options
        last = self.engine.run(QUESTION, **options)
        assert isinstance(last, (TurnFinished, TurnFailed))
        return last

    def fresh(self) -> Engine:
        """Return the engine with empty contexts of the usual size."""
        if self.engine.client.has_pair and target_of(self.engine).n_ctx == 512:
            self.engine.pair.empty(wipe=True)
        else:
            self.engine.client.close()
            self.engine = self._load()
        return self.engine

    @property
    def told(self) -> tuple[int, ...]:
        """The tokens of all steps of the last reply."""
        return tuple(trace.token for step in self.engine.steps for trace in step.tokens)

    @property
    def rejections(self) -> list[TuneRejected]:
        return [event for event in self.engine.events if isinstance(event, TuneRejected)]


@pytest.fixture(scope="module")
def bench(demo_pair: tuple[Path, Path]) -> Iterator[Bench]:
    bench = Bench(demo_pair)
    yield bench
    bench.engine.client.close()


def undisturbed(bench: Bench, binding: Binding, strategy: str) -> tuple[TurnFinished, list[Call]]:
    """The negative control: the same harness without a fault."""
    binding.start(bench.fresh(), {})
    reply = bench.reply(strategy)
    assert isinstance(reply, TurnFinished)
    assert bench.rejections == []
    assert reply.strategy == whole(strategy)
    assert bench.told == reply.tokens
    assert len(binding.calls) >= N_CALLS
    assert max(call.n_tokens for call in binding.calls) < 64
    return reply, binding.calls


@pytest.mark.grid(short=3)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("strategy", ["off", DRAFT])
def test_a_code_at_every_decode(
    bench: Bench, binding: Binding, strategy: str, code: int, *, is_long: bool
) -> None:
    control, calls = undisturbed(bench, binding, strategy)
    seen = set()
    # Plain steps are all alike. Kinds take turns, so that every seventh decode is of another one.
    for n in range(1, N_CALLS + 1, 13 if not is_long else 3 if strategy == "off" else 1):
        engine = bench.fresh()
        binding.start(engine, {n: code})
        last = bench.reply(strategy)
        kind = kind_of(n, calls)
        seen.add(kind)
        try:
            check(bench, kind, code, last, control)
            binding.plan = {}
            if code == -3 and kind != "draft":
                assert isinstance(bench.reply("off", max_tokens=2), TurnFailed)
                bench.fresh()
            after = bench.reply("off", max_tokens=8)
            assert isinstance(after, TurnFinished)
            assert after.tokens == control.tokens[:8]
            assert bench.rejections == []
        except AssertionError as error:
            raise AssertionError(
                f"{strategy}, code {code}, decode {n} ({kind}): {error}"
            ) from error
    assert seen == {"prefill", "step"} if strategy == "off" else {"prefill", "draft", "verify"}


def kind_of(n: int, calls: list[Call]) -> str:
    call = calls[n - 1]
    if n == 1:
        return "prefill"
    if not call.is_target:
        return "draft"
    return "verify" if call.n_tokens > 1 else "step"


def check(
    bench: Bench, kind: str, code: int, last: TurnFinished | TurnFailed, control: TurnFinished
) -> None:
    """The table."""
    told = bench.told
    assert told == control.tokens[: len(told)]
    codes = [rejection.code for rejection in bench.rejections]
    if kind == "draft":
        wanted = {1: "context-full", -1: "batch-refused", -3: "compute-failed"}
        goes_on, codes_wanted = True, [wanted.get(code, "out-of-memory")]
    elif code == 1:
        goes_on, codes_wanted = kind != "step", []
        if kind == "step":
            assert isinstance(last, TurnFinished)
            assert last.reason == "context"
            assert last.tokens == told
            assert codes == []
            return
        assert isinstance(last, TurnFinished)
        assert (last.stats.n_discarded > 0) == (kind == "verify")
    elif code == -1:
        goes_on, codes_wanted = kind == "verify", ["batch-refused"] * (kind == "verify")
    elif code == -3:
        goes_on, codes_wanted = False, []
    else:
        goes_on, codes_wanted = True, ["out-of-memory"]
    assert codes == codes_wanted
    if goes_on:
        assert isinstance(last, TurnFinished), last
        assert (last.reason, last.tokens, last.text) == ("length", control.tokens, control.text)
        assert told == last.tokens
        assert last.strategy == (whole("off") if codes else control.strategy)
    else:
        assert isinstance(last, TurnFailed), last
        assert last.code == {-1: "batch-refused", -3: "compute-failed"}[code]
        assert last.hint
        was_freed = isinstance(bench.engine.events[-2], Unloaded)
        assert was_freed == (code == -3)
        if code == -1:
            assert target_of(bench.engine).n_past == 0


def test_exact_mode_keeps_its_promise_after_a_failure(
    demo_pair: tuple[Path, Path], binding: Binding, is_long: bool
) -> None:
    """A prompt of many pieces comes from the same batches again, the reply from widths that agree.

    Filled again like a prompt, the reply's own cells would come from wider batches.
    """
    prompt = "Explain the following words. " + "dict list tuple set " * 60
    options: dict[str, Any] = {"strategy": DRAFT, "max_tokens": 60, "ignore_eog": True}
    with Engine(*demo_pair, n_ctx=512, exact=True) as engine:
        pair = engine.pair
        engine.reply(prompt, **options)
        pair.empty(wipe=True)
        control = engine.reply(prompt, **options).tokens
        more = ((45, -1), (13, -2)) if is_long else ()
        for n, code in ((45, None), (13, 1), (45, -2), *more):
            pair.empty(wipe=True)
            binding.start(engine, {n: code} if code else {})
            assert engine.reply(prompt, **options).tokens == control
            assert len(binding.calls) >= n


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("code", [-2, 2])
def test_memory_that_stays_short_takes_a_smaller_context(
    bench: Bench, binding: Binding, code: int, n: int
) -> None:
    control, _ = undisturbed(bench, binding, "off")
    binding.start(bench.fresh(), {n: code, n + 1: code})
    reply = bench.reply("off")
    assert isinstance(reply, TurnFinished)
    assert reply.tokens == control.tokens
    assert bench.rejections[-1].code == "out-of-memory"
    assert "256 tokens" in bench.rejections[-1].message
    model = target_of(bench.engine)
    assert (model.n_ctx, model.info.n_ctx, model.n_batch) == (256, 256, SMALL_BATCH)
    again = bench.reply(DRAFT)
    assert isinstance(again, TurnFinished)
    assert again.tokens == control.tokens[: len(again.tokens)]
    assert again.stats.n_accepted > 0
    too_long = bench.engine.run("word " * 400)
    assert isinstance(too_long, TurnFailed)
    assert too_long.code == "prompt-too-long"


@pytest.mark.parametrize("n", [1, 30])
def test_memory_that_never_suffices_frees_the_pair(bench: Bench, binding: Binding, n: int) -> None:
    binding.start(bench.fresh(), {n: -2, n + 1: -2, n + 2: -2})
    failed = bench.reply("off")
    assert isinstance(failed, TurnFailed)
    assert failed.code == "out-of-memory"
    assert failed.hint == what_to_do(ModelParams(""), 256)
    assert isinstance(bench.engine.events[-2], Unloaded)
    assert len(bench.told) == n - 1


def test_in_a_chat_the_next_message_loads_again_by_itself(
    demo_pair: tuple[Path, Path], binding: Binding
) -> None:
    client = InlineClient()
    loader = PairLoader(client)
    greedy = SamplingParams(temperature=0)
    options, settings = TurnOptions(Strategy.of("off")), ReplySettings(greedy, max_tokens=20)
    session = ChatSession(client, loader, defaults=lambda: settings)
    chats = session.conversations
    chat_id = chats.new()
    target, draft = (ModelParams(str(path), n_threads=1) for path in demo_pair)
    loader.load(Pair(target, DraftModel(draft)))
    assert loader.state.status == "ready"
    try:
        binding.plan, binding.calls = {8: -3}, []
        session.send(chat_id, QUESTION, lambda: options)
        question, answer = chats.get(chat_id).path()
        failed = chats.reply_of(chat_id, answer.message_id)
        assert failed is not None
        assert failed.error is not None
        assert failed.error.code == "compute-failed"
        assert answer.text  # what was committed stays
        assert question.text == QUESTION
        assert loader.state.status == "empty"
        binding.plan = {}
        again = session.regenerate(chat_id, lambda: options)
        assert again is not None
        assert again.error is None
        assert again.text.startswith(answer.text)
        assert loader.state.status == "ready"
    finally:
        client.close()


# ----------------------------------------------------------------------------- the model by itself


@pytest.fixture
def model(target_path: Path) -> Iterator[LlamaModel]:
    loaded = LlamaBackend().load(
        ModelParams(str(target_path), n_threads=1, n_ctx=256),
        n_rows=9,
        cancel=CancelFlag(),
        progress=lambda _fraction: None,
    )
    assert isinstance(loaded, LlamaModel)
    yield loaded
    loaded.close()


def test_a_context_made_again_gives_the_same_numbers(model: LlamaModel) -> None:
    before = model.decode([5, 6, 7], 3).copy()
    model.remake(128, 32)
    assert (model.n_past, model.n_ctx, model.n_batch, model.max_rows) == (0, 128, 32, 9)
    assert np.array_equal(model.decode([5, 6, 7], 3), before)
    with pytest.raises(ContextFullError):
        model.decode([1] * 126, 0)


def test_a_model_without_a_context_decodes_nothing_and_can_be_closed(
    model: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.decode([5], 1)
    with monkeypatch.context() as patch:
        patch.setattr(llama_cpp, "llama_init_from_model", lambda _model, _params: None)
        with pytest.raises(ModelError, match="no room"):
            model.remake(128, 32)
    with pytest.raises(ContextFullError):
        model.decode([5], 1)
    model.rollback(0)
    model.clear(wipe=True)
    model.close()
    model.close()


def test_a_decode_is_seen_while_it_runs(model: LlamaModel, binding: Binding) -> None:
    during: list[tuple[int, float, float] | None] = []
    decode = binding.decode

    def watched(context: Any, batch: Any) -> int:
        during.append(model.decoding)
        return decode(context, batch)

    binding.decode = watched
    model.decode([5] * 8, 1)
    assert model.decoding is None
    (seen,) = during
    assert seen is not None
    assert seen[0] == model.last_decode[0] == 8
    assert 0 < model.last_decode[1] < 10
    assert model.n_firsts == 0  # the processor compiles nothing
    first_s = model.last_decode[1]
    model.decode([5], 1)
    second = during[1]
    assert second is not None
    assert (seen[2], second[2]) == (0.0, first_s / 8)
    binding.plan = {len(binding.calls) + 1: -2}
    with pytest.raises(DecodeMemoryError):
        model.decode([5], 1)
    assert model.decoding is None

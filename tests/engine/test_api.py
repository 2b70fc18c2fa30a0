"""The engine for scripts, on scripted models."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import paceline.engine
from fake_model import FakeBackend, FakeModel, scripted
from paceline.engine import (
    ChatMessage,
    Draft,
    DrafterInfo,
    Pair,
    Parameter,
    Reply,
    SamplingParams,
    Settings,
    UserError,
    Workbench,
    generate,
    load_pair,
    opening,
)
from paceline.engine.model.context import BatchWidths
from paceline.engine.sample.drawing import MakeDrawer, RowSettings
from paceline.engine.sample.plain_rows import PlainRows
from paceline.errors import EngineError
from paceline.messages import Event, StepCommitted, TuneApplied, TurnFinished, TurnStarted
from paceline.params import Strategy

TEXT = "Lists hold things, and lists hold lists. Lists hold things."
PROMPT = tuple(b"ask")
GREEDY = SamplingParams(temperature=0)


class Knowing:
    """Knows the reply by heart."""

    parameters = (Parameter("n", "int", 3, 1, 9, "Ahead", "Tokens ahead."),)

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self.n = int(settings["n"])

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        self.history, self.n_prompt = history, n_prompt

    def propose(self, n_max: int) -> Draft:
        at = len(self.history) - self.n_prompt
        return Draft(list(TEXT.encode()[at : at + min(self.n, n_max)]))

    def observe(self, n_accepted: int | None) -> None: ...

    def close(self) -> None: ...


class Broken(Knowing):
    def propose(self, n_max: int) -> Draft:
        raise RuntimeError("my own bug")


def load(*, n_prompt: int = len(PROMPT), draft: bool = False, **options: Any) -> Pair:
    models = {name: FakeModel(scripted(TEXT, n_prompt), **options) for name in ("t", "d")}
    return load_pair("t", "d" if draft else None, backend=lambda: FakeBackend(models))


def reply_of(pair: Pair, prompt: Any = PROMPT, **options: Any) -> Reply:
    return generate(pair, prompt, **{"sampling": GREEDY, "seed": 1, **options})


def test_a_reply_comes_step_by_step() -> None:
    with load() as pair:
        reply = reply_of(pair, strategy=Knowing)
        steps = list(reply)
        assert [step.step for step in steps] == list(range(len(steps)))
        assert "".join(step.text for step in steps) == reply.text == TEXT
        result = reply.result
        assert isinstance(result, TurnFinished)
        assert (result.text, result.reason, result.seed) == (TEXT, "eog", 1)
        assert result.strategy == Strategy((("Knowing", (("n", 3),)),))
        assert result.stats == reply.stats
        (drafter,) = reply.stats.by_drafter
        assert drafter.drafter == "Knowing"
        assert drafter.tokens_accepted == sum(
            trace.source == "Knowing" for step in steps for trace in step.tokens
        )
        assert drafter.tokens_accepted > 0
        assert all(sum(c.n_drafted for c in step.drafted) <= 3 for step in steps)
        assert reply.rejections == []


@pytest.mark.parametrize("widths", [BatchWidths(), BatchWidths(4, 4, 60)], ids=str)
def test_the_first_steps_after_a_load_are_plain_and_later_replies_draft_at_once(
    widths: BatchWidths,
) -> None:
    with load() as pair:
        pair.loaded.target.widths = widths
        drafted = [bool(step.drafted) for step in reply_of(pair, strategy=Knowing)]
        assert drafted[:7] == [False] * 6 + [True]
        assert [bool(s.drafted) for s in reply_of(pair, strategy=Knowing)][:2] == [False, True]


@pytest.mark.parametrize(
    ("strategy", "drafter"),
    [
        ("off", None),
        ("prompt-lookup:max_ngram=2", "prompt-lookup"),
        ("draft:n_max=3:p_min=0", "draft"),
        (Knowing, "Knowing"),
        (DrafterInfo("+odd:", "Odd", "Odd.", "lookup", Knowing.parameters, Knowing), "+odd:"),
        (lambda bench, settings: Knowing(bench, {"n": 2}), "<lambda>"),
        ("mine:n=5", "mine"),
        ("mine+draft:mine.n=5", "mine"),
        ("info", "info"),
    ],
)
def test_what_a_strategy_can_be(strategy: Any, drafter: str | None) -> None:
    info = DrafterInfo("elsewhere", "I", "I.", "lookup", Knowing.parameters, Knowing)
    with load(draft=True) as pair:
        plain = reply_of(pair).finish()
        reply = reply_of(pair, strategy=strategy, drafters={"mine": Knowing, "info": info})
        result = reply.finish()
        assert reply.strategy == (strategy if isinstance(strategy, str) else drafter)
        assert result.tokens == plain.tokens
        assert result.text == TEXT
        accepted = {d.drafter: d.tokens_accepted for d in result.stats.by_drafter}
        assert (accepted.get(drafter, 0) > 0) == (drafter is not None)


def test_what_a_prompt_can_be() -> None:
    asked = (ChatMessage.of_text("user", "ask"),)
    n_chat = len("user: ask") + 2  # an end token and a line feed after it
    with load(n_prompt=n_chat) as pair:
        for prompt in ("ask", asked, list(asked)):
            result = reply_of(pair, prompt).finish()
            assert result.stats.n_prompt == n_chat
            assert result.text == TEXT
    with load() as pair:
        assert reply_of(pair, pair.vocab.tokenize("ask", special=False)).finish().text == TEXT


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"prompt": ()}, "empty-prompt"),
        ({"prompt": (999,)}, "no-such-token"),
        ({"strategy": "mine:n=5"}, "bad-strategy"),
        ({"strategy": "mine:n=99", "drafters": {"mine": Knowing}}, "bad-strategy"),
        ({"max_tokens": 0}, "value-out-of-range"),
    ],
)
def test_what_cannot_be_is_reported_before_anything_runs(
    options: dict[str, Any], code: str
) -> None:
    with load() as pair:
        with pytest.raises(UserError) as caught:
            reply_of(pair, **options)
        assert caught.value.code == code
        assert pair.loaded.target.tokens == []
        assert reply_of(pair).finish().text == TEXT  # the pair is none the worse for it


@pytest.mark.parametrize("strategy", [7, type("Odd", (), {"parameters": (1,)})])
def test_what_makes_no_drafter_is_a_type_error(strategy: Any) -> None:
    with load() as pair, pytest.raises(TypeError):
        reply_of(pair, strategy=strategy)


def test_a_pair_that_cannot_be_loaded() -> None:
    with pytest.raises(UserError) as caught:
        load_pair("none.gguf", backend=lambda: FakeBackend({}))
    assert caught.value.code == "file-not-found"
    target = FakeModel(scripted(TEXT, 0))
    with pytest.raises(UserError):
        load_pair("t", "none", backend=lambda: FakeBackend({"t": target}))
    assert target.closed


def test_a_reply_is_drawn_by_what_is_found_for_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []
    made: list[RowSettings] = []

    def make(settings: RowSettings) -> PlainRows:
        made.append(settings)
        return PlainRows(settings)

    def drawers(cache_dir: str) -> MakeDrawer:
        asked.append(cache_dir)
        return make

    monkeypatch.setattr(opening, "drawers", drawers)
    models = {"t": FakeModel(scripted(TEXT, 0))}
    with load_pair("t", cache_dir=tmp_path, backend=lambda: FakeBackend(models)) as pair:
        list(reply_of(pair))
    assert asked == [str(tmp_path)]
    assert [settings.seed for settings in made] == [1]


def test_leaving_a_pair_frees_it_and_ends_its_reply() -> None:
    with load(draft=True) as pair:
        reply = reply_of(pair, strategy="draft:p_min=0")
        next(reply)
        assert pair.target.name == "Scripted model"
        assert pair.draft is not None
    assert reply.result is not None
    assert reply.result.reason == "cancelled"
    for context in (pair.loaded.target, pair.loaded.draft):
        assert context is not None
        assert isinstance(context.model, FakeModel)
        assert context.model.closed


# ------------------------------------------------------------------------------------ stopping


@pytest.mark.parametrize("n", [1, 3, 9])
def test_closing_a_reply_stops_it(n: int) -> None:
    with load() as pair:
        with reply_of(pair, strategy=Knowing) as reply:
            steps = [next(reply) for _ in range(n)]
        assert reply.result is not None
        assert reply.result.reason == "cancelled"
        assert list(reply.result.tokens) == [t.token for s in steps for t in s.tokens]
        assert reply.text == TEXT[: len(reply.text)]
        assert list(reply) == []
        reply.close()
        context = pair.loaded.target
        assert context.tokens == [*PROMPT, *reply.result.tokens][: len(context.tokens)]
        assert reply_of(pair).finish().text == TEXT


def test_closing_at_the_last_step_says_how_the_reply_ended() -> None:
    with load() as pair:
        reply = reply_of(pair, max_tokens=2)
        next(reply), next(reply)
        reply.close()
        assert reply.result is not None
        assert reply.result.reason == "length"


def test_a_reply_that_never_begins() -> None:
    with load() as pair:
        reply = reply_of(pair)
        reply.close()
        assert list(reply) == []
        assert reply.result is None
        with pytest.raises(UserError):
            reply.finish()


def test_a_reply_that_never_begins_lets_its_drafters_go() -> None:
    closed: list[str] = []

    class Closing(Knowing):
        def close(self) -> None:
            closed.append("closed")

    def refuse(event: Event) -> None:
        raise KeyError(type(event))

    with load() as pair:
        reply_of(pair, strategy=Closing).close()
        assert closed == ["closed"]
        with pytest.raises(KeyError):
            next(reply_of(pair, strategy=Closing, on_event=refuse))
        assert closed == ["closed"] * 2


def test_a_reply_that_has_ended_goes_with_its_last_reference() -> None:
    with load() as pair:
        reply = reply_of(pair)
        reply.finish()
        turn = weakref.ref(reply._turn)  # it has the clock, which keeps a file open
        pair.stop()
        gc.disable()
        try:
            del reply
            assert turn() is None
        finally:
            gc.enable()


def test_the_next_reply_closes_the_one_before() -> None:
    with load() as pair:
        first = reply_of(pair)
        next(first)
        second = reply_of(pair)
        assert first.result is not None
        assert first.result.reason == "cancelled"
        assert list(first) == []
        assert second.finish().text == TEXT


def test_another_thread_can_cancel() -> None:
    with load() as pair:
        reply = reply_of(pair)
        next(reply)
        thread = threading.Thread(target=pair.cancel)
        thread.start()
        thread.join()
        assert len(list(reply)) <= 1
        assert reply.result is not None
        assert reply.result.reason == "cancelled"
        assert reply_of(pair).finish().text == TEXT  # the flag is down again


# ------------------------------------------------------------------------------------ on the way


def test_every_event_is_reported() -> None:
    events: list[Event] = []
    with load() as pair:
        steps = list(reply_of(pair, on_event=events.append))
    assert isinstance(events[0], TurnStarted)
    assert [event for event in events if isinstance(event, StepCommitted)] == steps
    assert isinstance(events[-1], TurnFinished)


def test_another_strategy_in_mid_reply() -> None:
    events: list[Event] = []
    with load() as pair:
        reply = reply_of(pair, strategy=Knowing, drafters={"mine": Knowing}, on_event=events.append)
        for step in reply:
            if step.step == 8:
                reply.tune("mine:n=1")
            if step.step == 10:
                assert reply.strategy == "mine:n=1"
                reply.tune(lambda bench, settings: Knowing(bench, {"n": 2}))
            if step.step == 12:
                reply.tune("nonsense")
        assert reply.text == TEXT
    assert reply.strategy == "<lambda>"
    applied = [event.strategy for event in events if isinstance(event, TuneApplied)]
    assert applied == [Strategy((("mine", (("n", 1.0),)),)), Strategy.of("<lambda>")]
    assert [(r.strategy, r.code) for r in reply.rejections] == [
        (Strategy.of("nonsense"), "bad-strategy")
    ]
    assert {d.drafter for d in reply.stats.by_drafter} == {"Knowing", "mine", "<lambda>"}


def test_a_drafter_with_a_bug_is_named_and_the_reply_continues(
    allow_warnings: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    allow_warnings("unexpected failure in the engine")
    with load() as pair:
        reply = reply_of(pair, strategy=Broken)
        assert reply.finish().text == TEXT
    (rejection,) = reply.rejections
    assert "Broken" in rejection.message
    assert "my own bug" in rejection.message
    assert any(record.exc_info for record in caplog.records)  # with the traceback


def test_a_target_that_fails_is_raised() -> None:
    language = scripted(TEXT, len(PROMPT))

    def poisoned(tokens: Sequence[int]) -> Any:
        row = language(tokens)
        if len(tokens) > 12:
            row[5] = float("nan")
        return row

    models = {"t": FakeModel(poisoned)}
    with load_pair("t", backend=lambda: FakeBackend(models)) as pair:
        reply = reply_of(pair)
        with pytest.raises(EngineError):
            list(reply)
        assert reply.text == TEXT[: len(reply.text)] != ""
        assert pair.loaded.target.tokens == []


# ---------------------------------------------------------------------------------- the package

LIGHT = """
import sys
import paceline.engine
heavy = {"numpy", "llama_cpp", "jinja2"} & set(sys.modules)
assert not heavy, heavy
paceline.engine.UserError
assert "numpy" not in sys.modules
from paceline.engine import generate
assert "numpy" in sys.modules
assert "llama_cpp" not in sys.modules
"""


def test_importing_the_package_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_everything_promised_is_there_and_documented() -> None:
    for name in paceline.engine.__all__:
        thing = getattr(paceline.engine, name)
        assert name in dir(paceline.engine)
        if isinstance(thing, type):
            assert thing.__module__.startswith("paceline.")
            assert thing.__doc__
    with pytest.raises(AttributeError):
        _ = paceline.engine.no_such_thing
    for function in (load_pair, generate):
        assert function.__doc__
        for part in ("Args:", "Returns:", "Raises:"):
            assert part in function.__doc__


def test_the_example_in_the_documentation_works(capsys: pytest.CaptureFixture[str]) -> None:
    doc = paceline.engine.__doc__ or ""
    lines = [line[4:] for line in doc.splitlines() if line.startswith("    ") or not line]
    code = "\n".join(lines).replace('"target.gguf", "draft.gguf"', "T, D, backend=BACKEND")
    ast.parse(code)
    text = "aaaaaaaaaaaaaaaaaaaa"
    n_chat = len("user: What is a list?") + 2
    models = {name: FakeModel(scripted(text, n_chat)) for name in ("t", "d")}
    exec(code, {"T": "t", "D": "d", "BACKEND": lambda: FakeBackend(models)})
    printed = capsys.readouterr().out
    assert "('Echo', 0)" in printed
    assert printed.rstrip().endswith(text)

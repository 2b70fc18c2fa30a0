"""Stored states in the engine: around replies, resets and deletions."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from fake_model import FakeBackend, FakeModel, scripted
from paceline.engine.cancel import CancelFlag
from paceline.engine.model import kept_states
from paceline.engine.model.context import CachedContext
from paceline.engine.model.kept_states import KeptStates
from paceline.engine.model.stored_states import StateStore
from paceline.engine.model.tokens import common_prefix
from paceline.engine.model.translation import TranslatedContext, Translation
from paceline.engine.service import EngineService
from paceline.messages import (
    Calibrate,
    DraftModel,
    DropStates,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    RawText,
    Reset,
    StartTurn,
    StateOwner,
    StatesDropped,
    StateStorage,
    Strategy,
    Translating,
    Tune,
    TurnFinished,
    TurnStarted,
    Unload,
)

A, B, SECRET = StateOwner("a"), StateOwner("b"), StateOwner("s", private=True)
TEXT, OTHER = "An old text. " * 12, "Quite another. " * 12
ROOM = StateStorage(memory_bytes=1 << 20)


class Engine:
    """An engine with scripted models; the target writes a reply to `OTHER` alone."""

    def __init__(
        self, storage: StateStorage | None = ROOM, *, n_block: int = 32, reply: str = ""
    ) -> None:
        end = scripted(reply, len(OTHER))
        self.target = FakeModel(end, n_ctx=1024, n_block=n_block)
        self.draft = FakeModel(end, n_ctx=1024, n_block=n_block)
        self.events: list[Event] = []
        self.waiting: list[DropStates | Tune] = []
        backend = FakeBackend({"t": self.target, "d": self.draft})
        self.service = EngineService(
            self.events.append,
            take_between=lambda: self.waiting.pop() if self.waiting else None,
            cancel=CancelFlag(),
            backend=lambda: backend,
        )
        self.service.handle(
            LoadPair(ModelParams("t"), DraftModel(ModelParams("d")), states=storage)
        )
        assert isinstance(self.events[-1], PairLoaded)

    def ask(self, text: str, owner: StateOwner | None, strategy: str = "off") -> TurnStarted:
        """Ask, and return how the turn began."""
        self.events.clear()
        self.service.handle(
            StartTurn(
                RawText(text), owner=owner, seed=1, strategy=Strategy.of(strategy), max_tokens=9
            )
        )
        return next(event for event in self.events if isinstance(event, TurnStarted))


def test_a_text_is_read_once() -> None:
    engine = Engine()
    assert engine.ask(TEXT, A).n_reused == 0
    assert engine.ask(OTHER, B).n_reused == 0
    again = engine.ask(TEXT, B)
    assert (again.warm, again.n_reused) == ("memory", len(TEXT) - 1)
    assert engine.ask(TEXT, B).warm == "context"


@pytest.mark.parametrize("command", [Reset(), Calibrate()])
def test_what_empties_the_contexts_leaves_the_text_warm(command: Reset | Calibrate) -> None:
    engine = Engine()
    engine.ask(TEXT, A)
    engine.service.handle(command)
    again = engine.ask(TEXT, A)
    assert (again.warm, again.n_reused) == ("memory", len(TEXT) - 1)


def test_the_draft_model_finds_its_text_too() -> None:
    engine = Engine()
    for text, owner in ((TEXT, A), (OTHER, B)):
        engine.ask(text, owner, "draft")
        while engine.service.idle():  # the draft model catches up
            pass
    engine.draft.widths.clear()
    engine.ask(TEXT, A, "draft")
    while engine.service.idle():
        pass
    assert sum(engine.draft.widths) <= 2


@pytest.mark.parametrize("storage", [None, StateStorage(memory_bytes=0)])
def test_nothing_is_kept_where_it_is_off(storage: StateStorage | None) -> None:
    engine = Engine(storage)
    engine.ask(TEXT, A)
    engine.ask(OTHER, A)
    assert engine.ask(TEXT, A).n_reused == 0
    assert not engine.target.n_copied


def test_nothing_is_kept_of_a_turn_without_an_owner() -> None:
    engine = Engine()
    engine.ask(TEXT, None)
    engine.ask(OTHER, A)
    assert engine.ask(TEXT, A).n_reused == 0


def test_a_private_text_serves_its_chat_alone() -> None:
    engine = Engine()
    engine.ask(TEXT, SECRET)
    assert engine.ask(TEXT, A).n_reused == 0, "not even from the context"
    engine.ask(OTHER, B)
    assert engine.ask(TEXT, SECRET).n_reused == len(TEXT) - 1


def test_the_end_of_another_owners_block_is_not_taken_along() -> None:
    contexts = [CachedContext(FakeModel(scripted("", 0), n_ctx=1024, n_block=32)) for _ in "td"]
    states = KeptStates(*contexts, StateStore(1 << 20))
    for owner, text in ((A, "aaaabbbb"), (B, "cccc"), (B, "aaaad")):
        prompt = [ord(letter) for letter in text for _ in range(12)]  # parts within a block
        states.begin(prompt, owner, with_draft=True)
        for context in contexts:
            assert common_prefix(context.tokens, prompt) == len(context.tokens)
            context.prefill(prompt, 64)
        states.end()
        states.keep()
    states.forget(["a"])
    states.leave()
    shared = "a" * 48
    assert states.n_stored([ord(letter) for letter in f"{shared}{'b' * 48}"], B) == len(shared)


def test_states_of_a_model_file_that_was_replaced_are_not_used(tmp_path: Path) -> None:
    file, store, text = tmp_path / "model.gguf", StateStore(1 << 20), [*TEXT.encode()]

    def read() -> int:
        """Read the text with a new context; return how much of it was stored before."""
        model = FakeModel(scripted("", 0), n_ctx=1024, n_block=32)
        model.info = structs.replace(model.info, path=str(file))
        context = CachedContext(model)
        states = KeptStates(context, None, store)
        n_stored = states.n_stored(text, A)
        states.begin(text, A, with_draft=False)
        context.prefill(text, 64)
        states.end()
        states.leave()
        return n_stored

    file.write_bytes(b"weights")
    assert (read(), read()) == (0, len(text))
    file.write_bytes(b"other weights")
    assert (read(), read()) == (0, len(text))


def test_a_draft_model_of_other_tokens_keeps_nothing_of_a_text_that_is_left() -> None:
    target = CachedContext(FakeModel(scripted("", 0), n_ctx=1024, n_block=32))
    model = FakeModel(scripted("", 0), n_ctx=1024)
    draft = TranslatedContext(model, Translation(target.model.vocab, model.vocab, Translating()))
    states = KeptStates(target, draft, StateStore(1 << 20))
    for owner in (SECRET, A):
        states.begin([*b"A text of one"], owner, with_draft=True)
        draft.feed([*b"A text of one"], 0)
        states.end()
        states.begin([*b"A reply to others"], B, with_draft=False)
        assert not draft.tokens
        assert not model.tokens
        states.end()


def test_what_is_dropped_is_gone_from_context_and_store() -> None:
    engine = Engine()
    engine.ask(OTHER, A)
    engine.ask(TEXT, A)
    engine.service.handle(DropStates(("a",)))
    assert isinstance(engine.events[-1], StatesDropped)
    assert not engine.target.tokens
    assert engine.ask(TEXT, B).n_reused == 0
    assert engine.ask(OTHER, B).n_reused == 0


def test_what_is_dropped_may_be_in_a_context_as_no_ones() -> None:
    engine = Engine()
    engine.ask(TEXT, None)
    engine.service.handle(DropStates(("a",)))
    assert not engine.target.tokens


def test_states_are_dropped_between_two_steps_of_another_reply() -> None:
    engine = Engine(reply="A long reply")
    engine.ask(TEXT, A)
    engine.waiting.append(DropStates(("a",)))
    engine.ask(OTHER, B)
    kinds = [type(event).__name__ for event in engine.events]
    assert kinds.index("StatesDropped") < kinds.index("TurnFinished")
    assert engine.ask(TEXT, B).n_reused == 0


def test_states_are_dropped_while_another_prompt_is_read() -> None:
    engine = Engine(reply="A long reply")
    engine.ask(TEXT, A)
    engine.waiting += [DropStates(("a",)), Tune(Strategy.of("suffix"))]
    engine.ask(OTHER, B)
    kinds = [type(event).__name__ for event in engine.events]
    assert kinds.index("StatesDropped") < kinds.index("StepCommitted") < kinds.index("TuneApplied")


@pytest.mark.parametrize("owners", [("a",), ()])
def test_a_reply_continues_whose_own_states_are_dropped(owners: tuple[str, ...]) -> None:
    engine = Engine(reply="A long reply")
    engine.waiting.append(DropStates(owners))
    engine.ask(OTHER, A)
    finished = next(event for event in engine.events if isinstance(event, TurnFinished))
    assert finished.text == "A long re"
    assert not engine.target.tokens
    engine.ask(TEXT, B)
    assert engine.ask(OTHER, B).n_reused == 0


@pytest.mark.parametrize("is_loaded", [True, False])
def test_files_go_of_models_that_are_not_loaded(tmp_path: Path, *, is_loaded: bool) -> None:
    file = tmp_path / "another model" / b"a".hex() / "a block"
    file.parent.mkdir(parents=True)
    file.touch()
    engine = Engine()
    if not is_loaded:
        engine.service.handle(Unload())
    engine.service.handle(DropStates(("a",), str(tmp_path)))
    assert not file.exists()


def test_a_whole_state_serves_what_continues_after_it() -> None:
    engine = Engine(n_block=0)
    engine.ask(TEXT, A)
    engine.ask(OTHER, B)
    assert engine.ask(TEXT[:-20], A).n_reused == 0
    engine.ask(OTHER, B)
    again = engine.ask(f"{TEXT}More.", A)
    assert (again.warm, again.n_reused) == ("memory", len(TEXT))


def test_a_block_that_cannot_be_put_back_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    engine.ask(TEXT, A)
    engine.ask(OTHER, B)
    monkeypatch.setattr(engine.target, "put_cells", lambda _n, _data: False)
    assert engine.ask(TEXT, A).n_reused == 0
    assert bytes(engine.target.tokens[: len(TEXT)]).decode() == TEXT


def test_other_kernels_and_another_processor_find_nothing_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would go on with other numbers, though the text is the same."""

    def n_reused(kernels: str) -> int:
        engine = Engine(StateStorage(1 << 20, str(tmp_path)))
        engine.target.facts_key = f"fake|{kernels}"
        n = engine.ask(TEXT, A).n_reused
        engine.service.handle(Unload())
        return n

    found = len(TEXT) - 1
    assert [n_reused(name) for name in ("old", "old", "new", "new", "old")] == [
        0, found, 0, found, found,
    ]  # fmt: skip
    monkeypatch.setattr(kept_states, "processor", lambda: "another one")
    assert [n_reused("new") for _ in range(2)] == [0, found]


def test_what_contexts_hold_is_kept_before_models_are_freed() -> None:
    engine = Engine()
    engine.ask(TEXT, A)
    engine.target.n_copied.clear()
    engine.service.handle(Unload())
    assert engine.target.n_copied
    assert engine.target.closed

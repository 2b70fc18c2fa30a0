"""The certain part of the next prompt is read before it comes, and nothing is lost by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from msgspec import structs

from engine.harness import random_language
from fake_model import FakeModel
from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.model.kept_states import KeptStates
from paceline.engine.model.stored_states import MIN_BLOCK_TOKENS, StateStore
from paceline.engine.pair import LoadedPair
from paceline.engine.read_ahead import read_ahead
from paceline.engine.request import encode_prompt
from paceline.messages import (
    Chat,
    ChatMessage,
    KernelUse,
    PrefillProgressed,
    ReadAheadEnded,
    StartTurn,
    StateOwner,
)

N_BATCH, N_BLOCK = 32, 32
CHAT, OTHER = StateOwner("a chat"), StateOwner("another")
PRIVATE = StateOwner("a private chat", private=True)
FIRST = "This is the first sentence of what is being typed."
SAID = (
    ChatMessage.of_text("user", "What was it that we talked about yesterday?"),
    ChatMessage.of_text("assistant", "We talked about stored states, and why they are warm."),
)


def model_of(*, alone: bool = True, n_ctx: int = 2000, **options: object) -> FakeModel:
    """Return a model; `alone`: that computes every row as if it were alone."""
    model = FakeModel(random_language(1), n_ctx=n_ctx, **options)  # type: ignore[arg-type]
    model.n_batch = N_BATCH
    model.computes_here = alone
    kernels = (KernelUse("f16", "own"),) if alone else ()
    model.info = structs.replace(model.info, kernels=kernels)
    return model


@dataclass
class Desk:
    """One pair, whose prompts are read ahead and then for good."""

    model: FakeModel
    keeps: bool = True
    cancel: CancelFlag = field(default_factory=CancelFlag)
    told: list[PrefillProgressed] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pair = LoadedPair(self.model, None, Facts(""))
        self.store = StateStore(1 << 20)
        if self.keeps:
            self.pair.states = KeptStates(self.pair.target, None, self.store)

    def turn(self, *more: str, owner: StateOwner | None = CHAT, **options: object) -> StartTurn:
        messages = (*SAID, *(ChatMessage.of_text("user", text) for text in more))
        return StartTurn(Chat(messages), owner=owner, **options)  # type: ignore[arg-type]

    def ahead(self, turn: StartTurn) -> ReadAheadEnded:
        return read_ahead(self.pair, turn, self.told.append, self.cancel)

    def ask(self, turn: StartTurn) -> int:
        """Read a turn's prompt; returns how many tokens that took."""
        prompt = encode_prompt(self.pair, turn).tokens
        if self.pair.states is not None:
            self.pair.states.begin(prompt, turn.owner, with_draft=False)
        n_before = self.n_read
        self.pair.target.prefill(prompt, self.pair.n_read)
        assert self.model.tokens == prompt
        return self.n_read - n_before

    @property
    def n_read(self) -> int:
        return sum(self.model.widths)

    @property
    def texts(self) -> list[tuple[str, set[str], str]]:
        """The stored texts, with whom they are for."""
        blocks = [block for tree in self.store.trees for block in tree.root.descendants()]
        return [(bytes(t % 256 for t in b.tokens).decode(), b.owners, b.only_for) for b in blocks]


def desk_of(**options: object) -> Desk:
    return Desk(model_of(n_block=N_BLOCK, **options))


def test_the_next_prompt_finds_all_but_what_was_not_certain() -> None:
    desk = desk_of()
    done = desk.ahead(desk.turn(FIRST))
    assert done.is_over
    assert done.n_read == done.n_certain == len(desk.model.tokens)
    assert [said.n_done for said in desk.told] == [*range(32, done.n_read, 32), done.n_read]
    assert {said.n_total for said in desk.told} == {done.n_certain}
    turn = desk.turn(FIRST + " And more.")
    n_prompt = len(encode_prompt(desk.pair, turn).tokens)
    assert desk.ask(turn) <= len(" And more.<\n") + 1
    assert desk.n_read == n_prompt, "nothing is read twice"


def test_what_is_there_is_not_read_again() -> None:
    desk = desk_of()
    desk.ahead(desk.turn(FIRST))
    n_read, held = desk.n_read, [*desk.model.tokens]
    again = desk.ahead(desk.turn(FIRST))
    assert (desk.n_read, desk.model.tokens) == (n_read, held)
    assert again.n_read == again.n_certain
    shorter = desk.ahead(desk.turn(FIRST[:20]))
    assert shorter.n_read == shorter.n_certain < len(held)
    assert desk.model.tokens == held, "what may come back stays"


def test_a_chat_that_is_opened_is_read_to_where_a_message_begins() -> None:
    desk = desk_of()
    done = desk.ahead(desk.turn())
    text = bytes(t % 256 for t in desk.model.tokens).decode()
    assert text.endswith("user:"), text
    assert done.n_read == done.n_certain
    assert desk.ask(desk.turn("Hello")) <= len(" Hello<\n") + 1


def test_an_edit_reads_what_has_changed_alone() -> None:
    desk = desk_of()
    texts = [f"{FIRST} This is sentence number {n}, which goes on." for n in range(3)]
    n_same = len(f"{FIRST} This is sentence number ")
    desk.ahead(desk.turn(texts[0]))
    for text in texts[1:]:
        n_before = desk.n_read
        desk.ahead(desk.turn(text))
        assert desk.n_read - n_before <= len(text) - n_same
    n_before = desk.n_read
    desk.ahead(desk.turn(texts[0]))
    assert desk.n_read - n_before <= MIN_BLOCK_TOKENS, "the first one was kept"


@pytest.mark.parametrize("n_pieces", range(4))
def test_a_stop_waits_for_the_piece_that_runs(n_pieces: int) -> None:
    desk = desk_of()

    def stop(progress: PrefillProgressed) -> None:
        desk.told.append(progress)
        if len(desk.told) == n_pieces:
            desk.cancel.set()

    if not n_pieces:
        desk.cancel.set()
    done = read_ahead(desk.pair, desk.turn(FIRST), stop, desk.cancel)
    assert desk.model.widths == [N_BATCH] * n_pieces
    assert not done.is_over
    assert done.n_read == n_pieces * N_BATCH
    desk.cancel.clear()
    done = desk.ahead(desk.turn(FIRST))
    assert (done.n_read, done.is_over) == (desk.n_read, True), "it goes on where it was"


def test_another_chats_text_is_kept_before() -> None:
    desk = desk_of()
    other = desk.turn(FIRST, owner=OTHER)
    desk.ask(structs.replace(other, prompt=Chat((ChatMessage.of_text("user", FIRST * 3),))))
    held = [*desk.model.tokens]
    desk.ahead(desk.turn(FIRST))
    assert desk.pair.states is not None
    assert desk.pair.states.n_stored(held, OTHER) >= len(held) - MIN_BLOCK_TOKENS


def test_a_text_that_is_not_read_is_not_kept_for_another_chat() -> None:
    """Else the text left in the contexts would be kept as the new chat's, and outlive its own."""
    desk = desk_of(alone=False)
    assert desk.pair.states is not None
    secret = Chat((ChatMessage.of_text("user", FIRST * 3),))
    desk.ask(StartTurn(secret, owner=OTHER))
    short = StartTurn(Chat((ChatMessage.of_text("user", "Hi."),)), owner=CHAT)
    assert desk.ahead(short).n_read < N_BATCH
    while desk.pair.states.slice():
        pass
    desk.pair.states.forget((OTHER.name,))
    assert not any("sentence" in text for text, _, _ in desk.texts)


def test_a_private_chat_leaves_nothing_for_others() -> None:
    desk = desk_of()
    desk.ahead(desk.turn(FIRST, owner=PRIVATE))
    assert desk.pair.states is not None
    while desk.pair.states.slice():
        pass
    assert desk.texts
    assert {(only_for, *owners) for _, owners, only_for in desk.texts} == {(PRIVATE.name,)}
    turn = desk.turn(FIRST + " And more.")
    assert desk.ask(turn) == len(encode_prompt(desk.pair, turn).tokens)


@pytest.mark.parametrize("n_said", range(7, 3 * N_BATCH, 7))
def test_where_rows_depend_on_their_batch_the_batches_are_those_of_the_turn(n_said: int) -> None:
    cold, warm = (desk_of(alone=False) for _ in range(2))
    begun = StartTurn(Chat((ChatMessage.of_text("user", "x" * n_said),)), owner=CHAT)
    texts = [FIRST, f"{FIRST} {FIRST}", f"{FIRST} {FIRST} And this is the end of it."]
    for desk in (cold, warm):
        desk.ask(begun)
        desk.model.widths.clear()
    for text in texts:
        warm.ahead(warm.turn(text))
    n_ahead = len(warm.model.widths)
    assert warm.model.widths == [N_BATCH] * n_ahead
    assert n_ahead >= 2
    for desk in (cold, warm):
        desk.ask(desk.turn(texts[-1]))
    assert cold.model.widths == warm.model.widths


def test_exact_mode_reads_whole_pieces_at_their_places() -> None:
    desk = desk_of(alone=False)
    desk.pair.target.prefill_piece = 24
    desk.ask(desk.turn("x"))
    done = desk.ahead(desk.turn(FIRST))
    assert done.is_over
    assert len(desk.model.tokens) % 24 == 0
    assert done.n_certain - 24 < len(desk.model.tokens) <= done.n_certain
    turn = desk.turn(FIRST + " And more.")
    assert desk.ask(turn) == len(encode_prompt(desk.pair, turn).tokens) - done.n_read


@pytest.mark.parametrize("n_pieces", [0, 1, 2])
def test_a_recurrent_memory_continues_also_after_a_stop(n_pieces: int) -> None:
    model = model_of(alone=False, can_rollback=False, has_copies=True)
    model.keep_states(0)
    desk = Desk(model)
    desk.ask(desk.turn("x"))
    text = "x" + FIRST * 3
    n_before = desk.n_read

    def stop(progress: PrefillProgressed) -> None:
        desk.told.append(progress)
        if len(desk.told) == n_pieces:
            desk.cancel.set()

    read_ahead(desk.pair, desk.turn(text), stop, desk.cancel)
    desk.cancel.clear()
    done = desk.ahead(desk.turn(text))
    assert done.is_over
    assert done.n_certain - N_BATCH < done.n_read
    n_prompt = len(encode_prompt(desk.pair, desk.turn(text + " And more.")).tokens)
    desk.ask(desk.turn(text + " And more."))
    assert desk.n_read - n_before <= n_prompt, "nothing was read twice"


def test_without_a_store_only_what_continues_is_read() -> None:
    desk = Desk(model_of(n_block=N_BLOCK), keeps=False)
    assert desk.ahead(desk.turn(FIRST)).n_read == desk.n_read
    held = [*desk.model.tokens]
    done = desk.ahead(StartTurn(Chat((ChatMessage.of_text("user", FIRST),))))
    assert desk.model.tokens == held
    assert done.n_read < done.n_certain
    assert done.is_over


def test_what_cannot_be_a_prompt_is_left_to_the_turn() -> None:
    desk = desk_of()
    for turn in (
        StartTurn(Chat((ChatMessage.of_text("user", "x" * 3000),)), owner=CHAT),
        structs.replace(desk.turn(FIRST), prompt=Chat(())),
    ):
        desk.ahead(turn)
        assert len(desk.model.tokens) < 10
    desk.model.template = "{{ raise_exception('no') }}"
    assert Desk(desk.model).ahead(desk.turn(FIRST)).is_over


# ------------------------------------------------------------------- a context that is nearly full


def long_chat(n_turns: int) -> tuple[ChatMessage, ...]:
    turns = [
        (
            ChatMessage.of_text("user", f"Question {n}: why is it warm?"),
            ChatMessage.of_text("assistant", f"Answer {n}: it was kept."),
        )
        for n in range(n_turns)
    ]
    return sum(turns, ())


def asked(messages: Sequence[ChatMessage], text: str = "") -> StartTurn:
    more = (ChatMessage.of_text("user", text),) if text else ()
    return StartTurn(Chat((*messages, *more), cuts=True), max_tokens=100, owner=CHAT)


@pytest.mark.parametrize("alone", [True, False])
def test_the_turn_in_which_old_messages_leave_reads_its_own_message_alone(*, alone: bool) -> None:
    desk = desk_of(alone=alone, n_ctx=1000)
    rest = 0 if alone else N_BATCH
    message = "This is a question that does not fit any more, since it is too long."
    n_cut = 0
    for n_turns in range(6, 20):
        said = long_chat(n_turns)
        desk.ahead(asked(said))
        held = [*desk.model.tokens]
        turn = asked(said, message)
        prompt = encode_prompt(desk.pair, turn)
        before, n_cut = n_cut, prompt.n_cut
        n_read = desk.ask(turn)
        assert n_read <= len(message) + MIN_BLOCK_TOKENS + rest + len("user:<\n"), (n_turns, n_cut)
        short = encode_prompt(desk.pair, asked(said, "Hm?"))
        if prompt.n_cut > short.n_cut:
            assert held == short.tokens[: len(held)], "the whole chat is likelier"
        assert n_cut >= before
    assert n_cut


def test_no_shortened_conversation_is_read_where_both_find_no_room() -> None:
    desk = Desk(model_of(n_block=N_BLOCK, n_ctx=1000))
    desk.store.most_bytes = 2000  # of four for each token
    said = long_chat(14)
    done = desk.ahead(asked(said))
    assert done.n_read == done.n_certain == desk.n_read

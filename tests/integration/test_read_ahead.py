"""Reading ahead changes no text, and the next prompt finds what was read."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest
from msgspec import structs

import make_pairs
from integration.engine import Engine
from paceline.chat.reading_ahead import certain_part
from paceline.hosting.broker import Priority
from paceline.installation import kernel_files
from paceline.messages import (
    Chat,
    ChatMessage,
    PrefillProgressed,
    ReadAhead,
    ReadAheadEnded,
    SamplingParams,
    StartTurn,
    StateOwner,
    StateStorage,
    Strategy,
    TurnFinished,
    TurnStarted,
)

OWNERS = StateOwner("a chat"), StateOwner("another"), StateOwner("a private chat", private=True)
WORDS = (
    *("the", "state", "of", "a", "chat", "is", "kept", "in", "blocks,"),
    *("nothing", "is", "read", "again"),
)
DRAWN = SamplingParams(0.8, top_k=0, top_p=1, min_p=0)


def opened(name: str, n_ctx: int = 2048, **options: object) -> Engine:
    engine = Engine(make_pairs.path(name), n_ctx=n_ctx, kernels="own", mtp="off", **options)
    if not (engine.loaded.sameness and engine.loaded.sameness.any_context):  # type: ignore[union-attr]
        engine.client.close()
        pytest.skip("rows depend on their batch here")
    return engine


@pytest.fixture
def pair() -> Iterator[tuple[Engine, Engine]]:
    """The same model twice: one that reads ahead, and one that does not."""
    if kernel_files.find() is None:
        pytest.skip("Paceline's own kernels are not built for this llama.cpp")
    with (
        opened("tiny-target", states=StateStorage(1 << 28)) as ahead,
        opened("tiny-target") as cold,
    ):
        yield ahead, cold


def sentence(drawn: random.Random) -> str:
    return " ".join(drawn.choices(WORDS, k=drawn.randint(3, 30))).capitalize() + drawn.choice(".!?")


def typed(drawn: random.Random) -> list[str]:
    """Return how a message looks at each pause: it grows, and is taken back now and then."""
    texts, parts = [], [sentence(drawn)]
    for _ in range(drawn.randint(2, 6)):
        if drawn.random() < 0.3 and len(parts) > 1:
            del parts[drawn.randrange(len(parts)) :]
        parts.append(sentence(drawn))
        joined = drawn.choice((" ", "\n", "\n\n")).join(parts)
        texts.append(joined[: len(joined) - drawn.randint(0, 20)])
    return texts


def turn_of_chat(
    messages: Sequence[ChatMessage], text: str, owner: StateOwner, seed: int = 1
) -> StartTurn:
    last = (ChatMessage.of_text("user", text),) if text else ()
    prompt = Chat((*messages, *last))
    return StartTurn(prompt, DRAWN, max_tokens=12, seed=seed, owner=owner, ignore_eog=True)


def test_typings_have_the_replies_of_a_cold_start(
    pair: tuple[Engine, Engine], *, is_long: bool
) -> None:
    engine, cold = pair
    chats: dict[StateOwner, list[ChatMessage]] = {owner: [] for owner in OWNERS}
    n_ahead = n_prompts = 0
    for number in range(20 if is_long else 8):
        drawn = random.Random(number)
        owner = drawn.choice(OWNERS)
        messages = chats[owner]
        texts = typed(drawn)
        for text in texts:
            stop_at = drawn.choice((0, 0, 1, 2))
            told: list[object] = []

            def hear(event: object, told: list[object] = told, stop_at: int = stop_at) -> None:
                told.append(event)
                if len(told) == stop_at:
                    engine.client.cancel()

            engine.client.on_event = hear
            command = ReadAhead(turn_of_chat(messages, certain_part(text), owner))
            engine.client.request(command, Priority.IDLE)
            assert isinstance(told[-1], ReadAheadEnded)
            if drawn.random() < 0.5:
                keep_all(engine)
        said = compared_reply(engine, cold, turn_of_chat(messages, texts[-1], owner, number))
        started = next(e for e in engine.events if isinstance(e, TurnStarted))
        n_ahead += started.n_reused
        n_prompts += started.n_prompt
        messages += [ChatMessage.of_text("user", texts[-1]), ChatMessage.of_text("assistant", said)]
    assert n_ahead > 0.6 * n_prompts


def keep_all(engine: Engine) -> None:
    states = engine.pair.states
    while states is not None and states.slice():
        pass


def compared_reply(engine: Engine, cold: Engine, turn: StartTurn) -> str:
    """Compare the reply with that of an empty context; returns its text."""
    for each in (engine, cold):
        each.events.clear()
        each.client.on_event = each.events.append
    engine.client.request(turn)
    cold.pair.empty()
    cold.client.request(structs.replace(turn, owner=None))
    warm_end, cold_end = engine.events[-1], cold.events[-1]
    assert warm_end.tokens == cold_end.tokens  # type: ignore[union-attr]
    return str(warm_end.text)  # type: ignore[union-attr]


def test_a_request_stops_it_and_it_continues_where_it_was(pair: tuple[Engine, Engine]) -> None:
    engine, _ = pair
    turn = turn_of_chat((), "It is read in pieces. " * 200, OWNERS[0])
    stopped: list[object] = []

    def hear(event: object) -> None:
        stopped.append(event)
        if len(stopped) == 1:
            assert isinstance(event, PrefillProgressed)
            engine.client.request(turn_of_chat((), "Hi", OWNERS[1]), Priority.PROGRAM)

    engine.client.on_event = hear
    engine.client.request(ReadAhead(turn), Priority.IDLE)
    kinds = [type(event) for event in stopped]
    assert kinds[:3] == [PrefillProgressed, ReadAheadEnded, TurnStarted]
    progress, ended = stopped[:2]
    assert isinstance(progress, PrefillProgressed)
    assert isinstance(ended, ReadAheadEnded)
    assert not ended.is_over
    assert ended.n_read == progress.n_done < ended.n_certain


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("kind", ["tiny-mtp", "tiny-mtp-glm4moe"])
def test_a_head_reads_along(kind: str) -> None:
    """It needs the target's state at each token, which is there right after its decode alone."""
    with Engine(make_pairs.path(kind), n_ctx=2048, states=StateStorage(1 << 28)) as engine:
        text = "It is read in pieces. " * 200
        first = turn_of_chat((), text[:200], OWNERS[0])
        strategy = Strategy.of("mtp")
        engine.client.request(structs.replace(first, strategy=strategy))
        coming = turn_of_chat((), text, OWNERS[0])
        engine.client.request(ReadAhead(structs.replace(coming, strategy=strategy)))
        done = engine.events[-1]
        assert isinstance(done, ReadAheadEnded)
        target, head = engine.pair.target, engine.pair.draft
        assert head is not None
        assert done.n_read == len(target.tokens) > 1000
        assert head.tokens == target.tokens


def test_a_real_context_that_is_nearly_full_reads_no_more_than_the_new_message(
    *, is_long: bool
) -> None:
    if kernel_files.find() is None:
        pytest.skip("Paceline's own kernels are not built for this llama.cpp")
    message = "Is that so, and would it be so if the question were as long as this one is?"
    said: list[ChatMessage] = []
    cuts = set()
    with opened("tiny-target", n_ctx=512, states=StateStorage(1 << 28)) as engine:
        for n in range(30 if is_long else 22):
            chat = turn_of_chat(said, "", OWNERS[0])
            for command in (ReadAhead(cut(chat)), cut(turn_of_chat(said, message, OWNERS[0]))):
                engine.events.clear()
                engine.client.request(command)
            started = next(e for e in engine.events if isinstance(e, TurnStarted))
            if n > 1:
                assert started.n_prompt - started.n_reused < 40, started.n_cut
            cuts.add(started.n_cut)
            end = engine.events[-1]
            assert isinstance(end, TurnFinished)
            said += [
                ChatMessage.of_text("user", message),
                ChatMessage.of_text("assistant", end.text),
            ]
    assert len(cuts) > 2


def cut(turn: StartTurn) -> StartTurn:
    return structs.replace(turn, prompt=structs.replace(turn.prompt, cuts=True))

"""Reasons for which a prompt is read again, for pairs of prompts, on a model of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_model import EOG, N_VOCAB, FakeBackend, FakeModel
from inline_client import InlineClient
from paceline.content import Chat, ChatMessage, Prompt, RawText, Tokens, Tool, ToolUse
from paceline.figures import Reread, TurnStats
from paceline.hosting.threaded import make_engine_service
from paceline.messages import (
    DropStates,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    StartTurn,
    StateOwner,
    StateStorage,
    TurnFinished,
    TurnStarted,
)
from paceline.params import Prompting
from paceline.sentence import Sentence
from strategies import strategy

CHAT, OTHER, PRIVATE = StateOwner("a chat"), StateOwner("another"), StateOwner("mine", private=True)
NONE, ROOM = StateStorage(memory_bytes=0), StateStorage(memory_bytes=1 << 20)
LONG = " ".join(f"word{i}" for i in range(40))
LONGER = " ".join(f"thing{i}" for i in range(90))
LOOKING_AHEAD = Prompting(
    template="{{ 'long ' if messages | length > 2 else 'short ' }}"
    "{% for m in messages %}{{ m.role }}: {{ m.content }}<end>{% endfor %}"
)
REASONED = f"<think>\nHm, let me see.\n</think>\n\n{LONG}"


class Engine:
    """An engine on a scripted model, which writes what `reply` says.

    Args:
        storage: Storage of states, or None to store none.
        model: Options of `FakeModel`.
    """

    def __init__(self, storage: StateStorage | None = ROOM, **model: object) -> None:
        self.reply = ""
        self._n_prompt = 0
        options: dict[str, object] = {"n_ctx": 4096, "n_block": 16} | model
        self.model = FakeModel(self._logits, **options)  # type: ignore[arg-type]
        backend = FakeBackend({"target": self.model})
        self.client = InlineClient(partial(make_engine_service, backend=lambda: backend))
        self.client.on_event = self._hear
        self._storage = storage
        self._last: Event | None = None
        self.load()

    def _logits(self, tokens: Sequence[int]) -> np.ndarray:
        text = [*self.reply.encode(), EOG]
        row = np.zeros(N_VOCAB, np.float32)
        row[text[min(max(len(tokens) - self._n_prompt, 0), len(text) - 1)]] = 20.0
        return row

    def _hear(self, event: Event) -> None:
        self._last = event
        if isinstance(event, TurnStarted):
            self._n_prompt = event.n_prompt

    def load(self) -> None:
        self.client.request(LoadPair(ModelParams("target"), states=self._storage))
        assert isinstance(self._last, PairLoaded)

    def ask(
        self, prompt: Prompt | None, reply: str = "ok", owner: StateOwner | None = CHAT
    ) -> TurnStats:
        self.reply = reply
        prompt = prompt or chat("Something else")
        command = StartTurn(prompt, strategy=strategy("off"), max_tokens=1000, owner=owner, seed=1)
        self.client.request(command)
        assert isinstance(self._last, TurnFinished), self._last
        return self._last.stats

    def drop(self, *owners: str) -> None:
        self.client.request(DropStates(owners))


def chat(*texts: str, system: str = "", tools: Sequence[str] = (), **options: object) -> Chat:
    roles = ("user", "assistant")
    said = [ChatMessage.of_text(roles[i % 2], text) for i, text in enumerate(texts)]  # type: ignore[arg-type]
    if system:
        said.insert(0, ChatMessage.of_text("system", system))
    use = ToolUse(tuple(Tool(name, f"{name} {LONG}") for name in tools), "none") if tools else None
    return Chat(tuple(said), tools=use, **options)  # type: ignore[arg-type]


class Case(NamedTuple):
    """Two prompts, and what is said of the second one."""

    before: Prompt
    now: Prompt
    words: str
    reply: str = "ok"


def system(line: str) -> str:
    return f"Be brief.\nBe kind.\n{line}\n{LONG}"


CASES = {
    "line": Case(
        chat("Hi", system=system("x-billing: v=1.0; cch=1a2b; end")),
        chat("Hi", "ok", "Go on", system=system("x-billing: v=1.0; cch=9f8e7; end")),
        "{n:,} tokens were read again, since line 3 of the system prompt changed: “cch=1a2b;” to "
        "“cch=9f8e7;”.",
    ),
    "a line more": Case(
        chat(LONG, system="Be brief."),
        chat(LONG, system="Be brief.\nIt is Friday."),
        "{n:,} tokens were read again, since line 2 of the system prompt changed: “” to “It is "
        "Friday.”.",
    ),
    "a long line": Case(
        chat(LONG, system="a" * 90),
        chat(LONG, system="b" * 90),
        f"{{n:,}} tokens were read again, since line 1 of the system prompt changed: “{'a' * 39}…” "
        f"to “{'b' * 39}…”.",
    ),
    "message": Case(
        chat("Look at a.py", "ok", LONG),
        chat("Look at b.py", "ok", LONG),
        "{n:,} tokens were read again, since message 1 changed: “a.py” to “b.py”.",
    ),
    "a message more": Case(
        chat("Hi", "Hello", LONG),
        chat("Ho", "Hello", "Hi", "Hello", LONG),
        "{n:,} tokens were read again, since message 1 was put before others.",
    ),
    "left out": Case(
        chat("Hi", "Hello", LONG, "Yes", LONGER),
        chat(LONG, "Yes", LONGER),
        "{n:,} tokens were read again, since earlier messages were left out.",
    ),
    "a tool more": Case(
        chat("Hi", tools=["zip"]),
        chat("Hi", tools=["find", "zip"]),
        "{n:,} tokens were read again, since the tool “find” was added.",
    ),
    "a tool less": Case(
        chat("Hi", tools=["find", "zip"]),
        chat("Hi", tools=["zip"]),
        "{n:,} tokens were read again, since the tool “find” was removed.",
    ),
    "another tool": Case(
        Chat(chat("Hi").messages, tools=ToolUse((Tool("find", "old"), Tool("zip", LONG)), "none")),
        Chat(chat("Hi").messages, tools=ToolUse((Tool("find", "new"), Tool("zip", LONG)), "none")),
        "{n:,} tokens were read again, since the tool “find” changed.",
    ),
    "other tools": Case(
        chat("Hi", tools=["find", "zip"]),
        chat("Hi", tools=["list", "zip"]),
        "{n:,} tokens were read again, since 2 tools were added, removed or changed.",
    ),
    "tools in another order": Case(
        chat("Hi", tools=["find", "zip"]),
        chat("Hi", tools=["zip", "find"]),
        "{n:,} tokens were read again, since the order of the tools changed.",
    ),
    "reasoning": Case(
        chat("Hi"),
        chat("Hi", LONG, "Go on"),
        "{n:,} tokens were read again, since the reasoning of an earlier reply is left out.",
        reply=REASONED,
    ),
    "a reply of another program": Case(
        chat("Hi"),
        chat("Hi", f"Better {LONG}", "Go on"),
        "{n:,} tokens were read again, since an earlier reply changed: “Good” to “Better”.",
        reply=f"Good {LONG}",
    ),
    "another template": Case(
        chat("Hi", LONG),
        chat("Hi", LONG, prompting=Prompting(template="> {% for m in messages %}{{ m.content }}"
                                             "<end>{% endfor %}")),
        "{n:,} tokens were read again, since another chat template was chosen.",
    ),
    "a template that looks ahead": Case(
        chat(LONG, prompting=LOOKING_AHEAD),
        chat(LONG, "ok", "Go on", prompting=LOOKING_AHEAD),
        "{n:,} tokens were read again, since the chat template writes an earlier part in another "
        "way: “short us” to “long use”.",
    ),
    "text": Case(
        RawText(f"One\nTwo\n{LONG}"),
        RawText(f"One\n2\n{LONG}"),
        "{n:,} tokens were read again, since line 2 of the prompt changed: “Two” to “2”.",
    ),
    "tokens": Case(
        Tokens(tuple(f"One {LONG}".encode())),
        Tokens(tuple(f"Two {LONG}".encode())),
        "{n:,} tokens were read again, since the prompt changed: “One” to “Two”.",
    ),
}  # fmt: skip


def explained(stats: TurnStats) -> Reread:
    assert stats.reread is not None
    assert isinstance(stats.reread.words, Sentence)
    assert 0 < stats.reread.n_tokens <= stats.n_prompt - stats.n_reused
    return stats.reread


@pytest.mark.parametrize("name", CASES)
def test_the_first_difference_is_reported_in_words(name: str) -> None:
    case = CASES[name]
    engine = Engine()
    assert engine.ask(case.before, case.reply).reread is None
    found = explained(engine.ask(case.now))
    assert found.words == case.words.format(n=found.n_tokens)


def test_what_is_counted_is_what_was_there_before() -> None:
    engine = Engine()
    engine.ask(chat("Hi", system=system("at 10:31")))
    stats = engine.ask(chat("Hi", system=system("at 10:32")))
    rest = f"\n{LONG}<end>\nuser: Hi<end>\n"
    n_ends = 2 * (len("<end>") - 1)
    assert explained(stats).n_tokens == len(rest) - n_ends
    assert stats.n_reused == len("system: Be brief.\nBe kind.\nat 10:3")


def test_old_messages_that_leave_are_reported() -> None:
    engine = Engine(n_ctx=2048)
    texts = [f"{i} {LONG}" for i in range(4)]
    engine.ask(chat(*texts[:3], cuts=True), max_reply := "ok")
    stats = engine.ask(chat(*texts[:3], max_reply, LONGER, cuts=True))
    assert explained(stats).words.endswith("since old messages were left out, as the context was "
                                           "full.")  # fmt: skip
    assert explained(stats).code == "left"


@pytest.mark.parametrize(
    ("storage", "why"),
    [
        (None, "nothing is kept"),
        (NONE, "nothing is kept"),
        (StateStorage(memory_bytes=100), "there was no room to keep this"),
    ],
)
def test_a_state_that_was_not_kept_is_reported(storage: StateStorage | None, why: str) -> None:
    engine = Engine(storage)
    engine.ask(chat(LONG))
    engine.ask(chat("Something else"), owner=OTHER)
    stats = engine.ask(chat(LONG, "ok", "Go on"))
    found = explained(stats)
    assert found.code == "used"
    assert found.words == (
        f"{found.n_tokens:,} tokens were read again, since the model read something else "
        f"meanwhile, and {why}."
    )
    assert found.n_tokens + stats.n_reused == len(f"user: {LONG}\0\n")


def test_nothing_is_said_where_all_was_reused() -> None:
    engine = Engine()
    engine.ask(chat(LONG))
    engine.ask(chat("Something else"), owner=OTHER)
    assert engine.ask(chat(LONG, "ok", "Go on")).reread is None  # it was kept
    assert engine.ask(chat(LONGER), owner=OTHER).reread is None  # new text is not read again


def test_models_that_were_loaded_anew_are_reported() -> None:
    engine = Engine()
    engine.ask(chat(LONG))
    engine.load()
    found = explained(engine.ask(chat(LONG, "ok", "Go on")))
    assert (found.code, found.words) == (
        "loaded",
        f"{found.n_tokens:,} tokens were read again, since the models were loaded anew.",
    )


def test_a_memory_that_cannot_be_cut_is_reported() -> None:
    engine = Engine(can_rollback=False, n_block=0)
    engine.ask(chat(LONG))
    found = explained(engine.ask(chat(f"{LONG} or not")))
    assert (found.code, found.words) == (
        "whole",
        f"{found.n_tokens:,} tokens were read again, since this model's memory cannot be cut, and "
        "goes back to a few places alone.",
    )


def test_the_prompt_that_is_most_alike_is_compared_with() -> None:
    engine = Engine()
    engine.ask(chat(LONG, system=system("at 10:31")))
    engine.ask(chat("Title?", system="Write titles."))
    found = explained(engine.ask(chat(LONG, "ok", "Go on", system=system("at 10:32"))))
    assert "“10:31” to “10:32”" in found.words


def test_a_shorter_prompt_takes_no_longer_ones_place() -> None:
    engine = Engine(None)
    engine.ask(chat("Look at a.py", "ok", LONG, "ok", LONGER))
    engine.ask(chat(LONG, "ok", LONGER))
    found = explained(engine.ask(chat("Look at b.py", "ok", LONG, "ok", LONGER)))
    assert "message 1 changed: “a.py” to “b.py”" in found.words


# ------------------------------------------------------------------------------- whose text it is


@pytest.mark.parametrize("first", [CHAT, PRIVATE, StateOwner("programs", asker="one")])
@pytest.mark.parametrize("second", [OTHER, PRIVATE, StateOwner("programs", asker="two")])
def test_no_client_learns_what_another_one_has_sent(first: StateOwner, second: StateOwner) -> None:
    engine = Engine()
    engine.ask(chat(LONG, system=system("secret word")), owner=first)
    stats = engine.ask(chat(LONG, system=system("other")), owner=second)
    assert (stats.reread is None) == (first != second)


def test_what_is_forgotten_is_quoted_no_more() -> None:
    engine = Engine()
    for owner in (CHAT, OTHER):
        engine.ask(chat(LONG, system=system("secret word")), owner=owner)
    engine.drop(CHAT.name)
    assert engine.ask(chat(LONG, system=system("word"))).reread is None
    assert "secret" in explained(engine.ask(chat(LONG, system=system("new")), owner=OTHER)).words
    engine.drop()
    assert engine.ask(chat(LONG, system=system("more")), owner=OTHER).reread is None


def test_what_is_forgotten_while_it_is_answered_is_quoted_no_more() -> None:
    engine = Engine()
    hear, n = engine.client.on_event, count()

    def drop(event: Event) -> None:
        hear(event)
        if isinstance(event, TurnStarted) and not next(n):
            engine.client.request(DropStates((CHAT.name,)))

    engine.client.on_event = drop
    engine.ask(chat(LONG, system=system("secret word")))
    assert engine.ask(chat(LONG, system=system("word"))).reread is None


def test_without_an_owner_nothing_is_held() -> None:
    engine = Engine()
    for line in ("one", "two"):
        assert engine.ask(chat(LONG, system=system(line)), owner=None).reread is None


# ---------------------------------------------------------------------------------------- counts

words = st.sampled_from(["Hi", "Yes", LONG, LONGER, f"{LONG}!", "ok"])
texts = st.lists(words, min_size=1, max_size=4)
prompts = st.builds(
    lambda said, line, tools: chat(*said, system=line, tools=tools),
    texts,
    st.sampled_from(["", system("one"), system("two"), LONGER]),
    st.lists(st.sampled_from(["find", "zip"]), unique=True),
)


@given(st.lists(st.tuples(prompts, st.sampled_from([CHAT, OTHER, None])), max_size=6), st.data())
def test_counts_are_true(asked: list[tuple[Chat, StateOwner | None]], data: st.DataObject) -> None:
    storage = data.draw(st.sampled_from([None, NONE, ROOM, StateStorage(memory_bytes=3000)]))
    engine = Engine(storage, n_block=data.draw(st.sampled_from([0, 16])))
    read: dict[str, int] = {}
    for prompt, owner in asked:
        n_decoded = sum(engine.model.widths)
        stats = engine.ask(prompt, owner=owner)
        n_read = sum(engine.model.widths) - n_decoded - (stats.n_generated - 1)
        assert stats.n_reused + n_read == stats.n_prompt
        if stats.reread is not None:
            assert owner is not None
            assert 64 <= stats.reread.n_tokens <= min(n_read, read[owner.name])
        if owner is not None:
            read[owner.name] = read.get(owner.name, 0) + stats.n_prompt + stats.n_generated

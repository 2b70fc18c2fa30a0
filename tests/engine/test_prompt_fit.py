"""Messages that are left out of a prompt that is too long, on scripted models and templates."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench import Bench
from fake_model import ByteVocabulary, FakeModel, scripted
from paceline.content import Tool
from paceline.engine.prompt.formats import CHATML
from paceline.engine.prompt.size import (
    FAR_RATIO,
    Cutter,
    PromptSizes,
    at_most,
    encode_fitting,
    room_for_reply,
    without_oldest,
)
from paceline.engine.prompt.template import ChatTemplate
from paceline.errors import EngineError
from paceline.messages import (
    Chat,
    ChatMessage,
    CountTokens,
    TokensCounted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from turns import turn_of

PLAIN = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}<end>\n{% endfor %}"
THINKING = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'].split('</think>')[-1] }}<end>\n"
    "{% endfor %}assistant: "
)
STRICT = (
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{{ m['content'] }}<end>{% endfor %}"
)
TEMPLATES = {"plain": PLAIN, "chatml": CHATML.source, "thinking": THINKING}


def template(source: str = PLAIN) -> ChatTemplate:
    return ChatTemplate(source, ByteVocabulary())


def chat(n: int, seed: int = 1, longest: int = 60, system: str = "") -> list[ChatMessage]:
    """`n` messages that begin with a question; replies think before they speak."""
    rng = random.Random(seed)
    messages = [ChatMessage.of_text("system", system)] if system else []
    for i in range(n):
        text = f"{i} " + "x" * rng.randrange(longest)
        thought = "<think>" + "y" * rng.randrange(longest) + "</think>"
        is_user = i % 2 == 0
        messages.append(
            ChatMessage.of_text(
                "user" if is_user else "assistant", text if is_user else thought + text
            )
        )
    return messages


def fit(
    messages: Sequence[ChatMessage], n_ctx: int, max_tokens: int = 50, source: str = PLAIN
) -> tuple[int, int]:
    """Return tokens and messages that are left out."""
    t = template(source)
    prompt = encode_fitting(PromptSizes(t), messages, n_ctx, max_tokens)
    assert prompt.tokens == t.encode(without_oldest(messages, prompt.n_cut))[0]
    assert bool(prompt.notes) == bool(prompt.n_cut)
    return len(prompt.tokens), prompt.n_cut


# Templates whose whole prompt is not the sum of its single messages.
LIARS = {
    "strips": "{% for m in messages %}{{ m['role'] }}: {{ m['content'].strip() }}\n{% endfor %}",
    "numbers": (
        "{% for m in messages %}{{ 'x' * (loop.index0 * 7 % 40) }}{{ m['content'] }}\n{% endfor %}"
    ),
    "ends": (
        "{% for m in messages %}{{ 'y' * 60 if loop.last else '' }}{{ m['content'] }}\n{% endfor %}"
    ),
    "doubles": "{% for m in messages %}{{ m['content'] }}{{ m['content'] }}\n{% endfor %}",
}


@st.composite
def conversations(draw: st.DrawFn) -> list[ChatMessage]:
    """Chats of any form, with blanks around what is said, and questions in a row."""
    longest = draw(st.sampled_from([10, 60, 300]))
    text = st.builds(
        lambda blanks, n: " " * blanks + "q" * n, st.integers(0, 20), st.integers(1, longest)
    )
    system = [ChatMessage.of_text("system", draw(text))] if draw(st.booleans()) else []
    n = draw(st.integers(1, 30))
    is_user = st.lists(st.integers(0, 9), min_size=n, max_size=n)
    roles = [("user", "assistant")[(i + (odd == 0)) % 2] for i, odd in enumerate(draw(is_user))]
    return [*system, *(ChatMessage.of_text(role, draw(text)) for role in roles)]


@given(
    name=st.sampled_from([*TEMPLATES, *LIARS]),
    messages=conversations(),
    n_ctx=st.sampled_from([250, 600]),
    max_tokens=st.sampled_from([10, 500]),
)
def test_a_chat_that_continues_always_fits_and_a_cut_never_comes_back(
    name: str, messages: list[ChatMessage], n_ctx: int, max_tokens: int
) -> None:
    t = template((TEMPLATES | LIARS)[name])
    sizes = PromptSizes(t)
    limit = n_ctx - room_for_reply(n_ctx, max_tokens)
    before = 0
    for end, last in enumerate(messages, 1):
        if last.role != "user":
            continue
        asked = messages[:end]
        prompt = encode_fitting(sizes, asked, n_ctx, max_tokens)
        kept = without_oldest(asked, prompt.n_cut)
        assert prompt.tokens == t.encode(kept)[0]
        assert kept[-1] is last
        assert [m for m in kept if m.role == "system"] == [m for m in asked if m.role == "system"]
        assert prompt.n_cut >= before
        before = prompt.n_cut
        if prompt.n_cut:
            assert next(m for m in kept if m.role != "system").role == "user"
            assert len(t.encode(asked)[0]) > limit or sizes.total(asked) > FAR_RATIO * limit
        if len(prompt.tokens) > limit:  # then nothing is left but the question
            assert [m for m in kept if m.role != "system"] == [last]
        # An engine that has seen nothing of it says the same, before the turn and in it.
        assert encode_fitting(PromptSizes(t), asked, n_ctx, max_tokens) == prompt
        if before and name not in LIARS:
            counted = Cutter(asked, sizes, limit).n_cut(lambda kept: sizes.count(kept, limit))
            assert counted == prompt.n_cut


def test_a_chat_is_cut_where_thirty_percent_more_are_gone() -> None:
    """Against the rule said plainly: try one place after the other from the beginning on."""
    t, n_ctx = template(), 1000
    cuts = []
    for n in range(1, 90, 2):
        messages = chat(n, 1, 40, system="Be brief.")
        limit = n_ctx - room_for_reply(n_ctx, 100)
        spoken, rest = messages[1:], len(t.encode(messages)[0])
        n_cut = n_gone = 0
        for k in range(2, len(spoken), 2):
            if rest <= limit:
                break
            n_gone += sum(len(t.encode([m])[0]) for m in spoken[k - 2 : k])
            if n_gone >= 0.3 * limit:
                n_cut, n_gone = k, 0
                rest = len(t.encode([messages[0], *spoken[k:]])[0])
        assert fit(messages, n_ctx, 100)[1] == n_cut
        cuts.append(n_cut)
    n_long = sum(n_cut > 0 for n_cut in cuts)
    assert 3 <= len(set(cuts)) - 1 <= n_long / 3  # most replies go on from where the last one cut


def test_the_reply_gets_no_more_than_a_quarter() -> None:
    assert room_for_reply(1000, 100) == 100
    assert room_for_reply(1000, 10**6) == 250
    messages = chat(9)
    whole = len(template().encode(messages)[0])
    assert fit(messages, whole * 4 // 3 + 4, max_tokens=10**6)[1] == 0


def test_a_chat_without_a_question_is_left_alone() -> None:
    messages = [ChatMessage.of_text("assistant", "x" * 500) for _ in range(4)]
    assert fit(messages, 1000)[1] == 0


def test_what_is_many_times_too_long_is_never_rendered_as_a_whole() -> None:
    rendered: list[int] = []

    class Watched(ChatTemplate):
        def encode(
            self, messages: Sequence[ChatMessage], tools: Sequence[Tool] = ()
        ) -> tuple[list[int], tuple[str, ...]]:
            rendered.append(len(messages))
            return super().encode(messages, tools)

    sizes, messages = PromptSizes(Watched(PLAIN, ByteVocabulary())), chat(2001, 1, 10)
    for more in ((), (*chat(2), *chat(1))):
        rendered.clear()
        prompt = encode_fitting(sizes, [*messages, *more], 1000, 100)
        assert prompt.n_cut > 1900
        assert max(rendered) < 100
    assert sum(rendered) < 300, "what was there before is not rendered again"


# ----------------------------------------------------------------------------------- the sizes


@pytest.mark.parametrize("source", TEMPLATES.values(), ids=TEMPLATES)
def test_sizes_add_up_to_the_prompt_but_for_its_fixed_parts(source: str) -> None:
    t = template(source)
    sizes = PromptSizes(t)
    for n in (1, 2, 7, 20):
        messages = chat(n, n)
        n_tokens = len(t.encode(messages)[0])
        assert n_tokens - 3 * n <= sizes.total(messages) <= n_tokens + 3 * n
        assert sum(at_most(sizes.of_messages(messages), n_tokens)) <= n_tokens
        assert sizes.count(messages, 10**9) == n_tokens


def test_while_the_last_message_changes_nothing_is_rendered() -> None:
    n_rendered = 0

    class Watched(ChatTemplate):
        def encode(
            self, messages: Sequence[ChatMessage], tools: Sequence[Tool] = ()
        ) -> tuple[list[int], tuple[str, ...]]:
            nonlocal n_rendered
            n_rendered += 1
            return super().encode(messages, tools)

    t = Watched(PLAIN, ByteVocabulary())
    sizes = PromptSizes(t)
    before = chat(20)
    sizes.count([*before, ChatMessage.of_text("user", "a")], 10**6)
    n_first = n_rendered
    for n in range(2, 30):
        messages = [*before, ChatMessage.of_text("user", "a" * n)]
        assert sizes.count(messages, 10**6) == len(ChatTemplate.encode(t, messages)[0])
    assert n_rendered == n_first
    limit = sizes.count([*before, ChatMessage.of_text("user", "a" * 30)], 10**6)
    sizes.count([*before, ChatMessage.of_text("user", "a" * 31)], limit)
    assert n_rendered == n_first + 1  # so near to a limit a sum is not enough


class CountingVocabulary(ByteVocabulary):
    """Counts the texts that it cuts into tokens."""

    n_cut = 0

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        self.n_cut += 1
        return super().tokenize(text, special=special)


def test_sizes_of_texts_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paceline.engine.prompt.size._MAX_CACHED_CHARS", 1000)
    vocab = CountingVocabulary()
    sizes, texts = PromptSizes(ChatTemplate(PLAIN, vocab)), [f"{i:03}" * 33 for i in range(50)]
    assert [sizes.of_text(text) for text in texts] == [99] * 50
    n_before = vocab.n_cut
    for text in texts[-9:]:
        sizes.of_text(text)
    assert vocab.n_cut == n_before
    sizes.of_text(texts[0])
    assert vocab.n_cut == n_before + 1


def test_a_template_that_refuses_three_short_messages_still_has_sizes() -> None:
    t = template("{{ raise_exception('never') }}")
    sizes = PromptSizes(t)
    assert sizes.total(chat(5)) > 0
    with pytest.raises(EngineError):
        sizes.count(chat(1), 10**6)


@pytest.mark.parametrize(
    ("sizes", "most", "left"),
    [((3, 4), 7, (3, 4)), ((3, 9), 7, (3, 4)), ((5, 5, 5), 2, (0, 0, 2)), ((), 0, ())],
)
def test_an_excess_is_taken_from_the_largest(
    sizes: tuple[int, ...], most: int, left: tuple[int, ...]
) -> None:
    taken = at_most(sizes, most)
    assert sum(taken) == sum(left)
    assert all(0 <= a <= b for a, b in zip(taken, sizes, strict=True))


# ---------------------------------------------------------------------------- by the engine


class Desk:
    """An engine whose model has a context of 1000 bytes."""

    def __init__(self, source: str = PLAIN) -> None:
        model = FakeModel(scripted("Fine.", 0), n_ctx=1000)
        model.template = source
        self.bench = Bench(target=model)
        self.bench.load()

    def count(self, messages: Sequence[ChatMessage], **options: object) -> TokensCounted:
        turn = turn_of(messages=tuple(messages), **{"max_tokens": 100, "cuts": True} | options)
        self.bench.client.request(CountTokens(turn.prompt, turn.max_tokens))
        last = self.bench.events[-1]
        assert isinstance(last, TokensCounted)
        return last

    def ask(self, messages: Sequence[ChatMessage], **options: object) -> TurnStarted | TurnFailed:
        self.bench.events.clear()
        options = {"max_tokens": 100, "cuts": True} | options
        last = self.bench.ask(messages=tuple(messages), **options)
        first = self.bench.events[0]
        assert isinstance(last, TurnFinished if isinstance(first, TurnStarted) else TurnFailed)
        assert isinstance(first, (TurnStarted, TurnFailed))
        return first


@pytest.mark.parametrize("source", TEMPLATES.values(), ids=TEMPLATES)
def test_a_question_tells_what_the_turn_then_has(source: str) -> None:
    desk = Desk(source)
    for n in range(1, 60, 2):
        messages = chat(n, n % 3, system="Be brief.")
        counted = desk.count(messages)
        started = desk.ask(messages)
        assert isinstance(started, TurnStarted)
        assert counted.n_cut == started.n_cut
        assert counted.n_ctx == 1000
        assert len(counted.per_message) == len(messages)
        assert sum(counted.per_message) <= counted.n_tokens
        if not counted.n_cut:
            assert counted.n_tokens == started.n_prompt


def test_a_cut_is_reported_in_words_and_the_next_turn_reuses_the_prompt() -> None:
    desk = Desk()
    reused = []
    for n in range(1, 60, 2):
        started = desk.ask(chat(n))
        assert isinstance(started, TurnStarted)
        if started.n_cut:
            words = f"The oldest {started.n_cut} messages were left out"
            assert any(note.startswith(words) for note in started.notes)
            reused.append(started.n_reused / started.n_prompt > 0.5)
        else:
            assert not started.notes
    assert sum(reused) > len(reused) / 2


def test_without_permission_nothing_is_cut() -> None:
    desk = Desk()
    failed = desk.ask(chat(61), cuts=False)
    assert isinstance(failed, TurnFailed)
    assert failed.code == "prompt-too-long"
    counted = desk.count(chat(61), cuts=False)
    assert counted.n_cut == 0
    assert counted.n_tokens > 1000


def test_a_question_that_no_cut_helps_is_refused() -> None:
    failed = Desk().ask([*chat(6), ChatMessage.of_text("user", "z" * 2000)])
    assert isinstance(failed, TurnFailed)
    assert failed.code == "prompt-too-long"


def test_without_a_model_there_is_no_number() -> None:
    bench = Bench()
    bench.client.request(CountTokens(Chat(tuple(chat(3)))))
    assert bench.events == [TokensCounted(-1, 0)]


@pytest.mark.parametrize(
    "messages",
    [(), (ChatMessage.of_text("user", "  "),), (ChatMessage.of_text("tool", "x"),), tuple(chat(2))],
    ids=["nothing", "blanks", "role", "refused"],
)
def test_what_cannot_be_asked_has_no_number(messages: tuple[ChatMessage, ...]) -> None:
    desk = Desk("{{ raise_exception('never') }}")
    assert desk.count(messages) == TokensCounted(-1, 1000)


def test_a_strict_template_is_cut_at_questions_alone() -> None:
    desk = Desk(STRICT)
    for n in range(1, 80, 2):
        assert isinstance(desk.ask(chat(n)), TurnStarted)


def test_a_question_in_mid_reply_waits_for_its_end() -> None:
    desk = Desk()
    asked: list[Callable[[], None]] = []

    def ask_once(event: object) -> None:
        if isinstance(event, TurnStarted) and not asked:
            asked.append(lambda: None)
            desk.bench.client.request(CountTokens(Chat(tuple(chat(3)))))

    desk.bench.on_event = ask_once
    desk.bench.events.clear()
    desk.bench.ask()
    kinds = [type(event) for event in desk.bench.events]
    assert kinds[-2:] == [TurnFinished, TokensCounted]

"""Replies of models whose template has marks of reasoning: going on, stop texts, learned marks."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Sequence
from typing import ClassVar

import pytest

import real_templates
from engine.bench import Bench
from fake_model import EOG, ByteVocabulary, FakeModel, scripted
from paceline.chat.reasoning import answer_of, reasoning_of
from paceline.engine.prompt.learned_marks import as_texts
from paceline.engine.prompt.template import ChatTemplate
from paceline.errors import EngineError
from paceline.messages import (
    Chat,
    ChatMessage,
    Prompting,
    PromptRendered,
    RenderPrompt,
    TurnFinished,
    TurnStarted,
)

HI = (ChatMessage.of_text("user", "hi"),)
TURN = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
OPENS = TURN + "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n"
OPENS += "{% else %}<think>\n{% endif %}"
ALWAYS_OPENS = TURN + "{{ '<think>\n' }}"
UNLISTED = """\
{% for m in messages %}{{ m.role }}:
{%- if m.reasoning_content %}[[ponder]]{{ m.reasoning_content }}[[/ponder]]{% endif %}
{{- m.content }}
{% endfor %}assistant:"""
OPENED_UNLISTED = UNLISTED + "[[ponder]]"
TOKENS = """\
{% for m in messages %}
{% if m.reasoning_content %}<a> to=self<m>{{ m.reasoning_content }}<e>{% endif %}
{% if m.role == 'user' %}<u>{% else %}<a> to=user<m>{% endif %}{{ m.content }}<end>
{%- endfor %}<a>"""
"""Marks of control tokens and text, and one before every answer, as those of Muse Glimmer."""


class ControlVocabulary(ByteVocabulary):
    """Bytes, and control tokens that a reply does not show."""

    names: ClassVar = {300: "<a>", 301: "<m>", 302: "<e>", 303: "<u>", EOG: "<end>"}
    n_tokens = 304

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Read the bytes, and the names of control tokens as these."""
        if not special:
            return list(text.encode())
        tokens: list[int] = []
        while text:
            token, name = next(
                ((t, n) for t, n in self.names.items() if text.startswith(n)), (-1, text[0])
            )
            tokens += [token] if token >= 0 else name.encode()
            text = text[len(name) :]
        return tokens

    def piece(self, token: int) -> bytes:
        """Return the byte; nothing for control tokens."""
        return bytes([token]) if token < EOG else b""

    def text(self, token: int) -> bytes:
        """Return the byte or the name."""
        return bytes([token]) if token < EOG else self.names[token].encode()


def bench_of(template: str, tokens: Sequence[int], n_prompt: int) -> tuple[Bench, FakeModel]:
    """An engine whose model writes these tokens after a prompt of this length, then ends."""
    data = [*tokens, EOG]

    def logits(seen: Sequence[int]):  # type: ignore[no-untyped-def]
        row = scripted("", 0)(seen)
        row.resize(304, refcheck=False)
        row[:] = 0
        row[data[min(max(len(seen) - n_prompt, 0), len(data) - 1)]] = 20.0
        return row

    model = FakeModel(logits)
    model.vocab, model.template = ControlVocabulary(), template
    bench = Bench(target=model)
    bench.load()
    return bench, model


def prompt_of(template: str, think: str = "") -> list[int]:
    return ChatTemplate(template, ControlVocabulary(), think).encode(HI)[0]


def reply(bench: Bench, **options: object) -> tuple[TurnFinished, str]:
    """Return the end of a turn and the text that streamed."""
    bench.events.clear()
    finished = bench.finish(messages=HI, **options)
    steps = bench.steps
    return finished, "".join(step.text for step in steps)


def written(template: str, text: str, **options: object) -> tuple[TurnFinished, str]:
    """A reply in which the model writes a text, control tokens by their names."""
    tokens = ControlVocabulary().tokenize(text, special=True)
    bench, _ = bench_of(template, tokens, len(prompt_of(template)))
    return reply(bench, **options)


# ------------------------------------------------------------------------------- going on


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        (OPENS, "user: hi\nassistant:<think>\n\n</think>\n\n"),
        (ALWAYS_OPENS, "user: hi\nassistant:<think>\n\n</think>\n\n"),
        (OPENED_UNLISTED, "user:hi\nassistant:[[ponder]][[/ponder]]"),
    ],
)
def test_an_answer_continues_as_an_answer(template: str, prompt: str) -> None:
    """The reasoning that the prompt opens is closed before it."""
    begun = "Hello wor"
    n_prompt = len(prompt.encode()) + len(begun)
    bench, model = bench_of(template, b"ld!", n_prompt)
    finished, stream = reply(bench, begun_text=begun)
    assert bytes(model.tokens).decode() == f"{prompt}{begun}ld!"
    assert (begun + stream, finished.text) == ("Hello world!",) * 2
    assert answer_of(finished.text) == "Hello world!"
    assert [e.opening for e in bench.events if isinstance(e, TurnStarted)] == [""]
    again, stream = reply(bench, begun=finished.tokens, begun_text=finished.text, max_tokens=1)
    assert again.text == finished.text + stream


@pytest.mark.parametrize(
    ("begun", "context"),
    [
        ("<think>\n", "<think>\n"),
        ("<think>", "<think>\n"),
        ("<think>\nHm", "<think>\nHm"),
        ("<think>Hm", "<think>\nHm"),
        ("\n<think>\nHm.\n</think>\n\nHello wor", "<think>\n\nHm.\n</think>\n\nHello wor"),
        ("<think>\nHm.\n</think>\n\nHello wor", "<think>\nHm.\n</think>\n\nHello wor"),
    ],
)
def test_a_reasoning_continues_as_a_reasoning(begun: str, context: str) -> None:
    context = f"user: hi\nassistant:{context}"
    bench, model = bench_of(OPENS, b"ld!", len(context.encode()))
    finished, stream = reply(bench, begun_text=begun)
    assert bytes(model.tokens).decode() == f"{context}ld!"
    assert finished.text == begun + stream == f"{begun}ld!"


def test_learned_marks_are_those_of_the_model_again() -> None:
    begun = "<think>\nHm.</think>Hello wor"
    context = "user:hi\nassistant:[[ponder]]\nHm.[[/ponder]]Hello wor"
    for template in (UNLISTED, OPENED_UNLISTED):
        bench, model = bench_of(template, b"ld!", len(context.encode()) - (template != UNLISTED))
        finished, stream = reply(bench, begun_text=begun)
        expected = context if template == UNLISTED else context.replace("]]\n", "]]")
        assert bytes(model.tokens).decode() == f"{expected}ld!"
        assert finished.text == begun + stream == f"{begun}ld!"


def test_a_reply_that_was_cut_within_its_reasoning_continues_there() -> None:
    for template, text in (
        (OPENS, "Hm.\n</think>\n\nYes."),
        (UNLISTED, "[[ponder]]Hm.[[/ponder]]Y"),
    ):
        whole, _ = written(template, text)
        for cut in range(1, len(text)):
            tokens = ControlVocabulary().tokenize(text, special=True)
            bench, _ = bench_of(template, tokens, len(prompt_of(template)))
            first, stream = reply(bench, max_tokens=cut)
            assert first.text == stream
            second, rest = reply(bench, begun=first.tokens, begun_text=first.text)
            assert second.text == whole.text == stream + rest


PIECES = (
    *("<think>", "</think>", "[[ponder]]", "[[/ponder]]", "[THINK]", "[/THINK]", "<answer>"),
    *("<|channel|>analysis<|message|>", "<|end|>", "<|start|>assistant<|channel|>final<|message|>"),
    *("<a> to=self<m>", "<e><a> to=user<m>", "<m>", "<e>", "[[", "<", "```", "🎉", "€"),
    *("\n", "\n\n", " ", ". ", "So", "hm", "x"),
)
ALL = (TURN, OPENS, ALWAYS_OPENS, UNLISTED, OPENED_UNLISTED, TOKENS)


def test_what_streams_is_stored_wherever_a_reply_is_cut(trials: Callable[..., range]) -> None:
    for seed in trials(60, 3000):
        rng = random.Random(seed)
        template = rng.choice(ALL)
        text = "".join(rng.choices(PIECES, k=rng.randint(1, 12)))
        tokens = ControlVocabulary().tokenize(text, special=True)
        stop = tuple({rng.choice(PIECES) for _ in range(rng.choice([0, 0, 1, 2]))})
        bench, _ = bench_of(template, tokens, len(prompt_of(template)))
        whole, stream = reply(bench, stop=stop, max_tokens=300)
        assert whole.text == stream
        first, stream = reply(bench, stop=stop, max_tokens=rng.randint(1, len(tokens) + 1))
        assert first.text == stream
        if first.reason != "length" or not first.text:
            continue
        begun = {"begun": first.tokens, "begun_text": first.text}
        rest, stream = reply(bench, stop=stop, max_tokens=300, **begun)
        assert rest.text == first.text + stream
        assert stop or rest.text == whole.text


# ---------------------------------------------------------------------------- stop texts


@pytest.mark.parametrize("stop", ["Question:", "9.8", "\n", "e"])
def test_a_stop_text_counts_from_the_end_of_the_reasoning(stop: str) -> None:
    reasoning = "See 9.8\nQuestion: which?\n"
    template = TURN + "[THINK]"
    finished, stream = written(
        template, f"{reasoning}[/THINK]Yo{stop}more", stop=(stop,), max_tokens=99
    )
    assert finished.reason == "stop"
    assert finished.text == stream == f"[THINK]{reasoning}[/THINK]Yo"
    text = f"[[ponder]]{reasoning}[[/ponder]]Yo{stop}more"
    finished, _ = written(UNLISTED, text, stop=(stop,), max_tokens=99)
    assert finished.text == f"<think>{reasoning}</think>Yo"


# -------------------------------------------------------------------------- learned marks


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (UNLISTED, "[[ponder]]hm[[/ponder]]So."),
        (OPENED_UNLISTED, "hm[[/ponder]]So."),
        (TOKENS, " to=self<m>hm<e><a> to=user<m>So."),
        (UNLISTED.replace("[[", "◁").replace("]]", "▷"), "◁ponder▷hm◁/ponder▷So."),
        (
            UNLISTED.replace("[[ponder]]", "Thoughts: ").replace("[[/ponder]]", " Reply: "),
            "Thoughts: hm Reply: So.",
        ),
    ],
)
def test_marks_that_are_in_no_list_are_learned_from_the_template(template: str, text: str) -> None:
    finished, stream = written(template, text)
    assert finished.text == stream
    assert reasoning_of(finished.text) == "hm"
    assert answer_of(finished.text) == "So."
    assert "<think>" in finished.text


@pytest.mark.parametrize("text", ["So. [[ponder]] is a mark.", "[[pond", "[", "So [[/ponder]]."])
def test_what_only_looks_like_a_learned_mark_stays(text: str) -> None:
    finished, stream = written(UNLISTED, text)
    assert finished.text == stream == text


@pytest.mark.parametrize(
    ("opening", "closing", "text"),
    [
        ("", ": ", "Here are three: a, b"),
        ("", "\n---\n", "A list\n---\nb"),
        ("***", "***", "***Note*** this"),
        ("#", "# End\n", "# A # End\nb"),
        ("", "\n\n", "A\n\nb"),
    ],
)
def test_what_stands_in_any_answer_is_no_mark(opening: str, closing: str, text: str) -> None:
    template = UNLISTED.replace("[[ponder]]", opening).replace("[[/ponder]]", closing)
    finished, stream = written(template, text)
    assert finished.text == stream == text


def test_a_frame_of_control_tokens_is_not_shown() -> None:
    finished, _ = written(TOKENS, " to=user<m>So.")
    assert finished.text == "So."
    finished, _ = written(TOKENS, "S<m>o.<e>")
    assert finished.text == "So.", "nor are control tokens that are no part of a mark"


def test_an_answer_continues_within_its_frame() -> None:
    context = ControlVocabulary().tokenize("<u>hi<end><a> to=user<m>Hello wor", special=True)
    bench, model = bench_of(TOKENS, b"ld", len(context))
    finished, stream = reply(bench, begun_text="Hello wor")
    assert model.tokens == [*context, *b"ld"]
    assert finished.text == f"Hello wor{stream}" == "Hello world"


@pytest.mark.parametrize("template", [TURN, OPENS, "{{ messages[0].content }}{{ reasoning }}"])
def test_where_nothing_is_to_be_learned_nothing_is(template: str) -> None:
    assert as_texts(ChatTemplate(template, ByteVocabulary()).marks, ByteVocabulary()) is None


@pytest.mark.parametrize(
    ("template", "knows"),
    [(TURN, False), (OPENS, True), (ALWAYS_OPENS, True), (UNLISTED, True)],
)
def test_the_engine_reports_whether_marks_are_known(template: str, knows: bool) -> None:
    bench, _ = bench_of(template, b"Yes.", len(prompt_of(template)))
    reply(bench)
    assert [e.knows_marks for e in bench.events if isinstance(e, TurnStarted)] == [knows]


# --------------------------------------------------------------- templates without question

LACKING = {
    "its end": "{% for m in messages %}{{ m.content[:20] }}\n{% endfor %}",
    "a name": "chatml",
    "a text": "Hello",
    "the question's word": "hi",
    "the replies alone": (
        "{% for m in messages if m.role == 'assistant' %}{{ m.content }}{% endfor %}"
    ),
    "the first message alone": "{{ messages[0].content }}",
}
LONG = (
    *HI,
    ChatMessage.of_text("assistant", "Hello"),
    ChatMessage.of_text("user", "What is a list?"),
)


@pytest.mark.parametrize("name", LACKING)
def test_a_template_that_leaves_the_question_out_gives_way_to_a_guess(name: str) -> None:
    bench, model = bench_of(LACKING[name], b"Yes.", 0)
    bench.events.clear()
    bench.finish(messages=LONG, max_tokens=1)
    started = bench.started
    assert started.notes == (
        "The chat template leaves the question out, so the template plain is used in its place, "
        "which is a guess.",
    )
    assert b"User: What is a list?" in bytes(t for t in model.tokens if t < EOG)
    bench.client.request(RenderPrompt(Chat(LONG)))
    shown = bench.events[-1]
    assert isinstance(shown, PromptRendered)
    assert shown.is_guessed


@pytest.mark.parametrize("name", LACKING)
def test_ones_own_template_without_the_question_is_refused(name: str) -> None:
    bench, _ = bench_of(TURN, b"Yes.", 0)
    failed = bench.fail(messages=LONG, prompting=Prompting(LACKING[name]))
    assert (failed.code, failed.message) == (
        "bad-template",
        "The chat template leaves the question out.",
    )
    bench.client.request(RenderPrompt(Chat(LONG, Prompting(LACKING[name]))))
    shown = bench.events[-1]
    assert isinstance(shown, PromptRendered)
    assert shown.problem == failed.message


@pytest.mark.parametrize(
    "source",
    [
        "{% for m in messages %}{{ m.content | upper }}{% endfor %}",
        "{% for m in messages %}{{ m.content | tojson }}{% endfor %}",
        "{% for m in messages %}{{ m.content | trim | replace('t', '7') }}{% endfor %}",
        "{% for m in messages[1:] %}{{ m.content }}{% endfor %}",
    ],
)
def test_a_template_that_rewrites_the_question_is_none_without_it(source: str) -> None:
    bench, _ = bench_of(source, b"Yes.", 0)
    asked = (
        ChatMessage.of_text("system", "Be brief."),
        ChatMessage.of_text("user", ' What "is" a\n\tlist? '),
    )
    bench.events.clear()
    bench.ask(messages=asked, max_tokens=1)
    started = bench.started
    assert started.notes == ()


GRANITE = """\
{% if messages[0].role == 'system' %}{{ messages[0].content }}{% set rest = messages[1:] %}
{% else %}{% if thinking %}Write your thoughts.{% endif %}{% set rest = messages %}{% endif %}
{% for m in rest %}{{ m.role }}: {{ m.content }}
{% endfor %}assistant:"""


def test_a_choice_that_a_system_prompt_makes_void_is_reported() -> None:
    system = ChatMessage.of_text("system", "Be brief.")
    for think, messages, n_notes in (
        ("on", (system, *HI), 1), ("off", (system, *HI), 1), ("on", HI, 0), ("", (system, *HI), 0),
    ):  # fmt: skip
        bench, _ = bench_of(GRANITE, b"Yes.", 0)
        bench.events.clear()
        bench.ask(messages=messages, prompting=Prompting(think=think), max_tokens=1)
        started = bench.started
        assert len(started.notes) == n_notes
        assert all("ignores how much" in note for note in started.notes)


@pytest.mark.parametrize("name", real_templates.NAMES)
def test_no_template_of_a_real_model_leaves_the_question_out(name: str) -> None:
    template = ChatTemplate(real_templates.source(name), ByteVocabulary())
    for messages in (HI, LONG, (ChatMessage.of_text("system", "Be brief."), *HI)):
        with (
            contextlib.suppress(EngineError) if "firefunction" in name else contextlib.nullcontext()
        ):
            template.check_question(messages, template.render(messages))
    if name == "muse-glimmer":
        assert template.marks.opening == " to=self<|message|>"
        assert template.marks.closing == "<|eom|><|start|>assistant to=user<|message|>"
        assert not template.marks.are_listed

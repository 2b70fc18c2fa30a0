"""Chat templates come from the internet: they may be odd, broken or hostile."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.template_attacks import ATTACKS, LOOPS, WAYS_OUT
from fake_model import EOG, ByteVocabulary, FakeModel
from paceline.content import Text
from paceline.engine.prompt import renderer as renderer_module
from paceline.engine.prompt.formats import CONTINUE, FORMATS, Format, guess, words_on
from paceline.engine.prompt.renderer import Outcome, Renderer, RenderJob, renderer
from paceline.engine.prompt.template import ChatTemplate, fold_system, in_turns
from paceline.errors import EngineError
from paceline.messages import ChatMessage
from paceline.workers import start

PLAIN_TEXT = next(each.source for each in FORMATS if each.name == "plain")
PLAIN = FakeModel(lambda _tokens: None).template  # type: ignore[arg-type,return-value]
VOCAB = ByteVocabulary()
ECHO = "{% for m in messages %}{{ m.content }}<end>{% endfor %}"


def chat(*contents: str, system: str | None = None) -> tuple[ChatMessage, ...]:
    """A conversation whose first speaker is the user."""
    roles = ["user", "assistant"] * len(contents)
    turns = [ChatMessage.of_text(role, text) for role, text in zip(roles, contents, strict=False)]
    return (*([ChatMessage.of_text("system", system)] if system is not None else []), *turns)


HI = chat("hi")


def encode(
    source: str, messages: Sequence[ChatMessage] = HI, vocab: ByteVocabulary = VOCAB
) -> tuple[list[int], tuple[str, ...]]:
    return ChatTemplate(source, vocab).encode(messages)


def text_of(tokens: Sequence[int]) -> str:
    """Return the text of tokens; the end token is written as ``§``, unlike a typed ``<end>``."""
    return b"".join("§".encode() if t == EOG else bytes([t]) for t in tokens).decode()


def failure(source: str, messages: Sequence[ChatMessage] = HI) -> EngineError:
    with pytest.raises(EngineError) as caught:
        encode(source, messages)
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    return caught.value


@pytest.fixture
def short_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer_module, "DEADLINE_S", 0.3)


# ------------------------------------------------------------------------------------ rendering


def test_without_a_template_a_chat_is_written_as_a_text() -> None:
    tokens, notes = encode(PLAIN_TEXT, chat("hi", " yes?", "go", system="Be brief."))
    assert text_of(tokens) == "Be brief.\n\nUser: hi\nAssistant: yes?\nUser: go\nAssistant:"
    assert notes == ()
    assert ChatTemplate(PLAIN_TEXT, VOCAB).stops == ("\nUser:", "\nAssistant:")


class WithMarks(ByteVocabulary):
    """Some texts are control tokens, which all have the same id."""

    def __init__(self, *marks: str) -> None:
        self._marks = marks

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        for mark in self._marks if special else ():
            text = text.replace(mark, "<end>")
        return super().tokenize(text, special=special)


@pytest.mark.parametrize("found", [each for each in FORMATS if each.marks])
def test_name_and_vocabulary_tell_the_format_of_a_file_without_a_template(found: Format) -> None:
    vocab = WithMarks(*found.marks)
    assert guess(vocab, "Tiny-1B-it-Q8.gguf") is found
    assert found.marks[0] in words_on(found, vocab)
    base = guess(vocab, "Tiny-1B italic")
    assert base.name == "plain"
    assert f"choose the chat template {found.name}" in words_on(base, vocab)
    assert "--" not in words_on(base, vocab), "the window shows it, too"
    assert guess(WithMarks(*found.marks[1:]), "Tiny Instruct").name == "plain"
    template = ChatTemplate(found.source, vocab)
    text = template.render(chat("hi", "yes?", "go", system="Be brief."))
    places = [text.index(part) for part in ("Be brief.", "hi", "yes?", "go")]
    assert places == sorted(places)
    assert all(mark in text for mark in found.marks)
    assert template.stops == ()  # tokens end its turns


def test_a_text_that_continues_has_no_turns() -> None:
    template = ChatTemplate(CONTINUE.source, VOCAB)
    assert template.render(chat("Once upon", " a time", " there")) == "Once upon a time there"
    assert template.stops == ()


def test_turns_that_are_plain_text_end_a_reply() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'user' %}### Instruction:\n{{ m.content }}\n\n"
        "{% else %}### Response:\n{{ m.content }}\n\n{% endif %}{% endfor %}### Response:\n"
    )
    assert ChatTemplate(source, VOCAB).stops == ("\n### Instruction:", "\n### Response:")
    for turns in ("- {{ m.content }}\n", "{{ m.content }}\n---\n", "{{ m.content }} A: "):
        source = f"{{% for m in messages %}}{turns}{{% endfor %}}"
        assert ChatTemplate(source, VOCAB).stops == (), "any answer may hold that"
    assert ChatTemplate(PLAIN, VOCAB).stops == ()
    assert ChatTemplate("{{ raise_exception('no') }}", VOCAB).stops == ()
    assert ChatTemplate("{{ messages[0].content | upper }}: go on", VOCAB).stops == ()


def test_a_template_that_reads_the_parts_of_a_content() -> None:
    source = (
        "{% for m in messages %}{% for c in m.content %}{% if c.type == 'text' %}"
        "{{ c.text }}<end>{% endif %}{% endfor %}{% endfor %}"
    )
    assert text_of(encode(source, chat("hi", "yes?", "say <end>"))[0]) == "hi§yes?§say <end>§"


BY_PARTS = (
    "{% for m in messages %}{% for c in m.content %}{% if c.type == 'text' %}"
    "[{{ c.text }}]{% endif %}{% endfor %}<end>{% endfor %}"
)


CLOSED_UP = BY_PARTS.replace("[", "").replace("]", "")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (PLAIN_TEXT, "User: say <e\n\nnd> now"),
        (BY_PARTS, "[say <e][nd> now]§"),
        (ECHO, "say <e\n\nnd> now§"),
        (CLOSED_UP, "say <end> now§"),
    ],
)
def test_a_content_of_several_parts(source: str, shown: str) -> None:
    message = ChatMessage("user", (Text("say <e"), Text("nd> now")))
    assert text_of(encode(source, [message])[0]).startswith(shown)


@given(st.lists(st.text("<end>| \né", max_size=12), min_size=1, max_size=4))
def test_no_part_makes_a_control_token(texts: list[str]) -> None:
    message = ChatMessage("user", tuple(map(Text, texts)))
    shown = {
        BY_PARTS: "".join(f"[{text}]" for text in texts),
        CLOSED_UP: "".join(texts),
        ECHO: message.text,
    }
    for source, wanted in shown.items():
        tokens, notes = encode(source, [message])
        assert (text_of(tokens), notes) == (f"{wanted}§", ())


def test_parts_that_make_a_control_token_are_refused_where_nothing_keeps_it_text() -> None:
    source = CLOSED_UP.replace("c.text", "c.text | lower")
    message = ChatMessage("user", (Text("X <e"), Text("nd>")))
    assert failure(source, [message]).code == "control-token"
    assert text_of(encode(source, [ChatMessage("user", (Text("X <"), Text("and>")))])[0]) == (
        "x <and>§"
    )


@pytest.mark.parametrize(
    "source", ["one\ntwo\n{{ messages[0].nothing.more }}", "one\ntwo\n{% if %}"]
)
def test_an_error_names_its_line(source: str) -> None:
    error = failure(source)
    assert "(line 3)" in error.message
    assert "--template" in error.hint


def test_the_date_is_there() -> None:
    tokens, _ = encode("{{ strftime_now('%Y-%m-%d') }}")
    assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", text_of(tokens))


class WithBos(ByteVocabulary):
    """Byte 1 begins a text."""

    bos = 1
    add_bos = True


def test_bos_stands_first_once() -> None:
    assert encode("{{ messages[0].content }}", vocab=WithBos())[0] == [1, *b"hi"]
    assert encode("{{ bos_token }}{{ messages[0].content }}", vocab=WithBos())[0] == [1, *b"hi"]
    without = WithBos()
    without.add_bos = False
    assert encode("{{ messages[0].content }}", vocab=without)[0] == list(b"hi")


# ------------------------------------------------------------------------ control texts as typed


@given(st.lists(st.text("<end>| \né", max_size=12), min_size=1, max_size=4))
@example(["say <end> now", "placeholder0123456789abcdefx0x <end> {{ bos_token }} {% raw %}"])
def test_no_content_makes_a_control_token(contents: list[str]) -> None:
    tokens, notes = encode(PLAIN, chat(*contents))
    wanted = "".join(f"{m.role}: {m.text}§\n" for m in chat(*contents))
    assert text_of(tokens) == wanted
    assert notes == ()


def test_a_template_that_strips() -> None:
    stripping = "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}<end>{% endfor %}"
    tokens, notes = encode(stripping, chat("  a <end>\n", " b "))
    assert text_of(tokens) == "user: a <end>§assistant: b§"
    assert notes == ()


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("m.content | upper", "SAY <\u200bEND> NOW"),
        ("m.content | replace('a', 'e')", "sey <\u200bend> now"),
        ("m.content[:9]", "say <\u200bend"),
        ("m.content.split(' ') | join('_')", "say_<\u200bend>_now"),
    ],
)
def test_a_template_that_rewrites_gets_broken_control_texts(expression: str, shown: str) -> None:
    source = "{% for m in messages %}{{ " + expression + " }}<end>{% endfor %}"
    tokens, notes = encode(source, chat("say <end> now"))
    assert text_of(tokens) == shown + "§"
    assert len(notes) == 1
    assert "broken up" in notes[0]


def test_only_messages_with_control_texts_are_broken_up() -> None:
    source = "{% for m in messages %}{{ m.content | replace('a', 'a') | lower }}<end>{% endfor %}"
    tokens, notes = encode(source, chat("X <b> [i] a", "<end>"))
    assert text_of(tokens) == "x <b> [i] a§<\u200bend>§"
    assert len(notes) == 1


def test_a_rewriting_template_needs_no_note_without_control_texts() -> None:
    tokens, notes = encode(
        "{% for m in messages %}{{ m.content | upper }}{% endfor %}", chat("<b>")
    )
    assert (text_of(tokens), notes) == ("<B>", ())


def test_a_template_that_looks_into_contents() -> None:
    """It takes another way for the placeholders than for the contents."""
    source = (
        "{% for m in messages %}{% if '<end>' in m.content %}long: {% endif %}"
        "{{ m.content }}<end>{% endfor %}"
    )
    tokens, notes = encode(source, chat("a <end>"))
    assert text_of(tokens).count("§") == 1
    assert "<end>" not in text_of(tokens)
    assert len(notes) == 1


def test_a_template_that_drops_or_repeats_messages() -> None:
    last = "{{ messages[-1].content }}<end>"
    assert text_of(encode(last, chat("<end>a", "b", "c <end>"))[0]) == "c <end>§"
    twice = "{{ messages[0].content }}<end>{{ messages[0].content }}"
    assert text_of(encode(twice, chat("<end>"))[0]) == "<end>§<end>"


def test_a_control_text_across_two_contents() -> None:
    tokens, _ = encode("{% for m in messages %}{{ m.content }}{% endfor %}", chat("<en", "d>"))
    assert EOG not in tokens


class Shouting(ByteVocabulary):
    """The end token is written and called otherwise."""

    def __init__(self, written: str = "||STOP||", called: str = "||STOP||") -> None:
        self.written, self.called = written, called

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        text = text.replace(self.written, "<end>") if special else text
        return super().tokenize(text, special=special)

    def text(self, token: int) -> bytes:
        return self.called.encode() if token == EOG else super().text(token)


REWRITING = "{% for m in messages %}{{ m.content | replace('a', 'o') }}{% endfor %}"


def test_control_texts_without_brackets_are_broken_up() -> None:
    tokens, notes = encode(REWRITING, chat("a ||STOP|| ||STOP||"), Shouting())
    assert text_of(tokens) == "o |\u200b|STOP|| |\u200b|STOP||"
    assert len(notes) == 1


def test_control_texts_that_are_not_what_their_tokens_are_called_are_broken_up() -> None:
    tokens, notes = encode(REWRITING, chat("a ||STOP|| b"), Shouting(called="</s>"))
    assert EOG not in tokens
    assert text_of(tokens).replace("\u200b", "") == "o ||STOP|| b"
    assert len(notes) == 1


def test_what_cannot_be_broken_up_is_refused() -> None:
    with pytest.raises(EngineError) as caught:
        encode(REWRITING, chat("a STOP"), Shouting("STOP", called="</s>"))
    assert caught.value.code == "control-token"


# ------------------------------------------------------------------------------ system, refusals

NO_SYSTEM = (
    "{% for m in messages %}"
    "{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "{{ m.role }}: {{ m.content }}<end>{% endfor %}"
)


def test_a_refused_system_prompt_is_put_before_the_question_as_text() -> None:
    tokens, notes = encode(NO_SYSTEM, chat("hi", "yes?", system="Be <end>."))
    assert text_of(tokens) == "user: Be <end>.\n\nhi§assistant: yes?§"
    (note,) = notes
    assert "system" in note


def test_a_system_prompt_that_is_taken_stays() -> None:
    tokens, notes = encode(PLAIN, chat("hi", system="s"))
    assert (text_of(tokens), notes) == ("system: s§\nuser: hi§\n", ())


@pytest.mark.parametrize("messages", [HI, chat("hi", system="Be brief.")])
def test_a_refusal_is_reported_in_the_templates_words(messages: tuple[ChatMessage, ...]) -> None:
    error = failure("{{ raise_exception('Roles must alternate') }}", messages)
    assert error.code == "template-refused"
    assert "Roles must alternate" in error.message


ALTERNATING = (
    "{% for m in messages %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}"
    "{{ m.role }}: {{ m.content }}<end>{% endfor %}"
)


def test_a_chat_from_elsewhere_is_put_in_turns_where_the_template_wants_that() -> None:
    """Try a greeting, adjacent messages of one role, and a template without a system role."""
    said = [
        ("assistant", "Hello!"), ("user", "a"), ("user", "b"), ("assistant", "c"),
        ("assistant", "d"), ("user", "e"),
    ]  # fmt: skip
    messages = tuple(ChatMessage.of_text(role, text) for role, text in said)
    tokens, notes = encode(ALTERNATING, messages)
    assert text_of(tokens) == "user: a\n\nb§assistant: c\n\nd§user: e§"
    (note,) = notes
    assert "put together" in note
    tokens, notes = encode(ALTERNATING, (ChatMessage.of_text("system", "s"), *messages))
    assert text_of(tokens) == "user: s\n\na\n\nb§assistant: c\n\nd§user: e§"
    assert ["no system role" in note for note in notes] == [True, False]
    assert encode(PLAIN, messages)[1] == (), "no other template gets another chat"


def test_turns() -> None:
    greeting, user = ChatMessage.of_text("assistant", "Hello!"), ChatMessage.of_text("user", "u")
    assert in_turns([user, greeting, user]) == (user, greeting, user)
    assert in_turns([greeting]) == (greeting,), "without a question nothing is dropped"
    system = ChatMessage.of_text("system", "s")
    assert in_turns([system, system, greeting, user]) == (
        ChatMessage.of_text("system", "s\n\ns"),
        user,
    )


def test_folding() -> None:
    first, second = ChatMessage.of_text("system", "1"), ChatMessage.of_text("system", "2")
    user = ChatMessage.of_text("user", "u")
    assert fold_system([first, user, second]) == (ChatMessage.of_text("user", "1\n\n2\n\nu"),)
    assert fold_system([user]) == (user,)
    assert fold_system([first]) == (first,)


def test_a_system_prompt_is_never_put_into_the_assistants_mouth() -> None:
    greeting, user = ChatMessage.of_text("assistant", "Hello!"), ChatMessage.of_text("user", "u")
    folded = fold_system([ChatMessage.of_text("system", "s"), greeting, user])
    assert folded == (greeting, ChatMessage.of_text("user", "s\n\nu"))


# ------------------------------------------------------------------------------- broken templates


@pytest.mark.parametrize(
    "source",
    [
        "{% if %}",
        "{{ unclosed",
        "{% for m in messages %}",
        "{{ x | nosuchfilter }}",
        "{% wat %}",
        "{% for i in range(2) %}" * 21 + "{% endfor %}" * 21,  # SyntaxError of Python's compiler
        "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",  # RecursionError of Jinja's parser
        "{{ " + "1" * 5000 + " }}",  # ValueError of Jinja's lexer
        "{{ cycler() }}",  # RuntimeError of a helper
        "{{ 1 | round(1, 'sideways') }}",
        "{{ nothing.at.all }}",
        "{{ messages[7].content }}",
        "{{ 'a' + 1 }}",
        "{{ 1 / 0 }}",
        "{{ messages.nothing() }}",
        "{% include 'other' %}",
        "{% import 'os' as os %}{{ os.system('true') }}",
        "{{ '%d' % 'x' }}",
        "{{ {}['x']['y'] }}",
        "{{ raise_exception() }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update(role='x') }}",
    ],
    ids=lambda source: source[:20],
)
def test_a_template_that_fails(source: str) -> None:
    assert failure(source).code == "bad-template"


@pytest.mark.parametrize("name", WAYS_OUT)
def test_there_is_no_way_out_of_the_sandbox(name: str) -> None:
    with contextlib.suppress(EngineError):
        assert encode(WAYS_OUT[name])[0] == []  # what is not there is written as nothing


# ---------------------------------------------------------------------------------------- bombs

BOMB = f"{LOOPS}{'{% endfor %}' * 3}"
CRASH = ATTACKS["deep: tuples in tuples, hashed"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (BOMB, "longer than 0.3 seconds"),
        ("{{ 'x' * 999999999 }}", "too much memory"),
        ("{{ 'x' * 200000 }}", "wrote too much"),
    ],
    ids=["time", "memory", "text"],
)
def test_a_template_that_takes_too_much(
    source: str, words: str, request: pytest.FixtureRequest
) -> None:
    if source == BOMB:
        request.getfixturevalue("short_deadline")
    assert words in failure(source).message
    assert text_of(encode("fine")[0]) == "fine"


def test_a_bomb_that_only_long_chats_set_off(short_deadline: None) -> None:
    source = f"{{% if messages[0].content|length > 5 %}}{BOMB}{{% endif %}}fine"
    assert text_of(encode(source)[0]) == "fine"
    assert failure(source, chat("a longer question")).code == "bad-template"


def test_long_chats_are_no_bombs() -> None:
    messages = chat(*["word " * 2000] * 60)
    tokens, _ = encode(PLAIN, messages)
    assert len(tokens) > 600_000


def test_memory_is_watched_where_the_system_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer_module, "MEMORY_BYTES", 60 << 20)
    lists = "{% set n = namespace(l=[]) %}" + LOOPS + "{% set n.l = [n.l, 'x' * 9999 ~ c] %}"
    with contextlib.closing(Renderer()) as own:
        (outcome,) = own.render((lists + "{% endfor %}" * 3, "", ""), [RenderJob(chat("hi"), {})])
    assert outcome == Outcome("failed", "it took too much memory")


def test_a_crash_costs_the_process_that_renders_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer_module, "DEADLINE_S", 60.0)  # a busy machine crashes late
    encode("fine")
    pid = renderer().pid
    assert "its process crashed, SIGSEGV" in failure(CRASH).message
    assert renderer().pid != pid
    assert text_of(encode("fine")[0]) == "fine"


def test_the_process_is_kept_by_templates_that_merely_fail() -> None:
    encode("fine")
    pid = renderer().pid
    for source in ("{{ 1 / 0 }}", "{{ 'x' * 999999999 }}", "{{ raise_exception('no') }}", "fine"):
        with contextlib.suppress(EngineError):
            encode(source)
    assert renderer().pid == pid != 0


def test_without_a_process_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer().rest()
    monkeypatch.setattr(start.sys, "executable", "/nowhere/python")
    error = failure("fine")
    assert error.code == "no-renderer"
    assert "No such file" in error.message
    monkeypatch.undo()
    monkeypatch.setattr(start, "CHILD", "--no-such-argument")
    assert "exit code 2" in failure("fine").message
    monkeypatch.undo()
    assert text_of(encode("fine")[0]) == "fine"


def same_path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_the_process_loads_little() -> None:
    program = (
        "import sys; import paceline.__main__, paceline.workers.child, "
        "paceline.engine.prompt.sandbox; "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, check=True, text=True, env=same_path())
    assert "jinja2" in done.stdout.split()
    heavy = {"numpy", "llama_cpp", "PySide6", "psutil", "multiprocessing"}
    assert not heavy & set(done.stdout.split())


# ------------------------------------------------------------------------- what honest ones need


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ 'a-b'.split('-') | join('+') }}", "a+b"),
        ("{% set own = [] %}{% set _ = own.append('a') %}{{ own.pop() }}", "a"),
        ("{{ ['a', 1] | join('-') }}", "a-1"),
        ("{{ [{'x': 1}, {'x': 2}] | join(',', attribute='x') }}", "1,2"),
        ("{{ 'x'.join(['a', 'b']) }}", "axb"),
        ("{{ 'abc' | replace('b', 'x') }}{{ 'abc'.replace('b', 'x') }}", "axcaxc"),
        ("{{ 'aXb'.lower().upper().title().strip('A').startswith('x') }}", "True"),
        ("{{ {'a': 'é<'} | tojson }}", '{"a": "é<"}'),  # as it stood in the training data
        ("{{ '%s-%05d' % ('a', 7) }}{{ '%s' | format(1) }}", "a-000071"),
        ("{{ 'ab' * 3 }}{{ 3 * '-' }}{{ [1] * 2 }}{{ 6 * 7 }}", "ababab---[1, 1]42"),
        ("{{ '100%' + ' * ' + 'x' }}{{ [1] + [2] }}", "100% * x[1, 2]"),
        ("{% generation %}x{% endgeneration %}", "x"),
        ("{% set n = namespace(i=0) %}{% if true %}{% set n.i = 5 %}{% endif %}{{ n.i }}", "5"),
        ("{{ messages[0] | tojson(indent=2) }}", '{\n  "role": "user",\n  "content": "hi"\n}'),
        ("{{ (messages | map(attribute='role') | list)[0] }}", "user"),
        ("{{ messages | selectattr('role', 'equalto', 'user') | list | length }}", "1"),
        ("{{ {'a': 1}.items() | list }}{{ {}.get('x', 2) }}", "[('a', 1)]2"),
        ("{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f(1) }}", "<1>"),
        (
            "{{ eos_token }}{{ add_generation_prompt }}{{ bos_token }}|{{ messages[0].role }}",
            "§True|user",
        ),
        (
            "{% for m in 'abc' %}{% if m == 'a' %}{% continue %}{% endif %}{{ m }}{% endfor %}",
            "bc",
        ),
        ("{{ '<{}|{}>'.format('a', 1) }}{{ '{x:>3}'.format(x=1) }}", "<a|1>  1"),
        ("{{ 'a\nb' | indent(2) }}{{ 'c' | indent(3, first=true) }}", "a\n  b   c"),
        ("{{ 2.567 | round(1) }} {{ 2.1 | round(method='ceil') }}", "2.6 3.0"),
        (
            "{% for m in 'a' %}\n  {% if true %}\n{{ m }}\n{% endif %}\n{% endfor %}\n",
            "a\n",
        ),
        # Arguments that `transformers` gives `tojson`, and Jinja `replace`.
        ("{{ {'b': 'é'} | tojson(ensure_ascii=False) }}", '{"b": "é"}'),
        ("{{ {'b': 1, 'a': 2} | tojson(sort_keys=True) }}", '{"a": 2, "b": 1}'),
        ("{{ [1, 2] | tojson(separators=(',', ':')) }}", "[1,2]"),
        ("{{ 'abab' | replace('b', 'x', 1) }}", "axab"),
    ],
)
def test_honest_templates_are_not_in_the_way(source: str, text: str) -> None:
    assert text_of(encode(source)[0]) == text

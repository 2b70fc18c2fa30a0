"""Chat templates come from the internet: they may be odd, broken or hostile."""

from __future__ import annotations

import contextlib
import gc
import re
import sys
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_model import EOG, ByteVocabulary, FakeModel
from paceline.engine.prompt import sandbox
from paceline.engine.prompt.formats import CONTINUE, FORMATS, Format, guess, words_on
from paceline.engine.prompt.template import ChatTemplate, fold_system, in_turns
from paceline.errors import EngineError
from paceline.messages import ChatMessage

PLAIN_TEXT = next(each.source for each in FORMATS if each.name == "plain")
PLAIN = FakeModel(lambda _tokens: None).template  # type: ignore[arg-type,return-value]
VOCAB = ByteVocabulary()


def chat(*contents: str, system: str | None = None) -> tuple[ChatMessage, ...]:
    """A conversation whose first speaker is the user."""
    roles = ["user", "assistant"] * len(contents)
    turns = [ChatMessage(role, text) for role, text in zip(roles, contents, strict=False)]
    return (*([ChatMessage("system", system)] if system is not None else []), *turns)


HI = chat("hi")


def encode(
    source: str, messages: Sequence[ChatMessage] = HI, vocab: ByteVocabulary = VOCAB
) -> tuple[list[int], tuple[str, ...]]:
    return ChatTemplate(source, vocab).encode(messages)


def text_of(tokens: Sequence[int]) -> str:
    """What was tokenized; the end token is written as ``§`` to tell it from its typed twin."""
    return b"".join("§".encode() if t == EOG else bytes([t]) for t in tokens).decode()


def failure(source: str, messages: Sequence[ChatMessage] = HI) -> EngineError:
    with pytest.raises(EngineError) as caught:
        encode(source, messages)
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    return caught.value


@pytest.fixture
def short_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "DEADLINE_S", 0.15)


# ------------------------------------------------------------------------------------ rendering


def test_a_conversation_becomes_tokens() -> None:
    tokens, notes = encode(PLAIN, chat("hi", "yes?", "go"))
    assert text_of(tokens) == "user: hi§\nassistant: yes?§\nuser: go§\n"
    assert notes == ()


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
    assert f"take the template {found.name}" in words_on(base, vocab)
    assert guess(WithMarks(*found.marks[1:]), "Tiny Instruct").name == "plain"
    template = ChatTemplate(found.source, vocab)
    text = template.render(chat("hi", "yes?", "go", system="Be brief."))
    places = [text.index(part) for part in ("Be brief.", "hi", "yes?", "go")]
    assert places == sorted(places)
    assert all(mark in text for mark in found.marks)
    assert template.stops == ()  # tokens end its turns


def test_a_text_that_goes_on_has_no_turns() -> None:
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


def test_what_templates_usually_ask_for_is_there() -> None:
    tokens, _ = encode(
        "{{ eos_token }}{{ add_generation_prompt }}{{ bos_token }}|{{ messages[0].role }}"
        "|{{ messages|length }}|{{ messages[0]['content'] }}"
        "|{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}x{% endfor %}"
    )
    assert text_of(tokens) == "§True|user|1|hi|"


def test_texts_are_filled_in_and_indented() -> None:
    assert text_of(encode("{{ '<{}|{}>'.format('a', 1) }}")[0]) == "<a|1>"
    assert text_of(encode("{{ 'a\nb' | indent(2) }}{{ 'c' | indent(3, first=true) }}")[0]) == (
        "a\n  b   c"
    )
    for hostile in (
        "{{ '{:999999999}'.format(1) }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ '{x}'.format(x=1) }}",
        "{{ ('{}' * 9999).format(messages) }}",
        "{% set ns = namespace(t='x\ny') %}{% for i in range(40) %}"
        "{% set ns.t = ns.t | indent('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n') %}{% endfor %}",
    ):
        assert failure(hostile).code == "bad-template"


@pytest.mark.parametrize(
    "source", ["one\ntwo\n{{ messages[0].nothing.more }}", "one\ntwo\n{% if %}"]
)
def test_an_error_names_its_line(source: str) -> None:
    error = failure(source)
    assert "(line 3)" in error.message
    assert "--template" in error.hint


def test_numbers_are_rounded() -> None:
    tokens, _ = encode("{{ 2.567 | round(1) }} {{ 2.1 | round(method='ceil') }}")
    assert text_of(tokens) == "2.6 3.0"
    assert failure("{{ 1 | round(1, 'sideways') }}").code == "bad-template"


def test_the_date_is_there() -> None:
    tokens, _ = encode("{{ strftime_now('%Y-%m-%d') }}")
    assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", text_of(tokens))


def test_blocks_take_no_lines() -> None:
    tokens, _ = encode(
        "{% for m in messages %}\n  {% if true %}\n{{ m.content }}\n{% endif %}\n{% endfor %}\n"
    )
    assert text_of(tokens) == "hi\n"


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


def test_a_typed_control_text_stays_text() -> None:
    tokens, notes = encode(PLAIN, chat("say <end> now"))
    assert text_of(tokens) == "user: say <end> now§\n"
    assert notes == ()


@given(st.lists(st.text("<end>| \né", max_size=12), min_size=1, max_size=4))
def test_no_content_makes_a_control_token(contents: list[str]) -> None:
    tokens, notes = encode(PLAIN, chat(*contents))
    wanted = "".join(f"{m.role}: {m.content}§\n" for m in chat(*contents))
    assert text_of(tokens) == wanted
    assert notes == ()


def test_a_typed_placeholder_is_no_placeholder() -> None:
    nasty = "placeholder0123456789abcdefx0x <end> {{ bos_token }} {% raw %}"
    tokens, _ = encode(PLAIN, chat(nasty))
    assert text_of(tokens) == f"user: {nasty}§\n"


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


def test_a_refused_system_prompt_is_put_before_the_question() -> None:
    tokens, notes = encode(NO_SYSTEM, chat("hi", "yes?", system="Be brief."))
    assert text_of(tokens) == "user: Be brief.\n\nhi§assistant: yes?§"
    assert len(notes) == 1
    assert "system" in notes[0]


def test_a_folded_system_prompt_stays_text() -> None:
    tokens, _ = encode(NO_SYSTEM, chat("hi", system="<end>"))
    assert text_of(tokens) == "user: <end>\n\nhi§"


def test_a_system_prompt_that_is_taken_stays() -> None:
    tokens, notes = encode(PLAIN, chat("hi", system="s"))
    assert (text_of(tokens), notes) == ("system: s§\nuser: hi§\n", ())


@pytest.mark.parametrize("messages", [HI, chat("hi", system="Be brief.")])
def test_a_refusal_is_told_in_the_templates_words(messages: tuple[ChatMessage, ...]) -> None:
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
    """With a greeting, and with neighbours of one role; and, in the second one, no system role."""
    said = [
        ("assistant", "Hello!"), ("user", "a"), ("user", "b"), ("assistant", "c"),
        ("assistant", "d"), ("user", "e"),
    ]  # fmt: skip
    messages = tuple(ChatMessage(role, text) for role, text in said)
    tokens, notes = encode(ALTERNATING, messages)
    assert text_of(tokens) == "user: a\n\nb§assistant: c\n\nd§user: e§"
    (note,) = notes
    assert "put together" in note
    tokens, notes = encode(ALTERNATING, (ChatMessage("system", "s"), *messages))
    assert text_of(tokens) == "user: s\n\na\n\nb§assistant: c\n\nd§user: e§"
    assert ["no system role" in note for note in notes] == [True, False]
    assert encode(PLAIN, messages)[1] == (), "no other template gets another chat"


def test_turns() -> None:
    greeting, user = ChatMessage("assistant", "Hello!"), ChatMessage("user", "u")
    assert in_turns([user, greeting, user]) == (user, greeting, user)
    assert in_turns([greeting]) == (greeting,), "without a question nothing is dropped"
    system = ChatMessage("system", "s")
    assert in_turns([system, system, greeting, user]) == (ChatMessage("system", "s\n\ns"), user)


def test_folding() -> None:
    first, second = ChatMessage("system", "1"), ChatMessage("system", "2")
    user = ChatMessage("user", "u")
    assert fold_system([first, user, second]) == (ChatMessage("user", "1\n\n2\n\nu"),)
    assert fold_system([user]) == (user,)
    assert fold_system([first]) == (first,)


def test_a_system_prompt_is_never_put_into_the_assistants_mouth() -> None:
    greeting, user = ChatMessage("assistant", "Hello!"), ChatMessage("user", "u")
    folded = fold_system([ChatMessage("system", "s"), greeting, user])
    assert folded == (greeting, ChatMessage("user", "s\n\nu"))


# ------------------------------------------------------------------------------- broken templates


@pytest.mark.parametrize(
    "source",
    ["{% if %}", "{{ unclosed", "{% for m in messages %}", "{{ x | nosuchfilter }}", "{% wat %}"],
)
def test_a_syntax_error(source: str) -> None:
    error = failure(source)
    assert error.code == "bad-template"


@pytest.mark.parametrize(
    "source",
    [
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
)
def test_a_template_that_fails(source: str) -> None:
    assert failure(source).code == "bad-template"


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.__class__.__base__.__subclasses__() }}",
        "{{ raise_exception.__globals__['sys'].exit() }}",
        "{{ strftime_now.__globals__.datetime.sys }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ namespace.__init__.__globals__.x }}",
        "{{ joiner.__init__.__builtins__.open('/etc/passwd') }}",
        "{{ (''|attr('__class__')).mro() }}",
        "{{ ('{0.__class__.__mro__}'.format(1))[0].x.y }}",
        "{{ self.__init__.__globals__.x }}",
        "{{ messages[0].content.__len__.__self__ }}",
        "{{ ([]|map(attribute='__class__')|list)[0].mro }}",
    ],
)
def test_there_is_no_way_out_of_the_sandbox(source: str) -> None:
    assert failure(source).code == "bad-template"


# ---------------------------------------------------------------------------------------- bombs

LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
BOMBS = {
    "loops": LOOPS + "{% endfor %}" * 3,
    "busy loops": LOOPS + "{% set x = a * b + c %}" + "{% endfor %}" * 3,
    "output": "{% for a in range(999) %}" + "blah " * 50 + "{% endfor %}",
    "output from loops": LOOPS + "x" + "{% endfor %}" * 3,
    "percent": "{{ ('%200000d' % 1) | length }}",
    "percent with zeros": "{{ ('%000200000s' % 1) | length }}",
    "percent with a star": "{{ ('%*d' % (200000, 1)) | length }}",
    "percent with precision": "{{ ('%.200000f' % 1.5) | length }}",
    "percent by name": "{{ ('%(a)200000s' % {'a': 1}) | length }}",
    "percent with far too much": "{{ '%99999999999d' % 1 }}",
    "format filter": "{{ '%200000d' | format(1) | length }}",
    "repetition": "{{ ('x' * 200000) | length }}",
    "repetition from the left": "{{ (200000 * 'x') | length }}",
    "repetition in steps": "{{ (('x' * 9999) * 20) | length }}",
    "repetition with far too much": "{{ 'x' * 999999999999 }}",
    "repeated list": "{{ ([0] * 200000) | length }}",
    "repetition by a float": "{{ ('x' * 1e300) | length }}",
    "power": "{{ 9 ** 9 ** 9 ** 9 }}",
    "rounding": "{{ 1 | round(999999999, 'ceil') }}",
    "rounding down": "{{ 1 | round(precision=-999999999, method='floor') }}",
    "power of one": "{{ 1 ** 1 }}",
    "range": "{{ range(200000) | length }}",
    "padding": "{{ 'x'.ljust(200000) | length }}",
    "padding on the left": "{{ 'x'.rjust(200000) | length }}",
    "centre": "{{ 'x'.center(200000) | length }}",
    "centre filter": "{{ 'x' | center(200000) | length }}",
    "tabs": "{{ '\\t'.expandtabs(200000) | length }}",
    "zeros": "{{ '1'.zfill(200000) | length }}",
    "lipsum": "{{ lipsum(n=99) | length }}",
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "double recursion": "{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}"
    "{% endmacro %}{{ f(60) }}",
    "recursive loop": "{% for a in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}",
    "a loop in a filter": "{% set n = namespace(l=[1]) %}{% for a in range(40) %}"
    "{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l | pprint | length }}",
    "endless slices": "{% set n = 999999999 %}{{ messages | slice(n) | list }}",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_end_in_a_clean_error(name: str, short_deadline: None) -> None:
    began = time.perf_counter()
    assert failure(BOMBS[name]).code == "bad-template"
    assert time.perf_counter() - began < 2


def test_the_real_deadline() -> None:
    began = time.perf_counter()
    assert "2 seconds" in failure(BOMBS["loops"]).message
    assert 1.9 < time.perf_counter() - began < 4


def test_a_bomb_has_more_time_in_a_long_chat(short_deadline: None) -> None:
    began = time.perf_counter()
    assert "1 seconds" in failure(BOMBS["loops"], chat(*["hi"] * 85)).message
    assert 0.9 < time.perf_counter() - began < 3


def test_the_time_grows_with_the_chat_to_a_limit() -> None:
    assert sandbox.deadline(1) < 2.1
    assert sandbox.deadline(300) == pytest.approx(5)
    assert sandbox.deadline(10**6) == 10


def test_a_large_template_is_compiled_within_the_deadline() -> None:
    """Nearly as fast as without a trace function: ten times slower would be beyond it."""
    macro = (
        "{%- macro part_NNN(m, is_last) -%}{%- if m.role == 'user' and not is_last -%}"
        "{{- m['content'] | trim | replace('a', 'b') -}}{%- else -%}"
        "{%- for c in m.content.split('</think>') -%}{{ c }}{%- endfor -%}"
        "{%- endif -%}{%- endmacro -%}\n"
    )
    source = "".join(macro.replace("NNN", str(n)) for n in range(120)) + PLAIN
    began = time.perf_counter()
    assert text_of(encode(source)[0]).strip() == "user: hi§"
    seconds = time.perf_counter() - began
    sandbox.sandbox().from_string(source)
    assert seconds < 10 * (time.perf_counter() - began - seconds)


def test_a_bomb_that_only_long_chats_set_off(short_deadline: None) -> None:
    source = "{% if messages[0].content|length > 5 %}" + BOMBS["loops"] + "{% endif %}fine"
    assert text_of(encode(source)[0]) == "fine"
    assert failure(source, chat("a longer question")).code == "bad-template"


def test_long_chats_are_no_bombs() -> None:
    messages = chat(*["word " * 2000] * 60)
    tokens, _ = encode(PLAIN, messages)
    assert len(tokens) > 600_000


@pytest.mark.parametrize("source", [PLAIN, BOMBS["loops"], BOMBS["recursion"], "{{ 1 / 0 }}"])
def test_the_deadline_leaves_other_tracing_alone(source: str, short_deadline: None) -> None:
    def trace(frame: object, event: str, arg: object) -> None:
        return None

    before = sys.gettrace()
    for mine in (None, trace):
        sys.settrace(mine)
        try:
            with contextlib.suppress(EngineError):
                encode(source)
            after = sys.gettrace()
        finally:
            sys.settrace(before)
        assert after is mine
        assert gc.isenabled()


def test_the_deadline_strikes_though_a_finaliser_swallows_it(
    short_deadline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the collector calls is traced, too, and an exception in it goes nowhere."""

    def callback(phase: str, info: object) -> None:
        if sys._getframe().f_trace is not None:
            time.sleep(0.2)

    monkeypatch.setattr(sys, "unraisablehook", lambda _unraisable: None)
    gc.callbacks.append(callback)
    lists = "[], " * 100
    try:
        failure(
            "{% set n = namespace(l=[]) %}{% for a in range(9) %}{% for b in range(5000) %}"
            "{% set n.l = [n.l, " + lists + "] %}{% endfor %}{% endfor %}"
        )
    finally:
        gc.callbacks.remove(callback)


SINGLE_CALLS = {
    "bytes padded": "{{ 'a'.encode().ljust(200000) | length }}",
    "bytes of a number": "{{ (1).to_bytes(200000, 'big') | length }}",
    "translate": "{{ ('x' * 9999).translate({120: 'y' * 1000}) | length }}",
    "replace": "{{ ('x' * 9999) | replace('x', 'y' * 1000) | length }}",
    "replace method": "{{ ('x' * 9999).replace('x', 'y' * 1000) | length }}",
    "replace nothing": "{{ ('x' * 9999).replace('', 'y' * 1000) | length }}",
    "join": "{{ ('x' * 9999) | join('y' * 1000) | length }}",
    "join method": "{{ ('x' * 9999).join('y' * 1000) | length }}",
    "join of long texts": "{{ (['y' * 1000] * 9999) | join | length }}",
    "sum of texts": "{% set a = ('y' * 8000) | replace('y', 'y' * 400) %}{{ (a + a) | length }}",
    "sum of lists": "{% set a = ('y' * 9999) | list %}{{ (a" + " + a" * 11 + ") | length }}",
    "doubled texts": "{% set n = namespace(x='aaaaaaaaaa') %}{% for i in range(24) %}"
    "{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x | length }}",
    "doubled lists": "{% set n = namespace(x=[1]) %}{% for i in range(24) %}"
    "{% set n.x = n.x + n.x %}{% endfor %}{{ n.x | length }}",
    "growing numbers": "{% set n = namespace(x=3) %}{% for i in range(5) %}"
    "{% set n.x = n.x * n.x * n.x * n.x * n.x * n.x * n.x * n.x %}{% endfor %}{{ n.x > 1 }}",
    "str.format": "{{ '{:>200000}'.format('a') | length }}",
    "str.format by argument": "{{ '{:>{}}'.format('a', 200000) | length }}",
    "batch": "{{ ([1] | batch(200000, 'x') | list)[0] | length }}",
    "slice": "{{ '' | slice(200000) | list | length }}",
    "tojson": "{{ {'a': 1} | tojson(indent=200000) | length }}",
    "long chain": "{% set a = ('x' * 9999) %}{{ (a" + " ~ a" * 500 + ") | length }}",
}


HOLES = {
    "many inserted": "{% set a = 'x' * 9999 %}{{ (('%s' * 999) % ((a,) * 999)) | length }}",
    "many formatted": "{% set a = 'x' * 9999 %}{{ ('%s' * 999) | format(*((a,) * 999)) | length }}",
    "nested lists": "{% set a = [0] * 9999 %}{{ ([a] * 300) | string | length }}",
    "nested lists as JSON": "{% set a = [0] * 9999 %}{{ ([a] * 300) | tojson | length }}",
    "nested lists inserted": "{% set a = [0] * 9999 %}{{ ('%s' % ([a] * 300,)) | length }}",
    "sum of many lists": "{% set a = [0] * 9999 %}{{ ([a] * 30) | sum(start=[]) | length }}",
    "block": "{% set a = ('x' * 9999 ~ 'x') | replace('x', 'y' * 9) %}{% set b %}"
    + "{{ a }}" * 99
    + "{% endset %}{{ b | length }}",
}


@pytest.mark.parametrize("name", HOLES)
def test_no_other_call_makes_megabytes(name: str) -> None:
    assert failure(HOLES[name]).code == "bad-template"


@pytest.mark.parametrize("name", SINGLE_CALLS)
def test_no_single_call_makes_megabytes(name: str) -> None:
    assert failure(SINGLE_CALLS[name]).code == "bad-template"


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(2) %}" * 21 + "{% endfor %}" * 21,  # SyntaxError of Python's compiler
        "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",  # RecursionError of Jinja's parser
        "{{ " + "1" * 5000 + " }}",  # ValueError of Jinja's lexer
        "{{ cycler() }}",  # RuntimeError of a helper
    ],
    ids=["nesting", "parentheses", "number", "cycler"],
)
def test_what_the_compiler_chokes_on(source: str) -> None:
    assert failure(source).code == "bad-template"


# ------------------------------------------------------------------------- what honest ones need


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ 'a-b'.split('-') | join('+') }}", "a+b"),
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
    ],
)
def test_honest_templates_are_not_in_the_way(source: str, text: str) -> None:
    assert text_of(encode(source)[0]) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ {'b': 'é'} | tojson(ensure_ascii=False) }}", '{"b": "é"}'),
        ("{{ {'b': 1, 'a': 2} | tojson(sort_keys=True) }}", '{"a": 2, "b": 1}'),
        ("{{ [1, 2] | tojson(separators=(',', ':')) }}", "[1,2]"),
        ("{{ 'abab' | replace('b', 'x', 1) }}", "axab"),
    ],
)
def test_arguments_that_templates_give_elsewhere(source: str, text: str) -> None:
    """`transformers` gives `tojson` these arguments, Jinja gives `replace` a number."""
    assert text_of(encode(source)[0]) == text

"""Tools, calls, results and earlier reasoning in prompts, with the templates of real models."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

import real_templates
from engine.bench import Bench
from engine.test_template import WithMarks
from fake_model import EOG, ByteVocabulary, FakeModel, scripted
from paceline.content import Tool, ToolCall, ToolUse
from paceline.engine.calls.writer import writer_of
from paceline.engine.prompt.formats import CHATML
from paceline.engine.prompt.size import Cutter, PromptSizes, encode_fitting, without_oldest
from paceline.engine.prompt.template import ChatTemplate, in_turns
from paceline.errors import EngineError
from paceline.messages import (
    Chat,
    ChatMessage,
    CountTokens,
    Prompting,
    PromptRendered,
    RenderPrompt,
    TokensCounted,
    TurnFailed,
    TurnFinished,
)

VOCAB = ByteVocabulary()
WITHOUT_TOOLS = {
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
    "deepseek-ai-DeepSeek-V3.1",
    "google-gemma-2-2b-it",
    "HuggingFaceTB-SmolLM3-3B",
    "llama-cpp-rwkv-world",
    "microsoft-Phi-3.5-mini-instruct",
    "CohereForAI-c4ai-command-r-plus-tool_use",
}
"""Templates that write no tools, no results, or neither; the last one only simple tools."""
AS_SAID = {
    "ibm-granite-granite-3.3-2B-Instruct": (
        '<|tool_call|>[{"name": "look_up", "arguments": {"town": "\\"Bern\\"", "days": [1, 2]}}, '
        '{"name": "look_up", "arguments": {"town": "Genf", "where": {"lat": 46}}}]<|end_of_text|>'
    ),
    **dict.fromkeys(
        ("LFM2-8B-A1B", "LFM2.5-Instruct"),
        '<|tool_call_start|>[look_up(town="\\"Bern\\"", days=[1, 2]), '
        'look_up(town="Genf", where={"lat": 46})]<|tool_call_end|><|im_end|>',
    ),
}
"""Templates that write tools and results, but no calls: these stand at the end of what is said."""
FORM_MARKS = ("<|tool_call_start|>", "<|tool_call_end|>", "<|tool_call|>")
SILENT = {"mistralai-Mistral-Nemo-Instruct-2407", "Mistral-Small-3.2-24B-Instruct-2506"}
"""Those that leave out what is said beside a call, and want no message of its own for it."""
BROKEN = {"fireworks-ai-llama-3-firefunction-v2"}
"""It wants a date that no program but its own gives."""
NAMES = [name for name in real_templates.NAMES if name not in BROKEN]
TYPED = "<end>"
"""The text of the vocabulary's control token."""


def said(role: Any, text: str, **more: Any) -> ChatMessage:
    return structs.replace(ChatMessage.of_text(role, text), **more)


def call(number: int, **arguments: Any) -> ToolCall:
    return ToolCall(f"call_of_some_length_{number}", "look_up", json.dumps(arguments))


def parameters(name: str = "town", description: str = "Its English name.") -> str:
    properties = {
        name: {"type": "string", "description": description},
        "days": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "where": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": []},
    }
    return json.dumps({"type": "object", "properties": properties, "required": [name]})


LOOK_UP = Tool("look_up", "Looks the weather up.", parameters())
STOP = Tool("stop_all", "Stops whatever runs.")
TOOLS = (LOOK_UP, STOP)


def conversation(typed: str = "") -> list[ChatMessage]:
    """Two questions with two calls each, and a last one; `typed` is in most texts."""
    first = (call(1, town='"Bern"' + typed, days=[1, 2]), call(2, town="Genf", where={"lat": 46}))
    third = (ToolCall("call_of_some_length_3", "stop_all", "{}"),)
    return [
        said("system", "Be brief." + typed),
        said("user", "How is the weather?" + typed),
        said("assistant", "I look it up." + typed, calls=first, reasoning="Two towns" + typed),
        said("tool", "snow at 3" + typed, answers=first[0].id),
        said("tool", "rain at 9" + typed, answers=first[1].id),
        said("assistant", "Snow and rain." + typed),
        said("user", "Stop." + typed),
        said("assistant", "", calls=third),
        said("tool", "all stopped" + typed, answers=third[0].id),
        said("assistant", "Done."),
        said("user", "And tomorrow?" + typed),
    ]


def template_of(name: str, vocab: ByteVocabulary = VOCAB) -> ChatTemplate:
    source = real_templates.source(name)
    return ChatTemplate(source, vocab, write_calls=writer_of(source))


def text_of(tokens: Sequence[int]) -> str:
    return b"".join(bytes([t]) if t != EOG else b"\xff" for t in tokens).decode("utf-8", "replace")


# ------------------------------------------------------------------------------- what is written


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_has_tools_calls_and_results(name: str) -> None:
    template = template_of(name)
    assert template.writes(TOOLS) == (name not in WITHOUT_TOOLS)
    text, notes = template.render_with_notes(conversation(), TOOLS)
    asked = ("look_up", "Looks the weather up.", "Its English name.", "stop_all", "Be brief.")
    answered = ("Genf", "46", "snow at 3", "rain at 9", "Snow and rain.", "all stopped", "Done.")
    for part in (*asked, "How is the weather?", *answered, "And tomorrow?"):
        assert part in text, part
    assert '"Bern"' in text or r"\"Bern\"" in text
    assert r"\\\"Bern" not in text
    assert any("cannot write these tools" in note for note in notes) == (name in WITHOUT_TOOLS)
    if name in WITHOUT_TOOLS:
        assert '<tool_call>\n{"name": "look_up", "arguments": {"town": ' in text
        assert "<tool_response>\nrain at 9\n</tool_response>" in text
    if name in AS_SAID:
        assert f"I look it up.{AS_SAID[name]}" in text
    # Before the results have led to an answer, what was said beside the calls is there, too.
    begun = template.render(conversation()[:5], TOOLS)
    assert ("I look it up." in begun) == (name not in SILENT)
    assert any("beside a call" in note for note in notes) == (name in SILENT)
    template.check_question(conversation(), text, TOOLS)
    # Calls are written where no tools are given any more.
    text = template.render(conversation())
    assert "look_up" in text
    assert "rain at 9" in text
    assert "Looks the weather up." not in text


def test_reasoning_of_earlier_replies_is_given_by_all_its_names() -> None:
    for known in ("reasoning_content", "reasoning", "thinking"):
        source = f"{{% for m in messages %}}{{{{ m.content }}}}|{{{{ m.{known} }}}};{{% endfor %}}"
        messages = [said("user", "a"), said("assistant", "b", reasoning="c"), said("user", "d")]
        assert ChatTemplate(source, VOCAB).render(messages) == "a|;b|c;d|;"


def test_a_template_that_takes_one_call_gets_each_before_its_result() -> None:
    text = template_of("meta-llama-Llama-3.1-8B-Instruct").render(conversation()[:5], TOOLS)
    places = [text.index(part) for part in ("I look it up.", "Bern", "snow at 3", "Genf", "rain")]
    assert places == sorted(places)
    assert text.count("I look it up.") == 1


def test_ids_are_those_that_the_template_takes() -> None:
    text = template_of("mistralai-Mistral-Nemo-Instruct-2407").render(conversation(), TOOLS)
    assert "call_of_some_length" not in text
    text = template_of("moonshotai-Kimi-K2").render(conversation(), TOOLS)
    assert "call_of_some_length_1" in text


def test_text_and_reasoning_beside_a_call_become_one_where_both_are_refused() -> None:
    text = template_of("openai-gpt-oss-120b").render(conversation()[:5], TOOLS)
    assert "<|channel|>analysis<|message|>Two towns\n\nI look it up.<|end|>" in text


def test_a_tool_that_the_template_has_no_words_for_is_described_as_text() -> None:
    template = template_of("CohereForAI-c4ai-command-r-plus-tool_use")
    simple = Tool("f", "Does it.", '{"type": "object", "properties": {}}')
    assert template.writes([simple])
    assert not template.writes(TOOLS)
    assert template.writes([simple])
    assert "<tool_call>" not in template.render([said("user", "hi")], [simple])


def test_a_template_that_fails_at_some_calls_is_used_for_all_else() -> None:
    source = (
        "{{ tools | tojson if tools }}{% for m in messages %}### {{ m.role }}:\n{{ m.content }}"
        "{% for c in m.tool_calls %}{{ c.function | tojson }}{{ [1][9 - c.id | length].x }}"
        "{% if m.reasoning %}{{ [].x.y }}{% endif %}{% endfor %}\n{% endfor %}### assistant:\n"
    )
    template = ChatTemplate(source, VOCAB)
    assert template.writes(TOOLS)
    messages = [structs.replace(message, reasoning="") for message in conversation()]
    assert "rain at 9" in template.render(messages, TOOLS)
    assert template.stops == ("### user:", "### assistant:")


def test_results_have_the_name_of_the_tool() -> None:
    source = "{% for m in messages %}{{ m.content }}{% if m.role == 'tool' %}[{{ m.name }}]" + (
        "{% endif %}{% for c in m.tool_calls %}{{ c.function.name }}{{ c.function.arguments | "
        "tojson }}{% endfor %};{% endfor %}{{ tools | tojson if tools }}"
    )
    text = ChatTemplate(source, VOCAB).render(conversation(), TOOLS)
    assert "snow at 3[look_up];" in text
    assert "all stopped[stop_all];" in text
    assert '"parameters": {"type": "object", "properties": {}}' in text  # of a tool without any


TOOLS_ALONE = (
    "{{ '[available_tools]' + tools | tojson if tools }}{% for m in messages %}"
    "<|{{ m.role }}|>{{ m.content | replace('<|tool_call|>', hidden | default('<|tool_call|>')) }}"
    "{% endfor %}"
)


def test_calls_are_said_only_where_that_is_shown_as_it_is() -> None:
    hiding = "{% set hidden = '' %}" + TOOLS_ALONE
    for source, is_shown in ((TOOLS_ALONE, True), (hiding, False)):
        template = ChatTemplate(source, VOCAB, write_calls=writer_of(source))
        assert template.writes(TOOLS) == is_shown
        text = template.render(conversation(), TOOLS)
        assert ('<|tool_call|>[{"name": "stop_all", "arguments": {}}]' in text) == is_shown
        assert ("<tool_response>" in text) != is_shown


def test_calls_are_text_where_no_form_is_told_or_one_of_a_single_call() -> None:
    harmony = "{# <|channel|> functions. #}"
    for told in (harmony, ""):
        source = told + TOOLS_ALONE.replace("available_tools", "tools")
        assert writer_of(source) is None
        assert not ChatTemplate(source, VOCAB, write_calls=writer_of(source)).writes(TOOLS)


@pytest.mark.parametrize("source", ["{{ messages | tojson }}", "{% for x in y %}"])
def test_a_template_that_fails_knows_no_tools(source: str) -> None:
    assert not ChatTemplate(source, VOCAB).writes(TOOLS)


# ------------------------------------------------------------------------------------ what is text


def places(typed: str) -> dict[str, tuple[list[ChatMessage], tuple[Tool, ...]]]:
    """A conversation and tools with this text in one place each."""

    def with_call(arguments: str) -> list[ChatMessage]:
        messages = conversation()
        first, second = messages[2].calls
        calls = (structs.replace(first, arguments=arguments), second)
        return [*messages[:2], structs.replace(messages[2], calls=calls), *messages[3:]]

    def with_message(i: int, **changes: Any) -> list[ChatMessage]:
        messages = conversation()
        return [*messages[:i], structs.replace(messages[i], **changes), *messages[i + 1 :]]

    described = structs.replace(LOOK_UP, description=f"Looks {typed} up.")
    return {
        "question": (with_message(6, content=said("user", f"Stop{typed}!").content), TOOLS),
        "result": (with_message(4, content=said("tool", f"rain {typed}").content), TOOLS),
        "reasoning": (with_message(2, reasoning=f"Two {typed} towns"), TOOLS),
        "argument": (with_call(json.dumps({"town": f'"a\n{typed}"'})), TOOLS),
        "argument's name": (with_call(json.dumps({f"town{typed}": "Bern"})), TOOLS),
        "escaped argument": (with_call(f'{{"town": "\\u003c{typed[1:]}"}}'), TOOLS),
        "description": (conversation(), (described, STOP)),
        "parameter": (
            conversation(),
            (structs.replace(LOOK_UP, parameters=parameters(f"a{typed}")), STOP),
        ),
        "parameter's description": (
            conversation(),
            (structs.replace(LOOK_UP, parameters=parameters("town", f'"{typed}"')), STOP),
        ),
        "everywhere": (conversation(typed), TOOLS),
    }


@pytest.mark.parametrize("name", NAMES)
def test_control_tokens_that_are_typed_stay_text(name: str, is_long: bool) -> None:
    """Try them in all places at once and in each alone; a run without --long tries a third."""
    template = template_of(name)
    harmless = places("<fin>")
    for i, (place, (messages, tools)) in enumerate(places(TYPED).items(), NAMES.index(name)):
        if not is_long and i % 3 and place != "everywhere":
            continue
        tokens, notes = template.encode(messages, tools)
        expected, _ = template.encode(*harmless[place])
        assert list(tokens).count(EOG) == list(expected).count(EOG), place
        text = text_of(list(tokens))
        if not any("broken up" in note for note in notes):
            assert text.replace("end>", "fin>") == text_of(list(expected)), place


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        *itertools.product(
            ("Qwen-Qwen3-0.6B", "Qwen3-Coder", "microsoft-Phi-3.5-mini-instruct"),
            ("<|im_end|>", "<|end|>"),
        ),
        *itertools.product(AS_SAID, FORM_MARKS),
    ],
)
def test_marks_of_the_template_itself_stay_text_where_they_are_typed(name: str, typed: str) -> None:
    template = template_of(name, WithMarks(typed))
    harmless = places("<|fin|>")
    for place, (messages, tools) in places(typed).items():
        found = list(template.encode(messages, tools)[0])
        expected = list(template.encode(*harmless[place])[0])
        assert found.count(EOG) == expected.count(EOG), place


@pytest.mark.parametrize("name", AS_SAID)
def test_marks_of_calls_that_are_said_are_control_tokens(name: str) -> None:
    marks = [mark for mark in FORM_MARKS if mark in AS_SAID[name]]
    template = template_of(name, WithMarks(*marks))
    for messages, tools in places(marks[0]).values():
        tokens, notes = template.encode(messages, tools)
        assert not any("broken up" in note for note in notes)
        assert list(tokens).count(EOG) == 2 * len(marks)  # two messages have calls


def test_what_is_around_a_typed_control_token_is_written_as_ever() -> None:
    template = template_of("Qwen-Qwen3-0.6B")
    for place in ("description", "parameter's description", "argument", "result"):
        _, notes = template.encode(*places(TYPED)[place])
        assert notes == (), place


@pytest.mark.parametrize(
    ("messages", "tools"),
    [
        ([said("user", "hi")], [Tool(f"a{TYPED}")]),
        (
            [
                said("user", "hi"),
                said("assistant", "", calls=(ToolCall("1", f"a{TYPED}", "{}"),)),
                said("tool", "x", answers="1"),
            ],
            [],
        ),
    ],
)
def test_names_may_hold_no_control_tokens(messages: list[ChatMessage], tools: list[Tool]) -> None:
    with pytest.raises(EngineError) as caught:
        template_of("Qwen-Qwen3-0.6B").encode(messages, tools)
    assert caught.value.code == "control-token"


# ------------------------------------------------------------------------------------ what is kept


def test_turns_of_calls_stay_apart() -> None:
    asks, answers = said("user", "a"), said("assistant", "b")
    calls = said("assistant", "c", calls=(call(1), call(2)), reasoning="r")
    results = [said("tool", "d", answers=each.id) for each in calls.calls]
    messages = (asks, calls, *results, answers, asks)
    assert in_turns(messages) == messages
    assert in_turns((answers, calls, *results, *messages)) == messages
    thought = said("assistant", "e", reasoning="s")
    both = said("assistant", "e\n\nc", calls=calls.calls, reasoning="s\n\nr")
    assert in_turns((asks, thought, calls, *results)) == (asks, both, *results)


@pytest.mark.parametrize(
    "name",
    [
        "Qwen-Qwen2.5-7B-Instruct",
        "meta-llama-Llama-3.1-8B-Instruct",
        "meta-llama-Llama-3.2-3B-Instruct",
        "ibm-granite-granite-4.0",
        "Qwen3-Coder",
        "microsoft-Phi-3.5-mini-instruct",
        "moonshotai-Kimi-K2",
        "mistralai-Ministral-3-14B-Reasoning-2512",
        "LFM2.5-8B-A1B",
    ],
)
def test_a_prompt_begins_with_the_one_before(name: str) -> None:
    template = template_of(name)
    messages = [structs.replace(message, reasoning="") for message in conversation()]
    ends = [i for i, message in enumerate(messages) if message.role in ("user", "tool")]
    prompts = [template.render(messages[: i + 1], TOOLS) for i in ends if i != 3]
    for before, after in itertools.pairwise(prompts):
        assert after.startswith(before)


def sizes_of(name: str) -> PromptSizes:
    return PromptSizes(template_of(name))


@pytest.mark.parametrize("name", ["Qwen-Qwen3-0.6B", "microsoft-Phi-3.5-mini-instruct"])
def test_counts_have_the_tools(name: str) -> None:
    sizes = sizes_of(name)
    for messages in (conversation(), conversation()[:5], conversation()[:3]):
        n_tokens = len(sizes.template.encode(messages, TOOLS)[0])
        assert sizes.count(messages, n_tokens, TOOLS) == n_tokens
        assert abs(sizes.total(messages, TOOLS) - n_tokens) < 0.15 * n_tokens
        assert sizes.count(messages, 10**6) < n_tokens


@st.composite
def chats_with_calls(draw: st.DrawFn) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    waiting: list[str] = []
    for i in range(draw(st.integers(3, 25))):
        text = "x" * draw(st.integers(1, 80))
        if waiting and draw(st.booleans()):
            messages.append(said("tool", text, answers=waiting.pop()))
        elif draw(st.integers(0, 2)):
            messages.append(said("user", text))
        else:
            ids = [f"{draw(st.integers(0, 2))}", f"{i}"][: draw(st.integers(0, 2))]
            calls = tuple(ToolCall(each, "look_up", "{}") for each in ids)
            messages.append(said("assistant", text, calls=calls))
            waiting += ids
    return [*messages, said("user", "last")]


@given(messages=chats_with_calls(), n_ctx=st.integers(200, 1500))
def test_a_cut_never_parts_a_call_from_its_result(messages: list[ChatMessage], n_ctx: int) -> None:
    for tools in ((), TOOLS):
        sizes = PromptSizes(ChatTemplate(CHATML.source, VOCAB))
        prompt = encode_fitting(sizes, messages, n_ctx, 20, tools)
        kept = without_oldest(messages, prompt.n_cut)
        called: set[str] = set()
        for message in kept:
            called |= {each.id for each in message.calls}
            assert message.role != "tool" or message.answers in called
        assert kept[-1] is messages[-1]
        limit = n_ctx - 20
        cutter = Cutter(messages, sizes, limit, tools)
        assert cutter.n_cut(lambda rest: sizes.count(rest, limit, tools)) <= len(messages)  # noqa: B023


# --------------------------------------------------------------------------- what the engine says


def bench_of(source: str, tool_template: str = "") -> tuple[Bench, FakeModel]:
    model = FakeModel(scripted("Yes.", 0), n_ctx=4096)
    model.template, model.tool_template = source, tool_template
    bench = Bench(target=model)
    bench.load()
    bench.events.clear()
    return bench, model


def ask(bench: Bench, chat: Chat, **options: Any) -> Any:
    return bench.ask(messages=None, prompt=chat, max_tokens=2, **options)


def chat_of(*messages: ChatMessage, tools: Sequence[Tool] = TOOLS, **more: Any) -> Chat:
    """A chat whose reply calls nothing, which takes no grammar."""
    return Chat(messages, tools=ToolUse(tuple(tools), "none") if tools else None, **more)


def test_the_engine_gives_the_model_the_tools_and_warns_where_they_are_text() -> None:
    bench, model = bench_of(CHATML.source)
    assert isinstance(ask(bench, chat_of(*conversation())), TurnFinished)
    started = bench.started
    assert any("cannot write these tools" in note for note in started.notes)
    n_prompt = len(ChatTemplate(CHATML.source, model.vocab).encode(conversation(), TOOLS)[0])
    bench.client.request(CountTokens(chat_of(*conversation()), 10))
    counted = bench.events[-1]
    assert isinstance(counted, TokensCounted)
    assert counted.n_tokens == started.n_prompt == n_prompt
    assert len(counted.per_message) == len(conversation())
    bench.client.request(RenderPrompt(chat_of(*conversation())))
    rendered = bench.events[-1]
    assert isinstance(rendered, PromptRendered)
    assert "Looks the weather up." in rendered.text
    assert rendered.notes == started.notes


def test_a_reply_continues_after_tools() -> None:
    bench, model = bench_of(CHATML.source)
    messages = conversation()[:5]
    finished = ask(bench, chat_of(*messages), begun_text="Snow")
    assert isinstance(finished, TurnFinished)
    started = bench.started
    n_prompt = len(ChatTemplate(CHATML.source, model.vocab).encode(messages, TOOLS)[0])
    assert started.n_prompt == n_prompt + len("Snow")


def test_json_of_a_hundred_levels_is_taken() -> None:
    deep = '{"a":' * 100 + "1" + "}" * 100
    messages = [HI, said("assistant", "", calls=(ToolCall("1", "f", deep),)), HI]
    for source in (CHATML.source, real_templates.source("Qwen-Qwen3-0.6B")):
        bench, _ = bench_of(source)
        assert isinstance(ask(bench, chat_of(*messages, tools=[Tool("f", "", deep)])), TurnFinished)


HI = said("user", "hi")


@pytest.mark.parametrize(
    ("chat", "code", "words"),
    [
        (chat_of(HI, said("tool", "x", answers="7")), "bad-call", "“7”"),
        (
            chat_of(HI, said("tool", "x", answers="7"), said("assistant", "", calls=(call(7),))),
            "bad-call",
            "no message before it",
        ),
        (
            chat_of(HI, said("assistant", "", calls=(ToolCall("1", "f", "[1]"),)), HI),
            "bad-call",
            "arguments of a call of the tool “f”",
        ),
        (
            chat_of(HI, said("assistant", "", calls=(ToolCall("1", "f", "{"),)), HI),
            "bad-call",
            "arguments of a call of the tool “f”",
        ),
        (chat_of(HI, tools=[Tool("f", "", "[" * 9**5)]), "bad-tool", "parameters of the"),
        (
            chat_of(HI, tools=[Tool("f", "", '{"a":' * 101 + "1" + "}" * 101)]),
            "bad-tool",
            "parameters of the tool “f”",
        ),
    ],
    ids=["no call", "later call", "list", "cut", "brackets", "deep"],
)
def test_what_no_template_should_see_is_refused_by_name(chat: Chat, code: str, words: str) -> None:
    bench, _ = bench_of(CHATML.source)
    failed = ask(bench, chat)
    assert isinstance(failed, TurnFailed)
    assert failed.code == code
    assert words in failed.message
    assert failed.hint
    bench.client.request(RenderPrompt(chat))
    assert bench.events[-1].problem == failed.message  # type: ignore[union-attr]
    bench.client.request(CountTokens(chat, 10))
    assert bench.events[-1].n_tokens == -1  # type: ignore[union-attr]


# --------------------------------------------------------------------- a second template for tools

FOR_TOOLS = "[for tools]" + TOOLS_ALONE


def rendered(bench: Bench, chat: Chat) -> PromptRendered:
    bench.client.request(RenderPrompt(chat))
    found = bench.events[-1]
    assert isinstance(found, PromptRendered)
    return found


def tool_bench(source: str = FOR_TOOLS) -> Bench:
    return bench_of(CHATML.source, tool_template=source)[0]


def test_a_second_template_is_for_chats_about_tools() -> None:
    bench = tool_bench()
    without_calls = [HI, said("assistant", "so?"), HI]
    about = (
        chat_of(HI),
        chat_of(*conversation(), tools=()),
        chat_of(*without_calls, prompting=Prompting()),
    )
    for chat in about:
        shown = rendered(bench, chat)
        assert shown.text.startswith("[for tools]")
        assert shown.notes == ()
        assert shown.own == CHATML.source
        n_tokens = len(VOCAB.tokenize(shown.text, special=True))
        assert isinstance(ask(bench, chat), TurnFinished)
        started = bench.started
        assert started.n_prompt == n_tokens
        bench.client.request(CountTokens(chat, 10))
        assert bench.events[-1].n_tokens == n_tokens  # type: ignore[union-attr]
        bench.events.clear()
    assert rendered(bench, chat_of(*without_calls, tools=())).text.startswith("<|im_start|>")


def test_a_template_of_ones_own_comes_before_the_second() -> None:
    own = chat_of(HI, prompting=Prompting("mine {{ messages[-1].content }}"))
    assert "mine hi" in rendered(tool_bench(), own).text


@pytest.mark.parametrize(
    "source",
    [
        "{% for x in y %}",  # it fails
        CHATML.source,  # it knows no tools
        TOOLS_ALONE + "{{ [].x.y if messages[-1].content == 'And tomorrow?' }}",  # it fails later
        TOOLS_ALONE + "{{ [].x.y if tools and tools | length > 1 }}",  # it fails at these tools
    ],
)
def test_the_first_template_continues_where_the_second_does_not_work(source: str) -> None:
    bench = tool_bench(source)
    shown = rendered(bench, chat_of(*conversation()))
    assert shown.text.startswith("<|im_start|>")
    assert any("cannot write these tools" in note for note in shown.notes)
    assert not shown.problem
    assert not shown.is_guessed


def test_the_first_template_continues_where_the_second_has_no_such_choice() -> None:
    thinks = "{% if enable_thinking is defined and not enable_thinking %}/quiet{% endif %}"
    bench = bench_of(CHATML.source + thinks, tool_template=FOR_TOOLS)[0]
    assert rendered(bench, chat_of(HI)).text.startswith("[for tools]")
    shown = rendered(bench, chat_of(HI, prompting=Prompting(think="off")))
    assert "/quiet" in shown.text

"""The switch of a template by which a model reasons or not; the place where reasoning begins."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.bench import Bench
from fake_model import ByteVocabulary, FakeModel, scripted
from paceline.engine.prompt import renderer as renderer_module
from paceline.engine.prompt.formats import PLAIN
from paceline.engine.prompt.reasoning_marks import PAIRS, opened_by
from paceline.engine.prompt.renderer import Outcome, Renderer, RenderJob
from paceline.engine.prompt.template import CHOICES, ChatTemplate
from paceline.errors import EngineError
from paceline.messages import (
    Chat,
    ChatMessage,
    CountTokens,
    Prompting,
    PromptRendered,
    RenderPrompt,
    TokensCounted,
    TurnStarted,
)

HI = (ChatMessage.of_text("user", "hi"),)
TURNS = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
SWITCHES = {
    "a closed thought unless it is on": (
        TURNS + "{% if not enable_thinking %}<think></think>{% endif %}",
        ("off", "on"),
    ),
    "on by itself": (
        TURNS + "{% if thinking is not defined or thinking %}<think>\n{% endif %}",
        ("off", "on"),
    ),
    "a mode": (TURNS + "{% if thinking_mode == 'enabled' %}Think.{% endif %}", ("off", "on")),
    "an effort": (
        "{% set reasoning_effort = reasoning_effort or 'medium' %}{{ reasoning_effort }}" + TURNS,
        ("low", "medium", "high"),
    ),
    "an effort of three words": (
        "{% if reasoning_effort not in ['no_think', 'low', 'high'] %}"
        "{{ raise_exception('no such effort') }}{% endif %}{{ reasoning_effort }}" + TURNS,
        ("off", "low", "high"),
    ),
    "an effort besides": (
        "{% if thinking and reasoning_effort == 'max' %}Absolutely.{% endif %}"
        "{% if enable_thinking %}<think>{% endif %}" + TURNS,
        ("off", "on", "max"),
    ),
    "a budget": (
        "{% if thinking_budget is defined %}{{ thinking_budget }}{% endif %}" + TURNS,
        ("off", "on", "low", "medium", "high"),
    ),
    "a text": (
        "{% if '/no_think' not in messages[0].content %}<think>{% endif %}" + TURNS,
        ("off", "on"),
    ),
    "the name alone": ("{# enable_thinking #}{{ messages[0].reasoning }}" + TURNS, ()),
    "nothing": (TURNS, ()),
    "a failure": ("{{ enable_thinking.nothing.more }}" + TURNS, ()),
}


def template(source: str, think: str = "") -> ChatTemplate:
    return ChatTemplate(source, ByteVocabulary(), think)


@pytest.mark.parametrize("name", SWITCHES)
def test_a_template_shows_its_switch_for_reasoning(name: str) -> None:
    source, choices = SWITCHES[name]
    assert template(source).switch.choices == choices
    prompts = {template(source, choice).render(HI) for choice in choices}
    assert len(prompts) == len(choices)


def test_a_text_that_switches_stands_in_the_system_message() -> None:
    source, _ = SWITCHES["a text"]
    assert template(source, "off").render(HI).startswith("system: /no_think\nuser: hi")
    messages = (ChatMessage.of_text("system", "Be brief."), *HI)
    assert "system: Be brief.\n\n/no_think\n" in template(source, "off").render(messages)
    assert template(source).render(messages).startswith("<think>system: Be brief.\nuser")


@pytest.mark.parametrize("name", ["nothing", "an effort"])
def test_a_choice_that_is_not_there_is_refused(name: str) -> None:
    source, choices = SWITCHES[name]
    with pytest.raises(EngineError) as caught:
        template(source, "off").encode(HI)
    assert caught.value.code == "no-thinking-switch"
    hint = f"It has {', '.join(choices)}." if choices else "Leave that to the model."
    assert caught.value.hint == hint
    assert ("does not know “off” as a way to reason" in caught.value.message) == bool(choices)


@pytest.mark.parametrize("mark", PAIRS)
def test_a_prompt_that_opens_the_reasoning_is_known(mark: str) -> None:
    assert opened_by(f"user: hi\nassistant:{mark}\n") == f"{mark}\n"
    assert opened_by(f"{mark}hm{PAIRS[mark]}") == ""
    assert opened_by("") == ""
    assert opened_by("hi\n\nHere are my reasoning steps:\n") == "[BEGIN REASONING]\n"


@pytest.mark.parametrize(("think", "begin"), [("", "<think>\n"), ("off", "")])
def test_a_reply_begins_with_what_its_prompt_opened(think: str, begin: str) -> None:
    source = TURNS + (
        "{% if thinking is not defined or thinking %}<think>\n{% else %}<think></think>{% endif %}"
    )
    bench = writer("Hm.</think>Yes.", source, think)
    finished = bench.finish(prompting=Prompting(think=think))
    assert finished.text == f"{begin}Hm.</think>Yes."
    assert [e.opening for e in bench.events if isinstance(e, TurnStarted)] == [begin]
    steps = bench.steps
    assert "".join(step.text for step in steps) == finished.text
    ends = [trace.text_end for step in steps for trace in step.tokens]
    assert ends[:3] == [len(begin) + n for n in (1, 2, 3)]


def writer(reply: str, source: str, think: str = "", *, written: str = "") -> Bench:
    """An engine whose model writes a reply after `HI`, as `written` or else its template has it."""
    n_prompt = len(template(written or source or PLAIN.source, think).encode(HI)[0])
    model = FakeModel(scripted(reply, n_prompt))
    model.template = source
    bench = Bench(target=model)
    bench.load()
    return bench


def test_a_reply_ends_before_the_next_turn_of_a_text() -> None:
    bench = writer(" Hello!\nUser: And now?\nAssistant: Hm.", "")
    finished = bench.finish(max_tokens=99)
    assert (finished.text, finished.reason) == (" Hello!", "stop")
    endless = bench.finish(ignore_eog=True)
    assert endless.text.startswith(" Hello!\nUser: And now?")


def shown(bench: Bench, **options: str) -> PromptRendered:
    bench.client.request(RenderPrompt(Chat(HI, Prompting(**options))))
    answer = bench.events[-1]
    assert isinstance(answer, PromptRendered)
    return answer


def test_the_engine_shows_a_prompt_and_what_is_wrong_with_a_template() -> None:
    source = SWITCHES["a closed thought unless it is on"][0]
    bench = writer("Yes.", source)
    answer = shown(bench)
    assert answer.text == "user: hi\nassistant:<think></think>"
    assert (answer.n_chars, answer.thinking) == (len(answer.text), ("off", "on"))
    assert (answer.own, answer.is_guessed) == (source, False)
    assert shown(bench, think="on").text == "user: hi\nassistant:"
    broken = shown(bench, template="{% for %}")
    assert "line 1" in broken.problem
    assert broken.hint
    assert (broken.text, broken.own) == ("", source)
    plain = shown(writer("Yes.", ""))
    assert plain.is_guessed
    assert plain.stops == ("\nUser:", "\nAssistant:")


def test_a_long_prompt_is_shown_by_its_end() -> None:
    bench = writer("Yes.", TURNS)
    bench.client.request(RenderPrompt(Chat((ChatMessage.of_text("user", "x" * 200_000),))))
    answer = bench.events[-1]
    assert isinstance(answer, PromptRendered)
    assert answer.n_chars > 200_000 > len(answer.text)
    assert answer.text.endswith("x\nassistant:")


def test_without_a_model_there_is_no_prompt() -> None:
    bench = Bench()
    assert "No model" in shown(bench).problem


def test_sizes_are_those_of_the_template_in_use() -> None:
    bench = writer("Yes.", TURNS)
    sizes = []
    for prompting in (Prompting(), Prompting("{{ messages[0].content }}"), Prompting()):
        bench.client.request(CountTokens(Chat(HI, prompting)))
        counted = bench.events[-1]
        assert isinstance(counted, TokensCounted)
        sizes.append(counted.n_tokens)
    assert sizes == [len("user: hi\nassistant:"), 2, len("user: hi\nassistant:")]


def test_a_broken_template_costs_a_reply_and_nothing_else() -> None:
    bench = writer("Yes.", TURNS)
    failed = bench.fail(prompting=Prompting("{{ messages.nothing.more }}"))
    assert failed.code == "bad-template"
    bench.finish()


FAILING = "{% if messages | length > 2 %}{{ messages.nothing.more }}{% endif %}" + TURNS


def test_a_failing_template_of_the_file_gives_way_to_a_guess() -> None:
    source = "{{ messages.nothing.more }}{{ thinking }}"
    bench = writer("Yes.", source, written=PLAIN.source)
    for think in ("", "on"):
        bench.finish(prompting=Prompting(think=think))
        started = bench.started
        (note,) = started.notes
        assert note.startswith("The chat template failed: ")
        assert note.endswith("so the template plain is used in its place, which is a guess.")
        bench.events.clear()
    answer = shown(bench)
    assert answer.text == "User: hi\nAssistant:"
    assert (answer.own, answer.is_guessed, answer.problem) == (PLAIN.source, True, "")
    bench.client.request(CountTokens(Chat(HI)))
    counted = bench.events[-1]
    assert isinstance(counted, TokensCounted)
    assert counted.n_tokens == len(answer.text)


def test_a_template_that_fails_later_gives_way_then() -> None:
    bench = writer("Yes.", FAILING)
    assert shown(bench).text == "user: hi\nassistant:"
    longer = (*HI, ChatMessage.of_text("assistant", "Yes?"), ChatMessage.of_text("user", "go"))
    bench.client.request(CountTokens(Chat(longer)))
    assert shown(bench).text == "User: hi\nAssistant:"
    mine = shown(bench, template=TURNS)
    assert (mine.text, mine.notes) == ("user: hi\nassistant:", ())


def test_a_refusal_is_no_failure() -> None:
    bench = writer("Yes.", "{{ raise_exception('no') }}", written=PLAIN.source)
    failed = bench.fail()
    assert failed.code == "template-refused"
    assert not shown(bench).is_guessed


def test_all_that_is_tried_of_a_slow_template_has_one_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(renderer_module, "DEADLINE_S", 0.3)
    asked = []
    ask = Renderer.render

    def noted(
        self: Renderer, source: tuple[str, str, str], jobs: Sequence[RenderJob]
    ) -> list[Outcome]:
        asked.append(len(jobs))
        return ask(self, source, jobs)

    monkeypatch.setattr(Renderer, "render", noted)
    slow = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"
    made = template(slow + TURNS + "{{ enable_thinking }}{{ '/no_think detailed thinking off' }}")
    assert made.switch.choices == ()
    assert made.stops == ()
    assert asked == [len(CHOICES)]

"""Forms against the chat templates of real models: what these write is read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import structs

import real_templates
from engine.calls.tools import Called, read_of
from fake_model import ByteVocabulary
from paceline.content import Tool, ToolCall
from paceline.engine.calls.forms import BY_ID, FORMS, HERMES, form_of
from paceline.engine.calls.reader import CallReader
from paceline.engine.calls.writer import writer_of
from paceline.engine.prompt.template import ChatTemplate
from paceline.messages import ChatMessage

OTHERS = {
    "fireworks-ai-llama-3-firefunction-v2",
    "GigaChat3-10B-A1.8B",
    "google-gemma-4-31B-it",
    "google-gemma-4-31B-it-interleaved",
    "Kimi-K3",
    "meetkai-functionary-medium-v3.2",
    "MiniMax-M1",
    "MiniMax-M3",
    "muse-glimmer",
}
"""Templates that write calls in a form of their own, which is not described here."""
EXPECTED = {
    "Apertus-8B-Instruct": "apertus",
    "Apriel-1.6-15b-Thinker-fixed": "apriel",
    "ByteDance-Seed-OSS": "seed",
    "Cohere2MoE": "command",
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": "command",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "deepseek-json",
    "deepseek-ai-DeepSeek-V3.1": "deepseek",
    "deepseek-ai-DeepSeek-V3.2": "dsml-function_calls",
    "deepseek-ai-DeepSeek-V4": "dsml-tool_calls",
    "GLM-4.6": "glm",
    "GLM-4.7-Flash": "glm-in-a-line",
    "ibm-granite-granite-3.3-2B-Instruct": "granite",
    "ibm-granite-granite-4.0": "hermes",
    "Kimi-K2-Instruct": "kimi",
    "LFM2-8B-A1B": "lfm",
    "LFM2.5-8B-A1B": "lfm",
    "meetkai-functionary-medium-v3.1": "functionary",
    "meta-llama-Llama-3.1-8B-Instruct": "llama",
    "meta-llama-Llama-3.2-3B-Instruct": "llama",
    "MiniMax-M2": "minimax",
    "Mistral-Small-3.2-24B-Instruct-2506": "mistral",
    "mistralai-Mistral-Nemo-Instruct-2407": "mistral-list",
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "qwen-coder",
    "NVIDIA-Nemotron-Nano-v2": "nemotron",
    "openai-gpt-oss-120b": "harmony",
    "openbmb-MiniCPM5-1B": "minicpm",
    "Qwen-Qwen3-0.6B": "hermes",
    "Qwen3-Coder": "qwen-coder",
    "tencent-Hy3": "hunyuan",
    "upstage-Solar-Open-100B": "solar",
}
LOOK_UP = Tool(
    "look_up",
    "Looks the weather up.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "town": {"type": "string", "description": "Its name."},
                "days": {"type": "array", "items": {"type": "integer"}},
                "deep": {"type": "boolean"},
                "least": {"type": "number"},
            },
            "required": ["town"],
        }
    ),
)
STOP = Tool("stop_all", "Stops whatever runs.")
TOOLS = (LOOK_UP, STOP)
CALLS = (
    Called("look_up", {"town": 'Bern "by" the {Aare} é', "days": [1, 2], "deep": True}),
    Called("stop_all", {}),
    Called("look_up", {"town": "3", "least": 0.5}),
)
QUESTION, RESULT = "How is the weather?", "snow at 3"


def asked(calls: tuple[Called, ...]) -> list[ChatMessage]:
    """A conversation with these calls and their results."""
    made = tuple(
        ToolCall(f"callnr{i:03}", each.name, json.dumps(each.arguments, ensure_ascii=False))
        for i, each in enumerate(calls)
    )
    result: Any = ChatMessage.of_text("tool", RESULT)
    return [
        ChatMessage.of_text("user", QUESTION),
        structs.replace(ChatMessage.of_text("assistant", ""), calls=made),
        *(structs.replace(result, answers=call.id) for call in made),
    ]


def what_is_said(template: ChatTemplate, calls: tuple[Called, ...]) -> str:
    """Return what a template writes between a question and the calls' first result."""
    text, _ = template.render_with_notes(asked(calls), TOOLS)
    return text.rpartition(QUESTION)[2].partition(RESULT)[0]


@pytest.mark.parametrize("name", [name for name in real_templates.NAMES if name not in OTHERS])
def test_calls_that_a_template_writes_are_read(name: str) -> None:
    source = real_templates.source(name)
    template = ChatTemplate(source, ByteVocabulary(), write_calls=writer_of(source))
    form = form_of(source) if template.writes(TOOLS) else HERMES
    calls = CALLS if form.between and not form.is_first else CALLS[:1]
    said = what_is_said(template, calls)
    if form.is_first:  # before it stands what begins the turn, which is no part of a reply
        said = said[said.index(form.marks[0]) :]
    for texts in ([said], list(said)):
        reader = CallReader(form, TOOLS, lambda: "id")
        pieces = [piece for text in texts for piece in reader.add(text)]
        read = read_of([*pieces, *reader.finish(is_cut=False)])
        assert read.calls == list(calls), said
        assert not read.n_broken


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_template_shows_its_form_of_calls(name: str) -> None:
    assert form_of(real_templates.source(name)).id == EXPECTED[name]


def test_every_form_is_recognised_by_a_template() -> None:
    told = {form_of(real_templates.source(name)).id for name in real_templates.NAMES}
    assert told == {form.id for form in FORMS}


def test_forms_are_named_once_and_the_last_is_for_what_is_not_known() -> None:
    assert len(BY_ID) == len(FORMS)
    assert form_of("{{ messages }}") is HERMES

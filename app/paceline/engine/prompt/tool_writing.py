"""The form of tools, calls and results in a template, learned by rendering a conversation.

Templates use different forms: some take the arguments of a call as an object and others as text,
some refuse two calls in one message or ids of more than nine characters, some omit what was said
beside a call. So a short conversation is tried in each form, and the first form with nothing
missing in the prompt is used. Some write tools and results but no calls: for them the calls are
appended to the assistant's text, if they show that unchanged.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from msgspec import structs

from paceline.content import Tool, ToolCall
from paceline.engine.prompt.renderer import Outcome, RenderJob, WriteCalls
from paceline.messages import ChatMessage

_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")
_TOLD, _QUAY = "Tells of the wind", "Whichever quay"
_TOOL = Tool(
    "get_zephyr",
    _TOLD,
    json.dumps(
        {
            "type": "object",
            "properties": {"harbour": {"type": "string", "description": _QUAY}},
            "required": ["harbour"],
        }
    ),
)
_ASKED = ChatMessage.of_text("user", "Whatfor")
_SAID, _REASONING = "Foreword", "Inwardness"
_VALUES = ('Ame"land', 'Born"holm')
_AS_PYTHON = "{'harbour': 'Ame"
_RESULTS = ("Northerly", "Southerly")
_ANSWER = ChatMessage.of_text("assistant", "Therefore")
_AGAIN = ChatMessage.of_text("user", "Whereto")


@dataclass(frozen=True, slots=True)
class ToolWriting:
    """The form in which a template takes calls of tools, if it knows tools at all.

    Attributes:
        is_known: Whether it writes tools, calls and results.
        takes_text: Whether it expects the arguments of calls as text, not as objects.
        has_one_call: Whether it accepts only one call per message.
        is_apart: Whether it omits what is said beside a call, but not what is said before it.
        is_reasoning: Whether it accepts reasoning beside a call, but no answer.
        has_short_ids: Whether ids of calls must have nine letters and digits.
        is_silent: Whether it omits what is said beside a call in every form.
        write_calls: Appends calls to the assistant's text, since it writes none itself, or None.
    """

    is_known: bool = True
    takes_text: bool = False
    has_one_call: bool = False
    is_apart: bool = False
    is_reasoning: bool = False
    has_short_ids: bool = False
    is_silent: bool = False
    write_calls: WriteCalls | None = None

    def job(
        self,
        messages: Sequence[ChatMessage],
        variables: Mapping[str, Any],
        tools: Sequence[Tool],
    ) -> RenderJob:
        """Return the job of rendering a conversation that was converted by `arranged`."""
        return RenderJob(messages, variables, tools, self.takes_text, self.write_calls)

    def arranged(self, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        """Return a conversation in the form that the template accepts."""
        found = [one for message in messages for one in self._parts(message)]
        if self.has_one_call:
            found = list(_one_by_one(found))
        return tuple(map(self._with_short_ids, found) if self.has_short_ids else found)

    def _parts(self, message: ChatMessage) -> tuple[ChatMessage, ...]:
        text = message.text
        if not (message.calls and text.strip()):
            return (message,)
        if self.is_apart:
            said = ChatMessage(message.role, message.content)
            return said, structs.replace(message, content=())
        if self.is_reasoning and message.reasoning:
            reasoning = f"{message.reasoning}\n\n{text}"
            return (structs.replace(message, content=(), reasoning=reasoning),)
        return (message,)

    def _with_short_ids(self, message: ChatMessage) -> ChatMessage:
        calls = tuple(structs.replace(call, id=_short(call.id)) for call in message.calls)
        answers = message.answers and _short(message.answers)
        return structs.replace(message, calls=calls, answers=answers)


def _short(call: str) -> str:
    if _SHORT_ID.fullmatch(call):
        return call
    return hashlib.sha256(call.encode(errors="surrogatepass")).hexdigest()[:9]


def _one_by_one(messages: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
    """Yield each call in a message of its own, before its result."""
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        end = at
        while len(message.calls) > 1 and end < len(messages) and messages[end].role == "tool":
            end += 1
        results = messages[at:end]
        at = end
        for call in message.calls[:-1]:
            yield structs.replace(message, calls=(call,))
            yield from (result for result in results if result.answers == call.id)
            results = [result for result in results if result.answers != call.id]
            message = ChatMessage(message.role, (), message.calls)  # the text was in the first one
        yield structs.replace(message, calls=message.calls[-1:])
        yield from results


def learn_writing(
    render: Callable[[Sequence[RenderJob]], list[Outcome]],
    variables: Mapping[str, Any],
    write_calls: WriteCalls | None,
) -> ToolWriting:
    """Return the form of a template.

    Args:
        render: Renders conversations with it.
        variables: Variables of prompts.
        write_calls: Writes calls as its models do, or None if that is not known.
    """
    forms = [
        ToolWriting(takes_text=text, has_one_call=one, is_apart=apart)
        for text, one, apart in product((False, True), repeat=3)
    ]
    found = _learned(render, variables, forms)
    if not found.is_known and write_calls:
        found = _learned(render, variables, [ToolWriting(write_calls=write_calls)])
    return found


def _learned(
    render: Callable[[Sequence[RenderJob]], list[Outcome]],
    variables: Mapping[str, Any],
    forms: Sequence[ToolWriting],
) -> ToolWriting:
    """Return the first of these forms that works, with the template's further requirements."""
    usual = RenderJob([_ASKED], variables)  # shows whether only calls fail, not the template
    jobs = [usual]
    for form in forms:
        begun = _conversation()
        jobs += [_job(form, each, variables) for each in ([*begun, _ANSWER, _AGAIN], begun)]
    prompts = _prompts(render(jobs))[1:]
    whole = [i for i, form in enumerate(forms) if _has_all(prompts[2 * i], form)]
    if not whole:
        return ToolWriting(is_known=False)
    best = next((i for i in whole if _SAID in prompts[2 * i + 1]), whole[0])
    found = replace(forms[best], is_silent=_SAID not in prompts[2 * best + 1])
    harder = (_conversation(long_ids=True), _conversation(_REASONING))
    jobs = [usual, *(_job(found, each, variables) for each in harder)]
    _, long_ids, reasoned = _prompts(render(jobs))
    return replace(found, has_short_ids=not long_ids, is_reasoning=not reasoned)


def _prompts(outcomes: Sequence[Outcome]) -> list[str]:
    return [text if kind == "text" else "" for kind, text in outcomes]


def _job(
    form: ToolWriting, messages: Sequence[ChatMessage], variables: Mapping[str, Any]
) -> RenderJob:
    return form.job(form.arranged(messages), variables, [_TOOL])


def _conversation(reasoning: str = "", *, long_ids: bool = False) -> list[ChatMessage]:
    """Return a question, two calls, and their results."""
    ids = [f"call{'_' * 20 * long_ids}0000{i}" for i in range(len(_VALUES))]
    calls = tuple(
        ToolCall(call, _TOOL.name, json.dumps({"harbour": value}))
        for call, value in zip(ids, _VALUES, strict=True)
    )
    said = structs.replace(
        ChatMessage.of_text("assistant", _SAID), calls=calls, reasoning=reasoning
    )
    results = [
        structs.replace(ChatMessage.of_text("tool", text), answers=call)
        for call, text in zip(ids, _RESULTS, strict=True)
    ]
    return [_ASKED, said, *results]


def _has_all(prompt: str, form: ToolWriting) -> bool:
    """Return whether nothing is missing from a prompt, except what is said beside the calls."""
    texts = (_TOOL.name, _TOLD, _QUAY, *_RESULTS, _ASKED.text, _ANSWER.text, _AGAIN.text)
    if not all(text in prompt for text in texts):
        return False
    if form.write_calls:
        return all(form.write_calls(m.calls) in prompt for m in _conversation() if m.calls)
    # Unchanged, or escaped once as in JSON; not as Python writes a dictionary.
    ways = ((value, json.dumps(value)[1:-1]) for value in _VALUES)
    return all(any(way in prompt for way in both) for both in ways) and _AS_PYTHON not in prompt

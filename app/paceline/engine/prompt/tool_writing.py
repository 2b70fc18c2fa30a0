"""Tools, calls and results as a template writes them, found by rendering a conversation with them.

Templates agree on no form: some take the arguments of a call as an object and others as text, some
refuse two calls in one message or ids of more than nine characters, some leave out what was said
beside a call. So a short conversation is tried in each form, and the first form counts in which
nothing is missing from the prompt. Some write tools and results but no calls: they are given the
calls as the end of what the assistant says, if they show that as it is.
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
        takes_text: Whether it wants the arguments of calls as text, not as objects.
        has_one_call: Whether it takes one call in a message.
        is_apart: Whether it leaves out what is said beside a call, but not what is said before it.
        is_reasoning: Whether it takes reasoning beside a call, and no answer besides.
        has_short_ids: Whether ids of calls have nine letters and digits.
        is_silent: Whether it leaves out what is said beside a call, however that is put.
        write_calls: Makes calls the end of what is said, since it writes none itself; else None.
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
        """Return what is put through the template for a conversation that is arranged for it."""
        return RenderJob(messages, variables, tools, self.takes_text, self.write_calls)

    def arranged(self, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        """Return a conversation as the template takes it."""
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
            message = ChatMessage(message.role, (), message.calls)  # the rest was said once
        yield structs.replace(message, calls=message.calls[-1:])
        yield from results


def learn_writing(
    render: Callable[[Sequence[RenderJob]], list[Outcome]],
    variables: Mapping[str, Any],
    write_calls: WriteCalls | None,
) -> ToolWriting:
    """Return the form of a template.

    Args:
        render: Puts conversations through it.
        variables: What prompts are made with.
        write_calls: Writes calls as its models do; None: that is not known.
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
    """Return the first of these forms that is the template's, with what else it wants."""
    usual = RenderJob([_ASKED], variables)  # shows that what fails are calls, not the template
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
    """Return a question, two calls, and what they return."""
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
    """Return whether nothing but what is said beside the calls is missing from a prompt."""
    texts = (_TOOL.name, _TOLD, _QUAY, *_RESULTS, _ASKED.text, _ANSWER.text, _AGAIN.text)
    if not all(text in prompt for text in texts):
        return False
    if form.write_calls:
        return all(form.write_calls(m.calls) in prompt for m in _conversation() if m.calls)
    # As it is, or as JSON writes it once; not as Python writes a dictionary.
    ways = ((value, json.dumps(value)[1:-1]) for value in _VALUES)
    return all(any(way in prompt for way in both) for both in ways) and _AS_PYTHON not in prompt

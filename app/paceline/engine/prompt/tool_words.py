"""Tools, calls and results as text, for models whose chat template does not know tools.

The form is that of Hermes, which most small models have seen: JSON between tags.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import structs

from paceline.content import Content, Tool, appended, joined, of_text
from paceline.engine.prompt.renderer import tool_for_template
from paceline.messages import ChatMessage

_CALL = """\
<tool_call>
{{"name": {name}, "arguments": {arguments}}}
</tool_call>"""
_EXAMPLE = _CALL.format(name='"name of the tool"', arguments='{"name of the argument": "value"}')
_FORM = """\
You can call tools. These are their descriptions:
<tools>
{tools}
</tools>

To call a tool, write its name and its arguments as a JSON object between these tags, once for \
each call:
{call}
The result of each call is then given to you between <tool_response> and </tool_response>."""


def in_words(messages: Sequence[ChatMessage], tools: Sequence[Tool]) -> tuple[ChatMessage, ...]:
    """Return the conversation with only system prompt, questions and replies."""
    told: list[ChatMessage] = []
    for message in messages:
        if message.role != "tool":
            told.append(structs.replace(message, content=_said(message), calls=()))
            continue
        result = of_text(f"<tool_response>\n{message.text}\n</tool_response>")
        if told and told[-1].answers:  # results for one reply are one message
            result = appended(told.pop().content, "\n" + result[0].text)
        told.append(ChatMessage("user", result, answers=message.answers))
    told = [structs.replace(message, answers="") for message in told]
    return tuple(_with_system(told, of_text(_described(tools))) if tools else told)


def _said(message: ChatMessage) -> Content:
    """Return the text of a message, with its calls after it."""
    if not message.calls:
        return message.content
    calls = "\n".join(
        _CALL.format(name=json.dumps(call.name), arguments=call.arguments) for call in message.calls
    )
    return appended(message.content, "\n" * bool(message.text) + calls)


def _described(tools: Sequence[Tool]) -> str:
    lines = (json.dumps(tool_for_template(tool), ensure_ascii=False) for tool in tools)
    return _FORM.format(tools="\n".join(lines), call=_EXAMPLE)


def _with_system(messages: list[ChatMessage], text: Content) -> list[ChatMessage]:
    if messages and messages[0].role == "system":
        return [ChatMessage("system", joined(messages[0].content, text)), *messages[1:]]
    return [ChatMessage("system", text), *messages]

"""The objects that every route works with, kept in the application."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, cast

from paceline.messages import Chat, ChatMessage, PromptRendered, RenderPrompt
from paceline.names import visible
from paceline.params import Prompting
from paceline.server.errors import ApiError
from paceline.server.journal import Caller
from paceline.server.limits import BODY_S, MAX_BODY_BYTES
from paceline.server.unchanged import UnchangedLines

if TYPE_CHECKING:
    from starlette.requests import Request

    from paceline.server.asking import Desk
    from paceline.server.journal import Journal
    from paceline.server.metrics import Metrics
    from paceline.server.served import Defaults, Served, ServedModels

_MAX_NAME_CHARS = 60
_NO_SWITCH = (
    "How much is reasoned stays as it is, since the model's chat template has no switch for the "
    "wish in this request."
)
_NOT_IN_NAMES = re.compile(r"[^!-+\--~]")


@dataclass(slots=True)
class Context:
    """The objects that every route works with.

    Attributes:
        desk: Access to the engine.
        models: The models that programs can request.
        defaults: Values for fields that a request leaves out; the window replaces them.
        journal: Keeps the last requests.
        metrics: Counters of requests.
        unchanged: The first lines of programs, where changes of lines are ignored.
        switch: Id of a loaded pair and its template's words for the amount of reasoning, or None if
            they are not known.
    """

    desk: Desk
    models: ServedModels
    defaults: Defaults
    journal: Journal
    metrics: Metrics
    unchanged: UnchangedLines = field(default_factory=UnchangedLines, init=False)
    switch: tuple[object, tuple[str, ...]] | None = field(default=None, init=False)

    @staticmethod
    def of(request: Request) -> Context:
        """Return the application's."""
        return cast("Context", request.app.state.context)

    @staticmethod
    def caller(request: Request) -> Caller:
        """Return the requesting program."""
        agent = visible(request.headers.get("user-agent", "").strip())
        return Caller(agent[:_MAX_NAME_CHARS] or "?", request.scope["path"])

    @staticmethod
    async def body(request: Request) -> bytes:
        """Return a request's body.

        Raises:
            ApiError: It is too large, or does not come.
        """
        body = bytearray()
        declared = request.headers.get("content-length", "0")
        if int(declared) > MAX_BODY_BYTES:
            raise _too_large()
        try:
            async with asyncio.timeout(BODY_S):
                async for part in request.stream():
                    body += part
                    if len(body) > MAX_BODY_BYTES:
                        raise _too_large()
        except TimeoutError:
            raise ApiError(
                408, "body_too_slow", "The body did not come in time.",
                headers={"connection": "close"},
            ) from None  # fmt: skip
        return bytes(body)

    async def prompting(self, think: str, served: Served) -> tuple[Prompting, tuple[str, ...]]:
        """Return the prompt settings with the requested amount of reasoning, and remarks.

        And remarks about that wish, for the program.

        The nearest of the words of the model's template is used; a template without such a switch
        ignores it. The engine is asked once for each load, since the question would wait for the
        reply under way, without a sign of life.

        Args:
            think: A word of `Prompting.think`, or empty if none is requested.
            served: The loaded pair.
        """
        prompting = self.defaults.prompting
        if not think:
            return prompting, ()
        key = (served.id, served.loaded_s, prompting)
        if self.switch is None or self.switch[0] != key:
            rendered = await self.rendered()
            self.switch = (key, rendered.thinking) if rendered else None
        choice = nearest(think, self.switch[1] if self.switch else ())
        return replace(prompting, think=choice), () if choice else (_NO_SWITCH,)

    async def rendered(self) -> PromptRendered | None:
        """Return a greeting rendered by the loaded model's template, or None if the engine died."""
        probe = Chat((ChatMessage.of_text("user", "Hello"),), self.defaults.prompting)
        answer = await self.desk.answer(RenderPrompt(probe), "")
        return answer if isinstance(answer, PromptRendered) else None


def _too_large() -> ApiError:
    return ApiError(413, "body_too_large", f"The body is larger than {MAX_BODY_BYTES >> 20} MB.")


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""The amount of reasoning, as APIs say it."""
_LEVELS = ("off", "low", "medium", "high", "max")
_THINK = {"none": "off", "minimal": "low", "xhigh": "max"}


def think_of(effort: Effort | None, *, is_on: bool | None = None) -> str:
    """Return the requested reasoning as a word of `Prompting.think`, or empty if none is.

    Args:
        effort: The requested amount of reasoning.
        is_on: Whether the model should reason at all, or None if the request does not say.
    """
    if is_on is False:
        return "off"
    return _THINK.get(effort, effort) if effort else "on" if is_on else ""


def nearest(think: str, choices: tuple[str, ...]) -> str:
    """Return the choice nearest to the requested one; empty if the template has no switch.

    For a template that can only switch reasoning on or off, any level but "off" switches it on.
    """
    if think in choices or not choices:
        return think if choices else ""
    if think == "on" or "on" in choices:
        return "" if think == "off" else next((c for c in ("on", "medium") if c in choices), "")
    levels = [choice for choice in _LEVELS if choice in choices]
    wanted = _LEVELS.index(think)
    return min(levels, key=lambda level: abs(_LEVELS.index(level) - wanted), default="")


def ignored_header(names: tuple[str, ...]) -> dict[str, str]:
    """Return the header that lists unknown fields."""
    shown = (
        _NOT_IN_NAMES.sub("?", name[:_MAX_NAME_CHARS]) or "?" for name in names[:_MAX_NAME_CHARS]
    )
    return {"x-paceline-ignored": ", ".join(shown)} if names else {}

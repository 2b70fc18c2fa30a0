"""The kinds of workers that the program has, each with a question and its answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from paceline import paths
from paceline.catalog.inspect.child import run_inspector
from paceline.catalog.inspect.inspector import inspector_language
from paceline.catalog.inspect.wire import LookAt, Seen
from paceline.engine.llama.kernel_library import run_prover
from paceline.engine.model.own_kernels import prover_language
from paceline.engine.prompt.renderer import SANDBOX, Outcome, RenderJob, templates_language
from paceline.hosting.description import description_language, run_description
from paceline.messages import ChatMessage, DescribeEngine, EngineDescribed
from paceline.workers.process import ChildMain, Language
from workers.echo import LANGUAGE, run_echo


class Kind(NamedTuple):
    """One kind of worker.

    Attributes:
        main: Function that runs in its process.
        language: Protocol of its questions and answers.
        question: A question that it can answer.
        is_answered: Returns whether an answer belongs to that question.
        takes_any_text: True if every text is an answer in its language.
    """

    main: ChildMain
    language: Language[Any, Any]
    question: Any
    is_answered: Callable[[Any], bool]
    takes_any_text: bool = False


ECHO = Kind(run_echo, LANGUAGE, "hi", "hi".__eq__, True)


def _inspector() -> Kind:
    model = str(paths.demo_pair()[1])
    question = LookAt((model,), card_only=True)
    return Kind(run_inspector, inspector_language(), question, lambda a: isinstance(a, Seen))


def _templates() -> Kind:
    question = (
        ("{{ messages[0].content }}", "", ""),
        [RenderJob((ChatMessage.of_text("user", "hi"),), {})],
    )
    return Kind(SANDBOX, templates_language(), question, [Outcome("text", "hi")].__eq__)


def _description() -> Kind:
    return Kind(
        run_description,
        description_language(),
        DescribeEngine(),
        lambda answer: isinstance(answer, EngineDescribed),
    )


def prover(library: Path) -> Kind:
    """Return the kind that tests kernels, of a library that stands in for them."""
    main = partial(run_prover, str(library))
    return Kind(main, prover_language(), "q8_0", "proved".__eq__)


KINDS: dict[str, Callable[[], Kind]] = {
    "echo": lambda: ECHO,
    "inspector": _inspector,
    "templates": _templates,
    "description": _description,
}
"""All but the prover, which needs a library that is compiled for it."""

"""The stop text that ended a reply: one of those that were asked for, or none."""

from __future__ import annotations

import pytest

from engine.bench import ASK, Bench
from fake_model import FakeModel, scripted
from paceline.engine.prompt.formats import PLAIN
from paceline.messages import Prompting, TurnFinished

PROMPT = "User: hi\nAssistant:"
REPLY = "One, two.\nUser: three"


def ended(reply: str = REPLY, **options: object) -> TurnFinished:
    bench = Bench(target=FakeModel(scripted(reply, len(PROMPT))))
    bench.load()
    prompting = Prompting(template=PLAIN.source)
    return bench.finish(messages=ASK, prompting=prompting, max_tokens=len(reply), **options)


@pytest.mark.parametrize("strategy", ["off", "suffix"])
@pytest.mark.parametrize(
    ("stop", "text", "stopped_by"),
    [
        ((), "One, two.", ""),  # the template's own text ended it
        (("x",), "One, two.", ""),
        (("two",), "One, ", "two"),
        (("two.", ", two"), "One", ", two"),
        (("two", "ne, two", "e, two"), "O", "ne, two"),
        (("\nUser:",), "One, two.", "\nUser:"),
        (("\nUser", "\nUs"), "One, two.", "\nUs"),  # complete before the template's
        (("O", ""), "", "O"),
        (("three",), "One, two.", ""),
    ],
)
def test_the_stop_text_that_ended_a_reply_is_reported(
    stop: tuple[str, ...], text: str, stopped_by: str, strategy: str
) -> None:
    finished = ended(stop=stop, strategy=strategy)
    assert (finished.reason, finished.text) == ("stop", text)
    assert finished.stopped_by == stopped_by


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"stop": ("twofold", "three!")}, "length"), ({"expected": (1,)}, "cancelled")],
)
def test_no_stop_text_is_reported_where_a_reply_ended_otherwise(
    options: dict[str, object], reason: str
) -> None:
    finished = ended("One, two, three", **options)
    assert (finished.reason, finished.stopped_by) == (reason, "")
    assert ended("One, two", stop=("three",)).stopped_by == ""


def test_a_continued_reply_reports_the_next_stop_text() -> None:
    first = ended("One, two; three", stop=(", ", "; "))
    assert first.stopped_by == ", "
    begun = {"begun": first.tokens, "begun_text": first.text}
    assert ended("One, two; three", stop=(", ", "; "), **begun).stopped_by == "; "

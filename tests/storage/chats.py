"""Small chats and replies for the tests of the store."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paceline.conversation import Conversation, Message
from paceline.figures import DraftCount, DrafterStats, TokenTrace, TurnStats
from paceline.messages import StepCommitted
from paceline.params import LogitBias, Prompting, SamplingParams
from paceline.run_record import ModelRecord, RunRecord
from paceline.storage.archive import Archive

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.storage.problems import StorageProblem

_NEW_FIGURES = ("plain_low", "plain_high", "machine_busy")


def chat(key: str, *texts: str, title: str = "") -> Conversation:
    """A conversation of questions and answers; its messages are called KEY-0, KEY-1 and so on."""
    made = Conversation(key, title, 100.0, changed_s=200.0)
    for i, text in enumerate(texts):
        role = "assistant" if i % 2 else "user"
        made = made.add(Message.of_text(f"{key}-{i}", made.leaf_id, role, text, 100.0 + i))
    return made


def step(number: int, text: str, end: int) -> StepCommitted:
    """A step of two tokens, one of them drafted; every value survives being stored."""
    tokens = (
        TokenTrace(1000 + number, "draft", 0, 0.875, end - 1),
        TokenTrace(7, "target", -1, None, end),
    )
    counts = (DraftCount("draft", 4, 1, 1), DraftCount("suffix", 2, 0))
    return StepCommitted(
        number, tokens, text, counts, 0.001, 0.0125, 0.000002, 0.02, number % 7 == 0
    )


def steps(texts: Sequence[str]) -> tuple[StepCommitted, ...]:
    """Steps that give these texts."""
    ends = (len("".join(texts[: i + 1])) for i in range(len(texts)))
    return tuple(step(i, text, end) for i, (text, end) in enumerate(zip(texts, ends, strict=True)))


def record(message_id: str, *texts: str) -> RunRecord:
    """Return the record of a reply that ended, with every field filled."""
    drafter = DrafterStats("draft", 1, 30, 29, 0.5, 1.5, 0.25, 29, 20, 90, 60, (20, 15, 5))
    stats = TurnStats(
        True, 120, 20, 60, 0.25, 2.0, 2.25, 30.0, 15.0, 40, 90, 60, 2, 0.68, 2.0, 0.01, (drafter,),
        plain_low=12.5, plain_high=18.0, machine_busy=True,
    )  # fmt: skip
    model = ModelRecord(
        "A model", "model.gguf", "llama", "1B", 10**9, 2**30, 4096, 4, 8, 0, "f", "s"
    )
    return RunRecord(
        message_id, "finished", 1e9, "draft", "auto",
        SamplingParams(logit_bias=(LogitBias(5, -1.0),)),
        256, 2**63, ("###",), "Be brief.", True, 3, "eog", None, stats, 0.125,
        ("a note",), model, replace(model, name="small"), "0.1", "0.3.36", steps(texts),
        Prompting("{{ messages }}", "off"), 2, True, True,
    )  # fmt: skip


def as_of_old(data: dict[str, Any]) -> dict[str, Any]:
    """A record's JSON data as it was kept while plain decoding had no interval."""
    stats = {key: value for key, value in data["stats"].items() if key not in _NEW_FIGURES}
    return {**data, "stats": stats, "plain_tokens_per_s": 14.5}


class Watched:
    """An open archive that records every reported problem."""

    def __init__(self, path: Path) -> None:
        self.problems: list[StorageProblem | None] = []
        self.told = threading.Event()
        self.archive = Archive(path, on_problem=self._tell)

    def _tell(self, problem: StorageProblem | None) -> None:
        self.problems.append(problem)
        self.told.set()

    @property
    def codes(self) -> list[str]:
        """The codes of the reported problems; an empty one reports that writing works again."""
        return [problem.code if problem else "" for problem in self.problems]

    def wait_for(self, code: str, timeout_s: float = 20.0) -> None:
        """Wait until this is the last reported code."""
        for _ in range(int(timeout_s / 0.05)):
            if self.codes[-1:] == [code]:
                return
            self.told.wait(0.05)
            self.told.clear()
        raise AssertionError(f"{code!r} was not told, but {self.codes}")

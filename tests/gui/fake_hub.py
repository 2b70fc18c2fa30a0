"""A Hub in memory, and a background that does its jobs when a test says so."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import HubModel, HubRepository
from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paceline.catalog.hub.values import SearchQuery

    Job = tuple[Callable[[], Any], Callable[[Any], None], Callable[[UserError], None]]

MODEL = HubModel("o/m", 1200, 3, "", "open", "mit", 7_000_000_000, "llama", 4096, "")


class HeldBackground(QObject):
    """Keeps jobs until they are carried out, on the test's own thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.jobs: list[Job] = []

    def start(
        self,
        function: Callable[[], Any],
        done: Callable[[Any], None] = lambda _: None,
        failed: Callable[[UserError], None] = lambda _: None,
    ) -> None:
        self.jobs.append((function, done, failed))

    def compute(self, at: int = 0) -> None:
        """Do one job; its result is delivered later."""
        function, done, failed = self.jobs[at]
        try:
            result = function()
        except UserError as error:
            self.jobs[at] = (lambda: None), partial(_ignoring, failed, error), failed
        else:
            self.jobs[at] = (lambda: result), done, failed

    def carry_out(self, at: int = 0) -> None:
        """Do one job, unless it is done, and deliver its result."""
        self.compute(at)
        function, done, _failed = self.jobs.pop(at)
        done(function())

    def carry_out_all(self) -> None:
        """Do all jobs, and those that they lead to."""
        while self.jobs:
            self.carry_out()

    def close(self, _timeout_ms: int = 0) -> bool:
        self.jobs.clear()
        return True


def _ignoring(failed: Callable[[UserError], None], error: UserError, _result: None) -> None:
    failed(error)


@dataclass
class FakeHub:
    """A Hub with repositories by the word that finds them, and pages of some.

    Attributes:
        found: The results of a search for a word.
        pages: Pages that can be opened, by repository.
        error: Error that a search raises after its results, or None if it succeeds.
        offline: True if every search fails, as in `Hub`.
        kept: Stored access tokens.
    """

    found: dict[str, list[HubModel]] = field(default_factory=dict)
    pages: dict[str, HubRepository] = field(default_factory=dict)
    error: HubError | None = None
    offline: bool = False
    kept: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> FakeHub:
        return self

    def set_token(self, token: str) -> None:
        if not token.startswith("hf_"):
            raise UserError("bad-token", "It is no token.")
        self.kept.append(token)

    def search(
        self, query: SearchQuery, is_stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[HubModel]:
        if self.offline:
            raise HubError("offline", "Offline.", "Go online.")
        for model in self.found.get(query.text, ()):
            if is_stopped():
                raise HubError("cancelled", "Stopped.", "")
            yield model
        if self.error is not None:
            raise self.error

    def repository(self, repo: str, *_: object) -> HubRepository:
        if repo not in self.pages:
            raise HubError("not-found", "There is no such repository.", "")
        return replace(self.pages[repo])


def page_of(repo: str) -> HubRepository:
    """The page of a repository without files."""
    return HubRepository(replace(MODEL, repo=repo), "c" * 40, (), f"https://example.org/{repo}")

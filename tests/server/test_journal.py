"""Those who follow the last requests, and those who do so no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from paceline.chat.reply import Reply, TurnOptions
from paceline.messages import StepCommitted
from paceline.server.endpoint import Endpoint
from paceline.server.journal import MAX_STEPS, Caller, Entry, Journal
from paceline.server.listener import Listener
from server.rig import GREEDY

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_client_that_has_left_gets_nothing_more() -> None:
    told: list[str] = []
    journal = Journal()
    journal.follow(lambda _: told.append("stays"))
    leave = journal.follow(lambda _: told.append("leaves"))
    entry = Entry(Caller("curl/8.5.0", "/v1/completions"), Reply("r", "", TurnOptions()))
    journal.end(entry)
    assert told == ["stays", "leaves"]
    leave()
    leave()
    journal.end(entry)
    assert told == ["stays", "leaves", "stays"]
    assert journal.entries == (entry, entry)


def test_the_oldest_go_where_all_have_too_many_steps() -> None:
    journal = Journal()
    step = StepCommitted(1, (), "", (), 0.0, 0.0, 0.0, 0.0)
    for name, n_steps in (("a", MAX_STEPS // 2), ("b", MAX_STEPS // 2), ("c", 1)):
        reply = Reply(name, "", TurnOptions(), steps=[step] * n_steps)
        journal.end(Entry(Caller("curl", "/v1/completions"), reply))
    assert [entry.reply.message_id for entry in journal.entries] == ["b", "c"]
    journal.end(Entry(Caller("", ""), Reply("d", "", TurnOptions(), steps=[step] * MAX_STEPS * 2)))
    assert [entry.reply.message_id for entry in journal.entries] == ["d"], "the last one stays"


class _Counted(Journal):
    """A journal that knows how many follow it."""

    n_followers = 0

    def follow(self, *args: Any, **options: Any) -> Callable[[], None]:
        """Follow; see `Journal.follow`."""
        self.n_followers += 1
        leave = super().follow(*args, **options)

        def left() -> None:
            self.n_followers -= 1
            leave()

        return left


def test_an_endpoint_that_is_over_follows_no_longer() -> None:
    journal = _Counted()
    nothing = cast("Any", None)
    for _ in range(3):
        endpoint = Endpoint(
            nothing, Listener("127.0.0.1", 0), lambda _: nothing, GREEDY, journal=journal
        )
        assert journal.n_followers == 1
        endpoint.stop()
        assert endpoint.wait()
        assert journal.n_followers == 0

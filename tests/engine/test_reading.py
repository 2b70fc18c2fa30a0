"""The speed at which the machine reads weights: asked for by a command, measured once, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from fake_model import FakeBackend
from inline_client import InlineClient
from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.measure import reading
from paceline.engine.measure.reading import machine_reading
from paceline.engine.native import llama_backend
from paceline.hosting.threaded import make_engine_service
from paceline.messages import Event, MeasureReading, Reading, ReadingMeasured

RATES = (4e9, 9e9, 5e9, 6e9)


class Timed(FakeBackend):
    """Is as fast as a test says.

    Attributes:
        threads: The threads of each question.
    """

    def __init__(self, *rates: float) -> None:
        super().__init__({})
        self._rates = rates
        self.threads: list[int] = []

    def reading_rates(self, n_threads: int, cancel: CancelFlag) -> tuple[float, ...]:
        """Return the rates of the test."""
        del cancel
        self.threads.append(n_threads)
        return self._rates


@pytest.fixture(params=[1, 7])
def n_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The threads that a model gets here."""
    monkeypatch.setattr(reading, "default_threads", lambda: request.param)
    return int(request.param)


def test_it_is_measured_once_for_each_number_of_threads(
    tmp_path: Path, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Timed(*RATES)

    def look() -> Reading | None:
        return machine_reading(backend, Facts(str(tmp_path)), CancelFlag(), lambda: 0.0)

    assert look() == look() == Reading(n_threads, 5e9, 6e9, 9e9)
    assert backend.threads == [n_threads]
    monkeypatch.setattr(reading, "default_threads", lambda: n_threads + 1)
    assert look() == Reading(n_threads + 1, 5e9, 6e9, 9e9)
    assert backend.threads == [n_threads, n_threads + 1]


@pytest.mark.parametrize("rates", [(), (5e9,), (5e9, 6e9)])
def test_too_few_tries_say_nothing_and_are_not_kept(tmp_path: Path, rates: tuple[float]) -> None:
    facts = Facts(str(tmp_path))
    assert machine_reading(Timed(*rates), facts, CancelFlag(), lambda: 0.0) is None
    assert machine_reading(Timed(*RATES), facts, CancelFlag(), lambda: 0.0) is not None


def test_what_was_stopped_or_disturbed_is_not_kept(tmp_path: Path, n_threads: int) -> None:
    facts, flag = Facts(str(tmp_path)), CancelFlag()
    flag.set()
    assert machine_reading(Timed(*RATES), facts, flag, lambda: 0.0) is None
    flag.clear()
    busy = machine_reading(Timed(*RATES), facts, flag, lambda: 2.0)
    assert (busy is None) == (n_threads > 1), "a single thread's own seconds are told apart"
    quiet = machine_reading(Timed(*(2 * rate for rate in RATES)), facts, flag, lambda: 0.0)
    assert quiet is not None
    assert quiet.typical == (6e9 if busy else 12e9)


@pytest.mark.parametrize("fact", ["", "[1, 2]", "[3, 2, 1]", "[0, 1, 2]", "[1, 2, NaN]", "7", True])
def test_a_damaged_fact_is_measured_again(tmp_path: Path, fact: str | bool) -> None:
    facts = Facts(str(tmp_path))
    first = machine_reading(Timed(*RATES), facts, CancelFlag(), lambda: 0.0)
    (key,) = facts.below("reading|")
    facts.put(key, fact)
    assert machine_reading(Timed(*RATES), facts, CancelFlag(), lambda: 0.0) == first


def test_the_command_is_answered_without_a_model(tmp_path: Path) -> None:
    events: list[Event] = []
    client = InlineClient(
        lambda emit, broker: make_engine_service(emit, broker, backend=lambda: Timed(*RATES)),
        events.append,
    )
    client.request(MeasureReading(str(tmp_path)))
    (answer,) = events
    assert isinstance(answer, ReadingMeasured)
    assert answer.reading is None or answer.reading.typical == 6e9
    client.close()


def test_llama_cpps_products_are_timed_and_stopped() -> None:
    backend, flag = llama_backend(), CancelFlag()
    for n_threads in (1, 2):
        rates = backend.reading_rates(n_threads, flag)
        assert len(rates) > 0
        assert all(1e8 < rate < 1e13 for rate in rates)
    flag.set()
    assert backend.reading_rates(1, flag) == ()

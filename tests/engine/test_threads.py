"""The number of threads that a decode gets where the user says nothing."""

from __future__ import annotations

import os
import threading

import psutil
import pytest

from paceline.engine.model.threads import calm_waiting_threads, default_threads, on_big_stack


@pytest.mark.parametrize(
    ("physical", "logical", "expected"),
    [
        (8, 16, 7),
        (2, 2, 1),
        (1, 2, 1),
        (1, 1, 1),
        (None, 4, 3),  # some virtual machines and ARM boards do not report it
        (None, 1, 1),
        (None, None, 1),
    ],
)
def test_one_core_stays_free(
    monkeypatch: pytest.MonkeyPatch, physical: int | None, logical: int | None, expected: int
) -> None:
    def cpu_count(*, logical: bool = True, _counts: tuple[int | None, ...] = (physical, logical)):
        return _counts[logical]

    monkeypatch.setattr(psutil, "cpu_count", cpu_count)
    assert default_threads() == expected


def test_this_machine_has_an_answer() -> None:
    assert default_threads() >= 1


@pytest.mark.parametrize(
    ("cores", "before", "after"),
    [
        (1, {}, {"GOMP_SPINCOUNT": "0"}),
        (2, {}, {"GOMP_SPINCOUNT": "0"}),
        (3, {}, {}),
        (2, {"OMP_WAIT_POLICY": "active"}, {"OMP_WAIT_POLICY": "active"}),
        (2, {"GOMP_SPINCOUNT": "7"}, {"GOMP_SPINCOUNT": "7"}),
    ],
)
def test_threads_sleep_where_cores_are_few(
    monkeypatch: pytest.MonkeyPatch, cores: int, before: dict[str, str], after: dict[str, str]
) -> None:
    environ = dict(before)
    monkeypatch.setattr(os, "environ", environ)
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: cores)
    calm_waiting_threads()
    assert environ == after


def test_work_on_a_big_stack_gives_its_result() -> None:
    before = threading.stack_size()
    assert on_big_stack(lambda: threading.current_thread().name).startswith("big-stack")
    assert on_big_stack(lambda: None) is None
    assert threading.stack_size() == before


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt()])
def test_work_on_a_big_stack_may_fail(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        on_big_stack(fail)
    assert caught.value is error

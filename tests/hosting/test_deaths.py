"""Reasons for the end of a process, in words; and when it is started again."""

from __future__ import annotations

import signal
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.hosting.exit_reasons import DIED, OUT_OF_MEMORY, Death, RestartPolicy, describe_death
from paceline.workers.child import UNAVAILABLE
from paceline.workers.ends import End


def death(code: int | None, last_words: str = "", stderr: str = "") -> Death:
    return describe_death(End(code, last_words, stderr))


@pytest.mark.parametrize(
    ("code", "words", "hint", "is_native"),
    [
        (0, "ended with exit code 0", "starts again", False),
        (70, "ended with exit code 70", "starts again", False),
        (None, "The engine's process ended.", "starts again", False),
        (-signal.SIGKILL, "from outside, as the system", "smaller model", False),
        (-signal.SIGTERM, "from outside (SIGTERM)", "starts again", False),
        (-signal.SIGBUS, "file became unreadable", "Download", True),
        (-signal.SIGILL, "instruction that this CPU does not know", "llama-cpp-python", True),
        (-signal.SIGSEGV, "crashed (SIGSEGV)", "starts again", True),
        (-signal.SIGABRT, "crashed (SIGABRT)", "starts again", True),
        (-signal.SIGFPE, "crashed (SIGFPE)", "starts again", True),
        (-200, "from outside (signal 200)", "starts again", False),
    ],
)
def test_every_end_has_its_words(
    code: int | None, words: str, hint: str, *, is_native: bool
) -> None:
    told = death(code)
    assert words in told.reason
    assert hint in told.hint
    assert (told.code, told.is_native) == (DIED, is_native)


@pytest.mark.parametrize(
    ("code", "like"),
    [
        (0xC0000005, signal.SIGSEGV),
        (0xC000001D, signal.SIGILL),
        (0xC0000409, signal.SIGABRT),
        (0xC0000006, signal.SIGBUS),
    ],
)
def test_windows_codes_mean_what_signals_mean(code: int, like: signal.Signals) -> None:
    assert death(code) == death(-like)


def test_exit_code_3_is_an_abort_on_windows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert "exit code 3" in death(3).reason
    monkeypatch.setattr(sys, "platform", "win32")
    assert death(3) == death(-signal.SIGABRT)


@pytest.mark.parametrize(
    "sign",
    [
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 17",
        "GGML_ASSERT(ctx->mem_buffer != NULL) failed",
        "MemoryError: ",
        "OSError: [Errno 12] Cannot allocate memory",
        "CUDA error: out of memory",
        "unable to allocate CPU buffer",
        "cudaMalloc failed",
    ],
)
def test_signs_of_too_little_memory(sign: str) -> None:
    for where in ("last_words", "stderr"):
        for code in (-signal.SIGABRT, -signal.SIGKILL, 1, None):
            told = death(code, **{where: f"first\n{sign}\nlast"})
            assert (told.code, told.is_native) == (OUT_OF_MEMORY, True)
            assert told.reason.startswith("Memory ran out")
            assert "smaller model" in told.hint


def test_the_last_words_are_the_reason() -> None:
    told = death(-signal.SIGABRT, "/build/x y/src/ggml.c:77: GGML_ASSERT(a < b) failed")
    assert "GGML_ASSERT(a < b) failed." in told.reason
    assert told.reason.startswith("llama.cpp gave up: ")
    assert told.is_native
    told = death(70, "ValueError: no such thing")
    assert told.reason == "The engine ended: ValueError: no such thing."
    assert not told.is_native


@pytest.mark.parametrize(
    "path",
    [
        "/build/vendor/llama.cpp/ggml/src/ggml-cpu/ops.cpp:1234",
        "D:\\a\\llama-cpp-python\\ggml\\src\\ops.cpp:1234",
        "../../vendor/llama.cpp/ggml/src/ops.cpp:1234",
        "C:/Users/Some/ops.cpp:1234",
    ],
)
def test_folders_of_a_build_machine_are_left_out(path: str) -> None:
    told = death(-signal.SIGABRT, f"{path}: GGML_ASSERT(n > 0) failed")
    assert "ops.cpp:1234: GGML_ASSERT(n > 0) failed" in told.reason
    for part in ("runner", "vendor", "Users", "llama-cpp-python", "ggml", "\\"):
        assert part not in told.reason


CODES = st.none() | st.integers(-300, 2**32).filter(lambda code: code != UNAVAILABLE)


@given(CODES, st.text(max_size=99), st.text(max_size=99))
def test_a_reason_is_always_one_short_sentence_with_a_hint(
    code: int | None, last_words: str, stderr: str
) -> None:
    told = death(code, last_words, stderr)
    assert "\n" not in told.reason
    assert len(told.reason) < 600
    assert told.reason[0].isupper() or told.reason.startswith("llama.cpp ")
    assert told.reason.endswith(".")
    assert not told.reason.endswith("..")
    assert told.hint
    assert told.code in {DIED, OUT_OF_MEMORY}


def test_a_sentence_that_a_child_printed_is_the_reason() -> None:
    told = death(UNAVAILABLE, "A part is missing. Install it again.")
    assert (told.reason, told.hint) == ("A part is missing. Install it again.", "")
    assert not told.is_native


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("text", ["/" * 5_000_000, "a/" * 2_000_000, "\n" * 5_000_000, "x" * 10**7])
def test_a_child_that_raves_costs_no_time(text: str) -> None:
    began = time.process_time()
    assert len(death(-signal.SIGABRT, text).reason) < 600
    assert time.process_time() - began < 5


# --------------------------------------------------------------------------------- restarting


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_first_start_and_the_one_after_one_death_come_at_once_further_ones_later(
    clock: Clock,
) -> None:
    policy = RestartPolicy(most=6, clock=clock)
    delays = [policy.delay_s]
    for _ in range(5):
        policy.note_death()
        delays.append(policy.delay_s)
        assert policy.refused_s == 0
    assert delays == [0.0, 0.0, 0.5, 1.0, 2.0, 4.0]


def test_three_deaths_within_a_minute_are_too_many(clock: Clock) -> None:
    policy = RestartPolicy(clock=clock)
    for _ in range(3):
        policy.note_death()
        clock.now += 10
    assert policy.refused_s == pytest.approx(30)  # until the first of them is a minute ago
    clock.now += 29.9
    assert policy.refused_s == pytest.approx(0.1)
    clock.now += 0.1
    assert policy.refused_s == 0
    policy.note_death()
    assert policy.refused_s == pytest.approx(10)


def test_deaths_far_apart_are_each_the_first(clock: Clock) -> None:
    policy = RestartPolicy(clock=clock)
    for _ in range(50):
        policy.note_death()
        assert (policy.delay_s, policy.refused_s) == (0.0, 0.0)
        clock.now += 60

"""Problems that the doctor knows: each is found, has a remedy, and is not reported elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paceline.cli.findings.known_problems import ReportFacts, find
from paceline.figures import ServerProblem

HEALTHY = ReportFacts(
    python=(3, 11, 7),
    installed={"llama-cpp-python": "0.3.36", "PySide6-Essentials": "6.11.3"},
    required_library="0.3.36",
    system_info="CPU : SSE3 = 1 | AVX2 = 1 | FMA = 1 |",
    machine="x86_64",
)
LOST = ServerProblem("box:50052", "It does not listen.", "Start it.")


def codes(facts: ReportFacts) -> list[str]:
    return [problem.code for problem in find(facts)]


def with_pyside(version: str | None, python: tuple[int, ...] = (3, 11, 7)) -> ReportFacts:
    installed = {**HEALTHY.installed, "PySide6-Essentials": version}
    return replace(HEALTHY, installed=installed, python=python)


@pytest.mark.parametrize(
    "facts",
    [
        HEALTHY,
        replace(HEALTHY, supports_gpu=True, has_nvidia=True),
        replace(HEALTHY, machine="aarch64", system_info="CPU : NEON = 1 |"),
        replace(HEALTHY, required_library=""),
        replace(HEALTHY, lost_starts=1),  # under way, or killed by chance
        replace(HEALTHY, system_info="CPU : AVX2 = 1 | AMX_INT8 = 0 |"),
        with_pyside("6.12.0", (3, 12, 0)),
        with_pyside("6.13.0"),
        with_pyside("6.2.1"),
    ],
)
def test_healthy_machines(facts: ReportFacts) -> None:
    assert codes(facts) == []


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (with_pyside("6.12.0"), "pyside-references"),
        (with_pyside("6.12.3", (3, 10, 1)), "pyside-references"),
        (with_pyside(None), "no-pyside"),
        (replace(HEALTHY, required_library="0.3.40"), "library-version"),
        (replace(HEALTHY, library_error="libgomp is missing"), "library-not-loaded"),
        (replace(HEALTHY, library_error="it crashed", lost_starts=1), "gpu-driver"),
        (replace(HEALTHY, has_nvidia=True, lost_starts=2, no_gpus=True), "gpu-driver"),
        (replace(HEALTHY, process_error="it was ended"), "engine-process"),
        (
            replace(HEALTHY, library_error="libgomp is missing", process_error="so it ended"),
            "library-not-loaded",
        ),
        (replace(HEALTHY, system_info="CPU : AVX2 = 1 | AMX_INT8 = 1 |"), "amx"),
        (replace(HEALTHY, system_info="CPU : SSE3 = 1 |"), "no-avx2"),
        (replace(HEALTHY, has_nvidia=True), "gpu-unused"),
        (replace(HEALTHY, lost_servers=(LOST,)), "rpc-server"),
        (replace(HEALTHY, locked_folders=("/nowhere",)), "folder-not-writable"),
        (replace(HEALTHY, missing_models=("t.gguf",)), "demo-pair-missing"),
    ],
)
def test_known_problems(facts: ReportFacts, code: str) -> None:
    assert codes(facts) == [code]


def test_a_lost_server_has_its_own_words() -> None:
    (problem,) = find(replace(HEALTHY, lost_servers=(LOST,)))
    assert (problem.text, problem.remedy) == (LOST.message, LOST.hint)


def test_a_checkout_is_built_again_by_its_bootstrap() -> None:
    (here,) = find(replace(HEALTHY, has_nvidia=True))
    assert here.remedy.startswith('Compile it again: `python3 "')
    assert here.remedy.endswith('/packaging/bootstrap.py" --backend cuda run`.')


def test_a_build_for_a_device_is_the_version_that_it_is_named_by() -> None:
    installed = {**HEALTHY.installed, "llama-cpp-python": "0.3.36+cu124"}
    assert codes(replace(HEALTHY, installed=installed)) == []


def test_every_problem_says_what_to_do() -> None:
    everything = ReportFacts(
        python=(3, 11),
        installed={"llama-cpp-python": "0.3.30", "PySide6-Essentials": "6.12.0"},
        required_library="0.3.36",
        system_info="AMX_INT8 = 1 |",
        machine="AMD64",
        has_nvidia=True,
        locked_folders=("a",),
        missing_models=("b",),
    )
    problems = find(everything)
    assert len(problems) == 7
    for problem in problems:
        assert problem.text.strip()
        assert problem.remedy.strip()


def test_a_library_that_lacks_something_is_reported_even_without_gpus() -> None:
    facts = replace(HEALTHY, library_error="libgomp is missing", lost_starts=2, no_gpus=True)
    assert codes(facts) == ["gpu-driver", "library-not-loaded"]

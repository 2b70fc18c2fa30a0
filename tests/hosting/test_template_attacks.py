"""No chat template outlives its time or its memory, or costs more than itself, in any host."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engine.template_attacks import ATTACKS
from hosting.engines import HOSTS, Host
from hosting.quick import impatient_everywhere
from paceline.engine.prompt.renderer import MEMORY_BYTES, RENDER, renderer
from paceline.hosting.process import ProcessService
from paceline.messages import Chat, ChatMessage, PairLoaded, Prompting, PromptRendered, RenderPrompt

HI = (ChatMessage.of_text("user", "hi"),)
FAR_TOO_LONG_S = 10.0
"""Seconds that no attack may take; the limit is 2.5 s per question, and a template gets two."""


@pytest.fixture(scope="module", params=HOSTS)
def host(request: pytest.FixtureRequest, demo_pair: tuple[Path, Path]) -> Iterator[Host]:
    """The engine; without --long an attack has a quarter of its time."""
    with contextlib.ExitStack() as stack:
        if not request.config.getoption("--long"):
            impatient_everywhere(stack.enter_context(pytest.MonkeyPatch.context()).setattr)
        made = stack.enter_context(Host(request.param, demo_pair))
        assert isinstance(made.load(), PairLoaded)
        made.submit(RenderPrompt(Chat(HI)))
        yield made


def engine_of(host: Host) -> psutil.Process:
    service = host.client.service
    return psutil.Process(service.pid if isinstance(service, ProcessService) else None)


class Watch:
    """Samples the memory of the process that renders for an engine."""

    def __init__(self, engine: psutil.Process) -> None:
        self._engine = engine
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.most = 0

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_over.wait(0.05):  # to look through all processes takes 7 ms
            with contextlib.suppress(psutil.Error):
                for child in self._engine.children():
                    if RENDER in child.cmdline():
                        self.most = max(self.most, child.memory_info().rss)


@pytest.mark.grid(short=8)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_costs_nothing_but_its_own_prompt(host: Host, name: str) -> None:
    engine = engine_of(host)
    with Watch(engine) as watch:
        began = time.monotonic()
        answer = host.submit(RenderPrompt(Chat(HI, Prompting(ATTACKS[name]))))
        seconds = time.monotonic() - began
    assert isinstance(answer, PromptRendered)
    assert answer.problem.startswith("The chat template") or not answer.problem
    assert seconds < FAR_TOO_LONG_S
    assert watch.most <= MEMORY_BYTES
    assert engine_of(host).pid == engine.pid, "the engine was ended"
    usual = host.submit(RenderPrompt(Chat(HI)))
    assert isinstance(usual, PromptRendered)
    assert "hi" in usual.text


def test_a_program_has_one_process_that_renders(host: Host) -> None:
    children = [child for child in engine_of(host).children() if RENDER in child.cmdline()]
    assert len(children) == 1
    if engine_of(host).pid == psutil.Process().pid:
        assert children[0].pid == renderer().pid

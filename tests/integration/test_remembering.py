"""Texts of stored chats with the real engine: in both hosts, in mid-reply, and after its death."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from hosting.engines import HOSTS, Host
from paceline.messages import (
    ChatMessage,
    EngineDied,
    Event,
    Remember,
    Remembered,
    SamplingParams,
    StepCommitted,
    TurnFinished,
)

ASK = (ChatMessage.of_text("user", "What does the built-in function enumerate do?"),)


def reply(host: Host) -> TurnFinished:
    return host.reply(
        messages=ASK,
        max_tokens=80,
        strategy="suffix:max=4",  # many steps, so that a command comes between two of them
        remember=True,
        seed=1,
        sampling=SamplingParams(temperature=0),
        ignore_eog=True,
    )


def n_accepted(finished: TurnFinished) -> int:
    return finished.stats.n_accepted


@pytest.mark.parametrize("kind", HOSTS)
def test_an_earlier_reply_drafts_until_it_is_deleted(
    kind: str, demo_pair: tuple[Path, Path]
) -> None:
    with Host(kind, demo_pair) as host:
        host.must_load()
        first = reply(host)
        texts = (ASK[0].text, first.text)
        assert host.submit(Remember("chat", texts, at_once=True)) == Remembered("chat")
        again = reply(host)
        assert again.text == first.text
        assert n_accepted(again) > n_accepted(first) + 30
        assert host.submit(Remember("chat")) == Remembered("chat")
        assert n_accepted(reply(host)) == n_accepted(first)
        host.submit(Remember("chat", texts, at_once=True))  # undone

        def delete(event: Event) -> None:
            if isinstance(event, StepCommitted) and event.step == 1:
                host.client.request(Remember("chat"))

        host.on_event = delete
        cut = reply(host)
        assert cut.text == first.text
        assert n_accepted(cut) < n_accepted(again)
        kinds = [type(event) for event in host.events]
        assert kinds.index(Remembered) < kinds.index(TurnFinished), "it did not wait for the end"


def test_a_new_process_has_them_when_they_are_handed_in_again(
    demo_pair: tuple[Path, Path], allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("paceline.hosting")
    with Host("process", demo_pair) as host:
        host.must_load()
        first = reply(host)
        host.submit(Remember("chat", (first.text,), at_once=True))
        assert n_accepted(reply(host)) > n_accepted(first) + 30
        os.kill(host.service.pid, signal.SIGTERM)
        events: list[Event] = []
        host.on_event = events.append
        while not any(isinstance(event, EngineDied) for event in events):
            host.client.request(Remember("other"))
        assert host.service.pid == 0, "no process is started for texts"
        host.must_load()
        assert n_accepted(reply(host)) == n_accepted(first)
        host.submit(Remember("chat", (first.text,), at_once=True))
        assert n_accepted(reply(host)) > n_accepted(first) + 30

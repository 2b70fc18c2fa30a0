"""Killed at any moment, with no time for anything: what was said to be kept is there."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paceline.run_record import INTERRUPTED
from paceline.storage.archive import Archive

if TYPE_CHECKING:
    from trials import Trials

HERE = Path(__file__).parent
N_AT_ONCE = 3
LOST_S = 0.2


class Killed:
    """The words of a program before it was killed, and the time of that."""

    def __init__(self, path: Path, seed: int, after_s: float) -> None:
        self.path = path
        app = HERE.parents[1] / "app"
        child = subprocess.Popen(
            [sys.executable, str(HERE / "crashing.py"), str(path), str(seed)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(app), str(HERE.parent)])},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        lines = [child.stdout.readline()]  # it has begun

        def kill() -> None:
            self.when_s = time.time()
            child.kill()

        killer = threading.Timer(after_s, kill)
        killer.start()
        lines += child.stdout.readlines()
        killer.join()
        child.stdout.close()
        child.wait()
        self.said = [line.split() for line in lines if line.endswith("\n")]

    def check(self) -> list[float]:
        """Look for everything it said; return how old the oldest text was that was lost."""
        with contextlib.closing(sqlite3.connect(self.path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        archive = Archive(self.path)
        archive.open()
        try:
            listed = {summary.conversation_id for summary in archive.summaries()}
            purged = {owner(key) for what, key, *_ in self.said if what == "purged"}
            last = owner(self.said[-1][1])
            gone = purged if last in listed else {*purged, last}  # it may have been deleting it
            assert not purged & listed
            for what, key, *values in self.said:
                if owner(key) not in gone and what != "shown":
                    self._check(archive, what, key, *values)
            shown = [said for said in self.said if said[0] == "shown" and said[1] == f"{last}-1"]
            if last in gone or not shown:
                return []
            message = archive.load(last).messages.get(f"{last}-1")
            if message is None:  # killed before even the empty reply was written
                return [self.when_s - float(shown[0][3])]
            run = archive.runs(last).get(message.message_id)
            assert run is None or run.status != "running"
            if run is None or run.status == "finished":
                return []
            assert run.error == INTERRUPTED
            steps = archive.steps(message.message_id)
            assert "".join(step.text for step in steps) == message.text
            n = message.text.count(" ")
            assert message.text == text_of(n)
            return [self.when_s - float(at) for _, _, i, at in shown if int(i) > n][:1]
        finally:
            assert archive.close()

    def _check(self, archive: Archive, what: str, key: str, n: str = "") -> None:
        message = archive.load(owner(key)).messages[key]
        if what == "saved":
            assert message.text == f"question {owner(key)}"
            found = archive.search(f"question {owner(key)}", 1000)
            assert owner(key) in {hit.conversation_id for hit in found}
        else:
            assert what == "ended"
            assert message.text == text_of(int(n))
            assert archive.runs(owner(key))[key].status == "finished"
            assert "".join(step.text for step in archive.steps(key)) == text_of(int(n))


def owner(message_id: str) -> str:
    return message_id.rsplit("-", 1)[0]


def text_of(n: int) -> str:
    return "".join(f"{i} " for i in range(n))


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_nothing_is_lost_when_killed(tmp_path: Path, trials: Trials) -> None:
    drawn = random.Random(3)
    moments = [drawn.uniform(0, 0.5) for _ in trials(12, 200)]
    killed: list[Killed] = []

    def work(own: list[tuple[int, float]], name: str) -> None:
        for seed, moment in own:  # killed again and again over the same database
            killed.append(Killed(tmp_path / name / "chats.db", seed, moment))

    numbered = list(enumerate(moments))
    threads = [
        threading.Thread(target=work, args=(numbered[i::N_AT_ONCE], f"db{i}"))
        for i in range(N_AT_ONCE)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(killed) == len(moments)
    assert sum(what != "shown" for one in killed for what, *_ in one.said) > 2 * len(moments)
    lost_s = [age for one in killed for age in one.check()]
    assert len(lost_s) > len(moments) / 10  # else the moments say nothing
    assert statistics.median(lost_s) < LOST_S
    assert max(lost_s) < 10 * LOST_S

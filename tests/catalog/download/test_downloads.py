"""Downloads in whatever order things happen, against a real server and a model of what follows.

The machine gives commands, breaks the server and the disk, restarts and kills the program, and
lets a power failure take what was not flushed. After each step it waits until all downloads rest,
or hang where the server holds their bytes back, and compares everything that can be seen with the
model: list, journal, folder, notifications, and from which byte on the server was asked.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from hub_server import Fault, HubServer, Repository
from paceline.catalog.download import transfer
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.part_file import PartFile
from paceline.catalog.download.record import Download, DownloadRequest
from paceline.catalog.hub import errand, stream
from paceline.catalog.hub.client import Hub

REPO = "owner/model"
PATHS = (
    ("one-Q4_K_M.gguf",),
    ("sub/two-Q8_0.gguf",),
    tuple(f"Q2_K/split-{i:05}-of-00003.gguf" for i in (1, 2, 3)),
)
SIZES = dict(zip(sum(PATHS, ()), (220_000, 220_000, 80_000, 150_000, 150_000), strict=True))
PAUSES = (0.001, 0.001)
LONG_S = 10.0
MOVING = ("waiting", "running", "verifying")
HOLD, LIMIT, WRONG = 100_000, 130_000, 140_000
"""Bytes after which an answer is held back, a disk is full, and the place of a wrong byte"""

WEATHER = {
    "flows": (),
    "holds": (Fault("*.gguf", holds_after=HOLD),),
    "drops": (Fault("*.gguf", drop_after=HOLD),),
    "drops at once": (Fault("*.gguf", drop_after=0),),
    "knows no ranges": (Fault("*.gguf", ignores_range=True),),
    "a wrong byte": (Fault("*.gguf", wrong_byte_at=WRONG),),
    "expired": (Fault("*.gguf", host="cdn", status=403, times=2),),
    "busy": (Fault("*", status=503, times=2),),
    "busy for long": (Fault("*/resolve/*", status=429, retry_after=3600),),
    "gone": (Fault("*/resolve/*", status=404, error_code="EntryNotFound"),),
    "gated": (Fault("*/resolve/*", status=403, error_code="GatedRepo"),),
    "login page": (Fault("*.gguf", host="cdn", html=True),),
    "little space": (),
}
REFUSED = {
    "busy for long": "takes no more requests",
    "gone": "has no file",
    "gated": "only for those who asked",
}


NOTHING = {"drops at once": "broke off", "login page": "web page"}


@cache
def content(path: str, version: int) -> bytes:
    return random.Random(f"{path} {version}").randbytes(SIZES[path])


@dataclass
class File:
    """The model's knowledge of one file of a download; `safe` bytes outlast a power failure."""

    path: str
    version: int = -1
    kept: int = 0
    safe: int = 0
    is_damaged: bool = False
    is_done: bool = False
    is_ours: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


End = tuple[str, str]
"""Status and problem at the end of a run"""


@dataclass
class Item:
    """The model's knowledge of one download; `run` hangs where the server holds bytes back."""

    id: str
    which: int
    files: list[File]
    status: str = "waiting"
    problem: str = ""
    run: Generator[None, None, End] | None = None

    @property
    def n_here(self) -> int:
        return sum(SIZES[file.path] if file.is_done else file.kept for file in self.files)

    @property
    def is_over(self) -> bool:
        return self.status in ("done", "cancelled")

    def wake(self) -> None:
        if self.status in ("paused", "failed"):
            self.status, self.problem = "waiting", ""

    def stop(self) -> None:
        for file in self.files if self.status == "running" else ():
            file.safe = file.kept
        if self.status in ("running", "waiting"):
            self.status = "paused"


@dataclass
class Model:
    """The expected state: downloads, the files beside them, and what the server is asked for."""

    weather: str = "holds"
    versions: Counter[str] = field(default_factory=Counter)
    items: list[Item] = field(default_factory=list)
    disk: dict[str, int] = field(default_factory=dict)
    """Complete files and their versions; a negative one is another program's."""
    starts: list[tuple[str, int]] = field(default_factory=list)

    def live(self, which: int) -> Item | None:
        return next((i for i in self.items if i.which == which and not i.is_over), None)

    def rests(self, which: int) -> bool:
        item = self.live(which)
        return item is None or item.status in ("paused", "failed")

    def move(self) -> None:
        """Let everything run that can, until it ends or hangs."""
        for item in self.items:
            if item.status == "running" and self.weather != "holds":
                self.go_on(item)
        for item in self.items:
            if item.status == "waiting" and sum(i.status == "running" for i in self.items) < 2:
                item.status, item.run = "running", self.run(item)
                self.go_on(item)

    def go_on(self, item: Item) -> None:
        assert item.run is not None
        try:
            next(item.run)
        except StopIteration as end:
            item.status, item.problem = end.value

    def run(self, item: Item) -> Generator[None, None, End]:
        if self.weather in REFUSED:
            self.starts.append(("refused once", 0))
            return "failed", REFUSED[self.weather]
        for index, file in enumerate(item.files):
            if file.version != self.versions[file.path]:
                if file.is_done and file.is_ours:
                    self.disk.pop(file.name, None)
                item.files[index] = File(file.path, self.versions[file.path])
        if self.weather == "little space" and not all(f.name in self.disk for f in item.files):
            return "failed", "still to come"
        for file in item.files:
            n_copies = 0
            file.safe = file.kept
            while file.name not in self.disk:
                if (end := (yield from self.fill(file))) is not None:
                    return end
                n_copies += 1
                if not file.is_damaged:
                    self.disk[file.name] = file.version
                    file.is_ours = True
                    break
                file.kept = file.safe = 0
                file.is_damaged = False
                if n_copies == 2:
                    return "failed", "damaged twice"
            if self.disk[file.name] != file.version:
                return "failed", "another file"
            file.kept, file.is_done, file.is_damaged = SIZES[file.path], True, False
        return "done", ""

    def fill(self, file: File) -> Generator[None, None, End | None]:
        """Fetch what is missing of a file; returns an end where it is one."""
        size = SIZES[file.path]
        while file.kept < size:
            if self.weather in NOTHING:
                return "failed", NOTHING[self.weather]
            if self.weather == "knows no ranges":
                file.kept, file.is_damaged = 0, False
            self.starts.append((file.name, file.kept))
            file.is_damaged |= self.weather == "a wrong byte" and file.kept <= WRONG < size
            n_come = min(size, file.kept + HOLD) if self.weather == "drops" else size
            if self.weather == "holds" and file.kept + HOLD < size:
                file.kept += HOLD
                yield
            if self.weather == "full disk" and n_come > LIMIT:
                file.kept = file.safe = max(file.kept, LIMIT)
                return "paused", "is full"
            file.kept = file.safe = n_come
        return None


class Life(RuleBasedStateMachine):
    """Downloads of three requests, two at once."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.journals = self.place / "state"
        self.folder = self.place / "models"
        self.model = model = Model()
        self.repository = Repository(REPO)
        self.publish()
        self.patches = ExitStack()
        enter = self.patches.enter_context
        enter(mock.patch.object(transfer, "PAUSES_S", PAUSES))
        enter(mock.patch.object(stream, "MAX_DELAY_S", -1.0))
        enter(mock.patch.object(errand, "POLL_S", 0.005))
        enter(mock.patch.dict(os.environ, {"HF_TOKEN": "hf_secret"}))
        self.boot_s = psutil.boot_time()
        enter(mock.patch.object(psutil, "boot_time", self.boot_time))
        write, usage = PartFile.write, shutil.disk_usage(self.place)
        self.errno = errno.ENOSPC

        def written(part: PartFile, data: bytes) -> None:
            n_free = LIMIT - part.n_bytes if model.weather == "full disk" else len(data)
            write(part, data[: max(0, n_free)])
            if n_free < len(data):
                raise OSError(self.errno, "full")

        def disk_usage(_: object) -> Any:
            free = (64 << 20) + 1000 if model.weather == "little space" else 1 << 40
            return usage._replace(free=free)

        enter(mock.patch.object(PartFile, "write", written))
        enter(mock.patch.object(shutil, "disk_usage", disk_usage))
        self.server = enter(HubServer({REPO: self.repository}))
        self.set_weather("holds")
        self.begin()
        self.add(2)
        self.add(0)

    def begin(self) -> None:
        """Start the program: what had run is paused, what is over is forgotten."""
        self.model.items = [item for item in self.model.items if not item.is_over]
        for item in self.model.items:
            if item.status in ("running", "waiting"):
                item.status = "paused"
        self.heard: list[Download] = []
        self.news = threading.Condition()
        self.downloads = Downloads(Hub(endpoint=self.server.endpoint), self.journals)
        self.downloads.set_listener(self.hear)
        self.rest()

    def boot_time(self) -> float:
        return self.boot_s

    def hear(self, now: Download) -> None:
        with self.news:
            self.heard.append(now)
            self.news.notify_all()

    def publish(self) -> None:
        versions = self.model.versions
        self.repository.files = {path: content(path, versions[path]) for path in SIZES}

    def set_weather(self, weather: str) -> None:
        self.model.weather = weather
        self.server.clear()
        for fault in WEATHER.get(weather, ()):
            self.server.add(fault)

    def request(self, which: int) -> DownloadRequest:
        return DownloadRequest(REPO, PATHS[which], "main", str(self.folder))

    # ------------------------------------------------------------------------------- commands

    @rule(which=st.integers(0, 2))
    def add(self, which: int) -> None:
        id_ = self.downloads.add(self.request(which))
        model, item = self.model, self.model.live(which)
        if item is None:
            model.items = [i for i in model.items if (i.which, i.status) != (which, "done")]
            model.items.append(self.new(id_, which))
        else:
            assert id_ == item.id
            item.wake()
        self.rest()

    @rule(which=st.integers(0, 2))
    def pause_or_resume(self, which: int) -> None:
        """Nothing comes of it where a download is over."""
        for item in [item for item in self.model.items if item.which == which]:
            if item.status in ("waiting", "running"):
                self.downloads.pause(item.id)
                item.stop()
            else:
                self.downloads.resume(item.id)
                item.wake()
        self.downloads.pause("unknown")
        self.rest()

    @rule(which=st.integers(0, 2), is_wanted_again=st.booleans())
    def cancel(self, which: int, is_wanted_again: bool) -> None:
        item = self.model.live(which)
        if item is None:
            return
        n_heard = len(self.heard)
        self.downloads.cancel(item.id)
        self.downloads.resume(item.id)  # it is too late for that
        self.downloads.pause(item.id)
        item.status, item.problem = "cancelled", ""
        for file in item.files:
            if file.is_done and file.is_ours:
                del self.model.disk[file.name]
        item.files = self.new("", which).files
        if is_wanted_again:
            id_ = self.downloads.add(self.request(which))
            if id_ == item.id:
                item.status = "waiting"
            else:
                self.model.items.append(self.new(id_, which))
        # It may come to stand as it stood before.
        self.wait(lambda: item.id in [download.id for download in self.heard[n_heard:]])
        self.rest()

    @rule(which=st.integers(0, 2))
    def forget(self, which: int) -> None:
        """Only what is over can be forgotten."""
        for item in [i for i in self.model.items if i.which == which]:
            self.downloads.forget(item.id)
        self.model.items = [i for i in self.model.items if i.which != which or not i.is_over]
        self.rest()

    @rule(which=st.integers(0, 2))
    def pause_and_think_again(self, which: int) -> None:
        """Pause a download and resume it at once: it goes on."""
        item = self.model.live(which)
        if item is not None and item.status in ("running", "waiting"):
            self.downloads.pause(item.id)
            self.downloads.resume(item.id)
            self.set_weather("flows")
            self.rest(is_asked_as_expected=False)

    # ------------------------------------------------------------------------------- the world

    @rule(which=st.integers(0, 2))
    def hold(self, which: int) -> None:
        """Let answers come to their first bytes only."""
        self.change_weather("holds")
        self.add(which)

    @rule(weather=st.sampled_from(sorted(WEATHER)), which=st.integers(0, 2))
    def try_in_other_weather(self, weather: str, which: int) -> None:
        self.change_weather(weather)
        self.add(which)

    @rule(number=st.sampled_from([errno.ENOSPC, errno.EDQUOT]), which=st.integers(0, 2))
    def fill_the_disk(self, number: int, which: int) -> None:
        self.errno = number
        self.set_weather("full disk")
        self.add(which)

    def change_weather(self, weather: str) -> None:
        """Change it; what is held back comes first."""
        if self.model.weather == "holds":
            self.set_weather("flows")
            self.rest()
        self.set_weather(weather)
        self.rest()

    @rule(which=st.integers(0, 2))
    def replace_on_the_hub(self, which: int) -> None:
        for item in self.model.items:
            self.downloads.pause(item.id)
            item.stop()
        self.rest()
        self.model.versions[PATHS[which][0]] += 1
        self.publish()
        self.add(which)

    @precondition(lambda self: self.parts())
    @rule()
    def damage(self) -> None:
        """The disk loses a bit of what is there of a download."""
        file = self.parts()[0]
        path = self.folder / f"{file.name}.part"
        with path.open("r+b") as part:
            byte = part.read(1)[0]
            part.seek(0)
            part.write(bytes([byte ^ 1]))
        file.is_damaged = True

    def parts(self) -> list[File]:
        """Sound partial files of downloads that rest."""
        return [
            file
            for item in self.model.items
            if item.status in ("paused", "failed")
            for file in item.files
            if file.kept and not file.is_done and not file.is_damaged
        ]

    @rule(which=st.integers(0, 2), version=st.integers(-1, 1))
    def put_a_file(self, which: int, version: int) -> None:
        """Another program puts a file where one of ours would go, or deletes what is there."""
        path, item = PATHS[which][0], self.model.live(which)
        target = self.target(path)
        if not self.model.rests(which) or (item is not None and item.files[0].is_done):
            return
        if target.exists():
            target.unlink()
            del self.model.disk[target.name]
        else:
            version = self.model.versions[path] if version >= 0 else -1
            self.folder.mkdir(exist_ok=True)
            target.write_bytes(content(path, version))
            self.model.disk[target.name] = version

    def target(self, path: str) -> Path:
        return self.folder / path.rpartition("/")[2]

    @rule(end=st.sampled_from(["close", "kill", "power failure"]), is_at_rest=st.booleans())
    def restart(self, end: str, is_at_rest: bool) -> None:
        """Bytes that a killed program wrote are there; after a power failure, those it flushed."""
        for item in self.model.items if is_at_rest else ():
            self.downloads.pause(item.id)
            item.stop()
        self.rest()
        for name in ("models", "state") if end != "close" else ():
            if (self.place / name).exists():
                shutil.copytree(self.place / name, self.place / f"{name} then")
        self.downloads.close()
        assert self.wait(lambda: all(d.status not in MOVING for d in self.downloads.states()))
        for path in self.place.glob("* then"):
            shutil.rmtree(self.place / path.name.removesuffix(" then"))
            path.rename(self.place / path.name.removesuffix(" then"))
        for item in self.model.items:
            if end == "close":
                item.stop()
            if end == "power failure" and not item.is_over:
                for file in item.files:
                    self.lose(file)
        self.boot_s += 60 * (end == "power failure")
        self.begin()

    def lose(self, file: File) -> None:
        """Lose what was not flushed: the file has its length, with zeros in it."""
        if file.safe < file.kept and not file.is_done:
            part = self.folder / f"{file.name}.part"
            n_bytes = part.stat().st_size
            os.truncate(part, file.safe)
            os.truncate(part, n_bytes)
            file.kept = file.safe
            file.is_damaged &= bool(file.kept)

    # -------------------------------------------------------------------------------- checks

    def new(self, id_: str, which: int) -> Item:
        return Item(id_, which, [File(path) for path in PATHS[which]])

    def rest(self, *, is_asked_as_expected: bool = True) -> None:
        """Wait until all is as the model says, then look at the rest."""
        model = self.model
        model.move()
        expected = [(i.id, i.status, i.n_here) for i in model.items]
        starts = sorted(model.starts)

        def is_so() -> bool:
            heard = {d.id: d.status for d in self.heard}
            self.found = self.downloads.states()
            self.seen = [(d.id, d.status, d.n_done) for d in self.found]
            self.asked = sorted(self.sent())
            return (
                self.seen == expected
                and all(heard.get(d.id, d.status) == d.status for d in self.found)
                and (self.asked == starts or not is_asked_as_expected)
            )

        assert self.wait(is_so), (self.seen, expected, self.asked, starts, self.heard[-3:])
        self.server.requests.clear()
        model.starts.clear()
        for item, now in zip(model.items, self.found, strict=True):
            assert item.problem in now.problem
            assert bool(item.problem) == bool(now.problem) == bool(now.hint)
            if now.status == "done":
                assert now.path == str(self.folder / item.files[0].name)
                assert [d.status for d in self.heard if d.id == now.id].count("done") == 1
        self.check_the_disk()

    def wait(self, is_so: Callable[[], bool]) -> bool:
        until = time.monotonic() + LONG_S
        with self.news:
            while not (what := is_so()) and time.monotonic() < until:
                self.news.wait(0.005)
        return what

    def sent(self) -> Iterator[tuple[str, int]]:
        """Files, and from which byte on the server has sent them."""
        for request in list(self.server.requests):
            assert request.has_token == (request.host == "hub")
            if request.n_sent:
                yield request.path.partition("?")[0].rpartition("/")[2], request.start
            elif self.model.weather in REFUSED:
                yield "refused once", 0

    def check_the_disk(self) -> None:
        live = [item for item in self.model.items if not item.is_over]
        there = {path.name: path for path in self.folder.glob("*")}
        for item, file in ((i, f) for i in live for f in i.files if not f.is_done):
            part = there.pop(f"{file.name}.part", None)
            assert file.kept <= (part.stat().st_size if part else 0)
            assert part is None or item.problem != "damaged twice"
        assert there.keys() == self.model.disk.keys()
        for path in SIZES:
            if (target := self.target(path)).name in there:
                assert target.read_bytes() == content(path, self.model.disk[target.name])
        assert {path.stem for path in self.journals.glob("*")} == {item.id for item in live}

    def teardown(self) -> None:
        try:
            self.change_weather("flows")
            for path in SIZES:
                target = self.target(path)
                if self.model.disk.get(target.name) not in (None, self.model.versions[path]):
                    target.unlink()
                    del self.model.disk[target.name]
            for which in range(3):
                self.forget(which)
                self.add(which)
            assert self.model.disk == {
                self.target(path).name: self.model.versions[path] for path in SIZES
            }
        finally:
            self.downloads.close()
            self.patches.close()
            shutil.rmtree(self.place)


TestDownloads = Life.TestCase
# Without shrinking: each failure waits for its time limit.
TestDownloads.settings = settings(
    max_examples=15, stateful_step_count=25, phases=[Phase.generate], report_multiple_bugs=False
)

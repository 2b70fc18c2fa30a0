"""A child's end of the pipe: it does not wait for a reader that is slow, who loses nothing."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
import threading
from collections.abc import Iterator

import pytest

from paceline.workers.child import MAX_WAITING_BYTES, PIPE_BYTES, ChildPipe
from paceline.workers.frames import DYING, FrameReader, frame

pytestmark = pytest.mark.skipif(
    not hasattr(socket, "MSG_DONTWAIT"), reason="sending waits on this system"
)
LARGE = 1000
MOST_IN_PIPE = 4 * PIPE_BYTES


class Ends:
    """Both ends of a pipe; numbered messages go in at the child's."""

    def __init__(self) -> None:
        self.theirs, self.ours = socket.socketpair()
        self.pipe = ChildPipe(self.theirs)
        self.n_posted = 0

    def post(self, n: int) -> None:
        for number in range(self.n_posted, self.n_posted + n):
            self.pipe.post(b"%d".ljust(LARGE) % number)
            self.n_posted = number + 1

    def read(self) -> Iterator[bytes]:
        """Yield what was sent, for as long as more comes."""
        self.ours.settimeout(10)
        reader = FrameReader()
        while True:
            yield from (payload.rstrip() for payload in reader.feed(self.ours.recv(1 << 16)))


@pytest.fixture
def ends() -> Iterator[Ends]:
    before = set(threading.enumerate())
    made = Ends()
    yield made
    made.ours.settimeout(0.1)
    for _ in range(100):  # a thread whose pipe is closed ends the process, and tests that failed
        if before.issuperset(threading.enumerate()):
            break
        with contextlib.suppress(TimeoutError):
            while made.ours.recv(1 << 16):
                pass
    made.ours.close()
    made.theirs.close()


def numbers(n: int) -> list[bytes]:
    return [b"%d" % number for number in range(n)]


def started(work: threading.Thread) -> threading.Thread:
    work.daemon = True
    work.start()
    return work


def test_what_the_pipe_has_room_for_is_in_it_at_once(ends: Ends) -> None:
    """So a process that dies after it has lost nothing."""
    ends.ours.setblocking(False)
    for number in range(50):
        ends.pipe.post(b"%d" % number)
        assert ends.ours.recv(1 << 16) == frame(b"%d" % number)


def test_posting_does_not_wait_for_who_does_not_read(ends: Ends) -> None:
    n = MAX_WAITING_BYTES // (LARGE + 4)
    poster = started(threading.Thread(target=ends.post, args=(n,)))
    poster.join(10)
    assert ends.n_posted == n
    sender = started(threading.Thread(target=ends.pipe.send, args=(b"all",)))
    assert list(itertools.islice(ends.read(), n + 1)) == [*numbers(n), b"all"]
    sender.join(10)
    assert not sender.is_alive()


def test_what_waits_goes_with_the_next_message_once_there_is_room(ends: Ends) -> None:
    n = MAX_WAITING_BYTES // (LARGE + 4)
    ends.post(n)
    read = ends.read()
    got = [next(read)]
    while len(got) < n:
        ends.post(1)
        got.append(next(read))
    assert got == numbers(n)


def test_no_more_waits_than_it_may(ends: Ends) -> None:
    n = 3 * (MAX_WAITING_BYTES + MOST_IN_PIPE) // LARGE
    poster = started(threading.Thread(target=ends.post, args=(n,)))
    poster.join(0.5)
    assert poster.is_alive()
    assert ends.n_posted * LARGE <= MAX_WAITING_BYTES + MOST_IN_PIPE
    read = ends.read()
    got = list(itertools.islice(read, n - MAX_WAITING_BYTES // LARGE - 1))
    poster.join(10)
    assert not poster.is_alive()
    sender = started(threading.Thread(target=ends.pipe.send, args=(b"all",)))
    got += itertools.islice(read, n + 1 - len(got))
    sender.join(10)
    assert got == [*numbers(n), b"all"]


def test_last_words_come_after_what_waited(ends: Ends) -> None:
    n = MAX_WAITING_BYTES // (LARGE + 4)
    ends.post(n)
    started(threading.Thread(target=ends.pipe.send_last, args=("over",)))
    assert list(itertools.islice(ends.read(), n + 1)) == [*numbers(n), DYING + b"over"]


def test_last_words_come_also_while_another_thread_waits_for_room(ends: Ends) -> None:
    n = 3 * (MAX_WAITING_BYTES + MOST_IN_PIPE) // LARGE
    poster = started(threading.Thread(target=ends.post, args=(n,)))
    poster.join(0.5)
    assert poster.is_alive()
    started(threading.Thread(target=ends.pipe.send_last, args=("over",))).join(1.5)
    ends.ours.settimeout(10)
    got = b""
    while frame(DYING + b"over") not in got:
        got = got[-100:] + ends.ours.recv(1 << 16)


@pytest.mark.parametrize("seed", range(5))
def test_messages_of_several_threads_keep_each_its_order(ends: Ends, seed: int) -> None:
    def talk(name: int) -> None:
        chance = random.Random(f"{seed} {name}")
        for number in range(300):
            send = ends.pipe.send if chance.random() < 0.1 else ends.pipe.post
            send(b"%d %d".ljust(chance.randrange(7, 4000)) % (name, number))
        ends.pipe.send(b"%d 300" % name)

    for name in range(3):
        started(threading.Thread(target=talk, args=(name,)))
    got = [payload.split() for payload in itertools.islice(ends.read(), 3 * 301)]
    for name in range(3):
        assert [number for by, number in got if by == b"%d" % name] == numbers(301)

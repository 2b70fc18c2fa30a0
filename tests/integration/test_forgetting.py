"""Two chats with the real engine, one of them forgotten: in both hosts, and after a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hosting.engines import HOSTS, Host
from paceline.engine.drafters.chat_log import ChatLog
from paceline.messages import (
    ChatMessage,
    Forget,
    Forgotten,
    SamplingParams,
    TurnFinished,
    TurnStarted,
)

STRATEGY = "suffix+ngram-mod+ngram-cache:n_match=8:n_min=2"
SHARED = "Here is a text that both chats quote. " + "What does os.path.join do? " * 8
SECRET = "The password of Aunt Emilia is zebra-quilt-77-harmonica, do not tell."


def ask(host: Host, chat: str, text: str, **options: object) -> TurnFinished:
    return host.reply(
        messages=(ChatMessage("user", text),),
        max_tokens=60,
        strategy=STRATEGY,
        seed=1,
        sampling=SamplingParams(temperature=0),
        ignore_eog=True,
        chat=chat,
        remember=True,
        **options,
    )


def tokens_of(memory: Path, chat: str) -> list[int]:
    (vocabulary,) = memory.iterdir()
    (text,) = ChatLog(vocabulary, chat).texts()
    return text.tolist()


def holders(memory: Path, *canaries: list[int]) -> set[str]:
    """Kinds of files that hold one of the canaries, in either order and byte order.

    Not the pool: there no two tokens stand beside each other, and it has a test of its own.
    """
    found = set()
    for path in memory.rglob("*"):
        data = path.read_bytes() if path.is_file() and path.suffix != ".pool" else b""
        for tokens in canaries:
            for words in (tokens, tokens[::-1]):
                for kind in ("<u4", ">u4"):
                    if np.array(words, kind).tobytes() in data:
                        found.add(path.suffix)
    return found


@pytest.mark.parametrize("kind", HOSTS)
def test_a_chat_is_forgotten_and_the_other_one_is_not(
    kind: str, demo_pair: tuple[Path, Path], tmp_path: Path
) -> None:
    memory = tmp_path / "drafts"

    def host() -> Host:
        made = Host(kind, demo_pair)
        made.pair = replace(made.pair, memory_dir=str(memory))
        made.must_load()
        return made

    with host() as first:
        ask(first, "secret", SHARED + SECRET)
        ask(first, "other", SHARED + "And on Windows?")
    secret, other = tokens_of(memory, "secret"), tokens_of(memory, "other")
    own = [i for i in range(len(secret) - 4) if not stands_in(secret[i : i + 4], other)]
    assert len(own) > 20
    canaries = [secret[i : i + 4] for i in own[:: len(own) // 8]]
    assert holders(memory, *canaries) >= {".suffixes", ".learned"}

    with host() as second:  # a program that has learned none of it itself
        assert second.submit(Forget(str(memory), "secret")) == Forgotten("secret")
        assert holders(memory, *canaries) == set()
        assert holders(memory, other[10:42]) >= {".suffixes"}
        # Another chat that goes on like the other one still has its drafts from there.
        again = ask(second, "third", SHARED + "And on Windows?")
        drafted = {row.drafter for row in again.stats.by_drafter if row.tokens_accepted}
        assert drafted & {"suffix", "ngram-mod", "ngram-cache"}
        for chat in ("other", "third", "secret"):
            assert second.submit(Forget(str(memory), chat)) == Forgotten(chat)


def stands_in(part: list[int], whole: list[int]) -> bool:
    return any(whole[i : i + len(part)] == part for i in range(len(whole)))


def test_without_a_model_it_is_forgotten_as_well(
    demo_pair: tuple[Path, Path], tmp_path: Path
) -> None:
    with Host("thread", demo_pair) as host:
        host.pair = replace(host.pair, memory_dir=str(tmp_path))
        host.must_load()
        ask(host, "secret", SECRET)
    secret = tokens_of(tmp_path, "secret")
    with Host("process", demo_pair) as fresh:
        assert fresh.submit(Forget(str(tmp_path), "secret")) == Forgotten("secret")
        assert not any(isinstance(event, TurnStarted) for event in fresh.events)
    assert holders(tmp_path, secret[5:8]) == set()

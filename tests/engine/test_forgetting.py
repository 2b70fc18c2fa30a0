"""A chat taken out of everything that drafters keep, at every layer and behind every crash."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.harness import random_language
from engine.learned import LEARNERS, Vocabulary, grams, pairs, split, text, writes, written
from engine.test_service import Bench
from paceline.engine.drafters import lookup_cache, ngram_cache, ngram_mod, registry, suffix
from paceline.engine.drafters.chat_log import FOLDER, ChatLog
from paceline.engine.drafters.ngram_pool import Pool
from paceline.engine.drafters.suffix_store import SuffixStore
from paceline.engine.fake import FakeModel
from paceline.engine.forgetting import forget
from paceline.engine.learning import Learning
from paceline.engine.vocab import vocabulary_hash
from paceline.hosting.inline import InlineClient
from paceline.messages import (
    ChatMessage,
    Forget,
    Forgotten,
    LoadPair,
    ModelParams,
    SamplingParams,
    StartTurn,
    StepCommitted,
    Tune,
    TuneRejected,
    TurnFinished,
    TurnStarted,
)


@pytest.fixture(autouse=True)
def _small_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    def new_index(self: ngram_mod.NgramMod) -> ngram_mod.NextTokens:
        n_match = int(self.settings["n_match"])
        return ngram_mod.NextTokens(n_match, self.bench.memory, bits=18)

    monkeypatch.setattr(ngram_mod.NgramMod, "new_index", new_index)


@pytest.fixture
def memory(tmp_path: Path) -> Vocabulary:
    return Vocabulary(tmp_path / "memory")


SHARED = text(100, 150)
MINE, CANARY, THEIRS = text(1), text(2, 40, low=7000), text(3)


def teach(memory: Vocabulary) -> None:
    """Two chats that begin alike; the one to be forgotten comes first and owns what is shared."""
    memory.learn("mine", [*SHARED, *MINE, *CANARY, *MINE[:50]])
    memory.learn("theirs", [*SHARED, *THEIRS])


def test_what_was_shared_stays_and_the_rest_is_found_nowhere(memory: Vocabulary) -> None:
    teach(memory)
    assert memory.drafts(CANARY[:10])["suffix"][:5] == CANARY[10:15]
    assert memory.drafts(CANARY[:10])["ngram-mod"][:5] == CANARY[10:15]
    assert len(memory.holds(CANARY[5:9])) >= 2
    n_slots = memory.n_slots
    n_counts = lookup_cache.read(memory.folder / ngram_cache.DYNAMIC_FILE).totals.sum()
    assert memory.forget("mine") == ""
    for at in range(len(CANARY) - 1):
        assert memory.holds(CANARY[at : at + 2]) == []
    assert memory.drafts(CANARY[:10]) == {"suffix": [], "ngram-mod": [], "ngram-cache": []}
    assert memory.drafts(MINE[20:30]) == {"suffix": [], "ngram-mod": [], "ngram-cache": []}
    for known in (SHARED[60:], THEIRS):
        assert memory.drafts(known[:10])["suffix"][:5] == known[10:15]
    assert memory.drafts(THEIRS[:10])["ngram-mod"][:5] == THEIRS[10:15]
    assert memory.n_slots < n_slots - 150
    counts = lookup_cache.read(memory.folder / ngram_cache.DYNAMIC_FILE)
    assert 0 < counts.totals.sum() < n_counts
    wanted = [*SHARED, *THEIRS]
    n_prompt = len(wanted) // 2
    alone = lookup_cache.count(wanted[n_prompt - 4 :], range(1, 5), 4)
    assert pairs(counts) == pairs(alone)  # exactly what the other chat has counted


def test_both_forgotten_leave_nothing(memory: Vocabulary) -> None:
    teach(memory)
    assert memory.forget("theirs") == ""
    assert memory.drafts(SHARED[:10])["suffix"][:5] == SHARED[10:15]
    assert memory.holds(THEIRS[3:5]) == []
    assert memory.forget("mine") == ""
    left = [path for path in memory.root.rglob("*") if path.is_file()]
    assert [path.suffix for path in left] == [".pool"]
    assert memory.n_slots == 0


@pytest.mark.parametrize("seed", range(6))
def test_any_chats_in_any_order(memory: Vocabulary, seed: int) -> None:
    """Turns of chats that share paragraphs: what is left is what the others have, and all of it."""
    rng = random.Random(seed)
    paragraphs = [text(1000 + i, rng.randrange(40, 160)) for i in range(8)]
    chats: dict[str, list[list[int]]] = {f"chat {i}": [] for i in range(4)}
    for _ in range(24):  # enough for a merge of segments
        name = rng.choice(list(chats))
        turns = chats[name]
        begin = turns[-1] if turns and rng.random() < 0.8 else []
        history = [*begin, *rng.choice(paragraphs), *text(rng.randrange(10**6), 30)]
        turns.append(history)
        memory.learn(name, history)
    gone = rng.sample(list(chats), 2)
    for name in gone:
        assert memory.forget(name) == ""
    kept = [h for name, turns in chats.items() if name not in gone for h in turns]
    known = grams(kept)
    store = SuffixStore(memory.folder / suffix.FOLDER)
    pieces = [p for s in store._segments for p in split(s.text().tolist())]
    store.close()
    assert grams(pieces, 3) <= grams(kept, 3)
    assert known <= grams(pieces, 33)


def test_again_nothing_happens(memory: Vocabulary) -> None:
    teach(memory)
    assert memory.forget("mine") == ""
    before = {path: path.read_bytes() for path in memory.root.rglob("*") if path.is_file()}
    assert memory.forget("mine") == ""
    assert memory.forget("") == ""
    assert memory.forget("never heard of") == ""
    assert {p: p.read_bytes() for p in memory.root.rglob("*") if p.is_file()} == before


def test_no_folder_is_nothing_to_forget(tmp_path: Path) -> None:
    assert forget(tmp_path / "nowhere", "chat", LEARNERS) == ""
    assert not (tmp_path / "nowhere").exists()


def test_a_chat_without_a_name_leaves_no_log_and_stays(memory: Vocabulary) -> None:
    memory.learn("", MINE)
    assert not (memory.folder / FOLDER).exists()
    memory.learn("theirs", THEIRS)
    memory.forget("theirs")
    assert memory.drafts(MINE[:10])["suffix"][:5] == MINE[10:15]


def test_every_vocabulary_is_searched(memory: Vocabulary) -> None:
    other = Vocabulary(memory.root, "other")
    memory.learn("mine", MINE)
    other.learn("mine", CANARY)
    assert memory.forget("mine") == ""
    assert memory.holds(MINE[:3]) == memory.holds(CANARY[:3]) == []


class Crashed(BaseException):
    """The program is gone."""


@pytest.mark.parametrize("at", range(12))
def test_a_crash_anywhere_leaves_what_can_be_forgotten_again(
    memory: Vocabulary, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(memory)
    n = 0

    def counted(original: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            nonlocal n
            n += 1
            if n == at:
                raise Crashed
            return original(*args, **options)

        return call

    with monkeypatch.context() as patch:
        for owner, name in (
            (Path, "replace"),
            (Path, "unlink"),
            (ChatLog, "_append"),
            (Pool, "sync"),
        ):
            patch.setattr(owner, name, counted(getattr(owner, name)))
        try:
            memory.forget("mine")
        except Crashed:
            assert ChatLog(memory.folder, "mine").exists
        else:
            assert at == 0 or at > n
    assert memory.forget("mine") == ""
    assert memory.holds(CANARY[:2]) == memory.holds(CANARY[20:22]) == []
    for known in (SHARED[60:], THEIRS):
        assert memory.drafts(known[:10])["suffix"][:5] == known[10:15]


def test_what_crashed_programs_were_about_to_write_goes_as_well(memory: Vocabulary) -> None:
    teach(memory)
    segment = next((memory.folder / suffix.FOLDER).glob("*.suffixes"))
    dead = segment.with_name("unfinished-999999999")
    alive = segment.with_name(f"unfinished-{os.getppid()}")
    for path in (dead, alive):
        shutil.copy(segment, path)
    memory.forget("mine")
    assert not dead.exists()
    assert alive.exists()


def test_who_cannot_forget_is_named_and_the_log_stays(
    memory: Vocabulary, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("paceline.engine.forgetting")
    teach(memory)

    def fail(_memory: Path, _log: ChatLog) -> None:
        raise OSError("the disk is gone")

    stubborn = replace(suffix.INFO, forget=fail)
    problem = memory.forget("mine", (stubborn, ngram_mod.INFO, ngram_cache.INFO))
    assert "suffix" in problem
    assert "the disk is gone" in problem
    assert ChatLog(memory.folder, "mine").exists
    assert memory.forget("mine") == ""


def test_the_built_in_drafters_that_learn_can_forget() -> None:
    able = {info.id for info in registry.available() if info.forget is not None}
    assert able == {info.id for info in LEARNERS}


def test_a_pool_loses_only_what_the_chat_wrote(memory: Vocabulary) -> None:
    teach(memory)
    memory.forget("mine")
    held = written(memory.folder / "ngram-mod-4.pool")
    assert held == writes([[*SHARED, *THEIRS]], 4, 18) - writes([[*SHARED, *MINE]], 4, 18)


@pytest.mark.parametrize("n", [5, 20, 40, 63, 64, 100])
def test_a_short_text_that_stands_in_the_forgotten_chat_stays(memory: Vocabulary, n: int) -> None:
    memory.learn("mine", [*MINE[:10], *THEIRS[:n], *CANARY])
    memory.learn("theirs", THEIRS[:n])
    assert memory.forget("mine") == ""
    assert memory.drafts(THEIRS[: n // 2])["suffix"][:1] == [THEIRS[n // 2]]
    for at in range(len(CANARY) - 1):
        assert memory.holds(CANARY[at : at + 2]) == []


def test_a_damaged_log_takes_all_with_it(
    memory: Vocabulary, allow_warnings: Callable[[str], None]
) -> None:
    """Nobody can tell what the chat has taught, so nothing may stay."""
    allow_warnings("paceline.engine.forgetting")
    other = Vocabulary(memory.root, "other")
    teach(memory)
    other.learn("theirs", THEIRS)
    log = ChatLog(memory.folder, "mine")
    data = bytearray(log.path.read_bytes())
    data[len(data) // 2] ^= 1
    log.path.write_bytes(data)
    assert memory.forget("mine") == ""
    assert not memory.folder.exists()
    assert other.drafts(THEIRS[:10])["suffix"][:5] == THEIRS[10:15]
    assert memory.forget("theirs") == ""


def test_the_damaged_log_of_another_chat_is_no_obstacle(
    memory: Vocabulary, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("paceline.engine.drafters.suffix")
    teach(memory)
    ChatLog(memory.folder, "theirs").path.write_bytes(b"garbage")
    assert memory.forget("mine") == ""
    for at in range(len(CANARY) - 1):
        assert memory.holds(CANARY[at : at + 2]) == []
    assert memory.drafts(THEIRS[:10])["suffix"][:5] == THEIRS[10:15]


def test_a_file_that_is_no_pool_is_removed(memory: Vocabulary) -> None:
    teach(memory)
    path = memory.folder / "ngram-mod-4.pool"
    path.write_bytes(path.read_bytes()[:-3])
    assert memory.forget("mine") == ""
    assert not path.exists()


# ------------------------------------------------------------------------------ by the engine

STRATEGY = "suffix+ngram-mod+ngram-cache:n_match=4:n_min=2:p_min=0"


class Desk:
    """An engine with a memory; every chat is one question to the same model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bench = Bench(target=FakeModel(random_language(5, spread=6.0), n_ctx=2048))
        self.client: InlineClient = self.bench.client
        self.client.submit(LoadPair("l", ModelParams("target"), memory_dir=str(folder)))

    def ask(self, chat: str, question: str, **options: object) -> TurnFinished:
        given = {
            "messages": (ChatMessage("user", question),),
            "sampling": SamplingParams(temperature=0.5),
            "strategy": STRATEGY,
            "remember": True,
            "max_tokens": 150,
            "ignore_eog": True,
            "seed": 3,
            "chat": chat,
        } | options
        self.bench.events.clear()
        self.client.submit(StartTurn("turn", **given))  # type: ignore[arg-type]
        last = self.bench.events[-1]
        assert isinstance(last, TurnFinished), last
        return last

    def forget(self, chat: str) -> Forgotten:
        self.bench.events.clear()
        self.client.submit(Forget(str(self.folder), chat))
        (answer,) = self.bench.events
        assert isinstance(answer, Forgotten)
        return answer

    @property
    def memory(self) -> Path:
        return self.folder / vocabulary_hash(self.bench.models["target"].vocab)

    def texts(self, chat: str) -> list[list[int]]:
        return [t.tolist() for t in ChatLog(self.memory, chat).texts()]


def test_a_turn_notes_its_whole_text(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    reply = desk.ask("chat", "What is it?")
    (noted,) = desk.texts("chat")
    assert noted[-len(reply.tokens) :] == list(reply.tokens)
    assert bytes(noted[: reply.stats.n_prompt][:6]) == b"user: "
    assert desk.forget("chat") == Forgotten("chat")
    assert desk.texts("chat") == []
    assert not list((desk.memory / suffix.FOLDER).iterdir())


@pytest.mark.parametrize(
    "options",
    [{"remember": False}, {"chat": ""}, {"strategy": "off"}, {"strategy": "prompt-lookup"}],
    ids=str,
)
def test_without_learning_or_a_name_there_is_no_log(
    tmp_path: Path, options: dict[str, object]
) -> None:
    desk = Desk(tmp_path)
    options = {"chat": "chat", "question": "What is it?"} | options
    desk.ask(**options)  # type: ignore[arg-type]
    assert not (desk.memory / FOLDER).exists()


def test_a_loaded_pair_forgets_what_it_holds_in_memory(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ask("chat", "What is it?")
    pair = desk.client._service._pair  # type: ignore[attr-defined]
    assert pair.kept
    desk.forget("chat")
    assert not pair.kept
    desk.ask("next", "What is it?")
    assert desk.texts("next")
    assert desk.texts("chat") == []


def test_no_folder_is_not_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path)
    desk.ask("chat", "What is it?")
    monkeypatch.chdir(tmp_path)
    desk.bench.events.clear()
    desk.client.submit(Forget("", "chat"))
    assert desk.bench.events == [Forgotten("chat")]
    assert desk.texts("chat")


def test_a_full_log_ends_learning_and_not_the_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("paceline.engine.learning")
    monkeypatch.setattr("paceline.engine.drafters.chat_log.MOST_BYTES", 1000)
    desk = Desk(tmp_path)
    reply = desk.ask("chat", "What is it?")
    assert len(reply.tokens) == 150
    assert not desk.memory.exists() or not list(desk.memory.iterdir())


def test_a_log_that_cannot_be_written_ends_learning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("paceline.engine.learning")
    desk = Desk(tmp_path)
    desk.ask("other", "What is it?")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.suffixes")}

    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(ChatLog, "_append", fail)
    desk.bench.events.clear()
    desk.client.submit(
        StartTurn("turn", prompt="x", strategy=STRATEGY, remember=True, chat="chat", max_tokens=5)
    )
    assert isinstance(desk.bench.events[-1], TurnFinished)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*.suffixes")} == before


@pytest.mark.parametrize("n_notes", [0, 1, 3])
def test_what_could_not_be_noted_in_mid_reply_is_taken_back(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    allow_warnings: Callable[[str], None],
    caplog: pytest.LogCaptureFixture,
    n_notes: int,
) -> None:
    """The pool is written during the reply; what of it no log names must not stay."""
    allow_warnings("paceline.engine.learning")
    monkeypatch.setattr("paceline.engine.learning._NOTE_EVERY", 10)
    desk = Desk(tmp_path)
    desk.ask("other", "What is it?", max_tokens=1)
    original, n = ChatLog._append, 0

    def fail(self: ChatLog, *args: object) -> None:
        nonlocal n
        n += 1
        if n > 1 + n_notes:
            raise OSError("no space left on device")
        original(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(ChatLog, "_append", fail)
    reply = desk.ask("chat", "What is it?")
    assert len(caplog.records) == 2  # once in mid-reply and once at its end
    (path,) = desk.memory.glob("*.pool")
    noted = [t for chat in ("other", "chat") for t in desk.texts(chat)]
    assert written(path) <= writes(noted, 4, 18)
    assert not writes([reply.tokens], 4, 18) <= written(path)
    assert not any(len(t) > 30 + 10 * n_notes + 60 for t in noted)


def test_a_text_is_on_the_disk_before_drafters_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    original = os.fsync

    def fsync(handle: int) -> None:
        calls.append("log")
        original(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(SuffixStore, "remember", lambda *_: calls.append("store"))
    Desk(tmp_path).ask("chat", "What is it?", strategy="suffix")
    assert calls == ["log", "store"]


def test_notes_are_written_while_a_reply_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.engine.learning._NOTE_EVERY", 10)
    noted: list[int] = []
    original = Learning._note

    def note(self: Learning, history: Sequence[int], *, lasting: bool = False) -> None:
        original(self, history, lasting=lasting)
        noted.append(len(history))

    monkeypatch.setattr(Learning, "_note", note)
    desk = Desk(tmp_path)
    desk.ask("chat", "What is it?")
    assert len(noted) >= 5
    assert noted == sorted(noted)


def test_a_strategy_that_cannot_note_what_it_learns_is_refused_in_mid_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(ChatLog, "_append", fail)
    desk = Desk(tmp_path)

    def tune(event: object) -> None:
        if isinstance(event, TurnStarted):
            desk.client.submit(Tune("turn", STRATEGY))

    answers: list[object] = []
    desk.bench.on_event = lambda event: (answers.append(event), tune(event))[0]
    reply = desk.ask("chat", "What is it?", strategy="off")
    assert len(reply.tokens) == 150
    refusals = [event for event in answers if isinstance(event, TuneRejected)]
    assert [refusal.code for refusal in refusals] == ["cannot-remember"]
    assert not list(tmp_path.rglob("*.suffixes"))


def test_a_strategy_that_comes_in_mid_reply_learns_all_of_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)

    def tune(event: object) -> None:
        if isinstance(event, StepCommitted) and event.step == 20:
            desk.client.submit(Tune("turn", "suffix"))

    desk.bench.on_event = tune
    reply = desk.ask("chat", "What is it?", strategy="off")
    (noted,) = desk.texts("chat")
    assert noted[-150:] == list(reply.tokens)
    assert list(tmp_path.rglob("*.suffixes"))

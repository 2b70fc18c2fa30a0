"""`paceline cache` with the demo pair's vocabulary."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.program import assert_one_clear_line, paceline, paceline_process
from engine.draft.test_lookup_cache import as_file, obvious_count, pairs_of
from fake_model import ByteVocabulary
from paceline.cli import cache
from paceline.cli.chat_run import FILE_NAME, STATES_OWNER
from paceline.engine.draft.lookups import lookup_cache
from paceline.engine.draft.lookups.lookup_cache import (
    CacheOrigin,
    read_origin,
    sidecar,
    write_origin,
)
from paceline.engine.draft.lookups.ngram_cache import try_out
from paceline.engine.model.backend import VocabularyFile
from paceline.engine.model.vocabularies import vocabulary_hash
from paceline.engine.native import llama_backend
from paceline.errors import UserError
from paceline.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT = "A list is a list of things.\nA list may be empty.\n" * 20


@pytest.fixture
def vocab(target_path: Path) -> Iterator[VocabularyFile]:
    loaded = llama_backend().load_vocabulary(str(target_path))
    yield loaded
    loaded.close()


def bigrams_of(vocab: VocabularyFile, *texts: str) -> Any:
    expected = obvious_count([], ())
    for text in texts:
        tokens = [vocab.bos] * vocab.add_bos + vocab.tokenize(text, special=True)
        tokens += [vocab.eos] * vocab.add_eos
        expected += obvious_count(tokens, (2,))
    return expected


# --------------------------------------------------------------------------------------- build


def test_building(tmp_path: Path, target_path: Path, vocab: VocabularyFile) -> None:
    first, second, out = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "new" / "ab.bin"
    first.write_text(TEXT, "utf-8")
    second.write_text("Another text, ünïcode ✓", "utf-8")
    result = paceline_process("cache", "build", first, second, "--model", target_path, "--out", out)
    assert result.code == 0, result.err
    assert result.err == ""
    assert pairs_of(lookup_cache.read(out)) == bigrams_of(vocab, TEXT, second.read_text("utf-8"))
    assert read_origin(out) == CacheOrigin(vocabulary_hash(vocab), target_path.name)
    n = len(lookup_cache.read(out).sizes)
    assert f"{n:,} n-grams" in result.out
    assert sorted(p.name for p in out.parent.iterdir()) == ["ab.bin", "ab.bin.json"]


def test_a_file_is_read_in_pieces_of_whole_lines(
    tmp_path: Path,
    target_path: Path,
    vocab: VocabularyFile,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "a.txt"
    text = "".join(f"Line {i} of many.{chr(10) * (i % 4 > 0)}" for i in range(300)) + "\r\nend"
    file.write_bytes(text.encode())
    monkeypatch.setattr(cache, "_PIECE_CHARS", 80)
    monkeypatch.setattr(cache, "_TOKENS_AT_ONCE", 50)
    pieces = list(cache.read_pieces(file, vocab))
    texts = [b"".join(map(vocab.piece, p)).decode().removeprefix(" ") for p in pieces]
    assert len(pieces) > 50
    assert all(one.endswith("\n") for one in texts[vocab.add_bos : -1 - vocab.add_eos])
    cache._build([file], str(target_path), tmp_path / "o.bin")
    tokens = [token for piece in pieces for token in piece]
    assert pairs_of(lookup_cache.read(tmp_path / "o.bin")) == obvious_count(tokens, (2,))


@pytest.mark.parametrize("n", [1, 79, 80, 81, 159, 160, 161, 1000])
def test_nothing_is_lost_where_pieces_meet(
    tmp_path: Path, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_PIECE_CHARS", 80)
    for text in ("é" * n, "x" * n + "\n" + "y" * n, "\n" * n, "a\n" * n + "b"):
        (tmp_path / "a.txt").write_text(text, "utf-8", newline="")
        pieces = cache.read_pieces(tmp_path / "a.txt", ByteVocabulary())
        read = [bytes(piece) for piece in pieces]
        assert b"".join(read) == text.encode()
        assert all(read)
        assert max(map(len, read)) <= 4 * 80
        if n < 80:
            assert all(piece.endswith(b"\n") for piece in read[:-1]), "whole lines"


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path, target_path: Path) -> None:
    (tmp_path / "noise").write_bytes(b"A list\xff\xfe\x00 of \xc3 things. " * 500)
    out = tmp_path / "o.bin"
    result = paceline("cache", "build", tmp_path / "noise", "--model", target_path, "--out", out)
    assert result.code == 0, result.err
    assert len(lookup_cache.read(out).sizes) > 3
    assert re.search(r" from \d+,\d{3} tokens$", result.out.strip())


@pytest.mark.parametrize(
    ("corpus_name", "model", "out", "code"),
    [
        ("missing.txt", "demo", "o.bin", "There is no file"),
        (".", "demo", "o.bin", "There is no file"),
        ("empty.txt", "demo", "o.bin", "nothing to count"),
        ("a.txt", "a.txt", "o.bin", "is not a GGUF file"),
        ("a.txt", "missing.gguf", "o.bin", "There is no file"),
        ("a.txt", "demo", ".", "cannot be written: is a folder"),
        ("a.txt", "demo", "a.txt/o.bin", "cannot be written"),
        ("a.txt", "demo", "a.txt", "it is one of the files to be read"),
        ("a.txt", "empty.txt", "empty.txt", "it is one of the files to be read"),
        ("a.txt", "demo", "package", "“package.json”, which tells its vocabulary, is"),
    ],
)
def test_what_cannot_be_built(
    tmp_path: Path, target_path: Path, corpus_name: str, model: str, out: str, code: str
) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "package.json").write_text('{"name": "mine"}')
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    file = target_path if model == "demo" else tmp_path / model
    options = ("--model", file, "--out", tmp_path / out)
    result = paceline("cache", "build", tmp_path / corpus_name, *options)
    assert result.out == ""
    assert_one_clear_line(result, code, code=1)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["guess"],
        ["build", "a.txt", "--out", "o.bin"],
        ["build", "a.txt", "--model", "m.gguf"],
        ["merge", "a.bin"],
        ["stats", "a.bin", "text.txt"],
        ["clear", "everything"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str]) -> None:
    result = paceline("cache", *arguments)
    assert_one_clear_line(result, code=2)


# --------------------------------------------------------------------------------------- merge


def test_merging(tmp_path: Path) -> None:
    a, b, out = tmp_path / "a.bin", tmp_path / "b.bin", tmp_path / "out.bin"
    a.write_bytes(as_file([((1, 2), [(3, 4)]), ((5, 6), [(7, 1)])]))
    b.write_bytes(as_file([((1, 2), [(8, 1), (3, 1)])]))
    for path in (a, b):
        write_origin(path, CacheOrigin("0123456789abcdef", "m.gguf"))
    result = paceline("cache", "merge", a, b, "--out", out)
    assert (result.code, result.err) == (0, "")
    assert pairs_of(lookup_cache.read(out)) == {
        ((1, 2), 3): 5, ((1, 2), 8): 1, ((5, 6), 7): 1,
    }  # fmt: skip
    assert read_origin(out) == CacheOrigin("0123456789abcdef", "m.gguf")
    assert paceline("cache", "merge", a, out, "--out", out).code == 0, "onto one of them"
    assert pairs_of(lookup_cache.read(out))[(1, 2), 3] == 9


@pytest.mark.skipif(sys.platform == "win32", reason="has no such things among its files")
def test_devices_stay_what_they_are(tmp_path: Path) -> None:
    one, pipe = tmp_path / "one.bin", tmp_path / "pipe"
    lookup_cache.write(lookup_cache.count([1, 2, 3, 4], (2,)), one)
    os.mkfifo(pipe)
    result = paceline("cache", "merge", one, one, "--out", pipe)
    assert result.code == 1
    assert "no ordinary file" in result.err
    assert pipe.is_fifo()


def test_merging_takes_no_file_of_others_away(tmp_path: Path) -> None:
    one, other = tmp_path / "one.bin", tmp_path / "package.json"
    lookup_cache.write(lookup_cache.count([1, 2, 3, 4], (2,)), one)
    other.write_text('{"name": "mine"}')
    result = paceline("cache", "merge", one, one, "--out", tmp_path / "package")
    assert_one_clear_line(result, code=1)
    assert other.read_text() == '{"name": "mine"}'
    assert not (tmp_path / "package").exists()


def test_different_vocabularies_are_not_merged(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.bin", "b.bin")]
    for i, path in enumerate(paths):
        path.write_bytes(as_file([((1, 2), [(3, 4)])]))
        write_origin(path, CacheOrigin(str(i) * 16))
    result = paceline("cache", "merge", *paths, "--out", tmp_path / "out.bin")
    assert_one_clear_line(
        result, "“a.bin” and “b.bin” were made for different vocabularies", code=1
    )
    assert not (tmp_path / "out.bin").exists()
    sidecar(paths[1]).unlink()  # as llama.cpp's tools write it
    write_origin(tmp_path / "out.bin", CacheOrigin("9" * 16))
    result = paceline("cache", "merge", *paths, "--out", tmp_path / "out.bin")
    assert result.code == 0
    assert "The vocabulary of some of these files is not known" in result.err
    assert read_origin(tmp_path / "out.bin") is None


# --------------------------------------------------------------------------------------- stats


def test_stats_of_a_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(as_file([((1, 2), [(3, 4), (4, 1)]), ((5,), [(7, 1)])]))
    result = paceline("cache", "stats", file, "--json")
    assert json.loads(result.out) == {
        "file": str(file),
        "bytes": 64,
        "vocabulary": None,
        "model": None,
        "n_ngrams": 2,
        "n_ngrams_by_length": {"1": 1, "2": 1, "3": 0, "4": 0},
        "n_followers": 3,
        "n_counted": 6,
        "trial": None,
    }
    write_origin(file, CacheOrigin("0123456789abcdef", "m.gguf"))
    text = paceline("cache", "stats", file).out
    assert "0123456789abcdef (m.gguf)" in text
    assert "1 of length 1, 1 of length 2" in text


def test_stats_with_a_text(tmp_path: Path, target_path: Path, vocab: VocabularyFile) -> None:
    text, out = tmp_path / "a.txt", tmp_path / "a.bin"
    text.write_text(TEXT)
    assert paceline("cache", "build", text, "--model", target_path, "--out", out).code == 0
    result = paceline("cache", "stats", out, text, "--model", target_path, "--json")
    trial = json.loads(result.out)["trial"]
    tokens = list(cache.read_pieces(text, vocab))
    assert trial["n_tokens"] == sum(map(len, tokens)) - 1
    assert trial["n_accepted"] <= trial["n_drafted"]
    assert trial["acceptance_rate"] == trial["n_accepted"] / trial["n_drafted"] > 0.8
    assert trial["mean_committed_per_step"] > 4
    shown = paceline("cache", "stats", out, text, "--model", target_path).out
    assert f"accepted    {trial['n_accepted']} (" in shown


def test_stats_check_the_vocabulary(tmp_path: Path, target_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(as_file([((1, 2), [(3, 4)])]))
    assert paceline("cache", "stats", file, "--model", target_path).code == 0
    write_origin(file, CacheOrigin("0" * 16, "other.gguf"))
    result = paceline("cache", "stats", file, "--model", target_path)
    assert_one_clear_line(result, "other.gguf", code=1)


def obvious_trial(static: Sequence[int], chat: Sequence[int]) -> tuple[int, int, int]:
    """Steps, drafted, accepted for one piece, by the drafters' obvious reference."""
    from engine.draft.test_ngram_cache import obvious

    n, steps, drafted, accepted = 1, 0, 0, 0
    while n < len(chat):
        draft = obvious(chat[:n], [static], 8)
        right = 0
        while right < len(draft) and n + right < len(chat) and draft[right] == chat[n + right]:
            right += 1
        steps, drafted, accepted = steps + 1, drafted + len(draft), accepted + right
        n += right + 1
    return steps, drafted, accepted


def test_a_trial_is_what_a_chat_would_have_been() -> None:
    static = [1, 2, 3, 1, 2, 3, 4, 4, 4]
    chat = [1, 2, 3, 4, 1, 2, 3, 4, 5, 1, 2, 3, 4, 4, 4, 9, 9, 9, 9, 1, 2]
    trial = try_out(lookup_cache.count(static, (2,)), chat, 10)
    expected = obvious_trial(static, chat)
    assert (trial.n_steps, trial.n_drafted, trial.n_accepted) == expected
    assert trial.n_tokens == len(chat) - 1
    assert 0 < trial.n_accepted < trial.n_drafted


def test_a_piece_of_a_trial_knows_nothing_of_those_before_it() -> None:
    piece = [random % 97 for random in range(0, 97 * 40, 41)][:90]
    alone = try_out(lookup_cache.empty(), piece * 3, 100, piece=1000)
    once, cut = (try_out(lookup_cache.empty(), piece * n, 100, piece=90) for n in (1, 3))
    assert alone.n_accepted > 60, "the text is there three times"
    assert (cut.n_drafted, cut.n_accepted) == (3 * once.n_drafted, 3 * once.n_accepted)
    nothing = try_out(lookup_cache.empty(), [], 100)
    assert (nothing.acceptance_rate, nothing.mean_committed_per_step) == (None, None)


# --------------------------------------------------------------------------------------- clear


def test_clearing(paceline_home: Path, tmp_path: Path) -> None:
    data = paceline_home / "data"
    drafts = data / "drafts"
    (drafts / "0123456789abcdef" / "more").mkdir(parents=True)
    (drafts / "0123456789abcdef" / "ngram-mod-24.pool").write_bytes(bytes(1000))
    (drafts / "0123456789abcdef" / "more" / "x").write_bytes(bytes(24))
    (data / FILE_NAME).write_bytes(bytes(76))
    chats = data / "chats.db"
    chats.write_bytes(b"chats")
    for owner in (STATES_OWNER, "a chat of the window"):
        folder = paceline_home / "cache" / "states" / "a model" / owner.encode().hex()
        folder.mkdir(parents=True)
        (folder / "a block").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("")
    if sys.platform != "win32":
        (drafts / "link").symlink_to(elsewhere, target_is_directory=True)
    result = paceline("cache", "clear", "--json")
    assert json.loads(result.out) == {"folder": str(data), "n_files": 3, "bytes": 1100}
    assert not drafts.exists()
    assert not (data / FILE_NAME).exists()
    assert chats.exists()
    left = list((paceline_home / "cache" / "states").rglob("a block"))
    assert [file.parent.name for file in left] == [b"a chat of the window".hex()]
    assert (elsewhere / "precious").exists()
    result = paceline("cache", "clear")
    assert result.code == 0
    assert "0 files" in result.out


def test_what_cannot_be_deleted_is_reported(
    paceline_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    (paceline_home / "data").mkdir(parents=True)
    (paceline_home / "data" / FILE_NAME).write_text("")
    monkeypatch.setattr(Path, "unlink", locked)
    with pytest.raises(UserError, match=r"jsonl” cannot be deleted: Permission denied"):
        cache._clear(Paths.from_environment())

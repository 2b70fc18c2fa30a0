"""`paceline cache`: build, merge, describe and delete lookup caches of the n-gram drafters.

What llama.cpp's `llama-lookup-create`, `-merge` and `-stats` do, in the same file format. They also
load the model; here its vocabulary is enough.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any, assert_never

import numpy as np

from paceline.cli.chat_run import FILE_NAME, STATES_OWNER
from paceline.cli.output import ProgressLine, as_json, print_result, remark
from paceline.cli.usage import Parser, UsageError
from paceline.engine.draft.lookups import lookup_cache
from paceline.engine.draft.lookups.lookup_cache import (
    MAX_NGRAM,
    CacheOrigin,
    LookupCache,
    check_fits,
    read_origin,
    sidecar,
    write_origin,
)
from paceline.engine.draft.lookups.ngram_cache import STATIC, try_out
from paceline.engine.model.backend import Vocabulary
from paceline.engine.model.state_files import drop_files
from paceline.engine.model.vocabularies import vocabulary_hash
from paceline.engine.native import llama_backend
from paceline.errors import UserError
from paceline.files import delete_folder, open_ordinary
from paceline.paths import Paths
from paceline.settings import SETTINGS_FILE, left_learning_off, peek_settings, save_settings
from paceline.sizes import part_and_whole, readable_size

_MODEL = "GGUF file whose vocabulary counts"
_TOKENS_AT_ONCE = 1 << 18
"""Tokens counted by one set of numpy calls."""
_PIECE_CHARS = 1 << 16
"""Characters tokenized at once; some tokenizers recurse once per character."""


def add(parser: Parser) -> None:
    """Describe the command lines of `paceline cache`."""
    parser.description = (
        "Make, merge and look at the lookup caches of the strategy ngram-cache, and delete what "
        "chats with --remember have left."
    )
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)

    build = commands.add_parser(
        "build",
        help="count what follows pairs of tokens in text files",
        description="Count what follows pairs of tokens in text files, for the strategy "
        "ngram-cache.",
        epilog="Example: paceline cache build notes/*.txt --model model.gguf --out notes.bin",
    )
    build.add_argument("corpus", metavar="CORPUS", nargs="+", type=Path, help="text file (UTF-8)")
    build.add_argument("--model", metavar="FILE", required=True, help=_MODEL)
    build.add_argument("--out", metavar="FILE", required=True, type=Path, help="file to write")

    merge = commands.add_parser(
        "merge",
        help="add up several lookup caches",
        description="Add up the counts of several lookup caches of one vocabulary.",
    )
    merge.add_argument("files", metavar="FILE", nargs="+", type=Path, help="lookup cache")
    merge.add_argument("--out", metavar="FILE", required=True, type=Path, help="file to write")

    stats = commands.add_parser(
        "stats",
        help="show what a lookup cache holds, and how well it predicts a text",
        description="Show what a lookup cache holds. With text files and a model's vocabulary, "
        "predict the texts with it, without running the model.",
    )
    stats.add_argument("file", metavar="FILE", type=Path, help="lookup cache")
    stats.add_argument("texts", metavar="TEXT", nargs="*", type=Path, help="text file (UTF-8)")
    stats.add_argument("--model", metavar="FILE", help=_MODEL)
    stats.add_argument("--json", action="store_true", help="one JSON object")

    clear = commands.add_parser(
        "clear",
        help="delete the texts that `paceline chat --remember` has kept",
        description="Delete the texts that `paceline chat --remember` has kept for later chats. "
        "The states of what models have read of them go, too. Chats of the window are deleted "
        "there.",
    )
    clear.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> int:
    """Carry out a `cache` command; returns the exit code.

    Raises:
        UserError: It cannot be done.
    """
    match args.action:
        case "build":
            text = _build(args.corpus, args.model, args.out)
        case "merge":
            text = _merge(args.files, args.out)
        case "stats":
            report = _stats(args.file, args.texts, args.model)
            text = as_json(report) if args.json else _as_text(report)
        case "clear":
            cleared = _clear(Paths.from_environment())
            text = as_json(cleared) if args.json else _cleared_as_text(cleared)
        case other:
            assert_never(other)
    print_result(text if text.endswith("\n") else f"{text}\n")
    return 0


# ------------------------------------------------------------------------------------- build, merge


def _build(corpus: Sequence[Path], model: str, out: Path) -> str:
    _check_writable(out)
    for path in corpus:
        if not path.is_file():
            raise UserError("file-not-found", f"There is no file “{path}”.", "Check the path.")
    for path in (*corpus, Path(model)):
        if out.exists() and path.exists() and out.samefile(path):
            raise _cannot_write(out, "it is one of the files to be read")
    with closing(llama_backend().load_vocabulary(model)) as vocab:
        origin = CacheOrigin(vocabulary_hash(vocab), Path(model).name)
        caches: list[LookupCache] = []
        n_tokens = 0
        for path in corpus:
            for tokens, start in _batches(read_pieces(path, vocab)):
                n_tokens += len(tokens) - start
                _append(caches, lookup_cache.count(tokens, (STATIC,), start))
    cache = lookup_cache.merge(caches)
    if not len(cache.sizes):
        raise UserError(
            "empty-corpus",
            f"There is nothing to count in a text of {n_tokens:,} tokens.",
            "Give text files with at least a few words.",
        )
    _write(cache, origin, out)
    return f"{out}: {_summary(cache)} from {n_tokens:,} tokens"


def _batches(pieces: Iterable[list[int]]) -> Iterator[tuple[list[int], int]]:
    """Yield tokens to count and how many of them were counted before."""
    tokens: list[int] = []
    start = 0
    for piece in pieces:
        tokens += piece
        if len(tokens) > _TOKENS_AT_ONCE:
            yield tokens, start
            tokens = tokens[-STATIC:]
            start = len(tokens)
    yield tokens, start


def _append(caches: list[LookupCache], new: LookupCache) -> None:
    """Append a cache; those of similar size become one, so that each is merged a few times only."""
    caches.append(new)
    while len(caches) > 1 and len(caches[-2].tokens) < 2 * len(caches[-1].tokens):
        last = caches.pop()
        caches[-1] = lookup_cache.merge([caches[-1], last])


def _merge(files: Sequence[Path], out: Path) -> str:
    _check_writable(out)
    origins = [read_origin(path) for path in files]
    known = {origin.vocabulary: path for path, origin in zip(files, origins, strict=True) if origin}
    if len(known) > 1:
        first, second, *_ = known.values()
        raise UserError(
            "other-vocabulary",
            f"“{first.name}” and “{second.name}” were made for different vocabularies.",
            "Merge only files that were built with models of the same vocabulary.",
        )
    caches: list[LookupCache] = []
    for path in files:
        _append(caches, lookup_cache.read(path))
    cache = lookup_cache.merge(caches)
    origin = origins[0] if all(origins) else None
    _write(cache, origin, out)
    if origin is None:
        remark("The vocabulary of some of these files is not known, nor that of the new one.")
    return f"{out}: {_summary(cache)}"


def _check_writable(out: Path) -> None:
    """Refuse a place that cannot be written to, before the work is done."""
    folder = next(place for place in out.absolute().parents if place.exists())
    if out.exists() and not out.is_file():  # /dev/null would become a file
        raise _cannot_write(out, "is a folder" if out.is_dir() else "is no ordinary file")
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise _cannot_write(out, "the folder is not writable")
    if not out.exists():
        try:
            read_origin(out)
        except UserError as error:
            taken = f"“{sidecar(out).name}”, which tells its vocabulary, is something else already"
            raise _cannot_write(out, taken) from error


def _write(cache: LookupCache, origin: CacheOrigin | None, out: Path) -> None:
    try:
        lookup_cache.write(cache, out)
        write_origin(out, origin)
    except OSError as error:
        raise _cannot_write(out, error.strerror or str(error)) from error


def _cannot_write(out: Path, reason: str) -> UserError:
    return UserError(
        "cannot-write", f"“{out}” cannot be written: {reason}.", "Choose another place by --out."
    )


def _summary(cache: LookupCache) -> str:
    return f"{len(cache.sizes):,} n-grams with {len(cache.tokens):,} followers"


# -------------------------------------------------------------------------------------------- stats


def _stats(file: Path, texts: Sequence[Path], model: str | None) -> dict[str, Any]:
    if texts and model is None:
        raise UsageError(
            "usage", "A text cannot be predicted without a vocabulary.", "Give it by --model FILE."
        )
    cache, origin = lookup_cache.read(file), read_origin(file)
    by_length = np.bincount(cache.orders, minlength=MAX_NGRAM + 1)
    return {
        "file": str(file),
        "bytes": file.stat().st_size,
        "vocabulary": origin.vocabulary if origin else None,
        "model": origin.model if origin else None,
        "n_ngrams": len(cache.sizes),
        "n_ngrams_by_length": {str(n): int(by_length[n]) for n in range(1, MAX_NGRAM + 1)},
        "n_followers": len(cache.tokens),
        "n_counted": int(cache.counts.sum(dtype=np.int64)),
        "trial": _trial(file, cache, origin, texts, model) if model else None,
    }


def _trial(
    file: Path, cache: LookupCache, origin: CacheOrigin | None, texts: Sequence[Path], model: str
) -> dict[str, Any] | None:
    with closing(llama_backend().load_vocabulary(model)) as vocab:
        vocabulary = vocabulary_hash(vocab) if origin else ""
        check_fits(file, cache, origin, vocabulary, vocab.n_tokens)
        if not texts:
            return None
        pieces = (read_pieces(path, vocab) for path in texts)
        trial = try_out(cache, [*chain.from_iterable(chain(*pieces))], vocab.n_tokens)
    return {
        **asdict(trial),
        "acceptance_rate": trial.acceptance_rate,
        "mean_committed_per_step": trial.mean_committed_per_step,
    }


def _as_text(report: dict[str, Any]) -> str:
    lengths = ", ".join(f"{n} of length {k}" for k, n in report["n_ngrams_by_length"].items() if n)
    made_for = f"{report['vocabulary']} ({report['model'] or 'model unknown'})"
    lines = [
        f"{report['file']}",
        f"n-grams     {report['n_ngrams']}{f' ({lengths})' if lengths else ''}",
        f"followers   {report['n_followers']}, counted {report['n_counted']} times",
        f"size        {_size(report['bytes'])}",
        f"vocabulary  {made_for if report['vocabulary'] else 'unknown'}",
    ]
    if trial := report["trial"]:
        lines += [
            f"drafted     {trial['n_drafted']} tokens in {trial['n_steps']} steps",
            f"accepted    {trial['n_accepted']} ({_percent(trial['acceptance_rate'])})",
            f"committed   {trial['mean_committed_per_step'] or 0:.2f} tokens per step",
        ]
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "nothing drafted" if share is None else f"{100 * share:.1f} %"


# -------------------------------------------------------------------------------------------- clear


def _clear(folders: Paths) -> dict[str, Any]:
    """Delete the texts kept by `chat --remember`, and the files that drafters kept formerly."""
    file = folders.data_dir / FILE_NAME
    try:
        file_of_settings = folders.config_dir / SETTINGS_FILE
        settings = peek_settings(file_of_settings)
        if left_learning_off(settings, folders.old_memory):
            off = replace(settings, learns_from_chats=False, was_told_of_learning=True)
            save_settings(file_of_settings, off)
        n_files, n_bytes = delete_folder(folders.old_memory)
        if file.exists():
            n_files, n_bytes = n_files + 1, n_bytes + file.stat().st_size
            file.unlink()
        drop_files(str(folders.states_dir), (STATES_OWNER,))
    except OSError as error:
        raise UserError(
            "cannot-delete",
            f"“{error.filename}” cannot be deleted: {error.strerror}.",
            "Close other windows of Paceline and try again.",
        ) from error
    return {"folder": str(folders.data_dir), "n_files": n_files, "bytes": n_bytes}


def _cleared_as_text(cleared: dict[str, Any]) -> str:
    files = "1 file" if cleared["n_files"] == 1 else f"{cleared['n_files']} files"
    return f"Deleted {_size(cleared['bytes'])} in {files} below {cleared['folder']}"


def _size(n_bytes: int) -> str:
    return f"{readable_size(n_bytes)} ({n_bytes} bytes)"


# --------------------------------------------------------------------------------------- text files


def read_pieces(path: Path, vocab: Vocabulary) -> Iterator[list[int]]:
    """Yield a text file's tokens piece by piece, with BOS and EOS as the model asks for them.

    Control tokens' texts become those tokens. Bytes that are no UTF-8 become replacement
    characters.

    Raises:
        UserError: The file cannot be read.
    """
    if vocab.add_bos:
        yield [vocab.bos]
    try:
        size = path.stat().st_size
        with (
            ProgressLine() as progress,
            open_ordinary(path) as raw,
            io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="") as file,
        ):
            rest = ""
            while data := file.read(_PIECE_CHARS):
                lines, newline, rest = (rest + data).rpartition("\n")
                if len(rest) > _PIECE_CHARS:
                    lines, newline, rest = lines + newline + rest, "", ""
                if lines or newline:
                    yield vocab.tokenize(lines + newline, special=True)
                read, whole = part_and_whole(raw.tell(), size)
                progress.show(f"{path.name}: {read} of {whole}")
            if rest:
                yield vocab.tokenize(rest, special=True)
    except OSError as error:
        raise UserError(
            "cannot-read",
            f"“{path}” cannot be read: {error.strerror or error}.",
            "Give text files.",
        ) from error
    if vocab.add_eos:
        yield [vocab.eos]

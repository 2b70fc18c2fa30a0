"""`paceline cache`: make, add up, look at and delete what the n-gram drafters draw on.

What llama.cpp's `llama-lookup-create`, `-merge` and `-stats` do, in the same file format. They also
load the model; here its vocabulary is enough.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from paceline.cli.corpus import read_all, read_pieces
from paceline.cli.output import Progress, Results, remark
from paceline.cli.usage import UsageError
from paceline.engine.drafters import lookup_cache
from paceline.engine.drafters.lookup_cache import LONGEST, LookupCache
from paceline.engine.drafters.lookup_origin import (
    Origin,
    check_fits,
    read_origin,
    sidecar,
    write_origin,
)
from paceline.engine.drafters.lookup_trial import try_out
from paceline.engine.drafters.ngram_counts import STATIC
from paceline.engine.native import llama_backend
from paceline.engine.vocab import vocabulary_hash
from paceline.errors import UserError
from paceline.paths import Paths

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from paceline.engine.backend import Vocabulary

_AT_ONCE = 1 << 18
"""Tokens counted by one set of numpy calls."""


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
            text = _as_json(report) if args.json else _as_text(report)
        case "clear":
            cleared = _clear(Paths.from_environment().data_dir / "drafts")
            text = _as_json(cleared) if args.json else _cleared_as_text(cleared)
        case other:
            assert_never(other)
    results = Results()
    results.write(text + "\n")
    results.check()
    return 0


@contextmanager
def vocabulary_of(model: str) -> Iterator[Vocabulary]:
    """Load a model file's vocabulary alone.

    Raises:
        ModelError: The file cannot be used.
    """
    vocab = llama_backend().load_vocabulary(model)
    try:
        yield vocab
    finally:
        vocab.close()


# ------------------------------------------------------------------------------- build, merge


def _build(corpus: Sequence[Path], model: str, out: Path) -> str:
    _check_writable(out)
    for path in corpus:
        if not path.is_file():
            raise UserError("file-not-found", f"There is no file “{path}”.", "Check the path.")
    for path in (*corpus, Path(model)):
        if out.exists() and path.exists() and out.samefile(path):
            raise _cannot_write(out, "it is one of the files to be read")
    with vocabulary_of(model) as vocab:
        origin = Origin(vocabulary_hash(vocab), Path(model).name)
        progress = Progress()
        caches: list[LookupCache] = []
        n_tokens = 0
        for path in corpus:
            for tokens, start in _batches(read_pieces(path, vocab, progress)):
                n_tokens += len(tokens) - start
                _add(caches, lookup_cache.count(tokens, (STATIC,), start))
    cache = lookup_cache.merge(caches)
    if not len(cache.sizes):
        raise UserError(
            "empty-corpus",
            f"There is nothing to count in a text of {n_tokens} tokens.",
            "Give text files with at least a few words.",
        )
    _write(cache, origin, out)
    return f"{out}: {_summary(cache)} from {n_tokens} tokens"


def _batches(pieces: Iterable[list[int]]) -> Iterator[tuple[list[int], int]]:
    """Yield tokens to count and how many of them were counted before."""
    tokens: list[int] = []
    start = 0
    for piece in pieces:
        tokens += piece
        if len(tokens) > _AT_ONCE:
            yield tokens, start
            tokens = tokens[-STATIC:]
            start = len(tokens)
    yield tokens, start


def _add(caches: list[LookupCache], new: LookupCache) -> None:
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
        _add(caches, lookup_cache.read(path))
    cache = lookup_cache.merge(caches)
    origin = origins[0] if all(origins) else None
    _write(cache, origin, out)
    if origin is None:
        remark("Nothing tells the vocabulary of some of these files, nor of the new one.")
    return f"{out}: {_summary(cache)}"


def _check_writable(out: Path) -> None:
    """Find out before the work is done whether its result can be written."""
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


def _write(cache: LookupCache, origin: Origin | None, out: Path) -> None:
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
    return f"{len(cache.sizes)} n-grams with {len(cache.tokens)} followers"


# --------------------------------------------------------------------------------------- stats


def _stats(file: Path, texts: Sequence[Path], model: str | None) -> dict[str, Any]:
    if texts and model is None:
        raise UsageError(
            "usage", "A text cannot be foretold without a vocabulary.", "Give it by --model FILE."
        )
    cache, origin = lookup_cache.read(file), read_origin(file)
    by_length = np.bincount(cache.orders, minlength=LONGEST + 1)
    return {
        "file": str(file),
        "bytes": file.stat().st_size,
        "vocabulary": origin.vocabulary if origin else None,
        "model": origin.model if origin else None,
        "n_ngrams": len(cache.sizes),
        "n_ngrams_by_length": {str(n): int(by_length[n]) for n in range(1, LONGEST + 1)},
        "n_followers": len(cache.tokens),
        "n_counted": int(cache.counts.sum(dtype=np.int64)),
        "trial": _trial(file, cache, origin, texts, model) if model else None,
    }


def _trial(
    file: Path, cache: LookupCache, origin: Origin | None, texts: Sequence[Path], model: str
) -> dict[str, Any] | None:
    with vocabulary_of(model) as vocab:
        vocabulary = vocabulary_hash(vocab) if origin else ""
        check_fits(file, cache, origin, vocabulary, vocab.n_tokens)
        if not texts:
            return None
        trial = try_out(cache, read_all(texts, vocab), vocab.n_tokens)
    return {
        "n_tokens": trial.n_tokens,
        "n_steps": trial.n_steps,
        "n_drafted": trial.n_drafted,
        "n_accepted": trial.n_accepted,
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


def _as_json(report: dict[str, Any]) -> str:
    return json.dumps(report, indent=2, ensure_ascii=False)


# --------------------------------------------------------------------------------------- clear


def _clear(folder: Path) -> dict[str, Any]:
    """Delete everything below a folder and the folder; links are not followed."""
    n_files = n_bytes = 0
    try:
        for place, folders, files in os.walk(folder, topdown=False):
            for name in files:
                file = Path(place, name)
                n_bytes += file.lstat().st_size
                file.unlink()
                n_files += 1
            for name in folders:
                below = Path(place, name)
                if below.is_symlink():
                    below.unlink()
                else:
                    below.rmdir()
        if folder.is_dir() and not folder.is_symlink():
            folder.rmdir()
    except OSError as error:
        raise UserError(
            "cannot-delete",
            f"“{error.filename}” cannot be deleted: {error.strerror}.",
            "Close other windows of Paceline and try again.",
        ) from error
    return {"folder": str(folder), "n_files": n_files, "bytes": n_bytes}


def _cleared_as_text(cleared: dict[str, Any]) -> str:
    files = "1 file" if cleared["n_files"] == 1 else f"{cleared['n_files']} files"
    return f"Deleted {_size(cleared['bytes'])} in {files} below {cleared['folder']}"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB ({n_bytes} bytes)"

"""N-gram counts: short n-grams of this chat, of earlier chats and of a corpus tell what follows.

After llama.cpp's `ngram-cache` (`common/ngram-cache.cpp`, `examples/lookup/lookup.cpp`; pull
requests 5479, 6828), token by token: first this chat, longest n-gram first and with lax thresholds;
then earlier chats, with strict ones; a follower that the corpus' bigrams know weighs the more; last
the corpus alone. Of equally likely tokens the latest is drafted; llama.cpp leaves that open.

Where this differs from llama.cpp's server, whose own ways are faults (study of its issue 27852):
the counts of another chat never stay, every token is counted with all that stood before it, and
what was learned is written back. Written are the tokens that were generated while this drafter was
at work, because each of them is seen once that way; a prompt comes again with every turn.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from paceline.engine.drafters import lookup_cache
from paceline.engine.drafters.base import (
    NO_DRAFT,
    Draft,
    DrafterInfo,
    Parameter,
    Settings,
    Workbench,
)
from paceline.engine.drafters.chat_log import ChatLog
from paceline.engine.drafters.lookup import Lookup
from paceline.engine.drafters.lookup_cache import LONGEST, LookupCache
from paceline.engine.drafters.lookup_origin import (
    Origin,
    check_fits,
    read_origin,
    sidecar,
    write_origin,
)
from paceline.engine.drafters.ngram_counts import LAX, STATIC, STRICT, Counts, StaticBigrams
from paceline.engine.vocab import vocabulary_hash
from paceline.errors import UserError

_log = logging.getLogger(__name__)

DYNAMIC_FILE = "ngram-cache.bin"
MOST_FOLLOWERS = 200_000
"""What is kept of earlier chats, 6 MB at most: the rarest, of equal ones the oldest, go first."""

_Stamp = tuple[Path, int, int]


def draft(
    context: Counts,
    dynamic: Counts | None,
    static: StaticBigrams | None,
    text: Sequence[int],
    n: int,
) -> list[int]:
    """Return up to `n` tokens that may follow `text`, of which the last four matter."""
    if len(text) < STATIC:
        return []
    bits = context.bits
    narrow, wide = (1 << bits * STATIC) - 1, (1 << bits * LONGEST) - 1
    tail, n_known = 0, len(text)
    for token in text[-LONGEST:]:
        tail = tail << bits | token
    drafted: list[int] = []
    for _ in range(n):
        place = static.find(tail & narrow) if static else -1
        token = context.next_token(tail, n_known, static, place)
        if token < 0 and dynamic:
            token = dynamic.next_token(tail, n_known, static, place)
        if token < 0 and static and place >= 0:
            token = static.best(place)
        if token < 0:
            break
        drafted.append(token)
        tail = (tail << bits | token) & wide
        n_known += 1
    return drafted


class NgramCache(Lookup[Counts]):
    """Feeding costs four dictionary writes per token, proposing a dozen reads per token.

    Raises:
        UserError: The lookup cache that the user chose cannot be used with this model.
    """

    name = "ngram-cache"

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self._bits = bench.vocab.n_tokens.bit_length()
        super().__init__(bench, settings)
        self._static = self._load_static(bench.lookup_cache) if bench.lookup_cache else None
        self._dynamic: Counts | None = None
        self._learned = 0
        self._unsaved: tuple[list[int], int] | None = None

    def new_index(self) -> Counts:
        """Return empty counts for this chat."""
        return Counts(self._bits, LAX)

    def look_up(
        self, index: Counts, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Ask the three sources for one token after the other."""
        text = [*history[-LONGEST:], *ahead]
        n = min(n_max, int(self.settings["n_max"]))
        drafted = draft(index, self._dynamic, self._static, text, n)
        return Draft(drafted) if drafted else NO_DRAFT

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Load what earlier chats have left, then as every lookup."""
        behind_prefill = len(history) - n_prompt <= 1
        self._learned = n_prompt if behind_prefill else len(history)
        if self.bench.memory is not None:
            self._dynamic = self._load_dynamic(self.bench.memory / DYNAMIC_FILE)[1]
        super().begin(history, n_prompt)

    def close(self) -> None:
        """Note what was generated, and let go of the chat."""
        history, learned = self._history, self._learned
        if self.bench.memory is not None and learned < len(history):
            begin = max(learned - LONGEST, 0)  # the n-grams that end with a new token
            self._unsaved = list(history[begin:]), learned - begin
            self._learned = len(history)
        super().close()

    def keep(self) -> None:
        """Write down what was generated, if anything may be kept."""
        unsaved, self._unsaved = self._unsaved, None
        if self.bench.memory is not None and unsaved is not None:
            try:
                if self.bench.log is not None:
                    self.bench.log.add_counted(*unsaved)
                self._save(self.bench.memory / DYNAMIC_FILE, *unsaved)
            except OSError as error:
                reason = error.strerror or error
                _log.warning("What was learned from this reply is lost: %s", reason)

    # ------------------------------------------------------------------------------ within

    def _load_static(self, path: Path) -> StaticBigrams:
        stamp = _stamp(path)
        kept = self.bench.kept.get(f"{self.name}.static")
        if kept is not None:
            known, bigrams = cast("tuple[_Stamp | None, StaticBigrams]", kept)
            if stamp is not None and known == stamp:
                return bigrams
        cache = lookup_cache.read(path)
        origin = read_origin(path)
        vocabulary = self._vocabulary() if origin else ""
        check_fits(path, cache, origin, vocabulary, self.bench.vocab.n_tokens)
        bigrams = StaticBigrams(cache, self._bits)
        self.bench.kept[f"{self.name}.static"] = (stamp, bigrams)
        return bigrams

    def _load_dynamic(self, path: Path) -> tuple[LookupCache, Counts]:
        stamp = _stamp(path)
        kept = self.bench.kept.get(f"{self.name}.dynamic")
        if kept is not None:
            known, cache, counts = cast("tuple[_Stamp | None, LookupCache, Counts]", kept)
            if known == stamp:
                return cache, counts
        cache = lookup_cache.empty()
        if stamp is not None:
            try:
                cache = lookup_cache.read(path)
                check_fits(path, cache, None, "", self.bench.vocab.n_tokens)
            except UserError as error:
                cache = lookup_cache.empty()
                _log.warning("What earlier chats have left is lost: %s", error.message)
        return cache, self._keep_dynamic(stamp, cache)

    def _keep_dynamic(self, stamp: _Stamp | None, cache: LookupCache) -> Counts:
        counts = Counts(self._bits, STRICT)
        counts.load(cache)
        self.bench.kept[f"{self.name}.dynamic"] = (stamp, cache, counts)
        return counts

    def _save(self, path: Path, tokens: list[int], first: int) -> None:
        """Add tokens from place `first` on to the file, which another program may have changed.

        Raises:
            OSError: It cannot be written.
        """
        new = lookup_cache.count(tokens, range(1, LONGEST + 1), first)
        cache = lookup_cache.merge([self._load_dynamic(path)[0], new])
        cache = lookup_cache.prune(cache, MOST_FOLLOWERS)
        lookup_cache.write(cache, path)
        if not sidecar(path).exists():
            write_origin(path, Origin(self._vocabulary()))
        self._keep_dynamic(_stamp(path), cache)

    def _vocabulary(self) -> str:
        kept = self.bench.kept.get("vocabulary")
        if kept is None:
            kept = self.bench.kept["vocabulary"] = vocabulary_hash(self.bench.vocab)
        return cast("str", kept)


def forget(memory: Path, log: ChatLog) -> None:
    """Take what was counted in a chat out of the counts of all.

    Raises:
        OSError: They cannot be written.
    """
    counted = log.counted()
    if not counted:
        return
    path = memory / DYNAMIC_FILE
    theirs = [lookup_cache.count(text, range(1, LONGEST + 1), first) for text, first in counted]
    try:
        rest = lookup_cache.subtract(lookup_cache.read(path), lookup_cache.merge(theirs))
    except UserError:  # there is none, or a damaged one, which no drafter reads either
        rest = lookup_cache.empty()
    if len(rest.sizes):
        lookup_cache.write(rest, path)
    else:
        path.unlink(missing_ok=True)
        sidecar(path).unlink(missing_ok=True)
    log.add_subtracted()


def _stamp(path: Path) -> _Stamp | None:
    """Return what tells one version of a file from another; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return path, status.st_mtime_ns, status.st_size


INFO = DrafterInfo(
    id=NgramCache.name,
    title="N-gram counts",
    summary="Counts what follows short runs of tokens in this chat, in earlier ones and in a "
    "corpus of your choice.",
    family="lookup",
    parameters=(
        Parameter(
            "n_max", "int", 8, 1, 64, "Tokens ahead",
            "Tokens drafted per step at most; fewer where the counts leave it open what follows.",
            can_be_auto=True,
        ),
    ),
    make=NgramCache,
    forget=forget,
)  # fmt: skip

"""N-gram counts: short n-grams of this chat and of a corpus tell what follows.

After llama.cpp's `ngram-cache` (`common/ngram-cache.cpp`, `examples/lookup/lookup.cpp`; pull
requests 5479, 6828), token by token: first this chat, longest n-gram first and with lax thresholds;
then earlier chats, with strict ones; a follower that the corpus' bigrams know weighs the more; last
the corpus alone. Of equally likely tokens the latest is drafted; llama.cpp leaves that open.

Where this differs from llama.cpp's server, whose own ways are faults (study of its issue 27852):
the counts of another chat never stay, and every token is counted with all that stood before it. So
what follows in earlier chats is looked up by ``suffix``; here they count only in the rehearsal of
`try_out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from paceline.engine.draft.base import (
    NO_DRAFT,
    Draft,
    DrafterInfo,
    Parameter,
    Settings,
    Workbench,
)
from paceline.engine.draft.lookups import lookup_cache
from paceline.engine.draft.lookups.lookup import Lookup
from paceline.engine.draft.lookups.lookup_cache import (
    LONGEST,
    LookupCache,
    check_fits,
    read_origin,
)
from paceline.engine.draft.lookups.ngram_counts import LAX, STATIC, STRICT, Counts, StaticBigrams
from paceline.engine.model.vocabularies import vocabulary_hash

MOST_FOLLOWERS = 200_000
"""What counts of earlier chats: the rarest, of equal ones the oldest, go first."""

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

    def new_index(self) -> Counts:
        """Return empty counts for this chat."""
        return Counts(self._bits, LAX)

    def look_up(
        self, index: Counts, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Ask the two sources for one token after the other."""
        text = [*history[-LONGEST:], *ahead]
        n = min(n_max, int(self.settings["n_max"]))
        drafted = draft(index, None, self._static, text, n)
        return Draft(drafted) if drafted else NO_DRAFT

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
        vocabulary = vocabulary_hash(self.bench.vocab) if origin else ""
        check_fits(path, cache, origin, vocabulary, self.bench.vocab.n_tokens)
        bigrams = StaticBigrams(cache, self._bits)
        self.bench.kept[f"{self.name}.static"] = (stamp, bigrams)
        return bigrams


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
    summary="Counts what follows short runs of tokens in this chat and in a corpus of your choice.",
    family="lookup",
    parameters=(
        Parameter(
            "n_max", "int", 8, 1, 64, "Tokens ahead",
            "Tokens drafted per step at most; fewer where the counts leave it open what follows.",
            can_be_auto=True,
        ),
    ),
    make=NgramCache,
)  # fmt: skip


PIECE = 4096
"""Tokens of a piece: the context that a chat has by default."""
N_DRAFT = 8


@dataclass(slots=True)
class Trial:
    """What came out.

    Attributes:
        n_tokens: Tokens that could be drafted or not, without the first of each piece.
        n_steps: Verify decodes that they would have taken.
        n_drafted: Tokens drafted.
        n_accepted: How many of them were right.
    """

    n_tokens: int = 0
    n_steps: int = 0
    n_drafted: int = 0
    n_accepted: int = 0

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted over drafted; None when nothing was drafted."""
        return self.n_accepted / self.n_drafted if self.n_drafted else None

    @property
    def mean_committed_per_step(self) -> float | None:
        """Tokens per verify decode; None without any."""
        return self.n_tokens / self.n_steps if self.n_steps else None


def try_out(cache: LookupCache, text: Sequence[int], n_vocab: int, *, piece: int = PIECE) -> Trial:
    """Foretell a text with a static cache.

    After `examples/lookup/lookup-stats.cpp` of llama.cpp: the text is cut into pieces as long as a
    chat, each piece is “generated” with drafts from the counts, and what one piece taught is known
    as an earlier chat's in the next. Other than there, the last piece counts as well, though it is
    shorter.

    Args:
        cache: The cache; its bigrams count.
        text: Token ids.
        n_vocab: Size of the vocabulary that all ids are from.
        piece: Tokens per piece.
    """
    bits = n_vocab.bit_length()
    static = StaticBigrams(cache, bits)
    dynamic, earlier = Counts(bits, STRICT), lookup_cache.empty()
    trial = Trial()
    for start in range(0, len(text), piece):
        chat = text[start : start + piece]
        _generate(chat, Counts(bits, LAX), dynamic, static, trial)
        learned = lookup_cache.count(chat, range(1, LONGEST + 1))
        earlier = lookup_cache.prune(lookup_cache.merge([earlier, learned]), MOST_FOLLOWERS)
        dynamic.load(earlier)
    return trial


def _generate(
    chat: Sequence[int], context: Counts, dynamic: Counts, static: StaticBigrams, trial: Trial
) -> None:
    context.feed(chat, 0, 1)
    n = 1
    while n < len(chat):
        drafted = draft(context, dynamic, static, chat[max(n - LONGEST, 0) : n], N_DRAFT)
        n_right = 0
        for token, true in zip(drafted, chat[n:], strict=False):
            if token != true:
                break
            n_right += 1
        n_committed = min(n_right + 1, len(chat) - n)
        context.feed(chat, n, n + n_committed)
        n += n_committed
        trial.n_steps += 1
        trial.n_tokens += n_committed
        trial.n_drafted += len(drafted)
        trial.n_accepted += n_right

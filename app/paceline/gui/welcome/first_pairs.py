"""What to begin with: the best pair of models that is here, and curated pairs that find room.

Pure functions over cards and sizes; the picker and the engine judge again before anything is
loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paceline.catalog.judge.draft_search import distance, may_draft

if TYPE_CHECKING:
    from paceline.catalog.card import ModelCard
    from paceline.catalog.judge.curated import CuratedPair
    from paceline.catalog.local.library import LibraryEntry
    from paceline.messages import DeviceInfo

ROOM = 0.85
"""Of the free memory, what weights may take: contexts and buffers need the rest."""
_QUICK_BYTES = 12 * 10**9
"""Of main memory: at 50 GB/s, which two channels of DDR4 give, four tokens per second."""
_BUILT_IN = "built-in"


@dataclass(frozen=True, slots=True)
class HerePair:
    """Two models of this computer, or one, that go together."""

    target: LibraryEntry
    draft: LibraryEntry | None

    @property
    def n_bytes(self) -> int:
        """Size of the files."""
        return self.target.file.n_bytes + (self.draft.file.n_bytes if self.draft else 0)


def own_models(entries: Iterable[LibraryEntry]) -> list[LibraryEntry]:
    """Return the models that can be used and are not shipped with the program."""
    return [each for each in entries if not each.problem and each.file.source != _BUILT_IN]


def best_here(
    entries: Iterable[LibraryEntry], n_free: int, *, besides: str = ""
) -> HerePair | None:
    """Return the largest pair that fits, else the largest model that does; None: there is none.

    Args:
        entries: The models of this computer.
        n_free: Bytes of memory that are free; 0: not known, and everything fits.
        besides: Path of a model that is offered elsewhere.
    """
    known = [(each, each.card) for each in own_models(entries) if each.card is not None]
    best: tuple[tuple[bool, float, float], HerePair] | None = None
    for entry, card in known:
        if str(entry.file.path) == besides:
            continue
        if not card.has_template:
            continue  # a base model, or a draft model: it does not answer
        drafts = [(other, its) for other, its in known if _may_draft(card, its)]
        for draft in (*sorted(drafts, key=lambda pair: _distance(card, pair[1])), None):
            pair = HerePair(entry, draft[0] if draft else None)
            if n_free and pair.n_bytes > ROOM * n_free:
                continue
            rank = (pair.draft is not None, float(card.n_bytes), -float(pair.n_bytes))
            if best is None or rank > best[0]:
                best = (rank, pair)
            break
    return best[1] if best is not None else None


def quick_bytes(devices: Iterable[DeviceInfo]) -> int:
    """Return how large a pair may be and still write faster than one reads; 0: not known.

    Decoding reads all weights for each token, so that a GPU's memory is the limit, and without a
    GPU some gigabytes.
    """
    free: dict[bool, int] = {}
    for each in devices:
        is_gpu = each.kind == "gpu"
        free[is_gpu] = free.get(is_gpu, 0) + (each.free_bytes if each.kind != "igpu" else 0)
    return free.get(True) or min(free.get(False, 0), _QUICK_BYTES)


def that_fit(pairs: Sequence[CuratedPair], n_free: int, most: int) -> list[CuratedPair]:
    """Return curated pairs that find room and can be loaded, the largest first, one of each size.

    Where both files are named a pair is one click; those come first among the same size.
    """
    fitting = [p for p in pairs if p.kind == "draft" and 0 < (p.least_memory or 0) <= n_free]
    fitting.sort(key=lambda each: (-_size_class(each), not _is_complete(each)))
    chosen: list[CuratedPair] = []
    for pair in fitting:
        if all(_size_class(pair) != _size_class(other) for other in chosen):
            chosen.append(pair)
    rest = [each for each in fitting if each not in chosen]
    return (chosen + rest)[:most]


def _is_complete(pair: CuratedPair) -> bool:
    return pair.target_file is not None and pair.draft_file is not None


def _size_class(pair: CuratedPair) -> int:
    return round(sum(pair.target_params or (0, 0)) / 2e9)


def _may_draft(target: ModelCard, draft: ModelCard) -> bool:
    return target is not draft and may_draft(target, draft)


def _distance(target: ModelCard, draft: ModelCard) -> float:
    found = distance(target, draft)
    return found if found is not None else float("inf")

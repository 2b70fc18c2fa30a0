"""First offers: the best models on this computer, and the one pair to download for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from paceline.catalog.card import ModelCard
from paceline.catalog.judge.curated import CuratedPair, DownloadSize
from paceline.catalog.judge.draft_search import distance, may_draft
from paceline.catalog.judge.speed import Speeds, expected_of_pair, reading_for
from paceline.catalog.local.library import LibraryEntry
from paceline.messages import DeviceInfo, Reading

WEIGHTS_SHARE = 0.85
"""Share of the free memory that weights may take: contexts and buffers need the rest."""
READING_TOKENS_PER_S = 8.0
"""Speed of plain decoding, in tokens per second, that keeps up with reading."""
MIN_SPEEDUP = 1.15
"""Speed-up from which drafts are worth a second file."""
_BUILT_IN = "built-in"


@dataclass(frozen=True, slots=True)
class LocalPair:
    """Two models of this computer that may go together, or one."""

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
    entries: Iterable[LibraryEntry], n_free: int, *, but_for: str = ""
) -> LocalPair | None:
    """Return the largest pair that fits, else the largest model that does, else None.

    Args:
        entries: The models of this computer.
        n_free: Bytes of memory that are free, or 0 if not known, and everything fits.
        but_for: Path of a model that is offered elsewhere.
    """
    known = [(each, each.card) for each in own_models(entries) if each.card is not None]
    pairs = chain.from_iterable(
        _pairs_of(target, card, known)
        for target, card in known
        # A base model, or a draft model, does not answer.
        if card.has_template and str(target.file.path) != but_for
    )
    fitting = [row for row in pairs if not n_free or row[1].n_bytes <= WEIGHTS_SHARE * n_free]
    return max(fitting, key=lambda row: row[0])[1] if fitting else None


def _pairs_of(
    target: LibraryEntry, card: ModelCard, known: Sequence[tuple[LibraryEntry, ModelCard]]
) -> Iterable[tuple[tuple[bool, int, float], LocalPair]]:
    """Yield a target alone and with each possible draft model, each with its rank."""
    yield (False, card.n_bytes, 0.0), LocalPair(target, None)
    for draft, its in known:
        if its is not card and may_draft(card, its):
            yield (True, card.n_bytes, -(distance(card, its) or 0.0)), LocalPair(target, draft)


@dataclass(frozen=True, slots=True)
class RecommendedPair:
    """The pair to get for a machine.

    Attributes:
        pair: Both its files are named, so that it is one download.
        download: Its size, or None if not known.
        speeds: Expected speeds on this machine, or None if not known.
    """

    pair: CuratedPair
    download: DownloadSize | None
    speeds: Speeds | None


def recommended(
    pairs: Iterable[CuratedPair], devices: Sequence[DeviceInfo], reading: Reading | None
) -> RecommendedPair | None:
    """Return the pair to recommend for a machine, or None if none fits, or nothing is known of it.

    It fits the free memory of the GPUs, or else of the processor. If speeds are known, it is the
    largest that keeps up with reading and gains by drafts, or else the fastest. If not, it is the
    largest on a GPU, and on a processor the smallest.

    Args:
        pairs: The list that is shipped.
        devices: The devices.
        reading: Speed at which the processor reads weights, or None if not known.
    """
    n_gpu, n_main = (
        sum(each.free_bytes for each in devices if each.kind == kind) for kind in ("gpu", "cpu")
    )
    room, machine = (n_gpu, "gpu") if n_gpu else (n_main, "processor")
    known = reading_for(reading, devices)
    fitting = [
        RecommendedPair(pair, pair.download, expected_of_pair(pair, known))
        for pair in pairs
        if pair.is_complete
        and pair.machine in ("any", machine)
        and 0 < (pair.least_memory or 0) <= room
    ]
    if not fitting:
        return None
    return max(fitting, key=lambda each: _merit(each, on_gpu=bool(n_gpu)))


def _merit(each: RecommendedPair, *, on_gpu: bool) -> tuple[bool, float]:
    """Return a sort key for pairs on the same machine; larger is better."""
    size = float(each.pair.least_memory or 0)
    if each.speeds is None:
        return False, size if on_gpu else -size
    speed = each.speeds.alone.typical
    is_good = speed >= READING_TOKENS_PER_S and each.speeds.gain >= MIN_SPEEDUP
    return is_good, size if is_good else speed

"""First offers: of the models of this computer, and of reported pairs."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from catalog.made_models import CARD
from paceline.catalog.card import ModelCard
from paceline.catalog.judge.curated import curated_pairs_path, load_curated
from paceline.catalog.judge.first_choice import (
    MIN_SPEEDUP,
    READING_TOKENS_PER_S,
    best_here,
    own_models,
    recommended,
)
from paceline.catalog.local.library import LibraryEntry
from paceline.catalog.local.model_files import ModelFile
from paceline.messages import DeviceInfo, Reading

GB = 10**9
CPU = DeviceInfo("CPU", "A processor", "cpu", 32 * GB, 20 * GB)
GPU = DeviceInfo("CUDA0", "A graphics card", "gpu", 24 * GB, 22 * GB)


def entry(name: str, n_bytes: int, *, source: str = "folder", **changes: object) -> LibraryEntry:
    path = Path(f"/models/{name}.gguf")
    share = n_bytes / CARD.n_bytes
    card: ModelCard = structs.replace(
        CARD,
        n_bytes=n_bytes,
        n_params=int(CARD.n_params * share),
        layer_bytes=tuple(int(each * share) for each in CARD.layer_bytes),
        output_bytes=int(CARD.output_bytes * share),
        **changes,  # type: ignore[arg-type]
    )
    return LibraryEntry(ModelFile(path, (path,), 1, n_bytes, 0, name, source), card)


LARGE, MIDDLE, SMALL = entry("70B", 40 * GB), entry("7B", 5 * GB), entry("0.5B", GB // 2)
BASE = entry("base", 4 * GB, has_template=False, vocabulary="other", n_vocab=9)
SHIPPED = entry("demo", GB // 3, source="built-in")


def test_the_largest_pair_that_fits_is_the_best() -> None:
    here = (SHIPPED, BASE, SMALL, LARGE, MIDDLE)
    assert own_models(here) == [BASE, SMALL, LARGE, MIDDLE]
    for n_free, names in ((0, ["70B", "7B"]), (20 * GB, ["7B", "0.5B"]), (GB, ["0.5B"])):
        best = best_here(here, n_free)
        assert best is not None
        found = [each.file.name for each in (best.target, best.draft) if each is not None]
        assert found == names
        assert best.n_bytes == sum(each.file.n_bytes for each in here if each.file.name in names)
    assert best_here(here, GB // 10) is None
    alone = best_here((MIDDLE, BASE), 20 * GB)
    assert alone is not None
    assert (alone.target, alone.draft) == (MIDDLE, None)
    assert best_here((MIDDLE,), 0, but_for=str(MIDDLE.file.path)) is None


def at(rate: float) -> Reading:
    return Reading(1, 0.95 * rate * GB, rate * GB, 1.05 * rate * GB)


def test_the_recommended_pair_is_pleasant_and_not_the_largest_that_fits() -> None:
    pairs = load_curated(curated_pairs_path())
    sizes = []
    for rate in (12, 25, 50, 100, 1000):
        found = recommended(pairs, (CPU,), at(rate))
        assert found is not None
        assert found.pair.is_complete
        assert 0 < (found.pair.least_memory or 0) <= CPU.free_bytes
        assert found.pair.machine != "gpu"
        assert found.download is not None
        assert found.speeds is not None
        assert found.speeds.gain >= MIN_SPEEDUP
        assert found.speeds.alone.typical >= READING_TOKENS_PER_S or rate == 12
        sizes.append(found.download.n_bytes)
    assert sizes == sorted(sizes), "a faster machine takes a larger one"
    assert sizes[0] < sizes[-1]


def test_the_fastest_is_recommended_where_none_is_pleasant() -> None:
    pairs = load_curated(curated_pairs_path())
    slow = recommended(pairs, (CPU,), at(1))
    assert slow is not None
    assert slow.speeds is not None
    assert slow.speeds.alone.typical < READING_TOKENS_PER_S
    assert slow.pair.title == "Gemma 4 E2B"


def test_without_known_speeds_a_gpus_room_decides_and_a_processor_gets_the_smallest() -> None:
    pairs = load_curated(curated_pairs_path())
    unknown = recommended(pairs, (CPU,), None)
    on_gpu = recommended(pairs, (CPU, GPU), at(25))
    assert unknown is not None
    assert on_gpu is not None
    assert unknown.speeds is on_gpu.speeds is None
    assert unknown.pair.title == "Gemma 4 E2B"
    others = [p for p in pairs if p.is_complete and (p.least_memory or 0) <= GPU.free_bytes]
    assert on_gpu.pair.least_memory == max(p.least_memory or 0 for p in others)
    assert recommended(pairs, (), at(25)) is None
    assert recommended(pairs, (structs.replace(CPU, free_bytes=GB),), at(25)) is None
    assert recommended((), (CPU,), at(25)) is None

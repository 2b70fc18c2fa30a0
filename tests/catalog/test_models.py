"""The door to models, with real files, the real inspector, and a Hub on this machine."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import make_pairs
from catalog.headers import gguf_bytes, write_split
from gguf_file import read
from hub_server import Fault, HubServer, Repository
from inline_client import InlineClient
from paceline.catalog.download.record import Download
from paceline.catalog.hub.errors import HubError
from paceline.catalog.judge.curated import CuratedPair
from paceline.catalog.judge.pairing import PairVerdict, Remedy
from paceline.catalog.local.model_files import Place
from paceline.catalog.models import Models
from paceline.engine.auto.costs import MAX_WIDTH
from paceline.errors import CancelledError, ModelError, UserError
from paceline.messages import Calibrate, Calibrated, DeviceInfo, Event, LoadPair, Unload
from paceline.params import DraftModel, ModelParams
from paceline.paths import Paths

pytestmark = pytest.mark.usefixtures("one_reader_for_all")
TARGET, DRAFT = make_pairs.DEMO_TARGET, make_pairs.DEMO_DRAFT
HF_TARGET = "hf:demo/paceline-target:target.gguf"
HF_DRAFT = "hf:demo/paceline-draft:draft-Q8_0.gguf"
CPU = DeviceInfo("CPU", "a processor", "cpu", 16 << 30, 12 << 30)
GGUF = {"total": 1_500_000, "architecture": "llama", "context_length": 4096}

Make = Callable[..., Models]


@pytest.fixture
def hub() -> Iterator[HubServer]:
    other = {"other-Q8_0.gguf": make_pairs.path("tiny-other-vocab")}
    drafts = {
        "draft": ({"draft-Q8_0.gguf": DRAFT}, {"downloads": 7}),
        "other-words": (other, {"downloads": 9}),
        "gated": ({"x-Q8_0.gguf": DRAFT}, {"gated": "manual"}),
    }
    repositories = [
        Repository("demo/paceline-target", {"target.gguf": TARGET}),
        *(
            Repository(f"demo/paceline-{name}", files, {"gguf": GGUF, **details})
            for name, (files, details) in drafts.items()
        ),
    ]
    with HubServer({each.id: each for each in repositories}) as server:
        yield server


@pytest.fixture
def make(hub: HubServer, paceline_home: Path, tmp_path: Path) -> Iterator[Make]:
    """Make the door as the window does; nothing of this computer's real user is seen."""
    made: list[Models] = []
    empty = tmp_path / "no-pairs.json"
    empty.write_text('{"pairs": []}')

    def make(**settings: Any) -> Models:
        home = tmp_path / "user"
        defaults = {"endpoint": hub.endpoint, "environ": {}, "home": home, "curated": empty}
        made.append(Models(Paths.below(paceline_home), **(defaults | settings)))
        return made[-1]

    yield make
    for models in made:
        models.close()


def folder_with(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        shutil.copyfile(
            DRAFT if name == "draft" else make_pairs.path(name), folder / f"{name}.gguf"
        )
    return folder


def listed(folder: Path, repo: str, file: str | None) -> Path:
    """A list with one pair, for the demo target."""
    pair = dict.fromkeys(field.name for field in fields(CuratedPair)) | {
        "title": "Demo", "kind": "draft", "machine": "any", "least_memory": 1, "about": [],
        "target_repo": "demo/paceline-target", "target_words": ["paceline"],
        "target_architecture": "llama", "draft_repo": repo, "draft_file": file,
    }  # fmt: skip
    path = folder / "listed.json"
    path.write_text(json.dumps({"pairs": [pair]}))
    return path


def remedy_of(verdict: PairVerdict) -> Remedy:
    assert verdict.remedy is not None
    return verdict.remedy


# --------------------------------------------------------------------------------- open, close


def test_nothing_happens_before_it_is_asked_for(make: Make, paceline_home: Path) -> None:
    threads = threading.active_count()
    models = make()
    assert threading.active_count() == threads
    assert not paceline_home.exists()
    models.close()
    assert threading.active_count() == threads


def test_after_the_end_nothing_is_made_any_more(make: Make) -> None:
    models = make()
    assert models.judge(str(TARGET), str(DRAFT)).ok
    models.close()
    models.close()
    with pytest.raises(CancelledError):
        models.judge(str(TARGET), str(DRAFT))
    with pytest.raises(CancelledError):
        models.local_path(HF_DRAFT, lambda _: None)


def test_offline_can_be_switched_at_any_time(make: Make, hub: HubServer) -> None:
    models = make(offline=True)
    with pytest.raises(HubError) as error:
        models.examine(HF_DRAFT)
    assert error.value.code == "offline"
    models.hub.offline = False
    assert models.examine(HF_DRAFT).card.n_params > 0
    models.hub.offline = True
    n = len(hub.requests)
    assert models.examine(HF_DRAFT).card.n_params > 0, "what was fetched before is known"
    with pytest.raises(HubError):
        models.examine(HF_TARGET)
    assert len(hub.requests) == n


def test_threads_that_ask_at_once_get_the_same(make: Make) -> None:
    models = make()
    got: list[object] = []
    start = threading.Barrier(4)

    def ask() -> None:
        start.wait()
        got.append(models.inspector)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, got))) == 1


# --------------------------------------------------------------------------------------- judge


def test_a_refused_pair_comes_with_a_draft_that_is_here(make: Make, tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "mine", "tiny-foreign", "tiny-bos", "draft")
    models = make(own_folders=[folder], offline=True)
    verdict = models.judge(str(TARGET), str(folder / "tiny-foreign.gguf"))
    assert not verdict.ok
    assert Path(remedy_of(verdict).draft).read_bytes() == DRAFT.read_bytes()
    assert "here already" in verdict.remedy.text
    assert models.judge(str(TARGET), verdict.remedy.draft).ok


def test_one_that_is_translated_is_offered_where_there_is_no_other(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_with(tmp_path / "mine", "tiny-bos", "tiny-other-vocab", "tiny-foreign")
    mine = Place(folder, "folder")
    monkeypatch.setattr("paceline.catalog.models.places", lambda *_: (mine,))
    models = make(offline=True)
    verdict = models.judge(str(TARGET), str(folder / "tiny-foreign.gguf"))
    assert not verdict.ok
    remedy = verdict.remedy
    assert remedy is not None
    assert remedy.draft == str(folder / "tiny-bos.gguf")
    instead = models.judge(str(TARGET), remedy.draft)
    assert instead.reasons[0].text in remedy.text
    assert instead.remedy is None, "another one to be translated is not better"


def test_a_pair_the_wrong_way_round_is_turned(make: Make) -> None:
    models = make(offline=True)
    verdict = models.judge(str(DRAFT), str(TARGET))
    assert verdict.ok
    assert verdict.remedy is not None
    assert (verdict.remedy.target, verdict.remedy.draft) == (str(TARGET), str(DRAFT))


def test_a_model_with_a_missing_part_is_none(make: Make, tmp_path: Path) -> None:
    first, *_, last = write_split(DRAFT, tmp_path)
    models = make()
    assert models.judge(str(TARGET), str(last)).ok
    assert models.local_path(str(last)) == str(first)
    last.unlink()
    for ask in (models.examine, models.local_path):
        with pytest.raises(ModelError, match="only 2 of its 3 parts are here"):
            ask(str(first))
    with pytest.raises(ModelError, match="only 2 of its 3 parts are here"):
        models.plan(ModelParams(str(TARGET)), DraftModel(ModelParams(str(first))), [CPU])


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"tensors": {}}, "no weights"), ({"llama__block_count": 0}, "belongs to a model")],
    ids=["vocabulary", "part"],
)
def test_what_is_no_model_drafts_for_none(
    make: Make, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    model = read(DRAFT)
    model.tensors = changes.pop("tensors", model.tensors)
    model.set(**changes)
    file = tmp_path / "odd.gguf"
    file.write_bytes(gguf_bytes(model))
    with pytest.raises(ModelError, match=words):
        make().judge(str(TARGET), str(file))


def test_a_pair_on_the_hub_is_judged_by_its_headers(make: Make, hub: HubServer) -> None:
    models = make()
    before, requests = hub.n_bytes_sent(), len(hub.requests)
    verdict = models.judge(HF_TARGET, HF_DRAFT)
    assert verdict == models.judge(str(TARGET), str(DRAFT))
    assert hub.n_bytes_sent() - before <= 2 * 20 << 20
    assert len(hub.requests) - requests <= 2 * 5
    assert not models.models_folder.exists(), "nothing was downloaded"
    with pytest.raises(HubError) as error:
        models.examine("hf:demo/paceline-target:none.gguf")
    assert error.value.code == "not-found"


# -------------------------------------------------------------------------------------- remedy


@pytest.fixture
def lonely(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """The same as `make`, but without the demo pair among the models that are here."""
    monkeypatch.setattr("paceline.catalog.models.places", lambda *_: ())
    return make


MISFIT = make_pairs.path("tiny-foreign")


@pytest.mark.parametrize("file", ["draft-Q8_0.gguf", None])
def test_a_draft_of_the_list_is_checked_before_it_is_proposed(
    lonely: Make, tmp_path: Path, file: str | None
) -> None:
    models = lonely(curated=listed(tmp_path, "demo/paceline-draft", file))
    remedy = remedy_of(models.judge(str(TARGET), str(MISFIT)))
    assert remedy.draft == HF_DRAFT
    assert "its vocabulary was checked" in remedy.text


@pytest.mark.parametrize(
    "repo", ["demo/paceline-other-words", "demo/paceline-gated", "demo/paceline-none"]
)
def test_a_draft_of_the_list_that_cannot_be_had_gives_way_to_a_search(
    lonely: Make, tmp_path: Path, repo: str
) -> None:
    models = lonely(curated=listed(tmp_path, repo, None))
    remedy = remedy_of(models.judge(str(TARGET), str(MISFIT)))
    assert remedy.draft == HF_DRAFT, "not the more popular one, whose tokens differ"
    assert "from demo/paceline-draft" in remedy.text


def test_without_a_network_the_list_is_proposed_as_it_is(
    lonely: Make, tmp_path: Path, hub: HubServer
) -> None:
    curated = listed(tmp_path, "demo/paceline-draft", "draft-Q8_0.gguf")
    offline = lonely(curated=curated, offline=True).judge(str(TARGET), str(MISFIT)).remedy
    hub.add(Fault(status=503))
    broken = lonely(curated=curated).judge(str(TARGET), str(MISFIT)).remedy
    for remedy in (offline, broken):
        assert remedy is not None
        assert remedy.draft == HF_DRAFT
        assert "will be checked" in remedy.text


def test_where_nothing_is_found_lookups_are_left(lonely: Make) -> None:
    remedy = remedy_of(lonely(offline=True).judge(str(TARGET), str(MISFIT)))
    assert remedy.strategy == "prompt-lookup"
    assert remedy.draft == ""


# ---------------------------------------------------------------------------------------- plan


def test_a_plan_is_the_same_for_a_file_here_and_on_the_hub(make: Make) -> None:
    models = make()
    params = (
        ModelParams(str(TARGET), n_ctx=1024), DraftModel(ModelParams(str(DRAFT), n_ctx=512)),
    )  # fmt: skip
    here = models.plan(*params, [CPU])
    assert here.is_measured
    assert here.fits
    (device,) = here.devices
    assert device.target.kv > 4 * device.draft.kv > 0
    named = ModelParams(HF_TARGET, n_ctx=1024), DraftModel(ModelParams(HF_DRAFT, n_ctx=512))
    there = models.plan(*named, [CPU])
    assert there.devices == here.devices
    assert there.is_measured
    assert there.target.path == HF_TARGET
    alone = models.plan(params[0], None, [CPU])
    assert alone.drafting is None
    assert alone.devices[0].draft.total == 0


def test_what_cannot_be_measured_is_estimated(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    models = make()
    asked: list[int] = []

    def refuse(_params: ModelParams, *, n_rows: int, target: str) -> None:
        asked.append(n_rows)
        raise ModelError("takes-too-long", "No.")

    monkeypatch.setattr(models.inspector, "measure", refuse)
    plan = models.plan(ModelParams(str(TARGET)), DraftModel(ModelParams(str(DRAFT))), [CPU])
    assert not plan.is_measured
    assert plan.devices[0].target.kv > 0
    assert asked == [MAX_WIDTH, 1]


def test_what_llama_cpp_refuses_to_load_has_no_plan(make: Make, tmp_path: Path) -> None:
    model = read(DRAFT)
    model.set(llama__attention__head_count=0)
    file = tmp_path / "odd.gguf"
    file.write_bytes(gguf_bytes(model))
    with pytest.raises(ModelError, match="odd") as error:
        make().plan(ModelParams(str(TARGET)), DraftModel(ModelParams(str(file))), [CPU])
    assert error.value.code == "cannot-load"


# ----------------------------------------------------------------------------------- downloads


def test_a_reference_becomes_a_file_once(make: Make, hub: HubServer) -> None:
    models = make()
    states: list[Download] = []
    path = models.local_path(HF_DRAFT, states.append)
    assert Path(path) == models.models_folder / "demo" / "paceline-draft" / "draft-Q8_0.gguf"
    assert Path(path).read_bytes() == DRAFT.read_bytes()
    assert states[-1].status == "done"
    n = len(hub.requests)
    assert models.local_path(HF_DRAFT) == path
    assert models.examine(HF_DRAFT).card.n_params > 0
    assert len(hub.requests) == n, "a file that is here needs no network"
    assert models.local_path(path) == path


def test_downloads_go_to_the_chosen_folder_and_older_ones_are_found(
    make: Make, hub: HubServer, tmp_path: Path
) -> None:
    models = make()
    usual = models.local_path(HF_DRAFT)
    models.models_folder = tmp_path / "chosen"
    assert models.local_path(HF_DRAFT) == usual, "what is here is not fetched again"
    chosen = Path(models.local_path(HF_TARGET))
    assert chosen.is_relative_to(tmp_path / "chosen")
    n_sent = hub.n_bytes_sent()
    later = make(download_folder=tmp_path / "chosen")
    assert later.local_path(HF_DRAFT) == usual
    assert Path(later.local_path(HF_TARGET)) == chosen
    assert hub.n_bytes_sent() == n_sent


def test_a_file_in_the_hub_library_s_cache_is_taken(make: Make, tmp_path: Path) -> None:
    repository = tmp_path / "hf" / "models--demo--paceline-draft"
    snapshot = repository / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    shutil.copyfile(DRAFT, snapshot / "draft-Q8_0.gguf")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("a" * 40)
    models = make(environ={"HF_HUB_CACHE": str(tmp_path / "hf")}, offline=True)
    assert models.local_path(HF_DRAFT) == str(snapshot / "draft-Q8_0.gguf")
    with pytest.raises(HubError):
        models.local_path("hf:demo/paceline-draft@other:draft-Q8_0.gguf")


def test_a_stopped_download_ends_the_wait(make: Make, hub: HubServer) -> None:
    hub.add(Fault("*.gguf", host="cdn", bytes_per_s=200_000))
    arrived = threading.Event()

    def on_state(state: Download) -> None:
        if state.n_done:
            arrived.set()

    with pytest.raises(CancelledError):
        make().local_path(HF_TARGET, on_state, arrived.is_set)


def test_a_failed_download_says_why(make: Make, hub: HubServer) -> None:
    hub.add(Fault("*.gguf", host="cdn", wrong_byte_at=1000))
    with pytest.raises(UserError) as error:
        make().local_path(HF_DRAFT)
    assert (error.value.code, bool(error.value.hint)) == ("download-failed", True)


def test_curated_pairs_know_what_is_here(make: Make, tmp_path: Path) -> None:
    models = make(curated=listed(tmp_path, "demo/paceline-draft", None))
    (pair,) = models.curated
    assert models.is_here(pair) == (False, False)
    models.local_path(HF_DRAFT)
    assert models.is_here(pair) == (False, True)


@pytest.mark.usefixtures("quick_calibration")
def test_what_a_load_has_measured_is_known_of_the_files(make: Make, paceline_home: Path) -> None:
    models = make()
    assert models.measured(str(TARGET), str(DRAFT)) is None
    events: list[Event] = []
    client = InlineClient(on_event=events.append)
    cache = str(paceline_home / "cache")
    client.request(
        LoadPair(ModelParams(str(TARGET)), DraftModel(ModelParams(str(DRAFT))), cache_dir=cache)
    )
    client.request(Calibrate())
    client.request(Unload())
    client.close()
    calibrated = next(event for event in events if isinstance(event, Calibrated))
    alone, pair = models.measured(str(TARGET)), models.measured(str(TARGET), str(DRAFT))
    assert alone is not None
    assert pair is not None
    assert pair.draft_s == calibrated.draft_costs[0].seconds
    assert pair.plain_s == alone.plain_s >= calibrated.costs[0].seconds, "the context adds to it"
    assert pair.acceptance is None, "nothing was drafted"
    assert models.measured("hf:a/b:c.gguf") is None

"""Drafters that are no models: known by header and by name, shown, and never taken for a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

import make_pairs
from catalog.headers import gguf_bytes, header, sidecar_model
from catalog.made_models import CARD
from cli.program import paceline
from gguf_file import Tensor
from hub_server import HubServer, Repository
from paceline.catalog.models import Models
from paceline.catalog.sidecar import (
    SIDECAR,
    has_head_by_path,
    heads_in_header,
    sidecar_in_path,
    sidecar_of,
)
from paceline.engine.draft.heads import HEAD_KINDS, drafts_with
from paceline.errors import ModelError
from paceline.paths import Paths

KINDS = [kind.id for kind in HEAD_KINDS]
TARGET, DRAFT = make_pairs.DEMO_TARGET, make_pairs.DEMO_DRAFT
REPO = "maker/gemma-4-12B-it-qat-GGUF"


@pytest.mark.parametrize(
    ("path", "kind", "model"),
    [
        ("mtp-gemma-4-12B-it.gguf", "assistant", "gemma-4-12B-it"),
        ("MTP/gemma-4-12B-it-Q8_0-MTP.gguf", "assistant", "gemma-4-12B-it"),
        ("gemma-4-E4B-it-assistant-BF16.gguf", "assistant", "gemma-4-E4B-it"),
        ("gemma-4-12B-it-MTP-ik_llama-Q4_K_M.gguf", "assistant", "gemma-4-12B-it-ik_llama"),
        ("mtp-Qwen3.8-27B-Q4_0.gguf", "mtp", "Qwen3.8-27B"),
        ("mtp-GLM-5-UD-Q4_K_XL-00001-of-00002.gguf", "mtp", "GLM-5"),
        ("dflash-draft-3.6-q8_0.gguf", "dflash", "3.6"),
        ("dspark-Qwen3-4B-F16.gguf", "dflash", "Qwen3-4B"),
        ("Qwen3-4B-eagle3.gguf", "eagle", "Qwen3-4B"),
        ("eagle-3-gpt-oss-20b-BF16.gguf", "eagle", "gpt-oss-20b"),
    ],
)
def test_names_of_sidecars(path: str, kind: str, model: str) -> None:
    found = sidecar_in_path(path)
    assert found is not None
    assert (found.kind, found.model) == (kind, model)


@pytest.mark.parametrize(
    "path",
    [
        "gemma-4-12B-it-qat-UD-Q4_K_XL.gguf",
        "Qwen3.6-27B-MTP-Q4_K_M.gguf",  # its head is inside
        "v5-Eagle-7B-Q4_K_M.gguf",
        "mortgage-assistant-Q8_0.gguf",
        "gemma-4-E4B-it-home-assistant-Q4_K_M.gguf",
        "mmproj-gemma-4-12B-it-F16.gguf",
    ],
)
def test_names_of_models(path: str) -> None:
    assert sidecar_in_path(path) is None


def blocks(*names: str) -> dict[str, Tensor]:
    return {f"{name}.weight": Tensor((32, 2), 0, bytes(256)) for name in names}


HEAD = ("token_embd", "blk.3.attn_norm", "blk.3.nextn.eh_proj", "output")


@pytest.mark.parametrize(
    ("tensors", "n_blocks", "n_heads", "found"),
    [
        (HEAD, 4, 1, ("mtp", 0)),
        (("blk.0.attn_norm", *HEAD), 4, 1, ("", 1)),  # a model with its head inside
        (("blk.0.post_attention_norm", *HEAD), 4, 1, ("", 1)),  # EXAONE: no norm before attention
        (("blk.0.attn_norm", "blk.2.attn_norm"), 4, 1, ("", 0)),  # the head was left out
        (HEAD, 4, 0, ("", 0)),
        (("token_embd", "output"), 4, 1, ("", 0)),  # a part without blocks
        (HEAD, 4, 9, ("", 0)),
        (("blk.0.nextn.eh_proj",), 1, 1, ("mtp", 0)),
        (("blk.0.attn_norm", "blk.2.nextn.eh_proj", *HEAD), 4, 2, ("", 2)),
    ],
)
def test_a_file_of_heads_has_no_other_blocks(
    tensors: tuple[str, ...], n_blocks: int, n_heads: int, found: tuple[str, int]
) -> None:
    made = header("qwen35", blocks(*tensors), _block_count=n_blocks, _nextn_predict_layers=n_heads)
    assert heads_in_header(made, (tensor.name for tensor in made.tensors)) == found


@pytest.mark.parametrize(
    ("path", "has_head"),
    [
        ("maker/Qwen3.6-27B-GGUF/Qwen3.6-27B-MTP-Q4_K_M.gguf", True),
        ("maker/Qwen3.8-27B-GGUF/Qwen3.8-27B-Q4_0-mtp.gguf", True),
        ("unsloth/Qwen3.5-9B-MTP-GGUF/Qwen3.5-9B-Q4_K_M.gguf", True),
        ("maker/Qwen3.8-27B-GGUF/mtp-Qwen3.8-27B-Q4_0.gguf", False),  # a head alone
        ("maker/gemma-4-12B-MTP-GGUF/gemma-4-12B-it-Q4_0.gguf", False),
        ("maker/Qwen3.8-27B-GGUF/Qwen3.8-27B-Q4_0.gguf", False),
        ("maker/emtp/x.gguf", False),
    ],
)
def test_names_of_models_with_a_head_inside(path: str, *, has_head: bool) -> None:
    assert has_head_by_path(path) is has_head


def test_the_header_decides_over_the_name() -> None:
    assert sidecar_of(CARD, "mtp-wolf.gguf") is None
    head = structs.replace(CARD, sidecar="mtp", name="Wolf 7B MTP")
    renamed, named = sidecar_of(head, "x.gguf"), sidecar_of(head, "mtp-wolf-7b-Q4_0.gguf")
    assert renamed is not None
    assert named is not None
    assert (renamed.model, named.model) == ("Wolf 7B", "wolf-7b")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_what_it_is(kind: str) -> None:
    found = sidecar_of(structs.replace(CARD, sidecar=kind, name="Wolf"), "x.gguf")
    assert found is not None
    assert found.is_usable is bool(drafts_with(kind))
    use = (
        "choose it as that model's drafter" if found.is_usable else "this version cannot use it yet"
    )
    assert found.sentence == f"Drafter of Wolf ({found.title}); {use}."


# ---------------------------------------------------------------------------- with files and a Hub


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubServer]:
    files: dict[str, bytes | Path] = {
        "gemma-4-12B-it-qat-Q4_0.gguf": TARGET,
        "gemma-4-12B-it-qat-Q8_0.gguf": DRAFT,
        "mmproj-F16.gguf": b"GGUF",
        "mtp-gemma-4-12B-it.gguf": gguf_bytes(sidecar_model("assistant")),
        "MTP/gemma-4-12B-it-Q4_0-MTP.gguf": gguf_bytes(sidecar_model("assistant"))[:100],
    }
    with HubServer({REPO: Repository(REPO, files)}) as server:
        yield server


@pytest.fixture
def models(hub: HubServer, tmp_path: Path, one_reader_for_all: None) -> Iterator[Models]:
    paths = Paths.below(tmp_path / "home")
    found = Models(
        paths, endpoint=hub.endpoint, environ={}, home=tmp_path, own_folders=[tmp_path / "own"]
    )
    yield found
    found.close()


def put(folder: Path, name: str, kind: str, n_bytes: int | None = None) -> Path:
    path = folder / "own" / name
    path.parent.mkdir(exist_ok=True)
    model = sidecar_model(kind)
    model.tensors["output.weight"] = Tensor((32, 2000), 0, bytes(256_000))
    path.write_bytes(gguf_bytes(model)[:n_bytes])
    return path


def test_a_repository_offers_models_and_names_its_sidecars(models: Models) -> None:
    page = models.hub.repository(REPO)
    assert {choice.quantisation for choice in page.choices} == {"Q4_0", "Q8_0"}
    assert len(page.choices) == 2
    assert {choice.path for choice in page.sidecars} == {
        "mtp-gemma-4-12B-it.gguf", "MTP/gemma-4-12B-it-Q4_0-MTP.gguf",
    }  # fmt: skip
    assert models.examine(f"hf:{REPO}:Q4_0").card.n_bytes > 10_000, "not the smallest of its type"


@pytest.mark.parametrize("kind", KINDS)
def test_the_library_shows_what_it_is(models: Models, tmp_path: Path, kind: str) -> None:
    put(tmp_path, "renamed.gguf", kind)
    for _ in range(2):  # the second time from what is remembered
        (entry,) = [e for e in models.library.refresh() if e.file.name == "renamed"]
        assert entry.sidecar is not None
        assert entry.sidecar.kind == kind
        assert entry.problem == entry.sidecar.sentence
        assert entry.card is not None


def test_a_damaged_sidecar_is_still_known_by_its_name(models: Models, tmp_path: Path) -> None:
    put(tmp_path, "mtp-Wolf-7B-Q4_0.gguf", "mtp", 100)
    cut = put(tmp_path, "mtp-Wolf-7B-Q8_0.gguf", "mtp", -200_000)
    found = {entry.file.name: entry for entry in models.library.refresh()}
    headless, short = found["mtp-Wolf-7B-Q4_0"], found[cut.stem]
    assert headless.card is None
    assert "damaged" in headless.problem
    assert headless.sidecar is not None
    assert headless.sidecar.model == "Wolf-7B"
    assert short.problem.startswith("Drafter of Wolf-7B (MTP head)")
    assert "incomplete" in short.problem


@pytest.mark.parametrize("kind", KINDS)
def test_a_verdict_says_what_the_file_is(models: Models, tmp_path: Path, kind: str) -> None:
    file = str(put(tmp_path, "x.gguf", kind))
    is_head = bool(drafts_with(kind))
    for target, draft, code, words in (
        (str(TARGET), file, "other-head" if is_head else "draft-is-sidecar", "made for"),
        (file, str(DRAFT), "target-is-sidecar", "choose it as that model's drafter"),
    ):
        verdict = models.judge(target, draft)
        assert not verdict.ok
        (reason,) = verdict.reasons
        assert (reason.code, reason.level) == (code, "bad")
        assert (words if is_head else "this version cannot use it yet") in reason.text
    with pytest.raises(ModelError) as caught:
        models.examine(file)
    assert caught.value.code == SIDECAR


def test_a_draft_model_is_proposed_in_place_of_a_sidecar(models: Models, tmp_path: Path) -> None:
    verdict = models.judge(str(TARGET), str(put(tmp_path, "x.gguf", "mtp")))
    assert verdict.remedy is not None
    assert Path(verdict.remedy.draft).name == DRAFT.name


def test_the_command_line(hub: HubServer, tmp_path: Path) -> None:
    environ = {"HF_ENDPOINT": hub.endpoint, "HF_HUB_OFFLINE": "0", "HOME": str(tmp_path)}
    listed = paceline("hub", "files", REPO, "--json", environ=environ)
    rows = {row["files"][0]["path"]: row for row in json.loads(listed.out)}
    assert len(rows) == 4
    sidecar = rows["mtp-gemma-4-12B-it.gguf"]
    assert sidecar["sidecar"] == {"kind": "assistant", "model": "gemma-4-12B-it"}
    assert (sidecar["quantisation"], sidecar["recommended"]) == (None, False)
    assert rows["gemma-4-12B-it-qat-Q4_0.gguf"]["sidecar"] is None
    assert {row["mtp_head"] for row in rows.values()} == {None}
    table = paceline("hub", "files", REPO, environ=environ).out
    assert "Drafter of gemma-4-12B-it (MTP assistant)" in table

    remote = f"hf:{REPO}:mtp-gemma-4-12B-it.gguf"
    checked = paceline("pairs", "check", TARGET, remote, "--json", environ=environ)
    assert (checked.code, checked.err) == (0, "")
    answer = json.loads(checked.out)
    assert answer["ok"] is False
    assert [reason["code"] for reason in answer["reasons"]] == ["other-head"]

    put(tmp_path, "mtp-Wolf-7B-Q8_0.gguf", "mtp")
    folder = tmp_path / "own"
    found = paceline("models", "list", "--json", "--folder", folder, environ=environ)
    records = {record["name"]: record for record in json.loads(found.out)}
    assert records["mtp-Wolf-7B-Q8_0"]["sidecar"] == {"kind": "mtp", "model": "Wolf-7B"}
    assert records[TARGET.stem]["sidecar"] is None
    assert records[TARGET.stem]["mtp_head"] is False

    fetched = paceline("hub", "download", REPO, "mtp-gemma-4-12B-it.gguf", environ=environ)
    assert fetched.code == 0
    assert "choose it as that model's drafter" in fetched.err


def test_a_head_inside_is_shown_wherever_models_are_listed(models: Models, tmp_path: Path) -> None:
    path = put(tmp_path, "Wolf-MTP.gguf", "mtp")
    model = sidecar_model("mtp")
    model.tensors["blk.0.attn_q.weight"] = model.tensors["blk.3.nextn.eh_proj.weight"]
    path.write_bytes(gguf_bytes(model))
    (entry,) = [each for each in models.library.refresh() if each.file.path == path]
    assert entry.card is not None
    assert (entry.card.n_heads, entry.sidecar, entry.problem) == (1, None, "")
    environ = {"HOME": str(tmp_path)}
    listed = paceline("models", "list", "--json", "--folder", path.parent, environ=environ)
    (record,) = [each for each in json.loads(listed.out) if each["name"] == "Wolf-MTP"]
    assert record["mtp_head"] is True
    table = paceline("models", "list", "--folder", path.parent, environ=environ).out
    assert "MTP head inside." in table


@pytest.mark.grid(short=6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "arguments", [("chat", "--prompt", "Hi", "--max-tokens", "1"), ("bench",), ("calibrate",)]
)
@pytest.mark.parametrize("part", ["--target", "--draft"])
def test_a_sidecar_in_place_of_a_model_is_named(
    tmp_path: Path, kind: str, arguments: tuple[str, ...], part: str
) -> None:
    result = paceline(*arguments, part, put(tmp_path, "mtp-Wolf-7B.gguf", kind))
    assert result.code == 1
    assert "no model of its own. Drafter of Wolf-7B" in result.err
    option = drafts_with(kind)
    assert (f"--{option} FILE" if option else "Choose a model") in result.err
    assert len(result.err.splitlines()) <= 2, "llama.cpp's words are of no use here"

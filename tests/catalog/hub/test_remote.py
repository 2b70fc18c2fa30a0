"""Header of a model on the Hub: the bytes that are fetched, and the copy that is kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog.headers import write_split
from hub_server import Fault, HubServer, Repository
from paceline.catalog import fetching
from paceline.catalog.fetching import PIECES, named_file, remote_header
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import HubReference, parse_reference
from paceline.errors import ModelError, UserError

if TYPE_CHECKING:
    from paceline.catalog.hub.client import Hub
    from paceline.catalog.inspect.inspector import Inspector

MIB = 1 << 20


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "headers"


def offer(
    repositories: dict[str, Repository], *files: Path, n_bytes: int = 3_000_000_000, name: str = ""
) -> HubReference:
    """Put files on the Hub, each followed by `n_bytes` bytes of pretended weights."""
    paths = {name or file.name: file for file in files}
    details = {"pretend": dict.fromkeys(paths, n_bytes)}
    repositories["owner/real"] = Repository("owner/real", paths, details)
    return HubReference("owner/real", next(iter(paths)))


def summary(server: HubServer) -> tuple[int, int]:
    """Return the number of requests, and of the bytes of files that were sent."""
    return len(server.requests), server.n_bytes_sent()


def test_a_model_is_examined_without_its_weights(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, target_path: Path,
) -> None:  # fmt: skip
    reference = offer(repositories, target_path)
    found = inspector.examine(remote_header(hub, inspector, reference, cache))
    assert found == inspector.examine(target_path)
    assert summary(server) == (2, PIECES[0])
    header = remote_header(hub, inspector, reference, cache)
    assert header.stat().st_size == 3_000_000_000
    assert header.stat().st_blocks * 512 < 2 * PIECES[0]
    assert header.name == target_path.name
    assert header.parent.parent == cache
    assert summary(server)[0] == 2, "a header that is kept is not requested again"


@pytest.mark.parametrize(
    ("name", "n_fetched"),
    [("llama-spm", 4), ("qwen2", 8), ("llama-bpe", 8), ("command-r", 16), ("gemma-4", 16)],
)
def test_real_vocabularies(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, vocabularies: dict[str, Path], name: str, n_fetched: int,
) -> None:  # fmt: skip
    file = vocabularies[name]
    found = inspector.examine(remote_header(hub, inspector, offer(repositories, file), cache))
    here = inspector.examine(file)
    assert found.texts == here.texts
    assert found.nature == here.nature
    assert found.card.vocabulary == here.card.vocabulary
    n_requests, n_bytes = summary(server)
    assert n_bytes == n_fetched * MIB
    assert n_requests <= 5


def test_a_header_takes_20_mib_and_5_requests_at_most() -> None:
    assert PIECES[-1] <= 20 * MIB
    assert len(PIECES) + 1 <= 5


def test_a_header_that_needs_several_pieces_is_fetched_piece_by_piece(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, target_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(fetching, "PIECES", (1000, 2000, 300_000, 4 * MIB))
    reference = offer(repositories, target_path)
    header = remote_header(hub, inspector, reference, cache)
    assert inspector.examine(header) == inspector.examine(target_path)
    ranges = [request.headers["range"] for request in server.asked("GET .*gguf")]
    assert ranges == ["bytes=0-999", "bytes=1000-1999", "bytes=2000-299999"]


def test_a_header_that_does_not_end_is_refused(
    hub: Hub, repositories: dict[str, Repository], inspector: Inspector, cache: Path,
    target_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(fetching, "PIECES", (1000, 2000))
    with pytest.raises(ModelError) as caught:
        inspector.examine(remote_header(hub, inspector, offer(repositories, target_path), cache))
    assert caught.value.code == "not-a-gguf"
    assert left_in(cache) == []


def left_in(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file()]


def test_of_a_file_that_is_no_model_one_piece_is_fetched(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, tmp_path: Path,
) -> None:  # fmt: skip
    file = tmp_path / "text.gguf"
    file.write_bytes(b"This is no model. " * 100)
    with pytest.raises(ModelError) as caught:
        inspector.examine(remote_header(hub, inspector, offer(repositories, file), cache))
    assert caught.value.code == "not-a-gguf"
    assert len(server.asked("GET .*gguf")) == 1
    assert left_in(cache) == []


def test_a_model_that_is_shorter_than_a_piece_is_examined(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, draft_path: Path,
) -> None:  # fmt: skip
    reference = offer(repositories, draft_path, n_bytes=0)
    header = remote_header(hub, inspector, reference, cache)
    assert inspector.examine(header) == inspector.examine(draft_path)
    assert summary(server) == (2, draft_path.stat().st_size)


def test_a_server_that_ignores_ranges_is_supported(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, target_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(fetching, "PIECES", (1000, 300_000))
    server.add(Fault("*.gguf", method="GET", ignores_range=True))
    reference = offer(repositories, target_path, n_bytes=0)
    header = remote_header(hub, inspector, reference, cache)
    assert inspector.examine(header) == inspector.examine(target_path)


def test_a_broken_connection_leaves_no_file(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, target_path: Path,
) -> None:  # fmt: skip
    reference = offer(repositories, target_path)
    server.add(Fault("*.gguf", method="GET", drop_after=100_000, times=1))
    with pytest.raises(HubError):
        remote_header(hub, inspector, reference, cache)
    assert left_in(cache) == []
    assert remote_header(hub, inspector, reference, cache).is_file()


def test_a_kept_header_is_used_offline_until_the_hub_has_another_file(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, draft_path: Path, target_path: Path,
) -> None:  # fmt: skip
    reference = offer(repositories, target_path, name="model.gguf")
    old = remote_header(hub, inspector, reference, cache)
    for note in (cache / "names").iterdir():
        os.utime(note, (1, 1))
    hub.offline = True
    assert remote_header(hub, inspector, reference, cache) == old
    hub.offline = False
    offer(repositories, draft_path, name="model.gguf", n_bytes=2_000_000_000)
    new = remote_header(hub, inspector, reference, cache)
    assert new != old
    assert inspector.card(new) == inspector.card(draft_path)


def test_a_header_is_fetched_once_for_a_branch_and_its_commit(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, target_path: Path,
) -> None:  # fmt: skip
    reference = offer(repositories, target_path)
    first = remote_header(hub, inspector, reference, cache)
    n_bytes = server.n_bytes_sent()
    commit = repositories["owner/real"].commit
    by_commit = HubReference(reference.repo, reference.path, commit)
    assert remote_header(hub, inspector, by_commit, cache) == first
    assert server.n_bytes_sent() == n_bytes


def test_old_headers_are_deleted_when_new_ones_come(
    hub: Hub, repositories: dict[str, Repository], inspector: Inspector, cache: Path,
    target_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(fetching, "_MAX_CACHED_HEADERS", 2)
    for i in range(4):
        (cache / f"old{i}").mkdir(parents=True)
        os.utime(cache / f"old{i}", (i + 1, i + 1))
    kept = remote_header(hub, inspector, offer(repositories, target_path), cache)
    folders = {path.name for path in cache.iterdir()}
    assert folders == {"names", "old3", kept.parent.name}


def test_a_split_model_takes_one_small_request_per_further_part(
    hub: Hub, server: HubServer, repositories: dict[str, Repository], inspector: Inspector,
    cache: Path, target_path: Path, tmp_path: Path,
) -> None:  # fmt: skip
    parts = write_split(target_path, tmp_path)
    reference = offer(repositories, *parts)
    for named in (reference, HubReference(reference.repo, parts[-1].name)):
        found = inspector.examine(remote_header(hub, inspector, named, cache))
        assert found.card == inspector.card(parts[0], parts)
        assert found.card.n_params == inspector.card(target_path).n_params
    fetched = [r.n_sent for r in server.asked("GET /blobs/")]
    assert fetched == [PIECES[0], 1 << 16, 1 << 16]
    header = remote_header(hub, inspector, reference, cache)
    assert sorted(path.name for path in header.parent.iterdir()) == [part.name for part in parts]


def test_a_reference_without_a_file_is_completed(hub: Hub, server: HubServer) -> None:
    found = named_file(hub, parse_reference("hf:owner/model-1-GGUF"))
    assert str(found) == "hf:owner/model-1-GGUF:model-1-Q4_K_M.gguf"
    assert named_file(hub, parse_reference("hf:owner/model-1-GGUF:q4_k_m")) == found
    server.requests.clear()
    assert named_file(hub, found) is found
    assert not server.requests


def test_a_folder_that_cannot_be_written_is_reported(
    hub: Hub, repositories: dict[str, Repository], inspector: Inspector, tmp_path: Path,
    target_path: Path,
) -> None:  # fmt: skip
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError) as caught:
        remote_header(hub, inspector, offer(repositories, target_path), tmp_path / "file" / "x")
    assert caught.value.code == "header-not-kept"


def test_a_disk_without_sparse_files_is_reported(
    hub: Hub, repositories: dict[str, Repository], inspector: Inspector, cache: Path,
    target_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def refuse(*_: object) -> None:
        raise OSError("the disk knows no sparse files")

    monkeypatch.setattr(fetching, "_check_sparse", refuse)
    with pytest.raises(UserError) as caught:
        remote_header(hub, inspector, offer(repositories, target_path), cache)
    assert caught.value.code == "header-not-kept"
    assert left_in(cache) == []

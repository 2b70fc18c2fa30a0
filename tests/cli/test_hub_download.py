"""`paceline hub download`, the real program against a loopback Hub."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.program import (
    COMMAND,
    Result,
    assert_one_clear_line,
    interrupted,
    paceline,
    paceline_process,
)
from hub_server import Fault, HubServer, Repository
from paceline.settings import SETTINGS_FILE, Settings, save_settings
from proxy import Proxy

REPO = "owner/model"
MB = 1_000_000
DATA = random.Random(3).randbytes(3 * MB)
SPLIT = [f"Q8_0/big-Q8_0-{i:05}-of-00002.gguf" for i in (1, 2)]
ONLINE = {"HF_HUB_OFFLINE": "0"}


@pytest.fixture
def server() -> Iterator[HubServer]:
    files = {
        "model-Q4_K_M.gguf": DATA,
        "model-Q5_0.gguf": DATA[::-1],
        "other-Q5_0.gguf": DATA[1:],
        SPLIT[0]: DATA[:MB],
        SPLIT[1]: DATA[MB:],
        "lone-Q2_K-00001-of-00002.gguf": DATA[:10],
        "notes.txt": b"about",
        "Q4 0/é 模-Q4_0.gguf": DATA[:100],
    }
    with HubServer({REPO: Repository(REPO, files)}) as server:
        yield server


def download(server: HubServer, file: str, *more: str | Path, repo: str = REPO) -> Result:
    return paceline(
        "hub", "download", repo, file, "--endpoint", server.endpoint, *more, environ=ONLINE
    )


def models(home: Path) -> Path:
    return home / "data" / "models"


def test_a_file_lands_in_the_programs_own_folder(server: HubServer, paceline_home: Path) -> None:
    server.add(Fault("*.gguf", bytes_per_s=6 * MB))
    result = download(server, "model-Q4_K_M.gguf")
    path = models(paceline_home) / REPO / "model-Q4_K_M.gguf"
    assert (result.code, result.out) == (0, f"{path}\n"), result.err
    assert path.read_bytes() == DATA
    assert "model-Q4_K_M.gguf: running" in result.err
    assert "\r" not in result.err


def test_the_windows_settings_name_folder_and_proxy(
    server: HubServer, paceline_home: Path, tmp_path: Path
) -> None:
    with Proxy() as proxy:
        (paceline_home / "config").mkdir(parents=True)
        settings = Settings(download_folder=str(tmp_path / "big"), hub_proxy=proxy.address)
        save_settings(paceline_home / "config" / SETTINGS_FILE, settings)
        result = download(server, "model-Q4_K_M.gguf")
        assert result.out == f"{tmp_path / 'big' / REPO / 'model-Q4_K_M.gguf'}\n", result.err
        assert len(proxy.asked) == len(server.requests) > 0


def test_json_and_a_folder_of_ones_own(server: HubServer, tmp_path: Path) -> None:
    result = download(server, "q4_k_m", "--json", "--dest", tmp_path / "here")
    assert result.code == 0, result.err
    assert json.loads(result.out) == {
        "path": str(tmp_path / "here" / "model-Q4_K_M.gguf"),
        "n_bytes": len(DATA),
        "sha256": hashlib.sha256(DATA).hexdigest(),
    }
    # Again, it is there already.
    n_sent = server.n_bytes_sent()
    assert download(server, "q4_k_m", "--json", "--dest", tmp_path / "here").out == result.out
    assert server.n_bytes_sent() == n_sent


@pytest.mark.parametrize("file", [SPLIT[1], "Q8_0"])
def test_of_a_split_model_all_parts_come(server: HubServer, tmp_path: Path, file: str) -> None:
    result = download(server, file, "--dest", tmp_path)
    assert result.out == f"{tmp_path / 'big-Q8_0-00001-of-00002.gguf'}\n", result.err
    parts = sorted(tmp_path.glob("*.gguf"))
    assert b"".join(part.read_bytes() for part in parts) == DATA


@pytest.mark.parametrize(
    "written",
    [
        "hf:owner/model:model-Q4_K_M.gguf",
        "hf:owner/model:q4_k_m",
        "{}/owner/model/resolve/main/model-Q4_K_M.gguf?download=true",
        "{}/owner/model/blob/main/model-Q4_K_M.gguf",
    ],
)
def test_an_address_is_enough(
    server: HubServer, paceline_home: Path, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
    result = paceline("hub", "download", written.format(server.endpoint), environ=ONLINE)
    assert result.out == f"{models(paceline_home) / REPO / 'model-Q4_K_M.gguf'}\n", result.err


def test_an_address_without_a_file_needs_one(
    server: HubServer, paceline_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
    page = f"{server.endpoint}/owner/model/tree/main"
    result = paceline("hub", "download", page, environ=ONLINE)
    assert result.code == 2
    assert "No file was named" in result.err
    assert paceline("hub", "download", page, "Q4_K_M", environ=ONLINE).code == 0


def test_blanks_and_other_letters_stay_in_names(server: HubServer, paceline_home: Path) -> None:
    result = download(server, "Q4 0/é 模-Q4_0.gguf")
    path = models(paceline_home) / REPO / "Q4 0" / "é 模-Q4_0.gguf"
    assert (result.code, result.out) == (0, f"{path}\n"), result.err
    assert path.read_bytes() == DATA[:100]


def test_folders_of_a_repository_are_kept_apart(server: HubServer, paceline_home: Path) -> None:
    result = download(server, "Q8_0")
    assert Path(result.out.strip()) == models(paceline_home) / REPO / SPLIT[0]


def test_any_file_by_its_name(server: HubServer, tmp_path: Path) -> None:
    assert download(server, "notes.txt", "--dest", tmp_path).code == 0
    assert (tmp_path / "notes.txt").read_bytes() == b"about"


@pytest.mark.parametrize(
    ("file", "code", "words"),
    [
        ("Q5_0", 2, "Name one file: other-Q5_0.gguf, model-Q5_0.gguf"),
        ("Q3_K_S", 1, "no model “Q3_K_S”"),
        ("none.gguf", 1, "no file"),
        (" ", 2, "No file was named"),
        ("lone-Q2_K-00001-of-00002.gguf", 1, "does not have all parts"),
    ],
)
def test_files_that_cannot_be_had(
    server: HubServer, paceline_home: Path, file: str, code: int, words: str
) -> None:
    result = download(server, file)
    assert (result.code, result.out) == (code, "")
    assert words in result.err
    assert not list(models(paceline_home).rglob("*.gguf*"))


def test_names_of_repositories_are_checked(server: HubServer) -> None:
    for repo in ("owner", "../..", "a/b/c"):
        result = download(server, "Q4_K_M", repo=repo)
        assert result.code == 2
        assert_one_clear_line(result)
    assert not server.requests


def test_a_failure_says_what_to_do(server: HubServer) -> None:
    server.add(Fault("*/resolve/*", status=403, error_code="GatedRepo"))
    result = download(server, "Q4_K_M")
    assert result.code == 1
    assert f"{server.endpoint}/{REPO}" in result.err


def test_offline_is_offline(server: HubServer) -> None:
    result = paceline_process("hub", "download", REPO, "Q4_K_M", "--endpoint", server.endpoint)
    assert result.code == 1
    assert "offline" in result.err
    assert not server.requests


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process there")
def test_ctrl_c_keeps_what_has_arrived(server: HubServer, tmp_path: Path) -> None:
    server.add(Fault("*.gguf", bytes_per_s=2 * MB))
    part = tmp_path / "model-Q4_K_M.gguf.part"
    result = interrupted(
        *("hub", "download", REPO, "Q4_K_M", "--dest", tmp_path, "--endpoint", server.endpoint),
        environ=ONLINE,
        is_time=lambda: part.exists() and part.stat().st_size,
    )
    assert (result.code, result.out) == (130, ""), result.err
    assert "Stopped" in result.err
    assert str(tmp_path) in result.err
    n_kept = part.stat().st_size
    assert 0 < n_kept < len(DATA)
    server.clear()
    assert download(server, "Q4_K_M", "--dest", tmp_path).code == 0
    assert server.requests[-1].start == n_kept
    assert (tmp_path / "model-Q4_K_M.gguf").read_bytes() == DATA


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_a_terminal_gets_one_line_that_grows(server: HubServer, tmp_path: Path) -> None:
    server.add(Fault("*.gguf", bytes_per_s=6 * MB))
    screen, terminal = os.openpty()
    arguments = ["hub", "download", REPO, "Q4_K_M", "--dest", str(tmp_path)]
    try:
        subprocess.run(
            [*COMMAND, *arguments, "--endpoint", server.endpoint],
            env={**os.environ, **ONLINE},
            stdout=subprocess.DEVNULL,
            stderr=terminal,
            timeout=60,
            check=True,
        )
        os.set_blocking(screen, False)
        said = os.read(screen, 1 << 16).decode()
    finally:
        os.close(screen)
        os.close(terminal)
    lines = said.split("\r\x1b[K")
    assert any("MB/s" in line and "of 3 MB" in line for line in lines), lines
    assert lines[-1] == ""  # nothing is left standing
    assert "\n" not in said

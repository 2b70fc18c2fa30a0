"""`paceline hub search` and `hub files` against the loopback Hub, as a program of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cli.program import Result, assert_one_clear_line, interrupted, paceline, paceline_process
from hub_server import Fault, HubServer, Repository
from paceline.catalog.hub.values import HubModel
from paceline.cli.hub import models_as_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("one_reader_for_all")


def repository(i: int, **details: Any) -> Repository:
    name = f"owner/model-{i}-GGUF"
    said = {
        "downloads": 1000 * i,
        "license": "mit" if i % 2 else "apache-2.0",
        "gguf": {"total": i * 10**9, "architecture": "llama", "context_length": 32768},
        "pretend": {
            f"model-{i}-Q4_K_M.gguf": i * 600_000_000,
            f"model-{i}-Q8_0-00001-of-00002.gguf": i * 500_000_000,
            f"model-{i}-Q8_0-00002-of-00002.gguf": i * 500_000_000,
            f"model-{i}-F16-00001-of-00002.gguf": i * 10**13,
            "mmproj-F16.gguf": 10**9,
        },
        **details,
    }
    return Repository(name, {"README.md": b"hello"}, said)


@pytest.fixture
def server() -> Iterator[HubServer]:
    found = [repository(i) for i in range(1, 6)]
    found.append(Repository("other/gated-GGUF", {"a-Q8_0.gguf": b"GGUF"}, {"gated": "manual"}))
    with HubServer({one.id: one for one in found}, page_size=2) as running:
        yield running


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """No login, no keyring, and online."""
    return {
        "HF_HUB_OFFLINE": "0",
        "HF_HOME": str(tmp_path / "hf"),
        "HF_TOKEN": "",
        "HUGGING_FACE_HUB_TOKEN": "",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }


def hub(server: HubServer, environ: dict[str, str], *arguments: str) -> Result:
    return paceline("hub", *arguments, "--endpoint", server.endpoint, environ=environ)


def test_a_search_as_a_table(server: HubServer, environ: dict[str, str]) -> None:
    result = hub(server, environ, "search", "model", "--sort", "downloads", "--limit", "3")
    assert result.code == 0, result.err
    assert result.err == ""
    head, *rows = [line.split() for line in result.out.splitlines()]
    assert head == ["repository", "parameters", "context", "downloads", "likes", "licence"]
    assert [row[0] for row in rows] == [f"owner/model-{i}-GGUF" for i in (5, 4, 3)]
    assert rows[0][1:4] == ["5B", "32k", "5000"]


def test_foreign_text_keeps_to_its_cell() -> None:
    models = [HubModel("a/b\nc/d\x1b[31m", 1, 2, "", "open", "mit\r", 3, "", 0, "")]
    text = models_as_text(models)
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text


def test_a_search_as_json(server: HubServer, environ: dict[str, str]) -> None:
    result = hub(server, environ, "search", "", "--license", "mit", "--sort", "downloads", "--json")
    assert result.code == 0, result.err
    rows = json.loads(result.out)
    assert [row["repo"] for row in rows] == [f"owner/model-{i}-GGUF" for i in (5, 3, 1)]
    assert rows[0] == {
        "repo": "owner/model-5-GGUF",
        "downloads": 5000,
        "likes": 0,
        "modified": "2026-01-02T03:04:05.000Z",
        "gated": False,
        "license": "mit",
        "n_params": 5 * 10**9,
        "architecture": "llama",
        "n_ctx_train": 32768,
        "base_model": None,
    }


def test_a_search_that_finds_nothing(server: HubServer, environ: dict[str, str]) -> None:
    result = hub(server, environ, "search", "unheard-of")
    assert result.out == ""
    assert_one_clear_line(result, code=0)
    assert hub(server, environ, "search", "unheard-of", "--json").out == "[]\n"


def test_the_files_of_a_repository(server: HubServer, environ: dict[str, str]) -> None:
    result = hub(server, environ, "files", "owner/model-1-GGUF")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0].split() == ["quantisation", "size", "file"]
    assert lines[1].split()[:4] == ["Q4_K_M", "600", "MB", "model-1-Q4_K_M.gguf"]
    assert "Q8_0-00001-of-00002.gguf and 1 more" in lines[2]
    assert "parts are missing" in lines[3]
    assert "mmproj" not in result.out
    assert result.out.count("recommended here") <= 1


def test_the_files_as_json(server: HubServer, environ: dict[str, str]) -> None:
    result = hub(server, environ, "files", "owner/model-1-GGUF", "--json")
    rows = json.loads(result.out)
    assert [row["quantisation"] for row in rows] == ["Q4_K_M", "Q8_0", "F16"]
    assert rows[1]["reference"] == "hf:owner/model-1-GGUF:model-1-Q8_0-00001-of-00002.gguf"
    assert rows[1]["size"] == 10**9
    assert len(rows[1]["files"]) == 2
    assert len(rows[1]["files"][0]["sha256"]) == 64
    assert [row["complete"] for row in rows] == [True, True, False]
    assert not rows[2]["recommended"]


@pytest.mark.parametrize(
    "written",
    ["hf:{}", "{endpoint}/{}", "{endpoint}/{}/tree/main", "{endpoint}/{}/blob/main/m.gguf", "{}"],
)
def test_an_address_names_a_repository(
    server: HubServer, environ: dict[str, str], written: str
) -> None:
    environ = {**environ, "HF_ENDPOINT": server.endpoint}
    name = written.format("owner/model-2-GGUF", endpoint=server.endpoint)
    files = paceline("hub", "files", name, environ=environ)
    assert files.code == 0, files.err
    assert "model-2-Q4_K_M.gguf" in files.out
    search = paceline("hub", "search", name, "--json", environ=environ)
    assert search.code == 0, search.err
    assert [row["repo"] for row in json.loads(search.out)] == ["owner/model-2-GGUF"]


def test_a_newer_repository_is_not_recommended(environ: dict[str, str]) -> None:
    def one(architecture: str) -> Repository:
        said = {
            "gguf": {"total": 10**8, "architecture": architecture},
            "pretend": {"m-Q4_0.gguf": 9},
        }
        return Repository(f"owner/{architecture}", {"README.md": b""}, said)

    found = [one("llama"), one("llama9")]
    with HubServer({each.id: each for each in found}) as server:
        old, new = (
            json.loads(hub(server, environ, "files", each.id, "--json").out)[0] for each in found
        )
        assert (old["newer"], old["recommended"]) == (None, True)
        assert new["newer"] == "unknown model architecture: 'llama9'"
        assert not new["recommended"]
        shown = hub(server, environ, "files", "owner/llama9")
        assert "newer than this llama.cpp" in shown.out
        assert_one_clear_line_with(shown, "owner/llama9 is newer than this llama.cpp: unknown")


def test_a_file_whose_name_is_not_used_is_marked(environ: dict[str, str]) -> None:
    names = {"é 模-Q4_0.gguf": 9, "con.gguf": 8}
    one = Repository("owner/names", {"README.md": b""}, {"pretend": names})
    with HubServer({one.id: one}) as server:
        rows = json.loads(hub(server, environ, "files", one.id, "--json").out)
        assert [(row["bad_name"], row["recommended"]) for row in rows] == [
            (True, False),
            (False, True),
        ]
        assert hub(server, environ, "files", one.id).out.count("cannot be downloaded") == 1


def test_a_gated_repository_says_where_to_ask(server: HubServer, environ: dict[str, str]) -> None:
    result = hub(server, environ, "files", "other/gated-GGUF")
    assert result.code == 0
    assert "a-Q8_0.gguf" in result.out
    assert_one_clear_line_with(result, f"{server.endpoint}/other/gated-GGUF")


def assert_one_clear_line_with(result: Result, text: str) -> None:
    assert text in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["files", "owner/none"], 1, "owner/none"),
        (["files", "../etc"], 2, "OWNER/NAME"),
        (["files", "justaname"], 2, "OWNER/NAME"),
        (["search"], 2, "QUERY"),
        (["search", "x", "--limit", "0"], 2, "--limit"),
        (["search", "x", "--sort", "size"], 2, "--sort"),
        ([], 2, "COMMAND"),
    ],
    ids=str,
)
def test_what_cannot_be_done(
    server: HubServer, environ: dict[str, str], arguments: list[str], code: int, text: str
) -> None:
    endpoint = ["--endpoint", server.endpoint] if arguments else []
    result = paceline_process("hub", *arguments, *endpoint, environ=environ)
    assert result.out == ""
    assert_one_clear_line(result, text, code=code)


def test_offline(server: HubServer, environ: dict[str, str]) -> None:
    result = hub(server, {**environ, "HF_HUB_OFFLINE": "1"}, "search", "model")
    assert result.code == 1
    assert "offline" in result.err
    assert not server.requests


def test_a_bad_address(environ: dict[str, str]) -> None:
    result = paceline("hub", "search", "x", "--endpoint", "huggingface.co", environ=environ)
    assert result.code == 2
    assert_one_clear_line(result)


def test_a_token_is_never_printed_and_never_leaves_the_hub(
    server: HubServer, environ: dict[str, str]
) -> None:
    server.tokens["hf_secret"] = {"other/gated-GGUF"}
    result = hub(server, {**environ, "HF_TOKEN": "hf_secret"}, "files", "other/gated-GGUF")
    assert result.code == 0
    assert result.err == "", "with the token nothing has to be asked for"
    assert "hf_secret" not in result.out
    assert all(r.headers["authorization"] == "Bearer hf_secret" for r in server.requests)


def test_ctrl_c_ends_a_search_that_waits(server: HubServer, environ: dict[str, str]) -> None:
    server.add(Fault(silent=True))
    words = ("hub", "search", "x", "--endpoint", server.endpoint)
    result = interrupted(*words, environ=environ, is_time=lambda: server.requests)
    assert (result.code, result.out) == (130, "")
    assert "Traceback" not in result.err

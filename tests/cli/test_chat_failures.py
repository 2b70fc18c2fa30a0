"""Requests that cannot be met: exit code 1, one clear line, with --json a last object, too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from catalog.headers import gguf_bytes, small_vocabulary, write_split
from cli.program import COMMAND, Result, assert_one_clear_line, chat, paceline_process


def assert_failure(result: Result, code: str, *words: str, exit_code: int = 1) -> None:
    assert_one_clear_line(result, *words, code=exit_code)
    last = result.objects[-1]
    assert set(last) == {"event", "code", "message", "hint"}
    assert last["event"] == "failed"
    assert last["code"] == code
    assert last["message"] in result.err


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    assert_failure(chat("--target", tmp_path / "no.gguf"), "file-not-found", "no.gguf")
    assert_failure(chat("--draft", tmp_path / "no.gguf"), "file-not-found", "no.gguf")
    assert_failure(chat("--target", tmp_path), "is-a-directory")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "not-a-gguf"),
        (b"PK\x03\x04 a zip", "not-a-gguf"),
        (b"GGUF" + b"\xff" * 4000, "cannot-load"),
        *((keep, "cannot-load") for keep in (4, 5_000, 18_000_000)),  # of the demo target
    ],
)
def test_a_file_that_is_no_whole_model(
    tmp_path: Path, target_path: Path, content: bytes | int, code: str
) -> None:
    data = target_path.read_bytes()[:content] if isinstance(content, int) else content
    (tmp_path / "model.gguf").write_bytes(data)
    assert_failure(chat("--target", tmp_path / "model.gguf"), code, "model.gguf")


def test_a_context_far_beyond_the_model() -> None:
    assert_failure(chat("--ctx", "10000000"), "context-too-long", "10,000,000", exit_code=2)


def test_a_prompt_longer_than_the_context() -> None:
    result = chat("--ctx", "64", prompt="a list and " * 200)
    assert_failure(result, "prompt-too-long", "64")


def test_a_strategy_without_its_model(target_path: Path) -> None:
    result = chat("--target", target_path, "--strategy", "draft")
    assert_failure(result, "no-draft-model", "--draft", exit_code=2)


def test_wrong_usage_is_an_object_too() -> None:
    assert_failure(chat("--top-p", "3"), "value-out-of-range", exit_code=2)
    assert_failure(chat("--no-such-option"), "usage", exit_code=2)


@pytest.mark.parametrize("option", ["--messages", "--prompt-tokens"])
def test_a_prompt_file_that_cannot_be_read(tmp_path: Path, option: str) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        assert_failure(chat(option, path, prompt=None), "file-unreadable", str(path))


@pytest.mark.grid(short=3)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["chat", "--prompt", "Hi"], 1, "cannot be written"),
        (["chat", "--prompt", "Hi", "--json"], 1, "cannot be written"),
        (["chat", "--prompt", "Hi", "--json", "--top-p", "3"], 2, "--top-p"),  # the error matters
        (["doctor"], 1, "cannot be written"),
    ],
    ids=str,
)
def test_a_disk_that_is_full(arguments: list[str], code: int, words: str) -> None:
    command = [*COMMAND, *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == code
    assert words in done.stderr
    assert_one_clear_line(Result(done.returncode, "", done.stderr))


def test_a_home_that_cannot_be_written_to_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = paceline_process(
        "chat", "--prompt", "Hi", "--max-tokens", "5",
        environ={"PACELINE_HOME": str(tmp_path / "file")},
    )  # fmt: skip
    assert result.code == 0


def test_a_model_that_is_newer_than_llama_cpp(tmp_path: Path) -> None:
    model = small_vocabulary()
    model.set(general__architecture="llama9")
    (tmp_path / "new.gguf").write_bytes(gguf_bytes(model))
    result = chat("--target", tmp_path / "new.gguf")
    assert_failure(result, "newer-model", "newer than this llama.cpp")
    assert "ownload it again" not in result.err


def test_any_part_of_a_split_model_loads_it(tmp_path: Path, draft_path: Path) -> None:
    parts = write_split(draft_path, tmp_path)

    def text(model: Path) -> str:
        result = chat("--target", model, "--max-tokens", "8", "--temperature", "0", prompt="a list")
        assert result.code == 0, result.err
        return "".join(each["text"] for each in result.objects if each["event"] == "step")

    assert {text(part) for part in parts} == {text(draft_path)}
    parts[1].unlink()
    for part in (parts[0], parts[2]):
        assert_failure(chat("--target", part), "part-missing", f"“{parts[1].name}” is missing")
    parts[0].rename(tmp_path / "other.gguf")
    parts[2].rename(tmp_path / "renamed.gguf")
    result = chat("--target", tmp_path / "renamed.gguf")
    assert_failure(result, "not-the-first-part", "renamed.gguf")


@pytest.mark.parametrize("address", ["https://example.com/x.gguf", "http://[", "hf.co/a"])
def test_an_address_that_is_none_of_the_hub(address: str) -> None:
    result = chat("--target", address)
    assert_failure(result, "bad-reference", "hf:OWNER/REPO:FILE", exit_code=2)

"""The commands that README and guide show in blocks do what they are shown for.

What a reader has to put in is the demo pair, here and on a Hub on this machine. The benchmark gets
a smaller workload; otherwise the lines are run as they stand.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from architecture.source import REPOSITORY
from cli.program import Result, paceline
from hub_server import HubServer, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = [REPOSITORY / "README.md", REPOSITORY / "resources" / "guide" / "guide.md"]
OURS = re.compile(r"^(?:paceline|python3 packaging/bootstrap\.py run) (\w.*)$", re.MULTILINE)
SAID = {
    "chat": "tokens",
    "doctor": "paceline",
    "models list": "paceline-demo-target",
    "pairs check": "The pair fits",
    "pairs list": "Qwen3 8B",
    "hub search": "owner/qwen3-demo",
    "calibrate": "Here drafts of",
    "bench": "off",
}
"""Texts that each command must print, at least."""


def shown() -> list[str]:
    """Every command in a block of a page that is there; the checkout's tests see all of them."""
    found: dict[str, None] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            found.update(dict.fromkeys(OURS.findall(block)))
    return list(found)


@pytest.fixture
def hub(demo_pair: tuple[Path, Path]) -> Iterator[HubServer]:
    target, draft = demo_pair
    said = {"gguf": {"total": 1000, "architecture": "llama", "context_length": 2048}}
    repositories = (
        Repository("owner/qwen3-demo-GGUF", {"target-Q8_0.gguf": target}, said),
        Repository("OWNER/REPO", {"DRAFT.gguf": draft}),
    )
    with HubServer({each.id: each for each in repositories}) as server:
        yield server


def test_there_are_commands() -> None:
    if all(page.exists() for page in PAGES):
        kinds = {kind for kind in SAID for command in shown() if command.startswith(kind)}
        assert kinds == SAID.keys(), "each kind of command is shown, and no other is expected"


@pytest.mark.usefixtures("quick_calibration")
@pytest.mark.parametrize("command", shown())
def test_a_command_in_a_block_works(
    command: str, hub: HubServer, demo_pair: tuple[Path, Path], tmp_path: Path
) -> None:
    files = {"TARGET.gguf": str(demo_pair[0]), "DRAFT.gguf": str(demo_pair[1])}
    words = [files.get(word, word) for word in shlex.split(command, comments=True)]
    if words[0] == "bench":
        workload = tmp_path / "workload.jsonl"
        asked = {"role": "user", "content": "What is a list?"}
        workload.write_text(json.dumps({"name": "a", "messages": [asked], "max_tokens": 12}))
        words += ["--workload", str(workload), "--repeat", "1"]
    if words[:2] == ["models", "list"]:
        words += ["--folder", str(demo_pair[0].parent)]
    result = run(words, hub, tmp_path)
    assert result.code == 0, result.err
    said = next(said for kind, said in SAID.items() if command.startswith(kind))
    assert said in result.out + result.err


def run(words: list[str], hub: HubServer, folder: Path) -> Result:
    environ = {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HUB_OFFLINE": "0",
        "HF_HOME": str(folder / "hf"),
        "HOME": str(folder),
        "HF_TOKEN": "",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    return paceline(*words, environ=environ, cwd=folder)

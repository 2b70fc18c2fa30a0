"""Every command that the documentation shows exists; `cli/test_documentation.py` runs them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from architecture.source import REPOSITORY
from benchmarks.__main__ import BENCHMARKS
from paceline.cli.main import parse
from paceline.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [
    page
    for page in (
        REPOSITORY / "README.md",
        REPOSITORY / "app" / "ARCHITECTURE.md",
        REPOSITORY / "app" / "CONTRIBUTING.md",
        REPOSITORY / "app" / "kernels" / "README.md",
        REPOSITORY / "resources" / "guide" / "guide.md",
        *sorted((REPOSITORY / "app" / "decisions").glob("*.md")),
    )
    if page.exists()
]
BOOTSTRAP = "packaging/bootstrap.py"


def commands(text: str) -> list[str]:
    """Lines of code blocks and pieces of inline code that call this program or its scripts."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    without = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    pieces = [line.strip().removeprefix("$ ") for line in lines]
    pieces += re.findall(r"`([^`\n]+)`", without)
    ours = r"paceline( |$)|python3? packaging/|python3? -m paceline"
    return [piece for piece in pieces if re.match(ours, piece)]


def problem(command: str) -> str:
    """Return why a command cannot work, or nothing where it can; only the scripts' help is run."""
    words = shlex.split(command, comments=True)
    if words[0] == "paceline":
        return _unknown_arguments(words[1:])
    if words[1:3] == [BOOTSTRAP, "run"] and words[3:]:
        return _unknown_arguments(words[3:])
    if words[1:3] == ["-m", "paceline"]:
        return _unknown_arguments(words[3:])
    if words[1] == "-m":
        return "" if find_spec(words[2]) else f"there is no module {words[2]}"
    script = REPOSITORY / words[1]
    if script.is_dir():  # the benchmarks
        missing = [name for name in words[2:3] if name not in {*BENCHMARKS, "--help"}]
        return f"{words[1]} has no {missing[0]}" if missing else ""
    if not script.is_file():
        return f"{words[1]} does not exist"
    options = [word.split("=")[0] for word in words[2:] if word.startswith("-")]
    if not options:
        return ""
    text = _help_of(script)
    return "; ".join(f"{script.name} has no {o}" for o in options if o not in text)


def _unknown_arguments(arguments: list[str]) -> str:
    try:
        parse(arguments)
    except UserError as error:
        return str(error)
    except SystemExit as leaving:  # --help and --version
        return f"exit code {leaving.code}" if leaving.code else ""
    return ""


def _help_of(script: Path) -> str:
    result = subprocess.run(
        [sys.executable, str(script), "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return result.stdout if result.returncode == 0 else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documented_commands_exist(page: Path) -> None:
    problems = {
        command: text
        for command in commands(page.read_text(encoding="utf-8"))
        if (text := problem(command))
    }
    assert not problems


def test_commands_are_found_in_blocks_and_in_text() -> None:
    text = "Run `paceline --version` or\n```sh\n$ paceline chat \\\n  --raw # quick\n```\n`ls`\n"
    assert commands(text) == ["paceline chat    --raw # quick", "paceline --version"]


@pytest.mark.parametrize(
    "command",
    [
        "paceline chat --no-such-option",
        "paceline dance",
        "paceline bench --repeats 3",
        "python3 packaging/bootstrap.py run bench --repeats 3",
        "python3 packaging/no_such_script.py",
        "python packaging/benchmarks no_such_benchmark",
        "python3 -m paceline chat --top-k many",
    ],
)
def test_an_outdated_command_is_noticed(command: str) -> None:
    assert problem(command)

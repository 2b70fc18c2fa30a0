"""A copy of the tree, in which faults are planted and tests are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from planted.fault import Fault

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("app", "tests", "packaging", "pyproject.toml", "README.md")
TIMEOUT_S = 600


def sources(root: Path) -> list[Path]:
    """Return the files of a tree into which faults are planted."""
    app = root / "app"
    return [*(app / "paceline").rglob("*.py"), *(app / "kernels" / "rows").iterdir()]


class Copy:
    """A copy of the tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in NEEDED:
            if (ROOT / name).is_dir():
                shutil.copytree(
                    ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copy(ROOT / name, folder)
        (folder / "resources").symlink_to(ROOT / "resources", target_is_directory=True)

    def plant(self, fault: Fault) -> dict[Path, str]:
        """Make the changes; return the files as they were.

        Raises:
            LookupError: A place is gone, or there are several.
        """
        before: dict[Path, str] = {}
        for old, new in fault.changes:
            found = [path for path in sources(self.folder) if old in path.read_text("utf-8")]
            if len(found) != 1:
                self.restore(before)
                raise LookupError(f"{len(found)} files instead of one have: {old!r}")
            text = found[0].read_text("utf-8")
            before.setdefault(found[0], text)
            found[0].write_text(text.replace(old, new), "utf-8")
        return before

    def restore(self, before: dict[Path, str]) -> None:
        """Take a fault back."""
        for path, text in before.items():
            path.write_text(text, "utf-8")

    def run(
        self, *words: str, timeout_s: float | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run pytest in the copy with these arguments and environment variables besides."""
        # Byte code of a fault must not outlive it: two versions may have one size and one second.
        env = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "app"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "QT_QPA_PLATFORM": "offscreen",
            "COLUMNS": "200",  # room for why a test failed
            **variables,
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
        return subprocess.run(
            command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=timeout_s,
            check=False,
        )  # fmt: skip

    def failures(self, tests: tuple[str, ...], timeout_s: float = TIMEOUT_S) -> list[str]:
        """Run tests up to the first one that fails; return its name, or what else went wrong."""
        try:
            done = self.run("-x", "-rfE", *tests, timeout_s=timeout_s)
        except subprocess.TimeoutExpired:
            return [f"no end within {timeout_s} s"]
        if done.returncode == 0:
            return []
        named = re.findall(r"^(?:FAILED|ERROR) (tests/.*)", done.stdout, re.MULTILINE)
        if done.returncode != 1 or not named:
            raise RuntimeError(f"pytest {' '.join(tests)}:\n{done.stdout[-3000:]}{done.stderr}")
        return named

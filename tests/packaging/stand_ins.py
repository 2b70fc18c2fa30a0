"""A checkout for the bootstrap script, with stand-ins for the tools that it calls.

The stand-ins are small shell scripts: a Python that makes environments and obeys pip's commands
without doing anything, and a compiler that only knows its version.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = REPOSITORY / "packaging" / "bootstrap.py"

PYPROJECT = """
[build-system]
requires = ["hatchling"]
[project]
name = "paceline"
dependencies = ["llama-cpp-python==9.9", "numpy"]
[project.optional-dependencies]
dev = ["pytest"]
[tool.hatch.version]
path = "app/paceline/__init__.py"
"""

FAKE_PYTHON = r"""#!/bin/sh
PATH=/usr/bin:/bin
echo "$*" >> "$FAKE_CALLS"
here=$(dirname "$0")
case "$*" in
  *"$FAKE_FAIL"*) echo "$FAKE_WORDS"; echo "the last line"; exit 1 ;;
  *version_info*) echo 3.12.4 ;;
  *"-m venv "*)
    mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; echo "version = 3.12.4" > "$3/pyvenv.cfg" ;;
  *" download "*)
    for word; do case $word in --dest=*) mkdir -p "${word#*=}"
      echo sources > "${word#*=}/llama_cpp_python-9.9.tar.gz" ;; esac; done ;;
  *"tarfile --extract "*) mkdir -p "$6/llama_cpp_python-9.9" ;;
  *build_kernels*)
    while [ $# -gt 1 ]; do case $1 in
      rows | kernels) what=$1 ;;
      --into) mkdir -p "$2"; touch "$2/libpaceline_$what-1.so" ;;
      --sdist) cat "$2" > "$shelf/headers" ;;
      --shelf) shelf=$2 ;; esac; shift; done ;;
  *" wheel "*)
    echo "CMAKE_ARGS=$CMAKE_ARGS jobs=$CMAKE_BUILD_PARALLEL_LEVEL" >> "$FAKE_CALLS"
    for word; do case $word in --wheel-dir=*) mkdir -p "${word#*=}"
      touch "${word#*=}/llama_cpp_python-9.9-py3-none-any.whl" ;; esac; done ;;
  *"--editable "*)
    for tool in paceline ruff mypy lint-imports pytest; do
      printf '#!/bin/sh\necho "%s $*"\n' $tool > "$here/$tool"; chmod +x "$here/$tool"; done
    echo 'exit 7' >> "$here/paceline"
    [ -z "$FAKE_UNTYPED" ] || echo 'exit 1' >> "$here/mypy"
    echo "$FAKE_PYTEST" >> "$here/pytest" ;;
esac
"""

FAKE_GCC = """#!/bin/sh
[ "$1" = --version ] || { echo 12.2.0; exit; }
echo 'c++ (Distribution 12.2.0-14) 12.2.0'
echo 'Copyright (C) 2022 Free Software Foundation, Inc.'
"""


def load_script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("bootstrap_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


def no_gpu(folder: Path) -> dict[str, str]:
    """Variables by which nothing of this machine's own toolkits and GPUs is found."""
    names = ("CUDA_PATH", "ROCM_PATH", "VULKAN_SDK", "VK_DRIVER_FILES", "VK_ICD_FILENAMES")
    return dict.fromkeys(names, str(folder / "nothing"))


class Checkout:
    """A copy of the script in a project of its own, with stand-ins for Python and compiler."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.tools = folder / "tools"
        self.cache = folder / "cache"
        self.calls = folder / "calls"
        self.venv = self.root / ".venv"
        self.python = write_script(folder / "python", FAKE_PYTHON)
        (self.root / "app" / "paceline").mkdir(parents=True)
        (self.root / "app" / "paceline" / "__init__.py").write_text("__version__ = '1'\n")
        (self.root / "pyproject.toml").write_text(PYPROJECT)
        (self.root / "packaging").mkdir()
        for script in (SCRIPT, SCRIPT.with_name("backends.py")):
            shutil.copy(script, self.root / "packaging")
        write_script(self.tools / "c++", FAKE_GCC)

    def start(
        self, *words: str, prelude: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        script = str(self.root / "packaging" / "bootstrap.py")
        start = f"import runpy, sys; sys.argv = {[script, *words]!r}; {prelude}\n"
        start += f"runpy.run_path({script!r}, run_name='__main__')"
        self.calls.write_text("")
        environment = {
            "PATH": str(self.tools),
            "HOME": str(self.root),
            "PACELINE_WHEEL_CACHE": str(self.cache),
            "FAKE_CALLS": str(self.calls),
            "FAKE_FAIL": "no such call",
            **no_gpu(self.tools),
        }
        return subprocess.run(
            [sys.executable, "-I", "-c", start],
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.start("--python", str(self.python), "run", *words, **variables)

    def kernel_calls(self) -> list[str]:
        lines = self.calls.read_text().splitlines()
        return [line for line in lines if "build_kernels.py kernels" in line]

    def rows_calls(self) -> list[str]:
        lines = self.calls.read_text().splitlines()
        return [line for line in lines if "build_kernels.py rows" in line]

    def pip_calls(self) -> list[str]:
        lines = self.calls.read_text().splitlines()
        return [line.split("--no-input ")[1] for line in lines if "--no-input " in line]


def sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The last line on stderr of a run that failed as it should."""
    assert result.returncode == 1, result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    last = result.stderr.splitlines()[-1]
    assert last.endswith(".")
    assert not last.startswith(" ")
    return last

"""The script that sets a checkout up brings Paceline's native code."""

from __future__ import annotations

import fcntl
import json
import re
from pathlib import Path

import pytest
from stand_ins import PYPROJECT, REPOSITORY, Checkout, load_script

SDIST = "llama_cpp_python-9.9.tar.gz"
MODULES = (
    *("kernel_build", "kernel_files", "library_build", "rows_build", "rows_files"),
    "sealed_library",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path)
    sources = made.root / "app" / "kernels"
    (sources / "rows").mkdir(parents=True)
    (sources / "matmul.cpp").write_text("int x;\n")
    (sources / "rows" / "rows.cpp").write_text("int y;\n")
    installation = made.root / "app" / "paceline" / "installation"
    installation.mkdir()
    for name in MODULES:
        (installation / f"{name}.py").write_text("# how\n")
    return made


def test_the_modules_that_build_are_those_of_the_program() -> None:
    for name in MODULES:
        assert (REPOSITORY / "app" / "paceline" / "installation" / f"{name}.py").is_file()


def stamp(checkout: Checkout) -> dict[str, str]:
    return dict(json.loads((checkout.venv / "paceline-stamp.json").read_text()))


def shelf(checkout: Checkout) -> Path:
    return Path(stamp(checkout)["wheel"]).parent


def test_the_sources_are_fetched_once_for_wheel_and_kernels(checkout: Checkout) -> None:
    first = checkout.run()
    assert first.returncode == 7, first.stderr
    (call,) = checkout.kernel_calls()
    kept = shelf(checkout)
    into = checkout.venv / "share" / "paceline" / "kernels"
    assert call.startswith("-I ")
    assert f"--into {into} " in call
    assert f"--shelf {kept} " in call
    assert call.endswith(f"--sdist {kept / SDIST}")
    assert sum(line.startswith("download ") for line in checkout.pip_calls()) == 1
    (rows,) = checkout.rows_calls()
    assert rows.endswith(f"/packaging/build_kernels.py rows --into {into}")
    assert (kept / "headers").read_text() == "sources\n"
    assert not (kept / SDIST).exists(), "only the headers are worth their room"
    assert {path.name for path in into.iterdir()} == {
        *("libpaceline_rows-1.so", "libpaceline_kernels-1.so"),
    }
    assert re.search(r"^Ready after \d+ s$", first.stderr, re.MULTILINE)
    assert not list(checkout.cache.glob("tmp*"))

    again = checkout.run()
    assert (again.returncode, again.stderr) == (7, "")
    assert checkout.kernel_calls() == []


def test_a_wheel_kept_from_before_has_no_sources_beside_it(checkout: Checkout) -> None:
    checkout.run()
    (checkout.root / "pyproject.toml").write_text(PYPROJECT.replace("numpy", "scipy"))
    result = checkout.run()
    assert "compiled earlier" in result.stderr
    (call,) = checkout.kernel_calls()
    assert "--sdist" not in call
    assert f"--shelf {shelf(checkout)}" in call


@pytest.mark.parametrize(
    "file",
    [
        *("app/kernels/matmul.cpp", "app/kernels/rows/rows.cpp"),
        *(f"app/paceline/installation/{name}.py" for name in MODULES),
    ],
)
def test_changed_sources_compile_the_kernels_alone(checkout: Checkout, file: str) -> None:
    checkout.run()
    before = stamp(checkout)
    (checkout.root / file).write_text("// changed\n")
    result = checkout.run()
    assert result.returncode == 7
    assert len(checkout.kernel_calls()) == 1
    assert checkout.pip_calls() == []
    after = stamp(checkout)
    assert after.pop("kernels") != before.pop("kernels")
    assert after == before
    checkout.run()
    assert checkout.kernel_calls() == []


def test_an_environment_from_before_gets_the_kernels(checkout: Checkout) -> None:
    checkout.run()
    old = stamp(checkout)
    del old["kernels"]
    (checkout.venv / "paceline-stamp.json").write_text(json.dumps(old))
    assert checkout.run().returncode == 7
    assert len(checkout.kernel_calls()) == 1
    assert checkout.pip_calls() == []


def test_a_failure_is_one_line_and_harmless(checkout: Checkout) -> None:
    words = "x.cpp:1:1: error: expected ';'"
    result = checkout.run("--version", FAKE_FAIL="build_kernels.py kernels", FAKE_WORDS=words)
    assert (result.returncode, result.stdout) == (7, "paceline --version\n")
    assert "\nGoing on with llama.cpp's kernels: the last line\n" in result.stderr
    assert "sampling" not in result.stderr
    assert len(checkout.rows_calls()) == 1
    assert words not in result.stderr
    (log,) = checkout.cache.glob("kernels-*.log")
    assert f"(log: {log})" in result.stderr
    assert words in log.read_text()
    again = checkout.run()
    assert (again.returncode, again.stderr, checkout.kernel_calls()) == (7, "", [])


def test_without_the_library_for_sampling_the_kernels_are_built(checkout: Checkout) -> None:
    result = checkout.run("--version", FAKE_FAIL="build_kernels.py rows", FAKE_WORDS="why")
    assert (result.returncode, result.stdout) == (7, "paceline --version\n")
    said = "\nGoing on with sampling in Python, which is slower: the last line\n"
    assert said in result.stderr
    assert "llama.cpp's kernels" not in result.stderr
    assert len(checkout.kernel_calls()) == 1


def test_a_busy_cache_is_harmless_and_made_up_for(checkout: Checkout) -> None:
    checkout.run()
    (checkout.root / "app" / "kernels" / "matmul.cpp").write_text("int y;\n")
    with (checkout.cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = checkout.run()
    assert busy.returncode == 7
    assert "Going on without Paceline's kernels: Another bootstrap is at work" in busy.stderr
    assert checkout.kernel_calls() == []
    checkout.run()
    assert len(checkout.kernel_calls()) == 1


def test_a_cache_that_cannot_be_written_is_harmless(checkout: Checkout) -> None:
    checkout.run()
    (checkout.root / "app" / "kernels" / "matmul.cpp").write_text("int y;\n")
    (checkout.cache / "lock").unlink()
    (checkout.cache / "lock").mkdir()
    result = checkout.run()
    assert result.returncode == 7
    assert "Going on without Paceline's kernels: " in result.stderr
    assert str(checkout.cache / "lock") in result.stderr


def test_an_interrupted_build_leaves_the_installation_whole(checkout: Checkout) -> None:
    checkout.run()
    known = stamp(checkout)
    known["kernels"] = "another"
    (checkout.venv / "paceline-stamp.json").write_text(json.dumps(known))
    python = ["--python", str(checkout.python)]
    prelude = "import tempfile; tempfile.TemporaryDirectory = lambda **_: (_ for _ in ()).throw("
    stopped = checkout.start(*python, "run", prelude=prelude + "KeyboardInterrupt)")
    assert stopped.returncode == 130
    assert "the next start goes on from here" in stopped.stderr
    assert checkout.run().returncode == 7
    assert len(checkout.kernel_calls()) == 1
    assert checkout.pip_calls() == []


def test_the_digest_is_about_content(checkout: Checkout) -> None:
    digest = load_script().kernels_digest
    first = digest(checkout.root)
    assert digest(checkout.root) == first
    (checkout.root / "app" / "kernels" / "README.md").write_text("text")
    assert digest(checkout.root) == first
    (checkout.root / "app" / "kernels" / "simd.h").write_text("int y;\n")
    assert digest(checkout.root) != first

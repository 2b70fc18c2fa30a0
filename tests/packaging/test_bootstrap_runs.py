"""Whole runs of the script that sets a checkout up, good ones and every known failure."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stand_ins import PYPROJECT, Checkout, sentence, write_script

PYTEST = "pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder"
ALONE = "pytest --last-failed --last-failed-no-failures none"
# What pytest does: it writes down what failed. Beside others a test fails, or all of it crashes.
FAILS_BESIDE_OTHERS = """
PATH=/usr/bin:/bin; cache=.pytest_cache/v/cache; mkdir -p $cache
echo '{"tests/a.py::b": true}' > $cache/lastfailed
case "$*" in *--last-failed*) exit 0 ;; esac; exit 1
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_first_run_installs_and_the_second_only_starts(checkout: Checkout) -> None:
    first = checkout.run("chat", "--prompt", "two words", CMAKE_ARGS="-DGGML_VULKAN=on")
    assert first.returncode == 7  # the program's own
    assert first.stdout == "paceline chat --prompt two words\n"
    newer, fetch, wheel, *installs = checkout.pip_calls()
    assert newer == "install --retries=0 --upgrade pip"
    assert fetch.startswith("download ")
    assert fetch.endswith("llama-cpp-python==9.9")
    assert wheel.startswith("wheel ")
    assert wheel.endswith("/build/src/llama_cpp_python-9.9")
    assert "/build/obj " in wheel, "a compiler cache finds again what has the same path"
    assert "--no-cache-dir" in wheel
    assert re.search(r"install --no-deps --force-reinstall .*/cache/.*\.whl$", installs[0])
    assert installs[1].endswith("llama-cpp-python==9.9 numpy")
    assert installs[1].startswith("install --only-binary=llama-cpp-python "), "compiled at once"
    assert installs[2] == f"install --no-deps --editable {checkout.root}"
    assert "-DLLAVA_BUILD=OFF" in checkout.calls.read_text()
    assert "-DGGML_VULKAN=on jobs=" in checkout.calls.read_text()
    assert not list(checkout.cache.glob("tmp*"))

    started = time.monotonic()
    second = checkout.run("--version", CMAKE_ARGS="-DGGML_VULKAN=on")
    assert time.monotonic() - started < 30
    assert (second.returncode, second.stdout) == (7, "paceline --version\n")
    assert (checkout.pip_calls(), second.stderr) == ([], "")


def test_a_checkout_that_cannot_be_written_to_starts_what_it_has(checkout: Checkout) -> None:
    python = ("--python", str(checkout.python))
    # Root, as whom tests may run, is never told that a folder is read-only but by its disk.
    as_read_only = "import os; os.access = lambda *_: False"
    missing = checkout.start(*python, "run", prelude=as_read_only, FAKE_FAIL=" venv ")
    assert missing.returncode == 1  # there is nothing to start
    checkout.run()
    stale = checkout.start(*python, "run", "chat", prelude=as_read_only, CMAKE_ARGS="-DOTHER=1")
    assert (stale.returncode, stale.stdout) == (7, "paceline chat\n")
    assert "cannot be written to" in stale.stderr
    assert checkout.pip_calls() == []
    wanted = checkout.start(*python, "--rebuild", "run", prelude=as_read_only)
    assert wanted.returncode == 7
    assert checkout.pip_calls()


def test_ctrl_c_is_held_back_for_the_program(checkout: Checkout) -> None:
    checkout.run()
    tell = f"#!{sys.executable}\nimport signal; print(signal.pthread_sigmask(0, []))"
    write_script(checkout.venv / "bin" / "paceline", tell)
    assert "SIGINT" in checkout.run().stdout


def test_other_flags_are_another_wheel_and_the_old_one_is_kept(checkout: Checkout) -> None:
    checkout.run()
    checkout.run(CMAKE_ARGS="-DGGML_CUDA=on")
    assert any(call.startswith("wheel ") for call in checkout.pip_calls())
    back = checkout.run()
    assert "compiled earlier" in back.stderr
    assert not any(call.startswith("wheel ") for call in checkout.pip_calls())
    assert any("--force-reinstall" in call for call in checkout.pip_calls())
    assert len(list(checkout.cache.glob("*/*.whl"))) == 2


def test_the_checks_run_to_the_end_and_fail_together(checkout: Checkout) -> None:
    python = ["--python", str(checkout.python)]
    good = checkout.start(*python, "test", "-k", "plot")
    assert good.returncode == 0
    first = next(line for line in good.stderr.splitlines() if line.startswith("All checks"))
    assert re.search(r"take about \d+ min on \d quiet cores?; less with a part", first)
    assert good.stdout.splitlines() == [
        "ruff check .",
        "ruff format --check .",
        "mypy ",
        "lint-imports ",
        f"{PYTEST} -k plot",
    ]
    installs = checkout.pip_calls()
    assert any(
        call.startswith("install --no-compile ") and call.endswith("numpy pytest")
        for call in installs
    )
    assert installs[-1] == f"install --no-deps --no-build-isolation --editable {checkout.root}"
    assert checkout.run().returncode == 7
    assert checkout.pip_calls() == []  # what the checks need is more than what a start needs

    bad = checkout.start(*python, "--rebuild", "test", FAKE_UNTYPED="1")
    assert bad.returncode == 1
    assert bad.stdout.splitlines()[-1] == PYTEST
    assert "failed: mypy" in bad.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("pytest_does", "words", "code", "is_alone"),
    [
        (FAILS_BESIDE_OTHERS, [], 0, True),
        (FAILS_BESIDE_OTHERS, ["--long"], 0, True),
        (FAILS_BESIDE_OTHERS, ["-k", "plot"], 1, False),
        (FAILS_BESIDE_OTHERS.replace("exit 0", "exit 1"), [], 1, True),
        (FAILS_BESIDE_OTHERS.replace("exit 1", "exit 2"), [], 1, False),
        (FAILS_BESIDE_OTHERS.replace(": true", ': 1, "c": 1, "d": 1, "e": 1'), [], 1, False),
        ("exit 1", [], 1, False),
    ],
    ids=["passes alone", "long", "a part", "fails alone", "crashes", "many", "unknown"],
)
def test_what_fails_beside_others_is_tried_alone(
    checkout: Checkout, pytest_does: str, words: list[str], code: int, is_alone: bool
) -> None:
    python = ["--python", str(checkout.python)]
    done = checkout.start(*python, "test", *words, FAKE_PYTEST=pytest_does)
    assert done.returncode == code
    assert ((" ".join([ALONE, *words])) in done.stdout.splitlines()) == is_alone
    assert ("tests before them: tests/a.py::b" in done.stderr) == (code == 0)
    assert ("--- failed: pytest" in done.stderr.splitlines()[-1]) == (code == 1)


def test_all_tests_are_told_to_take_longer(checkout: Checkout) -> None:
    python = ["--python", str(checkout.python)]
    minutes = []
    for words in ([], ["--long"]):
        told = checkout.start(*python, "test", *words)
        assert told.stdout.splitlines()[-1] == " ".join([PYTEST, *words])
        found = re.search(r"take about (\d+) min on \d quiet cores?\.$", told.stderr, re.MULTILINE)
        assert found is not None, told.stderr
        minutes.append(int(found[1]))
    assert minutes[0] < minutes[1]


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_the_stamp_says_which_files_passed_all_checks(checkout: Checkout) -> None:
    git = str(shutil.which("git"))
    (checkout.tools / "git").symlink_to(git)
    (checkout.root / ".gitignore").write_text(".venv/\n__pycache__/\n")
    who = ["-c", "user.name=A Person", "-c", "user.email=person@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "Words"]):
        subprocess.run([git, "-C", str(checkout.root), *words], check=True)
    command = [git, "-C", str(checkout.root), "rev-parse", "HEAD^{tree}"]
    tree = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    stamp = checkout.venv / "paceline-stamp.json"

    def tested(*words: str, **variables: str) -> object:
        checkout.start("--python", str(checkout.python), "test", *words, **variables)
        return json.loads(stamp.read_text("utf-8")).get("tested")

    assert tested(FAKE_PYTEST="exit 1") is None
    checkout.venv.joinpath("bin", "pytest").write_text("#!/bin/sh\n")
    assert tested("-k", "plot") is None
    (checkout.root / "new.py").write_text("")
    assert tested() is None
    (checkout.root / "new.py").unlink()
    assert tested() == tree


def test_what_the_checks_need_stays_after_a_change(checkout: Checkout) -> None:
    checkout.start("--python", str(checkout.python), "test")
    (checkout.root / "pyproject.toml").write_text(PYPROJECT.replace("numpy", "scipy"))
    checkout.run()
    assert any(call.endswith("scipy pytest") for call in checkout.pip_calls())


@pytest.mark.parametrize("damage", ["unfinished", "no python", "no pip", "moved"])
def test_a_broken_environment_is_made_again(checkout: Checkout, damage: str) -> None:
    checkout.run()
    stamp = checkout.venv / "paceline-stamp.json"
    old = checkout.venv / "old"
    old.mkdir()
    if damage == "unfinished":
        stamp.write_text('{"unfinished": true}')
    elif damage == "no python":
        (checkout.venv / "bin" / "python").unlink()
    elif damage == "no pip":
        stamp.unlink()
        write_script(checkout.venv / "bin" / "python", "#!/bin/sh\n[ $# = 3 ] && echo 3.12.4\n")
    else:
        stamp.write_text(json.dumps({**json.loads(stamp.read_text()), "folder": "/x", "key": ""}))
    again = checkout.run()
    assert again.returncode == 7, again.stderr
    assert not old.exists()
    assert not any(call.startswith("wheel") for call in checkout.pip_calls())


def test_where_there_is_no_newer_pip_the_old_one_serves(checkout: Checkout) -> None:
    result = checkout.run(FAKE_FAIL="--upgrade pip", FAKE_WORDS="No matching distribution found")
    assert result.returncode == 7, result.stderr


def test_a_failed_installation_is_made_up_for(checkout: Checkout) -> None:
    words = "NewConnectionError: Failed to establish a new connection: [Errno 101]"
    bad = checkout.run(FAKE_FAIL="--find-links", FAKE_WORDS=words)
    assert "network cannot be reached" in sentence(bad)
    assert "Installing the packages failed" in sentence(bad)
    good = checkout.run()
    assert good.returncode == 7
    assert not any(call.startswith("wheel") for call in checkout.pip_calls())


@pytest.mark.parametrize(
    ("fail", "words", "expected"),
    [
        (" download ", "NewConnectionError: [Errno 101]", "Fetching llama-cpp-python failed"),
        (" wheel ", "x.cpp:1:1: error: expected ';'", "its last lines say why"),
        (" wheel ", "c++: fatal error: Killed signal terminated program", "memory"),
        (" wheel ", "[Errno 28] No space left on device", "disk is full"),
        ("-m venv", "Error: [Errno 13] Permission denied", "may not be written"),
        ("import llama_cpp", "OSError: libgomp.so.1: cannot open", "Loading llama.cpp"),
    ],
)
def test_a_failing_step_shows_its_log(
    checkout: Checkout, fail: str, words: str, expected: str
) -> None:
    result = checkout.run(FAKE_FAIL=fail, FAKE_WORDS=words)
    last = sentence(result)
    assert expected in last
    assert f"  | {words}\n  | the last line\n" in result.stderr
    log = re.search(r"The whole log is (\S+)\.$", last)
    assert log is not None
    assert words in Path(log[1]).read_text()
    assert not list(checkout.cache.glob("*/*.whl")) or fail == "import llama_cpp"


def test_no_compiler(checkout: Checkout) -> None:
    (checkout.tools / "c++").unlink()
    assert "install GCC or Clang" in sentence(checkout.run())
    write_script(checkout.tools / "dnf", "#!/bin/sh\n")
    assert "`sudo dnf install gcc-c++`" in sentence(checkout.run())


def test_missing_libraries_are_named_and_the_start_continues(checkout: Checkout) -> None:
    write_script(checkout.tools / "dpkg-query", "#!/bin/sh\necho libgl1 installed\n")
    result = checkout.run()
    assert result.returncode == 7
    assert "sudo apt-get install libegl1 libxkbcommon0 " in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="apt is only called as root")
def test_root_installs_what_is_missing(checkout: Checkout) -> None:
    gcc = (checkout.tools / "c++").rename(checkout.tools / "gcc-package")
    write_script(checkout.tools / "dpkg-query", "#!/bin/sh\necho libgl1 installed\n")
    (checkout.tools / "sh").symlink_to("/bin/sh")
    apt = '#!/bin/sh\necho "apt $*" >> "$FAKE_CALLS"\n'
    apt += f'[ "$6" != g++ ] || /bin/cp {gcc} {gcc.parent}/c++\n'
    write_script(checkout.tools / "apt-get", apt)
    result = checkout.run()
    assert result.returncode == 7, result.stderr
    calls = [line for line in checkout.calls.read_text().splitlines() if line.startswith("apt ")]
    assert [line.split()[3] for line in calls] == ["update", "install"] * 2
    assert calls[1].endswith(" g++"), "what everything else needs comes first"


def test_no_space(checkout: Checkout) -> None:
    python = ["--python", str(checkout.python)]
    full = "import shutil; shutil.disk_usage = lambda place: shutil._ntuple_diskusage(9, 9, {})"
    result = checkout.start(*python, "run", prelude=full.format("5 * 10**8"))
    assert re.search(
        r"environment needs 1.5 GB, and .* has 0.5 GB free: make room", sentence(result)
    )
    cache_only = full.format("5 * 10**8 if 'cache' in str(place) else 10**12")
    result = checkout.start(*python, "run", prelude=cache_only)
    assert "Compiling llama.cpp needs 1.0 GB" in sentence(result)
    assert "PACELINE_WHEEL_CACHE" in sentence(result)


def test_two_at_once(checkout: Checkout) -> None:
    checkout.venv.mkdir()
    with (checkout.venv / "paceline.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "Another bootstrap is at work" in sentence(checkout.run())
    assert checkout.run().returncode == 7


def test_a_folder_with_other_things_is_left_alone(checkout: Checkout, tmp_path: Path) -> None:
    thesis = tmp_path / "documents" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("x")
    words = ["--rebuild", "--venv", str(thesis.parent), "--python", str(checkout.python), "run"]
    assert "--venv DIR" in sentence(checkout.start(*words))
    assert thesis.exists()


@pytest.mark.parametrize("python", ["/bin/false", "/no/such/python"])
def test_an_unusable_python(checkout: Checkout, python: str) -> None:
    assert f"{python} is no Python 3.11" in sentence(checkout.start("--python", python, "run"))


def test_a_python_that_cannot_make_environments(checkout: Checkout) -> None:
    result = checkout.run(FAKE_FAIL="ensurepip")
    assert "`sudo apt-get install python3.12-venv`" in sentence(result)


def test_folders_that_cannot_be_written(checkout: Checkout, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert str(file) in sentence(checkout.run(PACELINE_WHEEL_CACHE=str(file / "wheels")))
    words = ["--venv", str(file / "venv"), "--python", str(checkout.python), "run"]
    assert str(file) in sentence(checkout.start(*words))


def test_a_damaged_project_file(checkout: Checkout) -> None:
    for text in ("[project", "", PYPROJECT.replace("==9.9", "")):
        (checkout.root / "pyproject.toml").write_text(text)
        assert "pyproject.toml is damaged" in sentence(checkout.run())

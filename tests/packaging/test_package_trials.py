"""The trials of whole packages: what counts as a failure, and what is said of it.

The trials themselves are run by hand: they need packages, root's rights and minutes.
"""

from __future__ import annotations

import io
import os
import sys
import tarfile
from pathlib import Path

import pytest

import try_packages
from package_trials import clean, opened
from package_trials.packages import Packages, found_in
from package_trials.programs import Ended, Program, left_over, refusal
from package_trials.report import CannotTryError, Report, TrialError, expect
from package_trials.screen import n_replies, rows

REPOSITORY = Path(__file__).resolve().parents[2]
STEP = 'print(\'{"event": "step", "tokens": [1]}\', flush=True)'
FINISHED = (
    f'{STEP}; print(\'{{"event": "finished", "tokens": [1, 2], "text": "ab", "stats": {{}}}}\')'
)


def program(code: str) -> Program:
    """A program that stands in the package's place."""
    return Program((sys.executable, "-c", code), {"PATH": os.environ["PATH"]})


# --------------------------------------------------------------------------------------- report


def test_a_case_is_a_line_and_its_failure_is_kept() -> None:
    lines: list[str] = []
    report = Report("homes", lines.append)
    with report.case("good") as case:
        case.figure = "3 tokens"
    with report.case("bad"):
        expect(False, "an empty text")
    with report.case("worse"):
        raise FileNotFoundError(2, "No such file", "x")
    assert [line.split("; ", 1)[1] for line in lines] == [
        "3 tokens; pass",
        "FAILED: an empty text",
        "FAILED: FileNotFoundError: [Errno 2] No such file: 'x'",
    ]
    assert lines[0].startswith("homes: good: 0.")
    assert report.failed == ["homes: bad", "homes: worse"]
    assert report.n_cases == 3


def test_what_cannot_be_tried_ends_the_trial() -> None:
    report = Report("old", lambda _line: None)
    with pytest.raises(CannotTryError), report.case("x"):
        raise CannotTryError("Install qemu-user-static.")
    assert report.failed == []


# -------------------------------------------------------------------------------------- programs


@pytest.mark.parametrize(
    ("ended", "instead"),
    [
        (Ended(0, "fine", "", 1.0), "in place of a refusal"),
        (Ended(1, "", "Traceback (most recent call last):\nValueError: x\n", 1.0), "a traceback"),
        (Ended(1, "", "\n", 1.0), "without a word"),
        (Ended(-6, "", "Aborted\n", 1.0), "exit code -6: Aborted"),
    ],
    ids=["no refusal", "traceback", "silence", "crash"],
)
def test_a_refusal_is_one_sentence(ended: Ended, instead: str) -> None:
    assert refusal(Ended(1, "", "a remark\npaceline: No home.\n", 1.0)) == "paceline: No home."
    with pytest.raises(TrialError, match=instead):
        refusal(ended)


def test_a_reply_is_read_as_it_comes() -> None:
    reply = program(FINISHED).chat()
    assert (reply.tokens, reply.text) == ((1, 2), "ab")
    assert reply.first_s > 0


@pytest.mark.parametrize(
    ("code", "instead"),
    [
        ("import sys; sys.exit('paceline: no room')", "exit code 1: paceline: no room"),
        (STEP, "exit code 0"),
        (f"{FINISHED}; import os; os.abort()", "exit code -6"),
    ],
    ids=["refusal", "no end", "crash at the end"],
)
def test_what_is_no_reply(code: str, instead: str) -> None:
    with pytest.raises(TrialError, match=instead):
        program(code).chat()


def test_a_program_without_an_end() -> None:
    for run in (Program.run, Program.chat):
        with pytest.raises(TrialError, match="no end after 0 s"):
            run(program("import time; time.sleep(60)"), limit_s=0.2)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_processes_of_a_home_are_found(tmp_path: Path) -> None:
    sleeper = Program(
        (sys.executable, "-c", "print(flush=True); import time; time.sleep(60)"),
        {"PACELINE_HOME": str(tmp_path)},
    )
    with sleeper.started() as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert left_over(tmp_path) == [process.pid]
    assert left_over(tmp_path) == []


# -------------------------------------------------------------------------------------- packages


def archive(folder: Path, version: str) -> Path:
    """A small archive of the shape that packages have."""
    name = f"paceline-{version}-linux-x86_64"
    path = folder / f"{name}.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for part, size in (
            ("paceline", 10),
            ("lib/paceline", 3_000_000),
            ("lib/_internal/paceline/_kernels/libpaceline_kernels-0123.so", 20),
            ("lib/_internal/llama_cpp/lib/libllama.so.0", 2_000_000),
        ):
            member = tarfile.TarInfo(f"{name}/{part}")
            member.size = size
            tar.addfile(member, io.BytesIO(bytes(size)))
    return path


def test_packages_are_found_the_newest_last(tmp_path: Path) -> None:
    with pytest.raises(CannotTryError, match=r"build\.py"):
        Packages(tmp_path)
    for version in ("0.10.0", "0.9.1"):
        archive(tmp_path, version)
    packages = Packages(tmp_path)
    assert packages.versions == ["0.9.1", "0.10.0"]
    assert packages.archive().name == "paceline-0.10.0-linux-x86_64.tar.gz"
    with pytest.raises(CannotTryError, match="deb"):
        _ = packages.deb
    for name in ("paceline_0.9.1_amd64.deb", "paceline_0.10.0_amd64.deb"):
        (tmp_path / name).write_bytes(bytes(1_500_000))
    assert packages.deb.name == "paceline_0.10.0_amd64.deb"
    told = clean.sizes(packages)
    assert told.startswith("folder 5 MB, ")
    assert "paceline_0.10.0_amd64.deb 2 MB, lib/paceline 3.0, llama_cpp/lib 2.0" in told


def test_an_archive_is_unpacked_as_a_whole(tmp_path: Path) -> None:
    archive(tmp_path, "0.9.1")
    unpacked = Packages(tmp_path).unpacked(tmp_path, "0.9.1")
    assert unpacked.program == tmp_path / "paceline-0.9.1-linux-x86_64" / "paceline"
    assert unpacked.kernels.name == "libpaceline_kernels-0123.so"
    assert unpacked.inner.stat().st_size == 3_000_000
    unpacked.kernels.unlink()
    with pytest.raises(CannotTryError, match="no own kernels"):
        found_in(unpacked.program.parent)


# ------------------------------------------------------------------------------------ the trials


def told(**more: str) -> dict[str, str]:
    """Texts of an opener that got nothing of the package."""
    usual = {"environment": "HOME=/home/x\n", "libraries": "libc.so.6 => /lib/libc.so.6\n"}
    return {**usual, **more}


@pytest.mark.parametrize(
    ("texts", "before", "instead"),
    [
        (told(environment="QT_PLUGIN_PATH=/opt/p/lib\n"), "", "folder in QT_PLUGIN_PATH"),
        (told(environment="_PYI_ARCHIVE_FILE=x\n"), "", "_PYI_ARCHIVE_FILE"),
        (told(environment="LD_LIBRARY_PATH=/else\n"), "", "LD_LIBRARY_PATH=/else"),
        (told(), "/mine", "LD_LIBRARY_PATH=None"),
        (told(libraries="libssl.so.3 => /opt/p/lib/libssl.so.3"), "", "libraries of the package"),
    ],
    ids=["a folder", "a variable", "a path", "the user's path", "a library"],
)
def test_an_opened_program_gets_nothing_of_the_package(
    texts: dict[str, str], before: str, instead: str
) -> None:
    opened.check(told(), "/opt/p", "")
    opened.check(told(environment="LD_LIBRARY_PATH=/mine\n"), "/opt/p", "/mine")
    with pytest.raises(TrialError, match=instead):
        opened.check(texts, "/opt/p", before)


def test_chats_that_are_not_there_yet_are_none(tmp_path: Path) -> None:
    chats = tmp_path / "chats.db"
    assert n_replies(chats) == 0
    chats.write_bytes(b"")
    assert rows(chats, "SELECT 1 FROM runs") == []
    chats.write_bytes(b"This is no database at all, and long enough to be read as one." * 20)
    with pytest.raises(TrialError, match="damaged"):
        n_replies(chats)


def test_a_trial_that_fails_is_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def trial(_packages: Packages, report: Report, _options: object) -> None:
        with report.case("x"):
            raise TrialError("nothing came")

    archive(tmp_path, "0.9.1")
    monkeypatch.setattr(try_packages, "TRIALS", {"homes": trial})
    assert try_packages.main(["homes", "--packages", str(tmp_path)]) == 1
    assert capsys.readouterr().out.endswith("FAILED: nothing came\nFAILED: homes: x\n")

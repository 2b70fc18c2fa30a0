"""Odd homes and environments: the program works in each, or says in one sentence why not.

All are tried as an ordinary user without an entry in /etc/passwd, on a package that root has
unpacked, so that its folder is read-only.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from package_trials import kills
from package_trials.packages import Packages, Unpacked, moved
from package_trials.programs import GREEDY, PROMPT, USER, Program, environment, refusal
from package_trials.report import Report, TrialError, expect
from package_trials.roots import check_rights
from package_trials.screen import n_replies, rows, screen, window

ODD = "Käthes Modelle, größer & schöner"
_MISSING = {
    "no /proc": "mount -t tmpfs none /proc",
    "no /dev/shm": "mount -t tmpfs -o ro,mode=0000 none /dev/shm",
    "no folder for temporary files": "mount -t tmpfs -o ro,mode=0555 none /tmp && "
    "mount -t tmpfs -o ro,mode=0555 none /var/tmp",
}
_HOSTILE = "raise SystemExit('A Python of the user was found.')\n"


def run(packages: Packages, report: Report, n_kills: int) -> None:
    """Try them all.

    Args:
        packages: The packages to try.
        report: Takes the cases.
        n_kills: Number of times that a process is killed at a random moment.

    Raises:
        CannotTryError: Something is missing.
    """
    check_rights()
    with tempfile.TemporaryDirectory(prefix="paceline-trials-") as name:
        scratch = Path(name)
        unpacked = packages.unpacked(scratch)
        program = str(unpacked.program)
        _variables(report, program, scratch)
        _folders(report, program, scratch)
        _without(report, program, scratch)
        _full_disk(report, program, scratch)
        kills.run(report, Program((program,), environment(own(scratch / "killed")), USER), n_kills)
        _paths(report, unpacked, scratch)


def own(folder: Path, user: int = USER, mode: int = 0o755) -> Path:
    """Make a folder that belongs to a user."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chown(folder, user, user)
    folder.chmod(mode)
    return folder


def behaved(program: Program) -> str:
    """Let it reply; returns "replied", or the sentence by which it refuses.

    Raises:
        TrialError: Neither.
    """
    ended = program.run("chat", "--prompt", PROMPT, *GREEDY)
    return "replied" if ended.code == 0 else refusal(ended)


def pictured(program: Program, out: Path) -> str:
    """Let it take its picture.

    Raises:
        TrialError: There is none.
    """
    ended = program.run("--smoke-test", str(out))
    expect(ended.code == 0, ended.last_words)
    told = json.loads(ended.out.splitlines()[-1])
    expect(out.stat().st_size > 10_000, "an empty picture")
    return f"picture, {told['n_drafted']} drafted, {told['n_accepted']} accepted"


# ------------------------------------------------------------------------------------ variables


def _variables(report: Report, program: str, scratch: Path) -> None:
    home = own(scratch / "variables")
    usual = Program((program,), environment(home), USER)
    with report.case("an ordinary user, a read-only program folder"):
        first = usual.chat()
    for name, more in _languages().items():
        with report.case(name):
            env = {**environment(home, LANG=""), **more}
            same = replace(usual, env=env).chat().tokens == first.tokens
            expect(same, "another text")
    with report.case("a prompt with umlauts, LANG=C"):
        usual_env = environment(home, LANG="C")
        text = replace(usual, env=usual_env).chat("--raw", prompt="Größe: „ß“ — 漢字").text
        expect(bool(text), "an empty text")
    nonsense = _nonsense(own(scratch / "nonsense"))
    hostile = replace(usual, env={**usual.env, **nonsense})
    with report.case("variables of another Python, of other libraries and plug-ins: `chat`"):
        expect(hostile.chat().tokens == first.tokens, "another text")
    with report.case("the same: --smoke-test") as case:
        case.figure = pictured(hostile, home / "hostile.png")


def _languages() -> dict[str, Mapping[str, str]]:
    return {
        "LANG=C": {"LANG": "C"},
        "no LANG": {},
        "LANG=de_DE.UTF-8 without that locale": {"LANG": "de_DE.UTF-8"},
        "LC_ALL=xx_YY": {"LC_ALL": "xx_YY"},
    }


def _nonsense(folder: Path) -> dict[str, str]:
    """Return variables that lead to files which would end the program if it used them."""
    for module in ("paceline", "numpy", "sitecustomize", "encodings", "startup"):
        (folder / f"{module}.py").write_text(_HOSTILE)
    for library in ("libllama.so.0", "libQt6Core.so.6", "libpython3.11.so.1.0", "libssl.so.3"):
        (folder / library).write_bytes(b"This is no library.\n")
    (folder / "platforms").mkdir()
    for plugin in ("libqxcb.so", "libqoffscreen.so"):
        (folder / "platforms" / plugin).write_bytes(b"This is no plug-in.\n")
    here = str(folder)
    return {
        "PYTHONHOME": here,
        "PYTHONPATH": here,
        "PYTHONSTARTUP": str(folder / "startup.py"),
        "PYTHONUSERBASE": here,
        "LD_LIBRARY_PATH": here,
        "QT_PLUGIN_PATH": here,
        "VIRTUAL_ENV": here,
    }


# -------------------------------------------------------------------------------------- folders


def _folders(report: Report, program: str, scratch: Path) -> None:
    with report.case("PACELINE_HOME of another user: `chat`") as case:
        foreign = own(scratch / "foreign", user=0, mode=0o700)
        env = environment(own(scratch / "guest"), PACELINE_HOME=str(foreign))
        case.figure = behaved(Program((program,), env, USER))
    with report.case("PACELINE_HOME of another user: the window") as case:
        case.figure = _shown(Program((program,), env, USER))
    with _mounted(scratch / "read-only", "ro,mode=0755") as read_only:
        locked = Program((program,), environment(read_only), USER)
        with report.case("a read-only home: `chat`") as case:
            case.figure = behaved(locked)
        with report.case("a read-only home: `doctor` names it") as case:
            ended = locked.run("doctor")
            expect(ended.code in (0, 1), ended.last_words)
            expect(str(read_only) in ended.out, "no word of it")
            case.figure = f"exit code {ended.code}"
        with report.case("a read-only home: the window") as case:
            case.figure = _shown(locked)


def _shown(program: Program) -> str:
    """Open the window; returns what became of it: shown, or a refusal in a sentence."""
    with screen() as shown:
        on_screen = replace(program, env={**program.env, "DISPLAY": shown.display})
        try:
            with window(shown, on_screen) as opened:
                told = f"shown after {opened.mapped_s:.1f} s"
                code = opened.close()
                expect(code in (0, 130), f"{told}, then exit code {code}")
                return told
        except TrialError as error:
            if "exit code 1, paceline:" in str(error) or "exit code 1, Error:" in str(error):
                return str(error)
            raise


def _full_disk(report: Report, program: str, scratch: Path) -> None:
    with _mounted(scratch / "full", "size=24m,mode=1777") as full, screen() as shown:
        temporary = own(full / "tmp")
        env = environment(full, TMPDIR=str(temporary), DISPLAY=shown.display)
        chats = full / "paceline" / "data" / "chats.db"
        each = Program((program,), env, USER)
        with report.case("before the disk is full: a chat in the window"):
            with window(shown, each) as opened:
                opened.ask("What does the function len do?", chats)
                opened.close()
            before = sorted(rows(chats, "SELECT id, content FROM messages"))
            settings = (full / "paceline" / "config" / "settings.json").read_bytes()
        filler = full / "filler"
        with report.case("a full disk: `chat`") as case:
            _fill(filler)
            case.figure = behaved(each)
        name = "a full disk: another chat in the window"
        with report.case(name) as case, window(shown, each) as opened:
            shown.write("What does the function zip do?")
            shown.key("Return")
            expect_alive(opened.process, seconds=4.0)
            case.figure = f"shown after {opened.mapped_s:.1f} s"
            code = opened.close()
            expect(code in (0, 130), f"exit code {code}")
        with report.case("the disk has room again: nothing is lost") as case:
            filler.unlink()
            now = rows(chats, "SELECT id, content FROM messages")
            expect(set(before) <= set(now), f"{len(now)} messages, {len(before)} were there")
            kept = full / "paceline" / "config" / "settings.json"
            expect(bool(json.loads(kept.read_text())) and bool(settings), "no settings")
            expect(rows(chats, "PRAGMA integrity_check") == [("ok",)], "a damaged database")
            with window(shown, each) as opened:
                opened.ask("What does the function map do?", chats)
                opened.close()
            case.figure = f"{n_replies(chats)} replies"


def expect_alive(process: subprocess.Popen[str], seconds: float) -> None:
    """Fail where a program ends within some seconds.

    Raises:
        TrialError: It has ended.
    """
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
    raise TrialError(f"it has ended with exit code {code}")


def _fill(file: Path) -> None:
    """Write until the disk is full."""
    try:
        with file.open("wb", buffering=0) as out:
            while out.write(bytes(4096)):
                pass
    except OSError:  # which is the aim
        return


@contextmanager
def _mounted(place: Path, options: str) -> Iterator[Path]:
    """Mount a file system in memory."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


# -------------------------------------------------------------------------------- what is missing


def _without(report: Report, program: str, scratch: Path) -> None:
    home = own(scratch / "without")
    env = environment(home)
    bare = {name: text for name, text in env.items() if name == "PATH"}
    with report.case("no HOME and no PACELINE_HOME, a user whom the system does not know") as case:
        case.figure = behaved(Program((program,), bare, USER))
    with report.case("no HOME and no PACELINE_HOME: the window") as case:
        case.figure = _shown(Program((program,), bare, USER))
    for what, script in _MISSING.items():
        # What lies in a folder for temporary files is seen in another place, too.
        there = "/mnt" / Path(program).relative_to(scratch)
        words = (*_apart(f"mount --bind {scratch} /mnt && {script}"), str(there))
        apart = Program(words, environment("/mnt" / home.relative_to(scratch)))
        with report.case(f"{what}: `chat`") as case:
            case.figure = behaved(apart)
        if what != "no /proc":  # without which the engine's sentence is all that can be had
            with report.case(f"{what}: the window") as case:
                case.figure = _shown(apart)


def _apart(script: str) -> tuple[str, ...]:
    """Return the words that run a command as the user, after changes of what is mounted."""
    who = shlex.join(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"])
    return ("unshare", "--mount", "sh", "-c", f'{script} && exec {who} "$@"', "sh")


# ---------------------------------------------------------------------------------------- paths


def _paths(report: Report, unpacked: Unpacked, scratch: Path) -> None:
    links = own(scratch / "links")
    (links / "first").symlink_to(unpacked.program)
    (links / "second").symlink_to("first")
    env = environment(own(scratch / "linked"))
    with report.case("started through a link to a link"):
        Program((str(links / "second"),), env, USER).chat()
    with report.case("started through a link in PATH"):
        Program(("second",), {**env, "PATH": f"{links}:{env['PATH']}"}, USER).chat()
    odd_top = scratch / ODD
    odd_top.mkdir()
    program = str(moved(unpacked, odd_top / "Päceline 1").program)
    for name, home, named in (
        ("HOME", own(scratch / f"Heim {ODD}"), ""),
        ("PACELINE_HOME", own(scratch / "plain"), str(own(scratch / f"Eigenes {ODD}"))),
    ):
        odd = Program((program,), environment(home, PACELINE_HOME=named), USER)
        with report.case(f"blanks and umlauts in {name} and in the program's folder: `chat`"):
            odd.chat("--strategy", "draft")
        with report.case("the same: `doctor`"):
            ended = odd.run("doctor", "--json")
            expect(ended.code == 0, ended.last_words)
            expect(ODD in json.dumps(json.loads(ended.out), ensure_ascii=False), "other folders")
        with report.case("the same: --smoke-test") as case:
            case.figure = pictured(odd, home / "größer.png")
    shutil.rmtree(odd_top)

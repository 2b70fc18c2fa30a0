"""The test of a finished program, on a scripted stand-in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import smoke_test

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")

STAND_IN = """#!{python}
import http.server, json, os, pathlib, signal, sys

words, fault = sys.argv[1:], {fault!r}
home = pathlib.Path(os.environ["PACELINE_HOME"])
assert " " in str(home), home

def listen(**said):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(fault == "end" and 3))
    print(json.dumps({{"event": "mute" if fault == "serve" else "listening", **said}}), flush=True)

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        content = "" if fault == "empty" else "text"
        reply = {{"model": "m", "usage": {{"completion_tokens": 2}},
                 "choices": [{{"message": {{"content": content}}}}]}}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

if fault == "hang":
    print("half", flush=True)
    signal.pause()
if words == ["--version"]:
    print("paceline 1.2.3")
elif words[0] == "doctor":
    child = {{"name": "inspector", "starts": fault != "child", "seconds": 0.1, "error": "gone"}}
    pair = {{"target": {{"path": "t"}}, "draft": {{"path": "d"}}}}
    print(json.dumps({{"library": {{"cpu_variant": "zen4"}}, "demo_pair": pair,
        "kernels": {{"available": True, "proved": ["q8_0"], "refused": {{}}}}, "problems": [],
        "installation": "checkout" if fault == "bare" else "package, built 2026-11-30",
        "sampling": {{"choice": "python" if fault in ("slow", "bare") else "native",
                     "isa": "avx2", "reason": "Its library is damaged."}},
        "engine_process": {{"starts": True}}, "children": [child]}}))
elif "--json-schema" in words:
    print('{{"n": 3}}' if fault == "schema" else '{{"n": 1}}')
elif words[0] == "chat":
    off = words[words.index("--strategy") + 1] == "off"
    text = "another" if fault == "text" and off else "one"
    stats = {{"n_accepted": 1, "n_drafted": 2, "tokens_per_s": 3.0}}
    print(json.dumps({{"event": "finished", "text": text, "stats": stats}}))
elif words[:2] == ["pairs", "check"]:
    print(json.dumps({{"ok": True, "reasons": [{{"code": "vocabulary-fits"}}]}}))
elif words[0] == "hub":
    sys.stderr.write("paceline: it cannot be reached.\\n" * (1 + (fault == "hub")))
    sys.exit(1)
elif words[0] == "serve":
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    listen(url="http://127.0.0.1:%d" % server.server_port)
    server.serve_forever()
elif words[0] == "rpc-server":
    listen(endpoint="127.0.0.1:1", devices=["CPU"])
    signal.pause()
elif words[0] == "--smoke-test":
    size = 10 if fault == "picture" else 30000
    pathlib.Path(words[1]).write_bytes(b"\\x89PNG\\r\\n\\x1a\\n" + bytes(size))
    print(json.dumps({{"n_drafted": 2, "n_accepted": 1, "text": "x", "tokens_per_s": 9.0}}))
"""


def stand_in(folder: Path, fault: str = "") -> list[str]:
    program = folder / "stand-in"
    program.write_text(STAND_IN.format(python=sys.executable, fault=fault))
    program.chmod(0o755)
    return [str(program)]


def test_every_step_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert smoke_test.main(stand_in(tmp_path)) == 0
    told, errors = capsys.readouterr()
    assert [line[:20].strip() for line in told.splitlines()] == [*smoke_test.STEPS, "all"]
    said = "variant zen4; kernels: 1 of 1 proved; sampling: native, avx2; 1 child processes"
    assert said in told
    assert errors == ""


def test_what_is_no_package_may_sample_in_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert smoke_test.main(stand_in(tmp_path, "bare")) == 0
    assert "sampling: in Python;" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fault", "step", "words"),
    [
        ("child", "doctor", "gone"),
        ("slow", "doctor", "damaged"),
        ("text", "chat", "another"),
        ("schema", "chat --json-schema", "3"),
        ("hub", "hub search", "reached"),
        ("serve", "serve", "mute"),
        ("empty", "serve", "completion_tokens"),
        ("end", "serve", "code 3"),
        ("picture", "--smoke-test", "n_accepted"),
    ],
)
def test_the_first_step_that_fails_ends_it(
    fault: str, step: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert smoke_test.main(stand_in(tmp_path, fault)) == 1
    told, errors = capsys.readouterr()
    last = told.splitlines()[-1]
    assert last.startswith(f"{step} ".ljust(20))
    assert "FAILED" in last
    assert words in last + errors


def test_a_program_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert smoke_test.main([str(tmp_path / "absent")]) == 1
    assert "cannot be started" in capsys.readouterr().out


def test_one_that_hangs_is_ended_and_its_output_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smoke_test, "PATIENCE", 2.0)
    assert smoke_test.main(stand_in(tmp_path, "hang")) == 1
    told, errors = capsys.readouterr()
    assert "No end after 2 s" in told
    assert errors == "half\n\n"


def test_a_root_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        smoke_test.main(["--root", str(tmp_path / "absent"), "program"])
    assert "there is no folder" in capsys.readouterr().err


def test_a_command_of_several_words_may_have_another_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "tmp").mkdir(parents=True)
    enter = tmp_path / "enter"  # what chroot does for a program: its / is the root
    enter.write_text(
        f'#!/bin/sh\nshift\nexport PACELINE_HOME="{root}$PACELINE_HOME"\nprogram=$1\nshift\n'
        f'[ "$1" != --smoke-test ] || set -- --smoke-test "{root}$2"\nexec "$program" "$@"\n'
    )
    enter.chmod(0o755)
    assert smoke_test.main(["--root", str(root), str(enter), "x", *stand_in(tmp_path)]) == 0

"""Starts a child process: this program, with `CHILD` as its first argument.

Not by `multiprocessing`, which allows a child no children of its own, needs a current folder, keeps
a helper process, and runs a script that uses the engine once more.

The child's stdin is its end of the pipe, on Windows a description of it. The first frame names the
function to run (`child.run`).
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from paceline.installation.package import is_packaged

CHILD = "--child"
"""The argument by which `__main__` recognises a child; the child's name and its parent's process id
follow."""
_SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACEHUB_API_TOKEN")


def start(name: str, pipe: socket.socket, output: int) -> subprocess.Popen[bytes]:
    """Start a child, which dies on Linux with the thread that calls this.

    Args:
        name: Shown in lists of processes.
        pipe: The child's end of a socket pair; the caller closes it.
        output: File descriptor for all output.

    Raises:
        OSError: The system does not start another process.
    """
    on_windows = sys.platform == "win32"
    words, variables = _program()
    process = subprocess.Popen(
        [*words, CHILD, name, str(os.getpid())],
        stdin=subprocess.PIPE if on_windows else pipe.fileno(),
        stdout=output,
        stderr=output,
        start_new_session=True,  # Ctrl+C is for this process to act on
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows' way for the same
        env={
            **{key: text for key, text in os.environ.items() if key not in _SECRETS},
            **variables,
        },
    )
    if sys.platform == "win32":
        assert process.stdin is not None
        try:
            with process.stdin:
                process.stdin.write(pipe.share(process.pid))
        except OSError:
            process.kill()
            process.wait()
            raise
    return process


def _program() -> tuple[list[str], dict[str, str]]:
    """Return the command that starts this program, and its environment variables.

    A packaged program brings its modules, and looks for none elsewhere; a user's settings for other
    Pythons are passed on unchanged and unused.
    """
    if is_packaged():
        return [sys.executable], {}
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if sys.platform == "win32" and sys.executable != sys._base_executable:
        # A virtual environment's program starts another one, whose process id is not known here.
        program = sys._base_executable
        variables["__PYVENV_LAUNCHER__"] = sys.executable
    else:
        program = sys.executable
    return [program, "-P", "-m", "paceline"], variables


def fill_standard_streams() -> None:
    """Open the null device for each of stdin, stdout and stderr that the program lacks.

    Otherwise a pipe would get one of their numbers, and what is printed would go into it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # it stays open
    os.close(number)

"""Pictures of faults as the window reports them; each fault is real."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psutil import Process

from album.scenes import QUESTION
from album.studio import Studio

SMALL_DISK = "4m"


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a file system of a few MiB during a `with` block; yield whether that is allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(folder)]
    try:
        is_small = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        is_small = False
    try:
        yield is_small
    finally:
        if is_small:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def full_disk(studio: Studio) -> None:
    """No space for the chats, on a file system of its own; and room again."""
    if not studio.data_dir.is_mount():
        print("no file system can be mounted here: no picture of a full disk")
        return
    errors, program = studio.window.chat_pane.errors, studio.program
    rest = studio.data_dir / "rest"
    with rest.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    program.shown.new()
    program.chat.send(QUESTION)
    studio.until(errors.isVisible)
    studio.until_idle()
    studio.shoot("error-disk-full")
    rest.unlink()
    studio.until(errors.isHidden)


def broken_files(studio: Studio) -> None:
    """A model file that is broken, and one that is gone."""
    errors = studio.window.chat_pane.errors
    studio.program.shown.new()
    broken = studio.home / "broken.gguf"
    broken.write_bytes(b"GGUF\3\0\0\0 and then nothing")
    for name, path in (("corrupt-file", broken), ("no-file", studio.home / "gone.gguf")):
        studio.program.models.open_target(str(path))
        studio.until(errors.isVisible)
        studio.wait(300)
        studio.shoot(f"error-{name}")
        errors.dismiss()
    studio.until_ready()


def interrupted(studio: Studio) -> None:
    """The engine dies during a reply; the text stays, and its run shows the failure."""
    program, errors = studio.program, studio.window.chat_pane.errors
    program.shown.new()
    program.chat.send(QUESTION)
    studio.until(
        lambda: program.session.active is not None and len(program.session.active.text) > 300
    )
    _end_engine(studio)
    studio.shoot("error-engine-died")
    errors.dismiss()
    program.runs.open_last()
    studio.shoot_dialog("run-interrupted")
    program.models.reload()
    studio.until_ready()


def _end_engine(studio: Studio) -> None:
    for child in Process().children():
        if "resource_tracker" not in " ".join(child.cmdline()):
            child.kill()  # the engine's process and the inspector's
    studio.until(lambda: studio.program.pair.state.status == "dead")
    studio.wait(500)

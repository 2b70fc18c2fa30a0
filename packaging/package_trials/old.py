"""Old systems: processors without AVX2, which QEMU emulates, and a C library that is too old.

QEMU's user mode does not follow the `exec` by which PyInstaller's starter sets the loader's path: a
program that is merely started under it goes on natively. With three variables the starter takes
itself for the program that it would have started. Children of the emulated program would be native,
so the engine runs inside it.

/proc/cpuinfo is the host's even so. Each processor gets one with the flags that it has.
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from pathlib import Path
from shutil import which
from threading import Timer
from typing import NamedTuple

from package_trials.packages import Packages, Unpacked
from package_trials.programs import PROMPT, Program, environment, kill
from package_trials.report import CannotTryError, Report, expect
from package_trials.roots import USER_NAME, Root, check_rights, clean_root

QEMU = "qemu-x86_64-static"
LIMIT_S = 600.0
TOO_OLD = "bullseye"
"""Debian 11, whose C library is older than any that packages can be made for."""


class Processor(NamedTuple):
    """A processor that QEMU emulates.

    Attributes:
        name: QEMU's name of it.
        flags: The flags of /proc/cpuinfo that matter here.
        variant: CPU variant that llama.cpp must load; empty if the program must refuse to start.
        has_kernels: True if Paceline's own kernels compute on it.
    """

    name: str
    flags: str
    variant: str
    has_kernels: bool = False


_V2 = "fpu sse sse2 pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"
PROCESSORS = (
    Processor("core2duo", "fpu sse sse2 pni ssse3 cx16 lahf_lm", ""),
    Processor("Nehalem", _V2, "sse42"),
    Processor("SandyBridge", f"{_V2} avx", "sandybridge"),
    Processor("IvyBridge", f"{_V2} avx f16c", "ivybridge"),
    Processor("Haswell", f"{_V2} avx f16c fma bmi1 bmi2 avx2", "haswell", has_kernels=True),
)
"""x86-64-v1, v2, with AVX, with F16C as well, and one with AVX2 for comparison."""


def run(packages: Packages, report: Report, roots: Path) -> None:
    """Try every processor, and the C library.

    Raises:
        CannotTryError: QEMU is missing.
    """
    check_rights()
    qemu = which(QEMU)
    if qemu is None:
        raise CannotTryError("Install qemu-user-static.")
    with tempfile.TemporaryDirectory(prefix="paceline-trials-") as scratch:
        unpacked = packages.unpacked(Path(scratch))
        for each in PROCESSORS:
            program = emulated(unpacked, each, qemu, Path(scratch, each.name))
            if not each.variant:
                with report.case(f"{each.name}: one sentence") as case:
                    case.figure = program.refused("chat", "--prompt", PROMPT)
                continue
            with report.case(f"{each.name}: `chat` replies") as case:
                case.figure = _replied(program, each)
            if not each.has_kernels:
                with report.case(f"{each.name}: own kernels refuse themselves") as case:
                    words = ("--host", "inline", "--kernels", "own", "--prompt", PROMPT)
                    case.figure = program.refused("chat", *words, limit_s=LIMIT_S)
    with tempfile.TemporaryDirectory(prefix="paceline-trials-") as scratch:
        Path(scratch).chmod(0o755)
        with report.case(f"{TOO_OLD}: one sentence about the C library") as case:
            root = Root(clean_root(TOO_OLD, roots), Path(scratch, "root"), Path(scratch, "shared"))
            found = packages.unpacked(root.home)
            inside = Path("/home", USER_NAME, *found.program.parts[-2:])
            program = Program((*root.words(), str(inside)), environment(Path("/home", USER_NAME)))
            case.figure = program.refused("--version")
            expect("glibc" in case.figure or "C library" in case.figure, "another sentence")


def emulated(unpacked: Unpacked, processor: Processor, qemu: str, place: Path) -> Program:
    """Return the program on a processor, in a home of its own, which is made here."""
    place.mkdir()
    told = place / "cpuinfo"
    told.write_text(
        f"processor\t: 0\nmodel name\t: {processor.name}\nflags\t\t: {processor.flags}\n\n"
    )
    inner = str(unpacked.inner)
    variables = {
        "_PYI_ARCHIVE_FILE": inner,
        "_PYI_PARENT_PROCESS_LEVEL": "1",
        "LD_LIBRARY_PATH": str(unpacked.internal),
    }
    start = shlex.join([qemu, "-cpu", processor.name, inner])
    words = [f"{name}={shlex.quote(text)}" for name, text in variables.items()]
    script = f'mount --bind {told} /proc/cpuinfo && exec env {" ".join(words)} {start} "$@"'
    return Program(("unshare", "--mount", "sh", "-c", script, "sh"), environment(place))


def _replied(program: Program, processor: Processor) -> str:
    """Let it reply, and look which variant its process has in memory, and what draws tokens."""
    options = ("--host", "inline", "--strategy", "off", "--threads", "1", "--max-tokens", "8")
    words = ("chat", "--json", "--prompt", PROMPT, "--temperature", "0", *options)
    maps = ""
    lines: list[str] = []
    with program.started(*words) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        end = Timer(LIMIT_S, kill, (process,))
        end.start()
        for line in process.stdout:
            # Before the first step ggml has opened every variant, to choose one.
            maps += _memory_of(process.pid) if '"step"' in line else ""
            lines.append(line)
        end.cancel()
        code, said = process.wait(), process.stderr.read().strip()
    expect(code == 0 and bool(lines), f"exit code {code}: {said[-300:]}")
    last = json.loads(lines[-1])
    expect(last["event"] == "finished" and bool(last["tokens"]), f"no reply: {lines[-1][:200]}")
    variants = variants_in(maps)
    expect(variants == {processor.variant}, f"variant {', '.join(variants) or 'unknown'}")
    expect("libpaceline_rows-" in maps, "Python samples")
    stats = last["stats"]
    kernels = ", ".join(sorted(set(stats["kernels"].values())))
    expect(kernels == ("own" if processor.has_kernels else "stock"), f"kernels: {kernels}")
    return f"variant {processor.variant}, {kernels} kernels, {stats['tokens_per_s']:.1f} tokens/s"


def _memory_of(pid: int) -> str:
    """Return what a process has in memory; empty where it has ended."""
    try:
        return Path("/proc", str(pid), "maps").read_text()
    except OSError:
        return ""


def variants_in(maps: str) -> set[str]:
    """Return the variants of llama.cpp's code for the CPU that a process's memory map names."""
    return set(re.findall(r"libggml-cpu-(\w+)\.so", maps))

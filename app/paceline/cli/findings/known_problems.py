"""Known problems of some machines, recognised by facts alone; used by `doctor`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from paceline.figures import ServerProblem
from paceline.installation import gpu_starts, package, remedies

_PYSIDE = "PySide6-Essentials"
_LIBRARY = remedies.LIBRARY
_PROCESS = (
    "Look whether a security program or a limit on processes keeps Paceline from starting one, and "
    "whether the folder for temporary files has room."
)


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """The facts that the doctor found, as far as a problem can depend on them.

    Attributes:
        python: Version of the interpreter, e.g. (3, 11, 7).
        installed: Versions by distribution; None for what is not there.
        required_library: The version of llama-cpp-python that this program is made for; empty when
            the program was not installed as a package.
        library_error: Why the native library cannot be loaded; empty when it can.
        process_error: Why the engine's own process does not answer; empty when it does.
        system_info: The library's build flags in words.
        machine: The processor's architecture, e.g. "x86_64".
        supports_gpu: Whether the library can use a GPU of this machine.
        has_nvidia: Whether an NVIDIA driver is present.
        locked_folders: Folders that cannot be written to.
        missing_models: Files of the demo pair that are not there.
        silent: Other child processes that do not answer, with the reasons.
        lost_servers: RPC servers that were asked for and cannot be used.
        lost_starts: Number of starts of GPU drivers in a row that have not come back.
        no_gpus: Whether GPUs were left out for that from the beginning.
    """

    python: tuple[int, ...]
    installed: dict[str, str | None]
    required_library: str = ""
    library_error: str = ""
    process_error: str = ""
    system_info: str = ""
    machine: str = ""
    supports_gpu: bool = False
    has_nvidia: bool = False
    locked_folders: tuple[str, ...] = ()
    missing_models: tuple[str, ...] = ()
    lost_servers: tuple[ServerProblem, ...] = ()
    silent: Mapping[str, str] = field(default_factory=dict)
    lost_starts: int = 0
    no_gpus: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """One known problem and what to do about it."""

    code: str
    text: str
    remedy: str


def find(facts: ReportFacts) -> list[Problem]:
    """Return the problems of this machine, the worst first."""
    groups = _library(facts), _servers(facts), _window(facts), _files(facts), _speed(facts)
    return list(chain(*groups))


def _library(facts: ReportFacts) -> Iterator[Problem]:
    installed = facts.installed.get(_LIBRARY)
    is_driver = bool(facts.library_error and facts.lost_starts and not facts.no_gpus)
    if is_driver or facts.no_gpus:
        yield Problem(
            "gpu-driver",
            "A GPU's driver has ended or held llama.cpp where it starts; after "
            f"{gpu_starts.MAX_FAILED_STARTS} such starts in a row GPUs are left out.",
            "Update the driver. It is tried again when you have logged in anew, or once the file "
            f"{gpu_starts.noted_in()} is deleted.",
        )
    if facts.library_error:
        if not is_driver:
            yield Problem(
                "library-not-loaded",
                f"The native library cannot be loaded: {facts.library_error}",
                remedies.library_again(),
            )
    elif facts.process_error:
        yield Problem(
            "engine-process",
            f"The engine does not answer from a process of its own: {facts.process_error}",
            f"{_PROCESS} Meanwhile `paceline chat --host inline` works without it.",
        )
    else:
        for name, why in facts.silent.items():
            text = f"The process {name} does not answer: {why.rstrip('.')}."
            yield Problem("child-process", text, _PROCESS)
    # What stands after the +, as in "0.3.36+cu124", names the build of a version.
    of = (installed or "").partition("+")[0]
    if installed and facts.required_library and of != facts.required_library:
        yield Problem(
            "library-version",
            f"{_LIBRARY} {installed} is installed, but Paceline is made for "
            f"{facts.required_library}; its low-level interface changes between releases.",
            remedies.library_again(),
        )
    if _flag(facts.system_info, "AMX_INT8") and not package.is_packaged():
        yield Problem(
            "amx",
            "The native library was built with AMX. Built by GCC 12 or older it can crash in "
            "the first decode of more than one token (ggml-org/llama.cpp issue 20824).",
            remedies.library_with("-DGGML_NATIVE=OFF"),
        )


def _servers(facts: ReportFacts) -> Iterator[Problem]:
    for problem in facts.lost_servers:
        yield Problem("rpc-server", problem.message, problem.hint)


def _window(facts: ReportFacts) -> Iterator[Problem]:
    version = facts.installed.get(_PYSIDE)
    if version is None:
        yield Problem(
            "no-pyside",
            "PySide6 is not installed, so the window cannot be opened.",
            f"{remedies.program_again()} Meanwhile `paceline chat` works without it.",
        )
    elif _numbers(version)[:2] == (6, 12) and facts.python < (3, 12):
        yield Problem(
            "pyside-references",
            f"PySide6 {version} loses references to None and True on Python before 3.12; "
            "the window ends after some thousand calls.",
            remedies.package_of_python(f'"{_PYSIDE}<6.12"'),
        )


def _files(facts: ReportFacts) -> Iterator[Problem]:
    for folder in facts.locked_folders:
        yield Problem(
            "folder-not-writable",
            f"The folder {folder} cannot be written to.",
            "Set PACELINE_HOME to a folder that you can write to.",
        )
    for name in facts.missing_models:
        text = f"The demo model {name} is missing."
        yield Problem("demo-pair-missing", text, remedies.program_again())


def _speed(facts: ReportFacts) -> Iterator[Problem]:
    is_x86 = facts.machine.lower() in ("x86_64", "amd64")
    is_slow = is_x86 and facts.system_info and not _flag(facts.system_info, "AVX2")
    if is_slow and not package.is_packaged():  # which has a library for every processor
        yield Problem(
            "no-avx2",
            "The native library was built without AVX2 and is several times slower for it, "
            "if this processor has AVX2.",
            remedies.library_with("-DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"),
        )
    is_unused = facts.has_nvidia and not (facts.library_error or facts.supports_gpu)
    if is_unused and not facts.no_gpus:
        yield Problem(
            "gpu-unused",
            "There is an NVIDIA GPU, but the native library finds none that it can use.",
            remedies.nvidia(),
        )


def _flag(system_info: str, name: str) -> bool:
    return re.search(rf"\b{name} = 1\b", system_info) is not None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))

"""What a benchmark ran on: no names of people, of the machine or of folders."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil

from paceline import __version__

if TYPE_CHECKING:
    from paceline.messages import EngineDescribed, ModelInfo


Loads = tuple[float, float, float]
"""The load of the last 1, 5 and 15 minutes."""


def load_average() -> Loads | None:
    """Return the load now; None where the system does not tell."""
    try:
        one, five, fifteen = (round(load, 2) for load in os.getloadavg())
    except (AttributeError, OSError):
        return None
    return one, five, fifteen


@dataclass(frozen=True, slots=True)
class LoadAverage:
    """How busy the machine was before and after; None where the system does not tell."""

    before: Loads | None = None
    after: Loads | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """A computer with what computed on it.

    Attributes:
        cpu: The processor in words.
        gpus: Graphics processors in words.
        cores: Physical ones; None: not known.
        logical_cores: With those that hyperthreading adds; None: not known.
        threads: Of the target for decodes of one token.
        threads_batch: Of the target for wider ones.
        memory_bytes: All of it, in use or not.
        system: Name and version of the system, and the architecture.
        python: Its version.
        paceline: Its version.
        library: llama-cpp-python's version.
        library_build: What llama.cpp was compiled for, in its words.
        load_average: How busy it was.
    """

    cpu: str
    gpus: tuple[str, ...] = ()
    cores: int | None = None
    logical_cores: int | None = None
    threads: int = 0
    threads_batch: int = 0
    memory_bytes: int = 0
    system: str = ""
    python: str = ""
    paceline: str = ""
    library: str = ""
    library_build: str = ""
    load_average: LoadAverage = field(default_factory=LoadAverage)


def describe(
    engine: EngineDescribed | None, target: ModelInfo, load_before: Loads | None
) -> Machine:
    """Return the machine at the end of a benchmark.

    Args:
        engine: What the native library says; None: it was not asked.
        target: The loaded target, for its threads.
        load_before: `load_average` at the beginning.
    """
    devices = engine.devices if engine else ()
    cpus = [device.description or device.name for device in devices if device.kind == "cpu"]
    return Machine(
        cpu=cpus[0] if cpus else platform.processor() or platform.machine(),
        gpus=tuple(d.description or d.name for d in devices if d.kind in {"gpu", "igpu"}),
        cores=psutil.cpu_count(logical=False),
        logical_cores=psutil.cpu_count(),
        threads=target.n_threads,
        threads_batch=target.n_threads_batch,
        memory_bytes=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        paceline=__version__,
        library=engine.library_version if engine else "",
        library_build=engine.system_info if engine else "",
        load_average=LoadAverage(load_before, load_average()),
    )

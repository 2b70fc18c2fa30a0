"""What a benchmark ran on, as JSON data: no names of people, of the machine or of folders."""

from __future__ import annotations

import os
import platform
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import psutil

from paceline import __version__

if TYPE_CHECKING:
    from paceline.messages import EngineDescribed, ModelInfo

_MODEL_FIELDS = (
    "name", "architecture", "description", "n_params", "size_bytes", "n_ctx", "n_layers",
    "n_threads", "n_threads_batch", "n_gpu_layers",
)  # fmt: skip


def load_average() -> list[float] | None:
    """Return the load of the last 1, 5 and 15 minutes; None where the system does not tell."""
    try:
        return [round(load, 2) for load in os.getloadavg()]
    except (AttributeError, OSError):
        return None


def describe(
    engine: EngineDescribed | None, target: ModelInfo, load_before: list[float] | None
) -> dict[str, Any]:
    """Return the machine at the end of a benchmark.

    Args:
        engine: What the native library says; None: it was not asked.
        target: The loaded target, for its threads.
        load_before: `load_average` at the beginning.
    """
    devices = engine.devices if engine else ()
    cpus = [device.description or device.name for device in devices if device.kind == "cpu"]
    return {
        "cpu": cpus[0] if cpus else platform.processor() or platform.machine(),
        "gpus": [d.description or d.name for d in devices if d.kind in {"gpu", "igpu"}],
        "cores": psutil.cpu_count(logical=False),
        "logical_cores": psutil.cpu_count(),
        "threads": target.n_threads,
        "threads_batch": target.n_threads_batch,
        "memory_bytes": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "paceline": __version__,
        "library": engine.library_version if engine else "",
        "library_build": engine.system_info if engine else "",
        "load_average": {"before": load_before, "after": load_average()},
    }


def describe_model(model: ModelInfo) -> dict[str, Any]:
    """Return a model by its file's name and what it is."""
    return {
        "file": PurePath(model.path).name,
        **{name: getattr(model, name) for name in _MODEL_FIELDS},
    }

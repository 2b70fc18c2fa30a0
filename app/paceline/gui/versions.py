"""What a bug report needs of this program: versions, build flags, devices; nothing of the user's.

No file names, no prompts, no settings: the text is made to be posted in public.
"""

from __future__ import annotations

import platform
from importlib import metadata
from typing import TYPE_CHECKING

import psutil
from PySide6.QtCore import QCoreApplication, qVersion

from paceline import __version__
from paceline.engine.proposals import readable_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.messages import DeviceInfo, EngineDescribed

_CONTEXT = "Versions"
Fact = tuple[str, str]
"""A name and what is said of it"""


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)


def version_facts(engine: EngineDescribed | None) -> list[Fact]:
    """Return the versions of everything that matters; without the engine's those known here."""
    facts = [
        ("Paceline", __version__),
        ("llama-cpp-python", _installed("llama-cpp-python")),
        ("Qt", qVersion()),
        ("PySide6", _installed("PySide6-Essentials")),
        ("Python", platform.python_version()),
        ("NumPy", _installed("numpy")),
        ("huggingface-hub", _installed("huggingface-hub")),
        (_tr("System"), platform.platform()),
    ]
    if engine is not None:
        facts.insert(2, ("llama.cpp", engine.library_version))
    return facts


def machine_facts(engine: EngineDescribed | None) -> list[Fact]:
    """Return what the machine has: memory, cores, devices, and how llama.cpp was built."""
    memory = psutil.virtual_memory()
    facts = [
        (
            _tr("Processor cores"),
            _tr("{} physical, {} logical").format(
                psutil.cpu_count(logical=False) or "?", psutil.cpu_count() or "?"
            ),
        ),
        (_tr("Main memory"), readable_size(memory.total)),
    ]
    if engine is None:
        return [*facts, (_tr("Devices"), _tr("The engine has not answered yet."))]
    facts += [(device.name, _device(device)) for device in engine.devices]
    facts.append((_tr("Build flags"), engine.system_info.strip()))
    return facts


def report(engine: EngineDescribed | None) -> str:
    """Return both as plain text for a bug report."""
    facts = [*version_facts(engine), *machine_facts(engine)]
    return "\n".join(f"{name}: {words}" for name, words in facts)


def requirements() -> Sequence[str]:
    """Return the distributions that this one needs; empty where no metadata came along."""
    try:
        required = metadata.requires("paceline") or []
    except metadata.PackageNotFoundError:
        return ()
    names = []
    for line in required:
        name = line.split(";")[0].strip()
        for at, letter in enumerate(name):
            if not (letter.isalnum() or letter in "-_."):
                name = name[:at]
                break
        if "extra ==" not in line and name not in names:
            names.append(name)
    return names


def _device(device: DeviceInfo) -> str:
    return _tr("{} ({}), {} of {} free").format(
        device.description,
        device.kind,
        readable_size(device.free_bytes),
        readable_size(device.total_bytes),
    )


def _installed(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return _tr("not known")

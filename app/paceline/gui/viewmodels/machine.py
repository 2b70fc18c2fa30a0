"""What was found on this machine, as short lines for the first page. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.catalog.words import file_size
from paceline.gui.viewmodels.first_pairs import own_models

if TYPE_CHECKING:
    from paceline.catalog.library import LibraryEntry
    from paceline.messages import DeviceInfo


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was found: what it is, and a remark in smaller type."""

    title: str
    value: str
    remark: str = ""


def machine_facts(devices: Sequence[DeviceInfo]) -> tuple[Fact, ...]:
    """Return processor, memory and graphics; no devices: the engine has not answered yet."""
    if not devices:
        looking = _tr("looking…")
        return (
            Fact(_tr("Processor"), looking),
            Fact(_tr("Memory"), looking),
            Fact(_tr("Graphics"), looking),
        )
    cpu = next((each for each in devices if each.kind == "cpu"), None)
    gpus = [each for each in devices if each.kind in ("gpu", "igpu")]
    facts = []
    if cpu is not None:
        free = _tr("{} free").format(file_size(cpu.free_bytes))
        facts.append(Fact(_tr("Processor"), cpu.description.strip() or cpu.name))
        facts.append(Fact(_tr("Memory"), file_size(cpu.total_bytes), free))
    for gpu in gpus[:2]:
        size = _tr("{} of memory").format(file_size(gpu.total_bytes))
        facts.append(Fact(_tr("Graphics"), gpu.description.strip() or gpu.name, size))
    if not gpus:
        facts.append(
            Fact(_tr("Graphics"), _tr("processor only"), _tr("no GPU that llama.cpp can use"))
        )
    return tuple(facts)


def models_fact(entries: Sequence[LibraryEntry], *, is_looking: bool) -> Fact:
    """Return what is known of the models on this computer so far."""
    own = own_models(entries)
    title = _tr("Your models")
    remark = _tr("still looking…") if is_looking else ""
    if not own:
        return Fact(title, _tr("looking…") if is_looking else _tr("none yet"))
    size = file_size(sum(each.file.n_bytes for each in own))
    if len(own) == 1:
        return Fact(title, _tr("1 model, {}").format(size), remark)
    return Fact(title, _tr("{} models, {}").format(len(own), size), remark)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Machine", text)

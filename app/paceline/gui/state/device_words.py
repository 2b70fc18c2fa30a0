"""Devices in words for people."""

from __future__ import annotations

from paceline.gui.kit.translation import local_sizes, translator
from paceline.messages import DeviceInfo

_tr = translator("DeviceWords")


def device_title(name: str, description: str) -> str:
    """Return a device's title: its description and the name used in options."""
    return f"{description} ({name})" if description not in ("", name) else name


def device_words(device: DeviceInfo) -> str:
    """Return a device's title with its free memory."""
    free, total = local_sizes(device.free_bytes, device.total_bytes)
    title = device_title(device.name, device.description)
    return _tr("{}: {} of {} free").format(title, free, total)

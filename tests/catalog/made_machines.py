"""Machines as values, for tests of what fits into them."""

from __future__ import annotations

from paceline.catalog.memory.machine import Machine
from paceline.messages import DeviceInfo

GIB, MIB = 2**30, 2**20
CPU = DeviceInfo("CPU", "A processor", "cpu", 64 * GIB, 64 * GIB)


def cpu(gib: float) -> DeviceInfo:
    """A CPU with so much memory, all of it free."""
    return DeviceInfo("CPU", "A processor", "cpu", int(gib * GIB), int(gib * GIB))


def gpu(gib: float, number: int = 0) -> DeviceInfo:
    """A GPU with so much memory, all of it free."""
    return DeviceInfo(f"CUDA{number}", "A card", "gpu", int(gib * GIB), int(gib * GIB))


def integrated(gib: float) -> DeviceInfo:
    """A GPU that shares the CPU's memory."""
    n = int(gib * GIB)
    return DeviceInfo("Vulkan0", "A chip", "igpu", n, n, shares="CPU")


def remote(gib: float, number: int = 0, shares: str = "") -> DeviceInfo:
    """A device of an RPC server."""
    n, server = int(gib * GIB), f"10.0.0.5:{50052 + number}"
    return DeviceInfo(f"RPC{number}", server, "rpc", n, n, shares=shares, server=server)


def machine(*devices: DeviceInfo) -> Machine:
    """A machine with 64 GiB beside these devices."""
    return Machine.of([*devices, CPU], {})

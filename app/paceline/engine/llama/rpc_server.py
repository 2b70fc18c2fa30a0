"""ggml's RPC server, which lends devices of this machine to llama.cpp on other machines.

It serves one client at a time, has neither keys nor encryption, and ends its process on an invalid
request. It reads no model: weights come over the connection.
"""

from __future__ import annotations

import ctypes
import functools

from paceline.engine.llama.devices import Device, ggml_devices, local_devices, rpc_function
from paceline.engine.llama.library import start
from paceline.engine.model.model_params import free_memory
from paceline.engine.model.placement import named, usual
from paceline.errors import UserError

_GET_MEMORY = 2  # index in ggml_backend_device_i, with which a device begins
_SIZE = ctypes.POINTER(ctypes.c_size_t)
_GetMemory = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _SIZE, _SIZE)
_StartServer = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_void_p),
)


class RpcServer:
    """Devices of this machine, and the server that lends them; one per process.

    Args:
        names: Comma-separated names of devices; empty for the default ones for models, or the
            processor if there is no GPU.
        most_bytes: Maximum bytes of a device's memory to report as free, or None for no limit.

    Attributes:
        devices: The lent devices, in the order of the names.

    Raises:
        ValueOutOfRangeError: A named device does not exist, or is named twice.
        UserError: This build of llama.cpp has no RPC, or `most_bytes` cannot be enforced.
    """

    def __init__(self, names: str, most_bytes: int | None) -> None:
        start()
        lent = _chosen(names)
        self._start_server = _StartServer(rpc_function("ggml_backend_rpc_start_server"))
        self.devices = tuple(device.info for device in lent)
        self._pointers = [device.pointer for device in lent]
        for device in lent:
            _report_free_memory(device, most_bytes)

    def serve(self, endpoint: str, n_threads: int) -> None:
        """Serve one client after the other; returns when it can no longer listen or accept.

        Meanwhile native code prints to file descriptor 1, and other threads can run.

        Args:
            endpoint: An IPv4 address of this machine, a colon, and a free port.
            n_threads: Number of threads, if the processor is lent.
        """
        n = len(self._pointers)
        pointers = (ctypes.c_void_p * n)(*self._pointers)
        self._start_server(endpoint.encode(), None, n_threads, n, pointers)


def _chosen(text: str) -> list[Device]:
    there = {device.info: device for device in local_devices()}
    infos = tuple(there)
    processor = [info for info in infos if info.kind == "cpu"]
    return [there[info] for info in named(text, infos) or usual(infos) or processor]


def _report_free_memory(device: Device, most_bytes: int | None) -> None:
    """Make ggml report the really free memory of a device, as long as the process lives.

    Otherwise it reports all main memory as free. The total stays: clients use it to detect which
    devices share one memory.

    Raises:
        UserError: ggml's function cannot be replaced, and there is a limit to enforce.
    """
    table = ctypes.cast(device.pointer, ctypes.POINTER(ctypes.c_void_p))
    before = table[_GET_MEMORY]
    ask_ggml = _GetMemory(before or 0)
    n_asked = 0

    def report(asked: int, free: ctypes._Pointer[ctypes.c_size_t], total: object) -> None:
        nonlocal n_asked
        n_asked += 1
        ask_ggml(asked, free, total)
        if device.info.kind == "cpu":
            free[0] = min(free[0], free_memory())
        if most_bytes is not None:
            free[0] = min(free[0], most_bytes)

    answer = _GetMemory(report)
    table[_GET_MEMORY] = ctypes.cast(answer, ctypes.c_void_p).value
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    ggml_devices().ggml_backend_dev_memory(device.pointer, ctypes.byref(free), ctypes.byref(total))
    if n_asked:
        _answers().append(answer)
        return
    table[_GET_MEMORY] = before
    if most_bytes is not None:
        raise UserError(
            "no-memory-limit",
            "This build of llama.cpp does not let --memory be told to others.",
            "Leave it out; then all that is free is lent.",
        )


@functools.cache
def _answers() -> list[object]:
    """Return the callbacks that ggml calls, which must stay alive."""
    return []

"""ggml's RPC server, which lends devices of this machine to llama.cpp on others.

It serves one client at a time, knows neither keys nor encryption, and ends its process where a
client sends what cannot be. It reads no model: weights come over the connection.
"""

from __future__ import annotations

import ctypes
import functools

from paceline.engine.llama.devices import Device, ggml_devices, local_devices, rpc_function
from paceline.engine.llama.library import start
from paceline.engine.model.model_params import free_memory
from paceline.engine.model.placement import named, usual
from paceline.errors import UserError

_GET_MEMORY = 2  # its place in ggml_backend_device_i, with which a device begins
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
    """Devices of this machine, and the server that lends them; one in a process.

    Args:
        names: Devices, with commas between them; none: those that models are put on where nothing
            is said, or the processor where there is no GPU.
        most_bytes: No more of a device's memory is told to be free; None: all that is.

    Attributes:
        devices: What is lent, in the order of the names.

    Raises:
        ValueOutOfRangeError: There is no device of a name, or it is named twice.
        UserError: This build of llama.cpp has no RPC, or no way to keep to `most_bytes`.
    """

    def __init__(self, names: str, most_bytes: int | None) -> None:
        start()
        lent = _chosen(names)
        self._start_server = _StartServer(rpc_function("ggml_backend_rpc_start_server"))
        self.devices = tuple(device.info for device in lent)
        self._pointers = [device.pointer for device in lent]
        for device in lent:
            _tell_what_is_free(device, most_bytes)

    def serve(self, endpoint: str, n_threads: int) -> None:
        """Serve one client after the other; returns where it cannot listen or accept any more.

        Native code prints to file descriptor 1 meanwhile, and lets other threads run.

        Args:
            endpoint: An IPv4 address of this machine, a colon, and a free port.
            n_threads: Threads of the processor, where that is lent.
        """
        n = len(self._pointers)
        pointers = (ctypes.c_void_p * n)(*self._pointers)
        self._start_server(endpoint.encode(), None, n_threads, n, pointers)


def _chosen(text: str) -> list[Device]:
    there = {device.info: device for device in local_devices()}
    infos = tuple(there)
    processor = [info for info in infos if info.kind == "cpu"]
    return [there[info] for info in named(text, infos) or usual(infos) or processor]


def _tell_what_is_free(device: Device, most_bytes: int | None) -> None:
    """Have ggml tell what can be had of a device's memory, as long as the process lives.

    Of the main memory it says otherwise that all is free. The total stays: clients know by it which
    devices share one memory.

    Raises:
        UserError: It goes on by itself, and there is a limit to keep.
    """
    table = ctypes.cast(device.pointer, ctypes.POINTER(ctypes.c_void_p))
    before = table[_GET_MEMORY]
    ask_ggml = _GetMemory(before or 0)
    n_asked = 0

    def tell(asked: int, free: ctypes._Pointer[ctypes.c_size_t], total: object) -> None:
        nonlocal n_asked
        n_asked += 1
        ask_ggml(asked, free, total)
        if device.info.kind == "cpu":
            free[0] = min(free[0], free_memory())
        if most_bytes is not None:
            free[0] = min(free[0], most_bytes)

    answer = _GetMemory(tell)
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
    """Return what ggml calls."""
    return []

"""The devices that llama.cpp can use in this process, including those of RPC servers.

A server's devices are never put into ggml's registry: they are passed to each load as pointers. So
nothing else in llama.cpp uses them, and a lost server does not disturb later loads (decision 157).
Names are assigned here, in the order of the servers; llama.cpp numbers them differently.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from paceline.engine.llama.library import declared, libggml, llama_cpp, start
from paceline.engine.llama.loadable_backends import cpu_variant
from paceline.engine.model.model_params import free_memory
from paceline.engine.model.rpc_servers import (
    RpcServerError,
    ServerAnswer,
    ask_servers,
    fewer_devices,
    rpc_devices,
    with_shared_memory,
)
from paceline.errors import UserError
from paceline.figures import DeviceInfo, DeviceKind, ServerProblem
from paceline.installation import remedies
from paceline.messages import EngineDescribed

RPC = b"RPC"
"""ggml's name of its RPC backend."""
_ADD_SERVER = "ggml_backend_rpc_add_server"
_KINDS: dict[int, DeviceKind] = {0: "cpu", 1: "gpu", 2: "igpu"}  # enum ggml_backend_dev_type
_POINTER, _TEXT, _SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t


@dataclass(frozen=True, slots=True)
class Device:
    """A device, with access to ggml's pointer.

    Attributes:
        info: Description of the device.
        find: Returns ggml's pointer to it; see `pointer`.
    """

    info: DeviceInfo
    find: Callable[[], int]

    @property
    def pointer(self) -> int:
        """Ggml's pointer to it; for a server's device, reading it connects to the server."""
        return self.find()


class Devices:
    """The devices of this process; for the thread that uses llama.cpp."""

    def __init__(self) -> None:
        self._servers: tuple[ServerAnswer, ...] = ()

    def connect(self, servers: Sequence[str]) -> None:
        """Make the devices of these RPC servers, and of no others, available for models.

        Raises:
            RpcServerError: A server cannot be used; llama.cpp has registered none of them.
        """
        self._servers = ()
        answers = ask_servers(servers)
        if problems := [answer.problem for answer in answers if answer.problem is not None]:
            raise RpcServerError(problems)
        self._servers = tuple(answers)

    def all(self, held: Collection[str] = ()) -> list[Device]:
        """Return every device with its free memory.

        Args:
            held: Servers whose devices hold models of this process: they report what is free now,
                the others what was free when `connect` was called. Read a server's pointers right
                after that, or while it is held: llama.cpp ends the process if the server is gone.
        """
        return _all(self._servers, held)

    def by_buffer(self, gpus: Collection[DeviceInfo] = ()) -> dict[str, str]:
        """Return the devices' names by ggml's names of their buffers.

        Args:
            gpus: Devices of servers that hold models.
        """
        used = {gpu.name for gpu in gpus}
        there = [each for each in self.all() if not each.info.server or each.info.name in used]
        name = ggml_devices().ggml_backend_buft_name
        buffer_type = ggml_devices().ggml_backend_dev_buffer_type
        return {name(buffer_type(each.pointer)).decode(): each.info.name for each in there}

    def describe(self, servers: Sequence[str], held: Collection[str]) -> EngineDescribed:
        """Return versions and devices.

        Args:
            servers: RPC servers whose devices to include, as HOST:PORT.
            held: Servers whose devices hold models of this process now: they do not answer others.
        """
        start()
        asked = _answers([server for server in servers if server not in held])
        known = {answer.server: answer for answer in (*self._servers, *asked)}
        answers = [known[server] for server in servers]
        return EngineDescribed(
            library_version=llama_cpp.__version__,
            system_info=llama_cpp.llama_print_system_info().decode("utf-8", "replace").strip(),
            devices=tuple(device.info for device in _all(answers, held)),
            lost=tuple(answer.problem for answer in answers if answer.problem is not None),
            cpu_variant=cpu_variant(libggml),
        )


def cpu_buffer_type() -> int:
    """Return ggml's pointer to the type of buffers in the CPU's memory."""
    pointer: int = ggml_devices().ggml_backend_cpu_buffer_type()
    return pointer


def _answers(servers: Sequence[str]) -> list[ServerAnswer]:
    """Return the servers' answers; without RPC in this build, that is their problem."""
    try:
        if servers:
            rpc_function(_ADD_SERVER)
    except UserError as error:
        problems = [ServerProblem(each, error.message, error.hint) for each in servers]
        return [ServerAnswer(problem.server, problem=problem) for problem in problems]
    return ask_servers(servers)


def _all(servers: Sequence[ServerAnswer], held: Collection[str]) -> list[Device]:
    """Return the devices of this machine and of these servers; see `Devices.all`."""
    found = [*local_devices(), *_remote(servers, held)]
    addresses = {answer.server: answer.address for answer in servers}
    infos = with_shared_memory([device.info for device in found], addresses)
    return [replace(device, info=info) for device, info in zip(found, infos, strict=True)]


class _Props(ctypes.Structure):
    """`ggml_backend_dev_props` up to the device's id; the rest is not read."""

    _fields_ = (
        ("name", _TEXT), ("description", _TEXT), ("free", _SIZE), ("total", _SIZE),
        ("kind", ctypes.c_int), ("device_id", _TEXT), ("rest", ctypes.c_char * 64),
    )  # fmt: skip


def local_devices() -> Iterator[Device]:
    """Yield the devices of this machine.

    ggml reports all main memory as free, except on Windows; so the system is asked. A GPU that an
    earlier backend lists with the same id shares its memory.
    """
    lib = ggml_devices()
    known: dict[bytes, str] = {}
    for i in range(lib.ggml_backend_dev_count()):
        pointer, props = lib.ggml_backend_dev_get(i), _Props()
        lib.ggml_backend_dev_get_props(pointer, ctypes.byref(props))
        name = (props.name or b"").decode()
        kind = _KINDS.get(props.kind, "accel")
        first = known.setdefault(props.device_id, name) if props.device_id else name
        yield Device(
            DeviceInfo(
                name,
                (props.description or b"").decode("utf-8", "replace").strip(),
                kind,
                props.total,
                free_memory() if kind == "cpu" else props.free,
                shares="" if first == name else first,
                splits_rows=bool(device_function(pointer, "ggml_backend_split_buffer_type")),
            ),
            partial(int, pointer),
        )


def _remote(servers: Sequence[ServerAnswer], held: Collection[str]) -> Iterator[Device]:
    n = 0
    for answer in servers:
        memory = _memory_of(answer.server) if answer.server in held else answer.memory
        for i, info in enumerate(rpc_devices(answer.server, memory, n)):
            yield Device(info, partial(_pointer, answer.server, i))
        n += len(memory)


def _memory_of(server: str) -> tuple[tuple[int, int], ...]:
    """Return total and free bytes of a server's devices, queried through llama.cpp."""
    found = []
    for pointer in _pointers(server):
        free, total = _SIZE(), _SIZE()
        ggml_devices().ggml_backend_dev_memory(pointer, ctypes.byref(free), ctypes.byref(total))
        found.append((total.value, free.value))
    return tuple(found)


def _pointer(server: str, i: int) -> int:
    pointers = _pointers(server)
    if i >= len(pointers):
        raise RpcServerError([fewer_devices(server)])
    return pointers[i]


@functools.cache
def _pointers(server: str) -> tuple[int, ...]:
    """Return ggml's pointers to a server's devices, which stay valid for the whole process.

    Their number stays as well, even if the server is restarted with other devices.
    """
    add = ctypes.CFUNCTYPE(_POINTER, _TEXT)(rpc_function(_ADD_SERVER))
    added, lib = add(server.encode()), ggml_devices()
    n = lib.ggml_backend_reg_dev_count(added) if added else 0
    return tuple(lib.ggml_backend_reg_dev_get(added, i) for i in range(n))


def rpc_function(name: str) -> int:
    """Return the address of a function of ggml's RPC backend.

    Raises:
        UserError: This build of llama.cpp has no RPC.
    """
    rpc = ggml_devices().ggml_backend_reg_by_name(RPC)
    address = _function(rpc, name) if rpc else None
    if not address:
        raise UserError(
            "no-rpc",
            "This build of llama.cpp has no RPC.",
            remedies.library_with("-DGGML_RPC=ON"),
        )
    return address


def device_function(device: int, name: str) -> int | None:
    """Return the address of a function of a device's backend, or None if it has none."""
    return _function(ggml_devices().ggml_backend_dev_backend_reg(device), name)


def _function(backend: int, name: str) -> int | None:
    lib = ggml_devices()
    address: int | None = lib.ggml_backend_reg_get_proc_address(backend, name.encode())
    return address


@functools.cache
def ggml_devices() -> Any:
    """Return ggml with declarations of its functions on devices, which llama-cpp-python lacks."""
    functions = (
        ("dev_count", _SIZE, ()),
        ("dev_get", _POINTER, (_SIZE,)),
        ("dev_get_props", None, (_POINTER, ctypes.POINTER(_Props))),
        ("dev_memory", None, (_POINTER, ctypes.POINTER(_SIZE), ctypes.POINTER(_SIZE))),
        ("dev_backend_reg", _POINTER, (_POINTER,)),
        ("dev_buffer_type", _POINTER, (_POINTER,)),
        ("buft_name", _TEXT, (_POINTER,)),
        ("reg_by_name", _POINTER, (_TEXT,)),
        ("reg_dev_count", _SIZE, (_POINTER,)),
        ("reg_dev_get", _POINTER, (_POINTER, _SIZE)),
        ("reg_get_proc_address", _POINTER, (_POINTER, _TEXT)),
        ("cpu_buffer_type", _POINTER, ()),
    )
    return declared(libggml, "ggml_backend_", functions)

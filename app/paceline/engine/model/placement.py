"""The devices that a model's layers are placed on; the rule is llama.cpp's (src/llama.cpp).

If the user chooses none, these are the devices of RPC servers, then the GPUs; integrated GPUs count
only if there is no other GPU. Several devices share the layers, and the processor gets the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from paceline.errors import ModelError, ValueOutOfRangeError, refuse
from paceline.figures import DeviceInfo
from paceline.installation import remedies
from paceline.params import ModelParams
from paceline.sentence import sentence

_STEP_BYTES = 256 * 2**20
_SERVERS = re.compile(r"rpc\d+", re.IGNORECASE)
_MAX_DEVICES = 16
"""Maximum number of devices for one model in llama.cpp, including the processor
(GGML_SCHED_MAX_BACKENDS in ggml/src/ggml-backend.cpp). With more, llama.cpp ends the process."""


def devices_for(params: ModelParams, devices: Sequence[DeviceInfo]) -> tuple[DeviceInfo, ...]:
    """Return the devices for a model's layers, in order; empty if the processor gets all.

    Args:
        params: Parameters that `check_params` accepts.
        devices: All devices.

    Raises:
        ValueOutOfRangeError: A named device does not exist, or the model cannot be shared as
            requested.
    """
    chosen = named(params.device, devices) if params.device else usual(devices)
    # The processor gets the remaining layers in any case, so it is not listed.
    chosen = tuple(device for device in chosen if device.kind != "cpu")
    if not chosen and not params.device:
        _refuse_gpu(params)
    # Both models get the same shares; a model on a single device ignores them.
    if len(params.tensor_split) > len(chosen) > 1:
        refuse(
            "{n} shares are more than the devices that the model is put on: {names}.",
            "Give one share per device.",
            n=len(params.tensor_split),
            names=_list(chosen),
        )
    if params.split_mode == "none" and chosen:
        if params.main_gpu >= len(chosen):
            refuse(
                "There is no device number {main_gpu}: there are {names}.",
                "The first one is number 0.",
                main_gpu=params.main_gpu,
                names=_list(chosen),
            )
        return (chosen[params.main_gpu],)
    room = _MAX_DEVICES - sum(not device.takes_layers for device in devices)
    if len(chosen) > room:
        refuse(
            "A model can be put on {most} devices at most, and these are {n}: {names}.",
            "Choose some of them, or leave an RPC server out.",
            most=room,
            n=len(chosen),
            names=_list(chosen),
        )
    whole = next((each for each in chosen if not each.splits_rows), None)
    if params.split_mode == "row" and whole is not None:
        refuse(
            "{name} cannot share the rows of a weight with other devices.",
            "Choose to split by layers, or leave it at auto.",
            name=whole.name,
        )
    return chosen


def shares_of(
    params: ModelParams, gpus: Sequence[DeviceInfo], free: Mapping[str, int]
) -> tuple[float, ...]:
    """Return the shares of the layers by device, in order; not all are zero.

    The default is the free memory in steps of 256 MiB, so that a plan, and the load a little later,
    share in the same way.

    Args:
        params: Parameters that `check_params` accepts.
        gpus: Result of `devices_for`.
        free: Free bytes by device name.
    """
    given = [*params.tensor_split, *[0.0] * len(gpus)][: len(gpus)]
    if any(given):
        return tuple(given)
    steps = [float(max(free[gpu.name], 0) // _STEP_BYTES) for gpu in gpus]
    return tuple(steps) if any(steps) else (1.0,) * len(gpus)


def usual(devices: Sequence[DeviceInfo]) -> tuple[DeviceInfo, ...]:
    """Return the default devices."""
    remote = [each for each in devices if each.kind == "rpc"]
    # A GPU that two backends offer is used once.
    gpus = [each for each in devices if each.kind == "gpu"]
    names = {each.name for each in gpus}
    gpus = [each for each in gpus if each.shares not in names]
    if not gpus:
        integrated = [each for each in devices if each.kind == "igpu"]
        gpus = [each for each in integrated if _backend(each) == _backend(integrated[0])]
    return (*remote, *gpus)


def _backend(device: DeviceInfo) -> str:
    """Return the backend's name, which precedes the number in a device's name."""
    return device.name.rstrip("0123456789")


def named(text: str, devices: Sequence[DeviceInfo]) -> tuple[DeviceInfo, ...]:
    """Return devices by a comma-separated list of names in any case, in that order.

    Raises:
        ValueOutOfRangeError: One does not exist, or is named twice.
    """
    by_name = {device.name.lower(): device for device in devices}
    chosen: list[DeviceInfo] = []
    for name in filter(None, (part.strip() for part in text.split(","))):
        device = by_name.get(name.lower())
        if device is None:
            raise ValueOutOfRangeError(
                "no-such-device",
                "There is no device “{name}”.",
                _other_devices(name, devices),
                name=name,
            )
        if device in chosen:
            refuse("The device {name} is named twice.", "Name each device once.", name=device.name)
        chosen.append(device)
    return tuple(chosen)


def _other_devices(name: str, devices: Sequence[DeviceInfo]) -> str:
    """Return what to choose in place of a device that does not exist."""
    if _SERVERS.fullmatch(name):
        return sentence(
            "Choose among {known}; or use the RPC server that lends it: by --rpc, or in the "
            "settings under “Other computers”.",
            known=_list(devices),
        )
    return sentence("Choose among {known}.", known=_list(devices))


def _list(devices: Sequence[DeviceInfo]) -> str:
    return ", ".join(device.name for device in devices)


def _refuse_gpu(params: ModelParams) -> None:
    """Refuse parameters that need a device besides the processor."""
    there_is = sentence("There is no GPU here that this build of llama.cpp can use")
    if params.n_gpu_layers > 0:
        refuse(
            "{there_is}, so no layers can go to one.",
            "Leave GPU layers at auto. {gpu}",
            there_is=there_is,
            gpu=remedies.gpu(),
        )
    if params.split_mode or params.tensor_split or params.main_gpu:
        refuse(
            "{there_is}, so there is nothing to split.",
            "Leave split mode, shares and main device alone. {gpu}",
            there_is=there_is,
            gpu=remedies.gpu(),
        )


_ABOUT_DEVICES = re.compile(
    r"SPLIT_MODE_TENSOR (?:needs|not implemented)|split buffers|main_gpu|backend reg|buffer type"
    r"|backends? (?:are loaded|found)|initialize .*\bbackend|DeviceLost|device not found",
    re.IGNORECASE,
)


def cannot_place(name: str, why: str) -> ModelError | None:
    """Return the error if llama.cpp cannot use devices as requested, or None for another failure.

    Args:
        name: Name of the model's file.
        why: llama.cpp's error message.
    """
    if not _ABOUT_DEVICES.search(why):
        return None
    return ModelError(
        "cannot-place",
        "llama.cpp cannot put “{name}” on these devices: {why}.",
        "The file is not damaged. Choose other devices, or leave devices and split mode at auto.",
        name=name,
        why=why,
    )

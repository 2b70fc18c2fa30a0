"""Loading of models with llama.cpp; see `backend.Backend`."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakSet

from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.llama.devices import Devices
from paceline.engine.llama.kernels import OwnKernels
from paceline.engine.llama.library import llama_cpp, start
from paceline.engine.llama.model import LlamaModel
from paceline.engine.llama.mtp_head import MtpHead, head_bytes
from paceline.engine.llama.native_params import native_model_params
from paceline.engine.llama.newer import newer_model
from paceline.engine.llama.reading import reading_rates
from paceline.engine.llama.vocabulary import LlamaVocabularyFile
from paceline.engine.model.backend import DraftHead, LanguageModel, Progress
from paceline.engine.model.memory_hints import (
    is_about_memory,
    what_to_do_about_weights,
    with_readable_sizes,
)
from paceline.engine.model.model_file import check_model_file, check_whole_model, first_part
from paceline.engine.model.model_params import check_params, free_memory
from paceline.engine.model.placement import cannot_place
from paceline.errors import CancelledError, ModelError
from paceline.messages import DeviceInfo, EngineDescribed, KernelWish, ModelParams
from paceline.sentence import sentence


class LlamaBackend:
    """Implements `backend.Backend`."""

    def __init__(self) -> None:
        self._kernels = OwnKernels()
        self._devices = Devices()
        self._models: WeakSet[LlamaModel] = WeakSet()

    @property
    def own_kernels(self) -> str:
        """The build of active own kernels; see `backend.Backend`."""
        return self._kernels.key

    def choose_kernels(
        self, wish: KernelWish, facts: Facts, cache_dir: str, cancel: CancelFlag
    ) -> tuple[str, ...]:
        """Switch own kernels on or off; see `backend.Backend`."""
        return self._kernels.choose(wish, facts, cache_dir, cancel)

    def connect(self, servers: Sequence[str]) -> None:
        """Make the devices of these RPC servers available; see `backend.Backend`."""
        self._devices.connect(servers)

    def describe(self, servers: Sequence[str] = ()) -> EngineDescribed:
        """Return versions and devices; see `backend.Backend`."""
        return self._devices.describe(servers, self._held)

    @property
    def _held(self) -> set[str]:
        """The servers whose devices hold models."""
        return {gpu.server for model in self._models if model.is_open for gpu in model.gpus}

    def reading_rates(self, n_threads: int, cancel: CancelFlag) -> tuple[float, ...]:
        """Measure how fast weights are read; see `backend.Backend`."""
        return reading_rates(n_threads, cancel)

    def load(
        self,
        params: ModelParams,
        *,
        n_rows: int,
        cancel: CancelFlag,
        progress: Progress,
        with_head: bool = False,
    ) -> LanguageModel:
        """Load a model; see `backend.Backend.load`."""
        n_bytes = 0
        if with_head:
            with contextlib.suppress(ModelError):  # llama.cpp explains better what is wrong
                n_bytes = head_bytes(check_whole_model(params.path))
        path, pointer, gpus, lines = self._open(params, cancel, progress, with_head=n_bytes > 0)
        model = LlamaModel(
            pointer,
            params,
            path,
            n_rows,
            cancel,
            devices=self._devices,
            gpus=gpus,
            lines=lines,
            kernels=self._kernels,
            head_bytes=n_bytes,
        )
        self._models.add(model)
        return model

    def load_head(
        self,
        target: LanguageModel,
        kind: str,
        params: ModelParams,
        *,
        cancel: CancelFlag,
        progress: Progress,
    ) -> DraftHead | None:
        """Load a head; see `backend.Backend.load_head`."""
        assert isinstance(target, LlamaModel)
        make = partial(MtpHead, kind=kind)
        if params.path == target.info.path:
            n_bytes, path = target.head_bytes, Path(params.path)
            make = partial(make, gpus=target.gpus)
            return make(None, target, params, path, cancel, n_bytes=n_bytes) if n_bytes else None
        path, pointer, gpus, lines = self._open(params, cancel, progress, with_head=True)
        make = partial(make, pointer, target, params, path, cancel)
        head = make(gpus=gpus, lines=lines, n_bytes=head_bytes(path))
        self._models.add(head)
        return head

    def _open(
        self, params: ModelParams, cancel: CancelFlag, progress: Progress, *, with_head: bool
    ) -> tuple[Path, Any, tuple[DeviceInfo, ...], list[str]]:
        """Return a model's path and pointer, its layers' devices, and llama.cpp's log lines."""
        start()
        check_params(params)
        path = check_whole_model(params.path)
        native = native_model_params(params, self._devices.all(self._held))

        def on_progress(fraction: float, _data: object) -> bool:
            progress(fraction)
            return not cancel.is_set()

        callback = llama_cpp.llama_progress_callback(on_progress)
        native.value.progress_callback = callback
        native.value.load_mtp = with_head
        with start().collected() as lines:
            pointer = open_model(path, native.value, params, cancel)
        return path, pointer, native.gpus, lines

    def load_vocabulary(self, path: str) -> LlamaVocabularyFile:
        """Load only a file's tokenizer; see `backend.Backend.load_vocabulary`."""
        start()
        file = first_part(check_model_file(path))
        nothing = (ctypes.c_void_p * 1)(None)  # no device
        value = llama_cpp.llama_model_default_params()
        value.vocab_only = True
        value.devices = ctypes.cast(nothing, ctypes.c_void_p)
        # The first part of a split model has the vocabulary; the others need not exist.
        overrides = _alone()
        value.kv_overrides = overrides
        return LlamaVocabularyFile(open_model(file, value, ModelParams(path)), file)


_LATER_PART = re.compile("illegal split file idx")


def _alone() -> Any:
    """Return the override that makes llama.cpp treat a file as the only part of its model."""
    overrides = (llama_cpp.llama_model_kv_override * 2)()  # an empty key ends the list
    overrides[0].tag = llama_cpp.LLAMA_KV_OVERRIDE_TYPE_INT
    overrides[0].key = b"split.count"
    overrides[0].value.val_i64 = 1
    return overrides


def open_model(
    path: Path, native: Any, params: ModelParams, cancel: CancelFlag | None = None
) -> Any:
    """Return llama.cpp's pointer to the model, which the caller frees.

    Args:
        path: Result of `check_whole_model`.
        native: A `llama_model_params`.
        params: The parameters that `native` was made from, for advice.
        cancel: Flag that the structure's progress callback polls, if it has one.

    Raises:
        ModelError: The model cannot be loaded; says why.
        CancelledError: The load was cancelled.
    """
    log = start()
    log.lines.clear()
    model = llama_cpp.llama_model_load_from_file(os.fsencode(path), native)
    if not model:
        if cancel and cancel.is_set():
            raise CancelledError
        why = log.why()
        if is_about_memory(why):
            size, free = path.stat().st_size, free_memory()
            sizes = sentence("{size:size}", size=size)
            if free < size:  # otherwise the limit is the process's, or a device's
                sizes = sentence("{size:size}, {free:size} are free", size=size, free=free)
            raise ModelError(
                "does-not-fit",
                "“{name}” ({sizes}) does not fit into memory: {why}.",
                what_to_do_about_weights(params),
                name=path.name,
                sizes=sizes,
                why=with_readable_sizes(why),
            )
        if error := newer_model(path.name, why) or cannot_place(path.name, why):
            raise error
        if _LATER_PART.match(why):
            raise ModelError(
                "not-the-first-part",
                "“{name}” is not the first part of its model, and not called as parts are.",
                "Choose the first part, and leave all parts their names.",
                name=path.name,
            )
        raise ModelError(
            "cannot-load",
            "“{name}” cannot be loaded: {why}.",
            "The file may be incomplete or of an unknown kind: download it again, or choose "
            "another.",
            name=path.name,
            why=why,
        )
    return model

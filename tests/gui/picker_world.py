"""A made world for the picker: models on the disk, a Hub on loopback, and the real parts between.

The files have real headers (a tokenizer from the demo pair, shapes of well-known models) and holes
in the place of weights: they can be looked into and judged, and take no room.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, BinaryIO

from PySide6.QtWidgets import QMainWindow

from gguf_file import Gguf, Tensor, encode, read, strings
from paceline import paths as files_of_ours
from paceline.catalog.models import Models
from paceline.gui.context import AppContext
from paceline.gui.kit.background import Background
from paceline.gui.kit.notices import Notifications
from paceline.gui.look.current import look
from paceline.gui.models.downloads.controller import DownloadsController
from paceline.gui.models.lists.hub_search import HubSearch
from paceline.gui.models.lists.library import LibraryController
from paceline.gui.models.picker.controller import PickerController
from paceline.gui.state.current_devices import CurrentDevices
from paceline.gui.state.pair import PairModel
from paceline.gui.state.settings_store import SettingsStore
from paceline.messages import DeviceInfo, EngineDescribed, Reading
from paceline.paths import Paths
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from paceline.chat.pair import Pair
    from paceline.settings import ThemeMode

GIB = 2**30
Q8_0, Q4_K = 8, 12
_BLOCK = {Q8_0: (32, 34), Q4_K: (256, 144)}
FILE_TYPES = {Q8_0: 7, Q4_K: 15}


@dataclass(frozen=True)
class Shape:
    """Sizes of a model."""

    layers: int
    width: int
    ff: int
    heads: int
    kv_heads: int
    context: int = 32768


BIG = Shape(28, 3584, 18944, 28, 4)
SMALL = Shape(24, 896, 4864, 14, 2)
HUGE = Shape(80, 8192, 29568, 64, 8)


@dataclass(frozen=True)
class _Hole(Tensor):
    @property
    def n_bytes(self) -> int:
        n = 1
        for side in self.shape:
            n *= side
        if self.kind == 0:
            return 4 * n
        per_block, size = _BLOCK[self.kind]
        return n // per_block * size


class _Sparse:
    """A file in which zeros become holes, or nothing at all."""

    def __init__(self, file: BinaryIO, *, keeps_size: bool) -> None:
        self._file = file
        self._keeps_size = keeps_size
        self._at = 0

    def write(self, data: bytes) -> None:
        if any(data[:4096]):
            self._file.seek(self._at)
            self._file.write(data)
        self._at += len(data)

    def tell(self) -> int:
        return self._at

    def end(self) -> int:
        if self._keeps_size:
            self._file.truncate(self._at)
        return self._at


def write_model(
    path: Path,
    name: str,
    shape: Shape,
    kind: int = Q4_K,
    *,
    architecture: str = "qwen2",
    other_vocabulary: bool = False,
    keeps_size: bool = True,
) -> int:
    """Write a model with holes for weights; returns how large it would be with all of them."""
    source = read(files_of_ours.demo_pair()[0])
    model = Gguf({k: v for k, v in source.metadata.items() if k.startswith("tokenizer.")})
    tokens = strings(model.metadata["tokenizer.ggml.tokens"])
    if other_vocabulary:  # so that next to nothing can be translated
        tokens = [f"{text}other" if len(text) > 1 else text for text in tokens]
        model.metadata["tokenizer.ggml.tokens"] = encode(tokens)
    model.set(
        general__architecture=architecture,
        general__name=name,
        general__file_type=FILE_TYPES[kind],
        general__license="apache-2.0",
    )
    sizes = {
        "context_length": shape.context,
        "embedding_length": shape.width,
        "block_count": shape.layers,
        "feed_forward_length": shape.ff,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "vocab_size": len(tokens),
    }
    model.set(**{f"{architecture}.{key}": value for key, value in sizes.items()})
    kv = shape.width // shape.heads * shape.kv_heads

    def hole(row: int, rows: int = 0) -> Tensor:
        size = (row, rows) if rows else (row,)
        block = _BLOCK[kind][0]
        hole_kind = (kind if row % block == 0 else Q8_0) if rows else 0
        made = _Hole(size, hole_kind, b"")
        return _Hole(size, hole_kind, lambda: bytes(made.n_bytes))

    model.tensors["token_embd.weight"] = hole(shape.width, len(tokens))
    model.tensors["output_norm.weight"] = hole(shape.width)
    for layer in range(shape.layers):
        for part, row, rows in (
            ("attn_norm", shape.width, 0),
            ("ffn_norm", shape.width, 0),
            ("attn_q", shape.width, shape.width),
            ("attn_k", shape.width, kv),
            ("attn_v", shape.width, kv),
            ("attn_output", shape.width, shape.width),
            ("ffn_gate", shape.width, shape.ff),
            ("ffn_up", shape.width, shape.ff),
            ("ffn_down", shape.ff, shape.width),
        ):
            model.tensors[f"blk.{layer}.{part}.weight"] = hole(row, rows)
        if architecture == "qwen2":
            for part, width in (("q", shape.width), ("k", kv), ("v", kv)):
                model.tensors[f"blk.{layer}.attn_{part}.bias"] = hole(width)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        sparse = _Sparse(file, keeps_size=keeps_size)
        model.write(sparse)  # type: ignore[arg-type]
        return sparse.end()


def make_library(folder: Path) -> None:
    """Fill a folder with models of several kinds, a broken one among them."""
    write_model(folder / "Qwen2.5-7B-Instruct-Q4_K_M.gguf", "Qwen2.5 7B Instruct", BIG)
    write_model(folder / "Qwen2.5-0.5B-Instruct-Q8_0.gguf", "Qwen2.5 0.5B Instruct", SMALL, Q8_0)
    write_model(folder / "Qwen2.5-72B-Instruct-Q4_K_M.gguf", "Qwen2.5 72B Instruct", HUGE)
    write_model(
        folder / "Llama-3.2-1B-Instruct-Q8_0.gguf",
        "Llama 3.2 1B Instruct",
        Shape(16, 2048, 8192, 32, 8),
        Q8_0,
        architecture="llama",
        other_vocabulary=True,
    )
    (folder / "half-a-download.gguf").write_bytes(b"GGUF\3\0\0\0 and then nothing")


def make_repository(
    folder: Path,
    repo: str,
    files: Mapping[str, tuple[Shape, int]],
    details: Mapping[str, object] | None = None,
) -> None:
    """Make a repository whose models have real headers and pretended sizes."""
    place = folder / repo
    pretend = {}
    for name, (shape, kind) in files.items():
        pretend[name] = write_model(place / name, name, shape, kind, keeps_size=False)
    (place / "repo.json").write_text(json.dumps({**(details or {}), "pretend": pretend}))


def demo_repositories(folder: Path) -> tuple[str, str]:
    """Make a repository for each model of the demo pair; returns both references."""
    references = []
    for role, path in zip(("target", "draft"), files_of_ours.demo_pair(), strict=True):
        place = folder / "paceline" / f"demo-{role}-GGUF"
        place.mkdir(parents=True)
        (place / path.name).symlink_to(path)
        (place / "repo.json").write_text(
            json.dumps(
                {
                    "downloads": 1200,
                    "likes": 34,
                    "license": "psf-2.0",
                    "gguf": {
                        "total": 17_000_000 if role == "target" else 1_500_000,
                        "architecture": "llama",
                        "context_length": 2048,
                    },
                }
            )
        )
        references.append(f"hf:paceline/demo-{role}-GGUF:{path.name}")
    return references[0], references[1]


class World:
    """Everything around the picker, real; `close` ends it."""

    def __init__(
        self,
        home: Path,
        *,
        endpoint: str = "http://127.0.0.1:9",
        offline: bool = False,
        own_folders: tuple[Path, ...] = (),
        memory: int = 24 * GIB,
        mode: ThemeMode = "light",
        window: QMainWindow | None = None,
        wait: Callable[[Callable[[], bool]], None] | None = None,
    ) -> None:
        self.models = Models(
            Paths(home / "config", home / "data", home / "cache", home / "log"),
            endpoint=endpoint,
            offline=offline,
            own_folders=own_folders,
            environ={"HF_HOME": str(home / "hf")},
            home=home,
        )
        self.window = window or QMainWindow()
        look.set_mode(mode)
        look.use_icons(files_of_ours.resources() / "icons")
        self.notifications = Notifications(self.window)
        self.notices: list[object] = []
        self.notifications.posted.connect(self.notices.append)
        self.background = Background(self.window)
        self.library = LibraryController(self.models.library, self.notifications, self.window)
        self.downloads = DownloadsController(self.models.downloads, self.notifications, self.window)
        self.states = self.downloads.model
        self.hub = HubSearch(self.models.hub, self.window, inspector=self.models.inspector)
        self.pair = PairModel(self.window)
        self.held: Pair | None = None
        self.n_free = memory
        self.devices = CurrentDevices(
            lambda: None, self, self.models, self.window, main_memory=lambda: self.n_free
        )
        self.settings = SettingsStore(Settings(), home / "settings.json", self.window)
        parts: dict[str, Any] = dict.fromkeys(field.name for field in fields(AppContext))
        parts |= {
            "background": self.background, "notices": self.notifications, "window": self.window,
            "pair": self.pair,
            "settings": self.settings,
        }  # fmt: skip
        self.picker = PickerController(
            AppContext(**parts),
            models=self.models,
            library=self.library,
            downloads=self.downloads,
            hub=self.hub,
            devices=self.devices,
        )
        cpu = DeviceInfo("CPU", "AMD Ryzen 7", "cpu", 32 * GIB, memory)
        self.devices.show_engine(EngineDescribed("0.3.36", "", (cpu,)))
        self.devices.show_reading(Reading(8, low=2e10, typical=2.5e10, high=3e10))

    def close(self) -> None:
        """End all of it and its window."""
        self.end()
        self.window.close()
        self.window.deleteLater()

    def end(self) -> None:
        """End all of it, in the order in which a program does; the window stays."""
        self.picker.close()
        self.hub.close()
        self.downloads.close()
        self.models.close()
        self.library.close()
        self.background.close()

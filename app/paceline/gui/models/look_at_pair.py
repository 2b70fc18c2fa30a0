"""Checks files before the loaded pair is given up for them. Worker threads; no QObject.

A wrong file must not cost the user the models that work. Pairs are refused here for the same
reasons as by the engine, but sooner and with a better message.
"""

from __future__ import annotations

import glob
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.catalog.judge.pairing import judge, judge_head
from paceline.catalog.local.model_files import PART
from paceline.catalog.sidecar import HEADS
from paceline.errors import ModelError, UserError
from paceline.gui.state.pair import file_name

if TYPE_CHECKING:
    from paceline.catalog.judge.pairing import Verdict
    from paceline.chat.pair import Pair
    from paceline.gui.models.picker.pair_judgement import Judge

_GGUF_MAGIC = b"GGUF"
_TOO_SLOW = "takes-too-long"
"""A sleeping disk is no reason against a model; the engine waits longer."""

_logger = logging.getLogger(__name__)


def _tr(text: str) -> str:
    return QCoreApplication.translate("LookAtPair", text)


class RefusedPairError(ModelError):
    """The draft model cannot draft for the target.

    Attributes:
        pair: What was to be loaded.
    """

    def __init__(self, pair: Pair, verdict: Verdict) -> None:
        super().__init__(verdict.reasons[0].code, verdict.reasons[0].text)
        self.pair = pair


class Look:
    """Looks at a pair, of which some files are new."""

    def __init__(self, pair: Pair, paths: tuple[str, ...], models: Judge | None = None) -> None:
        self._pair = pair
        self._paths = paths
        self._models = models

    def __call__(self) -> Pair:
        """Return the pair if it can be used.

        Raises:
            RefusedPairError: The two do not go together.
            UserError: A file is no GGUF file, cannot be read, or cannot be used.
        """
        for path in self._paths:
            check_is_gguf(path)
        if self._models is not None:
            try:
                self._examine(self._models)
            except ModelError as error:
                if error.code != _TOO_SLOW:
                    raise
                _logger.warning("%s; the engine will judge it", error.message)
        return self._pair

    def _examine(self, models: Judge) -> None:
        target = models.examine(self._pair.target.path)
        if len(self._pair.files) == 1:
            return
        # Without a remedy: to find one, the library and the Hub may have to be searched.
        file = self._pair.files[1]
        card = models.card(file)
        is_head = card.sidecar in HEADS
        verdict = judge_head(target, card) if is_head else judge(target, models.examine(file))
        if is_head:
            self._pair = replace(self._pair, draft=None, mtp=file)
        if not verdict.ok:
            raise RefusedPairError(self._pair, verdict)


def is_here(pair: Pair) -> bool:
    """Whether all files are there; touches the disk."""
    return all(Path(file).is_file() for file in pair.files)


def check_is_gguf(path: str) -> None:
    """Read a file's first bytes.

    Raises:
        UserError: It is no GGUF file, or cannot be read.
    """
    name = file_name(path)
    try:
        with Path(path).open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise UserError(
            "file-not-readable",
            _tr("“{}” cannot be read: {}.").format(name, error.strerror or error),
            _tr("Check that it is there and that you may read it."),
        ) from error
    if magic != _GGUF_MAGIC:
        raise ModelError(
            "not-a-gguf",
            _tr("“{}” is not a GGUF model file.").format(name),
            _tr("Choose a file that ends in .gguf; other formats must be converted first."),
        )


def first_parts(paths: list[str]) -> list[str]:
    """The paths without the later parts of split models, which are loaded through the first."""
    parts = [(path, PART.search(path)) for path in paths]
    return [path for path, part in parts if part is None or int(part[1]) == 1] or paths[:1]


def size_of(path: str) -> int:
    """Bytes of a model, all its parts together; 0 when it cannot be read."""
    split = PART.search(path)
    file = Path(path)
    pattern = f"{glob.escape(file.name[: -len(split[0])])}-*-of-{split[2]}.gguf" if split else ""
    try:
        parts = file.parent.glob(pattern) if split else [file]
        return sum(part.stat().st_size for part in parts)
    except OSError:
        return 0

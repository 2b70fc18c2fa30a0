"""The folders of the program's files, and the folder of the files that it ships.

Nothing here accesses the disk when it is imported or when `Paths` is made: a folder is created when
`ensure` is called, right before something is written into it. The engine has no paths of its own;
its commands contain them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from paceline.errors import UserError
from paceline.files import private_folder
from paceline.sentence import sentence

OLD_MEMORY = "drafts"
"""Folder below `Paths.data_dir` in which drafters kept texts before they used stored chats."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of one user.

    Attributes:
        config_dir: Folder of the settings.
        data_dir: Folder of conversations, run records, downloaded models: what a backup should
            keep.
        cache_dir: Folder of measured facts about machine and models; may be deleted at any time.
        log_dir: Folder of log files.
    """

    config_dir: Path
    data_dir: Path
    cache_dir: Path
    log_dir: Path

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Paths:
        """Return the folders below PACELINE_HOME if it is set, else those of the operating system.

        Raises:
            UserError: The user's home is not known.
        """
        home = (os.environ if environ is None else environ).get("PACELINE_HOME", "").strip()
        if home:
            return cls.below(Path(home))
        of = platformdirs.PlatformDirs("paceline", appauthor=False)
        try:
            return cls(of.user_config_path, of.user_data_path, of.user_cache_path, of.user_log_path)
        except RuntimeError:  # neither HOME nor the user database has it
            raise UserError(
                "no-such-home",
                "Your home folder is not known.",
                "Set HOME, or PACELINE_HOME to a folder that you can write to.",
            ) from None

    @property
    def models_dir(self) -> Path:
        """The folder of models that this program has downloaded, as ``OWNER/REPO/FILE``."""
        return self.data_dir / "models"

    @property
    def states_dir(self) -> Path:
        """The folder of the states of texts that models have read; see `StateStorage`."""
        return self.cache_dir / "states"

    @property
    def old_memory(self) -> Path:
        """The folder that is deleted at the start; see `OLD_MEMORY`."""
        return self.data_dir / OLD_MEMORY

    @classmethod
    def below(cls, home: Path) -> Paths:
        """Return folders that are all below one folder.

        Raises:
            UserError: The path begins with the home of a user who does not exist.
        """
        try:
            home = home.expanduser().absolute()
        except RuntimeError:
            raise UserError(
                "no-such-home",
                "The folder {home} cannot be used: there is no such user.",
                "Set PACELINE_HOME to a folder that you can write to.",
                home=home,
            ) from None
        return cls(home / "config", home / "data", home / "cache", home / "log")


def ensure(folder: Path) -> Path:
    """Create a folder that only its owner can read, with its parents, and return it.

    An existing folder is left unchanged.

    Raises:
        UserError: The folder cannot be created.
    """
    try:
        private_folder(folder)
        why = "" if folder.is_dir() else sentence("{folder} is not a folder", folder=folder)
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        raise UserError(
            "folder-not-writable",
            "The folder {folder} cannot be created ({why}).",
            "Set PACELINE_HOME to a folder that you can write to.",
            folder=folder,
            why=why,
        )
    return folder


def check_readable(paths: Paths) -> None:
    """Check that the user may read the folders of settings and chats.

    Folders that are missing or read-only do not matter.

    Raises:
        UserError: A folder belongs to another user.
    """
    for folder in (paths.config_dir, paths.data_dir):
        try:
            os.scandir(folder).close()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UserError(
                "folder-not-readable",
                "The folder {folder} cannot be read ({why}).",
                "Set PACELINE_HOME to a folder that you can write to.",
                folder=folder,
                why=error.strerror or str(error),
            ) from None


def resources() -> Path:
    """Return the folder of the files shipped with the program.

    A wheel has them inside the package, a frozen program beside its modules, and a checkout at its
    top.

    Raises:
        UserError: They are in none of these places.
    """
    package = Path(__file__).resolve().parent
    frozen = getattr(sys, "_MEIPASS", None)
    places = [
        package / "_resources",
        *([Path(frozen) / "resources"] if frozen else []),
        package.parents[1] / "resources",
    ]
    for place in places:
        if place.is_dir():
            return place
    raise UserError(
        "resources-missing",
        "The files that belong to Paceline are missing.",
        "Install it again.",
    )


def demo_pair(shipped: Path | None = None) -> tuple[Path, Path]:
    """Return target and draft model of the built-in demo pair, below `resources` by default."""
    models = (shipped or resources()) / "models"
    return models / "paceline-demo-target-q8_0.gguf", models / "paceline-demo-draft-q8_0.gguf"

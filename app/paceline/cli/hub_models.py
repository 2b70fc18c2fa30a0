"""References to the Hub on the command line: what they stand for is downloaded before it is loaded.

Everything that knows the Hub is loaded only when a reference is given, since its HTTP client takes
longer to load than a small model.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.catalog.hub.references import is_reference
from paceline.cli.interrupts import EXIT_CODE
from paceline.errors import CancelledError, UserError
from paceline.paths import Paths
from paceline.settings import SETTINGS_FILE, peek_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.catalog.models import Models
    from paceline.messages import LoadPair
    from paceline.params import ModelParams


class StoppedError(UserError):
    """Ctrl+C was pressed."""

    exit_code = EXIT_CODE


def open_models(paths: Paths, folders: Sequence[Path] = ()) -> Models:
    """Return the door to files and Hub, as the settings of the window say; close it at the end.

    Args:
        paths: The program's folders.
        folders: More of the user's own than the settings name.
    """
    from paceline.catalog.hub.client import is_offline
    from paceline.catalog.models import Models

    settings = peek_settings(paths.config_dir / SETTINGS_FILE)
    return Models(
        paths,
        offline=settings.hub_offline or is_offline(os.environ),
        own_folders=[*map(Path, settings.model_folders), *folders],
    )


def with_local_files(load: LoadPair, paths: Paths, is_stopped: Callable[[], bool]) -> LoadPair:
    """Return the same load with files in place of references, downloaded if they are not here.

    Progress goes to stderr.

    Raises:
        UserError: A file cannot be had; what has arrived is kept.
    """
    named = [p.path for p in (load.target, load.draft) if p and is_reference(p.path)]
    if not named:
        return load
    from paceline.cli.hub_download import Reporter

    models, reporter = open_models(paths), Reporter()

    def local(params: ModelParams) -> ModelParams:
        if not is_reference(params.path):
            return params
        return replace(params, path=models.local_path(params.path, reporter.show, is_stopped))

    try:
        return replace(
            load, target=local(load.target), draft=local(load.draft) if load.draft else None
        )
    except (CancelledError, UserError) as error:
        raise _stopped(error, is_stopped) from None
    finally:
        models.close()
        reporter.close()


def _stopped(error: CancelledError | UserError, is_stopped: Callable[[], bool]) -> UserError:
    """Return what to report: whatever goes wrong after Ctrl+C is its consequence."""
    if is_stopped() or isinstance(error, CancelledError):
        return StoppedError(
            "cancelled",
            "Stopped before the model was here; what has arrived is kept.",
            "The same command goes on from there.",
        )
    return error

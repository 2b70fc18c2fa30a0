"""The picker's tab of the Hub: its wishes go to the `HubController`, answers come back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.catalog.hub.values import HubChoice, HubRepository
    from paceline.catalog.models import Models
    from paceline.errors import UserError
    from paceline.gui.hub_controller import HubController
    from paceline.gui.widgets.picker.dialog import PickerDialog


class PickerHub(QObject):
    """Serves one dialog after the other."""

    online_chosen = Signal()
    """The user has left the offline mode."""

    def __init__(
        self,
        models: Models,
        hub: HubController,
        n_free: Callable[[], int],
        parent: QObject | None = None,
    ) -> None:
        """`n_free` tells how many bytes of memory a model may take."""
        super().__init__(parent)
        self._models = models
        self._hub = hub
        self._n_free = n_free
        self._dialog: PickerDialog | None = None
        hub.repository_ready.connect(self._on_repository)
        hub.repository_failed.connect(self._on_repository_failed)
        hub.token_kept.connect(self._on_token_kept)
        hub.token_failed.connect(self._on_token_failed)

    def serve(self, dialog: PickerDialog) -> None:
        """Listen to a dialog."""
        self._dialog = dialog
        page = dialog.hub
        page.search_requested.connect(self._hub.search)
        page.typed.connect(self._hub.search_soon)
        page.more_requested.connect(self._hub.more)
        page.repository_requested.connect(self._on_repository_requested)
        page.online_requested.connect(self._on_online)
        page.card.token_given.connect(self._hub.set_token)
        dialog.recommended.repository_wanted.connect(self._on_repository_wanted)

    def leave(self) -> None:
        """The dialog is gone."""
        self._dialog = None

    @Slot(str)
    def _on_repository_requested(self, repo: str) -> None:
        self._hub.open_repository(repo, self._n_free())

    @Slot(str)
    def _on_repository_wanted(self, repo: str) -> None:
        if self._dialog is not None:
            self._dialog.show_page(self._dialog.hub)
            self._dialog.hub.open_repository(repo)

    @Slot(object, object)
    def _on_repository(self, repository: HubRepository, best: HubChoice | None) -> None:
        if self._dialog is not None:
            self._dialog.hub.show_repository(repository, best)

    @Slot(object)
    def _on_repository_failed(self, error: UserError) -> None:
        if self._dialog is not None:
            self._dialog.hub.show_repository_failed(error)

    @Slot()
    def _on_token_kept(self) -> None:
        """Look again, with the token."""
        if self._dialog is not None:
            self._dialog.hub.look_again()

    @Slot(object)
    def _on_token_failed(self, error: UserError) -> None:
        if self._dialog is not None:
            self._dialog.show_problem(f"{error.message} {error.hint}".strip())

    @Slot()
    def _on_online(self) -> None:
        self._hub.set_offline(False)
        self._models.offline = False
        self.online_chosen.emit()
        if self._dialog is not None:
            self._dialog.hub.look_again()

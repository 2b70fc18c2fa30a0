"""The folders that a store keeps, in memory for the window. One thread."""

from __future__ import annotations

from paceline.conversation import Folder, clean
from paceline.storage.archive import ConversationStore


class Folders:
    """Folders by their ids; a chat names the one that it is in, which need not be there any more.

    Args:
        store: Keeps them; private chats may be in one, too, which is known in memory alone.
    """

    def __init__(self, store: ConversationStore) -> None:
        self._store = store
        self._folders = {folder.folder_id: folder for folder in store.folders()}

    @property
    def all(self) -> tuple[Folder, ...]:
        """Every folder, by their names."""
        return tuple(sorted(self._folders.values(), key=lambda f: (f.name.casefold(), f.folder_id)))

    def get(self, folder_id: str) -> Folder | None:
        """Return a folder, or None if there is none with this id."""
        return self._folders.get(folder_id)

    def look_again(self) -> None:
        """Read the folders again, including those that could not be read before.

        Raises:
            UserError: They still cannot be read.
        """
        self._folders = {f.folder_id: f for f in self._store.folders()} | self._folders

    def put(self, folder: Folder) -> None:
        """Keep a folder that is new, changed, or comes back; a blank name keeps the old one."""
        old = self.get(folder.folder_id)
        name = " ".join(clean(folder.name).split()) or (old.name if old else "")
        if name:
            kept = Folder(folder.folder_id, name, clean(folder.instructions).strip())
            self._folders[kept.folder_id] = kept
            self._store.save_folder(kept)

    def remove(self, folder_id: str) -> None:
        """Delete a folder until it is `put` again; its chats stay, and are in none meanwhile."""
        del self._folders[folder_id]
        self._store.purge(folder_id)

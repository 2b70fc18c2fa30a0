"""The page of settings about other computers: their RPC servers, and how to start one."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from paceline.engine.model.rpc_servers import PORT, ServerAnswer, is_loopback, read_server
from paceline.errors import ValueOutOfRangeError
from paceline.gui.chat.markdown.code_buttons import CopyButton
from paceline.gui.kit.labels import (
    BreakingLabel,
    YieldingCheckBox,
    say,
    text_label,
    with_soft_breaks,
)
from paceline.gui.kit.layouts import IconButton, column_of, discard, row_of, set_look, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size
from paceline.gui.look.scale import HALF, STEP, px
from paceline.gui.machines.servers import RpcServers
from paceline.gui.settings.forms import OwnField, SettingsPage
from paceline.gui.state.settings_store import SettingsStore
from paceline.messages import DeviceInfo
from paceline.settings import MAX_SERVERS, KeptServer

COMMAND = "paceline rpc-server"
_ADDRESS_PLACEHOLDER = "OTHER-COMPUTER"
"""Placeholder in a command without a known address, as in the guide."""


class ServerRow(QWidget):
    """A switch with an address, a button that removes it, and below it the server's devices."""

    used = Signal(str, bool)
    removed = Signal(str)

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.box = YieldingCheckBox(address)
        self.box.setToolTip(self.tr("Put layers of models on this computer"))
        self.remove = IconButton("close", self.tr("Remove {}").format(address))
        self.state = text_label("", wraps=True, plain=True)
        self.state.setContentsMargins(px(20), 0, 0, 0)
        head = row_of((self.box, 1), self.remove, spacing=STEP)
        column_of(head, self.state, on=self, margins=0, spacing=2)
        self.box.clicked.connect(self._on_clicked)
        self.remove.clicked.connect(self._on_remove)

    def show_state(self, words: str, *, is_wrong: bool = False) -> None:
        """Show the server's devices, or why it cannot be used."""
        self.state.setText(with_soft_breaks(words))
        set_look(self.state, role="danger" if is_wrong else "small")
        self.box.setAccessibleDescription(words)

    @Slot(bool)
    def _on_clicked(self, is_used: bool) -> None:  # noqa: FBT001
        self.used.emit(self.address, is_used)

    @Slot()
    def _on_remove(self) -> None:
        self.removed.emit(self.address)


class ServerList(OwnField):
    """List of the servers, with a field for another one; a removed one can be restored."""

    def __init__(self, store: SettingsStore, servers: RpcServers) -> None:
        super().__init__(store.setting("rpc_servers"))
        self._servers = servers
        self.rows: list[ServerRow] = []
        self._before: tuple[KeptServer, ...] = ()
        self.field = QLineEdit(maxLength=300)
        self.field.setPlaceholderText(f"192.168.1.5:{PORT}")
        self.field.setAccessibleName(self.tr("Address of an RPC server"))
        self.add = QPushButton(self.tr("Add"), autoDefault=False)
        self.problem = text_label("", "danger", wraps=True, plain=True)
        self.remark = text_label("", plain=True)
        self.undo = styled(QPushButton(self.tr("Undo"), autoDefault=False), kind="quiet")
        self.again = QPushButton(self.tr("Ask again"), autoDefault=False)
        self.again.setToolTip(self.tr("Ask all of them what they lend now"))
        self._column = column_of(
            row_of((self.field, 1), self.add, spacing=STEP),
            self.problem,
            row_of(self.again, self.remark, self.undo, None, spacing=STEP),
            on=self,
            margins=0,
            spacing=HALF,
        )
        self.setFocusProxy(self.field)
        self.field.returnPressed.connect(self._on_add)
        self.field.textChanged.connect(self._on_typed)
        self.add.clicked.connect(self._on_add)
        self.undo.clicked.connect(self._on_undo)
        self.again.clicked.connect(servers.ask)
        servers.changed.connect(self.show_servers)
        self._on_typed()
        self._show_remark("")

    def showEvent(self, event: QShowEvent) -> None:
        """Query the servers."""
        super().showEvent(event)
        self._servers.ask()

    @Slot()
    def show_servers(self) -> None:
        """Show the servers and their answers."""
        kept = self._servers.kept
        if [row.address for row in self.rows] != [server.address for server in kept]:
            discard(self.rows)
            self.rows = [self._row(server.address) for server in kept]
            for at, row in enumerate(self.rows):
                self._column.insertWidget(at, row)
        for row, server in zip(self.rows, kept, strict=True):
            row.box.setChecked(server.is_used)
            self._show_state(row)
        self.again.setVisible(bool(self.rows))

    def _row(self, address: str) -> ServerRow:
        row = ServerRow(address)
        row.used.connect(self._on_used)
        row.removed.connect(self._on_removed)
        return row

    def _show_state(self, row: ServerRow) -> None:
        address = row.address
        answer = self._servers.answers.get(address)
        if devices := self._servers.devices(address):
            words = self.tr("In use by the loaded models: {}.")
            row.show_state(words.format("; ".join(map(self._device, devices))))
        elif answer is None:
            row.show_state(self.tr("Asking…") if self._servers.is_asked(address) else "")
        elif answer.problem is not None:
            problem = answer.problem
            words = said(problem.message, problem.hint)
            row.show_state(words, is_wrong=row.box.isChecked())
        else:
            row.show_state("; ".join(map(self._memory, answer.memory)))

    def _device(self, device: DeviceInfo) -> str:
        memory = self._memory((device.total_bytes, device.free_bytes))
        return self.tr("{} with {}").format(device.name, memory)

    def _memory(self, memory: tuple[int, int]) -> str:
        total, free = map(local_size, memory)
        return self.tr("{}, {} free").format(total, free)

    @Slot()
    def _on_typed(self) -> None:
        self.add.setEnabled(bool(self.field.text().strip()))
        say(self.problem, "")

    @Slot()
    def _on_add(self) -> None:
        if not self.field.text().strip():
            return
        try:
            address = read_server(self.field.text())
        except ValueOutOfRangeError as error:
            say(self.problem, with_soft_breaks(said(error.message, error.hint)))
            return
        if any(server.address == address for server in self._servers.kept):
            words = self.tr("{} is in the list.").format(address)
            say(self.problem, with_soft_breaks(words))
        elif len(self._servers.kept) == MAX_SERVERS:
            say(self.problem, self.tr("These are as many as there can be."))
        else:
            self._show_remark("")
            self.field.clear()
            self._servers.add(address)

    @Slot(str, bool)
    def _on_used(self, address: str, is_used: bool) -> None:  # noqa: FBT001
        self._show_remark("")
        self._servers.use(address, is_used=is_used)

    @Slot(str)
    def _on_removed(self, address: str) -> None:
        self._before = self._servers.kept
        self._servers.remove(address)
        self._show_remark(self.tr("{} was removed.").format(address))
        self.undo.setFocus()

    @Slot()
    def _on_undo(self) -> None:
        self._show_remark("")
        self.setting.set_value(self._before)
        self._servers.ask()
        self.field.setFocus()

    def _show_remark(self, words: str) -> None:
        say(self.remark, words)
        self.undo.setVisible(bool(words))


class CommandRow(QWidget):
    """A command with a button that copies it, below a sentence about it."""

    def __init__(self, explanation: str) -> None:
        super().__init__()
        self.command = styled(BreakingLabel(), role="value")
        self.copy = CopyButton()
        self.copy.setAccessibleName(self.tr("Copy the command"))
        line = row_of((self.command, 1), self.copy, spacing=STEP)
        column_of(text_label(explanation, wraps=True), line, on=self, margins=0, spacing=2)

    def show_command(self, command: str) -> None:
        """Show a command, which the button copies."""
        self.command.setText(command)
        self.copy.set_code(command)


class MachinesPage(SettingsPage):
    """Settings about other computers."""

    guide_wanted = Signal(str)
    """The guide is to be shown at this heading."""

    def __init__(self, store: SettingsStore, servers: RpcServers) -> None:
        super().__init__(QCoreApplication.translate("MachinesPage", "Other computers"), store)
        self._servers = servers

    def _fill(self) -> None:
        lent = self.section(self.tr("Computers that lend their devices"))
        self.list = ServerList(self._store, self._servers)
        self.add_row(
            lent,
            self.tr("RPC servers"),
            self.tr(
                "Layers of models can lie in the memory of these computers and are computed there. "
                "A model then needs all computers that are ticked. Whenever a tick changes, the "
                "models are loaded again."
            ),
            self.list,
            "rpc gpu network",
        )
        self.warning = text_label("", wraps=True)
        self.add(lent, self.warning, self.tr("security encryption key"))

        share = self.section(self.tr("How to lend a computer's devices"))
        self.start = CommandRow(
            self.tr(
                "On that computer, where Paceline of the same version is installed. It says where "
                "it listens; no models are needed there."
            )
        )
        self.start.show_command(COMMAND)
        self.add(share, self.start, COMMAND)
        self.tunnel = CommandRow(
            self.tr(
                "On this computer, for a connection that asks for your key and is encrypted. It "
                "has to stay open."
            )
        )
        self.add(share, self.tunnel, "ssh")
        self.near_end = text_label(wraps=True)
        self.add(share, self.near_end)
        self.guide = styled(
            QPushButton(self.tr("More in the guide"), autoDefault=False), kind="link"
        )
        self.guide.clicked.connect(self._on_guide)
        share.body.addLayout(row_of(self.guide, None))
        self.list.field.textChanged.connect(self._show_tunnel)
        self._servers.changed.connect(self._show)
        self._show()

    @Slot()
    def _show(self) -> None:
        self.list.show_servers()
        self._show_warning()
        self._show_tunnel()

    def _show_warning(self) -> None:
        """Show the general warning, in red where a server is reached without a tunnel."""
        open_ones = [
            server.address
            for server in self._servers.kept
            if server.is_used and not _is_near(server.address, self._servers.answers)
        ]
        words = self.tr(
            "RPC servers know no key and no encryption: all who reach the port can read what is "
            "computed, your prompts among it, and can crash or misuse the program."
        )
        if open_ones:
            by_network = self.tr(
                "{} is used without a tunnel, so this holds for its whole network."
            )
            words = f"{words} {by_network.format(', '.join(open_ones))}"
        self.warning.setText(with_soft_breaks(words))
        set_look(self.warning, role="danger" if open_ones else "small")

    @Slot()
    def _show_tunnel(self) -> None:
        """Insert the typed address, or the first remote one, into the commands."""
        typed = self.list.field.text().strip()
        host, port = _ADDRESS_PLACEHOLDER, PORT
        for text in (typed, *(server.address for server in self._servers.kept)):
            try:
                name, _, number = read_server(text).rpartition(":")
            except ValueOutOfRangeError:
                continue
            if not is_loopback(name):
                host, port = name, int(number)
                break
        taken = {server.address for server in self._servers.kept}
        near = next(n for n in range(PORT, PORT + MAX_SERVERS + 1) if f"127.0.0.1:{n}" not in taken)
        self.tunnel.show_command(f"ssh -N -L {near}:127.0.0.1:{port} {host}")
        words = self.tr("Then add {} above.")
        self.near_end.setText(words.format(f"127.0.0.1:{near}"))

    @Slot()
    def _on_guide(self) -> None:
        self.guide_wanted.emit(self.tr("More than one machine"))


def _is_near(address: str, answers: dict[str, ServerAnswer]) -> bool:
    """Return whether a server is reached on this computer, directly or by a tunnel."""
    answer = answers.get(address)
    return is_loopback(answer.address if answer is not None else "") or is_loopback(
        address.rpartition(":")[0]
    )

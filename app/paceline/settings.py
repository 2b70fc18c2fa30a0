"""The settings that the program stores between two starts: one frozen value, one JSON file.

Nothing here is global: the composition root loads the value, passes it on and saves the next one. A
file that cannot be parsed is never overwritten: it is renamed, and the defaults are used. Any
thread; no Qt.
"""

from __future__ import annotations

import dataclasses
import json
import math
import typing
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from paceline.codec import CodecError, decode, encode, misfit
from paceline.errors import ValueOutOfRangeError
from paceline.files import first_free, write_whole
from paceline.messages import StateStorage
from paceline.parameters import check_fields
from paceline.params import (
    AUTO,
    Drafting,
    DraftModel,
    KernelWish,
    ModelParams,
    Prompting,
    ReplySettings,
    read_head,
)

if typing.TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SETTINGS_FILE = "settings.json"
"""Name of the file below `Paths.config_dir`."""
KERNELS_VARIABLE = "PACELINE_KERNELS"
SCHEMA_VERSION = 1
MAX_PAIRS = 50
"""Maximum number of stored pairs, so that a chat can offer those that answered it."""
ThemeMode = Literal["system", "light", "dark"]
EngineHost = Literal["process", "thread"]
Motion = Literal["system", "full", "reduced"]
ChatWidth = Literal["narrow", "normal", "full"]
Density = Literal["comfortable", "compact"]
SendKey = Literal["enter", "ctrl+enter"]
PanelTab = Literal["speed", "chat"]
MIN_FONT_PX, MAX_FONT_PX = 11, 22
MAX_LEARNED_MB = 8
MAX_STATES_MB = 10_000_000
MAX_PRESETS = 100
MAX_PROMPTINGS = 50
MAX_SERVERS = 32
PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")
SERVER_PORT = 8642
SERVER_QUEUE = 16
"""Default number of requests of other programs that may wait."""
MIN_PORT, MAX_PORT = 1_024, 65_535
"""Range of ports that need no administrator rights."""


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """State of the window; sizes in device-independent pixels.

    Attributes:
        geometry: Result of `QWidget.saveGeometry`, in base64; empty for the default size.
        sidebar_visible: Whether the list of conversations is shown.
        panel_visible: Whether the speculation panel is shown.
        sidebar_width: Width of the list.
        panel_width: Width of the panel.
        panel_tab: The tab of the panel that is shown.
        open_sections: Names of the foldable sections that are open.
        open_conversation: Id of the conversation that was shown; empty for a new one.
    """

    geometry: str = ""
    sidebar_visible: bool = True
    panel_visible: bool = True
    sidebar_width: int = 248
    panel_width: int = 356
    panel_tab: PanelTab = "speed"
    open_sections: tuple[str, ...] = ()
    open_conversation: str = ""


@dataclass(frozen=True, slots=True)
class KeptPair:
    """A pair of models in settings and reports.

    Attributes:
        target: The target with its load settings.
        draft: The draft model with its load settings, or None.
        lookup_cache: A static lookup-cache file; empty for none.
        exact: Whether batch widths are used that make a reply the same with any strategy.
        mtp: The head that drafts if there is no draft model: "auto", "off", or its file, with
            ``KIND=`` before a file of another kind than `MTP`.
    """

    target: ModelParams
    draft: ModelParams | None = None
    lookup_cache: str = ""
    exact: bool = False
    mtp: str = AUTO

    @property
    def drafting(self) -> Drafting:
        """The draft model or head, or None."""
        return DraftModel(self.draft) if self.draft is not None else read_head(self.mtp)


@dataclass(frozen=True, slots=True)
class SavedPair(KeptPair):
    """A pair that was used, to be loaded again with one click; empty paths mean built-in models.

    Attributes:
        name: Name in the menu; empty for the names of the files.
    """

    name: str = ""


@dataclass(frozen=True, slots=True)
class ReplyPreset:
    """Settings of replies under a name chosen by the user."""

    name: str
    settings: ReplySettings = field(default_factory=ReplySettings)


@dataclass(frozen=True, slots=True)
class DraftPreset:
    """A strategy with its settings, under a name, for one pair of models.

    Attributes:
        name: Name chosen by the user; empty for the strategy last used with this pair.
        target: File name of the target.
        draft: File name of the draft model; empty for none.
        strategy: ``ID[+ID…][:key=value]…``.
    """

    name: str
    target: str
    draft: str
    strategy: str


@dataclass(frozen=True, slots=True)
class ModelPrompting:
    """Prompt settings that the user chose for one model.

    Attributes:
        target: The model's `ModelInfo.file_id`, or its file name in old settings.
        prompting: The settings.
    """

    target: str
    prompting: Prompting


@dataclass(frozen=True, slots=True)
class KeptServer:
    """An RPC server, which lends devices of another computer.

    Attributes:
        address: As HOST:PORT.
        is_used: Whether models may be put on its devices.
    """

    address: str
    is_used: bool = True


@dataclass(frozen=True, slots=True)
class Settings:
    """All stored settings.

    Attributes:
        theme: Colours; "system" follows the desktop.
        token_colours: Whether replies show where each token came from.
        wraps_code: Whether long lines of code are wrapped; otherwise they are scrolled.
        strategies: Strategy texts, ``ID[+ID…][:key=value]…``: first the chosen one, then the last
            settings of the others, and the user's own chains.
        learns_from_chats: Whether lookups may use the texts of stored chats.
        learned_mb: Maximum megabytes of text that they use, the newest first.
        was_told_of_learning: Whether the user was informed of that.
        engine_host: Host of the window's engine: a separate process, which can crash without the
            window, or a thread of the window's process.
        kernels: Kernels for the CPU; "auto" follows the variable `KERNELS_VARIABLE`, if it is set.
        window: State of the window.
        pairs: The last used pairs, the newest first, at most `MAX_PAIRS`.
        model_folders: The user's own folders of models, besides those found automatically.
        hub_offline: Whether the Hub must not be accessed.
        hub_proxy: Address of the proxy for the Hub; empty to follow the environment.
        download_folder: Folder for downloaded models; empty for `Paths.models_dir`.
        usual_ctx: Context in tokens of models with an automatic one; 0 for the default of
            `ModelParams`.
        usual_threads: Threads of models with an automatic number; 0 for the default of
            `ModelParams`.
        reply_presets: The user's presets of reply settings, in order.
        default_preset: Key of the preset for new chats, as in `gui.sampling.presets`; an unknown
            one means the first built-in preset.
        draft_presets: Strategies stored per pair.
        promptings: Prompt settings chosen for models, the newest first, at most `MAX_PROMPTINGS`.
        keeps_on_edit: Whether the reply to an edited question is drawn with the old one's seed, so
            that unaffected parts stay the same.
        cuts_long_chats: Whether the oldest messages are omitted when a chat outgrows the context;
            otherwise such a message is refused.
        font_px: Size of running text in device-independent pixels.
        motion: Amount of animation; "system" follows the desktop.
        chat_width: Maximum width of messages and of the composer.
        density: Spacing between messages, and in the rows of the list of chats.
        language: "system", or a language with a translation ("en", "de").
        send_key: Key that sends a message; the other one inserts a line break.
        opens_last_chat: Whether a start shows the last chat, or a new one.
        reads_ahead: Whether the certain beginning of the next prompt is read while it is written.
        writes_titles: Whether the model writes titles of chats in idle time.
        open_folders: Ids of the folders, and of the archive, whose chats the list shows.
        was_welcomed: Whether the first-run page has been left.
        n_replies: Number of replies finished in the window, counted up to a few, since the first
            ones are not judged.
        recent_commands: Group and title of the last commands of the palette, the newest first.
        keeps_states: Whether states of models are stored after reading prompts.
        states_disk_mb: Maximum megabytes of these on disk; -1 for the default of `StateStorage`.
        states_memory_mb: Maximum megabytes of these in memory; -1 for the default of
            `StateStorage`.
        serves: Whether other programs on this computer may use the models, over HTTP.
        serving_port: Port of the HTTP server.
        serving_needs_key: Whether programs must send `serving_key`.
        serving_key: Key for programs; empty until it is first needed.
        serving_remembers: Whether drafts for them may come from the user's chats.
        serving_loads: Whether they may request another model than the loaded one.
        serving_ignored: Regular expressions of lines in their system prompts whose changes are
            ignored.
        rpc_servers: Other computers' RPC servers, at most `MAX_SERVERS`, each address once.
    """

    theme: ThemeMode = "system"
    token_colours: bool = True
    wraps_code: bool = True
    strategies: tuple[str, ...] = ("auto",)
    learns_from_chats: bool = True
    learned_mb: int = 2
    was_told_of_learning: bool = False
    engine_host: EngineHost = "process"
    kernels: KernelWish = "auto"
    window: WindowSettings = field(default_factory=WindowSettings)
    pairs: tuple[SavedPair, ...] = ()
    model_folders: tuple[str, ...] = ()
    hub_offline: bool = False
    hub_proxy: str = ""
    download_folder: str = ""
    usual_ctx: int = 0
    usual_threads: int = 0
    reply_presets: tuple[ReplyPreset, ...] = ()
    default_preset: str = ""
    draft_presets: tuple[DraftPreset, ...] = ()
    promptings: tuple[ModelPrompting, ...] = ()
    keeps_on_edit: bool = True
    cuts_long_chats: bool = True
    font_px: int = 14
    motion: Motion = "system"
    chat_width: ChatWidth = "normal"
    density: Density = "comfortable"
    language: str = "system"
    send_key: SendKey = "enter"
    opens_last_chat: bool = True
    reads_ahead: bool = True
    writes_titles: bool = True
    open_folders: tuple[str, ...] = ()
    was_welcomed: bool = False
    n_replies: int = 0
    recent_commands: tuple[tuple[str, str], ...] = ()
    keeps_states: bool = True
    states_disk_mb: int = -1
    states_memory_mb: int = -1
    serves: bool = False
    serving_port: int = SERVER_PORT
    serving_needs_key: bool = True
    serving_key: str = ""
    serving_remembers: bool = False
    serving_loads: bool = False
    serving_ignored: tuple[str, ...] = ()
    rpc_servers: tuple[KeptServer, ...] = ()

    @property
    def used_servers(self) -> tuple[str, ...]:
        """The RPC servers whose devices models may use, as HOST:PORT."""
        return tuple(server.address for server in self.rpc_servers if server.is_used)

    @property
    def host_in_force(self) -> EngineHost:
        """The effective host of the engine: with RPC servers a process, since they may end it."""
        return "process" if self.used_servers else self.engine_host


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and the new path of an unusable file, or None if there was none."""

    settings: Settings
    put_aside: Path | None = None


def kernels_of_environment(environ: Mapping[str, str]) -> KernelWish:
    """Return the kernels that the environment variable requests; "auto" if it is not set.

    Raises:
        ValueOutOfRangeError: The variable has another value.
    """
    value = environ.get(KERNELS_VARIABLE, "").strip()
    for wish in typing.get_args(KernelWish):
        if value in {wish, ""}:
            return typing.cast("KernelWish", wish)
    raise ValueOutOfRangeError(
        "value-out-of-range",
        "The variable {name} cannot be “{value:.60}”.",
        "Set it to own or to stock, or take it away.",
        name=KERNELS_VARIABLE,
        value=value,
    )


def state_storage(settings: Settings, folder: Path) -> StateStorage | None:
    """Return the storage of the states of prompts, or None if they are not stored.

    Args:
        settings: The settings.
        folder: Folder of their files.
    """
    if not settings.keeps_states:
        return None
    memory, disk = settings.states_memory_mb, settings.states_disk_mb
    return StateStorage(
        memory * 1_000_000 if memory >= 0 else -1,
        str(folder),
        disk * 1_000_000 if disk >= 0 else -1,
    )


def left_learning_off(settings: Settings, old_memory: Path) -> bool:
    """Return whether an older version's switch for learning was used, and off in the end.

    The folder of its texts is the only sign of that, so call this before deleting it.
    """
    return not settings.was_told_of_learning and any(old_memory.glob("*/chats"))


def load_settings(path: Path) -> LoadedSettings:
    """Read the file; a missing one gives the defaults, an unusable one is renamed."""
    try:
        return LoadedSettings(_read(path))
    except FileNotFoundError:
        return LoadedSettings(Settings())
    except (OSError, ValueError, RecursionError):
        return LoadedSettings(Settings(), _put_aside(path))


def peek_settings(path: Path) -> Settings:
    """Read the file without changing it; an unusable one gives the defaults."""
    try:
        return _read(path)
    except (OSError, ValueError, RecursionError):
        return Settings()


def save_settings(path: Path, settings: Settings) -> None:
    """Write the file atomically, readable only by its owner.

    Raises:
        OSError: The folder cannot be written.
    """
    data = {"version": SCHEMA_VERSION, **encode(settings)}
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    # File names may contain bytes that are not text; Python's escapes for them are valid in JSON.
    write_whole(path, text.encode("utf-8", errors="backslashreplace"))


def check_settings(settings: Settings) -> None:
    """Refuse values that the file cannot hold.

    Raises:
        ValueError: A value is out of range, or there are too many of something.
    """
    in_range = (
        all(_is_in_range(preset.settings) for preset in settings.reply_presets)
        and bool(settings.strategies)
        and len(settings.pairs) <= MAX_PAIRS
        and 1 <= settings.learned_mb <= MAX_LEARNED_MB
        and min(settings.states_disk_mb, settings.states_memory_mb) >= -1
        and max(settings.states_disk_mb, settings.states_memory_mb) <= MAX_STATES_MB
        and MIN_FONT_PX <= settings.font_px <= MAX_FONT_PX
        and len(settings.reply_presets) <= MAX_PRESETS + 1  # one was made from an older file
        and len(settings.promptings) <= MAX_PROMPTINGS
        and MIN_PORT <= settings.serving_port <= MAX_PORT
        and can_be_key(settings.serving_key)
        and can_be_proxy(settings.hub_proxy)
        and _can_be_asked(settings.rpc_servers)
        and _can_be(ModelParams("", settings.usual_ctx, settings.usual_threads))
    )
    if not in_range:
        raise ValueError("a value is out of range")


def can_be_key(text: str) -> bool:
    """Return whether a text can be sent as a key in an HTTP header."""
    return text.isascii() and text.isprintable() and " " not in text


def can_be_proxy(text: str) -> bool:
    """Return whether a text is the address of a proxy, or empty."""
    if not text:
        return True
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    is_clean = text.isascii() and text.isprintable() and " " not in text
    rest = parts.path.strip("/") or parts.query or parts.fragment
    return is_clean and parts.scheme in PROXY_SCHEMES and bool(parts.hostname and port) and not rest


def _can_be_asked(servers: tuple[KeptServer, ...]) -> bool:
    addresses = [server.address for server in servers]
    if not addresses:
        return True
    from paceline.engine.model.rpc_servers import read_server  # noqa: PLC0415  most have none

    try:
        is_read = [read_server(address) for address in addresses] == addresses
    except ValueOutOfRangeError:
        return False
    return is_read and len(set(addresses)) == len(addresses) <= MAX_SERVERS


def _can_be(params: ModelParams) -> bool:
    try:
        check_fields(params)
    except ValueOutOfRangeError:
        return False
    return True


def _is_in_range(settings: ReplySettings) -> bool:
    sampling = settings.sampling
    try:
        check_fields(settings, kept=True)
    except ValueOutOfRangeError:
        return False
    return not (sampling.grammar and sampling.json_schema) and all(
        bias.token >= 0 and not math.isnan(bias.bias) for bias in sampling.logit_bias
    )


def _put_aside(path: Path) -> Path | None:
    """Rename to the first free name; return None if even that is not possible."""
    try:
        return path.rename(first_free(path.parent, f"{path.stem}.unusable-", path.suffix))
    except OSError:
        return None


def _read(path: Path) -> Settings:
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or data.get("version") != SCHEMA_VERSION:
        raise CodecError("not settings of this version")
    fields = {key: value for key, value in data.items() if key != "version"}
    if fields.pop("remember_drafts", False):  # from an older file whose user chose learning
        fields["was_told_of_learning"] = True
    settings = decode(Settings, _with_presets(fields))
    check_settings(settings)
    return settings


def _with_presets(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a file's fields with its presets, and an older file's common settings as one."""
    older = [each.name for each in dataclasses.fields(ReplySettings) if each.name in fields]
    if not older and "reply_preset" not in fields:
        return fields
    for_all = {name: fields.pop(name) for name in older}
    fields.pop("reply_preset", None)
    presets = fields.get("reply_presets", [])
    if not isinstance(presets, list):
        raise CodecError("the presets are no list")
    presets = [preset_fields(preset) for preset in presets]
    if decode(ReplySettings, for_all) != ReplySettings():
        taken = {str(preset.get("name")).casefold() for preset in presets}
        names = ("Default", *(f"Default ({number})" for number in range(2, MAX_PRESETS + 3)))
        name = next(name for name in names if name.casefold() not in taken)
        presets.append({"name": name, "settings": for_all})
        fields["default_preset"] = name
    return {**fields, "reply_presets": presets}


def preset_fields(data: object) -> dict[str, Any]:
    """Return a preset's fields from data that has its settings beside the name.

    Raises:
        CodecError: The data is not an object.
    """
    if not isinstance(data, dict):
        raise misfit(data, "an object")
    settings = {key: value for key, value in data.items() if key != "name"}
    return {**({"name": data["name"]} if "name" in data else {}), "settings": settings}

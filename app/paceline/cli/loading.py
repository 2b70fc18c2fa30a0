"""Loading for commands: files are fetched, GPU layers decided, the pair is loaded.

References to the Hub are downloaded before a load. What knows the Hub is imported only when one is
given, since its HTTP client takes longer to import than a small model to load.

GPU layers that were left to the program (``--gpu-layers auto``) are decided before the load:
llama.cpp puts all layers on the GPU or fails. Where there is a GPU, the engine is asked for free
memory, and both models are planned; without one nothing is asked and nothing changes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from paceline.catalog.card import ModelCard
from paceline.catalog.hub.values import is_reference
from paceline.catalog.memory.values import MemoryPlan
from paceline.cli.output import EXIT_CODE, Interrupts, ProgressLine, remark
from paceline.engine.model.model_file import check_model_file, first_part
from paceline.engine.model.rpc_servers import RpcServerError
from paceline.errors import CancelledError, LibraryError, ModelError, UserError
from paceline.hosting.broker import Ticket
from paceline.hosting.client import EngineClient
from paceline.hosting.exit_reasons import DIED
from paceline.hosting.threaded import ThreadedClient, service_factory
from paceline.installation import gpu_starts
from paceline.messages import (
    DescribeEngine,
    DeviceInfo,
    EngineDescribed,
    EngineDied,
    Event,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    PairLoaded,
)
from paceline.params import Drafting, ModelParams, TargetHead, file_of, moved, params_of
from paceline.paths import Paths
from paceline.settings import SETTINGS_FILE, peek_settings

if TYPE_CHECKING:
    from paceline.catalog.models import Models

Planner = Callable[[ModelParams, Drafting, Sequence[DeviceInfo]], MemoryPlan]
"""Plans a target and its drafter for these devices."""


USAGE_CODES = frozenset(
    {
        "bad-call",
        "bad-grammar",
        "bad-json-schema",
        "bad-strategy",
        "bad-tool",
        "context-too-long",
        "empty-prompt",
        "no-such-device",
        "no-such-role",
        "no-such-token",
        "value-out-of-range",
    }
)
"""Codes of the engine's `ValueOutOfRangeError`: wrong usage (exit code 2), not a failure."""
_AUTO = -1
ANSWER_S = 20.0


class TurnError(UserError):
    """The engine reported that load or turn failed."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(code, message, hint)
        if code in USAGE_CODES:
            self.exit_code = 2
        elif code == "cancelled":
            self.exit_code = EXIT_CODE


class StoppedError(UserError):
    """Ctrl+C was pressed."""

    exit_code = EXIT_CODE


# --------------------------------------------------------------------------------------------- load


@contextmanager
def loaded_pair(
    load: LoadPair, paths: Paths, interrupts: Interrupts, *, in_process: bool
) -> Iterator[tuple[EngineClient, PairLoaded]]:
    """Load a pair, print its notes, and yield the client that has it.

    Args:
        load: Files, or references to the Hub, which are downloaded.
        paths: The program's folders.
        interrupts: Stops the load.
        in_process: Whether the engine gets a process of its own.

    Raises:
        UserError: It cannot be loaded, or Ctrl+C was pressed.
    """
    load = with_local_files(load, paths, lambda: interrupts.hit, in_process=in_process)
    with closing(engine_client(in_process=in_process)) as client:
        load, notes = decide_layers(load, client, planner(paths))
        loaded = load_pair(client, load, interrupts)
        for note in (*notes, *notes_of(loaded)):
            remark(note)
        yield client, loaded


def notes_of(loaded: PairLoaded) -> tuple[str, ...]:
    """Return the sentences about a load, a dependence of the text on drafts included."""
    sameness = loaded.sameness
    if sameness is None or sameness.holds is not False or sameness.is_exact:
        return loaded.notes
    return (*loaded.notes, sameness.words)


def load_pair(client: EngineClient, load: LoadPair, interrupts: Interrupts) -> PairLoaded:
    """Load a pair of local files, with progress on stderr.

    Raises:
        UserError: It cannot be loaded, or Ctrl+C was pressed.
    """
    if interrupts.hit:
        raise StoppedError("cancelled", "Stopped before the model was loaded.")
    ticket = client.request(load)
    with ProgressLine() as progress:
        for event in carried_out(ticket, interrupts):
            if isinstance(event, LoadProgressed):
                progress.show(f"Loading the {event.stage} model: {event.fraction:.0%}")
    match ticket.answer:
        case PairLoaded() as loaded:
            return loaded
        case LoadFailed(code=code, message=message, hint=hint):
            raise TurnError(code, message, hint)
        case other:
            raise AssertionError(other)


def engine_client(*, in_process: bool) -> ThreadedClient:
    """Return a client whose engine runs within this program, or in a process of its own."""
    return ThreadedClient(service_factory("process" if in_process else "thread"))


def carried_out(ticket: Ticket, interrupts: Interrupts) -> Iterator[Event]:
    """Yield the events of a request until it is over; Ctrl+C cancels it, also one before this.

    Raises:
        TurnError: The engine died.
    """
    interrupts.when_hit(ticket.cancel)
    for event in ticket:
        if isinstance(event, EngineDied):
            raise TurnError(DIED, event.reason, event.hint)
        yield event


# -------------------------------------------------------------------------------------------- files


@contextmanager
def open_models(paths: Paths, folders: Sequence[Path] = ()) -> Iterator[Models]:
    """Give the models of this computer and the Hub, by the window's settings.

    Args:
        paths: The program's folders.
        folders: More of the user's own than the settings name.
    """
    from paceline.catalog.hub.client import is_offline
    from paceline.catalog.models import Models

    settings = peek_settings(paths.config_dir / SETTINGS_FILE)
    offline = settings.hub_offline or is_offline(os.environ)
    own_folders = [*map(Path, settings.model_folders), *folders]
    folder = Path(settings.download_folder) if settings.download_folder else None
    made = Models(
        paths,
        offline=offline,
        own_folders=own_folders,
        download_folder=folder,
        proxy=settings.hub_proxy,
    )
    with closing(made) as models:
        yield models


def with_local_files(
    load: LoadPair, paths: Paths, is_stopped: Callable[[], bool], *, in_process: bool
) -> LoadPair:
    """Return the same load with files in place of references, downloaded if they are not here.

    ProgressLine goes to stderr.

    Args:
        load: Files, or references to the Hub.
        paths: The program's folders.
        is_stopped: Ends a download.
        in_process: Whether headers are read in a process of its own, as the engine runs in one.

    Raises:
        UserError: A file cannot be had, what has arrived is kept; or one is no model of its own.
    """
    load = _fetched(load, paths, is_stopped)
    _refuse_sidecars(load, paths, in_process=in_process)
    return load


def _fetched(load: LoadPair, paths: Paths, is_stopped: Callable[[], bool]) -> LoadPair:
    if not any(map(is_reference, (load.target.path, file_of(load.drafting)))):
        return load
    from paceline.cli.hub import Reporter

    def local(path: str) -> str:
        here = not is_reference(path)
        return path if here else models.local_path(path, reporter.show, is_stopped)

    with closing(Reporter()) as reporter, open_models(paths) as models:
        try:
            return structs.replace(
                load,
                target=replace(load.target, path=local(load.target.path)),
                drafting=moved(load.drafting, local),
            )
        except (CancelledError, UserError) as error:
            raise _stopped(error, is_stopped) from None


def head_finder(load: LoadPair, paths: Paths, *, in_process: bool) -> Callable[[], bool]:
    """Return a function that says whether a pair has a head to draft with; reads the header once.

    For a file that cannot be read it returns True; the load reports that. `in_process` as in
    `with_local_files`.
    """
    return cache(partial(_has_head, load, paths, in_process=in_process))


def _has_head(load: LoadPair, paths: Paths, *, in_process: bool) -> bool:
    if not isinstance(load.drafting, TargetHead):
        return False
    if load.drafting.file:
        return True
    try:
        return _card_of(load.target.path, paths, in_process=in_process).n_heads > 0
    except UserError:
        return True


def _refuse_sidecars(load: LoadPair, paths: Paths, *, in_process: bool) -> None:
    """Refuse drafters that are no models: llama.cpp's message does not say so, or it crashes.

    Raises:
        ModelError: One is given as target or draft model, or no head as one.
    """
    from paceline.catalog.sidecar import check_head, refusal, sidecar_of

    head = load.drafting if isinstance(load.drafting, TargetHead) else None
    for path in filter(None, (load.target.path, file_of(load.drafting))):
        name = Path(path).name
        try:
            card = _card_of(path, paths, in_process=in_process)
        except ModelError:  # the load will say what is wrong with the file
            continue
        if head is not None and path == head.file:
            check_head(card, name, head.kind)
        elif sidecar := sidecar_of(card, name):
            raise refusal(sidecar, name)


def _card_of(path: str, paths: Paths, *, in_process: bool) -> ModelCard:
    """Return the card of a file or a reference; for a split model that of its first part.

    Args:
        path: Names it.
        paths: The program's folders.
        in_process: Whether the header is read in a process whose death costs nothing.

    Raises:
        UserError: It cannot be read.
    """
    if in_process or is_reference(path):
        with open_models(paths) as models:
            return models.card(path)
    from paceline.catalog.inspect.child import make_card
    from paceline.engine.llama import read_header

    file = first_part(check_model_file(path))
    return make_card([read_header(file)], file.name)


def _stopped(error: CancelledError | UserError, is_stopped: Callable[[], bool]) -> UserError:
    """Return the error to report; after Ctrl+C every error counts as its consequence."""
    if is_stopped() or isinstance(error, CancelledError):
        return StoppedError(
            "cancelled",
            "Stopped before the model was here; what has arrived is kept.",
            "The same command goes on from there.",
        )
    return error


# --------------------------------------------------------------------------------------- GPU layers


def planner(paths: Paths) -> Planner:
    """Return a function that plans a pair of local files; it makes what it needs when called."""

    def plan(target: ModelParams, drafting: Drafting, devices: Sequence[DeviceInfo]) -> MemoryPlan:
        from paceline.catalog.models import Models

        with closing(Models(paths, offline=True)) as models:
            return models.plan(target, drafting, devices)

    return plan


def decide_layers(
    load: LoadPair, client: EngineClient, plan: Planner
) -> tuple[LoadPair, tuple[str, ...]]:
    """Return the load with the layers decided, and notes about it.

    Args:
        load: The load by the options.
        client: Asked for its devices.
        plan: From `planner`.

    Raises:
        RpcServerError: A server that the load names cannot be used.
    """
    models = filter(None, (load.target, params_of(load.drafting)))
    if all(params.n_gpu_layers != _AUTO for params in models):
        return load, ()
    answer = client.request(DescribeEngine(load.servers)).wait()
    devices = answer.devices if isinstance(answer, EngineDescribed) else ()
    if isinstance(answer, EngineDescribed) and answer.lost:
        raise RpcServerError(answer.lost)
    if not any(device.takes_layers for device in devices):
        return load, ()
    try:
        planned = plan(load.target, load.drafting, devices)
    except UserError:  # the load will say what is wrong with the file
        return load, ()
    notes = []
    if not planned.fits:
        notes.append(f"Memory may not suffice. {planned.remedies[0].text}")
    if load.servers and not any(planned.uses(device) for device in devices if device.server):
        notes.append("The models are put on this computer alone; no RPC server is used.")
    return structs.replace(load, target=planned.target, drafting=planned.drafting), tuple(notes)


# -------------------------------------------------------------------------------- the engine itself


@dataclass(frozen=True, slots=True)
class Asked:
    """The engine's description of itself, or why there is none.

    Attributes:
        answer: The native library's description, or None if there is none.
        library_error: Why there is none, or empty.
        process_error: Why the engine's own process does not answer; empty when it does.
        seconds: From the start of that process to its answer, or until it was given up.
    """

    answer: EngineDescribed | None
    library_error: str
    process_error: str
    seconds: float


def ask_engine(servers: tuple[str, ...] = ()) -> Asked:
    """Return the engine's description, asked in its own process, then within this one.

    A library that crashes when it is loaded would end this program, too. So the process is asked
    first, which takes no longer than loading the library here; this program loads it only when
    the process gave no answer and did neither crash in native code nor hang in a GPU's driver.

    Args:
        servers: RPC servers that are asked for their devices, as HOST:PORT.
    """
    began = time.monotonic()
    answer, process_error, is_stuck = _ask_process(servers)
    seconds = time.monotonic() - began
    if answer is not None or is_stuck:
        return Asked(answer, process_error, process_error, seconds)
    answer, library_error = _ask_here(servers)
    return Asked(answer, library_error, process_error, seconds)


def _ask_process(servers: tuple[str, ...]) -> tuple[EngineDescribed | None, str, bool]:
    """Return the answer, or why there is none and whether native code crashed or a driver hangs."""
    from paceline.hosting.description import describe_engine
    from paceline.hosting.exit_reasons import describe_death
    from paceline.workers.worker import NoAnswerError

    try:
        return describe_engine(ANSWER_S, servers), "", False
    except NoAnswerError as error:
        if error.end is not None:
            death = describe_death(error.end)
            return None, death.reason, death.is_native
        match error.trouble:
            case "not-started":
                return None, f"it cannot be started ({error.words})", False
            case "nonsense":
                return None, f"it {error.words}", False
            case _:
                in_driver = gpu_starts.n_lost() > 0
                return None, f"it has not answered for {ANSWER_S:.0f} seconds", in_driver


def _ask_here(servers: tuple[str, ...]) -> tuple[EngineDescribed | None, str]:
    """Return the native library's description, or why there is none."""
    from paceline.engine.native import llama_backend

    try:
        return llama_backend().describe(servers), ""
    except LibraryError as error:
        return None, error.why
    except (ImportError, OSError, RuntimeError, UserError) as error:
        return None, str(error)

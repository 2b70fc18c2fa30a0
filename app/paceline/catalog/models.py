"""All operations on models, for the window and the command line.

No process, thread or network connection is started before it is needed. Every call blocks and may
be made from any thread except the window's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from paceline import starter
from paceline.catalog.card import Examined, ModelCard
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.names import repository_folder
from paceline.catalog.download.record import Download, DownloadRequest
from paceline.catalog.fetching import (
    fetch,
    file_here,
    named_file,
    remote_header,
    request_for,
    starter_request,
)
from paceline.catalog.hub.client import Hub, never
from paceline.catalog.hub.values import HubReference, is_reference, parse_reference
from paceline.catalog.inspect.inspector import Inspector
from paceline.catalog.judge.curated import CuratedPair, curated_pairs_path, load_curated
from paceline.catalog.judge.draft_search import DraftSearch
from paceline.catalog.judge.pairing import (
    BY_TRANSLATION,
    PairVerdict,
    Reason,
    Remedy,
    judge,
    judge_head,
)
from paceline.catalog.local.library import Library, why_no_model
from paceline.catalog.local.model_files import ModelFile, Place, find_models, model_at, places
from paceline.catalog.memory.machine import without_servers
from paceline.catalog.memory.plan import plan
from paceline.catalog.memory.values import Measurement, MemoryPlan
from paceline.catalog.sidecar import SIDECAR, sidecar_in_path
from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.draft.heads import drafts_with
from paceline.engine.facts import Facts
from paceline.engine.measure.known import MeasuredPair, measured_before
from paceline.engine.model.model_file import file_id
from paceline.errors import ModelError
from paceline.messages import DeviceInfo
from paceline.params import Drafting, ModelParams, TargetHead, params_of
from paceline.paths import Paths
from paceline.sentence import sentence

_WORTH_A_REMEDY = frozenset({"same-model", "draft-larger", "draft-large", BY_TRANSLATION})
_REMEDY_S = 8.0
"""Seconds that a verdict waits for a better draft model to be found, mostly on the Hub."""


class Models:
    """Judges pairs, plans their memory, and finds or fetches their files.

    Attributes:
        models_folder: Folder of downloads; may be changed at any time.
        inspector: Reads headers and vocabularies of model files.
        hub: The Hub.
        downloads: The downloads.
        library: The models on this computer.

    Args:
        paths: The program's folders.
        endpoint: The Hub's address; empty means the usual one.
        offline: Whether the Hub may not be asked.
        own_folders: Folders that the user has added.
        download_folder: Folder of downloads; None means `Paths.models_dir`.
        proxy: Address of the proxy by which the Hub is asked; empty means as the environment says.
        environ: The environment variables that set other programs' folders.
        home: The user's folder; None means as the system says.
        curated: The list of pairs; None means the one that is shipped.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        endpoint: str = "",
        offline: bool = False,
        own_folders: Sequence[Path] = (),
        download_folder: Path | None = None,
        proxy: str = "",
        environ: Mapping[str, str] | None = None,
        home: Path | None = None,
        curated: Path | None = None,
    ) -> None:
        self._paths = paths
        self._own_folders = tuple(own_folders)
        self._environ = os.environ if environ is None else environ
        self._home = home
        self.models_folder = download_folder or paths.models_dir
        self._headers = paths.cache_dir / "headers"
        self._names: dict[str, HubReference] = {}
        self._curated = curated
        self.inspector = Inspector(paths.cache_dir)
        self.hub = Hub(endpoint=endpoint, offline=offline, proxy=proxy)
        self.downloads = Downloads(self.hub, paths.data_dir / "downloads")
        self.library = Library(
            self.inspector, places=self.places, cache_file=paths.cache_dir / "library.json"
        )

    @cached_property
    def curated(self) -> tuple[CuratedPair, ...]:
        """The list of pairs that is shipped.

        Raises:
            UserError: It cannot be read.
        """
        return load_curated(self._curated or curated_pairs_path())

    def use_folders(self, own_folders: Sequence[Path]) -> None:
        """Search these folders of the user from the next refresh on."""
        self._own_folders = tuple(own_folders)

    def places(self) -> tuple[Place, ...]:
        """Return the folders that may hold models."""
        home = self._home or Path.home()
        known = places(self._paths, self._environ, home, self._own_folders)
        chosen = [Place(folder, "paceline") for folder in self.download_folders[:-1]]
        return (*chosen, *known)

    @property
    def download_folders(self) -> tuple[Path, ...]:
        """Return the folder of downloads, then the default one."""
        return tuple(dict.fromkeys((self.models_folder, self._paths.models_dir)))

    def examine(self, reference: str, is_stopped: Callable[[], bool] = never) -> Examined:
        """Return all facts of a model that need no weights.

        Args:
            reference: A path, or ``hf:OWNER/REPO:FILE``; of the latter the header is fetched if the
                file is not here.
            is_stopped: Polled while the network is waited for.

        Raises:
            ModelError: The file cannot be used; with the code `SIDECAR`: it is one.
            HubError: The Hub cannot be reached, or has no such file.
        """
        path, parts = self._header(reference, is_stopped)
        examined = self.inspector.examine(path, parts)
        if problem := why_no_model(examined.card, path.name):
            raise _unusable(path.name, problem)
        return examined

    def card(self, reference: str, is_stopped: Callable[[], bool] = never) -> ModelCard:
        """Return the card of a file, a model or a sidecar.

        Raises:
            ModelError: The file cannot be used.
            HubError: The Hub cannot be reached, or has no such file.
        """
        return self.inspector.card(*self._header(reference, is_stopped))

    def judge(self, target: str, draft: str, is_stopped: Callable[[], bool] = never) -> PairVerdict:
        """Return whether a drafter can draft for a target, and what to take instead if not.

        Args:
            target: Path or reference of the target.
            draft: The same of a draft model, or of a file with a head; empty means the target's own
                head.
            is_stopped: Polled while the network is waited for.

        Raises:
            ModelError: A file cannot be used.
            HubError: The Hub cannot be reached, or has no such file.
        """
        try:
            of_target = self.examine(target, is_stopped)
        except ModelError as error:
            return _is_sidecar(error, "target-is-sidecar")
        head = self.card(draft, is_stopped) if draft else None
        if head is None or drafts_with(head.sidecar):
            verdict = judge_head(of_target, head)
            if verdict.ok:
                return verdict
            return replace(verdict, remedy=self._remedy(of_target, is_stopped))
        try:
            of_draft = self.examine(draft, is_stopped)
        except ModelError as error:
            verdict = _is_sidecar(error, "draft-is-sidecar")
            return replace(verdict, remedy=self._remedy(of_target, is_stopped))
        verdict = judge(of_target, of_draft)
        if verdict.ok and not any(r.code in _WORTH_A_REMEDY for r in verdict.reasons):
            return verdict
        is_larger = any(reason.code == "draft-larger" for reason in verdict.reasons)
        if is_larger and judge(of_draft, of_target).ok:
            text = sentence("Take them the other way round: the smaller one drafts.")
            return replace(verdict, remedy=Remedy(text, target=draft, draft=target))
        remedy = self._remedy(of_target, is_stopped, by_translation=not verdict.ok)
        if verdict.ok and (remedy is None or not remedy.draft or remedy.draft == draft):
            return verdict  # the pair works, and nothing better is known
        return replace(verdict, remedy=remedy)

    def _remedy(
        self, target: Examined, is_stopped: Callable[[], bool], *, by_translation: bool = True
    ) -> Remedy | None:
        """Return the draft model to use instead, if one is found in time."""
        until = time.monotonic() + _REMEDY_S

        def is_late() -> bool:
            return is_stopped() or time.monotonic() > until

        search = DraftSearch(
            self.library.current(is_late),
            self.curated,
            None if self.hub.offline else self.hub,
            self.examine,
        )
        return search.find(target, is_late, by_translation=by_translation)

    def measured(self, target: str, draft: str = "") -> MeasuredPair | None:
        """Return the measurements of two files on this machine, or None if there are none.

        Args:
            target: A path; an ``hf:`` reference has no measurements.
            draft: The same of the draft model or a head's own file, or empty if there is none.
        """
        try:
            ids = [file_id(Path(file)) for file in (target, draft) if file]
        except ModelError:
            return None
        return measured_before(Facts(str(self._paths.cache_dir)), *ids)

    def plan(
        self,
        target: ModelParams,
        drafting: Drafting,
        devices: Sequence[DeviceInfo],
        reclaimable: Mapping[str, int] | None = None,
        is_stopped: Callable[[], bool] = never,
    ) -> MemoryPlan:
        """Return the memory that a pair would use per device, and how to make it fit.

        Args:
            target: Parameters of the target; its path may be an ``hf:`` reference.
            drafting: Its draft model or head; the head in its file may be absent.
            devices: As `EngineDescribed.devices`.
            reclaimable: Bytes per device that the loaded pair would give back.
            is_stopped: Polled while the network is waited for.

        Raises:
            ModelError: A file cannot be used.
            HubError: The Hub cannot be reached, or has no such file.
        """
        our_card = self.card(target.path, is_stopped)
        drafter, reads = params_of(drafting), ""
        if isinstance(drafting, TargetHead) and (drafting.file or our_card.n_heads):
            drafter, reads = replace(target, path=drafting.file or target.path), target.path
        drafter_here = without_servers(drafter, devices) if drafter else None
        return plan(
            our_card,
            target,
            self.card(drafter.path, is_stopped) if drafter else None,
            drafting,
            devices,
            measured_target=self._measured(without_servers(target, devices), MAX_WIDTH, is_stopped),
            measured_draft=self._measured(drafter_here, 1, is_stopped, reads)
            if drafter_here
            else None,
            reclaimable=reclaimable,
        )

    def local_path(
        self,
        reference: str,
        on_change: Callable[[Download], None] = lambda _: None,
        is_stopped: Callable[[], bool] = never,
    ) -> str:
        """Return a file that can be loaded, downloaded first if it is not here.

        Raises:
            ModelError: There is no such file.
            HubError: The Hub cannot be reached, or has no such file.
            UserError: The download failed.
            CancelledError: It was stopped; the next call continues there.
        """
        file = self.file_or_request(reference, is_stopped)
        if isinstance(file, DownloadRequest):
            return fetch(self.downloads, file, on_change, is_stopped).path
        return str(_whole(file).path)

    def file_or_request(
        self, reference: str, is_stopped: Callable[[], bool] = never
    ) -> Path | DownloadRequest:
        """Return a file that is here, or the request for its download.

        Raises:
            HubError: The Hub cannot be reached, or has no such file.
        """
        if reference == starter.reference():  # a file that is here is compared by its hash, too
            return starter_request(self.hub, self.models_folder)
        file = self._file(reference, is_stopped)
        if file is not None:
            return file
        remote = self._named(reference, is_stopped)
        return request_for(self.hub, remote, self.models_folder, is_stopped)

    def is_here(self, pair: CuratedPair) -> tuple[bool, bool]:
        """Return whether target and draft of a curated pair are on this computer.

        Asks no network: where no file is known, any file of the repository counts.
        """
        return (
            self._has(pair.target_repo, pair.target_file),
            self._has(pair.draft_repo, pair.draft_file),
        )

    def _has(self, repo: str, file: str | None) -> bool:
        if file:
            reference = HubReference(repo, file)
            return file_here(reference, self.places()) is not None
        if not repo:
            return False
        folders = [repository_folder(folder, repo) for folder in self.download_folders]
        found = chain.from_iterable(map(find_models, folders))
        return any(sidecar_in_path(model.path.name) is None for model in found)

    def close(self) -> None:
        """End downloads, then the helper process; a second call does nothing.

        Later calls, and those under way, raise CancelledError or an error of their own.
        """
        self.downloads.close()
        self.inspector.close()

    # ----------------------------------------------------------------------------------- private

    def _named(self, reference: str, is_stopped: Callable[[], bool]) -> HubReference:
        """Return a reference that names a file; what the Hub said of others is remembered."""
        if reference not in self._names:
            parsed = parse_reference(reference)
            self._names[reference] = named_file(self.hub, parsed, is_stopped)
        return self._names[reference]

    def _file(self, reference: str, is_stopped: Callable[[], bool]) -> Path | None:
        """Return the file of a reference if it is on this computer."""
        if not is_reference(reference):
            return Path(reference)
        return file_here(self._named(reference, is_stopped), self.places())

    def _header(
        self, reference: str, is_stopped: Callable[[], bool]
    ) -> tuple[Path, tuple[Path, ...]]:
        """Return the file with a model's header, and all its files.

        Of a model that is not here that is a sparse file in the cache, with those beside it.
        """
        file = self._file(reference, is_stopped)
        if file is not None:
            model = _whole(file)
            return model.path, model.parts
        remote = self._named(reference, is_stopped)
        return remote_header(self.hub, self.inspector, remote, self._headers, is_stopped), ()

    def _measured(
        self, params: ModelParams, n_rows: int, is_stopped: Callable[[], bool], target: str = ""
    ) -> Measurement | None:
        """Return the memory that llama.cpp would use, or None if it is not known.

        Args:
            params: Parameters of the load.
            n_rows: Upper bound of the rows of logits of one decode.
            is_stopped: Polled while the network is waited for.
            target: For a head, the model that it drafts for.

        Raises:
            ModelError: llama.cpp refuses to load the model.
        """
        header, _ = self._header(params.path, is_stopped)
        target = str(self._header(target, is_stopped)[0]) if target else ""
        params = replace(params, path=str(header))
        try:
            return self.inspector.measure(params, n_rows=n_rows, target=target)
        except ModelError as error:
            if error.code in ("cannot-load", "newer-model"):
                raise
            return None


def _whole(file: Path) -> ModelFile:
    """Return the model that a file belongs to.

    Raises:
        ModelError: It is not there, or not all of it.
    """
    model = model_at(file)
    if model.what_is_missing:
        raise _unusable(
            file.name, model.what_is_missing, sentence("Put all parts into one folder.")
        )
    return model


def _is_sidecar(error: ModelError, code: str) -> PairVerdict:
    """Return the verdict on a pair of which one file is a sidecar.

    Raises:
        ModelError: The error says something else.
    """
    if error.code != SIDECAR:
        raise error
    return PairVerdict(ok=False, reasons=(Reason(code, error.message, "bad"),))


_AGAIN = sentence("Download it again, or choose another one.")


def _unusable(name: str, problem: str, hint: str = _AGAIN) -> ModelError:
    return ModelError(
        "cannot-use", "“{name}” cannot be used: {problem:lower}", hint, name=name, problem=problem
    )

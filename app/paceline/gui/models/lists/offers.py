"""Rows of all lists of models: one kind of value, wherever a model comes from.

An offer is a local or remote model or pair, a substitute for a draft model, or a repository of
models. It has its words, and knows the picks that its row makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import Literal

from PySide6.QtCore import QCoreApplication, QObject

from paceline.catalog.hub.values import HubChoice, HubModel, HubRepository
from paceline.catalog.judge.curated import BYTES_PER_WEIGHT, LOOKUP, CuratedPair
from paceline.catalog.judge.first_choice import READING_TOKENS_PER_S
from paceline.catalog.judge.speed import (
    expected,
    expected_of_pair,
    work_of_head,
    work_of_size,
)
from paceline.catalog.local.library import LibraryEntry
from paceline.catalog.sidecar import sidecar_in_path
from paceline.engine.draft.heads import drafts_with
from paceline.gui.kit.rows import Rows
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import known_size, local_weights, translator
from paceline.gui.models.candidates import (
    Candidate,
    MachineFacts,
    Picks,
    candidate_facts,
    facts,
    head_text,
    hub_facts,
    of_choice,
    of_entry,
    speed_text,
    spoken,
    why_hardly,
    work_on_hub,
)
from paceline.gui.state.pair import model_name
from paceline.messages import Reading

Role = Literal["model", "pair", "head", "lookups", "repository"]
Order = Literal["name", "largest", "smallest", "place"]

_tr = translator("Offers")


@dataclass(frozen=True, slots=True)
class Badge:
    """A word in a rounded field; `tone` is "accent", "lookup", "danger" or empty for grey."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """One row.

    Attributes:
        key: Its identity while its words change; unique in a list.
        title: First line.
        facts: Second line.
        size: Size of the file or of the download, at the right of the first line.
        speed: Expected speed here, before the facts; empty if unknown.
        details: Further lines while the row is open, in lists whose rows open.
        badges: Badges at the right of the second line.
        problem: Why it cannot be picked, in place of the facts; empty if it can or leads elsewhere.
        spoken: Words for screen readers.
        tip: Its tool tip.
        role: What it stands for: "model", the target or the draft model, depending on the step;
            "pair", both; "head", the target's own MTP head; "lookups", no draft model;
            "repository", none of them.
        model: A model, or a pair's target.
        draft: A pair's draft model, or its head in a file of its own, or None for the target's own
            head.
        repo: Repository to open where nothing can be picked: ``OWNER/NAME``.
        is_dimmed: Whether it hardly suits, or cannot be picked.
        is_locked: Whether access to it must be requested.
        has_mark: Whether its row has the circle of picked rows.
        words: Words for searches, in small letters.
        origin: The local model, or the entry of the list of pairs.
    """

    key: str
    title: str
    facts: str = ""
    size: str = ""
    speed: str = ""
    details: tuple[str, ...] = ()
    badges: tuple[Badge, ...] = ()
    problem: str = ""
    spoken: str = ""
    tip: str = ""
    role: Role = "model"
    model: Candidate | None = None
    draft: Candidate | None = None
    repo: str = ""
    is_dimmed: bool = False
    is_locked: bool = False
    has_mark: bool = True
    words: str = ""
    origin: LibraryEntry | CuratedPair | None = None

    def picked(self, picks: Picks) -> Picks | None:
        """Return the picks once this row is open, or None if it cannot be picked in this step."""
        is_first, model = picks.step == 1, self.model
        if self.problem or self.is_locked:
            return None
        match self.role:
            case "model" if model is not None and not is_first:
                return picks.with_draft(model)
            case "model" if model is not None and not model.is_head:
                return picks.with_target(model)
            case "pair" if is_first or picks.target is None:
                picks = replace(picks, target=model)
                return picks.with_draft(self.draft, uses_head=self.draft is None)
            case "head" | "lookups" if not is_first:
                return picks.with_draft(None, uses_head=self.role == "head")
            case "repository":
                return replace(picks, row=self.key, leads_to=self.repo)
        return None

    def is_open(self, picks: Picks) -> bool:
        """Return whether the main button refers to this row."""
        return self.key == picks.row if picks.row else self.is_picked(picks)

    def is_picked(self, picks: Picks) -> bool:
        """Return whether this row would be loaded."""
        match self.role:
            case "model":
                return _is_same(picks.picked, self.model)
            case "pair":
                drafts = _is_same(picks.draft, self.draft) if self.draft else picks.drafts_itself
                return drafts and _is_same(picks.target, self.model)
            case "head":
                return picks.drafts_itself
            case "lookups":
                return picks.step != 1 and picks.does_without
        return False


def timed(offer: Offer, picks: Picks, reading: Reading | None) -> Offer:
    """Return a row with its expected speed on a machine with this reading."""
    target, draft, pair = offer.model, offer.draft, offer.origin
    is_second = picks.step != 1 and offer.role == "model"
    if is_second:
        target, draft = picks.target, offer.model
    speeds = None
    if isinstance(pair, CuratedPair) and not is_second:
        speeds = expected_of_pair(pair, reading)
    elif target is not None and target.work is not None and not offer.is_dimmed:
        speeds = expected(target.work, reading, draft.work if draft is not None else None)
    speed = speed_text(speeds, is_drafted=is_second)
    return replace(offer, speed=speed, spoken=spoken(offer.spoken, speed)) if speed else offer


def _is_same(one: Candidate | None, other: Candidate | None) -> bool:
    return one is not None and other is not None and one.reference == other.reference


class Offers(Rows[Offer]):
    """The list of one page, and the present picks."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.picks = Picks()

    def show(self, offers: Iterable[Offer], picks: Picks) -> None:
        """Replace the rows; views keep their scroll position."""
        before, self.picks = self.picks, picks
        self.update_rows(offers, attrgetter("key"))
        if picks != before and self.rows:
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def title(self, row: Offer) -> str:
        """Return the first line."""
        return row.title

    def spoken(self, row: Offer) -> str:
        """Return all words of the row."""
        return row.spoken or row.title

    def tip(self, row: Offer) -> str:
        """Return further facts."""
        return row.tip


# -------------------------------------------------------------------------- on this computer


def place_title(source: str) -> str:
    """Return the title of a place by its owner."""
    titles = {
        "paceline": "Paceline",
        "folder": QCoreApplication.translate("Library", "Folder"),
        "hugging-face": "Hugging Face",
        "lm-studio": "LM Studio",
        "ollama": "Ollama",
        "built-in": QCoreApplication.translate("Library", "Built in"),
    }
    return titles.get(source, source)


def offer_of_entry(entry: LibraryEntry) -> Offer:
    """Return the row of a local model in the first step."""
    model, card = of_entry(entry), entry.card
    known, size, problem = candidate_facts(model), known_size(model.n_bytes), said(entry.problem)
    place = place_title(entry.file.source)
    words = [entry.file.name]
    if card is not None:
        words += [card.name, card.architecture, card.quantisation, local_weights(card.n_params)]
    return Offer(
        key=model.reference,
        title=model.title,
        facts=known or _tr("not looked into yet"),
        size=size,
        badges=(Badge(place),),
        problem=problem,
        spoken=spoken(model.title, problem or known, size, place),
        tip=f"{entry.file.path}\n{problem}".strip(),
        model=model,
        is_dimmed=bool(problem),
        words="\n".join(words).casefold(),
        origin=entry,
    )


def installed(offers: Iterable[Offer], words: str, order: Order, picks: Picks) -> list[Offer]:
    """Return the local models to show, unusable ones last.

    Args:
        offers: All local models, as in the first step.
        words: Words that a row must contain, all of them.
        order: Order of the suitable ones.
        picks: The picks; in the second step, models that hardly suit as draft models come later.
    """
    wanted = words.casefold().split()
    found = [offer for offer in offers if all(word in offer.words for word in wanted)]
    if picks.step != 1:
        found = [_beside(picks.target, offer) for offer in found]
    return sorted(found, key=lambda offer: (_rank(offer), _key(offer, order)))


def _rank(offer: Offer) -> int:
    return 2 if offer.problem else int(offer.is_dimmed)


def _key(offer: Offer, order: Order) -> tuple[int, str, str, str]:
    n_bytes = offer.model.n_bytes if offer.model else 0
    size = {"largest": -n_bytes, "smallest": n_bytes}.get(order, 0)
    place = offer.badges[-1].text.casefold() if order == "place" else ""
    return size, place, offer.title.casefold(), offer.key


def _beside(target: Candidate | None, offer: Offer) -> Offer:
    """Return the row of a model in the second step, beside a target."""
    model = offer.model
    if model is None or (offer.problem and not model.is_head):
        return offer
    hardly = why_hardly(target, model)
    badges = (Badge(hardly, "lookup"), *offer.badges) if hardly else offer.badges
    heard = (
        offer.spoken
        if not hardly
        else spoken(
            offer.title,
            offer.problem or candidate_facts(model),
            offer.size,
            *(b.text for b in badges),
        )
    )
    return replace(offer, badges=badges, problem="", is_dimmed=bool(hardly), spoken=heard)


def head_inside() -> Offer:
    """Return the row of a target's own MTP head."""
    words = _tr("The model's own last layers draft; that needs no second model.")
    return Offer("head", _tr("MTP head inside"), words, role="head")


def lookups_only() -> Offer:
    """Return the row for drafting without a draft model."""
    words = _tr("Copies from what was written before; needs no second model and no memory.")
    return Offer("lookups", _tr("No draft model: lookups only"), words, role="lookups")


# ------------------------------------------------------------------------------- recommended


def recommended_pairs(pairs: Sequence[CuratedPair], machine: MachineFacts) -> list[Offer]:
    """Return the pairs, those that fit first, and among these the comfortably fast ones first.

    Otherwise, and where no speeds are known, they keep the order of the list.

    Args:
        pairs: The shipped list.
        machine: Facts about this computer.
    """
    ranked = []
    for at, pair in enumerate(pairs):
        fit, speeds = _fit(pair, machine), expected_of_pair(pair, machine.reading)
        is_pleasant = speeds is not None and speeds.alone.typical >= READING_TOKENS_PER_S
        rank = not pair.is_usable, _RANKS[fit], not is_pleasant, at
        ranked.append((rank, _offer_of_pair(pair, fit, str(at))))
    return [offer for _, offer in sorted(ranked, key=itemgetter(0))]


_RANKS = {"": 0, "fits": 0, "gpu": 1, "large": 2}


def _fit(pair: CuratedPair, machine: MachineFacts) -> str:
    """Return how a pair suits this machine: a key of `_RANKS`, empty if unknown."""
    if not machine.n_free or pair.least_memory is None or not pair.is_usable:
        return ""
    if pair.least_memory > machine.n_free:
        return "large"
    return "gpu" if pair.machine == "gpu" and not machine.has_gpu else "fits"


def _size_of(pair: CuratedPair) -> str:
    """Return the size of a pair's download, or empty if it is unknown."""
    download = pair.download
    if download is None:
        return ""
    size = known_size(download.n_bytes)
    return size if download.is_exact else _tr("about {}").format(size)


def _details(pair: CuratedPair) -> tuple[str, ...]:
    """Return the lines of an open row: its source, its needs, its drafter."""
    gain = said(str(pair.gain or ""))
    drafter = said(pair.drafter) or facts(pair.draft_repo, pair.draft_file or "")
    words = {True: _tr("compared, they agree"), False: _tr("compared, they differ")}
    checked = words.get(pair.vocabulary_checked) if not pair.drafter else None  # type: ignore[arg-type]
    evidence = pair.evidence
    lines = (
        _tr("Reported: {}").format(gain) if gain else "",
        _tr("For {}").format(said(pair.needs)),
        _tr("Drafter: {}").format(drafter),
        _tr("Vocabularies: {}").format(checked) if checked else "",
        facts(_tr("Source: {}").format(evidence.url), evidence.date or "") if evidence else "",
    )
    return tuple(filter(None, lines))


def _offer_of_pair(pair: CuratedPair, fit: str, key: str) -> Offer:
    words = {
        "fits": _tr("fits the memory"), "gpu": _tr("for a GPU"), "large": _tr("needs more memory"),
    }.get(fit, "")  # fmt: skip
    badge = Badge(words, "accent" if fit == "fits" else "lookup")
    target, draft = target_candidate(pair), draft_candidate(pair)
    is_pair = target is not None and (draft is not None or has_head_inside(pair))
    size = _size_of(pair)
    # An entry without a pair to load leads to its files, if any.
    repo = pair.draft_repo if target is not None and pair.is_usable else pair.target_repo
    drafter = said(pair.drafter)
    name = model_name(pair.draft_file) if pair.draft_file else pair.draft_repo
    heard = drafter or _tr("drafted by {}").format(pair.draft_file or pair.draft_repo)
    return Offer(
        key=key,
        title=said(pair.title),
        facts=drafter or _tr("drafted by {}").format(name),
        size=size,
        details=_details(pair),
        badges=(badge,) if words else (),
        spoken=spoken(said(pair.title), heard, size, words, *_details(pair)),
        role="pair" if is_pair else "repository",
        model=target,
        draft=draft,
        repo="" if pair.kind == LOOKUP else repo,
        has_mark=pair.is_usable,
        is_dimmed=fit == "large" or pair.is_ahead,
        origin=pair,
    )


def recommended_drafts(pairs: Sequence[CuratedPair], target: Candidate) -> list[Offer]:
    """Return the draft models for a target, each once, or that it needs none."""
    known = f"{target.title} {target.repo}", target.architecture, target.n_params
    drafts = {
        pair.draft_reference or pair.draft_repo: pair
        for pair in reversed(pairs)
        if not pair.is_ahead and pair.is_for(*known)
    }
    return [_offer_of_draft(key, pair) for key, pair in reversed(drafts.items())]


def _offer_of_draft(key: str, pair: CuratedPair) -> Offer:
    title = model_name(pair.draft_file) if pair.draft_file else pair.draft_repo
    draft = draft_candidate(pair)
    role: Role = "model" if draft is not None else "repository"
    if pair.kind == LOOKUP:
        title, role = _tr("No draft model"), "lookups"
    elif has_head_inside(pair):
        title, role = _tr("MTP head inside"), "head"
    drafted = _tr("drafted by {}").format(pair.draft_file or pair.draft_repo)
    return Offer(
        key=key,
        title=title,
        facts=said(str(pair.gain or "")),
        size=known_size(pair.draft_bytes or 0),
        details=_details(pair),
        spoken=spoken(said(pair.title), said(pair.drafter) or drafted, *_details(pair)),
        role=role,
        model=draft,
        repo=pair.draft_repo,
        origin=pair,
    )


def has_head_inside(pair: CuratedPair) -> bool:
    """Return whether the target's file contains a head that drafts for it."""
    return pair.is_headed and not pair.draft_repo


def target_candidate(pair: CuratedPair) -> Candidate | None:
    """Return the target to download, or None if the pair names no file."""
    if pair.target_file is None:
        return None
    n_bytes = pair.target_bytes or 0
    found = _candidate(pair.target_reference, pair.target_repo, pair.target_file, n_bytes)
    work = work_of_size(n_bytes, pair.active) if n_bytes else None
    return replace(found, has_head=has_head_inside(pair), work=work)


def draft_candidate(pair: CuratedPair) -> Candidate | None:
    """Return the draft model or head to download, or None if the pair names or has none."""
    if pair.draft_file is None or not pair.is_usable:
        return None
    n_bytes = pair.draft_bytes or 0
    found = _candidate(pair.draft_reference, pair.draft_repo, pair.draft_file, n_bytes)
    work = (work_of_head if pair.is_headed else work_of_size)(n_bytes) if n_bytes else None
    return replace(found, head=drafts_with(pair.kind), work=work)


def _candidate(reference: str, repo: str, file: str, n_bytes: int) -> Candidate:
    return Candidate(reference, model_name(file), n_bytes=n_bytes, is_here=False, repo=repo)


# -------------------------------------------------------------------------------- on the Hub


def offer_of_repository(model: HubModel) -> Offer:
    """Return the row of a repository found by a search; its size is that of a Q4_K_M."""
    weights = local_weights(model.n_params)
    is_gated = model.gate != "open"
    n_bytes = int(model.n_params * BYTES_PER_WEIGHT)
    return Offer(
        key=model.repo,
        title=model.repo,
        facts=facts(
            hub_facts(model), _tr("{} downloads").format(local_weights(model.downloads) or "0")
        ),
        size=_tr("about {}").format(known_size(n_bytes)) if n_bytes else "",
        model=Candidate(model.repo, model.repo, work=work_on_hub(model, n_bytes)),
        badges=(Badge(_tr("gated"), "lookup"),) if is_gated else (),
        spoken=spoken(
            model.repo,
            _tr("{} parameters").format(weights) if weights else "",
            _tr("{} downloads").format(model.downloads),
            model.license,
            _tr("must be asked for") if is_gated else "",
        ),
        role="repository",
        repo=model.repo,
        has_mark=False,
    )


def files_of(repository: HubRepository, recommended: HubChoice | None, n_free: int) -> list[Offer]:
    """Return the models of a repository; the one that suits `n_free` bytes of memory is marked."""
    choices = repository.choices + repository.sidecars
    return [_offer_of_choice(repository, each, recommended, n_free) for each in choices]


def _offer_of_choice(
    repository: HubRepository, choice: HubChoice, recommended: HubChoice | None, n_free: int
) -> Offer:
    model, sidecar = of_choice(repository, choice), sidecar_in_path(choice.path)
    badges: tuple[Badge, ...] = ()
    if choice == recommended:
        badges = (Badge(_tr("recommended"), "accent"),)
    elif 0 < n_free < choice.n_bytes:
        badges = (Badge(_tr("more than the free memory"), "lookup"),)
    n_parts, size = len(choice.files), known_size(choice.n_bytes)
    files = choice.path if n_parts == 1 else _tr("{} parts").format(n_parts)
    problem = "" if model.is_head else said(model.problem)
    heard = (choice.path, sidecar.sentence) if sidecar else (choice.quantisation, choice.path)
    return Offer(
        key=model.reference,
        title=model.quantisation or model.title,
        facts=facts(files, head_text(model)),
        size=size,
        badges=badges,
        problem=problem,
        spoken=spoken(*heard, size),
        model=model,
        is_dimmed=bool(problem) or not repository.has_access,
        is_locked=not repository.has_access,
    )

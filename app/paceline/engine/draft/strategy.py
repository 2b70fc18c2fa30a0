"""Strategy texts: ``ID[+ID…][:key=value]…``, for example ``suffix+draft:draft.n_max=4``.

A strategy names one drafter or a chain of them: any number of lookups and at most one draft model.
Lookups are asked first, in the order in which they are written, and the model last. A setting is
written ``key=value``, or ``ID.key=value`` if several drafters of the chain have a setting of that
name. ``auto`` stands alone: it is a portfolio of the others. A length may be ``auto`` as well, as
in ``draft:n_max=auto``: then the same controller decides the lengths of all drafters of the chain,
and their own lengths are its limits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from paceline.engine.draft import grammar_drafter
from paceline.engine.draft.base import AUTO, DrafterInfo, Parameter, Settings
from paceline.engine.draft.heads import usable_heads
from paceline.engine.draft.registry import MAX_DRAFT_TOKENS, find, portfolio
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.params import DRAFT, Strategy
from paceline.sentence import Argument, joined, sentence

Member = tuple[DrafterInfo, Settings]


@dataclass(frozen=True, slots=True)
class CompleteStrategy:
    """A strategy with its drafters' descriptions, in the order in which they are asked."""

    drafters: tuple[Member, ...]

    @property
    def value(self) -> Strategy:
        """The strategy with all settings, as in events; `brief` removes the defaults."""
        return Strategy(tuple((info.id, tuple(have.items())) for info, have in self.drafters))

    @property
    def infos(self) -> tuple[DrafterInfo, ...]:
        """The drafters' descriptions, in order."""
        return tuple(info for info, _ in self.drafters)

    @property
    def speculates(self) -> bool:
        """Return whether anything is drafted at all."""
        return any(info.family != "off" for info in self.infos)

    @property
    def needs(self) -> str:
        """The kind of drafter that must be loaded beside the target; see `needs_of`."""
        return needs_of(self.infos)

    @property
    def uses_model(self) -> bool:
        """Return whether a loaded draft model or head would draft."""
        return any(info.family in ("model", "auto") for info in self.infos)

    @property
    def is_auto(self) -> bool:
        """Return whether this is the portfolio, which works with any loaded models."""
        return any(info.family == "auto" for info in self.infos)

    @property
    def is_controlled(self) -> bool:
        """Return whether a controller decides how many tokens are drafted."""
        return self.is_auto or any(_automatic(info, have) for info, have in self.drafters)

    @property
    def n_most(self) -> int:
        """The maximum number of tokens per draft, where a controller decides."""
        lengths = [have["n_max"] for info, have in self.drafters if info.family == "auto"]
        return int(lengths[0]) if lengths else MAX_DRAFT_TOKENS

    def members(
        self,
        *,
        has_grammar: bool,
        model: str = "draft",
        has_earlier: bool = False,
        has_cache: bool = False,
    ) -> list[Member]:
        """Return the drafters that take part in a turn, in the order in which they are asked.

        Args:
            has_grammar: Whether there is a grammar; then forced text is drafted first, for free.
            model: Id of the drafter that uses the loaded draft model or head; empty if there is
                none.
            has_earlier: Whether the reply replaces another one.
            has_cache: Whether the user chose a lookup cache.
        """
        members: list[Member] = []
        for info, settings in self.drafters:
            if info.family == "auto":
                members += portfolio(
                    settings, model=model, has_earlier=has_earlier, has_cache=has_cache
                )
            elif info.family != "off":
                lengths = {
                    p.name: min(p.high, MAX_DRAFT_TOKENS) for p in _automatic(info, settings)
                }
                members.append((info, {**settings, **lengths}))
        if has_grammar and self.speculates:
            members.insert(0, (grammar_drafter.INFO, {}))
        return members


def parse_strategy(text: str) -> CompleteStrategy:
    """Return the strategy that a text names, with all settings; see the module's docstring.

    Raises:
        ValueOutOfRangeError: Unknown drafter or setting, or a value outside its range; the hint
            lists the valid ones.
    """
    return complete(read_strategy(text))


def read_strategy(text: str, find: Callable[[str], DrafterInfo] = find) -> Strategy:
    """Return the drafters and the given settings of a text, without the defaults.

    Errors as in `parse_strategy`. `complete` checks whether the settings of a drafter fit together.
    """
    names = drafters_named(text)
    if any(names) and not all(names):
        missing = "+".join(names)
        _refuse(
            "A drafter is missing in “{missing}”.",
            "Name one on either side of every “+”.",
            missing=missing,
        )
    infos = _order([find(name) for name in names])
    given: dict[str, dict[str, float]] = {info.id: {} for info in infos}
    for assignment in settings_named(text):
        key, equals, value = assignment.partition("=")
        info, parameter = _setting(infos, assignment, key)
        if not equals:
            _refuse(
                "“{key}” has no value.",
                "Write {key}={default:g}, for example.",
                key=key,
                default=parameter.default,
            )
        if parameter.name in given[info.id]:
            _refuse("{key} is given twice.", "Give it once.", key=key)
        given[info.id][parameter.name] = _value(parameter, value)
    return Strategy(tuple((info.id, tuple(given[info.id].items())) for info in infos))


def complete(strategy: Strategy, find: Callable[[str], DrafterInfo] = find) -> CompleteStrategy:
    """Return a strategy with all settings.

    Raises:
        ValueOutOfRangeError: An unknown drafter or setting, a value outside its range, drafters
            that cannot work together, or settings that contradict each other.
    """
    infos = _order([find(name) for name, _ in strategy.drafters or (("", ()),)])
    given: dict[str, dict[str, float]] = {info.id: {} for info in infos}
    for drafter_id, settings in strategy.drafters:
        prefix = f"{drafter_id}." if len(infos) > 1 else ""
        for name, value in settings:
            key = f"{prefix}{name}"
            info, parameter = _setting(infos, f"{key}={_number(value)}", key)
            given[info.id][name] = _value(parameter, value)
    return CompleteStrategy(tuple((info, _complete(info, given[info.id])) for info in infos))


def strategy_text(strategy: Strategy, find: Callable[[str], DrafterInfo] = find) -> str:
    """Return a strategy as text; in a chain, settings have their drafter's id before them.

    Unknown drafters and settings are written as well, so that they can be reported.
    """
    return text_of([name for name, _ in strategy.drafters], settings_text(strategy, find))


def settings_text(strategy: Strategy, find: Callable[[str], DrafterInfo] = find) -> tuple[str, ...]:
    """Return the given settings of a strategy, each as ``key=value``, as in `strategy_text`."""
    parts: list[str] = []
    for drafter_id, settings in strategy.drafters:
        prefix = f"{drafter_id}." if len(strategy.drafters) > 1 else ""
        lengths = _lengths(drafter_id, find) if any(value == AUTO for _, value in settings) else ()
        parts += [
            f"{prefix}{name}={'auto' if value == AUTO and name in lengths else _number(value)}"
            for name, value in settings
        ]
    return tuple(parts)


def brief(strategy: Strategy, find: Callable[[str], DrafterInfo] = find) -> Strategy:
    """Return a strategy without the settings that `complete` would add again."""
    return Strategy(
        tuple((name, _brief(name, dict(given), find)) for name, given in strategy.drafters)
    )


def as_written(told: Strategy, written: str) -> str:
    """Return a strategy of an event as text: as the user wrote it, if it is the same one.

    Args:
        told: The strategy of an event.
        written: The user's text; `read_strategy` can read it.
    """
    return written if brief(told) == brief(read_strategy(written)) else short_text(told)


def short_text(strategy: Strategy, find: Callable[[str], DrafterInfo] = find) -> str:
    """Return a strategy as text, without the settings that have their defaults."""
    return strategy_text(brief(strategy, find), find)


def strategy_named(text: str) -> Strategy:
    """Return the strategy, with all its settings, that a text on disk names.

    A text that cannot be read, for example since a plug-in is gone, becomes the id of a drafter, so
    that it is written unchanged.
    """
    try:
        return parse_strategy(text).value
    except UserError:
        return Strategy.of(text)


def _brief(
    name: str, given: dict[str, float], find: Callable[[str], DrafterInfo]
) -> tuple[tuple[str, float], ...]:
    try:
        info = find(name)
        whole = _complete(info, given)
    except UserError:  # an unknown drafter, or settings that contradict each other
        return tuple(given.items())
    for key in tuple(given):
        rest = {other: value for other, value in given.items() if other != key}
        with contextlib.suppress(UserError):
            if _complete(info, rest) == whole:
                given = rest
    return tuple(given.items())


def _lengths(drafter_id: str, find: Callable[[str], DrafterInfo]) -> tuple[str, ...]:
    """Return a drafter's settings that can be `AUTO`; none of an unknown drafter."""
    try:
        return tuple(p.name for p in find(drafter_id).parameters if p.can_be_auto)
    except UserError:
        return ()


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else f"{value:g}"


def needs_of(infos: Iterable[DrafterInfo]) -> str:
    """Return what must be loaded beside the target so that these drafters can work.

    Returns:
        `DRAFT` for a draft model, the id of a head's kind, or empty for nothing.
    """
    names = [info.id for info in infos if info.family == "model"]
    heads = [kind.id for kind in usable_heads()]
    return names[0] if len(names) == 1 and names[0] in heads else DRAFT if names else ""


def drafters_named(text: str) -> tuple[str, ...]:
    """Return the ids that a strategy text names, whether or not such drafters exist.

    A text may be from another version, or name a plug-in that is gone.
    """
    return tuple(text.strip().partition(":")[0].split("+"))


def settings_named(text: str) -> tuple[str, ...]:
    """Return the settings that a strategy text gives, each as ``key=value``."""
    return tuple(text.strip().split(":")[1:])


def key_of(assignment: str) -> tuple[str, str]:
    """Return the drafter's id (empty if not given) and the setting's name of a ``key=value``."""
    owner, _, name = assignment.partition("=")[0].rpartition(".")
    return owner, name


def text_of(names: Sequence[str], assignments: Iterable[str]) -> str:
    """Return the text that `drafters_named` and `settings_named` would split into these parts."""
    return ":".join(["+".join(names), *assignments])


def _order(infos: Sequence[DrafterInfo]) -> list[DrafterInfo]:
    """Sort lookups first; refuse chains that cannot work."""
    if len(infos) > 1:
        names = [info.id for info in infos]
        for info in infos:
            if info.family == "off":
                _refuse("“{id}” cannot be part of a chain.", "Leave it out.", id=info.id)
            if info.family == "auto":
                _refuse(
                    "“auto” cannot be part of a chain.",
                    "It stands alone, and uses every drafter that pays.",
                )
            if names.count(info.id) > 1:
                _refuse("“{id}” is named twice.", "Name it once.", id=info.id)
        models = [info.id for info in infos if info.family == "model"]
        if len(models) > 1:
            _refuse(
                "One model can draft, and the chain has more: {models}.", "Keep one of them.",
                models=joined([sentence("“{name}”", name=name) for name in models], ", "),
            )  # fmt: skip
    return sorted(infos, key=lambda info: info.family == "model")


def _setting(
    infos: Sequence[DrafterInfo], assignment: str, key: str
) -> tuple[DrafterInfo, Parameter]:
    """Return the drafter and the parameter that a key means."""
    owner, name = key_of(key)
    found = [
        (info, parameter)
        for info in infos
        for parameter in info.parameters
        if parameter.name == name and owner in ("", info.id)
    ]
    if len(found) > 1:
        options = ", ".join(f"{info.id}.{name}" for info, _ in found)
        _refuse(
            "“{assignment}” could mean several settings.",
            "Choose one of {options}.",
            assignment=assignment,
            options=options,
        )
    if not found:
        prefix = len(infos) > 1
        names = ", ".join(
            f"{info.id}.{parameter.name}" if prefix else parameter.name
            for info in infos
            for parameter in info.parameters
        )
        known = names or sentence("no settings")
        whose = "+".join(info.id for info in infos)
        _refuse(
            "“{assignment}” is no setting of {whose}.",
            "It takes {known} (key=value).",
            assignment=assignment,
            whose=whose,
            known=known,
        )
    return found[0]


def _automatic(info: DrafterInfo, settings: Settings) -> list[Parameter]:
    """Return the parameters of the lengths that are left to the controller."""
    return [p for p in info.parameters if p.can_be_auto and settings.get(p.name) == AUTO]


def _complete(info: DrafterInfo, given: dict[str, float]) -> Settings:
    """Add the defaults. A default `n_min` is lowered to a smaller `n_max` that the user gave.

    With an automatic length, defaults that would end a draft early are left to the controller.
    """
    settings = {parameter.name: parameter.default for parameter in info.parameters} | given
    if _automatic(info, given):
        low = {p.name: p.low for p in info.parameters if p.name in ("n_min", "p_min")}
        return settings | low | given
    if "n_min" in settings and "n_max" in settings and settings["n_min"] > settings["n_max"]:
        if "n_min" in given:
            _refuse(
                "n_min is {n_min:g}, above n_max {n_max:g}.",
                "No draft could ever be long enough: lower n_min or raise n_max.",
                n_min=settings["n_min"],
                n_max=settings["n_max"],
            )
        settings["n_min"] = settings["n_max"]
    return settings


def _value(parameter: Parameter, given: str | float) -> float:
    """Return a setting's value in the type that drafters expect."""
    word = "auto" if parameter.can_be_auto else ""
    try:
        if isinstance(given, str):
            given = parameter.parse(given, parameter.name, word)
        value: float = parameter.check(given, parameter.name, word)
    except ValueOutOfRangeError as error:
        _refuse(error.message, error.hint)
    return value


def _refuse(message: str, hint: str, /, **arguments: Argument) -> NoReturn:
    raise ValueOutOfRangeError("bad-strategy", message, hint, **arguments)

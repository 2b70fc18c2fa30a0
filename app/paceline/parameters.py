"""Parameters, each declared once, with names, meanings and allowed values.

A drafter lists its parameters. Settings are fields of dataclasses, `declared` with a parameter
each. Window, command line, presets, stored settings and engine use these declarations. Any thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NoReturn

from paceline.errors import refuse
from paceline.sentence import Sentence, sentence

MAX_INT = 2**31 - 1
"""Maximum integer of the native library."""
Kind = Literal["int", "float", "bool", "choice", "text"]
AUTO = 0.0
"""Value of an automatic length: as many tokens as pay, decided in every step."""


@dataclass(frozen=True, slots=True)
class Option:
    """The command line's options for a parameter.

    Attributes:
        name: Name without dashes; empty for the parameter's. Braces are replaced by "-draft" for
            the draft model.
        help: Help text; empty for the parameter's. Braces are replaced by the model it is for.
        metavar: The value in the help; empty to choose by kind. With the ending "|auto" it can be
            "auto".
        read: Converts the text to a value, if that is neither a number nor the text.
        repeats: Whether it can be given several times, each time with one item of a tuple.
        flag: Name of an option without a value, which reverses a switch, or sets a number to
            `auto`.
        flag_help: Help text of the flag.
    """

    name: str = ""
    help: str = ""
    metavar: str = ""
    read: Callable[[str], Any] | None = None
    repeats: bool = False
    flag: str = ""
    flag_help: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that can be set; its words are in English, and translated by the window.

    Attributes:
        name: The key in a strategy, or the name of the field.
        kind: Type of its values; "text" also for several texts or numbers.
        default: Default value.
        low: Minimum of a number.
        high: Maximum of a number.
        title: Two or three words.
        help: One or more sentences.
        can_be_auto: Whether it can be automatic, with the value `auto`.
        auto: The number that means automatic.
        off: The number that has no effect, or None.
        unset: Text shown for `auto`, or for no value.
        excludes_low: Whether `low` itself is refused.
        offered_low: Minimum in the window, or None for `low`.
        offered_high: Maximum in the window, presets and the settings file, or None for `high`.
        usual: Maximum distance of a slider's ends from 0, within what is offered.
        step: Step of an arrow key in the window.
        unit: Unit of a number.
        choices: Values of a choice with their words; a value without words is not offered.
        option: The command line's options, or None if it has none of this kind.
    """

    name: str
    kind: Kind
    default: Any
    low: float
    high: float
    title: str
    help: str
    can_be_auto: bool = False
    auto: float = AUTO
    off: float | None = None
    unset: str = ""
    excludes_low: bool = False
    offered_low: float | None = None
    offered_high: float | None = None
    usual: float = math.inf
    step: int = 1
    unit: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    option: Option | None = None

    @property
    def is_number(self) -> bool:
        """Return whether its values are numbers."""
        return self.kind in ("int", "float")

    @property
    def offered(self) -> tuple[float, float]:
        """The minimum and maximum that the window offers, without `auto`."""
        low = self.low if self.offered_low is None else self.offered_low
        return low, self.high if self.offered_high is None else self.offered_high

    @property
    def on_slider(self) -> tuple[float, float]:
        """The ends of a slider."""
        low, high = self.offered
        return max(low, -self.usual), min(high, self.usual)

    @property
    def offers(self) -> list[str]:
        """The values that can be selected by name, without the empty one."""
        return [value for value, words in self.choices if value and words]

    def parse(self, text: str, called: str, word: str = "") -> Any:
        """Return the number or the choice that a text means.

        Args:
            text: The text.
            called: The name in an error.
            word: The text for `auto`; empty for none.

        Raises:
            ValueOutOfRangeError: The value is invalid, out of range, or not offered.
        """
        if self.choices:
            if text not in self.offers:
                self._refuse_choice(called, text)
            return text
        if word and text == word:
            return self.auto
        try:
            value = int(text) if self.kind == "int" else float(text)
        except ValueError:
            self._refuse(called, text, self.high, word)
        if not self._takes(value):  # `auto` must be given by its word
            self._refuse(called, text, self.high, word)
        return value

    def check(self, value: Any, called: str = "", word: str = "", *, kept: bool = False) -> Any:
        """Return the value if it is allowed; an integral number as an integer.

        Args:
            value: A value of the parameter's type.
            called: The name in an error; empty for the title.
            word: As in `parse`.
            kept: Whether it is for presets and settings, which do not allow every number.

        Raises:
            ValueOutOfRangeError: It is not allowed; says which values are.
        """
        if self.choices and value not in dict(self.choices):
            self._refuse_choice(called, value)
        if not self.is_number or value is None or (self.can_be_auto and value == self.auto):
            return value
        high = self.offered[1] if kept else self.high
        if not (self.low <= value <= high if kept else self._takes(value)):
            self._refuse(called, number_words(value), high, word)
        return int(value) if self.kind == "int" else value

    def _takes(self, value: float) -> bool:
        if self.kind == "int" and not (isinstance(value, int) or value.is_integer()):
            return False
        return self.low <= value <= self.high and not (self.excludes_low and value == self.low)

    def _refuse_choice(self, called: str, given: str) -> NoReturn:
        refuse(
            "{setting} cannot be “{value:.60}”.",
            "Choose one of {known}.",
            setting=called or Sentence(self.title),
            value=given,
            known=", ".join(self.offers),
        )

    def _refuse(self, called: str, given: str, high: float, word: str) -> NoReturn:
        kind = sentence("a whole number") if self.kind == "int" else sentence("a number")
        has_no_number = self.default is None or (self.can_be_auto and self.default == self.auto)
        low, most = number_words(self.low), number_words(high)
        if self.excludes_low:
            values = sentence("above {low} and at most {high}", low=low, high=most)
        else:
            values = sentence("from {low} to {high}", low=low, high=most)
        refuse(
            "{setting} is {value:.60}, but it must be {kind} {values}, or {word}."
            if word
            else "{setting} is {value:.60}, but it must be {kind} {values}.",
            "" if has_no_number else "The default is {default}.",
            setting=called or Sentence(self.title),
            value=given or "“”",  # without quotes the sentence would have a gap
            kind=kind,
            values=values,
            word=word,
            default=number_words(self.default or 0),
        )


def number_words(value: float) -> Sentence:
    """Return a number as shown in sentences."""
    return Sentence("{n:,}" if isinstance(value, int) else "{n:g}", {"n": value})


def declared(
    default: Any, title: str, explanation: str = "", low: float = 0, high: float = 0, **more: Any
) -> Any:
    """Return a dataclass's field with its parameter, whose other attributes are in `more`.

    The kind is that of the default, unless given. All except texts have an option.
    """
    kinds: dict[type, Kind] = {bool: "bool", int: "int", float: "float"}
    kind: Kind = "choice" if "choices" in more else kinds.get(type(default), "text")
    usual: dict[str, Any] = {"kind": kind, "option": None if kind == "text" else Option()}
    if "auto" in more:
        usual |= {"can_be_auto": True, "unset": "auto"}
    parameter = Parameter(
        name="", default=default, low=low, high=high, title=title, help=explanation, **usual | more
    )
    return field(default=default, metadata={"parameter": parameter})


@cache
def parameters_of(cls: type) -> Mapping[str, Parameter]:
    """Return the parameters of a dataclass's declared fields, by name and in order."""
    return MappingProxyType(
        {
            each.name: replace(each.metadata["parameter"], name=each.name)
            for each in fields(cls)
            if "parameter" in each.metadata
        }
    )


def check_fields(values: Any, *, by_name: bool = False, kept: bool = False) -> None:
    """Check every declared field of a dataclass's value and of its parts.

    Args:
        values: The value.
        by_name: Whether an error has the field's name instead of its title.
        kept: As in `Parameter.check`.

    Raises:
        ValueOutOfRangeError: A value is refused; says which, and which values are allowed.
    """
    cls: type = type(values)
    for name, parameter in parameters_of(cls).items():
        parameter.check(getattr(values, name), name if by_name else "", kept=kept)
    for part in (getattr(values, each.name) for each in fields(cls)):
        if is_dataclass(part):
            check_fields(part, by_name=by_name, kept=kept)

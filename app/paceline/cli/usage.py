"""Wrong usage as an exception, an argument parser that raises it, and checks for single values."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING, Any, NoReturn

from paceline.chat.prompt_json import is_unicode
from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LARGEST_INT = 2**31 - 1
"""What fits into the native library's integers."""


class UsageError(UserError):
    """The command line cannot be understood, or asks for something that does not exist."""

    exit_code = 2

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(code, message, hint)


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps options and ids, which have hyphens, in one piece so that they can be copied."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` instead of printing the usage and leaving the program."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", _HelpFormatter)
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        hint = f"See `{self.prog} --help`."
        if "expected one argument" in message:
            option = message.removeprefix("argument ").split(":")[0]
            hint = f"A value that begins with a dash is written {option}=VALUE. {hint}"
        raise UsageError("usage", f"{message[:1].upper()}{message[1:]}.", hint)


class NotBuiltYet(argparse.Action):
    """An option of a later version: takes its arguments, then says what to use instead."""

    def __init__(self, *, instead: str, **settings: Any) -> None:
        super().__init__(**settings, help=argparse.SUPPRESS)
        self.instead = instead

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,  # noqa: ARG002
        values: str | Sequence[Any] | None,  # noqa: ARG002
        option_string: str | None = None,
    ) -> NoReturn:
        """Refuse the option."""
        raise not_built_yet(option_string or self.dest, self.instead)


def not_built_yet(what: str, instead: str) -> UsageError:
    """Return the refusal of something that the contract has and this version does not."""
    return UsageError("not-built-yet", f"{what} is not built yet.", instead)


def whole_number(low: int, high: int = LARGEST_INT) -> Callable[[str], int]:
    """Return a check for an integer from `low` to `high`."""

    def check(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r:.60} is not a whole number") from None
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text:.40} is not between {low} and {high}")
        return value

    return check


def number(text: str) -> float:
    """Return a number; its range is the engine's matter."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not a number") from None


def layers(text: str) -> int:
    """Return a number of layers; "auto" is -1."""
    if text == "auto":
        return -1
    try:
        return whole_number(0)(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, nor is it auto") from None


def plain_text(text: str) -> str:
    """Return a text that is not empty and that every tokenizer can take."""
    if not text:
        raise argparse.ArgumentTypeError("the text is empty")
    if not is_unicode(text):
        raise argparse.ArgumentTypeError("the text is not valid UTF-8")
    return text

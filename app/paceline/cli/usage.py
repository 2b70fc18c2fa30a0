"""Wrong usage as an exception, an argument parser that raises it, and checks for single values."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from paceline.chat.prompt import is_unicode
from paceline.cli.output import print_result
from paceline.errors import UserError
from paceline.parameters import MAX_INT


class UsageError(UserError):
    """The command line cannot be understood, or asks for something that does not exist."""

    exit_code = 2


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps options and ids, which have hyphens, in one piece so that they can be copied."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` instead of printing the usage and leaving the program."""

    def __init__(self, *, fill: Callable[[Parser], None] | None = None, **settings: Any) -> None:
        """Make a parser.

        Args:
            fill: Adds the options, once, when the first command line is parsed.
            settings: As in `argparse.ArgumentParser`.
        """
        settings.setdefault("formatter_class", _HelpFormatter)
        super().__init__(allow_abbrev=False, **settings)
        self._fill = fill

    def parse_known_args(
        self, args: Iterable[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, after the options were added."""
        fill, self._fill = self._fill, None
        if fill is not None:
            fill(self)
        return super().parse_known_args(args, namespace)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if arg_strings == ["--"] and action.option_strings and action.nargs is None:
            value = self._get_value(action, "--")  # given as --option=--, which Python 3.11 drops
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help or the version; unlike the original, report a failure."""
        del file
        print_result(message)

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        hint = f"See `{self.prog} --help`."
        if "expected one argument" in message:
            option = message.removeprefix("argument ").split(":")[0]
            hint = f"A value that begins with a dash is written {option}=VALUE. {hint}"
        raise UsageError("usage", f"{message[:1].upper()}{message[1:]}.", hint)


def whole_number(low: int, high: int = MAX_INT) -> Callable[[str], int]:
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


def plain_text(text: str) -> str:
    """Return a text that is not empty and that every tokenizer can take."""
    if not text:
        raise argparse.ArgumentTypeError("the text is empty")
    if not is_unicode(text):
        raise argparse.ArgumentTypeError("the text is not valid UTF-8")
    return text

"""Options of the command line made from declared parameters, and their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from paceline.cli.usage import plain_text
from paceline.errors import ValueOutOfRangeError
from paceline.parameters import Option, Parameter

_METAVARS = {"int": "N", "float": "X"}


def add_parameters(
    group: argparse._ActionsContainer,
    parameters: Iterable[Parameter],
    suffix: str = "",
    **places: str,
) -> None:
    """Add the options of all parameters that have one; options that are not given stay None.

    Args:
        group: Group of the help that lists them.
        parameters: In the order of the help.
        suffix: Follows the names: empty, or ``_draft`` for the draft model's options.
        places: Values for the braces in the help texts.
    """
    places["suffix"] = suffix.replace("_", "-")
    for parameter in parameters:
        option, dest = parameter.option, parameter.name + suffix
        if option is None:
            continue
        place = group
        if option.flag:
            place = group.add_mutually_exclusive_group()
            place.add_argument(
                _named(option.flag, suffix),
                dest=dest,
                action="store_const",
                const=_of_flag(parameter),
                help=option.flag_help.format(**places),
            )
        if parameter.kind == "bool":
            continue
        name = _named(option.name or parameter.name, suffix)
        choices = parameter.offers
        metavar = f"{{{','.join(choices)}}}" if choices else _METAVARS.get(parameter.kind)
        place.add_argument(
            name,
            dest=dest,
            metavar=option.metavar or metavar,
            type=_reader(parameter, option, name),
            action="append" if option.repeats else "store",
            help=_help(parameter, option).format(choices=", ".join(choices), **places),
        )


def given(
    args: argparse.Namespace, parameters: Iterable[Parameter], suffix: str = ""
) -> dict[str, Any]:
    """Return the values that options gave, by the parameters' names.

    Args:
        args: The parsed command line.
        parameters: Whose options may have been given.
        suffix: As in `add_parameters`.
    """
    values = ((each.name, getattr(args, each.name + suffix)) for each in parameters if each.option)
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values
        if value is not None
    }


def written(parameter: Parameter, value: object, suffix: str = "") -> str:
    """Return the option that gives this value, as text."""
    option = parameter.option or Option()
    is_flag = option.flag and value == _of_flag(parameter)
    return _named(option.flag if is_flag else option.name or parameter.name, suffix)


def _named(name: str, suffix: str) -> str:
    return f"--{name}".format(suffix).replace("_", "-")


def _of_flag(parameter: Parameter) -> object:
    """Return the value of an option that is given without one."""
    return not parameter.default if parameter.kind == "bool" else parameter.auto


def _reader(parameter: Parameter, option: Option, name: str) -> Callable[[str], Any]:
    if parameter.is_number or parameter.choices:
        word = "auto" if option.metavar.endswith("|auto") else ""
        return partial(parameter.parse, called=name, word=word)
    return read_by(option.read) if option.read else str


def read_by(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a converter for an option's text that turns a value out of range into wrong usage."""

    def checked(text: str) -> Any:
        try:
            return read(plain_text(text))
        except ValueOutOfRangeError as error:
            raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from None

    return checked


def _help(parameter: Parameter, option: Option) -> str:
    own, default = parameter.help.removesuffix("."), parameter.default
    text = option.help or f"{own[0].lower()}{own[1:]}"
    if default in ("", None, ()) or option.flag or "(default:" in text:
        return text
    return f"{text} (default: {f'{default:g}' if parameter.is_number else default})"

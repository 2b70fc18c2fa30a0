"""The options that say how tokens are drawn, and the `SamplingParams` made from them.

Ranges are the engine's matter; what is checked here is that a value can be read at all.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from paceline.cli.usage import LARGEST_INT, UsageError, number, whole_number
from paceline.errors import UserError
from paceline.messages import LogitBias, SamplingParams

MAX_GRAMMAR_BYTES = 256_000
"""Larger files are no grammars that somebody wrote."""
_DEFAULTS = SamplingParams()


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add every option about the distribution that tokens are drawn from."""
    for option, convert, default, effect in (
        ("--temperature", number, _DEFAULTS.temperature, "0 always takes the likeliest token"),
        ("--top-k", whole_number(0), _DEFAULTS.top_k, "draw from the k likeliest tokens; 0: off"),
        ("--top-p", number, _DEFAULTS.top_p, "draw from the likeliest share of this size; 1: off"),
        ("--min-p", number, _DEFAULTS.min_p, "leave out what is rarer than this times the best"),
        (
            "--repeat-penalty",
            number,
            _DEFAULTS.repeat_penalty,
            "make each of the last 64 tokens less likely by this factor of its logit; 1: off",
        ),
        (
            "--presence-penalty",
            number,
            _DEFAULTS.presence_penalty,
            "take this from the logit of each of them; 0: off",
        ),
        (
            "--frequency-penalty",
            number,
            _DEFAULTS.frequency_penalty,
            "take this from it once per occurrence; 0: off",
        ),
    ):
        group.add_argument(
            option,
            metavar="N" if option == "--top-k" else "X",
            type=convert,
            default=default,
            help=f"{effect} (default: %(default)s)",
        )
    group.add_argument(
        "--logit-bias",
        metavar="ID=X",
        type=_logit_bias,
        action="append",
        default=[],
        help="add X to the logit of this token; -inf or false forbids it; can be given several "
        "times",
    )
    group.add_argument(
        "--grammar",
        metavar="FILE",
        type=Path,
        help="grammar in llama.cpp's notation (GBNF) that the reply must follow",
    )
    group.add_argument(
        "--json-schema", metavar="FILE", type=Path, help="JSON schema that the reply must follow"
    )


def read_sampling(args: argparse.Namespace) -> SamplingParams:
    """Return what the options ask for; reads the grammar's file.

    Raises:
        UsageError: Options that do not go together, or a file with the wrong content.
        ValueOutOfRangeError: A value outside its range.
        UserError: A file that cannot be read.
    """
    from paceline.engine.sampling import check_sampling  # loads NumPy, which --help can do without

    if args.grammar and args.json_schema:
        raise UsageError("usage", "--grammar and --json-schema are given.", "Give one of them.")
    form = "--grammar" if args.grammar else "--json-schema" if args.json_schema else ""
    if form and args.ignore_eog:
        raise UsageError(
            "usage",
            f"{form} and --ignore-eog are given, but a reply that follows a form ends with it.",
            "Leave one of them out.",
        )
    params = SamplingParams(
        temperature=args.temperature,
        top_k=args.top_k,
        top_p=args.top_p,
        min_p=args.min_p,
        repeat_penalty=args.repeat_penalty,
        presence_penalty=args.presence_penalty,
        frequency_penalty=args.frequency_penalty,
        logit_bias=tuple(args.logit_bias),
        grammar=_read_text("--grammar", args.grammar) if args.grammar else "",
        json_schema=_read_text("--json-schema", args.json_schema) if args.json_schema else "",
    )
    check_sampling(params)
    return params


def _logit_bias(text: str) -> LogitBias:
    token, _, bias = text.partition("=")
    try:
        value = -math.inf if bias.strip().lower() == "false" else float(bias)
        if not math.isnan(value):
            return LogitBias(whole_number(0, LARGEST_INT)(token), value)
    except ValueError:
        pass
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"in {text!r:.60} the token id {error}") from None
    raise argparse.ArgumentTypeError(
        f"{text!r:.60} is not ID=X with a token id and a number, -inf or false"
    )


def _read_text(option: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_GRAMMAR_BYTES + 1)
    except FileNotFoundError:
        raise UserError(
            "file-not-found", f"There is no file {path}.", f"Check the path given by {option}."
        ) from None
    except OSError as error:
        raise UserError(
            "file-unreadable",
            f"{path} cannot be read ({error.strerror}).",
            f"Give {option} a text file that you may read.",
        ) from error
    if len(raw) > MAX_GRAMMAR_BYTES:
        raise UsageError(
            "usage",
            f"{path} is larger than {MAX_GRAMMAR_BYTES // 1000} kB.",
            f"Give {option} a shorter file: every rule costs time at every token.",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            "usage",
            f"{path} is not UTF-8 text (byte {error.start + 1} is wrong).",
            "Save it as UTF-8.",
        ) from None
    if not text.strip():
        raise UsageError("usage", f"{path} is empty.", f"Leave {option} out for a free reply.")
    return text

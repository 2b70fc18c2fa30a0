"""Presets of how replies are sampled: their limits, names and file, and their stop strings.

The file is JSON with all fields by name, so that it can be read and written by hand. It may come
from anywhere, so every value is checked before it is used. A forbidden token is written as
``"-Infinity"``, since JSON has no number for it; earlier versions wrote ``"-inf"``.

A reply ends before the first of its stop strings. Pure functions, any thread.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from paceline.codec import CodecError, UnknownFieldError, decode, encode
from paceline.conversation import clean
from paceline.engine.sample.sampling import check_sampling
from paceline.errors import UserError, refuse
from paceline.parameters import check_fields
from paceline.params import ReplySettings, shown_stop
from paceline.sentence import Argument, sentence
from paceline.settings import MAX_PRESETS, ReplyPreset, preset_fields

KIND = "paceline reply presets"
VERSION = 1
MAX_NAME_CHARS = 60
MAX_FILE_BYTES = 4_000_000
_FORBIDDEN = ("-Infinity", "-inf")
"""A bias that forbids a token; the first is written, and both are read."""
MAX_STOPS = 16
MAX_STOP_CHARS = 200


def clean_name(text: str) -> str:
    """Return a name in one line, without spaces around it."""
    return " ".join(text.split())[:MAX_NAME_CHARS].rstrip()


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with a number after it if it is taken; case is ignored."""
    used = {other.casefold() for other in taken}
    found, number = name, 1
    while found.casefold() in used:
        number += 1
        tail = f" ({number})"
        found = name[: MAX_NAME_CHARS - len(tail)].rstrip() + tail
    return found


def check_preset(preset: ReplyPreset) -> None:
    """Check that a reply can use a preset.

    Raises:
        ValueOutOfRangeError: A value is out of its range; the text names both.
    """
    if not clean_name(preset.name):
        refuse("A preset has no name.", "Give it one.")
    _check_text(preset.name)
    check_settings(preset.settings)


def check_settings(settings: ReplySettings) -> None:
    """Check that a reply can be sampled with these settings.

    Raises:
        ValueOutOfRangeError: A value is out of its range; the text names both.
    """
    check_fields(settings, kept=True)
    sampling = settings.sampling
    if sampling.grammar and sampling.json_schema:
        refuse("A grammar and a JSON schema are given.", "Give one of them.")
    check_sampling(sampling)
    check_stops(settings.stop)
    for text in (settings.system_prompt, sampling.grammar, sampling.json_schema, *settings.stop):
        _check_text(text)


def presets_to_text(presets: Sequence[ReplyPreset]) -> str:
    """Return presets as the text of a file."""
    items = [{"name": preset.name, **encode(preset.settings)} for preset in presets]
    for item in items:
        write_forbidden(item)
    data = {"kind": KIND, "version": VERSION, "presets": items}
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def presets_from_text(text: str) -> tuple[ReplyPreset, ...]:
    """Return the presets of a file; all of them, or none.

    Raises:
        UserError: It is no such file, or a value in it is invalid; says which one.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise _unusable(
            "This is no JSON: {why} (line {line}, column {column}).",
            why=error.msg,
            line=error.lineno,
            column=error.colno,
        ) from None
    except (ValueError, RecursionError):
        raise _unusable("This JSON is nested too deeply or holds too large numbers.") from None
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise _unusable("This file holds no presets of replies.")
    if data.get("version") != VERSION:
        version = repr(data.get("version"))
        raise _unusable("The file has the version {version:.20}.", version=version)
    items = data.get("presets")
    if not isinstance(items, list) or not items:
        raise _unusable("The file holds no presets.")
    if len(items) > MAX_PRESETS:
        raise _unusable(
            "The file holds {n} presets; {most} is the most.", n=len(items), most=MAX_PRESETS
        )
    return tuple(_preset(item, number) for number, item in enumerate(items, start=1))


def _preset(item: object, number: int) -> ReplyPreset:
    if not isinstance(item, dict):
        raise _unusable("Preset {n} is not an object.", n=number)
    name = item.get("name")
    where = sentence("{n}", n=number)
    if isinstance(name, str) and name:
        where = sentence("{n} (“{name:.40}”)", n=number, name=name)
    try:
        preset = decode(ReplyPreset, preset_fields(read_forbidden(item)))
        check_preset(preset)
    except CodecError as error:
        place = error.place.removeprefix(".settings").removeprefix(".")
        if isinstance(error, UnknownFieldError):
            raise _unusable(
                "Preset {where} cannot be read: {place} is not known.",
                "If a newer Paceline exported it, install that; otherwise take the field out.",
                where=where,
                place=place,
            ) from None
        raise _unusable(
            "Preset {where} is damaged: {place} {why}.", where=where, place=place, why=error.reason
        ) from None
    except UserError as error:
        message = sentence("Preset {where} cannot be used: {why}", where=where, why=error.message)
        raise _unusable(message, error.hint) from None
    return preset


def write_forbidden(data: dict[str, Any]) -> None:
    """Replace the infinity of forbidden tokens, which JSON lacks, by a text.

    Args:
        data: Result of `encode` for settings or a record; changed in place.
    """
    for bias in data["sampling"]["logit_bias"]:
        if bias["bias"] == -math.inf:
            bias["bias"] = _FORBIDDEN[0]


def read_forbidden(data: Any) -> Any:
    """Undo `write_forbidden` in JSON data of any kind, in place, and return it."""
    sampling = data.get("sampling") if isinstance(data, dict) else None
    biases = sampling.get("logit_bias") if isinstance(sampling, dict) else None
    for bias in biases if isinstance(biases, (list, tuple)) else ():
        if isinstance(bias, dict) and bias.get("bias") in _FORBIDDEN:
            bias["bias"] = -math.inf
    return data


def _check_text(text: str) -> None:
    if clean(text) != text:
        refuse("A text holds half of a character (a surrogate).", "Write it anew.")


_EXPORTED = sentence("Choose a file that was exported here.")


def _unusable(message: str, hint: str = _EXPORTED, /, **arguments: Argument) -> UserError:
    return UserError("bad-preset", message, hint, **arguments)


# ------------------------------------------------------------------------------ stop strings


def check_stops(stops: tuple[str, ...]) -> None:
    """Check a preset's stop strings.

    Raises:
        ValueOutOfRangeError: There are too many, or one is empty, too long or given twice.
    """
    if len(stops) > MAX_STOPS:
        refuse("There are {n} stop strings.", "Give at most {most}.", n=len(stops), most=MAX_STOPS)
    for stop in stops:
        if not stop:
            refuse("A stop string is empty.", "Leave it out.")
        if len(stop) > MAX_STOP_CHARS:
            refuse(
                "A stop string has {n} characters.",
                "Give at most {most}.",
                n=len(stop),
                most=MAX_STOP_CHARS,
            )
        if stops.count(stop) > 1:
            refuse("“{stop}” is given twice.", "Give each stop string once.", stop=shown_stop(stop))

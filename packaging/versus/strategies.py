"""A strategy of ours and the flags that make the server do the same."""

from __future__ import annotations

from dataclasses import dataclass

from paceline.engine.draft.strategy import parse_strategy, read_strategy

SERVER_TYPES = {
    "draft": "draft-simple",
    "ngram-simple": "ngram-simple",
    "ngram-map-k": "ngram-map-k",
    "ngram-map-k4v": "ngram-map-k4v",
    "ngram-mod": "ngram-mod",
    "ngram-cache": "ngram-cache",
}
FLAGS = {
    "draft": {
        "n_max": "--spec-draft-n-max",
        "n_min": "--spec-draft-n-min",
        "p_min": "--spec-draft-p-min",
    },
    "ngram-simple": {"n": "--spec-ngram-simple-size-n", "m": "--spec-ngram-simple-size-m"},
    "ngram-map-k": {
        "n": "--spec-ngram-map-k-size-n",
        "m": "--spec-ngram-map-k-size-m",
        "min_hits": "--spec-ngram-map-k-min-hits",
    },
    "ngram-map-k4v": {
        "n": "--spec-ngram-map-k4v-size-n",
        "m": "--spec-ngram-map-k4v-size-m",
        "min_hits": "--spec-ngram-map-k4v-min-hits",
    },
    "ngram-mod": {
        "n_match": "--spec-ngram-mod-n-match",
        "n_min": "--spec-ngram-mod-n-min",
        "n_max": "--spec-ngram-mod-n-max",
    },
    "ngram-cache": {},  # the server's draft length is fixed at 8, which is our default
}
"""The server's flag by drafter and setting; ours are always passed, defaults too."""


class NoCounterpartError(ValueError):
    """The server has nothing that does what this strategy does."""


@dataclass(frozen=True)
class Match:
    """One comparison: our strategy, and what the server is started with."""

    name: str
    ours: str
    server_flags: tuple[str, ...]
    needs_draft: bool


def server_flags(strategy: str) -> tuple[str, ...]:
    """Return the flags that make the server draft like this strategy of ours.

    Raises:
        NoCounterpartError: The server cannot.
        ValueOutOfRangeError: This is no strategy.
    """
    whole = parse_strategy(strategy)
    if not whole.speculates:
        return ("--spec-type", "none")
    for name, given in read_strategy(strategy).drafters:
        if name not in SERVER_TYPES:
            raise NoCounterpartError(
                f"llama-server has no counterpart of {name!r}; name one after a slash, "
                f"for example {strategy}/draft:n_max=4"
            )
        if foreign := dict(given).keys() - FLAGS[name].keys():
            raise NoCounterpartError(f"llama-server has no counterpart of {min(foreign)!r}")
    flags = ["--spec-type", ",".join(SERVER_TYPES[info.id] for info in whole.infos)]
    for info, settings in whole.drafters:
        for setting, flag in FLAGS[info.id].items():
            flags += [flag, f"{settings[setting]:g}"]
    return tuple(flags)


def match(text: str) -> Match:
    """Read ``OURS`` or ``OURS/SERVERS``, both written as our strategies."""
    ours, _, theirs = text.partition("/")
    needs_draft = any(parse_strategy(each).uses_model for each in (ours, theirs or ours))
    return Match(text, ours, server_flags(theirs or ours), needs_draft)

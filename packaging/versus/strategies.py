"""A strategy of ours and the flags that make the server do the same."""

from __future__ import annotations

from dataclasses import dataclass

SERVER_TYPES = {
    "draft": "draft-simple",
    "ngram-simple": "ngram-simple",
    "ngram-map-k": "ngram-map-k",
    "ngram-map-k4v": "ngram-map-k4v",
    "ngram-mod": "ngram-mod",
    "ngram-cache": "ngram-cache",
}
# Per drafter and parameter: the server's flag, and our default, which is always passed.
FLAGS: dict[str, dict[str, tuple[str, str]]] = {
    "draft": {
        "n_max": ("--spec-draft-n-max", "16"),
        "n_min": ("--spec-draft-n-min", "0"),
        "p_min": ("--spec-draft-p-min", "0.5"),
    },
    "ngram-simple": {
        "n": ("--spec-ngram-simple-size-n", "12"),
        "m": ("--spec-ngram-simple-size-m", "48"),
    },
    "ngram-map-k": {
        "n": ("--spec-ngram-map-k-size-n", "12"),
        "m": ("--spec-ngram-map-k-size-m", "48"),
        "min_hits": ("--spec-ngram-map-k-min-hits", "1"),
    },
    "ngram-map-k4v": {
        "n": ("--spec-ngram-map-k4v-size-n", "12"),
        "m": ("--spec-ngram-map-k4v-size-m", "48"),
        "min_hits": ("--spec-ngram-map-k4v-min-hits", "1"),
    },
    "ngram-mod": {
        "n_match": ("--spec-ngram-mod-n-match", "24"),
        "n_min": ("--spec-ngram-mod-n-min", "48"),
        "n_max": ("--spec-ngram-mod-n-max", "64"),
    },
    "ngram-cache": {},  # the server's draft length is fixed at 8, which is our default
}


class NoCounterpartError(ValueError):
    """The server has nothing that does what this strategy does."""


@dataclass(frozen=True)
class Match:
    """One comparison: our strategy, and what the server is started with."""

    name: str
    ours: str
    server_flags: tuple[str, ...]
    needs_draft: bool


def parse(text: str) -> tuple[list[str], dict[str, str]]:
    """Split ``ID[+ID…][:key=value]…`` into ids and parameters."""
    head, *settings = text.split(":")
    parameters = dict(setting.split("=", 1) for setting in settings if "=" in setting)
    if len(parameters) != len(settings) or not all(head.split("+")):
        raise ValueError(f"{text!r} is not ID[:key=value]…")
    return head.split("+"), parameters


def server_flags(strategy: str) -> tuple[str, ...]:
    """Return the flags that make the server draft like this strategy of ours.

    Raises:
        NoCounterpartError: The server cannot.
        ValueError: This is no strategy.
    """
    ids, parameters = parse(strategy)
    if ids == ["off"] and not parameters:
        return ("--spec-type", "none")
    if unknown := [each for each in ids if each not in SERVER_TYPES]:
        raise NoCounterpartError(
            f"llama-server has no counterpart of {unknown[0]!r}; name one after a slash, "
            f"for example {strategy}/draft:n_max=4"
        )
    flags = ["--spec-type", ",".join(SERVER_TYPES[each] for each in ids)]
    for drafter in ids:
        for key, (flag, default) in FLAGS[drafter].items():
            plain = parameters.pop(key, default) if len(ids) == 1 else default
            flags += [flag, parameters.pop(f"{drafter}.{key}", plain)]
    if parameters:
        raise NoCounterpartError(f"llama-server has no counterpart of {next(iter(parameters))!r}")
    return tuple(flags)


def match(text: str) -> Match:
    """Read ``OURS`` or ``OURS/SERVERS``, both written as our strategies."""
    ours, _, theirs = text.partition("/")
    flags = server_flags(theirs or ours)
    drafters = {each for side in (ours, theirs or ours) for each in parse(side)[0]}
    # What is not the server's may want the draft model, and runs without it where it does not.
    needs_draft = bool(drafters - {"off", *SERVER_TYPES} or "draft" in drafters)
    return Match(text, ours, flags, needs_draft)

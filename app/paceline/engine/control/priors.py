"""What is known of a drafter's acceptance in the long run; it outlives turns, and programs.

Counts by class of confidence, and what whole replies gained: nothing of any text can be told from
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from paceline.engine.control.admission import MOST_REPLIES, OF_ALL, OF_ONE, Admission
from paceline.engine.control.classes import DEFAULT, N_CLASSES

_WEIGHT = 4.0  # judged tokens that the built-in belief counts for
_MOST = 2000.0  # beyond so many, older tokens fade
_VERSION = 1
_LARGEST = 1e9


class LongRun:
    """One drafter's judged tokens, by class.

    Attributes:
        judged: Tokens per class.
        accepted: How many of them were accepted.
        n_judged: All tokens that were ever judged.
        n_accepted: How many of them were accepted.
        saved: Plain steps that the drafter saved, over all.
        admission: What a draft model gained in whole replies.
    """

    __slots__ = ("accepted", "admission", "judged", "n_accepted", "n_judged", "saved")

    def __init__(self) -> None:
        self.judged = [0.0] * N_CLASSES
        self.accepted = [0.0] * N_CLASSES
        self.n_judged = 0
        self.n_accepted = 0
        self.saved = 0.0
        self.admission = Admission(OF_ONE)

    def rate(self, cls: int) -> float:
        """Return what is believed of a class."""
        judged, accepted = self.judged, self.accepted
        if judged[cls] > _MOST:
            judged[cls] *= 0.5
            accepted[cls] *= 0.5
        return (accepted[cls] + _WEIGHT * DEFAULT[cls]) / (judged[cls] + _WEIGHT)


class Priors:
    """The long run of every drafter, by its id, and what they gained together in whole replies."""

    __slots__ = ("of", "together")

    def __init__(self) -> None:
        self.of: dict[str, LongRun] = {}
        self.together: dict[str, Admission] = {}

    def drafter(self, name: str) -> LongRun:
        """Return a drafter's counts, made at its first use."""
        found = self.of.get(name)
        if found is None:
            found = self.of[name] = LongRun()
        return found

    def strategy(self, drafters: Iterable[str]) -> Admission:
        """Return the account of these drafters together, made at its first use."""
        return self.together.setdefault("+".join(drafters), Admission(OF_ALL))

    def close_accounts(self, *, counts: bool) -> None:
        """Close those of the last reply; see `Admission.close`."""
        for admission in self.together.values():
            admission.close(counts=counts)
        for run in self.of.values():
            run.admission.close(counts=counts)

    def to_json(self) -> str:
        """Return everything as a text."""
        return json.dumps(
            {
                "version": _VERSION,
                "together": {name: each.to_json() for name, each in self.together.items()},
                "drafters": {
                    name: {
                        "judged": [round(x, 3) for x in run.judged],
                        "accepted": [round(x, 3) for x in run.accepted],
                        "n_judged": run.n_judged,
                        "n_accepted": run.n_accepted,
                        "saved": round(run.saved, 3),
                        "replies": run.admission.to_json(),
                    }
                    for name, run in sorted(self.of.items())
                },
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Priors:
        """Return the counts that `to_json` gave this text for.

        Raises:
            ValueError: It is no such text.
        """
        data = json.loads(text)
        priors = cls()
        try:
            if data["version"] != _VERSION:
                raise ValueError("these priors are of another version")
            for name, held in data["drafters"].items():
                run = priors.drafter(str(name))
                run.judged = _counts(held["judged"])
                run.accepted = _counts(held["accepted"])
                if any(a > j + 1e-3 for a, j in zip(run.accepted, run.judged, strict=True)):
                    raise ValueError("more tokens were accepted than judged")
                run.n_judged = int(_number(held["n_judged"], 0.0))
                run.n_accepted = int(_number(held["n_accepted"], 0.0))
                if run.n_accepted > run.n_judged:
                    raise ValueError("more tokens were accepted than judged")
                run.saved = _number(held["saved"], -_LARGEST)
                # Texts from before there were accounts have none.
                run.admission = _admission(OF_ONE, held.get("replies", (0.0, 0.0)))
            for name, held in data.get("together", {}).items():
                priors.together[str(name)] = _admission(OF_ALL, held)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"these are no priors: {error}") from error
        return priors


def _admission(doubt: float, held: Iterable[object]) -> Admission:
    gained, n_replies = held
    found = Admission(doubt)
    found.gained = _number(gained, -_LARGEST)
    found.n_replies = min(_number(n_replies, 0.0), MOST_REPLIES)
    return found


def _counts(given: Iterable[object]) -> list[float]:
    counts = [_number(value, 0.0) for value in given]
    if len(counts) != N_CLASSES:
        raise ValueError(f"{len(counts)} classes instead of {N_CLASSES}")
    return counts


def _number(value: object, low: float) -> float:
    if not isinstance(value, int | float) or not low <= value <= _LARGEST:
        raise ValueError(f"no number from {low} to {_LARGEST}: {value!r}")
    return float(value)

"""Drafting from the reply that is replaced, and from its other versions.

After a small edit, with the same seed, most tokens recur at their places, since noise depends on
the position: with distributions a total variation TV apart, a token equals the earlier one with
probability of at least (1 - TV) / (1 + TV). So a cursor stands at the earlier reply's next token,
and after a different one moves on to the token after it. Where tokens were inserted or removed, the
longest end of the new reply that occurs in an earlier one determines where to continue.

The probability of the next token after L equal ones in a row is estimated as (L + w * r) / (L + w),
where r is the recent share of equal tokens: the rule of succession as in `suffix.py`, with this
reply's statistics as a prior.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.draft.base import NO_DRAFT, Draft, DrafterInfo, Parameter, Settings, Workbench

_BREAK = -1
"""Separator before, between and after the replies."""
_MAX_TOKENS = 32_768
"""Maximum number of tokens of all replies together; 10 ms of indexing."""
_MAX_PLACES = 64
"""Maximum number of places compared for one end of the reply."""
_MAX_COMPARED = 16
"""Maximum number of tokens to compare."""
_SURE_TOKENS = 8
"""Number of equal tokens in a row after which no other place is searched."""
_MIN_LEAD_TOKENS = 2
"""Number of additional equal tokens that another place must have over the cursor."""
_DECAY, _WEIGHT = 0.9, 6.0
"""Decay of the statistics per token; and the weight `w`. Chosen on 70 replies of SmolLM2-135M."""
_PRIOR_TOKENS = 4.0
"""Number of tokens that the prior share counts for."""
_PRIOR_SAME, _PRIOR_CHANGED, _PRIOR_OTHER_NOISE = 0.9, 0.3, 0.1
"""Prior share of equal tokens: with the same noise, after another prompt, with other noise. Of 100
replies each, SmolLM2-135M repeated, up to the first inserted token, 93 and 51 % after two small
changes of sampling alone, 4 to 19 % after another prompt, and 6 to 10 % with another seed."""


class EarlierReplyDrafter:
    """Follows the earlier reply with a dictionary read per token; searches after a mismatch.

    Nothing of it outlives the turn.
    """

    name = "earlier"

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self._settings = settings
        self._eog = bench.eog
        self._believed = _PRIOR_OTHER_NOISE
        if bench.repeats:
            self._believed = _PRIOR_SAME if bench.same_prompt else _PRIOR_CHANGED
        text = [_BREAK]
        for reply in bench.replaced:
            text += [*reply[: max(_MAX_TOKENS - len(text), 0)], _BREAK]
        self._text = text
        self._places: dict[tuple[int, int], list[int]] = {}
        self._history: Sequence[int] = ()
        self._start()

    def _start(self) -> None:
        self._cursor = min(1, len(self._text) - 1)
        self._tail = [_BREAK]
        self._n_agreed = 0
        self._n_seen = 0
        self._hits, self._tried = self._believed * _PRIOR_TOKENS, _PRIOR_TOKENS

    # ------------------------------------------------------------------------- as a drafter

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Index the replies, and follow the tokens that are already committed."""
        self._start()
        if not self._places:
            text, places = self._text, self._places
            for place in range(2, len(text)):
                places.setdefault((text[place - 2], text[place - 1]), []).append(place)
        self._history, self._n_seen = history, n_prompt
        self.observe(None)

    def propose(self, n_max: int) -> Draft:
        """Copy the earlier reply from the cursor on."""
        return self._copy(self._cursor, self._n_agreed, n_max)

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        """Copy from after `ahead`, if the earlier reply continues with it, too."""
        end = self._cursor + len(ahead)
        if list(ahead) != self._text[self._cursor : end]:
            return NO_DRAFT
        return self._copy(end, self._n_agreed + len(ahead), n_max)

    def observe(self, n_accepted: int | None) -> None:
        """Follow the committed tokens."""
        del n_accepted
        history, text = self._history, self._text
        for place in range(self._n_seen, len(history)):
            token = history[place]
            self._tail = [*self._tail[1 - _MAX_COMPARED :], token]
            agrees = text[self._cursor] == token
            self._tried = _DECAY * self._tried + 1.0
            self._hits = _DECAY * self._hits + agrees
            self._n_agreed = self._n_agreed + 1 if agrees else 0
            if self._cursor < len(text) - 1:
                self._cursor += 1
            if self._n_agreed < _SURE_TOKENS:
                self._find_place()
        self._n_seen = len(history)

    def tune(self, settings: Settings) -> None:
        """Change the settings; the cursor stays."""
        self._settings = settings

    def close(self) -> None:
        """Release the text."""
        self._history = ()

    # ------------------------------------------------------------------------------ within

    def _find_place(self) -> None:
        """Move the cursor to the nearest of the best matching places, if it is clearly better."""
        tail = self._tail
        best, best_place = self._n_agreed + _MIN_LEAD_TOKENS - 1, 0
        places = self._places.get((tail[-2], tail[-1]), ()) if len(tail) > 1 else ()
        for place in sorted(places, key=lambda place: abs(place - self._cursor))[:_MAX_PLACES]:
            n = self._agreeing(place)
            if n > best:
                best, best_place = n, place
        if best_place:
            self._cursor, self._n_agreed = best_place, best

    def _agreeing(self, place: int) -> int:
        """Return how many tokens before this place equal the end of the reply."""
        text, tail = self._text, self._tail
        n = 0
        while n < len(tail) and n < place and text[place - 1 - n] == tail[-1 - n]:
            n += 1
        return n

    def _copy(self, start: int, n_agreed: int, n_max: int) -> Draft:
        text, eog = self._text, self._eog
        p_min = self._settings["p_min"]
        n_most = min(n_max, int(self._settings["max"]))
        prior = _WEIGHT * self._hits / self._tried
        tokens: list[int] = []
        confidences: list[float] = []
        product = 1.0
        for n, token in enumerate(text[start : start + n_most], n_agreed):
            confidence = (n + prior) / (n + _WEIGHT)
            product *= confidence
            if token == _BREAK or product < p_min:
                break
            tokens.append(token)
            confidences.append(confidence)
            if token in eog:
                break
        return Draft(tokens, confidences) if tokens else NO_DRAFT


INFO = DrafterInfo(
    id=EarlierReplyDrafter.name,
    title="Earlier reply",
    summary="Copies the reply that is being replaced, as far as the new one keeps it; "
    "needs no second model.",
    family="lookup",
    parameters=(
        Parameter(
            "max", "int", 32, 1, 62, "Tokens ahead",
            "Tokens drafted per step at most. More pays where an edit changes little.",
            can_be_auto=True,
        ),
        Parameter(
            "p_min", "float", 0.5, 0, 1, "Min. confidence",
            "A draft ends where it becomes less likely than this, judged by how much of the "
            "earlier reply came again so far. Lower makes longer drafts.",
        ),
    ),
    make=EarlierReplyDrafter,
)  # fmt: skip

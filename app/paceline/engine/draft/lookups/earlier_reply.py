"""The reply that is replaced, and its other versions, as a draft of the new one.

After a small edit, with the same seed, most tokens come again at their places, since noise is keyed
by the place: with distributions a total variation TV apart, a token is the earlier one with
probability (1 - TV) / (1 + TV) at least. So a cursor stands at the earlier reply's next token, and
after one that differs goes on at the token after it. Where tokens were inserted or left out, the
longest end of the new reply that stands in an earlier one says where to go on.

How likely is the next token? After L that agreed in a row, (L + w * r) / (L + w), r being the share
that agreed recently: Laplace's reasoning as in `suffix.py`, with what this reply has shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.draft.base import NO_DRAFT, Draft, DrafterInfo, Parameter, Settings, Workbench

_BREAK = -1
"""Stands before, between and after the replies."""
_MOST_TOKENS = 32_768
"""Of all replies together; 10 ms of indexing."""
_MOST_PLACES = 64
"""That are compared for one end of the reply."""
_LONGEST = 16
"""Tokens that are compared."""
_SURE = 8
"""Tokens that agreed, after which no other place is looked for."""
_FURTHER = 2
"""Tokens that more must agree elsewhere than at the cursor."""
_KEPT, _WEIGHT = 0.9, 6.0
"""Of what was seen, with each further token; and `w`. Chosen on 70 replies of SmolLM2-135M."""
_FIRST = 4.0
"""Tokens that count as seen before the first."""
_BELIEVED, _CHANGED, _BY_CHANCE = 0.9, 0.3, 0.1
"""Which share of them as agreed: with the same noise, after another prompt, with other noise. Of
100 replies each, SmolLM2-135M had 93 and 51 % again, up to the first inserted token, where sampling
alone was changed a little, 4 to 19 % after another prompt, and 6 to 10 % with another seed."""


class EarlierReplyDrafter:
    """Follows the reply at a dictionary read per token, and looks for its place where it is lost.

    Nothing of it outlives the turn.
    """

    name = "earlier"

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self._settings = settings
        self._eog = bench.eog
        self._believed = _BY_CHANCE
        if bench.repeats:
            self._believed = _BELIEVED if bench.same_prompt else _CHANGED
        text = [_BREAK]
        for reply in bench.replaced:
            text += [*reply[: max(_MOST_TOKENS - len(text), 0)], _BREAK]
        self._text = text
        self._places: dict[tuple[int, int], list[int]] = {}
        self._history: Sequence[int] = ()
        self._start()

    def _start(self) -> None:
        self._cursor = min(1, len(self._text) - 1)
        self._tail = [_BREAK]
        self._n_agreed = 0
        self._n_seen = 0
        self._hits, self._tried = self._believed * _FIRST, _FIRST

    # ------------------------------------------------------------------------- as a drafter

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Index the replies, and follow what was committed already."""
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
        """Do so after `ahead`, if the earlier reply goes on with that, too."""
        end = self._cursor + len(ahead)
        if list(ahead) != self._text[self._cursor : end]:
            return NO_DRAFT
        return self._copy(end, self._n_agreed + len(ahead), n_max)

    def observe(self, n_accepted: int | None) -> None:
        """Follow what was committed."""
        del n_accepted
        history, text = self._history, self._text
        for place in range(self._n_seen, len(history)):
            token = history[place]
            self._tail = [*self._tail[1 - _LONGEST :], token]
            agrees = text[self._cursor] == token
            self._tried = _KEPT * self._tried + 1.0
            self._hits = _KEPT * self._hits + agrees
            self._n_agreed = self._n_agreed + 1 if agrees else 0
            if self._cursor < len(text) - 1:
                self._cursor += 1
            if self._n_agreed < _SURE:
                self._find_place()
        self._n_seen = len(history)

    def tune(self, settings: Settings) -> None:
        """Use other settings; the cursor stays."""
        self._settings = settings

    def close(self) -> None:
        """Let go of the text."""
        self._history = ()

    # ------------------------------------------------------------------------------ within

    def _find_place(self) -> None:
        """Go to the nearest of the places before which most agrees, if that is clearly more."""
        tail = self._tail
        best, best_place = self._n_agreed + _FURTHER - 1, 0
        places = self._places.get((tail[-2], tail[-1]), ()) if len(tail) > 1 else ()
        for place in sorted(places, key=lambda place: abs(place - self._cursor))[:_MOST_PLACES]:
            n = self._agreeing(place)
            if n > best:
                best, best_place = n, place
        if best_place:
            self._cursor, self._n_agreed = best_place, best

    def _agreeing(self, place: int) -> int:
        """Return how many tokens before this place are the last ones of the reply."""
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

"""Logits and times of a load: ``python -m device_trials.rows_child OUT.npz [OPTIONS of chat…]``.

The options are those of `paceline chat`, read by its own code, so that what is loaded is what it
loads. The token ids of `--prompt-tokens` go through the target's context: in decodes of 16, the
last 8 alone. OUT gets `rows`, float32 [tokens, vocabulary], and `seconds`, the least of
TIMES decodes for each of WIDTHS, which is printed too; NaN where the model cannot go back.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from paceline.cli.chat import read_request
from paceline.cli.main import parse
from paceline.engine.api import Pair
from paceline.engine.cancel import CancelFlag
from paceline.engine.model.backend import LanguageModel
from paceline.engine.native import llama_backend
from paceline.engine.opening import PairOpening
from paceline.errors import UserError
from paceline.messages import Tokens
from paceline.paths import Paths

WIDTHS = (1, 2, 4, 8)
TIMES = 20
_AT_ONCE, _ALONE = 16, 8


def rows(model: LanguageModel, tokens: list[int]) -> np.ndarray:
    """Return float32 [tokens, vocabulary]: the logits after each token."""
    model.clear()
    found = []
    wide = max(0, len(tokens) - _ALONE)
    step = min(_AT_ONCE, model.n_batch, model.max_rows)
    for start in [*range(0, wide, step), *range(wide, len(tokens))]:
        piece = tokens[start : min(start + step, wide) if start < wide else start + 1]
        found.append(np.array(model.decode(piece, len(piece)), np.float32))
    return np.concatenate(found)


def seconds(model: LanguageModel, tokens: list[int]) -> list[float]:
    """Return the minimum time of a decode of each width, after these tokens."""
    least = [float("nan")] * len(WIDTHS)
    for i, width in enumerate(WIDTHS):
        taken = []
        for _ in range(TIMES if model.can_rollback else 0):
            n_past = model.n_past
            start = time.perf_counter()
            model.decode(tokens[:width], width)
            taken.append(time.perf_counter() - start)
            model.rollback(n_past)
        if taken:
            least[i] = min(taken)
    return least


def main(arguments: list[str]) -> int:
    """Write the file; print a refusal on stderr, as the program does."""
    out, *words = arguments
    try:
        request = read_request(parse(["chat", *words]), Paths.from_environment())
        prompt = request.turn.prompt
        assert isinstance(prompt, Tokens), "--prompt-tokens is missing"
        tokens = list(prompt.ids)
        cancel = CancelFlag()
        opening = PairOpening(llama_backend, lambda _event: None, cancel)
        with Pair(opening.open(request.load), cancel) as pair:
            model = pair.loaded.target.model
            logits, taken = rows(model, tokens), seconds(model, tokens)
        np.savez(Path(out), rows=logits, seconds=taken)
        for width, each in zip(WIDTHS, taken, strict=True):
            print(f"{width} tokens: {1000 * each:.2f} ms")
    except UserError as error:
        print(f"paceline: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

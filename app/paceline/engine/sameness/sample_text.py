"""Text to look at where a context holds none: kernels round by the text, so not random ids."""

from __future__ import annotations

import numpy as np

from paceline.engine.backend import Vocabulary

_TEXT = """\
Could you tell me how a bicycle stays upright? A rider who leans to the left also steers to the \
left, if only a little, and so brings the wheels back below the weight. At walking pace that takes \
many small corrections; at 25 km/h hardly any. Riders who follow each other closely save about a \
third of their power, because the first one pushes the air aside for all of them.

def mean_speed(distances_km: list[float], hours: list[float]) -> float:
    \"\"\"Return the speed over all stages, in km/h.\"\"\"
    if not hours or sum(hours) <= 0:
        raise ValueError("there is no time to divide by")
    return sum(distances_km) / sum(hours)

| Stage | Distance | Time    |
|-------|---------:|---------|
| 1     | 182.5 km | 4:21:07 |
| 2     |  37.4 km | 0:44:53 |

{"rider": 17, "name": "Zoë Müller", "stages": [{"no": 1, "place": 4}, {"no": 2, "place": null}]}

Die Gruppe fährt dicht hintereinander; wer vorne ist, wechselt alle paar Minuten. Pourquoi ? Parce \
que le vent fatigue surtout celui qui ouvre la route. 自転車 и ветер 🚴.

1. Check the tyres: 6.5 bar at the front, 7 bar at the back.
2. Take two bottles, one with salt.
3. "Never ride alone into the wind," she said, and laughed; then she was gone.
"""


def sample_tokens(vocab: Vocabulary, n: int, number: int) -> list[int]:
    """Return `n` tokens of the text over and over, beginning elsewhere for each number."""
    tokens = vocab.tokenize(_TEXT, special=False)
    if not tokens:  # a vocabulary that knows no text
        rng = np.random.default_rng(number)
        found: list[int] = rng.integers(0, vocab.n_tokens, n).tolist()
        return found
    begin = (number * 97) % len(tokens)
    tokens = tokens[begin:] + tokens[:begin]
    return (tokens * (n // len(tokens) + 1))[:n]

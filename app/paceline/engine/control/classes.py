"""Classes of confidence and places in a draft, by which acceptance is counted.

Confidences of different drafters mean different things (a probability, a match's length, nothing
at all), and few mean what they say. So they only sort tokens into classes, and what became of each
class is counted.
"""

from __future__ import annotations

UPPER = (0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Upper ends of the classes of confidence."""
BOUNDS = UPPER[:-1]
"""What `bisect_right` gives for a confidence in them is its class."""
N_CLASSES = len(UPPER) + 1
SILENT = len(UPPER)
"""The class of tokens that come without a confidence."""
DEFAULT = (0.2, 0.4, 0.6, 0.75, 0.85, 0.95, 0.5)
"""What is believed of each class before any token was judged."""
PLACE_OF = (0, 1, 2, 3, 3, 4, 4, 4, 4) + (5,) * 56
"""The group that a place in the draft belongs to."""
N_PLACES = 6

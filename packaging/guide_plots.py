#!/usr/bin/env python3
"""The plots of the user guide: ``python packaging/guide_plots.py [OUT]``.

All of them come from what a decode of n tokens costs: as measured, in the table of
``app/kernels/README.md``, and for other machines as published, in the simulator of the tests. Gains
are calculated from that: of k drafted tokens, each right with the same chance if those before it
were, a step commits 1 + a + a² + … + aᵏ tokens, and takes the time of a decode of k + 1 tokens and
of drafting k. Written are SVG files, light and dark, into ``resources/guide``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))  # the simulator lies there

from engine.auto import simulator  # type: ignore[import-not-found]
from paceline.gui.look.colours import DARK, LIGHT, Theme

REPOSITORY = Path(__file__).resolve().parents[1]
OUT = REPOSITORY / "resources" / "guide"
WIDTHS = (1, 2, 4, 8, 16, 63)
TYPES = ("Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS", "F16", "BF16")
LENGTHS = range(17)
DRAFT = 0.1
"""Time of a draft model's token, in plain steps of the target."""
_W, _H = 640, 330
_LEFT, _TOP, _RIGHT, _BOTTOM = 52, 20, 26, 46
_SPEED = "speed; 1× is plain decoding"
_FONT = "Inter, 'Segoe UI', sans-serif"

Cost = Callable[[int], float]


@dataclass(frozen=True)
class Kind:
    """Costs of decodes with one type of weights, in llama.cpp's decodes of one token."""

    stock: dict[int, float]
    own: dict[int, float]


def measured() -> dict[str, Kind]:
    """Return the rows of the table, by their names.

    Raises:
        ValueError: There is no such table.
    """
    text = (REPOSITORY / "app" / "kernels" / "README.md").read_text(encoding="utf-8")
    kinds = {}
    for name, *cells in re.findall(r"^\| ([^|]+?)" + r" \| ([\d.]+ → [\d.]+)" * 6, text, re.M):
        pairs = [tuple(map(float, cell.split(" → "))) for cell in cells]
        stock, own = zip(*pairs, strict=True)
        sides = (dict(zip(WIDTHS, side, strict=True)) for side in (stock, own))
        kinds[name.split(",")[0] if "experts" not in name else name] = Kind(*sides)
    if not set(TYPES) <= kinds.keys():
        raise ValueError(f"the table of the kernels lacks {set(TYPES) - kinds.keys()}")
    return kinds


def curve(costs: dict[int, float]) -> Cost:
    """Return the cost of any width in plain steps of the same kernels, by straight lines."""

    def cost(width: int) -> float:
        for low, high in pairwise(costs):
            if low <= width <= high:
                share = (width - low) / (high - low)
                return (costs[low] + share * (costs[high] - costs[low])) / costs[1]
        raise ValueError(f"{width} is wider than what was measured")

    return cost


def gain(cost: Cost, chance: float, length: int, draft: float = 0.0) -> float:
    """Return the speed in that of plain decoding; see the module."""
    committed = sum(chance**i for i in range(length + 1))
    return committed / (cost(length + 1) + length * draft)


def best_gain(cost: Cost, draft: float, chance: float) -> float:
    """Return the gain of the best length, which may be 0."""
    return max(gain(cost, chance, length, draft) for length in LENGTHS)


# ------------------------------------------------------------------------------------ drawing


class Drawing:
    """An SVG file with one plot; x and y are data."""

    def __init__(self, theme: Theme, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.theme, self._x, self._y = theme, x, y
        self._parts = [f'<rect width="{_W}" height="{_H}" rx="10" fill="{theme.surface}"/>']

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point in pixels."""
        (x0, x1), (y0, y1) = self._x, self._y
        px = _LEFT + (x - x0) / (x1 - x0) * (_W - _LEFT - _RIGHT)
        return px, _H - _BOTTOM - (y - y0) / (y1 - y0) * (_H - _TOP - _BOTTOM)

    def text(
        self, x: float, y: float, words: str, *, ink: str = "", anchor: str = "middle"
    ) -> None:
        """Write words at a place in pixels."""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-family="{_FONT}"'
            f' font-size="12" fill="{ink or self.theme.muted}">{escape(words)}</text>'
        )

    def line(
        self, points: Sequence[tuple[float, float]], ink: str, width: float = 1, dash: str = ""
    ) -> None:
        """Draw a line through points."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.at(*p) for p in points))
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<polyline points="{places}" fill="none" stroke="{ink}" stroke-width="{width}"'
            f' stroke-linejoin="round"{dashes}/>'
        )

    def bar(self, left: float, right: float, height: float, ink: str) -> None:
        """Draw a bar from 0 up."""
        (x0, y1), (x1, y0) = self.at(left, height), self.at(right, 0)
        self._parts.append(
            f'<rect x="{x0:.1f}" y="{y1:.1f}" width="{x1 - x0:.1f}" height="{y0 - y1:.1f}"'
            f' rx="2" fill="{ink}"/>'
        )

    def axes(self, xs: Sequence[tuple[float, str]], ys: Sequence[float], x: str, y: str) -> None:
        """Draw grid lines, numbers and what they count."""
        for value in ys:
            self.line([(self._x[0], value), (self._x[1], value)], self.theme.line)
            self.text(_LEFT - 8, self.at(0, value)[1] + 4, f"{value:g}×", anchor="end")
        for value, words in xs:
            self.text(self.at(value, 0)[0], _H - _BOTTOM + 18, words)
        self.text((_LEFT + _W - _RIGHT) / 2, _H - 8, x)
        self.text(_LEFT + 8, _TOP + 18, y, anchor="start")

    def legend(self, entries: Sequence[tuple[str, str, str]], x: float, y: float) -> None:
        """Name lines by words, ink and dash, from a place in pixels downwards."""
        for number, (words, ink, dash) in enumerate(entries):
            top = y + 19 * number
            dashes = f' stroke-dasharray="{dash}"' if dash else ""
            self._parts.append(
                f'<line x1="{x}" y1="{top}" x2="{x + 24}" y2="{top}" stroke="{ink}"'
                f' stroke-width="3"{dashes}/>'
            )
            self.text(x + 32, top + 4, words, ink=self.theme.text, anchor="start")

    @property
    def svg(self) -> str:
        """The file."""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_W} {_H}"'
        return "\n".join([f'{head} width="{_W}" height="{_H}">', *self._parts, "</svg>\n"])


def inks(theme: Theme) -> tuple[str, ...]:
    """Return colours that differ in lightness, too."""
    return theme.accent, theme.lookup, theme.time_verify, theme.time_sample


def gain_by_chance(theme: Theme) -> str:
    """Draw what drafting gains at the best length, by how often drafts are right."""
    kind = measured()["SmolLM2-135M Q8_0"]
    own, stock = curve(kind.own), curve(kind.stock)
    gpu = simulator.MACHINES["3090"]
    lines: tuple[tuple[str, Cost, float, str], ...] = (
        ("Paceline's kernels, lookup", own, 0.0, ""),
        ("Paceline's kernels, draft model", own, DRAFT, "7 3"),
        ("GPU (RTX 3090), draft model", gpu.curve, gpu.draft, "2 3"),
        ("llama.cpp's kernels, lookup", stock, 0.0, "10 3 2 3"),
    )
    drawing = Drawing(theme, (0, 1), (0, 5))
    ticks = [(n / 10, f"{10 * n} %") for n in range(0, 11, 2)]
    drawing.axes(ticks, range(6), "how often a drafted token is right", _SPEED)
    for (_, cost, draft, dash), ink in zip(lines, inks(theme), strict=True):
        best = partial(best_gain, cost, draft)
        points = [(n / 100, min(best(n / 100), 5)) for n in range(101)]
        drawing.line([p for p in points if p[1] < 5], ink, 2.5, dash)
    entries = [
        (words, ink, dash) for (words, *_, dash), ink in zip(lines, inks(theme), strict=True)
    ]
    drawing.legend(entries, _LEFT + 20, _TOP + 40)
    return drawing.svg


def gain_by_length(theme: Theme) -> str:
    """Draw what drafting gains by the length of drafts, for texts of several kinds."""
    cost = curve(measured()["SmolLM2-135M Q8_0"].own)
    drawing = Drawing(theme, (0, 16), (0, 5))
    ticks = [(n, str(n)) for n in range(0, 17, 2)]
    drawing.axes(ticks, range(6), "tokens drafted in each step", _SPEED)
    entries = []
    chances = (0.95, 0.85, 0.7, 0.5)
    for chance, ink, dash in zip(chances, inks(theme), ("", "7 3", "2 3", "10 3 2 3"), strict=True):
        drawing.line([(n, gain(cost, chance, n, DRAFT)) for n in LENGTHS], ink, 2.5, dash)
        entries.append((f"{chance:.0%} right", ink, dash))
    drawing.legend(entries, _LEFT + 20, _TOP + 40)
    return drawing.svg


def cost_by_type(theme: Theme) -> str:
    """Draw what checking three drafted tokens costs, by the type of weights."""
    kinds = measured()
    drawing = Drawing(theme, (0, len(TYPES)), (0, 5))
    ticks = [(n + 0.5, name) for n, name in enumerate(TYPES)]
    drawing.axes(
        ticks, range(6), "type of the weights", "a step of four tokens; 1× is a step of one"
    )
    for number, name in enumerate(TYPES):
        kind = kinds[name]
        drawing.bar(number + 0.16, number + 0.48, kind.stock[4] / kind.stock[1], theme.rejected)
        drawing.bar(number + 0.52, number + 0.84, kind.own[4] / kind.own[1], theme.accent)
    names = ("llama.cpp's kernels", theme.rejected, ""), ("Paceline's kernels", theme.accent, "")
    drawing.legend(names, _W - 190, _TOP + 16)
    return drawing.svg


PLOTS: dict[str, Callable[[Theme], str]] = {
    "gain-by-chance": gain_by_chance,
    "gain-by-length": gain_by_length,
    "cost-by-type": cost_by_type,
}


def all_plots() -> Iterator[tuple[str, str]]:
    """Yield each file's name and its content."""
    for name, draw in PLOTS.items():
        for theme in (LIGHT, DARK):
            yield f"{name}{'-dark' if theme.is_dark else ''}.svg", draw(theme)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    for name, svg in all_plots():
        (folder / name).write_text(svg, encoding="utf-8")

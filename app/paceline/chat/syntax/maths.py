r"""Formulas of LaTeX, as MathML and as outlines. No Qt, any thread; loading it takes 0.2 s.

ziamath lays formulas out, latex2mathml reads them. Neither says everywhere what it leaves out, so
what comes of a formula is looked through: one with a command, a sign or a part that would be
missing is no formula here, and callers show its source. What a model wrote may be endless: a long
formula is refused, and one that takes too long to lay out is given up, since that time can double
with each level of nesting.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from html import unescape
from itertools import pairwise
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from paceline.chat.syntax.chemistry import as_latex

MAX_FORMULA_CHARS = 2_000
MAX_LAYOUT_S = 0.5
"""Seconds of a thread's own time for one formula; usual ones take 0.01."""
EM = 64.0
"""Units per em of outlines; ziamath rounds to thousandths of a unit."""
_MAX_EMS = 400

# What latex2mathml reads otherwise or not at all, as it reads it well. It would number equations,
# and nothing can refer to these numbers here; a `\tag` is kept.
_REWRITTEN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\\label\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])", ""),
        (r"\\tag\*?\s*\{([^{}]*)\}", r"\\qquad\\text{(\1)}"),
        (r"\\(begin|end)\{(?:align|aligned|split|eqnarray|flalign)\*?\}", r"\\\1{align*}"),
        (r"\\begin\{align(?:ed)?at\*?\}\s*\{\d+\}", r"\\begin{align*}"),
        (r"\\end\{align(?:ed)?at\*?\}", r"\\end{align*}"),
        (r"\\(begin|end)\{(?:gather|gathered|multline)\*?\}", r"\\\1{matrix}"),
        (r"\\(begin|end)\{dcases\}", r"\\\1{cases}"),
        (r"\\(?:begin|end)\{(?:equation|displaymath|math)\*?\}", ""),
        (
            r"\\mathop\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*(?:\\limits\s*)?_\s*(\{[^{}]*\}|[A-Za-z0-9])(?!\s*\^)",
            r"\\underset{\2}{\1}\\,",
        ),
        (r"\\mathop(?![A-Za-z])\s*", ""),
        (r"\\not\s*=", r"\\ne "),
        (r"\\not\s*<", r"\\nless "),
        (r"\\not\s*>", r"\\ngtr "),
        (r"\\not\s*\\in(?![A-Za-z])", r"\\notin "),
        (r"\\[dt]?binom(?![A-Za-z])", r"\\dbinom"),  # `\binom` is rewritten by ziamath, not nested
        (r"\\operatorname\*", r"\\operatorname"),
        (r"\\arg(?![A-Za-z])", r"\\operatorname{arg}"),
        (r"\\mathrm\s*\{", r"\\mathrm {"),
    )
)
# They would be laid out without what they are about, or bring colours, addresses, other text.
_REFUSED = re.compile(
    r"\\(?:href|url|style|class|unicode|char|def|newcommand|renewcommand|require|input"
    r"|include\w*|colorbox|fcolorbox|bbox|ref|eqref|rule|hspace|raisebox|ce)(?![A-Za-z])"
)
# Of others the rows would stand in one line, and what parts their columns would be shown.
_ENVIRONMENT = re.compile(r"\\begin\{(?:align\*|array|cases|smallmatrix|[pbBvV]?matrix\*?)\}")
_TAGS = re.compile(
    r"math|mrow|mi|mo|mn|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover"
    r"|mtable|mtr|mtd|mstyle|mpadded|mphantom|menclose|mmultiscripts|none"
)
_ATTRIBUTES = re.compile(
    r"xmlns|display|displaystyle|scriptlevel|mathvariant|stretchy|fence|form|minsize|maxsize|lspace"
    r"|rspace|separator|largeop|movablelimits|accent|accentunder|linethickness|width|height|depth"
    r"|voffset|notation|linebreak|columnalign|rowspacing|columnspacing"
    r"|columnlines|rowlines"
)
_IGNORED = frozenset(("mathcolor", "class"))
"""Colours that a model chose would not be seen in one of the themes."""


class Shape(NamedTuple):
    """A path as in SVG, of commands M, L, Q, C and Z; filled, or a line of this thickness."""

    path: str
    line: float


class Outline(NamedTuple):
    """Paths of a formula, in units of which `EM` are one em; y goes down from the baseline.

    Attributes:
        left: Position of the left edge; 0 or less.
        width: Width from the left edge.
        ascent: Height above the baseline.
        descent: Depth below the baseline.
        shapes: The paths.
    """

    left: float
    width: float
    ascent: float
    descent: float
    shapes: tuple[Shape, ...]


def is_display(source: str) -> bool:
    """Return whether a formula with its marks (see `chat.syntax.formulas`) stands alone."""
    return source.startswith(("$$", "\\[", "`", "~")) or _ALONE.match(source) is not None


_ALONE = re.compile(
    r"\\begin\{(?:align|alignat|displaymath|eqnarray|equation|flalign|gather|multline)\*?\}"
)
_FENCED = re.compile(r"[`~]+[^\n]*\n(.*)\n[^\n]*", re.DOTALL)


def _latex(source: str) -> str:
    """Return a formula without its marks."""
    if source.startswith("\\begin"):
        return source
    if fence := _FENCED.fullmatch(source):
        return fence[1].strip()
    n_marks = 1 if source.startswith("$") and not source.startswith(("$$", "$`")) else 2
    return source[n_marks:-n_marks].strip()


def mathml(source: str) -> ET.Element | None:
    """Return a formula, given with its marks, as MathML, or None if it cannot be read."""
    from latex2mathml.converter import convert_to_element  # noqa: PLC0415  most replies have none

    latex = _latex(source)
    if not latex or len(latex) > MAX_FORMULA_CHARS:
        return None
    latex = _with_plain_arrays(_SPACE.sub(_space, _CHEMISTRY.sub(_chemistry, latex)))
    if _REFUSED.search(latex):
        return None
    for pattern, text in _REWRITTEN:
        latex = pattern.sub(text, latex)
    if latex.count("\\begin") != len(_ENVIRONMENT.findall(latex)):
        return None
    try:
        root = convert_to_element(latex, display="block" if is_display(source) else "inline")
    except Exception:  # noqa: BLE001  it raises whatever its own code happens to raise
        return None
    if not all(map(_is_known, root.iter())):
        return None
    # An unknown command stands in the formula as it is; of little else it is none.
    shown = [element.text for element in root.iter() if element.text and not len(element)]
    n_unknown = sum(_COMMAND.fullmatch(text.strip()) is not None for text in shown)
    return root if not n_unknown or 2 * n_unknown < len(shown) else None


_COMMAND = re.compile(r"\\[A-Za-z]+")
_CHEMISTRY = re.compile(r"\\ce\s*\{((?:[^{}]|\{[^{}]*\})*)\}")


def _chemistry(found: re.Match[str]) -> str:
    latex = as_latex(found[1])
    return found[0] if latex is None else f"{{{latex}}}"


_SPACE = re.compile(r"\\hspace\*?\s*\{\s*(-?\d*\.?\d+)\s*(em|ex|mu|cm|mm|in|pt)\s*\}")
_EMS = {"em": 1.0, "ex": 0.43, "mu": 1 / 18, "cm": 2.85, "mm": 0.285, "in": 7.23, "pt": 0.1}
"""Lengths in em, for type of ten points, which formulas are written for."""


def _space(found: re.Match[str]) -> str:
    return rf"\mspace{{{float(found[1]) * _EMS[found[2]]:.3f}em}}"


_ARRAY = re.compile(
    r"\\begin\{array\}\s*(?:\[[tbc]\]\s*)?\{\s*(\|?)([lcr|\s]*?)(\|?)\s*\}"
    r"\s*(\\hline(?![A-Za-z]))?((?:(?!\\begin\{array\}).)*?)(\\hline\s*)?\\end\{array\}",
    re.DOTALL,
)
_PLAIN_ARRAY = "plainarray"


def _with_plain_arrays(latex: str) -> str:
    """Return a formula whose arrays have lines within them alone; others are signs around them.

    Of an array with an outer line latex2mathml counts the others wrong.
    """
    n_done = 1
    while n_done:  # inner ones first
        latex, n_done = _ARRAY.subn(_plain_array, latex)
    # Of others the columns are of another kind, which would be shown.
    return latex.replace("{array}", "{unknown}").replace(f"{{{_PLAIN_ARRAY}}}", "{array}")


def _plain_array(found: re.Match[str]) -> str:
    left, columns, right, above, rows, below = found.groups(default="")
    columns = re.sub(r"\s+|\|(?=\s*\|)", "", columns)
    array = rf"\begin{{{_PLAIN_ARRAY}}}{{{columns}}}{rows}\end{{{_PLAIN_ARRAY}}}"
    if left and right and above and below:
        return rf"\boxed{{{array}}}"
    if above:
        array = rf"\overline{{{array}}}"
    if below:
        array = rf"\underline{{{array}}}"
    if left or right:
        array = rf"\left{left or '.'}{array}\right{right or '.'}"
    return array


def outline(source: str) -> Outline | None:
    """Return the outline of a formula, given with its marks, or None if it cannot be drawn.

    One thread at a time. A formula that takes longer than `MAX_LAYOUT_S` is given up.
    """
    root = mathml(source)
    if root is None:
        return None
    try:
        return _layout()(root)
    except Exception:  # noqa: BLE001  as above; also when it is nested too deep or too slow
        return None


def _is_known(element: ET.Element) -> bool:
    """Normalise an element's text and attributes; return whether all of it is known."""
    if element.text == "&":  # what parts columns, where there are none
        return False
    element.text = _ESCAPED.sub(r"\1", unescape(element.text or ""))
    for name in _IGNORED & element.attrib.keys():
        del element.attrib[name]
    is_command = element.tag == "mi" and _COMMAND.fullmatch(element.text) is not None
    if is_command:
        element.tag, element.text = "mtext", f"{element.text}\u00a0"
    if element.tag == "mstyle" and not element.attrib:
        element.tag = "mrow"
    return (
        _TAGS.fullmatch(element.tag) is not None
        and all(map(_ATTRIBUTES.fullmatch, element.attrib))
        and (is_command or not ("\\" in element.text and len(element.text) > 1))
    )


_ESCAPED = re.compile(r"\\([{}&%$#_])")


_Cell = tuple[Any, tuple[float, float]]
"""A node of ziamath, and its place."""
_Ends = tuple[float, float]


class _TooSlowError(Exception):
    """The layout of a formula took too long."""


@cache
def _layout() -> Callable[[ET.Element], Outline | None]:
    """Load ziamath, and return a layout function, which gives None if a part would be missing."""
    import ziamath  # noqa: PLC0415
    from ziamath.nodes import Mnode  # noqa: PLC0415
    from ziamath.nodes.mrow import Mrow  # noqa: PLC0415

    ziamath.config.svg2 = False  # each sign drawn where it stands
    _rule_tables()
    end_s = 0.0

    class PatientRow(Mrow, tag="mrow"):  # type: ignore[call-arg, misc]
        """A row, of which all nesting is made; lets other threads run, and ends when it is time."""

        def __init__(self, element: ET.Element, parent: Mnode, **given: Any) -> None:
            if time.thread_time() > end_s:
                raise _TooSlowError
            time.sleep(0.0002)  # after 0 this thread would often go on at once
            super().__init__(element, parent, **given)

    def lay_out(root: ET.Element) -> Outline | None:
        nonlocal end_s
        end_s = time.thread_time() + MAX_LAYOUT_S
        for element in root.iter():
            _adapt(element)
        laid = ziamath.Math(root, size=EM)
        font, text = laid.font, "".join(root.itertext())
        if not all(char.isspace() or char in _INVISIBLE or font.glyphindex(char) for char in text):
            return None
        box = laid.node.bbox
        left = min(0.0, box.xmin)
        shapes = list(_shapes(laid.svgxml()))
        width = max(box.xmax, laid.node.xadvance()) - left
        if not shapes or not 0 < width <= _MAX_EMS * EM:
            return None
        return Outline(left, width, max(box.ymax, 0.0), max(-box.ymin, 0.0), tuple(shapes))

    return lay_out


def _rule_tables() -> None:
    """Have ziamath draw the lines between columns and rows of tables, which it leaves out."""
    from ziamath.drawable import HLine, VLine  # noqa: PLC0415
    from ziamath.nodes.mtable import Mtable  # noqa: PLC0415

    class RuledTable(Mtable, tag="mtable"):  # type: ignore[call-arg, misc]
        """A table with the lines between its columns and rows."""

        def _setup(self, **given: Any) -> None:
            super()._setup(**given)
            cells = iter(list(zip(self.nodes, self.nodexy, strict=True)))
            rows = [[next(cells) for _ in row] for row in self.element]
            thick = self.units_to_points(self.font.math.consts.fractionRuleThickness)
            box = self.bbox
            for n, place in enumerate(_between(_by_column(rows), _across)):
                if self._is_ruled("columnlines", n):
                    self.nodes.append(VLine(box.ymax - box.ymin, thick, style=self.style, **given))
                    self.nodexy.append((place, -box.ymax))
            for n, place in enumerate(_between(rows, _down)):
                if self._is_ruled("rowlines", n):
                    self.nodes.append(HLine(box.xmax, thick, style=self.style, **given))
                    self.nodexy.append((0, place))

        def _is_ruled(self, name: str, n: int) -> bool:
            lines = self.element.get(name, "").split()
            return n < len(lines) and lines[n] != "none"


def _by_column(rows: list[list[_Cell]]) -> list[list[_Cell]]:
    """Return the cells of each column; rows may end early."""
    return [[row[n] for row in rows if n < len(row)] for n in range(max(map(len, rows)))]


def _between(groups: list[list[_Cell]], along: Callable[[_Cell], _Ends]) -> Iterator[float]:
    """Yield the middle between two neighbouring columns, or rows, of cells."""
    for one, other in pairwise(groups):
        yield (max(along(cell)[1] for cell in one) + min(along(cell)[0] for cell in other)) / 2


def _across(cell: _Cell) -> _Ends:
    node, (x, _) = cell
    return x + node.bbox.xmin, x + node.bbox.xmax


def _down(cell: _Cell) -> _Ends:
    node, (_, y) = cell
    return y - node.bbox.ymax, y - node.bbox.ymin


_STRETCHED = {"^": "\u0302", "~": "\u0303"}
_STIFF = frozenset("\u2191\u2193\u27e8\u27e9")
_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064\u200b")


def _adapt(element: ET.Element) -> None:
    """Write MathML as ziamath takes it: accents that combine, arrows and brackets of their size."""
    element.attrib.pop("xmlns", None)
    if element.tag == "mo":
        element.text = _STRETCHED.get(element.text or "", element.text)
    elif element.tag == "mtable":
        if "rowspacing" in element.attrib or "rowlines" in element.attrib:
            element.set("rowspacing", "0.6em")
        if "columnlines" in element.attrib:
            element.set("columnspacing", "0.8em")
    elif element.tag == "mfrac":
        for part in element:  # as TeX does: else a sum's limits touch the bar
            part.attrib.setdefault("displaystyle", "false")
    if element.text and element.text in _STIFF:
        element.set("stretchy", "false")


def _shapes(svg: ET.Element) -> Iterator[Shape]:
    """Yield what is drawn, in one colour; ValueError: that would not be all."""
    for element in svg.iter():
        get = element.attrib.get
        path = ""
        if element.tag == "path":
            path = get("d", "")
        elif element.tag == "rect":
            x, y = float(get("x", "0")), float(get("y", "0"))
            right, bottom = x + float(get("width", "0")), y + float(get("height", "0"))
            path = f"M {x} {y} L {right} {y} L {right} {bottom} L {x} {bottom} Z"
        elif element.tag not in ("svg", "g"):
            raise ValueError(element.tag)
        if "transform" in element.attrib:
            raise ValueError(element.tag)
        if path:
            is_line = get("stroke", "none") != "none"
            yield Shape(path, float(get("stroke-width", "1")) if is_line else 0.0)

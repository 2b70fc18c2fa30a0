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
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

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
        (r"\\not\s*=", r"\\ne "),
        (r"\\not\s*\\in(?![A-Za-z])", r"\\notin "),
        (r"\\[dt]?binom(?![A-Za-z])", r"\\dbinom"),  # `\binom` is rewritten by ziamath, not nested
        (r"\\operatorname\*", r"\\operatorname"),
        (r"\\arg(?![A-Za-z])", r"\\operatorname{arg}"),
        (r"\\mathrm\s*\{", r"\\mathrm {"),
    )
)
# They would be laid out without what they are about, or bring colours, addresses, other text.
_REFUSED = re.compile(
    r"\\(?:mathop|href|url|style|class|unicode|char|def|newcommand|renewcommand|require|input"
    r"|include\w*|colorbox|fcolorbox|bbox|ref|eqref|rule|hspace|raisebox)(?![A-Za-z])"
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
)
_IGNORED = frozenset(("mathcolor", "class"))
"""Colours that a model chose would not be seen in one of the themes."""


class Shape(NamedTuple):
    """A path as in SVG, of commands M, L, Q, C and Z; filled, or a line of this thickness."""

    path: str
    line: float


class Outline(NamedTuple):
    """How a formula looks, in units of which `EM` are one em; y goes down from the baseline.

    Attributes:
        left: Where it begins; 0 or less.
        width: How far it reaches from there.
        ascent: How far it reaches above the baseline.
        descent: How far it reaches below it.
        shapes: What it is made of.
    """

    left: float
    width: float
    ascent: float
    descent: float
    shapes: tuple[Shape, ...]


def is_display(source: str) -> bool:
    """Whether a formula with its marks (`chat.syntax.formulas` has all of them) stands alone."""
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
    """Return a formula, given with its marks, as MathML; None: it is none."""
    from latex2mathml.converter import convert_to_element  # noqa: PLC0415  most replies have none

    latex = _latex(source)
    if not latex or len(latex) > MAX_FORMULA_CHARS or _REFUSED.search(latex):
        return None
    for pattern, text in _REWRITTEN:
        latex = pattern.sub(text, latex)
    if latex.count("\\begin") != len(_ENVIRONMENT.findall(latex)):
        return None
    try:
        root = convert_to_element(latex, display="block" if is_display(source) else "inline")
    except Exception:  # noqa: BLE001  it raises whatever its own code happens to raise
        return None
    return root if all(map(_is_known, root.iter())) else None


def outline(source: str) -> Outline | None:
    """Return how a formula, given with its marks, looks; None: only its source can be shown.

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
    """Write an element's text and attributes as they are meant; tell if nothing else is in it."""
    if element.text == "&":  # what parts columns, where there are none
        return False
    element.text = _ESCAPED.sub(r"\1", unescape(element.text or ""))
    for name in _IGNORED & element.attrib.keys():
        del element.attrib[name]
    if element.tag == "mstyle" and not element.attrib:
        element.tag = "mrow"
    return (
        _TAGS.fullmatch(element.tag) is not None
        and all(map(_ATTRIBUTES.fullmatch, element.attrib))
        and not ("\\" in element.text and len(element.text) > 1)
    )


_ESCAPED = re.compile(r"\\([{}&%$#_])")


class _TooSlowError(Exception):
    """The layout of a formula took too long."""


@cache
def _layout() -> Callable[[ET.Element], Outline | None]:
    """Load ziamath, and return what lays MathML out; None: a part of it would be missing."""
    import ziamath  # noqa: PLC0415
    from ziamath.nodes import Mnode  # noqa: PLC0415
    from ziamath.nodes.mrow import Mrow  # noqa: PLC0415

    ziamath.config.svg2 = False  # each sign drawn where it stands
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


_STRETCHED = {"^": "\u0302", "~": "\u0303"}
_STIFF = frozenset("\u2191\u2193\u27e8\u27e9")
_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064\u200b")


def _adapt(element: ET.Element) -> None:
    """Write MathML as ziamath takes it: accents that combine, arrows and brackets of their size."""
    element.attrib.pop("xmlns", None)
    if element.tag == "mo":
        element.text = _STRETCHED.get(element.text or "", element.text)
    elif element.tag == "mtable" and "rowspacing" in element.attrib:
        element.set("rowspacing", "0.6em")
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

"""Blocks of Markdown that a text leaves open, so that they would take in what is put after it.

A reply that was cut in mid-code leaves its fence open. Blocks in lists and quotes end with these.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

_PROBE = "\n\nx"
_MAY_OPEN = re.compile(r"^ {0,3}(?:```|~~~|<[!?a-z])", re.MULTILINE | re.IGNORECASE)
_HTML_ENDS = (("<!--", "-->"), ("<?", "?>"), ("<![cdata[", "]]>"), ("<!", ">"))
"""Beginnings and ends of HTML blocks that a blank line does not end; the others are elements."""
_ELEMENT = re.compile(r"<([a-z]+)", re.IGNORECASE)


def closed(text: str) -> str:
    """Return the text with the line that closes its last block, if that is open; else as it is."""
    end = _missing_end(text)
    return text + ("\n" if end and not text.endswith("\n") else "") + end


def _missing_end(text: str) -> str:
    if not _MAY_OPEN.search(text):
        return ""
    last = _blocks().parse(text + _PROBE)[-1]
    if last.type == "fence":
        return last.markup
    if last.type != "html_block":
        return ""
    start = last.content.lstrip().lower()
    element = _ELEMENT.match(start)
    if element:
        return f"</{element[1]}>"
    return next(end for mark, end in _HTML_ENDS if start.startswith(mark))


def _blocks() -> MarkdownIt:
    """A reader of Markdown with HTML, as other programs are; of its blocks alone."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser

"""Inline markup of reStructuredText, with Sphinx's roles, as Markdown.

Roles that name code become code, the others plain text. A reference to a section becomes the
section's title. Rules: docutils' specification of reStructuredText, "Inline Markup", and Sphinx's
list of roles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

VERSION = "3.11"
SUBSTITUTIONS = {"version": VERSION, "release": VERSION, "today": "", "nbsp": " "}

_CALLS = {"func", "meth", "c:func", "py:func", "py:meth"}
_PLAIN = {"term", "dfn", "abbr", "sup", "sub", "title-reference", "token", "doc", "menuselection"}
_PLAIN |= {"guilabel", "newsgroup", "download", "kbd", "program", "keyword-plain", "rst:role"}
_NUMBERED = {"pep": "PEP", "rfc": "RFC", "issue": "issue", "gh": "issue", "cve": "CVE"}

_ROLE = re.compile(r":([A-Za-z][A-Za-z:+-]*):`((?:[^`\\]|\\.)+)`")
_LITERAL = re.compile(r"``(.+?)``(?!`)", re.DOTALL)
_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`__?")
_NAMED_LINK = re.compile(r"`([^`]+)`__?(?!\w)")
_DEFAULT_ROLE = re.compile(r"(?<![\w`\\:])`([^`\n]+)`(?![\w`])")
_FOOTNOTE = re.compile(r"\s?\[(?:#[\w-]*|\d+|\*)\]_")
_CITATION = re.compile(r"\[([A-Za-z]\w*)\]_")
_WORD_LINK = re.compile(r"\b([A-Za-z](?:\w*[A-Za-z0-9])?)__?(?=[\s.,;:)]|$)")
_SUBSTITUTION = re.compile(r"(?<![\w)])\|(\w+)\|_?")
_CREDIT = re.compile(
    r"\s*\((?:Patch |Idea |Original idea |Initial patch |Written |Implement\w* |Suggest\w* )?"
    r"(?:[Cc]ontributed|[Ss]uggested|[Pp]atch|[Ii]mplemented|[Ww]ritten|[Rr]eported|PEP written)"
    r"(?:[^()]|\([^()]*\))*\)\.?"
)
_HELD = "\x00{}\x00"
_HOLDER = re.compile("\x00(\\d+)\x00")


def to_markdown(text: str, titles: Mapping[str, str]) -> str:
    """Return a paragraph with its inline markup as Markdown.

    Args:
        text: One paragraph, its lines joined by blanks.
        titles: Section titles by the label that refers to them.
    """
    held: list[str] = []

    def hold(made: str) -> str:
        held.append(made)
        return _HELD.format(len(held) - 1)

    text = _LITERAL.sub(lambda m: hold(as_code(m[1])), text)
    text = _ROLE.sub(lambda m: hold(_role(m[1].lower(), m[2], titles)), text)
    text = _SUBSTITUTION.sub(lambda m: SUBSTITUTIONS.get(m[1], as_code(m[1])), text)
    text = _LINK.sub(lambda m: _without_dots(m[1]), text)
    text = _NAMED_LINK.sub(lambda m: m[1], text)
    text = _DEFAULT_ROLE.sub(lambda m: hold(as_code(m[1])), text)
    text = _CITATION.sub(r"\1", _FOOTNOTE.sub("", text))
    text = _WORD_LINK.sub(r"\1", text)
    text = re.sub(r"\\(\s|$)", "", text)
    text = re.sub(r"\\(.)", r"\1", text)
    text = re.sub(r"\s--?-?(?=\s)", " -", text)
    while _HOLDER.search(text):
        text = _HOLDER.sub(lambda m: held[int(m[1])], text)
    text = _CREDIT.sub("", text)
    return re.sub(r"\s+", " ", text).strip()


def as_code(text: str) -> str:
    """Return a text between backticks."""
    text = re.sub(r"\s+", " ", text)
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _role(role: str, content: str, titles: Mapping[str, str]) -> str:
    """Return what a role shows."""
    content = re.sub(r"\s+", " ", content)
    titled = re.match(r"(.*?)\s*<([^>]*)>$", content)
    shown, target = (titled[1], titled[2]) if titled and titled[1] else (content, content)
    if role == "ref":
        return shown if titled else titles.get(target.lower(), target.replace("-", " "))
    if role == "term":
        return shown
    if role in _NUMBERED:
        return shown if titled else f"{_NUMBERED[role]} {shown.split('#')[0].strip()}"
    if role in ("abbr", "sup", "sub", "dfn") or role in _PLAIN:
        return re.sub(r"\s*\(.*\)$", "", shown) if role == "abbr" else shown
    if role in ("file", "samp"):
        return as_code(re.sub(r"[{}]", "", shown.replace("\\\\", "\\")))
    if role == "source":
        return as_code(shown)
    if role == "manpage":
        return shown
    name = _without_dots(shown)
    if role in _CALLS and not name.endswith(")") and not titled:
        name += "()"
    return as_code(re.sub(r"\\(.)", r"\1", name))


def _without_dots(name: str) -> str:
    """Return a name as it is shown: a tilde leaves only its last part."""
    name = name.strip().removeprefix("!")
    if name.startswith("~"):
        return name[1:].rpartition(".")[2]
    return name.removeprefix(".")

"""What can be said about a documented thing: one answer per aspect that it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from demo_pair.corpus.objects import BUILTIN, Documented
from demo_pair.corpus.prose import brief, clipped, finished, is_code, notes_of, texts_of
from demo_pair.corpus.signature import Parameter, parameters_of

LONG, LONGEST_EXAMPLE, MOST_MEMBERS = 1_100, 900, 30
_RAISES = re.compile(r"\b[Rr]ais(?:e|es|ed|ing)\b|exception is|`\w*Error`")
_RETURNS = re.compile(r"^Returns?\b|\breturns?\b|[Rr]eturn value|\bis returned\b|\breturning\b")


@dataclass(frozen=True)
class Answer:
    """What is said about one aspect.

    Attributes:
        aspect: A key of `phrases.QUESTIONS`.
        text: The answer.
        parameter: What the question names besides the thing; empty: nothing.
    """

    aspect: str
    text: str
    parameter: str = ""


class Aspects:
    """Answers questions about documented things.

    Args:
        everything: All things that may be spoken of.
        modules: The versions in which modules were added, where that is known.
    """

    def __init__(
        self, everything: Sequence[Documented], modules: Mapping[str, str] | None = None
    ) -> None:
        self._members: dict[str, list[Documented]] = {}
        self._versions = dict(modules or {})
        self._versions |= {each.name: version_of(each.paragraphs) for each in everything}
        for each in everything:
            if each.owner:
                self._members.setdefault(each.name.rpartition(".")[0], []).append(each)

    def of(self, each: Documented) -> Iterator[Answer]:
        """Yield an answer for every aspect that the documentation has something on."""
        if long := clipped(each.paragraphs, LONG):
            yield Answer("explain", f"{heading(each)}\n\n{long}")
        if short := brief(each):
            yield Answer("brief", short)
        if each.is_called:
            yield Answer("signature", _signature(each))
            yield from _parameters(each)
        yield Answer("module", where(each))
        yield Answer("kind", _kind(each))
        yield Answer("since", self._since(each))
        yield from _changes(each)
        yield from self._sentences(each)
        if code := example_of(each):
            yield Answer("example", code)
        for text in each.paragraphs:
            if text.startswith("Availability: "):
                yield Answer("availability", f"Availability of `{each.name}`: {text[14:]}")
        if members := self._members.get(each.name, []):
            yield Answer("members", _listed(each, members))

    def _since(self, each: Documented) -> str:
        name = f"`{each.name}`"
        if version := version_of(each.paragraphs):
            return f"{name} was added in Python {version}."
        # A method is as old as its class, unless it says something else, a class as its module.
        for around in (each.name.rpartition(".")[0], each.module):
            if version := self._versions.get(around, ""):
                return f"{name} came with `{around}` in Python {version}."
        return f"The documentation names no version in which {name} was added."

    def _sentences(self, each: Documented) -> Iterator[Answer]:
        texts = texts_of(each)
        raising = [t for t in texts if _RAISES.search(t)]
        if raising:
            yield Answer("raises", finished(" ".join(raising[:3])))
        elif each.is_called and len(each.paragraphs[0]) % 5 == 0:  # not the usual answer
            text = f"The documentation of `{each.name}` names no exception."
            yield Answer("raises", text)
        if returning := [t for t in texts if _RETURNS.search(t)]:
            yield Answer("returns", finished(" ".join(returning[:2])))


def heading(each: Documented) -> str:
    """Return what an explanation begins with: the signatures, with the module."""
    return "\n".join(f"**`{full(each, one)}`**" for one in each.signatures[:3])


def full(each: Documented, signature: str) -> str:
    """Return a signature with the module before it."""
    return signature if each.module == BUILTIN else f"{each.module}.{signature}"


def _signature(each: Documented) -> str:
    lines = "\n".join(full(each, signature) for signature in each.signatures)
    return f"```python\n{lines}\n```"


def where(each: Documented) -> str:
    """Return where a thing is and how it is imported."""
    if each.module == BUILTIN:
        owner = f" of the built-in type `{each.owner}`" if each.owner else ""
        return f"`{each.name}` is {a(each.kind)}{owner}; nothing needs to be imported."
    if each.owner:
        return (
            f"`{each.name}` is {a(each.kind)} of the class `{each.owner}` in the module "
            f"`{each.module}`:\n\n```python\nimport {each.module}\n```"
        )
    return (
        f"`{each.short}` is in the module `{each.module}`:\n\n"
        f"```python\nfrom {each.module} import {each.short}\n```"
    )


def a(kind: str) -> str:
    """Return a word with its article."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _kind(each: Documented) -> str:
    place = f" of the class `{each.owner}`" if each.owner else ""
    module = "built in" if each.module == BUILTIN else f"in the module `{each.module}`"
    return f"`{each.name}` is {a(each.kind)}{place}, {module}."


def _parameters(each: Documented) -> Iterator[Answer]:
    known = [p for s in each.signatures if (p := parameters_of(s)) is not None]
    if not known:
        return
    chosen = max(known, key=len)
    if not chosen:
        yield Answer("parameters", f"`{each.name}` takes no parameters.")
        return
    lines = "\n".join(f"- {described(p)}" for p in chosen)
    count = "one parameter" if len(chosen) == 1 else f"{len(chosen)} parameters"
    yield Answer("parameters", f"`{each.name}` takes {count}:\n\n{lines}")
    texts = texts_of(each)
    for parameter in chosen:
        mark = re.compile(rf"\*{re.escape(parameter.bare)}\*(?!\w)")
        if meaning := [t for t in texts if mark.search(t)]:
            yield Answer("parameter", finished(" ".join(meaning[:3])), parameter.bare)
        if parameter.default:
            text = f"The default of `{parameter.bare}` in `{each.name}` is `{parameter.default}`."
            yield Answer("default", text, parameter.bare)


def described(parameter: Parameter) -> str:
    """Return a parameter with its default and what is special about it."""
    notes = [parameter.note] if parameter.note else []
    if parameter.default:
        notes.append(f"by default `{parameter.default}`")
    return ", ".join([f"`{parameter.name}`", *notes])


def _changes(each: Documented) -> Iterator[Answer]:
    name = f"`{each.name}`"
    if changes := [n for n in notes_of(each, "Changed in") if not n.endswith("See above.")]:
        yield Answer("changes", clipped([f"- {each}" for each in changes], LONG))
    if old := notes_of(each, "Deprecated"):
        yield Answer("deprecated", f"The documentation says about {name}: {finished(old[0])}")
    elif len(each.paragraphs) % 4 == 0:  # as often as the others, about
        yield Answer("deprecated", f"The documentation does not call {name} deprecated.")


def version_of(notes: Sequence[str]) -> str:
    """Return the version that a note "New in version" names; empty: there is none."""
    for note in notes:
        if made := re.match(r"New in version ([\d.]*\d)", note):
            return made[1]
    return ""


def example_of(each: Documented) -> str:
    """Return a description's first code with the line that leads to it; empty: there is none."""
    for at, text in enumerate(each.paragraphs):
        if is_code(text) and text.startswith("```python") and len(text) < LONGEST_EXAMPLE:
            before = each.paragraphs[at - 1] if at else ""
            leads = before.endswith(":") and len(before) < 200 and not is_code(before)
            return f"{before}\n\n{text}" if leads else text
    return ""


def _listed(each: Documented, members: Sequence[Documented]) -> str:
    lines = []
    for member in members[:MOST_MEMBERS]:
        short = brief(member)
        told = f": {short}" if short and len(short) < 110 and len(members) < 12 else ""
        lines.append(
            f"- `{member.signatures[0].removeprefix(each.name.rpartition('.')[2] + '.')}`{told}"
        )
    more = f"\n\nand {len(members) - MOST_MEMBERS} more." if len(members) > MOST_MEMBERS else ""
    listed = "\n".join(lines)
    return f"`{each.name}` has these methods and attributes:\n\n{listed}{more}"


def by_aspect(answers: Sequence[Answer]) -> Mapping[str, list[Answer]]:
    """Return answers by their aspect."""
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        found.setdefault(answer.aspect, []).append(answer)
    return found

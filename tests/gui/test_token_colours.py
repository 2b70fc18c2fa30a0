"""Every character that is seen has the colour of its stretch and shows its own token's details."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument

from gui.chat_help import committed
from gui.markdown_cases import Atom, documents, hidden, plain, seen_in, source_of
from paceline.chat.reasoning import Known
from paceline.engine.decode.text import TextAssembler
from paceline.gui.chat.markdown.document import MarkdownDocument
from paceline.gui.chat.markdown.provenance import Provenance
from paceline.gui.chat.messages.reply_body import ReplyBody
from paceline.messages import TokenTrace

if TYPE_CHECKING:
    from collections.abc import Sequence


pytestmark = pytest.mark.usefixtures("qapp")

SOURCES = ("target", "draft", "prompt-lookup", "suffix")
KINDS = {"draft": "draft", "prompt-lookup": "lookup", "suffix": "lookup"}


class Pieces:
    """Stands for a vocabulary whose tokens are these pieces of UTF-8."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    def piece(self, token: int) -> bytes:
        return self._pieces[token]


class Stream:
    """A text in tokens that end anywhere, also within a character, as the engine commits them."""

    def __init__(self, text: str, cuts: Sequence[int], sources: Sequence[int]) -> None:
        raw = text.encode()
        self.ends = sorted({cut % len(raw) for cut in cuts} - {0} | {len(raw)}) if raw else []
        starts = [0, *self.ends]
        pieces = [raw[a:b] for a, b in zip(starts, self.ends, strict=False)]
        self.sources = [SOURCES[sources[n % len(sources)]] for n in range(len(pieces))]
        assembler = TextAssembler(Pieces(pieces))  # type: ignore[arg-type]
        self.steps: list[tuple[TokenTrace, str]] = []
        for token, source in enumerate(self.sources):
            assembler.push(token)
            position = -1 if source == "target" else 0
            trace = TokenTrace(token, source, position, None, assembler.text_end)
            self.steps.append((trace, assembler.take()))
        # Which token has the last byte of each character: independent of `text_end`.
        self.token_of: list[int] = []
        at = 0
        for char in text:
            at += len(char.encode())
            self.token_of.append(bisect_left(self.ends, at))


def seen_by(content: MarkdownDocument, document: QTextDocument) -> list[tuple[str, int, int]]:
    """Each character that is seen and no blank: it, its place in the reply, its position."""
    result = []
    text = document.toPlainText()
    position = 0
    for char in text:
        if not char.isspace():
            place = content.source_of(position, position + 1)
            result.append((char, -1 if place is None else place[0], position))
        position += 1 + (char > "\uffff")
    return result


def kinds_of(sources: Sequence[str]) -> list[str | None]:
    """The colours of tokens: of the first to the last of a stretch of two or more.

    Two of one kind are of one stretch where they stand side by side, or one of the target between.
    """
    given = [KINDS.get(source) for source in sources]
    colours: list[str | None] = [None] * len(given)
    for number, kind in enumerate(given):
        for other in (number + 1, number + 2):
            between = given[number + 1 : other]
            if kind and given[other : other + 1] == [kind] and not any(between):
                colours[number : other + 1] = [kind] * (other + 1 - number)
    return colours


def check_colours(
    content: MarkdownDocument, document: QTextDocument, stream: Stream, n_tokens: int | None = None
) -> None:
    """Receive the first `n_tokens` tokens, or all for None."""
    spans = content.spans
    seen = [token for token in range(len(stream.sources))[:n_tokens] if token in stream.token_of]
    colours = dict(zip(seen, kinds_of([stream.sources[token] for token in seen]), strict=True))
    starts = [span.start for span in spans]
    for char, offset, position in seen_by(content, document):
        assert offset >= 0, f"nobody gave {char!r}"
        token = stream.token_of[offset]
        record = content.record_at(position)
        assert record is not None
        assert record.trace.token == token, char
        index = bisect_right(starts, position) - 1
        span = spans[index] if index >= 0 and spans[index].end > position else None
        kind = span.kind if span else None
        assert kind == colours[token], char
        if char > "\uffff" and span is not None:
            assert span.end >= position + 2, "the whole of it"


def written(text: str, provenance: Provenance) -> tuple[MarkdownDocument, QTextDocument]:
    document = QTextDocument()
    content = MarkdownDocument(document, provenance)
    content.write(text)  # not its end: what is open until then is shown otherwise
    return content, document


CUTS = st.lists(st.integers(0, 2_000), max_size=60)
MIXES = st.lists(st.integers(0, 3), min_size=1, max_size=9)


@given(atoms=documents(), cuts=CUTS, mix=MIXES, stride=st.integers(1, 9))
@example(
    atoms=[hidden("**"), plain("a"), hidden("**"), plain(" a")],
    cuts=[1, 3, 5],
    mix=[0, 1],
    stride=1,
)
@example(
    atoms=[plain("a\n\nb c\n\nd\n\ne f\n\ng")],
    cuts=[1, 3, 4, 5, 7, 8, 10, 12, 13, 15],
    mix=[1, 0, 2, 0, 1, 0, 1],
    stride=1,
)
@example(
    atoms=[hidden("["), plain("a"), hidden("](a) "), plain("a")],
    cuts=[1, 2, 4, 6],
    mix=[1, 0],
    stride=1,
)
def test_every_character_has_the_colour_of_its_token(
    atoms: list[Atom], cuts: list[int], mix: list[int], stride: int
) -> None:
    text = source_of(atoms)
    stream = Stream(text, cuts, mix)
    document = QTextDocument()
    content = MarkdownDocument(document)
    shown = ""
    for number, (trace, gained) in enumerate(stream.steps):
        content.provenance.add(committed("", trace, step=number, n_drafted=1))
        shown += gained
        if number % stride == 0:
            content.write(shown)
            check_colours(content, document, stream, number + 1)
            whole, other = written(shown, content.provenance)
            assert [s[:2] for s in seen_by(content, document)] == [
                s[:2] for s in seen_by(whole, other)
            ]
    content.write(text)
    check_colours(content, document, stream)
    content.finish(text)
    check_colours(content, document, stream)
    assert [s[:2] for s in seen_by(content, document)] == seen_in(atoms)


def test_what_stands_alone_has_no_colour() -> None:
    draft, lookup, own = "draft", "prompt-lookup", "target"
    assert kinds_of([draft, own, own, draft]) == [None] * 4
    assert kinds_of([draft, own, draft, own]) == [draft, draft, draft, None]
    assert kinds_of([draft, lookup, draft]) == [None] * 3
    assert kinds_of([lookup, "suffix", draft, own]) == ["lookup", "lookup", None, None]


@settings(max_examples=25)
@given(thought=documents(2), answer=documents(2), cuts=CUTS, mix=MIXES, opened=st.booleans())
def test_reasoning_has_its_colours_too(
    thought: list[Atom],
    answer: list[Atom],
    cuts: list[int],
    mix: list[int],
    opened: bool,
) -> None:
    atoms = [hidden("" if opened else "<think>\n"), *thought, hidden("</think>\n\n"), *answer]
    stream = Stream(source_of(atoms), cuts, mix)
    known_tokens = Provenance()
    body = ReplyBody(known_tokens)
    shown = ""
    for number, (trace, gained) in enumerate(stream.steps):
        known_tokens.add(committed("", trace, step=number, n_drafted=1, seconds=0.1))
        shown += gained
        body.show_source(shown, known=Known(has_marks=True))
        for block in body.reasoning:
            block.unfold()
    body.show_source(source_of(atoms), is_final=True, known=Known(is_finished=True, has_marks=True))
    (block,) = body.reasoning
    view = block.view
    assert view is not None
    seen = []
    for part in (view, body.answer):
        check_colours(part.content, part.document(), stream)
        seen += [s[:2] for s in seen_by(part.content, part.document())]
    assert seen == seen_in(atoms)
    body.deleteLater()

"""The tokens of a text whose middle is missing, after other texts of the same project."""

from __future__ import annotations

from itertools import chain

from msgspec import structs

from paceline.content import Infill, ProjectFile
from paceline.engine.model.backend import Vocabulary
from paceline.engine.prompt.segments import tokenize_after
from paceline.errors import UserError

_PROJECT = "project\n"
_FILE = "file\n"
"""Stand where models were trained to see names, which requests do not tell."""
_AFTER_FILE = "\n\n"


def infill_tokens(vocab: Vocabulary, prompt: Infill) -> list[int]:
    """Return what is before the middle, what is after it, and the mark that asks for it.

    Files come first: each after a mark and its name, if the vocabulary has marks for that.

    Returns:
        Nothing where there is no text.

    Raises:
        UserError: The model has no tokens that ask for a missing middle.
    """
    marks = vocab.infill
    if marks is None:
        raise UserError(
            "no-infill",
            "This model cannot fill in a gap: its vocabulary has no tokens that mark one.",
            "Load a model that was trained for it, as most base models for code were.",
        )
    before = vocab.tokenize(prompt.before, special=False)
    after = tokenize_after(vocab, prompt.after, special=False)
    files = [*chain.from_iterable(_file_tokens(vocab, file) for file in prompt.files)]
    if not (before or after or files):
        return []
    gap = [marks.before, *before, marks.after, *after, marks.middle]
    return [*_begin(vocab), *files, *_end(vocab), *gap] if files else gap


def without_first_files(vocab: Vocabulary, prompt: Infill, room: int) -> Infill:
    """Return the prompt without the first files that have to go so that the rest fits.

    Args:
        vocab: The model's.
        prompt: Its last files are the most useful ones.
        room: Tokens that it may have.
    """
    if not prompt.files:
        return prompt
    fixed = len(_begin(vocab)) + len(_end(vocab))
    left = room - fixed - len(infill_tokens(vocab, structs.replace(prompt, files=())))
    n_kept = 0
    for file in reversed(prompt.files):
        left -= len(_file_tokens(vocab, file))
        if left < 0:
            break
        n_kept += 1
    return structs.replace(prompt, files=prompt.files[len(prompt.files) - n_kept :])


def _begin(vocab: Vocabulary) -> list[int]:
    marks = vocab.project
    return [marks.project, *vocab.tokenize(_PROJECT, special=False)] if marks else []


def _end(vocab: Vocabulary) -> list[int]:
    """Return what announces the file that has the gap."""
    marks = vocab.project
    return [marks.file, *vocab.tokenize(_FILE, special=False)] if marks else []


def _file_tokens(vocab: Vocabulary, file: ProjectFile) -> list[int]:
    marks = vocab.project
    if not file.text:
        return []
    if marks is None:
        return vocab.tokenize(file.text + _AFTER_FILE, special=False)
    name = file.name or _FILE.strip()
    return [marks.file, *vocab.tokenize(f"{name}\n{file.text}\n", special=False)]

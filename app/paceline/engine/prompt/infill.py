"""The tokens of a text with a missing middle, after other texts of the same project."""

from __future__ import annotations

from itertools import chain

from msgspec import structs

from paceline.content import Infill, ProjectFile
from paceline.engine.model.backend import Vocabulary
from paceline.engine.prompt.segments import tokenize_after
from paceline.errors import UserError

_PROJECT = "project\n"
_FILE = "file\n"
"""Texts in place of names that models saw in training, but requests do not contain."""
_AFTER_FILE = "\n\n"


def infill_tokens(vocab: Vocabulary, prompt: Infill) -> list[int]:
    """Return the text before the middle, the text after it, and the mark for the middle, as tokens.

    Files come first: each after a mark and its name, if the vocabulary has such marks.

    Returns:
        The tokens; empty without any text.

    Raises:
        UserError: The model has no tokens for a missing middle.
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
    """Return the prompt without as many of the first files as needed to make the rest fit.

    Args:
        vocab: The model's vocabulary.
        prompt: The prompt; its last files are the most useful ones.
        room: Maximum number of tokens.
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
    """Return the tokens before the file with the gap."""
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

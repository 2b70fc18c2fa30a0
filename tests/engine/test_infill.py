"""Prompts without a template: their tokens, and models without marks for a gap to fill in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from engine.bench import Bench
from fake_model import ByteVocabulary, FakeModel, scripted
from paceline.engine.llama.backend import LlamaBackend
from paceline.engine.model.backend import InfillMarks, ProjectMarks, Vocabulary, VocabularyFile
from paceline.messages import (
    CountTokens,
    Infill,
    ProjectFile,
    Prompt,
    RawText,
    StartTurn,
    TokensCounted,
    TurnFinished,
    TurnStarted,
)
from tiny_vocabularies import EXTRA, INFILL, sentencepiece

GAP = Infill("He", "llo")
PROJECT = ("<|repo_name|>", "<|file_sep|>")


class MarkedVocabulary(ByteVocabulary):
    """Bytes, three of which ask for a missing middle."""

    infill = InfillMarks(before=1, after=2, middle=3)


class BeginningVocabulary(MarkedVocabulary):
    """A text begins with a token, too, which is read where it is written ``<begin>``."""

    bos = 4
    add_bos = True

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        parts = text.split("<begin>") if special else [text]
        first, *others = (
            super(BeginningVocabulary, self).tokenize(p, special=special) for p in parts
        )
        return [*first, *(token for part in others for token in (self.bos, *part))]


class ProjectVocabulary(MarkedVocabulary):
    """Bytes, two of which stand before the files of a project."""

    project = ProjectMarks(project=5, file=6)


def bench_of(vocab: Vocabulary) -> Bench:
    model = FakeModel(scripted("x", 0))
    model.vocab = vocab
    bench = Bench(target=model)
    bench.load()
    return bench


def prompt_tokens(bench: Bench, prompt: Prompt) -> list[int]:
    """The tokens that the model was given before the reply."""
    bench.finish(prompt=prompt, max_tokens=1)
    n_prompt = next(e.n_prompt for e in reversed(bench.events) if isinstance(e, TurnStarted))
    return list(bench.models["target"].tokens[:n_prompt])


def count(bench: Bench, prompt: Prompt) -> int:
    bench.client.request(CountTokens(prompt))
    counted = bench.events[-1]
    assert isinstance(counted, TokensCounted)
    assert counted.per_message == ()
    return counted.n_tokens


FILES = (ProjectFile("a.py", "one"), ProjectFile("", "two<end>"), ProjectFile("c.py", ""))


@pytest.mark.parametrize(
    ("vocab", "tokens"),
    [
        (MarkedVocabulary(), [*b"one\n\ntwo<end>\n\n"]),
        (
            ProjectVocabulary(),
            [5, *b"project\n", 6, *b"a.py\none\n", 6, *b"file\ntwo<end>\n", 6, *b"file\n"],
        ),
    ],
    ids=["plain", "marks"],
)
def test_files_of_the_project_stand_before_the_gap(vocab: Vocabulary, tokens: list[int]) -> None:
    bench = bench_of(vocab)
    prompt = structs.replace(GAP, files=FILES)
    whole = [*tokens, 1, *b"He", 2, *b"llo", 3]
    assert prompt_tokens(bench, prompt) == whole
    assert count(bench, prompt) == len(whole)
    alone = Infill("", "", FILES[:1])
    assert prompt_tokens(bench, alone)[-3:] == [1, 2, 3], "a project may be read before its gap"


@pytest.mark.parametrize("vocab", [MarkedVocabulary(), ProjectVocabulary()], ids=["plain", "marks"])
@given(sizes=st.lists(st.integers(0, 200), max_size=8), max_tokens=st.integers(1, 600))
def test_the_first_files_go_where_they_do_not_fit(
    vocab: Vocabulary, sizes: list[int], max_tokens: int
) -> None:
    bench = bench_of(vocab)
    n_ctx = bench.models["target"].n_ctx
    files = tuple(ProjectFile("", "x" * size) for size in sizes)
    bench.client.request(StartTurn(structs.replace(GAP, files=files), max_tokens=max_tokens))
    started = next(e for e in reversed(bench.events) if isinstance(e, TurnStarted))
    kept = files[started.n_cut :]
    free = min(max_tokens, n_ctx // 4) + 1
    assert started.n_prompt == count(bench, structs.replace(GAP, files=kept)) <= n_ctx - free
    if started.n_cut:
        more = files[started.n_cut - 1 :]
        assert count(bench, structs.replace(GAP, files=more)) > n_ctx - free
    assert count(bench, structs.replace(GAP, files=files)) >= started.n_prompt, "all are counted"


@pytest.mark.parametrize(
    ("vocab", "prompt", "code"),
    [
        (ByteVocabulary(), GAP, "no-infill"),
        (MarkedVocabulary(), Infill("", ""), "empty-prompt"),
        (BeginningVocabulary(), Infill("", ""), "empty-prompt"),
        (BeginningVocabulary(), RawText("", special=True), "empty-prompt"),
    ],
)
def test_a_gap_that_cannot_be_filled_in_is_refused(
    vocab: Vocabulary, prompt: Prompt, code: str
) -> None:
    bench = bench_of(vocab)
    failed = bench.fail(prompt=prompt)
    assert failed.code == code
    assert failed.message
    assert failed.hint
    assert count(bench, prompt) == -1
    assert isinstance(bench.ask(), TurnFinished), "the next reply is made"


@pytest.fixture
def real(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VocabularyFile]:
    file = tmp_path / "vocabulary.gguf"
    with file.open("wb") as out:
        sentencepiece(blank=True, extra=request.param).write(out)
    loaded = LlamaBackend().load_vocabulary(str(file))
    yield loaded
    loaded.close()


@pytest.mark.parametrize("real", [INFILL], indirect=True)
def test_a_files_marks_stand_around_the_text(real: VocabularyFile) -> None:
    marks = real.infill
    assert marks is not None
    assert [real.text(mark).decode() for mark in marks] == list(INFILL)
    bench = bench_of(real)
    tokens = prompt_tokens(bench, Infill("Hello", "world"))
    texts = [real.text(token).decode() for token in tokens]
    at = texts.index(INFILL[1])
    assert texts[:2] == ["<s>", INFILL[0]]
    assert ("".join(texts[2:at]), texts[-1]) == ("▁Hello", INFILL[2])
    assert "".join(texts[at + 1 : -1]) == "world", "no blank comes before it"


@pytest.mark.parametrize("real", [EXTRA, INFILL[:2]], indirect=True)
def test_a_file_without_all_marks_has_none(real: VocabularyFile) -> None:
    assert real.infill is None


@pytest.mark.parametrize("real", [(*INFILL, *PROJECT)], indirect=True)
def test_a_files_marks_stand_before_the_files_of_a_project(real: VocabularyFile) -> None:
    assert real.project is not None
    assert [real.text(mark).decode() for mark in real.project] == list(PROJECT)
    tokens = prompt_tokens(bench_of(real), structs.replace(GAP, files=FILES[:1]))
    texts = [real.text(token).decode() for token in tokens]
    assert texts[:2] == ["<s>", PROJECT[0]]
    first, last = (i for i, text in enumerate(texts) if text == PROJECT[1])
    assert first < last < texts.index(INFILL[0])


@pytest.mark.parametrize("real", [INFILL, (*INFILL, PROJECT[0])], indirect=True)
def test_a_file_without_both_marks_of_a_project_has_none(real: VocabularyFile) -> None:
    assert real.project is None

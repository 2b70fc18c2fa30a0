from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.chat.attachments import (
    MAX_BYTES,
    MAX_FILES,
    check_count,
    estimated_tokens,
    pasted,
    read_attachment,
    split_pasted,
    text_of,
)
from paceline.conversation import Attachment
from paceline.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "def größe():\n    return '日本 😀'\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_text_in_the_encodings_that_can_be_recognised(tmp_path: Path, encoding: str) -> None:
    # Without a mark, only the zero bytes of plain letters tell UTF-16.
    text = TEXT if encoding in ("utf-8", "utf-8-sig", "utf-16") else TEXT + "x = 1\n" * 50
    file = tmp_path / "a.py"
    file.write_bytes(text.encode(encoding))
    read = read_attachment(file)
    assert (read.name, read.text, read.n_bytes) == ("a.py", text, file.stat().st_size)


def test_line_ends_become_newlines(tmp_path: Path) -> None:
    assert text_of(b"a\r\nb\rc\n", "a.txt") == "a\nb\nc\n"


@pytest.mark.parametrize(
    ("raw", "code", "words"),
    [
        (b"", "attachment-empty", "“f” is empty."),
        (b"\x89PNG\r\n\x1a\n", "attachment-is-binary", "“f” is a picture, not text."),
        (b"%PDF-1.7\n", "attachment-is-binary", "“f” is a PDF, not text."),
        (b"PK\x03\x04", "attachment-is-binary", "“f” is an archive or an office document, not"),
        (b"GGUF\x03\0\0\0", "attachment-is-binary", "“f” is a model, not text."),
        (b"MZ\x90\0\x03", "attachment-is-binary", "“f” is a program, not text."),
        (b"abc\x00def", "attachment-is-binary", "“f” is not text."),
        (b"abc\x01def", "attachment-is-binary", "“f” is not text."),
        ("größe".encode("latin-1"), "attachment-encoding", "an encoding other than UTF-8"),
        (b"\xff\xfea", "attachment-encoding", "an encoding other than UTF-8"),
    ],
)
def test_what_is_no_text_is_refused_in_words(raw: bytes, code: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        text_of(raw, "f")
    assert (caught.value.code, bool(caught.value.hint)) == (code, True)
    assert words in caught.value.message


def test_text_that_begins_like_a_program_is_text() -> None:
    assert text_of(b"MZ is a state of mind", "f") == "MZ is a state of mind"


@given(st.binary(max_size=60))
def test_any_bytes_are_text_or_refused(raw: bytes) -> None:
    try:
        text = text_of(raw, "f")
    except UserError as error:
        assert error.hint  # noqa: PT017  refusing is as good
    else:
        assert text.encode()
        assert "\0" not in text


def test_a_file_of_a_megabyte_and_no_more(tmp_path: Path) -> None:
    file = tmp_path / "big.txt"
    file.write_bytes(b"x" * MAX_BYTES)
    assert read_attachment(file).n_bytes == MAX_BYTES
    file.write_bytes(b"x" * (3 * MAX_BYTES))
    with pytest.raises(UserError, match=r"“big.txt” has 3.0 MB; a file may have 1 MB."):
        read_attachment(file)


def test_what_is_no_file_is_reported(tmp_path: Path) -> None:
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "gone", "is not there any more")):
        with pytest.raises(UserError, match=words):
            read_attachment(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="is not a file"):
        read_attachment(tmp_path / "pipe")


def test_sixteen_files_and_no_more() -> None:
    one = Attachment("a", "a", 1)
    check_count([one] * (MAX_FILES - 1), 1)
    with pytest.raises(UserError, match="can have 16 files; these would be 17"):
        check_count([one] * MAX_FILES, 1)


def test_pasted_text_gets_a_name_of_its_own() -> None:
    first = pasted("ä" * 10, ())
    assert (first.name, first.n_bytes) == ("pasted.txt", 20)
    assert pasted("b", (first,)).name == "pasted-2.txt"
    assert estimated_tokens(first) == 5
    assert estimated_tokens(Attachment("long.md", "x" * 10_035, 10_035)) == 2_500


PIECE = st.text(alphabet='a\x1e"[]\n\\é', max_size=12)


@given(PIECE, st.lists(PIECE, min_size=1, max_size=3))
def test_pasted_files_that_earlier_versions_kept_with_the_text_are_read(
    text: str, contents: list[str]
) -> None:
    files = tuple(
        Attachment(f"pasted-{n}.txt", content, len(content.encode()))
        for n, content in enumerate(contents)
    )
    kept = json.dumps([text, *([file.name, file.text] for file in files)], ensure_ascii=False)
    assert split_pasted(f"\x1e{kept}") == (text, files)


@pytest.mark.parametrize(
    "kept", ['["a", 5]', '["a", ["b"]]', '[5, ["a", "b"]]', "{}", "5", "[]", "["]
)
def test_damage_of_what_was_kept_leaves_a_text(kept: str) -> None:
    assert split_pasted(f"\x1e{kept}") == (f"\x1e{kept}", ())


@given(PIECE)
def test_any_text_that_was_kept_is_read(kept: str) -> None:
    text, files = split_pasted(f"\x1e{kept}")
    if text != f"\x1e{kept}":
        assert json.loads(kept) == [text, *([file.name, file.text] for file in files)]

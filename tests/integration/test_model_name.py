"""Names that model files give themselves, shown beside other words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gguf_file import read
from paceline.engine import load_pair

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Qwen\u202e3", "Qwen\ufffd3"), ("two\nlines", "two lines"), ("é 模", "é 模")],
)
def test_a_model_s_name_hides_nothing(
    draft_path: Path, tmp_path: Path, name: str, shown: str
) -> None:
    file = read(draft_path)
    file.set(general__name=name)
    with (tmp_path / "m.gguf").open("wb") as out:
        file.write(out)
    with load_pair(str(tmp_path / "m.gguf")) as pair:
        assert pair.target.name == f"{shown} Q8_0"

"""Split models: any part leads to the first one, and the first one that is missing is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.model.model_file import check_whole_model, first_part, part_names
from paceline.errors import ModelError


@given(
    st.integers(2, 9),
    st.data(),
    st.sampled_from([".gguf", ".GGUF"]),
    st.sampled_from(["m", "a b-Q4_0", "x-00001-of-00002", "é"]),
)
def test_any_part_leads_to_the_first_one_or_names_what_is_missing(
    tmp_path_factory: pytest.TempPathFactory, n_parts: int, data: st.DataObject, end: str, stem: str
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    names = [f"{stem}-{n:05}-of-{n_parts:05}{end}" for n in range(1, n_parts + 1)]
    given_ = data.draw(st.sampled_from(names))
    gone = data.draw(st.sets(st.sampled_from(names)).filter(lambda gone: given_ not in gone))
    for name in set(names) - gone:
        (folder / name).write_bytes(b"GGUF")
    assert part_names(given_) == names
    if not gone:
        assert check_whole_model(str(folder / given_)) == folder / names[0]
        assert first_part(folder / given_) == folder / names[0]
        return
    with pytest.raises(ModelError) as refusal:
        check_whole_model(str(folder / given_))
    error = refusal.value
    assert error.code == "part-missing"
    assert f"“{given_}” is one of {n_parts} parts" in error.message
    assert f"“{next(name for name in names if name in gone)}”" in error.message
    assert (f"and {len(gone) - 1} more are missing" in error.message) is (len(gone) > 1)
    first = given_ if names[0] in gone else names[0]
    assert first_part(folder / given_) == folder / first


@pytest.mark.parametrize(
    "name", ["m.gguf", "m-1-of-2.gguf", "m-00003-of-00002.gguf", "m-00000-of-00002.gguf"]
)
def test_other_names_are_those_of_whole_models(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"GGUF")
    assert check_whole_model(str(tmp_path / name)) == tmp_path / name

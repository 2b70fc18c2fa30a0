"""ggml's own parser against an independent reader, and against files that are none."""

from __future__ import annotations

import io
import random
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest

import gguf_file
import make_pairs
from gguf_file import Gguf, Tensor
from paceline.engine.llama import read_header
from paceline.engine.model.model_file import GgufHeader
from paceline.errors import ModelError

TOKENS = "tokenizer.ggml.tokens"


def test_the_demo_target_as_another_reader_sees_it(target_path: Path) -> None:
    header, other = read_header(target_path, texts=[TOKENS]), gguf_file.read(target_path)
    assert {*header.values, *header.arrays} == set(other.metadata)
    assert header.text("general.architecture") == "llama"
    assert header.of_architecture("block_count") == header.whole("llama.block_count") > 0
    assert [(t.name, t.shape, t.kind, t.n_bytes) for t in header.tensors] == [
        (name, tensor.shape, tensor.kind, tensor.n_bytes) for name, tensor in other.tensors.items()
    ]
    assert len(header.texts[TOKENS]) == header.arrays[TOKENS]


def test_texts_are_taken_only_when_they_are_asked_for(target_path: Path) -> None:
    header = read_header(target_path)
    assert header.texts == {}
    assert header.arrays[TOKENS] > 0
    asked = read_header(target_path, texts=[TOKENS, "general.name", "no.such.key"])
    assert list(asked.texts) == [TOKENS]


def scalar(kind: int, layout: str, value: float) -> bytes:
    return struct.pack(f"<I{layout}", kind, value)


def a_file(tensors: dict[str, Tensor] | None = None) -> bytes:
    model = Gguf(tensors=tensors or {})
    model.set(general__architecture="test", a__text="Zoë", a__list=["x", "", "ÿ"])
    model.set(some__numbers=np.arange(5, dtype=np.int32))
    for kind, layout, value in (
        (gguf_file.U8, "B", 200), (gguf_file.I8, "b", -5), (gguf_file.U16, "H", 60_000),
        (gguf_file.I16, "h", -300), (gguf_file.U32, "I", 2**32 - 1), (gguf_file.I32, "i", -7),
        (gguf_file.F32, "f", 0.5), (gguf_file.BOOL, "?", True), (gguf_file.U64, "Q", 2**63),
        (gguf_file.I64, "q", -(2**60)), (gguf_file.F64, "d", 1e300),
    ):  # fmt: skip
        model.metadata[f"kind.{kind}"] = scalar(kind, layout, value)
    out = io.BytesIO()
    model.write(out)
    return out.getvalue()


def parsed(data: bytes) -> GgufHeader:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "odd.gguf"
        file.write_bytes(data)
        return read_header(file, texts=["a.list"])


def test_values_of_every_type() -> None:
    header = parsed(a_file())
    numbers = [value for key, value in header.values.items() if key.startswith("kind.")]
    expected = [200, -5, 60_000, -300, 2**32 - 1, -7, 0.5, True, 2**63, -(2**60), 1e300]
    assert numbers == expected
    assert [type(value) for value in numbers] == [type(value) for value in expected]
    assert header.text("a.text") == "Zoë"
    assert header.texts["a.list"] == (b"x", b"", "ÿ".encode())
    assert header.arrays == {"a.list": 3, "some.numbers": 5}
    assert header.numbers == {"some.numbers": (0, 1, 2, 3, 4)}


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (gguf_file.U8, "<u1"), (gguf_file.I8, "<i1"), (gguf_file.U16, "<u2"),
        (gguf_file.I16, "<i2"), (gguf_file.U32, "<u4"), (gguf_file.I32, "<i4"),
        (gguf_file.F32, "<f4"), (gguf_file.BOOL, "?"), (gguf_file.U64, "<u8"),
        (gguf_file.I64, "<i8"), (gguf_file.F64, "<f8"),
    ],
)  # fmt: skip
def test_arrays_of_numbers_of_every_type(kind: int, dtype: str) -> None:
    numbers = np.array([1, 0, 1, 1, 0, 0, 1], dtype)
    header = parsed(with_array(kind, numbers))
    assert header.numbers == {"the.array": tuple(numbers.tolist())}
    assert {type(number) for number in header.numbers["the.array"]} == {type(numbers[0].item())}
    assert header.arrays["the.array"] == 7


def test_long_arrays_of_numbers_are_left_out() -> None:
    assert (
        len(parsed(with_array(gguf_file.I32, np.zeros(1024, "<i4"))).numbers["the.array"]) == 1024
    )
    assert parsed(with_array(gguf_file.I32, np.zeros(1025, "<i4"))).numbers == {}
    assert parsed(with_array(gguf_file.I32, np.zeros(0, "<i4"))).numbers == {"the.array": ()}


def with_array(kind: int, numbers: np.ndarray) -> bytes:
    model = Gguf()
    head = struct.pack("<IIQ", gguf_file.ARRAY, kind, len(numbers))
    model.metadata["the.array"] = head + numbers.tobytes()
    out = io.BytesIO()
    model.write(out)
    return out.getvalue()


def test_a_value_of_another_type_is_none(target_path: Path) -> None:
    header = parsed(a_file())
    assert header.text("kind.4") == ""
    assert header.whole("a.text") == header.whole("kind.7") == header.whole("missing") == 0
    assert read_header(target_path).of_architecture("no_such_thing") == 0


def test_sizes_of_tensors_with_room_between_them() -> None:
    def zeros(*shape: int) -> Tensor:
        return Tensor(shape, gguf_file.GGML_F32, bytes(4 * int(np.prod(shape))))

    data = a_file({"odd": zeros(3), "cube": zeros(2, 1, 5), "row": zeros(7, 1)})
    header = parsed(data)
    assert [tensor.shape for tensor in header.tensors] == [(3,), (2, 1, 5), (7,)]
    assert sum(tensor.n_bytes for tensor in header.tensors) == 4 * (3 + 10 + 7)


def test_the_beginning_of_a_file_is_enough_as_soon_as_it_holds_the_header(
    target_path: Path,
) -> None:
    data = target_path.read_bytes()
    whole = read_header(target_path, texts=["a.list"])
    n = len(data) - sum(gguf_file.padded(tensor.n_bytes) for tensor in whole.tensors)
    assert parsed(data[:n]) == whole
    rng = random.Random(1)
    for cut in [0, 1, 3, 4, 8, 23, 24, *(rng.randrange(n - 64) for _ in range(100))]:
        with pytest.raises(ModelError, match="is no model in GGUF format"):
            parsed(data[:cut])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GGUF",
        b"\x00" * 100,
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63),
        b"GGUF" + struct.pack("<IQQ", 3, 2**63, 0),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**62) + b"key",
        b"GGUF" + struct.pack("<IQQQsIIQ", 3, 0, 1, 1, b"k", 9, 8, 2**63),
        b"GGUF" + struct.pack("<IQQ", 99, 0, 0) + bytes(64),
    ],
    ids=["empty", "magic", "zeros", "keys", "tensors", "long key", "long array", "version"],
)
def test_what_is_no_header(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "odd.gguf"
    file.write_bytes(data)
    with pytest.raises(ModelError, match=r"odd\.gguf") as refusal:
        read_header(file)
    assert refusal.value.code == "not-a-gguf"
    assert refusal.value.hint


def test_a_text_file_and_a_missing_file(tmp_path: Path) -> None:
    for path in (make_pairs.path("not-a-model"), tmp_path / "missing.gguf"):
        with pytest.raises(ModelError) as refusal:
            read_header(path)
        assert refusal.value.message.endswith(".")


def test_a_file_whose_weights_are_missing_can_still_be_described() -> None:
    path = make_pairs.path("truncated")
    assert sum(tensor.n_bytes for tensor in read_header(path).tensors) > path.stat().st_size

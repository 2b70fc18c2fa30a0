"""Names of quantisations: from headers, from the file names of publishers, and in bits."""

from __future__ import annotations

import llama_cpp
import pytest

from catalog.headers import header
from gguf_file import Tensor
from paceline.catalog.card import bits_per_weight, quantisation_in_name, quantisation_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Llama-3.2-1B-Instruct-Q4_K_M.gguf", "Q4_K_M"),
        ("qwen2.5-0.5b-instruct-q8_0.gguf", "Q8_0"),
        ("gemma-3-270m-it-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"),
        ("Mistral-7B.IQ3_XXS.gguf", "IQ3_XXS"),
        ("model-IQ4_NL-00001-of-00002.gguf", "IQ4_NL"),
        ("bigscience-F16.gguf", "F16"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("gpt-oss-20b-MXFP4_MOE.gguf", "MXFP4"),
        ("phi-Q6_K_L.gguf", "Q6_K_L"),
        ("phi-Q2_K_S.gguf", "Q2_K_S"),
        ("Q4_0/model-Q5_1.gguf", "Q5_1"),
        ("UD-IQ1_M/DeepSeek-UD-IQ1_M-00001-of-00004.gguf", "UD-IQ1_M"),
        ("model.gguf", ""),
        ("qwen-Q-learning.gguf", ""),
        ("SmolQ8_0x.gguf", ""),
        ("", ""),
    ],
)
def test_what_a_file_name_tells(name: str, expected: str) -> None:
    assert quantisation_in_name(name) == expected


def test_every_file_type_of_the_library_has_a_name_and_bits() -> None:
    prefix = "LLAMA_FTYPE_MOSTLY_"
    named = {name: value for name, value in vars(llama_cpp).items() if name.startswith(prefix)}
    assert len(named) > 30
    for constant, number in named.items():
        name = quantisation_of(header(**{"general.file_type": number}))
        assert name == constant.removeprefix(prefix).removesuffix("_MOE")
        assert 1 < bits_per_weight(name) <= 32
        assert quantisation_in_name(f"model-{name}.gguf") == name


def test_a_header_that_does_not_say_it_is_judged_by_its_tensors() -> None:
    tensors = {
        "a": Tensor((32, 100), 0, bytes(12800)),
        "b": Tensor((32, 500), 8, bytes(34 * 500)),
        "c": Tensor((32, 1), 0, bytes(128)),
    }
    assert quantisation_of(header(tensors=tensors)) == "Q8_0"
    assert quantisation_of(header(tensors={"a": tensors["a"]})) == "F32"
    assert quantisation_of(header(tensors=tensors, **{"general.file_type": 7777})) == "Q8_0"
    assert quantisation_of(header()) == ""


def test_bits() -> None:
    assert bits_per_weight("Q4_K_M") == pytest.approx(4.9, abs=0.1)
    assert bits_per_weight("ud-q4_k_xl") == bits_per_weight("Q4_K_M")
    assert bits_per_weight("Q6_K_L") == bits_per_weight("Q6_K")
    assert bits_per_weight("Q8_K_XL") == bits_per_weight("Q8_0")
    assert bits_per_weight("Q3_K_XL") == bits_per_weight("Q3_K_L")
    assert bits_per_weight("MXFP4_MOE") == bits_per_weight("MXFP4")
    assert bits_per_weight("") == bits_per_weight("Q99") == 0


def test_fewer_bits_are_fewer() -> None:
    order = ["IQ1_S", "IQ2_XXS", "Q2_K", "IQ3_M", "Q3_K_M", "Q4_0", "Q4_K_M", "Q5_K_M", "Q6_K"]
    bits = [bits_per_weight(name) for name in [*order, "Q8_0", "F16", "F32"]]
    assert bits == sorted(bits)

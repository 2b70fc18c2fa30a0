"""A model's card: what its headers say, and what is made of headers that lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catalog.headers import header
from gguf_file import Tensor
from paceline.catalog.inspect.child import kv_elements, make_card
from paceline.engine.model.vocabularies import hash_of_texts
from paceline.errors import ModelError


def zeros(n: int) -> Tensor:
    return Tensor((n,), 0, bytes(4 * n))


def test_sizes_go_where_they_belong() -> None:
    names = {
        "token_embd.weight": 7, "blk.0.attn_q.weight": 1, "blk.1.attn_q.weight": 2,
        "blk.1.ffn_up_exps.weight": 3, "blk.1.ffn_gate_chexps.weight": 4,
        "blk.1.exp_probs_b.bias": 5, "output.weight": 11, "output_norm.weight": 13,
        "blk.2.attn_q.weight": 17,
    }  # fmt: skip
    made = header(
        _block_count=2, _expert_count=8, _expert_used_count=2,
        tensors={name: zeros(n) for name, n in names.items()},
    )  # fmt: skip
    card = make_card([made], "x.gguf")
    assert card.layer_bytes == (4, 4 * (2 + 3 + 4 + 5))
    assert card.expert_bytes == (0, 4 * (3 + 4))
    assert card.input_bytes == 28
    assert card.output_bytes == 4 * (11 + 13 + 17)
    assert card.n_bytes == 4 * sum(names.values()) == 4 * card.n_params
    assert (card.n_experts, card.n_experts_used) == (8, 2)
    assert card.n_bytes == sum(card.layer_bytes) + card.input_bytes + card.output_bytes
    assert card.tied_bytes == 0


def test_tables_of_which_a_token_reads_a_row_are_no_output() -> None:
    sizes = {
        "token_embd.weight": 7, "per_layer_token_embd.weight": 1000, "position_embd.weight": 20,
        "per_layer_model_proj.weight": 5, "output_norm.weight": 13,
    }  # fmt: skip
    made = header("gemma3n", tensors={name: zeros(n) for name, n in sizes.items()})
    card = make_card([made], "x.gguf")
    assert (card.input_bytes, card.output_bytes) == (4 * (7 + 1000 + 20), 4 * (5 + 13))
    assert card.tied_bytes == 4 * 7, "the embeddings alone are the output, too"


def test_parts_are_counted_together_and_described_by_the_first() -> None:
    first = header(_block_count=1, **{"general.name": "Whole"})
    second = replace(header(tensors={"blk.0.a": zeros(3)}), values={})
    third = replace(header(tensors={"output.weight": zeros(5)}), values={})
    card = make_card([first, second, third], "whole-00001-of-00003.gguf")
    assert (card.name, card.n_params, card.quantisation) == ("Whole", 8, "F32")
    assert (card.layer_bytes, card.output_bytes) == ((12,), 20)


def test_texts() -> None:
    tokens = ["a", "", "ÿ"]
    values = {
        "general.basename": "Qwen3", "general.license": "apache-2.0",
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": tokens, "tokenizer.chat_template": "x" * 300_000,
    }  # fmt: skip
    made = header("qwen3", _context_length=40960, _embedding_length=1024, **values)
    card = make_card([made], "Some-Model.gguf")
    assert (card.name, card.architecture, card.family) == ("Some-Model", "qwen3", "Qwen3")
    assert (card.license, card.tokenizer) == ("apache-2.0", "gpt2/qwen2")
    assert (card.n_ctx_train, card.n_embd, card.n_vocab) == (40960, 1024, 3)
    assert card.vocabulary == hash_of_texts([b"a", b"[EMPTY_1]", "ÿ".encode()])
    assert card.has_template
    assert not make_card([header()], "x.gguf").has_template


def test_names_of_strangers_are_shortened_and_freed_of_control_characters() -> None:
    name = "\x1b[31mEvil\nname\u202e " + "x" * 100_000
    card = make_card([header(**{"general.name": name, "general.license": "\n\t"})], "x.gguf")
    assert card.name.startswith("[31mEvil name x")
    assert len(card.name) == 200
    assert card.license == ""
    assert make_card([header(**{"general.name": "\x00"})], "x.gguf").name == "x"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("Llama-3.2-1B.gguf", "Llama-3.2-1B"),
        ("Llama-3.2.GGUF", "Llama-3.2"),
        ("Big-3.1-00001-of-00003.gguf", "Big-3.1"),
        ("sha256-6a0746a1ec1a", "sha256-6a0746a1ec1a"),
    ],
)
def test_a_model_without_a_name_is_called_like_its_file(file: str, name: str) -> None:
    assert make_card([header()], file).name == name


def test_values_of_wrong_types_are_none() -> None:
    card = make_card(
        [header(_block_count="many", _context_length=1.5, **{"general.name": 7})], "x.gguf"
    )
    assert (card.n_layers, card.n_ctx_train, card.name) == (0, 0, "x")


@pytest.mark.parametrize(
    ("made", "words"), [(header(_block_count=513), "513 blocks"), (header(""), "no architecture")]
)
def test_no_model_at_all(made: object, words: str) -> None:
    with pytest.raises(ModelError, match=words) as refusal:
        make_card([made], "x.gguf")  # type: ignore[list-item]
    assert refusal.value.code == "cannot-load"


# ------------------------------------------------------------------------------------- caches

HEADS = {"_embedding_length": 512, "_attention.head_count": 8, "_block_count": 4}


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_keys_and_values_of_every_block() -> None:
    assert kv_elements(header(**HEADS), 4) == ((512, 512),) * 4
    grouped = header(**HEADS, **{"_attention.head_count_kv": 2})
    assert kv_elements(grouped, 4) == ((128, 128),) * 4
    lengths = {"_attention.key_length": 192, "_attention.value_length": 128}
    wide = header(**HEADS, **lengths, **{"_attention.head_count_kv": 2})
    assert kv_elements(wide, 4) == ((384, 256),) * 4


def test_a_number_of_heads_per_block() -> None:
    hybrid = header("jamba", **HEADS, **{"_attention.head_count_kv": ints(0, 8, 0, 2)})
    assert kv_elements(hybrid, 4) == ((0, 0), (512, 512), (0, 0), (128, 128))
    short = header(**HEADS, **{"_attention.head_count_kv": ints(8, -3)})
    assert kv_elements(short, 4) == ((512, 512), (0, 0), (0, 0), (0, 0))
    by_heads = header(
        _embedding_length=512, _block_count=2, **{"_attention.head_count": ints(8, 4)}
    )
    assert kv_elements(by_heads, 2) == ((512, 512), (256, 256))


def test_recurrent_families_have_no_cache() -> None:
    assert kv_elements(header("mamba", _embedding_length=512, _block_count=2), 2) == ((0, 0),) * 2
    rwkv = header("rwkv6qwen2", **HEADS, **{"_wkv.head_size": 64})
    assert kv_elements(rwkv, 4) == ((0, 0),) * 4


def test_families_in_which_every_nth_block_has_attention() -> None:
    expected = ((0, 0), (0, 0), (0, 0), (512, 512))
    assert kv_elements(header("qwen3next", **HEADS), 4) == expected
    every_second = header("qwen35", **HEADS, _full_attention_interval=2)
    assert [keys for keys, _ in kv_elements(every_second, 4)] == [0, 512, 0, 512]
    told = header("qwen35", **HEADS, **{"_attention.recurrent_layers": ints(0, 1, 1, 0)})
    assert [keys for keys, _ in kv_elements(told, 4)] == [512, 0, 0, 512]


def test_latent_attention_keeps_no_values() -> None:
    mla = header(
        "deepseek2",
        **HEADS,
        **{
            "_attention.head_count_kv": 1,
            "_attention.key_length": 576,
            "_attention.value_length": 512,
            "_attention.key_length_mla": 192,
            "_attention.value_length_mla": 128,
        },
    )
    assert kv_elements(mla, 4) == ((576, 0),) * 4


def test_windows_may_have_other_lengths() -> None:
    lengths = {
        "_attention.key_length": 512,
        "_attention.value_length": 512,
        "_attention.key_length_swa": 256,
        "_attention.value_length_swa": 128,
        "_attention.head_count_kv": 1,
    }
    pattern = {"_attention.sliding_window_pattern": ints(1, 0, 1, 0)}
    gemma = header("gemma4", **HEADS, **lengths, **pattern)
    assert kv_elements(gemma, 4) == ((256, 128), (512, 512)) * 2
    every_second = header("gemma4", **HEADS, **lengths, **{"_attention.sliding_window_pattern": 2})
    assert kv_elements(every_second, 4) == ((256, 128), (512, 512)) * 2
    not_told = header("gemma4", **HEADS, **lengths)
    assert kv_elements(not_told, 4) == ((512, 512),) * 4


def test_blocks_that_use_the_caches_of_others() -> None:
    shared = header("gemma4", **HEADS, **{"_attention.shared_kv_layers": 3})
    assert kv_elements(shared, 4) == ((512, 512), (0, 0), (0, 0), (0, 0))
    nextn = header("glm4moe", **HEADS, _nextn_predict_layers=1)
    assert kv_elements(nextn, 4) == (*((512, 512),) * 3, (0, 0))
    assert len([1 for keys, _ in kv_elements(header("gemma3n", **HEADS), 30) if keys]) == 20


@pytest.mark.parametrize("n_layers", [0, 1, 512])
def test_nonsense_gives_numbers(n_layers: int) -> None:
    odd = {
        "_attention.head_count": ints(),
        "_attention.head_count_kv": np.array([-1] * 3, np.int32),
        "_attention.sliding_window_pattern": ints(),
        "_attention.recurrent_layers": ints(5),
        "_attention.shared_kv_layers": 2**31,
    }
    found = kv_elements(header(**odd), n_layers)
    assert len(found) == n_layers
    assert all(keys >= 0 and values >= 0 for keys, values in found)

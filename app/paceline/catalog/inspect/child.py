"""The process that reads model files: everything that runs in it.

ggml's parser and llama.cpp's tokenizers are native code, and headers are untrusted. So they are
read here, in a process that has nothing to lose and may crash; `inspector` asks it and starts
another one. It may take half of the computer's memory at most: a header can claim any size.

Nothing in a header is trusted: texts are shortened and freed of control characters, numbers that no
model can have are refused.
"""

from __future__ import annotations

import base64
import contextlib
import re
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from paceline.catalog.card import Memory, ModelCard, Nature, quantisation_of
from paceline.catalog.inspect.wire import (
    MAX_TEXT_BYTES,
    Answer,
    Know,
    LookAt,
    Measure,
    Measured,
    Question,
    Refused,
    Seen,
    Supported,
    Texts,
    TextsOf,
    decode_question,
    join_texts,
)
from paceline.catalog.sidecar import heads_in_header, refusal, sidecar_of
from paceline.codec import made_of
from paceline.engine.model.model_file import GgufHeader, check_model_file, model_name
from paceline.engine.model.vocabularies import hash_of_texts
from paceline.errors import ModelError, UserError, ValueOutOfRangeError
from paceline.hosting.wire import encode_message
from paceline.sizes import one_line
from paceline.workers.child import ChildPipe, limit_memory, serve

TOKENS = "tokenizer.ggml.tokens"
"""The key of the tokens' texts, which `make_card` hashes when the header has them."""
_MAX_LAYERS = 512
"""LLAMA_MAX_LAYERS; with more layers llama.cpp ends the process."""
_BLOCK = re.compile(r"blk\.(\d{1,4})\.")
_EXPERTS = re.compile(r"_(ch)?exps(\.|$)")
_INPUT = ("token_embd.", "per_layer_token_embd.", "position_embd.", "token_types.")
"""Tables of which a token reads a row: LLM_TENSOR_LAYER_INPUT in src/llama-arch.cpp."""
_EMBEDDINGS, _OUTPUT = "token_embd.weight", "output.weight"


def make_card(headers: Sequence[GgufHeader], file_name: str) -> ModelCard:
    """Return the card of a model.

    Args:
        headers: Headers of all its files in order; the first one holds the metadata.
        file_name: The first file's name, for a model without a name in its header.

    Raises:
        ModelError: It is no model, or has more blocks than llama.cpp can take.
    """
    header = headers[0]
    tensors = [tensor for each in headers for tensor in each.tensors]
    if not header.text("general.architecture"):
        raise ModelError(
            "cannot-load",
            "“{file_name}” holds no model: its header names no architecture.",
            "Of a split model choose the first part, else another file.",
            file_name=file_name,
        )
    n_layers = header.of_architecture("block_count")
    if not 0 <= n_layers <= _MAX_LAYERS:
        raise ModelError(
            "cannot-load",
            "“{file_name}” cannot be loaded: it says that it has {n_layers} blocks, "
            "and llama.cpp takes at most {most}.",
            "Download it again, or choose another one.",
            file_name=file_name,
            n_layers=n_layers,
            most=_MAX_LAYERS,
        )
    layers, experts = [0] * n_layers, [0] * n_layers
    n_params = input_bytes = output_bytes = embedding_bytes = 0
    for tensor in tensors:
        n = 1
        for size in tensor.shape:
            n *= size
        n_params += n
        block = _BLOCK.match(tensor.name)
        if block and int(block[1]) < n_layers:
            layers[int(block[1])] += tensor.n_bytes
            if _EXPERTS.search(tensor.name):
                experts[int(block[1])] += tensor.n_bytes
        elif tensor.name.startswith(_INPUT):
            input_bytes += tensor.n_bytes
            embedding_bytes += tensor.n_bytes if tensor.name == _EMBEDDINGS else 0
        else:
            output_bytes += tensor.n_bytes
    is_tied = all(tensor.name != _OUTPUT for tensor in tensors)
    texts = token_texts(header)
    sidecar, n_heads = heads_in_header(header, (tensor.name for tensor in tensors))
    return ModelCard(
        name=one_line(header.text("general.name")) or one_line(model_name(file_name)),
        architecture=one_line(header.text("general.architecture")),
        family=one_line(header.text("general.basename")),
        quantisation=quantisation_of(header, tensors),
        license=one_line(header.text("general.license")),
        n_params=n_params,
        n_bytes=sum(tensor.n_bytes for tensor in tensors),
        n_layers=n_layers,
        n_ctx_train=_count(header, "context_length"),
        n_embd=_count(header, "embedding_length"),
        n_experts=_count(header, "expert_count"),
        n_vocab=header.arrays.get(TOKENS, 0),
        tokenizer=_tokenizer(header),
        vocabulary=hash_of_texts(texts) if texts else "",
        has_template="tokenizer.chat_template" in header.values,
        layer_bytes=tuple(layers),
        expert_bytes=tuple(experts),
        input_bytes=input_bytes,
        output_bytes=output_bytes,
        kv_elements=kv_elements(header, n_layers),
        n_experts_used=_count(header, "expert_used_count"),
        tied_bytes=embedding_bytes if is_tied else 0,
        sidecar=sidecar,
        n_heads=n_heads,
        n_embd_out=_count(header, "embedding_length_out"),
    )


def token_texts(header: GgufHeader) -> tuple[bytes, ...]:
    """Return the texts of a header's tokens as llama.cpp has them after a load.

    It gives a name to those that have no text (`llama_vocab::impl::load`, src/llama-vocab.cpp).
    """
    texts = header.texts.get(TOKENS, ())
    if all(texts):
        return texts
    return tuple(text or b"[EMPTY_%d]" % token for token, text in enumerate(texts))


def _tokenizer(header: GgufHeader) -> str:
    names = (header.text(f"tokenizer.ggml.{part}") for part in ("model", "pre"))
    return "/".join(filter(None, map(one_line, names)))


def _count(header: GgufHeader, name: str) -> int:
    return max(header.of_architecture(name), 0)


_EVERY_NTH = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4, "qwen4exp": 4, "minimax-01": 8}
"""Families in which only every n-th block has attention, and their n where no key says it."""
_FIRST_BLOCKS = {"gemma3n": 20}
"""Families in which only the first blocks have caches, and the others use theirs."""


def kv_elements(header: GgufHeader, n_layers: int) -> tuple[tuple[int, int], ...]:
    """Return per block the elements of one token's keys and values.

    The rules are llama.cpp's: `load_hparams` in src/llama-model.cpp, llama-hparams.cpp,
    llama-kv-cache.cpp, and the files of the families below src/models. Where a family is not known,
    every block counts as one with attention: an upper bound. Any header is accepted, also an
    invalid one.

    Args:
        header: The header with the model's metadata.
        n_layers: Blocks, those for predicting several tokens included.
    """
    heads = _per_layer(header, "attention.head_count", n_layers, [0] * n_layers)
    kv_heads = _per_layer(header, "attention.head_count_kv", n_layers, heads)
    head = header.of_architecture("embedding_length") // heads[0] if heads and heads[0] else 0
    full = _lengths(header, "", (head, head))
    windowed = _lengths(header, "_swa", full)
    is_windowed = _windowed(header, n_layers)
    if is_windowed is None and windowed != full:  # the header does not say which blocks
        full = max(full[0], windowed[0]), max(full[1], windowed[1])
    has_cache = _with_cache(header, n_layers, has_heads=bool(head or full != (0, 0)))
    mla = [header.of_architecture(f"attention.{side}_length_mla") for side in ("key", "value")]
    found = []
    for i in range(n_layers):
        keys, values = windowed if is_windowed and is_windowed[i] else full
        n = kv_heads[i] if has_cache[i] else 0
        found.append((n * keys, 0 if all(mla) else n * values))  # MLA's keys hold the values
    return tuple(found)


def _lengths(header: GgufHeader, ending: str, otherwise: tuple[int, int]) -> tuple[int, int]:
    keys, values = (
        header.of_architecture(f"attention.{side}_length{ending}") for side in ("key", "value")
    )
    return keys if keys > 0 else otherwise[0], values if values > 0 else otherwise[1]


def _with_cache(header: GgufHeader, n_layers: int, *, has_heads: bool) -> list[bool]:
    """Return which blocks have caches of their own."""
    architecture = header.text("general.architecture")
    if not has_heads or header.of_architecture("wkv.head_size"):
        return [False] * n_layers
    has = [True] * n_layers
    if "attention.recurrent_layers" in _own_arrays(header):
        recurrent = _per_layer(header, "attention.recurrent_layers", n_layers, [0] * n_layers)
        has = [not value for value in recurrent]
    elif architecture in _EVERY_NTH:
        n = header.of_architecture("full_attention_interval") or _EVERY_NTH[architecture]
        has = [(i + 1) % n == 0 for i in range(n_layers)]
    n_shared = header.of_architecture("attention.shared_kv_layers")
    n_own = min(_FIRST_BLOCKS.get(architecture, n_layers), n_layers - n_shared)
    n_own = min(n_own, n_layers - header.of_architecture("nextn_predict_layers"))
    return [value and i < n_own for i, value in enumerate(has)]


def _windowed(header: GgufHeader, n_layers: int) -> list[bool] | None:
    """Return which blocks' attention is limited to a window; None where the header does not say."""
    key = "attention.sliding_window_pattern"
    if key in _own_arrays(header):
        return [bool(value) for value in _per_layer(header, key, n_layers, [0] * n_layers)]
    n = header.of_architecture(key)
    return [i % n < n - 1 for i in range(n_layers)] if n > 0 else None


def _own_arrays(header: GgufHeader) -> set[str]:
    prefix = f"{header.text('general.architecture')}."
    return {key.removeprefix(prefix) for key in header.numbers if key.startswith(prefix)}


def _per_layer(
    header: GgufHeader, name: str, n_layers: int, otherwise: Sequence[int]
) -> Sequence[int]:
    """Return a value per block, whether the header has one for all or one for each."""
    key = f"{header.text('general.architecture')}.{name}"
    if key in header.numbers:
        given = header.numbers[key][:n_layers]
        numbers = [max(n, 0) if isinstance(n, int) else 0 for n in given]
        return numbers + [0] * (n_layers - len(numbers))
    if key in header.values:
        return [max(header.whole(key), 0)] * n_layers
    return otherwise


if TYPE_CHECKING:
    from paceline.engine.llama.dry_run import DryRuns
    from paceline.engine.llama.vocabulary import LlamaVocabularyFile

_WORD_PIECES = 3  # enum llama_vocab_type: the tokenizer of BERT and similar models
_NOT_ALONE = {"clip", "wavtokenizer-dec"}
"""Architectures that are a part of another model."""


def run_inspector(pipe: socket.socket, prepare: Callable[[Reader], None] | None = None) -> None:
    """Run the inspector in this process; never returns.

    Args:
        pipe: One end of a socket pair.
        prepare: Gets the reader before the first question, for tests that inject faults.
    """
    if sys.platform == "linux":
        limit_memory(psutil.virtual_memory().total // 2)
    line = ChildPipe(pipe)
    from paceline.engine.native import report_aborts  # noqa: PLC0415  within the limit

    report_aborts(line.send_last)
    reader = Reader()
    if prepare is not None:
        prepare(reader)
    serve(line, reader.answer, decode_question, encode_message)


class Reader:
    """Answers questions about model files."""

    def __init__(self) -> None:
        self._texts: tuple[str, tuple[bytes, ...]] = "", ()  # of the last file
        self._dry_runs: DryRuns | None = None

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question."""
        try:
            match question:
                case LookAt():
                    return self._look_at(question)
                case TextsOf():
                    return self._texts_of(question.file)
                case Measure():
                    return self._measure(question)
                case Know():
                    return _know(question.architecture)
        except UserError as error:
            return Refused(
                error.code,
                error.message,
                error.hint,
                is_value=isinstance(error, ValueOutOfRangeError),
                smaller_ctx=error.smaller_ctx if isinstance(error, ModelError) else 0,
            )

    def _look_at(self, question: LookAt) -> Seen:
        from paceline.engine.llama import read_header  # noqa: PLC0415  native

        files = [check_model_file(file) for file in question.files]
        headers = [read_header(files[0], texts=[TOKENS]), *map(read_header, files[1:])]
        card = make_card(headers, files[0].name)
        _check_known(card, headers[0], files[0].name)
        self._texts = question.files[0], token_texts(headers[0])
        if question.card_only:
            return Seen(card, None)
        if sidecar := sidecar_of(card, files[0].name):
            # llama.cpp may not be able to read it, and nothing could be done with it.
            raise refusal(sidecar, files[0].name)
        causal = headers[0].values.get(f"{card.architecture}.attention.causal", True)
        return Seen(card, _nature(files[0], card.architecture, is_causal=bool(causal)))

    def _texts_of(self, file: str) -> Texts:
        from paceline.engine.llama import read_header  # noqa: PLC0415  native

        path = check_model_file(file)
        if self._texts[0] != file:
            self._texts = file, token_texts(read_header(path, texts=[TOKENS]))
        joined = join_texts(self._texts[1])
        if len(joined) >= MAX_TEXT_BYTES:
            raise ModelError(
                "cannot-load",
                "“{name}” cannot be used: its vocabulary is larger than any other.",
                "Choose another one.",
                name=path.name,
            )
        return Texts(base64.b64encode(joined).decode("ascii"))

    def _measure(self, question: Measure) -> Measured:
        from paceline.engine.llama.dry_run import DryRuns  # noqa: PLC0415  native

        if self._dry_runs is None:
            self._dry_runs = DryRuns()
        run = self._dry_runs.measure(question.params, question.n_rows, question.target)
        return Measured(run)


def _know(architecture: str) -> Supported:
    from paceline.engine.llama import what_is_unknown  # noqa: PLC0415  native

    return Supported(what_is_unknown(architecture))


def _check_known(card: ModelCard, header: GgufHeader, file_name: str) -> None:
    """Raise the error about a model that is newer than llama.cpp; sidecars need not be known."""
    from paceline.engine.llama import newer_model, what_is_unknown  # noqa: PLC0415  native

    if sidecar_of(card, file_name) is None:
        names = (header.text(f"tokenizer.ggml.{part}") for part in ("model", "pre"))
        unknown = what_is_unknown(header.text("general.architecture"), *names)
        if newer := newer_model(file_name, unknown):
            raise newer


def _nature(path: Path, architecture: str, *, is_causal: bool) -> Nature:
    from paceline.engine.llama import LlamaBackend  # noqa: PLC0415  native

    with contextlib.closing(LlamaBackend().load_vocabulary(str(path))) as vocab:
        writes = is_causal and _writes(vocab, architecture)
        return made_of(Nature, vocab, memory=_memory(vocab), writes=writes)


def _memory(vocab: LlamaVocabularyFile) -> Memory:
    if vocab.is_recurrent:
        return "recurrent"
    return "hybrid" if vocab.is_hybrid else "attention"


def _writes(vocab: LlamaVocabularyFile, architecture: str) -> bool:
    if vocab.is_diffusion or vocab.has_encoder or not vocab.has_decoder:
        return False
    # llama.cpp asks the weights of encoders for this, which are not there yet.
    is_encoder = vocab.kind == _WORD_PIECES or "bert" in architecture or "embed" in architecture
    return not (is_encoder or architecture in _NOT_ALONE)

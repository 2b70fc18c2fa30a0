"""Heads for multi-token prediction (MTP): layers that draft from a target's hidden states.

A head predicts the token after next from a token and the target's hidden state before it. Its first
draft uses the target's own states. For further ones it uses its own output instead, so what it has
read of drafted tokens is never kept (`draft/mtp.py`). There are three kinds, after
`common_speculative_impl_draft_mtp` of llama.cpp's common/speculative.cpp:

- one head, which runs again for each further token (Qwen3.5, GLM 4.5);
- a chain of heads, each of which was trained for its own position in the draft and reads the
  draft from its beginning (Step 3.5);
- an assistant, which reads the target's cache and has none of its own (Gemma 4).
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import hidden_rows
from paceline.engine.llama.gguf import headers
from paceline.engine.llama.library import llama_cpp, meta
from paceline.engine.llama.model import N_BATCH, LlamaModel
from paceline.engine.model.backend import Rows
from paceline.errors import EngineError, ModelError
from paceline.messages import DeviceInfo, ModelParams

_MAX_ROWS = 8
"""Maximum number of rows output per batch: usually the accepted tokens of a step, and one more."""
_OUTPUTS = "output.weight", "token_embd.weight"
_BLOCK = re.compile(r"blk\.(\d+)\.")


class MtpHead(LlamaModel):
    """Implements `backend.DraftHead`.

    Args:
        model: llama.cpp's pointer to a model with only heads, which is freed with this object, or
            None if the target's own model has them.
        target: The target whose hidden states it reads; stores them from now on.
        params: The target's parameters, with the path of the file that contains the head.
        path: Path of that file.
        cancel: Flag that is polled by decodes.
        gpus: Devices that its layers are placed on.
        kind: Kind of head that it is used as; its drafter has the same id.
        n_bytes: Result of `head_bytes` for the file.

    Raises:
        ModelError: The file has no head, or one for other states, or there is no room for its
            context.
    """

    shares_memory = False

    def __init__(
        self,
        model: Any,
        target: LlamaModel,
        params: ModelParams,
        path: Path,
        cancel: CancelFlag,
        *,
        gpus: tuple[DeviceInfo, ...],
        lines: Iterable[str] = (),
        kind: str,
        n_bytes: int,
    ) -> None:
        self.drafter = kind
        self._target, self._is_inside, self._n_bytes = target, model is None, n_bytes
        self.origin = 0
        self.n_true: int | None = None
        self._n_heads = 1
        self._chain: list[tuple[int, Rows]] = []
        model = target._model if self._is_inside else model
        of_target = target.devices
        super().__init__(
            model, params, path, _MAX_ROWS, cancel, devices=of_target, gpus=gpus, lines=lines
        )

    def _open(self, params: ModelParams, path: Path, n_rows: int) -> None:
        target, model = self._target, self._model
        width = hidden_rows.n_columns(model)
        kind = meta(model, "general.architecture").removesuffix("-assistant")
        wanted = target.info.architecture, hidden_rows.n_columns(target._model)
        if not self._n_bytes or (kind, width) != wanted:  # llama.cpp may crash with another head
            raise ModelError(
                "wrong-head",
                "“{name}” holds no MTP head for “{target}”.",
                "Choose the file with the head that was made for this model, or none.",
                name=path.name,
                target=target.info.name,
            )
        self._rows = target.give_hidden_rows()
        self._state = np.zeros(width, np.float32)  # the head's own, of its last output row
        super()._open(params, path, n_rows)
        self.shares_memory = hidden_rows.shares_memory(self._context, target._context)
        if self.shares_memory:
            target._assistant = self
            self._gaps = target._gaps  # its tokens have the target's positions
        else:
            self._n_heads = max(llama_cpp.llama_model_n_layer_nextn(model), 1)
        self.n_most = self._n_heads if self._n_heads > 1 else N_BATCH
        name = f"MTP head of {target.info.name}"
        self.info = structs.replace(self.info, name=name, size_bytes=self._n_bytes)

    @property
    def first_place(self) -> int:
        """The first token with a stored state before it, or the text's first; see `DraftHead`."""
        first = self._rows.first
        return first + 1 if first else 0

    # -------------------------------------------------------------------------- the native side

    @property
    def _has_blocks(self) -> bool:
        """Return whether the target has blocks, since the head shares its sequences."""
        return self._target._has_blocks

    def _native_params(self, params: ModelParams) -> Any:
        p = super()._native_params(params)
        p.ctx_type = llama_cpp.LLAMA_CONTEXT_TYPE_MTP
        p.ctx_other = self._target._context
        return p

    def _new_context(self, params: ModelParams, n_threads: int, n_threads_batch: int) -> Any:
        context = super()._new_context(params, n_threads, n_threads_batch)
        hidden_rows.give_hidden_rows(context, of_outputs=True)
        return context

    def _make_facts_key(self) -> str:
        return f"{super()._make_facts_key()}|{self.drafter}"

    def _new_batch(self) -> Any:
        width = self._rows.n_columns
        batch = llama_cpp.llama_batch_init(N_BATCH, width, 1)  # with states, not tokens
        self._own_tokens = (llama_cpp.llama_token * N_BATCH)()
        batch.token = self._own_tokens
        self._inputs = np.ctypeslib.as_array(batch.embd, (N_BATCH, width))
        return batch

    def _free_context(self) -> None:
        n_past = self._n_past
        super()._free_context()
        if self.shares_memory:  # it has no cells of its own
            self._n_past = n_past

    def close(self) -> None:
        """Free its own resources."""
        if self._batch is not None:
            self._batch.token = ctypes.POINTER(llama_cpp.llama_token)()  # Python frees this memory
        if self._is_inside:
            self._model = None
        super().close()

    # ------------------------------------------------------------------------------- decoding

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        """Read tokens, each with the state before it; see `backend.DraftHead`."""
        place = self.origin + self.n_past
        states = self._states_before(place, len(tokens))
        if self.shares_memory:
            return self._draft_from_cache(tokens, states, n_rows)
        if self._n_heads > 1:
            is_drafted = self.n_true is not None and place >= self.n_true
            return self._decode_chained(tokens, states, n_rows, is_drafted=is_drafted)
        return self._decode_last(tokens, states, n_rows)

    def _decode_last(self, tokens: Sequence[int], states: Rows, n_rows: int) -> Rows:
        """Decode, and return the last row if it is wanted.

        That row comes from a batch that outputs all rows: some graphs output the states of all
        tokens, others only of those with logits, and llama.cpp reads the first ones in any case.
        """
        n_first = len(tokens) - _MAX_ROWS if n_rows else len(tokens)
        if n_first > 0:
            self._decode(tokens[:n_first], states[:n_first], 0)
        if not n_rows:
            return np.empty((0, self.vocab.n_tokens), np.float32)
        n_first = max(n_first, 0)
        return self._decode(tokens[n_first:], states[n_first:], len(tokens) - n_first)[-1:]

    def _states_before(self, place: int, n: int) -> Rows:
        """Return the states before `n` tokens from this place on, float32 [n, n_columns].

        If the target has not decoded the token before, its state is the head's own last output;
        before a text it is zero.
        """
        rows, first = self._rows, place - 1
        end = rows.end if self.n_true is None else min(rows.end, self.n_true - 1)
        states = np.tile(self._state, (n, 1))
        states[: max(-first, 0)] = 0.0
        known, end = max(rows.first, first), min(end, first + n)
        if known < end:
            states[known - first : end - first] = rows.take(known, end - known)
        return states

    def _decode(self, tokens: Sequence[int], states: Rows, n_rows: int, head: int = 0) -> Rows:
        self._inputs[: len(tokens)] = states
        if self._n_heads > 1:
            hidden_rows.choose_head(self._context, head)
        rows = super().decode(tokens, n_rows)
        if n_rows:
            given = hidden_rows.last_rows(self._context, n_rows, len(self._state))
            self._state = given[-1].copy()
        return rows

    def _decode_chained(
        self, tokens: Sequence[int], states: Rows, n_rows: int, *, is_drafted: bool
    ) -> Rows:
        """Let every head read the text; for a draft, let the next head read all of it."""
        past = self.n_past
        if is_drafted and n_rows:
            if len(self._chain) >= self._n_heads:
                raise EngineError("no-head", "There is no head for so long a draft.")
            self._chain += zip(tokens, states, strict=True)
            super().rollback(past + len(tokens) - len(self._chain))
            chained, before = zip(*self._chain, strict=True)
            return self._decode(chained, np.stack(before), 1, len(self._chain) - 1)
        for head in range(self._n_heads - 1, 0, -1):
            self._decode(tokens, states, 0, head)
            super().rollback(past)
        self._chain = [(tokens[-1], states[-1])]
        return self._decode_last(tokens, states, n_rows)

    def _draft_from_cache(self, tokens: Sequence[int], states: Rows, n_rows: int) -> Rows:
        """Draft from the target's cache, so that nothing has to be read first.

        All tokens of a draft have the position of its first one, as in the assistant's training.
        """
        n_past, n_held = self._n_past, self._n_past + len(tokens)
        rows = np.empty((0, self.vocab.n_tokens), np.float32)
        if n_rows:
            self._n_past = self._target.n_past
            try:
                rows = self._decode(tokens[-1:], states[-1:], 1)
            except BaseException:
                self._n_past = n_past
                raise
        self._n_past = n_held
        return rows

    def rollback(self, n_past: int) -> bool:
        """Shorten the context; see `backend.LanguageModel`."""
        if not self.shares_memory:
            return super().rollback(n_past)
        self._n_past = min(self._n_past, n_past)
        return True

    def clear(self, *, wipe: bool = False) -> None:
        """Remove everything, and start with the next text's first token."""
        self.origin = 0
        if self.shares_memory:  # the cache belongs to the target
            self._n_past = 0
        else:
            super().clear(wipe=wipe)


def head_bytes(path: Path) -> int:
    """Return the bytes of weights that a model's heads read per token, or 0 without heads.

    These are its last blocks and the output; an assistant consists only of a head.

    Raises:
        ModelError: The file cannot be read.
    """
    parts = list(headers(path))
    first = parts[0].of_architecture("block_count") - parts[0].n_heads
    sizes = {tensor.name: tensor.n_bytes for part in parts for tensor in part.tensors}
    n = sum(
        size
        for name, size in sizes.items()
        if (block := _BLOCK.match(name)) and int(block[1]) >= first
    )
    output = next((sizes[name] for name in _OUTPUTS if name in sizes), 0)
    return n + output if parts[0].n_heads and n else 0

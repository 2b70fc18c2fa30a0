"""A scripted `LanguageModel`: odd cases and window work without weights.

The vocabulary is the 256 bytes and one end-of-generation token. The logits come from a function
of the tokens before; `scripted` makes one that writes given texts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.model.backend import (
    Grammar,
    LanguageModel,
    Place,
    Progress,
    Reasoning,
    Rows,
    Vocabulary,
    VocabularyFile,
)
from paceline.engine.model.grammar_parts import GrammarPart
from paceline.engine.model.tokens import Gap, TokenSequence
from paceline.errors import (
    CancelledError,
    ContextFullError,
    EngineError,
    ModelError,
    ValueOutOfRangeError,
)
from paceline.messages import (
    DeviceInfo,
    DeviceMemory,
    EngineDescribed,
    KernelUse,
    KernelWish,
    ModelInfo,
    ModelParams,
)

EOG = 256
N_VOCAB = 257
Logits = Callable[[Sequence[int]], NDArray[np.float32]]


class ByteVocabulary:
    """Token ids 0..255 are bytes, 256 ends a generation and is written ``<end>``."""

    kind = 0
    n_tokens = N_VOCAB
    bos = -1
    eos = EOG
    add_bos = False
    add_eos = False
    eog = frozenset({EOG})
    infill = None
    project = None

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return the text's bytes; with `special`, ``<end>`` is the end token."""
        if not special:
            return list(text.encode())
        out: list[int] = []
        for i, part in enumerate(text.split("<end>")):
            out += [EOG] * (i > 0) + list(part.encode())
        return out

    def piece(self, token: int) -> bytes:
        """Return the byte, or nothing for the end token."""
        return bytes([token]) if token < EOG else b""

    def text(self, token: int) -> bytes:
        """Return the byte, or ``<end>``."""
        return bytes([token]) if token < EOG else b"<end>"

    def grammar(self, gbnf: str, after: Reasoning | None = None) -> Grammar:
        """Refuse: scripted models know no grammars."""
        del gbnf
        raise ValueOutOfRangeError("bad-grammar", "The scripted model knows no grammars.")

    def grammar_of_schema(self, schema: str, after: Reasoning | None = None) -> Grammar:
        """Refuse, see `grammar`."""
        return self.grammar(schema)

    def grammar_of_parts(self, part: GrammarPart, after: Reasoning | None = None) -> Grammar:
        """Refuse, see `grammar`."""
        return self.grammar("")

    def prepare_grammars(self) -> bool:
        """Have nothing to make."""
        return False

    def close(self) -> None:
        """Hold nothing, free nothing."""


def scripted(reply: str, start: int) -> Logits:
    """Return logits that write `reply` from context position `start` on, then end."""
    data = [*reply.encode(), EOG]

    def logits(tokens: Sequence[int]) -> NDArray[np.float32]:
        row = np.zeros(N_VOCAB, np.float32)
        row[data[min(max(len(tokens) - start, 0), len(data) - 1)]] = 20.0
        return row

    return logits


class FakeModel:
    """Implements `LanguageModel` on a function from tokens to logits."""

    drafter = "draft"

    def __init__(
        self,
        logits: Logits,
        *,
        n_ctx: int = 512,
        max_rows: int = 65,
        can_rollback: bool = True,
        n_states: int = 0,
        has_copies: bool = False,
        n_block: int = 0,
        cancel: CancelFlag | None = None,
    ) -> None:
        self.vocab: Vocabulary = ByteVocabulary()
        self.template = (
            "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}<end>\n{% endfor %}"
        )
        self.tool_template = ""
        self.n_ctx = n_ctx
        self.n_batch = 512
        self.computes_here = False
        self.native_s = 0.0
        self.clock = time.perf_counter
        self.decoding: tuple[int, float, float] | None = None
        self.last_decode = 0, 0.0
        self.n_firsts, self._slowest_s = 0, 0.0
        self.max_rows = max_rows
        self.can_rollback = can_rollback
        self.max_rollback = n_ctx if can_rollback else 0
        self._n_states, self._n_new = n_states, 0
        self.needs_copies, self._has_copies = False, has_copies
        self.n_block = n_block
        self.n_copied: list[int] = []
        self.saved: dict[Place, TokenSequence] = {}
        self.facts_key = "fake"
        self.memory = (DeviceMemory("CPU", 4_000, 300, 20),)
        self.info = ModelInfo(
            path="fake", name="Scripted model", architecture="fake", description="fake",
            n_params=0, size_bytes=0, n_ctx=n_ctx, n_ctx_train=n_ctx, n_vocab=N_VOCAB, n_layers=0,
            n_threads=1, n_threads_batch=1, n_gpu_layers=0, can_rollback=can_rollback,
            has_template=True,
        )  # fmt: skip
        self.tokens = TokenSequence()
        self.widths: list[int] = []
        self.closed = False
        self.logits = logits
        self.cancel = cancel or CancelFlag()

    @property
    def n_past(self) -> int:
        """Cells in the context."""
        return len(self.tokens)

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        """Append tokens and compute the last rows; notes the width in `widths`."""
        self._check(len(tokens), n_rows)
        self.widths.append(len(tokens))
        self._n_new = len(tokens)
        self.decoding = len(tokens), time.monotonic(), self._slowest_s
        rows = []
        for i, token in enumerate(tokens):
            self.tokens.append(token)
            if i >= len(tokens) - n_rows:
                rows.append(self.logits(self.tokens))
        self.last_decode = len(tokens), time.monotonic() - self.decoding[1]
        self._slowest_s = max(self._slowest_s, self.last_decode[1] / len(tokens))
        self.decoding = None
        return np.array(rows, np.float32).reshape(n_rows, -1 if rows else self.vocab.n_tokens)

    def decode_gap(self, gap: Gap) -> None:
        """Append a gap."""
        self._check(gap.n_cells, 0)
        self._n_new = gap.n_cells
        self.tokens.add(gap)

    def _check(self, n: int, n_rows: int) -> None:
        if len(self.tokens) + n > self.n_ctx:
            raise ContextFullError("context-full", "The context is full.")
        if not (0 < n <= self.n_batch and n_rows <= self.max_rows):
            raise EngineError("batch-too-large", "The batch is too large.")
        if self.cancel.is_set():
            raise CancelledError

    @property
    def forgets(self) -> bool:
        """It has no windows."""
        return not self.can_rollback

    def rollback(self, n_past: int) -> bool:
        """Shorten the context, as far as the model was made to: see `max_rollback`."""
        n = len(self.tokens) - n_past
        if not self.can_rollback and n > 0:
            if self.needs_copies or n > self.max_rollback or n >= self._n_new:
                return False
            self._n_new = 0
        assert self.tokens.gaps.whole(n_past) == n_past, "no gap is cut in two"
        self.tokens.cut(n_past)
        self.saved = {at: text for at, text in self.saved.items() if len(text) <= n_past}
        return True

    def copy_cells(self, first: int, n: int) -> bytearray | None:
        """Return the tokens as bytes; notes their number in `n_copied`."""
        self.n_copied.append(n)
        return bytearray(np.array(self.tokens[first : first + n], np.int32).tobytes())

    def put_cells(self, n: int, data: bytes | bytearray) -> bool:
        """Append tokens that were copied."""
        tokens = np.frombuffer(bytes(data), np.int32).tolist()
        assert len(tokens) == n
        self.tokens.extend(tokens)
        return True

    def clear(self, *, wipe: bool = False) -> None:
        """Forget everything."""
        del wipe
        self.tokens.clear()
        self.saved.clear()

    def remake(self, n_ctx: int, n_batch: int) -> None:
        """Forget everything and hold `n_ctx` tokens from now on."""
        self.clear()
        self.n_ctx, self.n_batch = n_ctx, n_batch
        if not self.can_rollback:
            self.keep_states(0)

    def keep_states(self, n_most: int) -> None:
        """Take back as many tokens as it was made to, where its memory is a recurrent one."""
        if self.can_rollback:
            return
        self.clear()
        n_states = min(n_most, self._n_states)
        self.needs_copies = self._has_copies and not n_states
        self.max_rollback = self.n_batch if self.needs_copies else n_states

    def give_up_copies(self) -> None:
        """Save nothing from now on."""
        if self.needs_copies:
            self.max_rollback = 0
        self.needs_copies = self._has_copies = False
        self.saved.clear()

    def save(self, place: Place) -> None:
        """Note what it holds."""
        if self._has_copies:
            self.saved[place] = TokenSequence(self.tokens)

    def restore(self, n_past: int) -> int:
        """Restore the state at the last place that is not after `n_past` tokens."""
        texts = [text for text in self.saved.values() if len(text) <= n_past]
        self.tokens = TokenSequence(max(texts, key=len, default=()))
        return len(self.tokens) if texts else -1

    def set_threads(self, n_threads: int, n_threads_batch: int) -> None:
        """Say that it computes with so many threads."""
        self.info = structs.replace(self.info, n_threads=n_threads, n_threads_batch=n_threads_batch)
        self.facts_key = f"fake|t{n_threads}-{n_threads_batch}"

    def kernel_uses(self) -> tuple[KernelUse, ...]:
        """Return none: nothing is computed."""
        return ()

    def close(self) -> None:
        """Forget everything, and note that it was closed."""
        self.clear()
        self.closed = True


class FakeBackend:
    """Hands out models by path: ``{"target.gguf": FakeModel(...)}``."""

    def __init__(self, models: dict[str, FakeModel]) -> None:
        self._models = models
        self.own_kernels = ""

    def choose_kernels(
        self, wish: KernelWish, facts: Facts, cache_dir: str, cancel: CancelFlag
    ) -> tuple[str, ...]:
        """Choose nothing: there are no kernels."""
        del wish, facts, cache_dir, cancel
        return ()

    def connect(self, servers: Sequence[str]) -> None:
        """Connect to nothing."""
        assert not servers

    def describe(self, servers: Sequence[str] = ()) -> EngineDescribed:
        """Return a description with the processor alone."""
        del servers
        cpu = DeviceInfo("CPU", "scripted", "cpu", 0, 0)
        return EngineDescribed("fake", "", devices=(cpu,))

    def reading_rates(self, n_threads: int, cancel: CancelFlag) -> tuple[float, ...]:
        """Return nothing: there is nothing to read."""
        del n_threads, cancel
        return ()

    def load(
        self,
        params: ModelParams,
        *,
        n_rows: int,
        cancel: CancelFlag,
        progress: Progress,
        with_head: bool = False,
    ) -> LanguageModel:
        """Return the model of that path.

        Raises:
            ModelError: There is none.
        """
        del n_rows, with_head
        if cancel.is_set():
            raise CancelledError
        if params.path not in self._models:
            raise ModelError("file-not-found", f"There is no file “{params.path}”.")
        progress(1.0)
        return self._models[params.path]

    def load_head(
        self,
        target: LanguageModel,
        kind: str,
        params: ModelParams,
        *,
        cancel: CancelFlag,
        progress: Progress,
    ) -> None:
        """Find no head."""
        del target, kind, params, cancel, progress

    def load_vocabulary(self, path: str) -> VocabularyFile:
        """Return the byte vocabulary for a path that has a model.

        Raises:
            ModelError: There is none.
        """
        if path not in self._models:
            raise ModelError("file-not-found", f"There is no file “{path}”.")
        return ByteVocabulary()

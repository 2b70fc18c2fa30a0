"""Implements `backend.Grammar` on llama.cpp's grammar sampler (src/llama-grammar.cpp).

Asking costs one native call for all candidates, in one buffer that a grammar shares with its
clones. llama.cpp ends the process when it is given a token that the grammar forbids, an id outside
the vocabulary, or a grammar that it cannot stand; all three are kept from it here.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from time import thread_time
from typing import Any, NamedTuple

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from paceline.engine.llama import gbnf, left_corners
from paceline.engine.llama.library import start
from paceline.engine.threads import on_big_stack
from paceline.errors import EngineError, SamplingError

_INVISIBLE = 1 << 0 | 1 << 3  # enum llama_token_attr: unknown, control
_SLOW_S = 0.25
_SLOW_PER_TOKEN_S = 2e-4
_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class _Sampler(NamedTuple):
    """llama.cpp's functions with plain addresses, which ctypes passes fastest."""

    init: Callable[[int, bytes, bytes], int | None]
    apply: Callable[[int, int], None]
    accept: Callable[[int, int], None]
    clone: Callable[[int], int | None]
    free: Callable[[int], None]


@functools.cache
def _sampler() -> _Sampler:
    lib, address, text = llama_cpp.llama_cpp._lib, ctypes.c_void_p, ctypes.c_char_p

    def declare(name: str, result: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)((f"llama_sampler_{name}", lib))

    return _Sampler(
        declare("init_grammar", address, address, text, text),
        declare("apply", None, address, address),
        declare("accept", None, address, ctypes.c_int32),
        declare("clone", address, address),
        declare("free", None, address),
    )


class Candidates:
    """The buffer through which a vocabulary's grammars ask, and which tokens are text.

    A control token counts as no text: `Vocabulary.piece` shows nothing for it, so a reply that
    took one for its name's sake would not read as the grammar says. Nor do marks of reasoning,
    which are shown: what a grammar describes is the answer.
    """

    def __init__(self, vocab: int, n_tokens: int, eog: frozenset[int]) -> None:
        self.vocab = vocab
        self.n_tokens = n_tokens
        self.eog = eog
        attribute = llama_cpp.llama_vocab_get_attr
        pointer = llama_cpp.llama_cpp.llama_vocab_p_ctypes(vocab)
        self.usable = np.fromiter(
            (t in eog or not attribute(pointer, t) & _INVISIBLE for t in range(n_tokens)),
            np.bool_,
            n_tokens,
        )
        self.array = llama_cpp.llama_token_data_array()
        self.address = ctypes.addressof(self.array)
        self.grow(256)

    def grow(self, n: int) -> None:
        """Make room for `n` candidates."""
        self.room = n
        self._data = np.zeros(n, _CANDIDATE)
        self.ids, self.logits = self._data["id"], self._data["logit"]
        pointer = self._data.ctypes.data_as(llama_cpp.llama_token_data_p)
        self.array.data = pointer
        self.first = pointer[0]


class LlamaGrammar:
    """Implements `backend.Grammar`; valid as long as its model. After an end nothing may follow."""

    def __init__(self, pointer: int, candidates: Candidates, *, ended: bool = False) -> None:
        self._pointer: int | None = pointer
        self._candidates = candidates
        self._ended = ended
        self._sampler = _sampler()

    def allowed(self, tokens: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these ids, int64 [n], may come next, bool [n]; changes nothing.

        An end of generation is allowed where the text is complete. Ids outside the vocabulary and
        control tokens never are.

        Raises:
            EngineError: The grammar was closed, or is too ambiguous to go on with.
        """
        pointer, candidates, n = self._open(), self._candidates, len(tokens)
        if n == 0 or self._ended:
            return np.zeros(n, np.bool_)
        if tokens.view(np.uint64).max() >= candidates.n_tokens:  # a negative id is huge there
            inside = (tokens >= 0) & (tokens < candidates.n_tokens)
            inside[inside] = self.allowed(tokens[inside])
            return inside
        if n > candidates.room:
            candidates.grow(max(n, 2 * candidates.room))
        candidates.ids[:n] = tokens
        logits = candidates.logits[:n]
        logits.fill(0.0)
        candidates.array.size = n
        began = thread_time()
        self._sampler.apply(pointer, candidates.address)
        _refuse_if_slow(began, n)
        allowed: NDArray[np.bool_] = logits == 0.0
        allowed &= candidates.usable[tokens]
        return allowed

    def accept(self, token: int) -> None:
        """Go on by a token.

        Raises:
            EngineError: The token is not allowed here, or the grammar was closed; the state is as
                before. Or the grammar is too ambiguous to go on with.
        """
        pointer, candidates = self._open(), self._candidates
        if not self._allows(pointer, token):
            raise EngineError("grammar-refuses", f"The grammar does not allow token {token} here.")
        began = thread_time()
        self._sampler.accept(pointer, token)
        _refuse_if_slow(began, 1)
        self._ended = token in candidates.eog

    def _allows(self, pointer: int, token: int) -> bool:
        """Answer `allowed` for one token, without arrays."""
        candidates = self._candidates
        if self._ended or not 0 <= token < candidates.n_tokens or not candidates.usable[token]:
            return False
        first = candidates.first
        first.id, first.logit = token, 0.0
        candidates.array.size = 1
        began = thread_time()
        self._sampler.apply(pointer, candidates.address)
        _refuse_if_slow(began, 1)
        return bool(first.logit == 0.0)

    def clone(self) -> LlamaGrammar:
        """Return a copy that goes its own way.

        Raises:
            EngineError: The grammar was closed, or there is no memory.
        """
        copy = self._sampler.clone(self._open())
        if not copy:
            raise EngineError("no-memory", "The grammar cannot be copied.")
        return LlamaGrammar(copy, self._candidates, ended=self._ended)

    def close(self) -> None:
        """Free it; the object is dead afterwards. Closing twice is harmless."""
        if self._pointer is not None:
            self._sampler.free(self._pointer)
            self._pointer = None

    def _open(self) -> int:
        if self._pointer is None:  # llama.cpp would abort
            raise EngineError("grammar-closed", "The grammar was closed.")
        return self._pointer


def _refuse_if_slow(began: float, n: int) -> None:
    """Stop at a grammar that reads one text in many ways.

    llama.cpp follows every way, and their number can multiply with every character, also within
    one token. No call can be interrupted, but the first that takes a quarter of a second of CPU
    time, ten thousand times what is usual, is the last.
    """
    if thread_time() - began > _SLOW_S + n * _SLOW_PER_TOKEN_S:
        raise SamplingError(
            "grammar-too-slow",
            "The grammar reads the same text in too many ways, so checking tokens takes too long.",
            "Rewrite it so that each text can be read in one way only.",
        )


def compile_grammar(text: str, candidates: Candidates) -> LlamaGrammar:
    """Return a grammar at its beginning.

    Raises:
        GrammarError: The text is no GBNF that llama.cpp can follow; says where and why.
    """
    log = start()
    left_corners.check(gbnf.read(text))
    log.lines.clear()
    data = text.encode()
    # llama.cpp reads brackets, and follows rules, by recursion.
    pointer = on_big_stack(lambda: _sampler().init(candidates.vocab, data, b"root"))
    if not pointer:
        raise gbnf.GrammarError(log.why())
    return LlamaGrammar(pointer, candidates)

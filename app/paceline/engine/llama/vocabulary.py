"""A model's vocabulary, with llama.cpp's tokenizer."""

from __future__ import annotations

import ctypes
import functools
import re
from itertools import groupby
from pathlib import Path
from typing import Any

from paceline.engine.llama.grammars.gbnf import GrammarError
from paceline.engine.llama.grammars.grammar import (
    GrammarTokens,
    compile_grammar,
    compile_parts,
    compile_schema,
    load_schemas,
    rules_before,
)
from paceline.engine.llama.library import llama_cpp
from paceline.engine.model.backend import Grammar, InfillMarks, ProjectMarks, Reasoning
from paceline.engine.model.grammar_parts import GrammarPart
from paceline.engine.model.threads import on_big_stack
from paceline.engine.prompt.reasoning_marks import HARMONY, visible_tokens
from paceline.engine.prompt.segments import tokenize_after
from paceline.engine.schema.terms import SchemaError
from paceline.errors import EngineError, ModelError, ValueOutOfRangeError

# If llama.cpp has no splitter of its own for a tokenizer, it uses std::regex, which recurses
# once per character of a run: 20,000 spaces fill 8 MiB of stack, and more end the process.
_LONG_TEXT_CHARS = 2000
_NO_VOCABULARY = 0  # enum llama_vocab_type
_BPE = 2
# llama.cpp turns these control tokens of gpt-oss into ordinary ones, which match in any text.
_ALWAYS_READ = (*HARMONY, "<|constrain|>")
_TYPED = re.compile("<(?=" + "|".join(re.escape(mark[1:]) for mark in _ALWAYS_READ) + ")")
_NO_TEXT = 1 << 0 | 1 << 3  # enum llama_token_attr: unknown, control
_TOKENS_AT_ONCE = 4096  # takes a few milliseconds
_NO = False  # for C functions, which accept no keywords


class LlamaVocabulary:
    """Implements `backend.Vocabulary`; valid as long as its model."""

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer
        self.kind: int = llama_cpp.llama_vocab_type(pointer)
        self.n_tokens: int = llama_cpp.llama_vocab_n_tokens(pointer)
        self.bos: int = llama_cpp.llama_vocab_bos(pointer)
        self.eos: int = llama_cpp.llama_vocab_eos(pointer)
        self.add_bos: bool = llama_cpp.llama_vocab_get_add_bos(pointer)
        self.add_eos: bool = llama_cpp.llama_vocab_get_add_eos(pointer)
        is_eog = llama_cpp.llama_vocab_is_eog
        self.eog = frozenset(t for t in range(self.n_tokens) if is_eog(pointer, t))
        self.infill = _infill_marks(pointer)
        self.project = _project_marks(pointer)
        self._buffer = ctypes.create_string_buffer(256)
        self._grammar_pieces: list[bytes] = []

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return token ids without BOS; with `special`, names of control tokens become them."""
        if len(text) > _LONG_TEXT_CHARS:
            return on_big_stack(lambda: self._tokenize_parts(text, special=special))
        return self._tokenize_parts(text, special=special)

    def _tokenize_parts(self, text: str, *, special: bool) -> list[int]:
        cuts = [] if special else [found.end() for found in _TYPED.finditer(text)]
        if not cuts or not self._reads_harmony:
            return self._tokenize(text, special=special)
        ends = (*cuts, len(text))
        parts = (text[start:end] for start, end in zip((0, *cuts), ends, strict=True))
        return [token for part in parts for token in self._tokenize(part, special=False)]

    def _tokenize(self, text: str, *, special: bool) -> list[int]:
        data = text.encode("utf-8", "replace")
        size = len(data) + 16  # a tokenizer may add a leading space
        for _ in range(2):
            out = (llama_cpp.llama_token * size)()
            n = llama_cpp.llama_tokenize(
                self._pointer,
                data,
                len(data),
                out,
                size,
                _NO,
                special,
            )
            if n >= 0:
                return list(out[:n])
            size = -n
        raise EngineError("tokenize-failed", "The text cannot be tokenized.")

    def piece(self, token: int) -> bytes:
        """Return the token's bytes; empty for control tokens, except marks of reasoning."""
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = self._ask_piece(token)
        return piece

    def _ask_piece(self, token: int) -> bytes:
        n = llama_cpp.llama_token_to_piece(
            self._pointer, token, self._buffer, len(self._buffer), 0, _NO
        )
        if n < 0:
            self._buffer = ctypes.create_string_buffer(-n)
            return self._ask_piece(token)
        return self._buffer.raw[:n]

    def text(self, token: int) -> bytes:
        """Return the token's entry in the vocabulary."""
        return llama_cpp.llama_vocab_get_text(self._pointer, token) or b""

    def grammar(self, gbnf: str, after: Reasoning | None = None) -> Grammar:
        """Return a grammar over these tokens, in its initial state.

        Raises:
            ValueOutOfRangeError: The text is not GBNF, or has no rule ``root``; says where.
        """
        try:
            return compile_grammar(gbnf, self._grammar_tokens, self._before(after))
        except GrammarError as error:
            raise ValueOutOfRangeError(
                "bad-grammar",
                "The grammar cannot be used: {error}.",
                "Correct it; grammars/README.md of llama.cpp describes the notation.",
                error=error,
            ) from None

    def grammar_of_schema(self, schema: str, after: Reasoning | None = None) -> Grammar:
        """Return a grammar for JSON texts that are valid by a JSON schema.

        Raises:
            ValueOutOfRangeError: The text is not a JSON schema, or has a keyword that cannot be
                enforced at its place.
        """
        try:
            return compile_schema(schema, self._grammar_tokens, self._before(after))
        except SchemaError as error:
            raise _bad_schema(error) from None

    def grammar_of_parts(self, part: GrammarPart, after: Reasoning | None = None) -> Grammar:
        """Return a grammar for a text that is composed of parts.

        Raises:
            ValueOutOfRangeError: As for `grammar_of_schema`, for any JSON schema in it.
        """
        try:
            return compile_parts(part, self._grammar_tokens, self._parts, self._before(after))
        except SchemaError as error:
            raise _bad_schema(error) from None

    def prepare_grammars(self) -> bool:
        """Compute a part of what every grammar needs; return False when nothing is left."""
        if "_grammar_tokens" in self.__dict__:
            return False
        if len(self._grammar_pieces) < self.n_tokens:
            self._read_pieces(_TOKENS_AT_ONCE)
        else:
            load_schemas()
            bool(self._grammar_tokens)
        return True

    @functools.cached_property
    def _pieces(self) -> dict[int, bytes]:
        """The bytes of tokens used so far, and of marks of reasoning, even as control tokens."""
        return {token: mark.encode() for token, mark in visible_tokens(self._find)}

    @functools.cached_property
    def _reads_harmony(self) -> bool:
        """Return whether marks of gpt-oss become tokens even where the user typed them."""
        return self.kind == _BPE and any(self._find(mark) is not None for mark in _ALWAYS_READ)

    def _find(self, text: str) -> int | None:
        """Return the token with this text, unless it ends a generation."""
        tokens = self._tokenize(text, special=True)
        is_found = len(tokens) == 1 and self.text(tokens[0]) == text.encode()
        return tokens[0] if is_found and tokens[0] not in self.eog else None

    @functools.cached_property
    def _grammar_tokens(self) -> GrammarTokens:
        self._read_pieces(self.n_tokens)
        pieces, self._grammar_pieces = self._grammar_pieces, []
        return GrammarTokens(pieces, self.eog, self.eos, self._tokenize_within)

    def _read_pieces(self, n: int) -> None:
        """Read the bytes of the next tokens; empty for those that are not text."""
        pieces = self._grammar_pieces
        for token in range(len(pieces), min(len(pieces) + n, self.n_tokens)):
            is_text = token not in self.eog and not self._is_control(token)
            pieces.append(self._ask_piece(token) if is_text else b"")

    def _is_control(self, token: int) -> bool:
        return bool(llama_cpp.llama_vocab_get_attr(self._pointer, token) & _NO_TEXT)

    def _tokenize_within(self, text: str) -> list[int]:
        """Return the tokens of a text within a reply; empty if they would give another text."""
        tokens = tokenize_after(self, text, special=False)
        return tokens if b"".join(map(self.piece, tokens)) == text.encode() else []

    def _before(self, reasoning: Reasoning | None) -> str:
        """Return the rules for a reasoning, whose marks may be control tokens."""
        return rules_before(*map(self._parts, reasoning)) if reasoning else ""

    def _parts(self, mark: str) -> list[str | int]:
        """Return the texts and control tokens of a mark."""
        parts: list[str | int] = []
        tokens = tokenize_after(self, mark, special=True)
        for is_control, found in groupby(tokens, self._is_control):
            if is_control:
                parts += found
            else:
                parts.append(b"".join(map(self.piece, found)).decode("utf-8", "replace"))
        return parts


def _bad_schema(error: SchemaError) -> ValueOutOfRangeError:
    return ValueOutOfRangeError(
        "bad-json-schema",
        "The JSON schema cannot be used: {error}.",
        "Correct or simplify it.",
        error=error,
    )


def _infill_marks(pointer: Any) -> InfillMarks | None:
    marks = InfillMarks(
        llama_cpp.llama_vocab_fim_pre(pointer),
        llama_cpp.llama_vocab_fim_suf(pointer),
        llama_cpp.llama_vocab_fim_mid(pointer),
    )
    return marks if min(marks) >= 0 else None


def _project_marks(pointer: Any) -> ProjectMarks | None:
    marks = ProjectMarks(
        llama_cpp.llama_vocab_fim_rep(pointer), llama_cpp.llama_vocab_fim_sep(pointer)
    )
    return marks if min(marks) >= 0 else None


class LlamaVocabularyFile(LlamaVocabulary):
    """Implements `backend.VocabularyFile`: a vocabulary that owns its model, without weights.

    Attributes:
        is_recurrent: Whether the model has a recurrent state and no cache.
        is_hybrid: Whether it has both.
        is_diffusion: Whether it fills in tokens at all positions instead of from left to right.
        has_encoder: Whether it needs an encoded input before it can write.
        has_decoder: Whether it can write.
    """

    def __init__(self, model: Any, path: Path) -> None:
        self._model: Any = model
        try:
            super().__init__(vocabulary_pointer(model, path))
            self.is_recurrent: bool = llama_cpp.llama_model_is_recurrent(model)
            self.is_hybrid: bool = llama_cpp.llama_model_is_hybrid(model)
            self.is_diffusion: bool = llama_cpp.llama_model_is_diffusion(model)
            self.has_encoder: bool = llama_cpp.llama_model_has_encoder(model)
            self.has_decoder: bool = llama_cpp.llama_model_has_decoder(model)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Free it; no further use is allowed. A second call does nothing."""
        if self._model:
            llama_cpp.llama_model_free(self._model)
            self._model = None


def vocabulary_pointer(model: Any, path: Path) -> Any:
    """Return llama.cpp's pointer to a model's vocabulary.

    Raises:
        ModelError: It has no vocabulary.
    """
    pointer = llama_cpp.llama_model_get_vocab(model)
    is_none = llama_cpp.llama_vocab_type(pointer) == _NO_VOCABULARY
    if is_none or not llama_cpp.llama_vocab_n_tokens(pointer):
        raise ModelError(
            "no-tokenizer",
            "“{name}” holds no tokenizer, so it cannot read text.",
            "Choose a file that was made for chatting.",
            name=path.name,
        )
    return pointer

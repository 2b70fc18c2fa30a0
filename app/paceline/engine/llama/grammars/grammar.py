"""Implements `backend.Grammar` with llguidance, which compiles grammars to token masks.

A JSON schema is lowered to what the library enforces exactly (`engine/schema`), GBNF is translated
to the library's own notation (`gbnf`). If a reply begins with reasoning, its grammar begins after
the mark that ends it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from paceline.engine.llama.grammars.gbnf import GrammarError, read
from paceline.engine.llama.grammars.lexemes import Written, write
from paceline.engine.llama.grammars.part_rules import Codes, PartRules, codes_of, until
from paceline.engine.model.grammar_parts import GrammarPart, JsonText
from paceline.engine.model.threads import on_big_stack
from paceline.engine.model.token_mask import TokenMask
from paceline.engine.schema.terms import SchemaError
from paceline.errors import EngineError, SamplingError
from paceline.sentence import sentence

_OPTIONS = {
    "whitespace_pattern": r"[ \t]{1,2}|\r?\n[ \t]{0,24}",
    # Without escapes such as \u0061 each text has only one notation, so no name can occur twice.
    "json_allowed_escapes": 'nrbtf\\"',
}
_MAX_STATES = 50_000
_MAX_FUEL = 5_000_000
"""Limits of a grammar: some 100 MB, 100 ms to compile."""
_NOTHING = "NoExtensionBias"
"""The library's term for a state in which no token of the vocabulary fits."""
_SPECIAL = b"\xff"
"""Prefix of the text of a token that is not text."""
_NO_TEXT = sentence("no text is allowed by it")
_TOO_COMPLEX = sentence("it is too large or too complex")


class GrammarTokens:
    """A vocabulary for grammars: the bytes of each token.

    Control tokens are not text: a reply with one in place of its name would not match the grammar
    for its readers. Marks of reasoning, which are shown, do not count either: a grammar describes
    the answer. Making this takes about a second for 262,144 tokens.

    Args:
        pieces: Bytes of every token; empty for those that are not text.
        eog: Ids that end a generation.
        eos: Id of the token that usually ends a generation.
        tokenize: Returns the tokens of a text within a reply.

    Attributes:
        bits: Memory in which masks are computed, uint8 [n].
        bits_address: Address of that memory.
    """

    def __init__(
        self,
        pieces: Sequence[bytes],
        eog: frozenset[int],
        eos: int,
        tokenize: Callable[[str], list[int]],
    ) -> None:
        self.n_tokens = len(pieces)
        self.eog = eog
        self.eos = eos if eos in eog or not eog else min(eog)
        self.is_tokenizer_wrapper = True
        self.eos_token_id = self.eos if eog else None
        self.bos_token_id = None
        self.special_token_ids: list[int] = []
        self.tokens = [piece or _SPECIAL + b"%d" % i for i, piece in enumerate(pieces)]
        self._tokenize = tokenize
        # The library takes 40 ms to load, and few replies have a grammar.
        from llguidance import LLTokenizer  # noqa: PLC0415

        self.native: Any = LLTokenizer(
            cast("Any", self),  # has the attributes of its `TokenizerWrapper`
            eos_token=sorted(eog) or None,
            slices=LLTokenizer.json_slices(),
        )
        self.tokens = []  # the library has a copy
        words = np.empty((self.native.vocab_size + 31) // 32, np.uint32)
        self.bits = words.view(np.uint8)
        self.bits_address: int = words.ctypes.data  # reading it takes 30 us after a decode

    def __call__(self, text: str) -> list[int]:
        """Return the tokens of a text; the library calls it for text that must follow.

        Without tokens the library would continue as if the text were already written.
        """
        return self._tokenize(text) or self.native.greedy_tokenize(text)


class LlamaGrammar:
    """Implements `backend.Grammar`; after an end nothing may follow. Not thread-safe."""

    def __init__(self, matcher: Any, tokens: GrammarTokens, *, ended: bool = False) -> None:
        self._matcher = matcher
        self._tokens = tokens
        self._ended = ended
        self._mask: TokenMask | None = None

    def allowed(self) -> TokenMask:
        """Return the tokens that may come next, over the whole vocabulary.

        An end of generation is allowed if the text is complete. Of a text that must follow, only
        the tokenizer's tokens are allowed, although `accept` takes others, too.

        Raises:
            EngineError: The grammar was closed, or is too complex to continue.
        """
        matcher = self._open()
        if self._mask is None:
            bits, address = self._tokens.bits, self._tokens.bits_address
            is_empty = self._ended
            if not is_empty:
                matcher.unsafe_compute_mask_ptr(address, len(bits))
                is_empty = matcher.is_error()
                if is_empty and not matcher.get_error().startswith(_NOTHING):
                    raise _too_complex()
            data = bytes(len(bits)) if is_empty else bits.tobytes()
            self._mask = TokenMask(data, self._tokens.n_tokens)
        return self._mask

    def accept(self, token: int) -> None:
        """Advance by a token.

        Raises:
            EngineError: The grammar was closed, or does not allow the token here (then its state
                stays), or is too complex to continue.
        """
        matcher = self._open()
        if token in self._tokens.eog:
            self._ended = is_allowed = self.allowed().has(token)
        else:
            is_id = 0 <= token < self._tokens.n_tokens
            is_allowed = not self._ended and is_id and matcher.try_consume_tokens([token]) == 1
        if is_allowed or matcher.is_error():
            self._mask = None
        if not is_allowed:
            _refuse_if_lost(matcher)
            raise EngineError("grammar-refuses", "The grammar does not allow this token here.")

    def forced(self) -> list[int]:
        """Return the tokens that must follow, as the tokenizer writes them; the state stays.

        An end is among them if nothing else may follow.
        """
        matcher = self._open()
        if self._ended:
            return []
        if not matcher.is_stopped():
            return list(matcher.compute_ff_tokens())
        has_end = self._tokens.eog and not matcher.is_error()
        return [self._tokens.eos] if has_end else []

    def clone(self) -> LlamaGrammar:
        """Return an independent copy with the same state.

        Raises:
            EngineError: The grammar was closed.
        """
        copy = LlamaGrammar(self._open().deep_copy(), self._tokens, ended=self._ended)
        copy._mask = self._mask
        return copy

    def close(self) -> None:
        """Free its memory; no further use is allowed. A second call does nothing."""
        self._matcher = None

    def _open(self) -> Any:
        if self._matcher is None:
            raise EngineError("grammar-closed", "The grammar was closed.")
        return self._matcher


def _refuse_if_lost(matcher: Any) -> None:
    """Raise if a grammar has exceeded its limits: the following text would be unchecked."""
    if matcher.is_error():
        raise _too_complex()


def _too_complex() -> SamplingError:
    return SamplingError(
        "grammar-too-slow",
        "The grammar is too complex to go on with.",
        "Simplify it: fewer options that begin alike, shorter repetitions.",
    )


def load_schemas() -> Callable[[str], Any]:
    """Return `lowering.lower`, which takes 0.2 s to load; few replies have a schema."""
    from paceline.engine.schema.lowering import lower  # noqa: PLC0415

    return lower


def compile_schema(text: str, tokens: GrammarTokens, after: str = "") -> LlamaGrammar:
    """Return the grammar of a JSON schema, in its initial state.

    Args:
        text: The schema as JSON.
        tokens: The vocabulary.
        after: Rules for the text before it, see `rules_before`.

    Raises:
        SchemaError: The schema cannot be used; names the place, the keyword and the reason.
    """
    lowered = load_schemas()(text)
    form = _json_form(lowered.whole)
    grammar = f"start: before form\nform: %json {form}\n{after}" if after else _only(form)
    matcher = _matcher(grammar, tokens)
    if matcher.is_error():
        reason = _reason(matcher.get_error())
        raise lowered.blame(
            lambda part: _matcher(_only(_json_form(part)), tokens).is_error(), reason
        )
    return _begun(matcher, tokens, SchemaError)


def _begun(matcher: Any, tokens: GrammarTokens, refusal: type[Exception]) -> LlamaGrammar:
    made = LlamaGrammar(matcher, tokens)
    try:
        is_stuck = not made.allowed().flags.any()
    except SamplingError:
        raise refusal(_TOO_COMPLEX) from None
    if is_stuck:
        raise refusal(_NO_TEXT)
    return made


def _json_form(lowered: dict[str, Any]) -> str:
    return json.dumps({**lowered, "x-guidance": _OPTIONS})


def _only(form: str) -> str:
    return f'{{"grammars": [{{"json_schema": {form}}}]}}'


def compile_grammar(text: str, tokens: GrammarTokens, after: str = "") -> LlamaGrammar:
    """Return the grammar of a text in GBNF, in its initial state.

    Raises:
        GrammarError: The text is not GBNF, or has a rule that cannot be enforced; says where.
    """
    written = write(read(text))
    begin = "start: before r0" if after else "start: r0"
    lines = [begin, *written.lines, after]
    matcher = _matcher("\n".join(lines), tokens)
    if matcher.is_error():
        raise GrammarError(_blame(matcher.get_error(), lines, written))
    return _begun(matcher, tokens, GrammarError)


def _blame(error: str, lines: list[str], written: Written) -> str:
    """Return the library's message about a grammar, with the rule that it refers to."""
    found = re.search(r"(\d+)\(\d+\):", error)
    line = lines[int(found[1]) - 1] if found and int(found[1]) <= len(lines) else ""
    owner = written.owners.get(line.partition(":")[0])
    reason = _TOO_COMPLEX if "limit" in error else sentence("it cannot be carried out")
    return sentence("rule “{owner}”: {reason}", owner=owner, reason=reason) if owner else reason


def compile_parts(
    part: GrammarPart,
    tokens: GrammarTokens,
    codes: Callable[[str], Codes],
    after: str = "",
) -> LlamaGrammar:
    """Return the grammar of a part, in its initial state.

    Args:
        part: The part.
        tokens: The vocabulary.
        codes: Splits a text into texts and control tokens.
        after: Rules for the text before it, see `rules_before`.

    Raises:
        SchemaError: A JSON schema in it cannot be used, or the grammar is too complex.
    """
    rules = PartRules(codes, _json_as_dumped)
    name = rules.name(part)
    begin = f"start: before {name}" if after else f"start: {name}"
    matcher = _matcher("\n".join([begin, *rules.lines, after]), tokens)
    if matcher.is_error():
        raise SchemaError(_reason(matcher.get_error()))
    return _begun(matcher, tokens, SchemaError)


@functools.lru_cache(256)
def _json_as_dumped(part: JsonText) -> str:
    """Return the library's form of a schema; the same tools' schemas come with each request."""
    blank = "" if part.is_compact else " "
    options = {
        "whitespace_flexible": False,
        "item_separator": f",{blank}",
        "key_separator": f":{blank}",
        "json_allowed_escapes": _OPTIONS["json_allowed_escapes"],
    }
    return json.dumps({**load_schemas()(part.schema).whole, "x-guidance": options})


def rules_before(opening: Codes, closing: Codes) -> str:
    """Return the rule `before`, for a reasoning and the blanks after it.

    Args:
        opening: Texts and control tokens of the opening mark, if there is one; empty if the
            reasoning has begun.
        closing: Texts and control tokens of the closing mark.
    """
    rule, rest = until(closing, "until")
    reasoning = f"{' '.join(codes_of(opening))} until {rest} BLANKS?"
    before = f"({reasoning})?" if opening else reasoning
    return f"before: {before}\n{rule}\nBLANKS: /[ \\t\\r\\n]{{1,8}}/"


def _matcher(grammar: str, tokens: GrammarTokens) -> Any:
    from llguidance import LLMatcher, LLParserLimits  # noqa: PLC0415  see `GrammarTokens`

    limits = LLParserLimits(max_lexer_states=_MAX_STATES, initial_lexer_fuel=_MAX_FUEL)
    return on_big_stack(  # the library recurses into nested parts
        lambda: LLMatcher(tokens.native, grammar, log_level=0, limits=limits)
    )


_REASONS = (
    ("are not disjoint", sentence("two patterns match the same names")),
    ("can't determine if patternProperty", sentence("two patterns may match the same names")),
    ("circular references", sentence("a “$ref” leads back to itself beside other keywords")),
    ("Unsatisfiable", sentence("no value is allowed")),
    ("min/maxProperties", sentence("numbers of properties cannot be enforced here")),
    ("regex", sentence("a pattern is too complex")),
)


def _reason(error: str) -> str:
    """Return a refusal of the library in a schema's terms."""
    for sign, words in _REASONS:
        if sign in error:
            return words
    return _TOO_COMPLEX

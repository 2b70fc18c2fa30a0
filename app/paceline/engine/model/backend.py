"""Protocols that a library for running models implements: backend, model, vocabulary, grammar.

`engine/llama` implements them with llama.cpp, `tests/fake_model.py` with scripted numbers. Unless
stated otherwise, everything here is called by the engine's thread only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.model.grammar_parts import GrammarPart
from paceline.engine.model.token_mask import TokenMask
from paceline.engine.model.tokens import Gap
from paceline.messages import (
    DeviceMemory,
    EngineDescribed,
    KernelUse,
    KernelWish,
    ModelInfo,
    ModelParams,
)

Row = NDArray[np.float32]
"""Logits of one position, float32 [n_vocab]; a view into native memory."""
Rows = NDArray[np.float32]
"""Logits of several positions, float32 [n_rows, n_vocab]; valid until the next decode."""
Place = Literal["prompt", "draft"]
"""Kind of a place to go back to: within a prompt, or before a draft that may be rejected."""


class Reasoning(NamedTuple):
    """The marks around a reasoning that may precede the text of a grammar.

    Attributes:
        opening: Mark that begins a reasoning; empty if the prompt has already begun it.
        closing: Mark that ends it.
    """

    opening: str
    closing: str


class Grammar(Protocol):
    """A grammar with its state: which tokens may come next."""

    def allowed(self) -> TokenMask | None:
        """Return the tokens that may come next, or None for all.

        An end of generation is allowed where the text is complete.
        """

    def accept(self, token: int) -> None:
        """Advance the state by a token.

        Raises:
            EngineError: The token is not allowed here; the state is as before.
        """

    def forced(self) -> list[int]:
        """Return the tokens that must follow, as the tokenizer writes them; the state stays.

        An end of generation is among them if nothing else may follow.
        """

    def clone(self) -> Grammar:
        """Return an independent copy with the same state."""

    def close(self) -> None:
        """Free its memory; the object must not be used afterwards."""


class InfillMarks(NamedTuple):
    """Ids of the tokens around a text with a missing middle.

    Attributes:
        before: Token before the text that precedes the middle.
        after: Token before the text that follows the middle.
        middle: Last token, after which the model writes the middle.
    """

    before: int
    after: int
    middle: int


class ProjectMarks(NamedTuple):
    """Ids of the tokens before texts of a project.

    Attributes:
        project: Token before the project's name.
        file: Token before the name of each file, and its text.
    """

    project: int
    file: int


class Vocabulary(Protocol):
    """A model's tokens.

    Attributes:
        eog: The ids that end a generation.
        infill: Tokens for a missing middle, or None if the model has none.
        project: Tokens that separate the files of a project, or None if the model has none.
    """

    kind: int
    n_tokens: int
    bos: int
    eos: int
    add_bos: bool
    add_eos: bool
    eog: frozenset[int]
    infill: InfillMarks | None
    project: ProjectMarks | None

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return token ids, without BOS; with `special`, ``<|im_end|>`` becomes one token."""

    def piece(self, token: int) -> bytes:
        """Return the token's bytes as shown in a reply.

        Empty for a control token, unless it marks reasoning (`reasoning_marks`).
        """

    def text(self, token: int) -> bytes:
        """Return the token's entry in the vocabulary, also for control tokens."""

    def grammar(self, gbnf: str, after: Reasoning | None = None) -> Grammar:
        """Return a grammar over these tokens, in its initial state.

        Args:
            gbnf: The grammar in llama.cpp's notation.
            after: Marks of a reasoning that may precede the text, or None.

        Raises:
            ValueOutOfRangeError: The text is not GBNF, or has no rule ``root``; says where.
        """

    def grammar_of_schema(self, schema: str, after: Reasoning | None = None) -> Grammar:
        """Return a grammar for JSON texts that are valid by a JSON schema.

        Args:
            schema: The schema as JSON text.
            after: As for `grammar`.

        Raises:
            ValueOutOfRangeError: The text is not a JSON schema, or has a keyword that cannot be
                enforced at its place.
        """

    def grammar_of_parts(self, part: GrammarPart, after: Reasoning | None = None) -> Grammar:
        """Return a grammar for a text that is composed of parts.

        Args:
            part: The part that describes the whole text.
            after: As for `grammar`.

        Raises:
            ValueOutOfRangeError: As for `grammar_of_schema`, for any JSON schema in it.
        """

    def prepare_grammars(self) -> bool:
        """Compute a part of what every grammar needs; return False when nothing is left.

        The last part takes the longest, up to a second for 262,144 tokens.
        """


class VocabularyFile(Vocabulary, Protocol):
    """A vocabulary that was loaded without its model's weights."""

    def close(self) -> None:
        """Free its memory; neither the object nor its grammars may be used afterwards."""


class LanguageModel(Protocol):
    """A loaded model with one context that holds one sequence.

    Attributes:
        drafter: Id of the drafter that uses it, unless it is the target: "draft", or the kind of a
            head.
        info: Description for users.
        vocab: Its vocabulary.
        template: Jinja source of the chat template; empty if the file has none.
        tool_template: Jinja source of a separate template for chats with tools; empty if there is
            none.
        n_ctx: Size of the context in tokens.
        n_batch: Maximum number of tokens per decode.
        max_rows: Maximum number of rows of logits per decode.
        can_rollback: Whether tokens can be removed at any time, as long as their cells exist.
        max_rollback: Number of tokens that can be removed after a decode: `n_ctx` if
            `can_rollback`; of that decode all but the first, or a few where earlier states are
            kept; all of it where a copy from before it is restored; or 0.
        needs_copies: Whether removing a draft needs a copy of the state from before it.
        computes_here: Whether decodes are computed by the calling thread, alone or with helpers,
            and not by a device.
        native_s: Seconds spent in native calls since the model was loaded.
        clock: Clock for `native_s`; benchmarks replace it by a CPU clock.
        decoding: For the native decode that is running: its tokens, `time.monotonic()` at its
            start, and the maximum seconds per token of earlier decodes (0 if those are no
            evidence); None while none is running. Any thread may read it at any time, since the
            engine's thread replaces the object and never modifies it.
        last_decode: Tokens and seconds of the last finished native decode.
        n_firsts: Number of decodes that were the first ones of their width on a device: they may
            have compiled its programs, which takes up to minutes.
        facts_key: Key of model, build and settings for measured facts.
    """

    drafter: str
    info: ModelInfo
    vocab: Vocabulary
    template: str
    tool_template: str
    n_ctx: int
    n_batch: int
    max_rows: int
    can_rollback: bool
    max_rollback: int
    needs_copies: bool
    computes_here: bool
    native_s: float
    clock: Callable[[], float]
    decoding: tuple[int, float, float] | None
    last_decode: tuple[int, float]
    n_firsts: int
    facts_key: str

    @property
    def memory(self) -> tuple[DeviceMemory, ...]:
        """The memory that it uses on each device, in any order; changes with its context."""

    @property
    def n_past(self) -> int:
        """The number of cells in the context: its tokens, and those of gaps."""

    @property
    def forgets(self) -> bool:
        """Return whether going far back needs a copy.

        That is so with a recurrent memory, and where layers keep only their sliding window.
        """

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        """Append tokens to the context and return the logits of the last `n_rows` of them.

        Takes at most `n_batch` tokens and `max_rows` rows. Can be cancelled while it runs.

        Returns:
            float32 [n_rows, n_vocab], valid until the next decode; may be written to.

        Raises:
            CancelledError: The flag was set; the context holds a part of the tokens.
            ContextFullError: The tokens do not fit; nothing was appended.
            BatchRefusedError: The library rejected the batch as invalid; nothing was appended.
            DecodeMemoryError: Too little memory; the context may hold a part of the tokens.
            ComputeFailedError: Any other failure; neither context nor device can be trusted.
        """

    def decode_gap(self, gap: Gap) -> None:
        """Append a gap of at most `n_batch` cells, in one decode.

        Only for a model with picture input: llama.cpp ends the process with some others.

        Raises the errors of `decode`; if the model can roll back, nothing was appended then.
        """

    def rollback(self, n_past: int) -> bool:
        """Shorten the context to `n_past` cells; return False, without a change, if impossible.

        No gap is cut in two.
        """

    def save(self, place: Place) -> None:
        """Copy what later decodes overwrite, so that `restore` can go back here; one per `place`.

        That is a recurrent state, or the cells of sliding windows. Does nothing if memory is short,
        or if nothing is overwritten.
        """

    def restore(self, n_past: int) -> int:
        """Go back to the last saved place that is not after `n_past` tokens.

        Returns:
            The number of tokens then in the context, or -1 if no place is saved and the context
            must be cleared.
        """

    @property
    def n_block(self) -> int:
        """The maximum number of tokens whose cells can be copied separately.

        With 0 only the whole context can be copied, if anything, and only put into an empty one.
        """

    def copy_cells(self, first: int, n: int) -> bytearray | None:
        """Copy the content of `n` cells from index `first` on; None if the library cannot.

        Both numbers are multiples of `n_block`, or reach to the end of the context.
        """

    def put_cells(self, n: int, data: bytes | bytearray) -> bool:
        """Append `n` cells copied at this place of the same tokens; return False on failure.

        After a failure the context is unchanged, or must be cleared where `n_block` is 0.
        """

    def clear(self, *, wipe: bool = False) -> None:
        """Remove everything; `wipe` also zeroes the memory, where NaN might remain."""

    def remake(self, n_ctx: int, n_batch: int) -> None:
        """Free the context and make an empty one, no larger and without kept states.

        Raises:
            ModelError: There is no room for it; only `close` may be called then.
        """

    def keep_states(self, n_most: int) -> None:
        """Keep earlier states of a recurrent memory: sets `max_rollback` and `needs_copies`.

        The context is empty afterwards. Nothing changes if memory is short.

        Args:
            n_most: Maximum number of earlier states in the context; fewer if they take too much
                memory, none if the library cannot keep them for this kind of model.

        Raises:
            CancelledError: The flag was set.
            EngineError: The library failed; only `close` may be called then.
        """

    def give_up_copies(self) -> None:
        """Save and restore nothing from now on, after a restored state has differed."""

    def set_threads(self, n_threads: int, n_threads_batch: int) -> None:
        """Set the numbers of threads; `info` and `facts_key` are updated.

        Only before a model's first reply, since logits may depend on the numbers.
        """

    def kernel_uses(self) -> tuple[KernelUse, ...]:
        """Return whose kernels have computed since they were chosen, by type of weights.

        For the model loaded first after `Backend.choose_kernels`, after it has decoded batches of
        several widths. Empty if not known, or if the CPU computes nothing.
        """

    def close(self) -> None:
        """Free model and context; no further use is allowed. A second call does nothing."""


@runtime_checkable
class DraftHead(LanguageModel, Protocol):
    """A head that reads each token with the target's hidden state before it; see `mtp_head.py`.

    Attributes:
        origin: Index in the target's text of the first token in its context; 0 after `clear`.
        n_true: Number of tokens that the target has committed; later ones are read with its own
            states. None if all are the target's.
        n_most: Maximum number of tokens that it can draft in a row.
        shares_memory: Whether it reads the target's KV cache, so that reading a text takes no time.
    """

    origin: int
    n_true: int | None
    n_most: int
    shares_memory: bool

    @property
    def first_place(self) -> int:
        """The index of the first token of the text that it can still read."""


Progress = Callable[[float], None]


class Backend(Protocol):
    """Loads models. Any thread may read `own_kernels`."""

    @property
    def own_kernels(self) -> str:
        """The build of Paceline's own kernels that is active in this process; empty if none is."""

    def choose_kernels(
        self, wish: KernelWish, facts: Facts, cache_dir: str, cancel: CancelFlag
    ) -> tuple[str, ...]:
        """Choose whose kernels compute the models loaded from now on, in the whole process.

        Called while nothing is loaded. The first time may take up to 20 s, until the result is
        stored in `facts`. A crash of own kernels leaves a mark in `cache_dir`, unless that is
        empty.

        Returns:
            Sentences for the user, usually none.

        Raises:
            ModelError: Own kernels are required, but cannot be used.
            CancelledError: The flag was set.
        """

    def connect(self, servers: Sequence[str]) -> None:
        """Make the devices of these RPC servers, and of no others, available for models.

        A server that no model uses stays free for other programs.

        Args:
            servers: Addresses as HOST:PORT.

        Raises:
            RpcServerError: One cannot be used.
        """

    def describe(self, servers: Sequence[str] = ()) -> EngineDescribed:
        """Return versions and devices.

        Args:
            servers: RPC servers to ask for their devices, as HOST:PORT.
        """

    def reading_rates(self, n_threads: int, cancel: CancelFlag) -> tuple[float, ...]:
        """Return the bytes of weights that the CPU multiplies per second, once for each try.

        Takes up to half a second; the flag ends it. Empty if it cannot be measured.
        """

    def load(
        self,
        params: ModelParams,
        *,
        n_rows: int,
        cancel: CancelFlag,
        progress: Progress,
        with_head: bool = False,
    ) -> LanguageModel:
        """Load a model whose decodes may output `n_rows` rows; `with_head` loads its heads, too.

        Raises:
            ModelError: The file cannot be used, or does not fit; says why and what to do.
            ValueOutOfRangeError: Model or build do not support a parameter.
            CancelledError: The flag was set.
        """

    def load_head(
        self,
        target: LanguageModel,
        kind: str,
        params: ModelParams,
        *,
        cancel: CancelFlag,
        progress: Progress,
    ) -> DraftHead | None:
        """Load the head of a target that was loaded `with_head`, or the one in a separate file.

        Args:
            target: The target, which keeps its hidden states from now on.
            kind: The head's kind, which becomes its `drafter`.
            params: The target's parameters, with the path of the file that contains the head.
            cancel: Flag that ends the load.
            progress: Called with the loaded share, 0..1.

        Returns:
            The head, or None if the target's file contains none.

        Raises:
            ModelError: The file has no head for this target, or there is no room.
            CancelledError: The flag was set.
        """

    def load_vocabulary(self, path: str) -> VocabularyFile:
        """Load only the tokenizer of a model file; takes well under a second.

        Raises:
            ModelError: The file cannot be used, or has no tokenizer.
        """

"""What the engine needs from a library that runs models, as protocols.

`engine/llama` implements them on llama.cpp, `tests/fake_model.py` with scripted numbers. Everything
here is called by the engine's thread alone.
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
"""Why a context may have to go back to where it is: another prompt, or a draft that is rejected."""


class Reasoning(NamedTuple):
    """The marks of a reasoning that comes before what a grammar describes.

    Attributes:
        opening: What it begins with, if there is one; empty: the prompt has begun it.
        closing: What ends it.
    """

    opening: str
    closing: str


class Grammar(Protocol):
    """A grammar and how far a text has come in it: which tokens may come next."""

    def allowed(self) -> TokenMask | None:
        """Return which tokens may come next; None: any.

        An end of generation is allowed where the text is complete.
        """

    def accept(self, token: int) -> None:
        """Go on by a token.

        Raises:
            EngineError: The token is not allowed here; the state is as before.
        """

    def forced(self) -> list[int]:
        """Return the tokens that must follow, as the tokenizer writes them; changes nothing.

        An end of generation is among them where nothing else may follow.
        """

    def clone(self) -> Grammar:
        """Return a copy that goes its own way."""

    def close(self) -> None:
        """Free it; the object is dead afterwards."""


class InfillMarks(NamedTuple):
    """Ids of the tokens around a text whose middle is missing.

    Attributes:
        before: Comes before the text that precedes the middle.
        after: Comes before the text that follows it.
        middle: Comes last, and asks for the middle.
    """

    before: int
    after: int
    middle: int


class ProjectMarks(NamedTuple):
    """Ids of the tokens before texts of a project.

    Attributes:
        project: Comes before the project's name.
        file: Comes before the name of each file, and its text.
    """

    project: int
    file: int


class Vocabulary(Protocol):
    """A model's tokens.

    Attributes:
        eog: The ids that end a generation.
        infill: The tokens that ask for a missing middle; None: there are none.
        project: The tokens that tell the files of a project apart; None: there are none.
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
        """Return the token's bytes as a reply shows them.

        Nothing for a control token, unless it marks reasoning (`reasoning_marks`).
        """

    def text(self, token: int) -> bytes:
        """Return the token's entry in the vocabulary, control tokens included."""

    def grammar(self, gbnf: str, after: Reasoning | None = None) -> Grammar:
        """Return a grammar over these tokens, at its beginning.

        Args:
            gbnf: llama.cpp's notation.
            after: What may come before; None: nothing.

        Raises:
            ValueOutOfRangeError: The text is no GBNF, or has no rule ``root``; says where.
        """

    def grammar_of_schema(self, schema: str, after: Reasoning | None = None) -> Grammar:
        """Return a grammar for JSON texts that are valid by a JSON schema.

        Args:
            schema: As JSON.
            after: As for `grammar`.

        Raises:
            ValueOutOfRangeError: The text is no JSON schema, or has a keyword that cannot be
                enforced where it stands.
        """

    def grammar_of_parts(self, part: GrammarPart, after: Reasoning | None = None) -> Grammar:
        """Return a grammar for what is made of parts.

        Args:
            part: All that the text is.
            after: As for `grammar`.

        Raises:
            ValueOutOfRangeError: As for `grammar_of_schema`, for any JSON schema in it.
        """

    def prepare_grammars(self) -> bool:
        """Make a part of what every grammar needs; False: all of it is there.

        The last part takes the longest, up to a second for 262,144 tokens.
        """


class VocabularyFile(Vocabulary, Protocol):
    """A vocabulary that was loaded without its model."""

    def close(self) -> None:
        """Free it; the object is dead afterwards, and so are its grammars."""


class LanguageModel(Protocol):
    """A loaded model with one context that holds one sequence.

    Attributes:
        drafter: Id of the drafter that it serves, where it is not the target: "draft", or the
            kind of a head.
        info: Facts for people.
        vocab: Its tokens.
        template: Jinja source of the chat template; empty when the file has none.
        tool_template: That of one beside it for chats with tools; empty: there is none.
        n_ctx: Tokens that fit into the context.
        n_batch: Tokens that one decode may take.
        max_rows: Positions whose logits one decode may output.
        can_rollback: Whether tokens can be taken back at any time, as long as their cells are
            there.
        max_rollback: Tokens that can be taken back after a decode: `n_ctx` where `can_rollback`;
            of its own but the first, a few where earlier states are kept; all of its own where a
            copy from before it is restored; or 0.
        needs_copies: Whether taking a draft back needs a copy of the state from before it.
        computes_here: Whether a decode is computed by the thread that asks for it, alone or with
            helpers, and not by a device.
        native_s: Seconds spent in native calls since the model was loaded.
        clock: What `native_s` is measured with; benchmarks put a CPU clock here.
        decoding: Tokens of the native decode that is running, `time.monotonic()` when it began,
            and the most seconds per token that one took so far, 0 where that tells nothing of this
            one; None while none runs. Any thread may read it at any time: the engine's thread puts
            a new object there and never changes one.
        last_decode: Tokens and seconds of the last native decode that ended.
        n_firsts: Decodes so far that were the first ones of their width where a device computes:
            they may have compiled its programs, which takes up to minutes.
        facts_key: Identifies model, build and settings for measured facts.
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
        """Memory that it has taken of each device, in any order; changes with its context."""

    @property
    def n_past(self) -> int:
        """Cells in the context: its tokens, and those of gaps."""

    @property
    def forgets(self) -> bool:
        """Whether what is far back cannot be gone back to without a copy.

        That is so with a recurrent memory, and where layers keep no more than their sliding window.
        """

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        """Append tokens to the context and return the logits of the last `n_rows` of them.

        At most `n_batch` tokens and `max_rows` rows. Can be cancelled while it runs.

        Returns:
            float32 [n_rows, n_vocab], valid until the next decode; may be written to.

        Raises:
            CancelledError: The flag was set; the context holds a part of the tokens.
            ContextFullError: The tokens do not fit; nothing was appended.
            BatchRefusedError: The library took the batch for wrong; nothing was appended.
            DecodeMemoryError: Too little memory; the context may hold a part of the tokens.
            ComputeFailedError: Anything else; neither context nor device can be trusted.
        """

    def decode_gap(self, gap: Gap) -> None:
        """Append a gap of at most `n_batch` cells, in one decode.

        Only for a model that was made for pictures: llama.cpp ends the process with some others.

        Raises what `decode` does; where the model can roll back, nothing was appended then.
        """

    def rollback(self, n_past: int) -> bool:
        """Shorten the context to `n_past` cells; False when the model cannot, unchanged then.

        No gap is cut in two.
        """

    def save(self, place: Place) -> None:
        """Copy what is overwritten, so that `restore` can go back here; one for each `place`.

        That is a recurrent state, or the cells of sliding windows. Does nothing where memory is
        short, or nothing is overwritten.
        """

    def restore(self, n_past: int) -> int:
        """Go back to the last saved place that is not after `n_past` tokens.

        Returns:
            Tokens that the context holds then; -1: none is saved, and it is to be cleared.
        """

    @property
    def n_block(self) -> int:
        """Tokens whose cells can be copied out alone, at most; 0: all that it holds, or nothing.

        With 0 what was copied can only be put into an empty context.
        """

    def copy_cells(self, first: int, n: int) -> bytearray | None:
        """Copy what `n` cells hold, from the place `first` on; None: the library cannot.

        Both are multiples of `n_block`, or they reach to the end of the context.
        """

    def put_cells(self, n: int, data: bytes | bytearray) -> bool:
        """Append `n` cells that were copied at this place of the same tokens; False: it failed.

        The context holds then what it held before, or is to be cleared where `n_block` is 0.
        """

    def clear(self, *, wipe: bool = False) -> None:
        """Forget everything; `wipe` also zeroes the memory, where NaN might have stayed."""

    def remake(self, n_ctx: int, n_batch: int) -> None:
        """Free the context and make an empty one in its place, no larger and without states.

        Raises:
            ModelError: There is no room for it; the model can do nothing but `close` then.
        """

    def keep_states(self, n_most: int) -> None:
        """Let a recurrent memory go back: set `max_rollback` and `needs_copies`.

        The context is empty afterwards. Nothing changes where memory is short.

        Args:
            n_most: Earlier states that are kept in the context, at most; fewer where they take
                too much, none where the library cannot do it for this kind of model.

        Raises:
            CancelledError: The flag was set.
            EngineError: The library failed; the model can do nothing but `close` then.
        """

    def give_up_copies(self) -> None:
        """Save and restore nothing from now on, since another state came back."""

    def set_threads(self, n_threads: int, n_threads_batch: int) -> None:
        """Compute with so many threads from now on; `info` and `facts_key` say so.

        Only before a model's first reply: the numbers may depend on it.
        """

    def kernel_uses(self) -> tuple[KernelUse, ...]:
        """Return whose kernels have computed since they were chosen, by type of weights.

        For the model that was loaded first after `Backend.choose_kernels`, which must have decoded
        batches of several widths. Empty where it is not known, or nothing for the CPU to compute.
        """

    def close(self) -> None:
        """Free model and context; the object is dead afterwards. A second call does nothing."""


@runtime_checkable
class DraftHead(LanguageModel, Protocol):
    """A head that reads each token with the target's hidden state before it, see `mtp_head.py`.

    Attributes:
        origin: The place in the target's text of its context's first token; 0 after `clear`.
        n_true: Tokens of the text that the target has committed; it reads further ones with states
            of its own. None: all are the target's.
        n_most: Tokens that it can draft in a row.
        shares_memory: Whether it looks into the target's cache, so that reading takes no time.
    """

    origin: int
    n_true: int | None
    n_most: int
    shares_memory: bool

    @property
    def first_place(self) -> int:
        """The first token of the text that it can still be given to read."""


Progress = Callable[[float], None]


class Backend(Protocol):
    """Loads models; any thread may read `own_kernels`."""

    @property
    def own_kernels(self) -> str:
        """The build of Paceline's own kernels that is switched on in this process, empty: none."""

    def choose_kernels(
        self, wish: KernelWish, facts: Facts, cache_dir: str, cancel: CancelFlag
    ) -> tuple[str, ...]:
        """Choose whose kernels compute what is loaded from now on, in the whole process.

        Called while nothing is loaded. The first time may take up to 20 s, until what was found is
        kept in `facts`. A crash of own kernels leaves a mark in `cache_dir`, unless that is empty.

        Returns:
            Sentences for the user, usually none.

        Raises:
            ModelError: Own kernels are insisted on, and cannot be used.
            CancelledError: The flag was set.
        """

    def connect(self, servers: Sequence[str]) -> None:
        """Let models be put on the devices of these RPC servers from now on, and of no others.

        A server that no model is put on stays free for others.

        Args:
            servers: As HOST:PORT.

        Raises:
            RpcServerError: One cannot be used.
        """

    def describe(self, servers: Sequence[str] = ()) -> EngineDescribed:
        """Return versions and devices.

        Args:
            servers: RPC servers that are asked for theirs, as HOST:PORT.
        """

    def reading_rates(self, n_threads: int, cancel: CancelFlag) -> tuple[float, ...]:
        """Return the bytes of weights that the CPU multiplies per second, once for each try.

        Takes up to half a second; the flag ends it. Nothing where it cannot be told.
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
        """Load a model whose decodes may output `n_rows` rows, `with_head` also its heads.

        Raises:
            ModelError: The file cannot be used, or does not fit; says why and what to do.
            ValueOutOfRangeError: A parameter that the model or the build cannot serve.
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
        """Load the head of a target that was loaded `with_head`, or the one in a file of its own.

        Args:
            target: Gives its hidden states from now on.
            kind: Its kind, and so its `drafter`.
            params: How the target was loaded, with the path of the file that holds the head.
            cancel: Ends the load.
            progress: Is told how far it is.

        Returns:
            None where the target's file holds none.

        Raises:
            ModelError: The file has no head for this target, or there is no room.
            CancelledError: The flag was set.
        """

    def load_vocabulary(self, path: str) -> VocabularyFile:
        """Load the tokenizer of a model file and nothing else; takes well under a second.

        Raises:
            ModelError: The file cannot be used, or holds no tokenizer.
        """

"""The engine for scripts: load a pair, bring a drafter, generate a reply step by step.

Everything runs on the caller's thread and nothing is printed. `turn.py` makes a reply; this module
adds what a script should not have to write: a command, a seed, and a name for a drafter that is in
no registry.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self, cast

from paceline.engine.cancel import CancelFlag
from paceline.engine.draft import registry
from paceline.engine.draft.base import Drafter, DrafterInfo, Settings, Workbench
from paceline.engine.draft.strategy import read_strategy, short_text
from paceline.engine.model.backend import Backend, Vocabulary
from paceline.engine.native import llama_backend
from paceline.engine.opening import PairOpening
from paceline.engine.pair import LoadedPair
from paceline.engine.turn import Turn
from paceline.errors import ModelError, UserError
from paceline.messages import (
    Chat,
    ChatMessage,
    Drafting,
    DraftModel,
    EarlierReply,
    Event,
    KernelWish,
    LoadPair,
    ModelInfo,
    ModelParams,
    Prompt,
    SamplingParams,
    StartTurn,
    StepCommitted,
    Strategy,
    Tokens,
    Translating,
    Tune,
    TuneApplied,
    TuneRejected,
    TurnFinished,
    TurnStats,
)
from paceline.params import file_of, read_head

MakeDrafter = Callable[[Workbench, Settings], Drafter]
"""A drafter's class, or any function that makes one."""
StrategyLike = str | MakeDrafter | DrafterInfo
"""A strategy text, or a drafter to be used alone with its default settings."""


class Names:
    """Drafters by name: those of the registry, and a script's own."""

    def __init__(self, own: Mapping[str, MakeDrafter | DrafterInfo]) -> None:
        self._own = {name: registry.describe(name, make) for name, make in own.items()}
        self._single: dict[str, DrafterInfo] = {}

    def read(self, strategy: StrategyLike) -> Strategy:
        """Return the strategy for any value that `generate` accepts.

        Raises:
            ValueOutOfRangeError: There is no such drafter or setting.
        """
        if isinstance(strategy, str):
            if strategy in self._single:  # even if its name looks like that of another one
                return Strategy.of(strategy)
            return read_strategy(strategy, self.find)
        name = strategy.id if isinstance(strategy, DrafterInfo) else _name_of(strategy)
        self._single[name] = registry.describe(name, strategy)
        return Strategy.of(name)

    def find(self, name: str) -> DrafterInfo:
        """Return a drafter by its name; the script's own come first.

        Raises:
            ValueOutOfRangeError: There is no such drafter.
        """
        return self._single.get(name) or self._own.get(name) or registry.find(name)


def _name_of(make: MakeDrafter) -> str:
    name = getattr(make, "name", None) or getattr(make, "__name__", None)
    return name if isinstance(name, str) else type(make).__name__


PromptLike = Prompt | str | Sequence[ChatMessage] | Sequence[int]
"""A prompt, a user's message, a whole conversation, or token ids."""


class _Closing(ABC):
    """An object that is closed at the end of its ``with``."""

    @abstractmethod
    def close(self) -> None:
        """Free everything; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


class Pair(_Closing):
    """A loaded target, perhaps with a draft model. A context manager that frees both at its end.

    It belongs to the thread that loaded it; only `cancel` may be called by any.

    Attributes:
        loaded: The engine's own object: contexts, template, measured facts.
        flag: The flag that `cancel` sets; every reply clears it when it is made.
        reply: The reply that uses the contexts, or used them last.
    """

    def __init__(self, loaded: LoadedPair, cancel: CancelFlag) -> None:
        self.loaded = loaded
        self.flag = cancel
        self.reply: Reply | None = None

    @property
    def target(self) -> ModelInfo:
        """The description of the target."""
        return self.loaded.target.model.info

    @property
    def draft(self) -> ModelInfo | None:
        """The description of the draft model."""
        return self.loaded.draft.model.info if self.loaded.draft else None

    @property
    def vocab(self) -> Vocabulary:
        """The target's vocabulary: `tokenize`, `piece`."""
        return self.loaded.target.model.vocab

    def remember(self, chat: str, texts: Sequence[str]) -> None:
        """Replace the texts of an earlier chat that lookups may use. The pair's own thread.

        Replies with `remember` use them; indexing takes a second per million characters.

        Raises:
            EngineError: A text cannot be tokenized.
        """
        self.loaded.earlier.put(chat, texts)
        while self.loaded.earlier.slice():
            pass

    def cancel(self) -> None:
        """Stop the running reply as soon as possible, even within a decode. Any thread."""
        self.flag.set()

    def stop(self) -> None:
        """Close the running reply, if there is one. The pair's own thread."""
        if self.reply is not None:
            self.reply.close()
            self.reply = None

    def close(self) -> None:
        """Stop the running reply and free both models; no further use is allowed."""
        self.stop()
        self.loaded.close()


class Reply(_Closing, Iterator[StepCommitted]):
    """A reply that grows while it is iterated; made by `generate`.

    Nothing is computed between two steps, so the caller may take any time with a step; that time
    counts as decoding time in the figures, though.

    Attributes:
        result: The last event, with the whole text and all tokens, or None until the reply ended.
        rejections: Drafters that failed, and `tune` calls that were refused; the reply goes on.
    """

    def __init__(
        self,
        pair: Pair,
        command: StartTurn,
        seed: int,
        names: Names,
        on_event: Callable[[Event], None] | None,
    ) -> None:
        self.result: TurnFinished | None = None
        self.rejections: list[TuneRejected] = []
        self._strategy = command.strategy
        self._names = names
        self._on_event = on_event
        self._wish: str | Strategy | None = None
        self._text: list[str] = []
        self._is_closed = False
        pair.stop()  # a context holds one reply at a time
        pair.flag.clear()
        self._turn = Turn(
            pair.loaded,
            command,
            seed,
            self._emit,
            take_tune=self._take_tune,
            cancel=pair.flag,
            find=names.find,
        )
        self._steps = self._turn.run()
        self._has_begun = False
        pair.reply = self

    def __next__(self) -> StepCommitted:
        """Return the next step; the first one includes the prefill.

        Raises:
            StopIteration: The reply ended, see `result`.
            EngineError: The target failed; the committed tokens remain.
        """
        if self._is_closed:
            raise StopIteration
        self._has_begun = True
        return next(self._steps)

    @property
    def text(self) -> str:
        """The reply's text so far."""
        return self.result.text if self.result else "".join(self._text)

    @property
    def stats(self) -> TurnStats:
        """The figures so far; times in seconds, rates from 0 to 1."""
        return self.result.stats if self.result else self._turn.stats

    @property
    def strategy(self) -> str:
        """The present strategy, as `generate` accepts it, without default settings."""
        return short_text(self._strategy, self._names.find)

    def finish(self) -> TurnFinished:
        """Run to the end and return the last event.

        Raises:
            EngineError: The target failed.
            UserError: The reply was closed before it had begun.
        """
        for _ in self:
            pass
        if self.result is None:
            raise UserError(
                "not-running", "This reply was closed before it began.", "Start another one."
            )
        return self.result

    def tune(self, strategy: StrategyLike) -> None:
        """Draft by another strategy from the next step on; see `generate`.

        If it cannot work, `rejections` gets an event, and the reply goes on as before.
        """
        self._wish = strategy if isinstance(strategy, str) else self._names.read(strategy)

    def close(self) -> None:
        """Stop the reply; `result` then has the reason "cancelled". A second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._has_begun:
            self._steps.close()
        else:
            self._turn.close()

    def _emit(self, event: Event) -> None:
        match event:
            case StepCommitted():
                self._text.append(event.text)
            case TuneRejected():
                self.rejections.append(event)
            case TuneApplied():
                self._strategy = event.strategy
            case TurnFinished():
                self.result = event
                self._strategy = event.strategy
        if self._on_event is not None:
            self._on_event(event)

    def _take_tune(self) -> Tune | None:
        wish, self._wish = self._wish, None
        if isinstance(wish, str):
            try:
                return Tune(self._names.read(wish))
            except UserError as error:
                strategy = Strategy.of(wish)  # a text that cannot be parsed
                self._emit(TuneRejected(strategy, error.code, error.message, error.hint))
                return None
        return Tune(wish) if wish is not None else None


def load_pair(
    target: str | Path | ModelParams,
    draft: str | Path | ModelParams | None = None,
    *,
    exact: bool = False,
    kernels: KernelWish = "auto",
    cache_dir: str | Path = "",
    lookup_cache: str | Path = "",
    translating: Translating | None = None,
    mtp: str | Path = "auto",
    servers: Sequence[str] = (),
    backend: Callable[[], Backend] | None = None,
) -> Pair:
    """Load a target and, if one is given, a draft model or a head.

    Args:
        target: A GGUF file, or `ModelParams` with context, threads, devices and so on.
        draft: The same for the draft model, or None.
        exact: Whether to use batch widths with which the text cannot depend on the strategy.
        kernels: Kernels for the CPU: "own" for Paceline's (or the load fails), "stock" for
            llama.cpp's, "auto" for Paceline's as far as they pass their test on this machine, which
            takes some seconds the first time.
        cache_dir: Folder for measured facts; empty to store none.
        lookup_cache: A static lookup-cache file for the drafter ``ngram-cache``; empty for none.
        translating: The way in which a draft model with another vocabulary drafts, or None for the
            tokens that both vocabularies have.
        mtp: The head that drafts: "auto" for the one in the target's file, if it has one and there
            is no draft model; "off" for none; otherwise a file with a head, after ``KIND=`` if it
            is not an MTP head.
        servers: RPC servers whose devices may be used, as HOST:PORT. llama.cpp ends this process if
            one of them is lost later.
        backend: Factory of the library that runs models, or None for llama.cpp.

    Returns:
        The pair, owned by the calling thread. Close it, or use it in a ``with``.

    Raises:
        UserError: A file cannot be used, does not fit into memory, or the two do not fit together;
            `message` says what is wrong and `hint` what to do.
    """
    drafting: Drafting = read_head(str(mtp))
    if draft is not None:
        if file_of(drafting):
            raise ModelError(
                "two-drafters",
                "A draft model and an MTP head are given, and one of them can draft.",
                "Leave one of them out.",
            )
        drafting = DraftModel(_params(draft), translating or Translating())
    cancel = CancelFlag()
    command = LoadPair(
        _params(target),
        drafting,
        cache_dir=str(cache_dir),
        lookup_cache=str(lookup_cache),
        exact=exact,
        kernels=kernels,
        servers=tuple(servers),
    )
    opening = PairOpening(backend or llama_backend, lambda _event: None, cancel)
    return Pair(opening.open(command), cancel)


def _params(model: str | Path | ModelParams) -> ModelParams:
    return model if isinstance(model, ModelParams) else ModelParams(str(model))


def generate(
    pair: Pair,
    prompt: PromptLike,
    *,
    strategy: StrategyLike = "off",
    drafters: Mapping[str, MakeDrafter | DrafterInfo] | None = None,
    sampling: SamplingParams | None = None,
    max_tokens: int = 1024,
    seed: int | None = None,
    stop: Sequence[str] = (),
    ignore_eog: bool = False,
    remember: bool = False,
    earlier: Sequence[EarlierReply] = (),
    on_event: Callable[[Event], None] | None = None,
) -> Reply:
    """Begin a reply; nothing is computed before its first step is requested.

    The token ids depend on prompt, sampling and seed alone, never on the strategy. The first steps
    after a load (one to warm up, four timed ones) are plain, so that there is a plain speed to
    compare with; drafting begins after them. A running reply of the same pair is closed.

    Args:
        pair: Result of `load_pair`, on whose thread this must be called.
        prompt: The user's message, to which the chat template is applied; or a whole conversation;
            or token ids, used unchanged (``pair.vocab.tokenize("…", special=False)``); or another
            kind of prompt, such as ``Infill("The sum of ", " is 4.")``.
        strategy: A text such as ``"draft:n_max=4"`` or ``"prompt-lookup+draft"``; or the class or
            factory of a drafter, which is then used with its default settings.
        drafters: Own drafters by name, for use in strategy texts: ``{"mine": MyDrafter}`` allows
            ``"mine+draft:mine.n_max=4"``.
        sampling: Sampling settings, or None for the defaults of `SamplingParams`.
        max_tokens: Maximum number of tokens to generate, at least 1.
        seed: Key of the noise, 0 to 2^63 - 1, or None for a random one; see ``reply.result.seed``.
        stop: Texts that end the reply, which is cut before the first of them.
        ignore_eog: Never end the generation before `max_tokens`.
        remember: Whether lookups use the texts of `Pair.remember`, and the acceptance of drafts is
            stored in the pair's `cache_dir`.
        earlier: The reply that this one replaces, and other versions of it, to draft from.
        on_event: Called with every event (progress of the prefill, steps, the end).

    Returns:
        An iterator over `StepCommitted`, one per verify decode of the target. Its `close`, or the
        end of a ``with``, stops the reply.

    Raises:
        UserError: An unknown strategy or setting, a prompt that is empty or longer than the
            context, a value out of range, or a strategy that cannot work here. Nothing has run
            then.
        TypeError: A drafter is neither a class nor a function.
    """
    names = Names(drafters or {})
    command = StartTurn(
        _prompt(prompt),
        sampling=sampling or SamplingParams(),
        strategy=names.read(strategy),
        max_tokens=max_tokens,
        seed=seed,
        stop=tuple(stop),
        ignore_eog=ignore_eog,
        remember=remember,
        earlier=tuple(earlier),
    )
    return Reply(pair, command, secrets.randbits(32) if seed is None else seed, names, on_event)


def _prompt(prompt: PromptLike) -> Prompt:
    if isinstance(prompt, Prompt):
        return prompt
    if isinstance(prompt, str):
        return Chat((ChatMessage.of_text("user", prompt),))
    if all(isinstance(item, ChatMessage) for item in prompt):
        return Chat(tuple(cast("Sequence[ChatMessage]", prompt)))
    return Tokens(tuple(int(token) for token in cast("Sequence[int]", prompt)))

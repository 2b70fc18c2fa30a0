"""Every command that the engine takes and every event that it emits.

Commands are imperatives, events are past facts. All are frozen structs of builtins, tuples and
other such values, so that the same engine can run inline, in a thread or in a child process, and
every message can be pickled, logged and replayed; `paceline.codec` converts them to data and back.
There is no logic here.

Terms used everywhere in this program: the *target* model decides the text, a *drafter* proposes
tokens, the target *verifies* them in one decode; drafted tokens that agree with the target's own
samples are *accepted*, the others are *rejected*; the token sampled after the last accepted one is
the *bonus* token. Tokens that a step adds to the reply are *committed*. Drafted tokens after a
committed end of generation or stop are *discarded*: they were never judged. So are those whose
batch could not be decoded.

This file is long, since one page of types that says what the program does is worth more than short
files.
"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from paceline.codec import Checked, Tagged
from paceline.content import Chat as Chat  # noqa: PLC0414  exported here, like the following
from paceline.content import ChatMessage as ChatMessage  # noqa: PLC0414
from paceline.content import Infill as Infill  # noqa: PLC0414
from paceline.content import ProjectFile as ProjectFile  # noqa: PLC0414
from paceline.content import Prompt as Prompt  # noqa: PLC0414
from paceline.content import RawText as RawText  # noqa: PLC0414
from paceline.content import Tokens as Tokens  # noqa: PLC0414
from paceline.figures import ClassRate as ClassRate  # noqa: PLC0414
from paceline.figures import Decision as Decision  # noqa: PLC0414
from paceline.figures import DeviceInfo as DeviceInfo  # noqa: PLC0414
from paceline.figures import DeviceMemory as DeviceMemory  # noqa: PLC0414
from paceline.figures import DraftCount as DraftCount  # noqa: PLC0414
from paceline.figures import DrafterStats as DrafterStats  # noqa: PLC0414
from paceline.figures import Kept as Kept  # noqa: PLC0414
from paceline.figures import KernelUse as KernelUse  # noqa: PLC0414
from paceline.figures import ModelInfo as ModelInfo  # noqa: PLC0414
from paceline.figures import Outlook as Outlook  # noqa: PLC0414
from paceline.figures import Reading as Reading  # noqa: PLC0414
from paceline.figures import Sameness as Sameness  # noqa: PLC0414
from paceline.figures import ServerProblem as ServerProblem  # noqa: PLC0414
from paceline.figures import TokenLikelihood as TokenLikelihood  # noqa: PLC0414
from paceline.figures import TokenTrace as TokenTrace  # noqa: PLC0414
from paceline.figures import TurnStats as TurnStats  # noqa: PLC0414
from paceline.figures import Warmth as Warmth  # noqa: PLC0414
from paceline.figures import WidthCost as WidthCost  # noqa: PLC0414
from paceline.params import DEFAULT_STRATEGY, OWN_HEAD
from paceline.params import Drafting as Drafting  # noqa: PLC0414
from paceline.params import DraftModel as DraftModel  # noqa: PLC0414
from paceline.params import KernelWish as KernelWish  # noqa: PLC0414
from paceline.params import LogitBias as LogitBias  # noqa: PLC0414
from paceline.params import ModelParams as ModelParams  # noqa: PLC0414
from paceline.params import Prompting as Prompting  # noqa: PLC0414
from paceline.params import SamplingParams as SamplingParams  # noqa: PLC0414
from paceline.params import Strategy as Strategy  # noqa: PLC0414
from paceline.params import TargetHead as TargetHead  # noqa: PLC0414
from paceline.params import Translating as Translating  # noqa: PLC0414
from paceline.sentence import UserText

FinishReason = Literal["eog", "length", "stop", "context", "cancelled"]
SOURCE_TARGET = "target"
"""The source of a token that the target sampled itself; every other source is a drafter's id."""


# ------------------------------------------------------------------------------------- values


class EarlierReply(Checked, frozen=True):
    """An earlier reply to the same or nearly the same prompt.

    Attributes:
        tokens: Its tokens; empty if not known.
        text: Its text; if `tokens` do not decode to it, the text is tokenized instead. Empty if
            only the tokens are given.
        repeats: Whether it was drawn with this turn's noise (the same seed, or temperature 0), so
            that most tokens recur where little has changed.
        same_prompt: Whether, as far as is known, this target wrote it as an answer to this prompt;
            otherwise tokens recur hardly more than by chance.
    """

    tokens: tuple[int, ...] = ()
    text: str = ""
    repeats: bool = True
    same_prompt: bool = True


class StateOwner(Checked, frozen=True):
    """The owner of a prompt's text, and thus of its stored states.

    Attributes:
        name: Id of a chat, or a name shared by several askers; not empty.
        private: Whether its states are used only for this owner, and held only in memory.
        asker: The asker, if several share the name: a reason never quotes one asker's text to
            another.
    """

    name: str
    private: bool = False
    asker: str = ""


class StateStorage(Checked, frozen=True):
    """The storage of states of texts that were read, with its limits.

    Attributes:
        memory_bytes: Maximum bytes in memory; -1 for as many as `state_memory` allows.
        folder: Folder of the files; empty to store none.
        disk_bytes: Maximum bytes in files; -1 for 4 GB, but at most a tenth of the free disk space.
    """

    memory_bytes: int = -1
    folder: str = ""
    disk_bytes: int = -1


# ----------------------------------------------------------------------------------- commands


class LoadPair(Tagged, frozen=True):
    """Load a target and what drafts for it; loaded models are freed first.

    Attributes:
        target: The target model.
        drafting: The draft model or head, or None; the head in the target's file may be missing.
        cache_dir: Folder for measured facts about machine and models; empty to store none.
        lookup_cache: A static lookup-cache file for the drafter ``ngram-cache``; empty for none.
        exact: Whether to use batch widths that make a reply the same with any strategy on this
            machine.
        kernels: Kernels for the CPU; from now on for the whole process.
        states: Storage of states of texts, or None to store none.
        servers: RPC servers whose devices may be used, as HOST:PORT; all of them must answer.
    """

    target: ModelParams
    drafting: Drafting = OWN_HEAD
    cache_dir: str = ""
    lookup_cache: str = ""
    exact: bool = False
    kernels: KernelWish = "stock"
    states: StateStorage | None = None
    servers: tuple[str, ...] = ()


class StartTurn(Tagged, frozen=True):
    """Generate one reply.

    Attributes:
        prompt: The prompt.
        sampling: The sampling settings.
        strategy: The drafters and their settings.
        max_tokens: Maximum number of tokens to generate.
        seed: Key of the noise, or None for a random one, which the events report.
        stop: Texts that end the reply, which is cut before the first of them.
        ignore_eog: Never end the generation: all end-of-generation tokens get -inf.
        remember: Whether lookups may use the texts of earlier chats (`Remember`), and acceptance is
            stored in `cache_dir`; False for a private chat.
        expected: An earlier reply with the same prompt, sampling and seed; the turn ends with
            `TextDiverged` at the first different token. Empty for none.
        begun: The reply's first tokens, which it continues at their positions; events report only
            what is new, `TurnFinished` everything. A reply that had ended does not end there again.
        begun_text: Text of `begun`; if the tokens do not decode to it, the text is tokenized
            instead.
        earlier: The reply that this one replaces, then its other versions, which the drafter
            ``earlier`` copies. They never change what is drawn.
        n_likely: Number of most likely tokens to report of each token, with its own likelihood; -1
            reports nothing.
        owner: Owner whose stored states may be used, besides shared ones, and stored; None to store
            none, and reuse only what the contexts hold.
    """

    prompt: Prompt
    sampling: SamplingParams = field(default_factory=SamplingParams)
    strategy: Strategy = DEFAULT_STRATEGY
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    ignore_eog: bool = False
    remember: bool = False
    expected: tuple[int, ...] = ()
    begun: tuple[int, ...] = ()
    begun_text: str = ""
    earlier: tuple[EarlierReply, ...] = ()
    n_likely: int = -1
    owner: StateOwner | None = None


class Tune(Tagged, frozen=True):
    """Change strategy and draft settings of the running turn from its next step on."""

    strategy: Strategy


class Cancel(Tagged, frozen=True):
    """Stop the running command; sent as a flag beside the queue, never after other commands."""


class DescribeEngine(Tagged, frozen=True):
    """Ask for versions and devices; answered by `EngineDescribed`.

    `servers` are RPC servers as HOST:PORT; they are asked for their devices, and nothing more.
    """

    servers: tuple[str, ...] = ()


class CountTokens(Tagged, frozen=True):
    """Ask for the number of tokens of a prompt for the loaded target; answered by `TokensCounted`.

    `max_tokens` is the room to keep free for the reply. If several of these commands wait, only the
    last one is answered.
    """

    prompt: Prompt
    max_tokens: int = 0


class RenderPrompt(Tagged, frozen=True):
    """Ask for the loaded target's prompt for a conversation; answered by `PromptRendered`."""

    chat: Chat


class Encode(Tagged, frozen=True):
    """Ask for the tokens of a prompt for the loaded target; answered by `Encoded`.

    No message of a chat is omitted, whatever `Chat.cuts` says.
    """

    prompt: Prompt


class Remember(Tagged, frozen=True):
    """Set the texts of a chat that lookups may use; answered by `Remembered`.

    Texts are kept by the chat's name until the pair is freed. A text that is no longer among them
    is removed at once, even in the middle of a reply; a new one is indexed in idle time.

    Attributes:
        chat: Name of the chat; never a private one's.
        texts: All of its texts; empty to remove the chat.
        at_once: Whether to index them now, since no idle time comes before the next reply.
        makes_room: Whether the chat is removed to make room for others, and not deleted: drafters
            then keep their indexes of the present chat.
    """

    chat: str
    texts: tuple[str, ...] = ()
    at_once: bool = False
    makes_room: bool = False


class DropStates(Tagged, frozen=True):
    """Delete the stored states that belong to these owners alone; answered by `StatesDropped`.

    They are removed at once from memory and files, even in the middle of another owner's reply.

    Attributes:
        owners: Names of the owners; empty for the states of all.
        folder: See `StateStorage`, for when nothing is loaded; empty for only what is loaded.
    """

    owners: tuple[str, ...] = ()
    folder: str = ""


class Calibrate(Tagged, frozen=True):
    """Measure the cost of steps of each width again; answered by `Calibrated`. Empties contexts."""


class MeasureReading(Tagged, frozen=True):
    """Ask how fast this machine reads weights; answered by `ReadingMeasured`.

    If `cache_dir` (see `LoadPair`) has no result, this measures for half a second, so send it only
    when nothing else is to be done.
    """

    cache_dir: str = ""


class SayAside(Tagged, frozen=True):
    """Ask the model something about the chat in its context; answered by `AsideAnswered`.

    The context is unchanged afterwards, so that the chat's next turn is the same. Any request of
    `Priority.COUNTING` or above stops it.

    Attributes:
        turn: The chat's last reply, as a turn that continues all of it (`StartTurn.begun`).
        question: The question, in one line.
        max_tokens: Maximum number of tokens of the answer; a longer one counts as none.
    """

    turn: StartTurn
    question: str
    max_tokens: int = 16


class ReadAhead(Tagged, frozen=True):
    """Read the certain beginning of a turn's prompt that may come; answered by `ReadAheadEnded`.

    `PrefillProgressed` reports the progress. Nothing is lost: the contexts' content is stored
    before, if `turn.owner` allows it, and otherwise only a continuation of it is read. Any request
    of `Priority.COUNTING` or above stops it.

    Attributes:
        turn: The turn. If its last message is the user's, that is the beginning of a message;
            otherwise a message of the user follows.
    """

    turn: StartTurn


class Reset(Tagged, frozen=True):
    """Forget every text of replies: contexts, indexes, Auto's knowledge; measured costs stay.

    Attributes:
        keeps_rates: Whether the acceptance of drafts stays, too, as between two replies of a user;
            it contains no text.
    """

    keeps_rates: bool = False


class Unload(Tagged, frozen=True):
    """Free both models."""


class Shutdown(Tagged, frozen=True):
    """Free everything and leave the loop; an engine's last command."""


Command = (
    LoadPair
    | StartTurn
    | Tune
    | Cancel
    | DescribeEngine
    | CountTokens
    | RenderPrompt
    | Encode
    | Remember
    | DropStates
    | Calibrate
    | MeasureReading
    | SayAside
    | ReadAhead
    | Reset
    | Unload
    | Shutdown
)


# ------------------------------------------------------------------------------------- events


class EngineDescribed(Tagged, frozen=True):
    """The native library and the devices that it can use.

    Attributes:
        library_version: Version of llama-cpp-python.
        system_info: Build flags as text.
        devices: Devices of this machine and of the requested RPC servers.
        lost: RPC servers that cannot be used, with the reasons.
        cpu_variant: Variant of ggml's code for the CPU, such as "haswell"; empty if the library has
            only one.
    """

    library_version: str
    system_info: str
    devices: tuple[DeviceInfo, ...]
    lost: tuple[ServerProblem, ...] = ()
    cpu_variant: str = ""

    @property
    def supports_gpu(self) -> bool:
        """Return whether a device besides the processor can take layers."""
        return any(device.takes_layers for device in self.devices)


class LoadProgressed(Tagged, frozen=True):
    """Progress of a load; `fraction` is 0..1 of the stage."""

    stage: Literal["target", "draft"]
    fraction: float


class PairLoaded(Tagged, frozen=True):
    """Both models are ready.

    Attributes:
        target: The target.
        draft: The draft model or the head, or None.
        load_s: Seconds of the load.
        notes: Notes for the user, for example why a draft model is not used.
        sameness: What holds about equal texts with any strategy, or None if not reported.
        memory: Memory that both models together use on each device, by name; the CPU comes last.
    """

    target: ModelInfo
    draft: ModelInfo | None
    load_s: float
    notes: tuple[UserText, ...] = ()
    sameness: Sameness | None = None
    memory: tuple[DeviceMemory, ...] = ()


class SamenessChanged(Tagged, frozen=True):
    """Idle-time tests have shown more about the loaded pair; see `PairLoaded.sameness`."""

    sameness: Sameness


class LoadFailed(Tagged, frozen=True):
    """The load failed; nothing is loaded now.

    Attributes:
        code: Code of the error; "cancelled" if the user stopped the load.
        message: The reason, as a sentence.
        hint: What to do about it.
        smaller_ctx: Size of a smaller context in tokens that may fit; 0 if none is known.
        lost: RPC servers of the load that cannot be used; a load without them may work.
    """

    code: str
    message: UserText
    hint: UserText
    smaller_ctx: int = 0
    lost: tuple[ServerProblem, ...] = ()


class Unloaded(Tagged, frozen=True):
    """Both models are freed."""


class TokensCounted(Tagged, frozen=True):
    """The size of a prompt for the loaded target.

    Attributes:
        n_tokens: Number of tokens of the whole prompt; -1 if no model is loaded, or it refuses the
            prompt.
        n_ctx: Size of the context in tokens.
        per_message: Number of tokens that each message of a chat adds, in order, including the
            system prompt.
        n_cut: Number of messages that would be omitted.
    """

    n_tokens: int
    n_ctx: int
    per_message: tuple[int, ...] = ()
    n_cut: int = 0


class PromptRendered(Tagged, frozen=True):
    """The prompt of a conversation for the loaded target.

    Attributes:
        text: The prompt, with control tokens as text; only the end of a long one. Empty if there is
            none, with the reason in `problem`.
        n_chars: Number of characters of the whole prompt.
        problem: The template's problem, or that no model is loaded; empty if there is none.
        hint: What to do about the problem.
        notes: Remarks for the user.
        thinking: Possible values of `Prompting.think` with this template, from the least reasoning
            to the most; empty without a switch.
        stops: Texts that end a reply with this template, besides the model's own tokens.
        own: The template that is used if none is given.
        is_guessed: Whether `own` is a guess, since the file has no working template.
    """

    text: str = ""
    n_chars: int = 0
    problem: UserText = ""
    hint: UserText = ""
    notes: tuple[UserText, ...] = ()
    thinking: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    own: str = ""
    is_guessed: bool = False


class Encoded(Tagged, frozen=True):
    """A prompt as token ids for the loaded target.

    Attributes:
        tokens: Its token ids; empty if there is no such prompt, with the reason in `problem`.
        pieces: Each token's bytes as shown in a reply; for a control token, its name.
        text: The prompt: for a chat the rendered text, otherwise the concatenated pieces.
        n_added: Number of tokens that were added at the beginning of a raw text or a gap: 1 if the
            model needs one, otherwise 0.
        notes: Remarks for the user.
        code: Code of the problem, as in `TurnFailed`; empty if there is none.
        problem: The reason why there are no tokens.
        hint: What to do about it.
    """

    tokens: tuple[int, ...] = ()
    pieces: tuple[bytes, ...] = ()
    text: str = ""
    n_added: int = 0
    notes: tuple[UserText, ...] = ()
    code: str = ""
    problem: UserText = ""
    hint: UserText = ""


class Remembered(Tagged, frozen=True):
    """The loaded pair has a chat's texts, so those of the next chat can be sent."""

    chat: str


class StatesDropped(Tagged, frozen=True):
    """The stored states were deleted from memory and files."""


class Calibrated(Tagged, frozen=True):
    """The costs of decodes of target and draft model, or in `problem` why they are not known."""

    n_threads: int = 0
    costs: tuple[WidthCost, ...] = ()
    draft_costs: tuple[WidthCost, ...] = ()
    problem: UserText = ""


class AsideAnswered(Tagged, frozen=True):
    """The most likely answer, one line; empty if the model could not be asked, or was stopped."""

    text: str = ""


class ReadAheadEnded(Tagged, frozen=True):
    """The end of reading ahead.

    Attributes:
        n_read: Number of certain tokens in the context; fewer than all if the rest is too short for
            a batch of its own that changes no number.
        n_certain: Number of certain tokens; 0 if there are none, or nothing can be read ahead.
        is_over: Whether another request would read no more.
    """

    n_read: int = 0
    n_certain: int = 0
    is_over: bool = True


class ReadingMeasured(Tagged, frozen=True):
    """The speed at which this machine reads weights, or None if not known."""

    reading: Reading | None = None


class TurnStarted(Tagged, frozen=True):
    """The prompt is tokenized; the prefill begins.

    `n_reused` tokens of it need not be read; `warm` says where they were. At the speed of the last
    prompt, reading the others takes `expected_s` seconds, or 0 if not known.

    `n_cut` messages, or files beside a gap, were omitted.

    The reply's text begins with `opening`, a mark of reasoning at the prompt's end that is not part
    of the reply's tokens. `knows_marks` says whether template or vocabulary have marks of
    reasoning. `calls` is the id of the form in which the reply writes calls of tools, or empty if
    it cannot have any.
    """

    n_prompt: int
    n_reused: int
    seed: int
    notes: tuple[UserText, ...] = ()
    n_cut: int = 0
    opening: str = ""
    knows_marks: bool = True
    calls: str = ""
    warm: Warmth = "context"
    expected_s: float = 0.0


class PrefillProgressed(Tagged, frozen=True):
    """The number of prompt tokens in the target's context, and of all prompt tokens."""

    n_done: int
    n_total: int


class StepCommitted(Tagged, frozen=True):
    """One decoding step; a turn's first one commits the token from the prefill's logits.

    Attributes:
        step: Number of the step: 0 for the token from the prefill, then 1, 2, …
        tokens: The committed tokens in order; empty if a failing reply only emits text that was
            held back.
        text: New text of the reply; it may end before the last token while a UTF-8 character is
            incomplete or a stop text may be starting, and catches up in a later step or in
            `TurnFinished`.
        drafted: Counts of each drafter used in this step.
        draft_s: Seconds spent on drafting.
        verify_s: Seconds in the target's decode; 0 for step 0.
        sample_s: Seconds spent on sampling and comparing the target's rows.
        total_s: Seconds from the last step's end to this one's end.
        plain: Whether this was a true plain step: one row, nothing drafted, the graph warm.
        decision: Auto's decision, or None with another strategy.
        likely: Likelihoods of `tokens`, if `StartTurn.n_likely` requests them.
    """

    step: int
    tokens: tuple[TokenTrace, ...]
    text: str
    drafted: tuple[DraftCount, ...]
    draft_s: float
    verify_s: float
    sample_s: float
    total_s: float
    plain: bool = False
    decision: Decision | None = None
    likely: tuple[TokenLikelihood, ...] = ()


class ControlReported(Tagged, frozen=True):
    """Auto's present knowledge; sent a few times per second in its turns, and at their end.

    Attributes:
        step: Number of the last step that it includes.
        plain_s: Present seconds of a plain step's decode.
        pace: Present speed of the machine relative to the measured one; 0.5 is half as fast.
        slack_s: Seconds that drafting may still lose before the reply is later than promised.
        costs: Seconds of a step by width, as far as measured.
        drafters: Estimates for each drafter.
    """

    step: int
    plain_s: float
    pace: float
    slack_s: float
    costs: tuple[WidthCost, ...]
    drafters: tuple[Outlook, ...]


class FiguresReported(Tagged, frozen=True):
    """The figures of the running turn so far; a few times a second."""

    stats: TurnStats


class TuneApplied(Tagged, frozen=True):
    """The running turn uses this strategy, given with all its settings, from now on."""

    strategy: Strategy


class TuneRejected(Tagged, frozen=True):
    """The running turn continues as before, or without a drafter that failed; `message` says why.

    `strategy` is the requested one, or the one that was used until now.
    """

    strategy: Strategy
    code: str
    message: UserText
    hint: UserText


class TextDiverged(Tagged, frozen=True):
    """A token differs from `StartTurn.expected`; `TurnFinished` follows with "cancelled".

    Attributes:
        index: Index of the token in the reply, from 0.
        expected: The expected id; -1 if the earlier reply ended there.
        found: The sampled id; -1 if the reply ends there.
        margin: Smallest change of one logit that draws `expected` instead, or None if there is
            none.
    """

    index: int
    expected: int
    found: int
    margin: float | None = None


class TurnFinished(Tagged, frozen=True):
    """The reply is complete, or was stopped (reason "cancelled").

    `tokens` includes a final end-of-generation id and the tokens that a stop text cut from `text`.
    `strategy` is the one at the end, with all its settings. `stopped_by` is the stop text that
    ended the reply, or empty.
    """

    reason: FinishReason
    text: str
    tokens: tuple[int, ...]
    seed: int
    strategy: Strategy
    stats: TurnStats
    stopped_by: str = ""


class TurnFailed(Tagged, frozen=True):
    """The turn ended in an error; the committed part stays valid."""

    code: str
    message: UserText
    hint: UserText


class EngineDied(Tagged, frozen=True):
    """The engine has ended; its host may start it again.

    Attributes:
        reason: The reason, as a sentence.
        hint: What to do about it.
        lost: RPC servers of the loaded pair that no longer answer; a load without them works.
    """

    reason: UserText
    hint: UserText = ""
    lost: tuple[ServerProblem, ...] = ()


TurnEvent = (
    TurnStarted
    | PrefillProgressed
    | StepCommitted
    | ControlReported
    | FiguresReported
    | TuneApplied
    | TuneRejected
    | TextDiverged
    | TurnFinished
    | TurnFailed
)
"""Events of a turn."""
Event = (
    EngineDescribed
    | LoadProgressed
    | PairLoaded
    | SamenessChanged
    | LoadFailed
    | Unloaded
    | TokensCounted
    | PromptRendered
    | Encoded
    | Remembered
    | StatesDropped
    | Calibrated
    | ReadingMeasured
    | AsideAnswered
    | ReadAheadEnded
    | EngineDied
    | TurnEvent
)

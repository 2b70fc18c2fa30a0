"""Every command that the engine takes and every event that it emits.

Commands are imperatives, events are past facts. All are frozen structs of builtins, tuples and
other such values, so that the same engine can be hosted inline, in a thread or in a child process,
and every message can be pickled, logged and replayed; `paceline.codec` turns them into data and
back. There is no logic here.

Words of the field, used everywhere in this program: the *target* model decides the text, a
*drafter* proposes tokens, the target *verifies* them in one decode; drafted tokens that agree with
what the target samples are *accepted*, the rest is *rejected*; the token sampled after the last
accepted one is the *bonus* token. What a step adds to the reply is *committed*. Drafted tokens
after a committed end of generation or stop are *discarded*: they were never judged. So are those
whose batch could not be decoded.

Long: because one page of types that says what the program does is worth more than short files.
"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from paceline.codec import Checked, Tagged
from paceline.content import Chat as Chat  # noqa: PLC0414  they are found here, too
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
    """A reply that was generated before, in answer to the same or nearly the same.

    Attributes:
        tokens: Its tokens; none: they are not known.
        text: Its text; where `tokens` do not give it, its own tokens take their place. Empty: the
            tokens alone count.
        repeats: Whether it was drawn with this turn's noise (the same seed, or temperature 0), so
            that most tokens come again where little has changed.
        same_prompt: Whether this target wrote it as an answer to this prompt, as far as is known:
            otherwise what comes again is hardly more than by chance.
    """

    tokens: tuple[int, ...] = ()
    text: str = ""
    repeats: bool = True
    same_prompt: bool = True


class StateOwner(Checked, frozen=True):
    """The owner of a prompt's text, and thus of its stored states.

    Attributes:
        name: A chat's id, or a name that several askers share; not empty.
        private: Whether its states serve this owner alone, and are held in memory alone.
        asker: Who asks, where several share the name: a reason quotes no asker's text to another.
    """

    name: str
    private: bool = False
    asker: str = ""


class StateStorage(Checked, frozen=True):
    """The place of states of texts that were read, and how much is kept of them.

    Attributes:
        memory_bytes: In memory at most; -1: as much as `state_memory` allows.
        folder: Folder of the files; empty: there are none.
        disk_bytes: In files at most; -1: 4 GB, and no more than a tenth of what is free there.
    """

    memory_bytes: int = -1
    folder: str = ""
    disk_bytes: int = -1


# ----------------------------------------------------------------------------------- commands


class LoadPair(Tagged, frozen=True):
    """Load a target and what drafts for it; what was loaded before is freed first.

    Attributes:
        target: The target model.
        drafting: What drafts besides lookups; the head in the target's file may be absent.
        cache_dir: Folder for measured facts about machine and models; empty: keep none.
        lookup_cache: A static lookup-cache file for the drafter ``ngram-cache``; empty: none.
        exact: Choose batch widths that make a reply the same with any strategy on this machine.
        kernels: Whose kernels compute on the CPU; holds for the whole process from now on.
        states: Where states of texts are kept; None: nowhere.
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
        prompt: What it is generated from.
        sampling: How tokens are drawn.
        strategy: Which drafters are asked, and with which settings.
        max_tokens: Tokens to generate at most.
        seed: Key of the noise; None draws one, which the events report.
        stop: Texts that end the reply, cut off before the first of them.
        ignore_eog: Never end the generation: all end-of-generation tokens get -inf.
        remember: Whether lookups may use the texts of earlier chats (`Remember`), and how often
            drafts were accepted is kept in `cache_dir` (false: a private chat).
        expected: A reply that was generated before, with the same prompt, sampling and seed; the
            turn ends with `TextDiverged` at the first token that differs. Empty: none are.
        begun: The reply's first tokens, which it goes on after at their positions; events tell only
            what is new, `TurnFinished` all. One that had ended does not end there again.
        begun_text: Their text; where they do not give it, its own tokens take their place.
        earlier: The reply that this one replaces, and then its other versions: what the drafter
            ``earlier`` copies. They never change what is drawn.
        n_likely: Of each token its likelihood is told, with so many of the likeliest tokens; -1:
            it is not.
        owner: Whose states are looked for and kept, besides what all may use; None: none are
            kept, and what contexts hold is all that is reused.
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
    """Stop what is carried out. Carried as a flag beside the queue, never after other commands."""


class DescribeEngine(Tagged, frozen=True):
    """Ask for versions and devices; answered by `EngineDescribed`.

    `servers` are RPC servers as HOST:PORT; they are asked for their devices, and nothing more.
    """

    servers: tuple[str, ...] = ()


class CountTokens(Tagged, frozen=True):
    """Ask how many tokens a prompt has for the loaded target; answered by `TokensCounted`.

    `max_tokens` is what is to be kept free for the reply. Of several that wait only the last one
    is answered.
    """

    prompt: Prompt
    max_tokens: int = 0


class RenderPrompt(Tagged, frozen=True):
    """Ask what the loaded target is given for a conversation; answered by `PromptRendered`."""

    chat: Chat


class Encode(Tagged, frozen=True):
    """Ask for the tokens of a prompt for the loaded target; answered by `Encoded`.

    Of a chat nothing is left out, whatever `Chat.cuts` says.
    """

    prompt: Prompt


class Remember(Tagged, frozen=True):
    """Let lookups know these texts of a chat and no others of it; answered by `Remembered`.

    They are told apart by the chat's name, and known until the pair is freed. What is no longer
    among them is gone at once, also in the middle of a reply; what is new is indexed in idle time.

    Attributes:
        chat: The chat's name; never a private one's.
        texts: All there are; empty: the chat is forgotten.
        at_once: Index them now, where no idle time comes before the next reply.
        makes_room: It is forgotten to make room for others, and not deleted: what drafters keep of
            the present chat between two turns stays.
    """

    chat: str
    texts: tuple[str, ...] = ()
    at_once: bool = False
    makes_room: bool = False


class DropStates(Tagged, frozen=True):
    """Forget the stored states of these owners, and theirs alone; answered by `StatesDropped`.

    It is gone at once from memory and files, also in the middle of another one's reply.

    Attributes:
        owners: Their names; none: the states of all.
        folder: See `StateStorage`; for when nothing is loaded. Empty: only what is loaded counts.
    """

    owners: tuple[str, ...] = ()
    folder: str = ""


class Calibrate(Tagged, frozen=True):
    """Measure again what steps of each width cost; answered by `Calibrated`. Empties contexts."""


class MeasureReading(Tagged, frozen=True):
    """Ask how fast this machine reads weights; answered by `ReadingMeasured`.

    It is measured for half a second where `cache_dir` (see `LoadPair`) does not hold it, so only
    ask when nothing else is to be done.
    """

    cache_dir: str = ""


class SayAside(Tagged, frozen=True):
    """Ask the model something about the chat in its context; answered by `AsideAnswered`.

    The context is afterwards as it was, so that the chat's next turn is what it would have been.
    Any request of `Priority.COUNTING` or above stops it.

    Attributes:
        turn: The chat's last reply, as a turn that goes on after all of it (`StartTurn.begun`).
        question: What is asked after it, in one line.
        max_tokens: Tokens of the answer at most; a longer one is none.
    """

    turn: StartTurn
    question: str
    max_tokens: int = 16


class ReadAhead(Tagged, frozen=True):
    """Read what is certain of the prompt of a turn that may come; answered by `ReadAheadEnded`.

    `PrefillProgressed` tells how far it is. Nothing is lost by it: what the contexts held is kept
    before, where `turn.owner` says that states are kept, and otherwise only what goes on from it is
    read. Any request of `Priority.COUNTING` or above stops it.

    Attributes:
        turn: That turn. Its last message, where it is the user's, is the beginning of one;
            otherwise a message of the user's follows.
    """

    turn: StartTurn


class Reset(Tagged, frozen=True):
    """Forget every text of replies: contexts, indexes, what Auto learned; measured costs stay.

    Attributes:
        keeps_rates: How often drafts were accepted stays, too, as it does from one of a user's
            replies to the next; no text is in that.
    """

    keeps_rates: bool = False


class Unload(Tagged, frozen=True):
    """Free both models."""


class Shutdown(Tagged, frozen=True):
    """Free everything and leave the loop; the last command of an engine's life."""


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
    """The native library and what it can compute on.

    Attributes:
        library_version: Of llama-cpp-python.
        system_info: Build flags in words.
        devices: This machine's and those of the RPC servers that were asked for.
        lost: RPC servers that cannot be used, and why.
        cpu_variant: The variant of ggml's code for the CPU, such as "haswell"; empty where the
            library has only one.
    """

    library_version: str
    system_info: str
    devices: tuple[DeviceInfo, ...]
    lost: tuple[ServerProblem, ...] = ()
    cpu_variant: str = ""

    @property
    def supports_gpu(self) -> bool:
        """True where a device besides the processor can take layers."""
        return any(device.takes_layers for device in self.devices)


class LoadProgressed(Tagged, frozen=True):
    """Loading goes on; fraction 0..1 of the stage."""

    stage: Literal["target", "draft"]
    fraction: float


class PairLoaded(Tagged, frozen=True):
    """Both models are ready.

    Attributes:
        target: The target.
        draft: The draft model or the head; None: there is none.
        load_s: Seconds that the load took.
        notes: Sentences for the user, e.g. why a draft is not used.
        sameness: What holds of the same text with any strategy; None: that was not told.
        memory: What both models together have taken of each device, by name; the CPU is the last.
    """

    target: ModelInfo
    draft: ModelInfo | None
    load_s: float
    notes: tuple[UserText, ...] = ()
    sameness: Sameness | None = None
    memory: tuple[DeviceMemory, ...] = ()


class SamenessChanged(Tagged, frozen=True):
    """Idle time has found out more about the loaded pair; see `PairLoaded.sameness`."""

    sameness: Sameness


class LoadFailed(Tagged, frozen=True):
    """Nothing is loaded now.

    Attributes:
        code: "cancelled" when the user stopped the load.
        message: Why, in words.
        hint: What to do.
        smaller_ctx: A shorter context in tokens that may fit; 0: none is known.
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
        n_tokens: Tokens of the prompt with everything in it; -1: no model is loaded, or it cannot
            take the prompt.
        n_ctx: Tokens that the context holds.
        per_message: Tokens that each message of a chat adds, in their order; of the system prompt,
            too.
        n_cut: How many messages would be left out.
    """

    n_tokens: int
    n_ctx: int
    per_message: tuple[int, ...] = ()
    n_cut: int = 0


class PromptRendered(Tagged, frozen=True):
    """A conversation as the loaded target is given it.

    Attributes:
        text: The prompt, control tokens as their texts; of a long one the end. Empty: there is
            none, and `problem` says why.
        n_chars: Characters of the whole prompt.
        problem: What is wrong with the template, or that no model is loaded; empty: nothing.
        hint: What to do about that.
        notes: Remarks for the user.
        thinking: The words that `Prompting.think` may be with this template, from the least
            reasoning to the most; empty: it has no switch.
        stops: Texts that end a reply with this template, besides the model's own tokens.
        own: The template that is used where none is given.
        is_guessed: Whether `own` is a guess, since the file brings none, or none that works.
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
    """A prompt as the loaded target reads it.

    Attributes:
        tokens: Its token ids; none: there is no such prompt, and `problem` says why.
        pieces: Each token's bytes as a reply shows them; a control token's name.
        text: The prompt; of a chat what its template has made, otherwise the pieces put together.
        n_added: Tokens at the beginning of a raw text or a gap that are none of its own: 1 where
            the model asks for one, otherwise 0.
        notes: Remarks for the user.
        code: Names the problem, as in `TurnFailed`; empty: there is none.
        problem: Why there are no tokens.
        hint: What to do about that.
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
    """The loaded pair has a chat's texts; of the next chat, now is the time."""

    chat: str


class StatesDropped(Tagged, frozen=True):
    """The answer that what was to be forgotten is gone from memory and files."""


class Calibrated(Tagged, frozen=True):
    """What decodes of the target and of the draft model cost; `problem`: why that is not known."""

    n_threads: int = 0
    costs: tuple[WidthCost, ...] = ()
    draft_costs: tuple[WidthCost, ...] = ()
    problem: UserText = ""


class AsideAnswered(Tagged, frozen=True):
    """The likeliest answer, one line; empty: the model could not be asked, or was stopped."""

    text: str = ""


class ReadAheadEnded(Tagged, frozen=True):
    """Reading ahead has come to an end.

    Attributes:
        n_read: Tokens of what is certain that the context holds; fewer than all where rest is too
            short for a batch of its own that changes no number.
        n_certain: Tokens that are certain; 0: none are, or nothing can be read ahead.
        is_over: Whether asking again would read no more.
    """

    n_read: int = 0
    n_certain: int = 0
    is_over: bool = True


class ReadingMeasured(Tagged, frozen=True):
    """The speed at which this machine reads weights; None: it is not known."""

    reading: Reading | None = None


class TurnStarted(Tagged, frozen=True):
    """The prompt is tokenized; the prefill begins.

    `n_reused` tokens of it need not be read, and were `warm` where that says. By the speed at which
    the last prompt was read, the others take `expected_s` seconds; 0: that is not known.

    `n_cut` messages, or files beside a gap, were left out of it.

    The reply's text begins with `opening`, a mark of reasoning that stands at the prompt's end and
    is none of the reply's tokens. `knows_marks`: template or vocabulary know marks of reasoning.
    `calls` names the form in which the reply writes calls of tools; empty: it can hold none.
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
    """Tokens of the prompt that are in the target's context, of all."""

    n_done: int
    n_total: int


class StepCommitted(Tagged, frozen=True):
    """One decoding step. The first one of a turn commits the token from the prefill's logits.

    Attributes:
        step: 0 for the token from the prefill, then 1, 2, …
        tokens: The committed tokens in order; none where a reply that fails only gives out text
            that was held back.
        text: What the reply gained; may lag behind the tokens while a UTF-8 character is open or
            a stop text may be starting, and catches up in a later step or in `TurnFinished`.
        drafted: Per drafter used in this step.
        draft_s: Seconds spent on drafting.
        verify_s: Seconds in the target's decode; 0 for step 0.
        sample_s: Seconds spent on sampling and comparing the target's rows.
        total_s: Seconds from the last step's end to this one's end.
        plain: Whether this was a true plain step: one row, nothing drafted, the graph warm.
        decision: What Auto decided; None where something else is in charge.
        likely: How likely each of `tokens` was, where `StartTurn.n_likely` asks for it.
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
    """What Auto knows by now; a few times a second in its turns, and before they end.

    Attributes:
        step: The last step that it has seen.
        plain_s: Seconds that the decode of a plain step takes at present.
        pace: How fast the machine is at present compared with what was measured; 0.5 is half.
        slack_s: Seconds that drafting may still lose before the reply is later than promised.
        costs: Seconds of a step by width, as far as they were measured.
        drafters: What is thought of each.
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
    """The running turn goes on as before, or without a drafter that failed; `message` says why.

    `strategy` is what was asked for, or what was in force until now.
    """

    strategy: Strategy
    code: str
    message: UserText
    hint: UserText


class TextDiverged(Tagged, frozen=True):
    """A token is not the one that `StartTurn.expected` has; `TurnFinished` follows ("cancelled").

    Attributes:
        index: Place of the token in the reply, from 0.
        expected: The id that was expected; -1: the reply had ended there.
        found: The id that was sampled; -1: the reply goes on no further.
        margin: The smallest change of one logit that draws `expected` instead; None: none does.
    """

    index: int
    expected: int
    found: int
    margin: float | None = None


class TurnFinished(Tagged, frozen=True):
    """The reply is complete, or was stopped (reason "cancelled").

    `tokens` keeps a final end-of-generation id and what a stop text cut from `text`; `strategy` is
    the one in force at the end, with all its settings; `stopped_by` the stop text that ended it,
    empty where none did.
    """

    reason: FinishReason
    text: str
    tokens: tuple[int, ...]
    seed: int
    strategy: Strategy
    stats: TurnStats
    stopped_by: str = ""


class TurnFailed(Tagged, frozen=True):
    """The turn ended in an error; what was committed before it stays valid."""

    code: str
    message: UserText
    hint: UserText


class EngineDied(Tagged, frozen=True):
    """The engine is gone; its host may start it again.

    Attributes:
        reason: Why, in words.
        hint: What to do.
        lost: RPC servers of the loaded pair that do not answer any more; a load without them works.
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

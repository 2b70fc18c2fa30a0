"""What is measured about tokens, steps, replies, models and devices, as frozen values of builtins.

`messages` carries these and defines the words; nothing else belongs here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from paceline.codec import Checked
from paceline.sentence import UserText

Reason = Literal[
    "pays", "nothing", "expensive", "shut", "trial", "ledger", "plain", "first", "forced"
]
"""Why Auto did what it did in a step; see `Decision`."""


class TokenTrace(Checked, frozen=True):
    """Where one committed token came from.

    Attributes:
        token: The token's id.
        source: "target", or the id of the drafter whose proposal was accepted.
        position: Place in the draft, 0 for the first drafted token; -1 for the target's own.
        confidence: What the drafter gave for the token, 0..1; None where it gives none.
        text_end: Characters of the reply up to and with this token. A token that ends within a
            UTF-8 character, or that is a control token, ends where the one before it ended.
    """

    token: int
    source: str
    position: int
    confidence: float | None
    text_end: int


class LikelyToken(Checked, frozen=True):
    """A token that might have been drawn.

    Attributes:
        token: The token's id.
        piece: Its bytes as a reply shows them; a control token's name.
        logprob: Natural logarithm of its probability, of all tokens, at temperature 1, before
            biases, penalties and grammar.
    """

    token: int
    piece: bytes
    logprob: float


class TokenLikelihood(Checked, frozen=True):
    """The likelihood of a committed token by the model, and the likeliest others.

    Attributes:
        drawn: The committed token.
        best: The likeliest tokens, the likeliest first; as many as were asked for, of those that
            are possible at all.
    """

    drawn: LikelyToken
    best: tuple[LikelyToken, ...]


class DraftCount(Checked, frozen=True):
    """What one drafter did in one step; drafted = accepted + rejected + discarded."""

    drafter: str
    n_drafted: int
    n_accepted: int
    n_discarded: int = 0


class Decision(Checked, frozen=True):
    """Auto's choice for one step, and its expectation of it.

    Attributes:
        drafter: Whose draft was verified first; empty: the step was a plain one.
        n_drafted: Tokens that were verified.
        reason: "pays": the draft was worth its time. "nothing": no drafter had a proposal.
            "expensive": there were proposals, but verifying them would have cost more than they
            gain. "shut": drafting did not pay recently and pauses. "trial": drafting is tried
            again. "ledger": a loss could not be covered by what was saved. "plain": a plain step to
            see how fast plain decoding is. "first": one of a load's first steps. "forced": the
            grammar allows no other token.
        expected: Tokens that the step was expected to commit.
        gain: Tokens per second that were expected, over plain decoding's; 1 is plain.
    """

    drafter: str
    n_drafted: int
    reason: Reason
    expected: float = 1.0
    gain: float = 1.0


DeviceKind = Literal["cpu", "gpu", "igpu", "accel", "rpc"]
"""The kind of a device: "igpu" is a GPU in the processor, "accel" helps the processor, "rpc" is a
device of an RPC server."""


class DeviceInfo(Checked, frozen=True):
    """A device that the native library can compute on; memory in bytes.

    Attributes:
        name: Such as "CUDA0"; `ModelParams.device` names it so.
        description: In words; of an RPC server's device its HOST:PORT.
        kind: See `DeviceKind`.
        total_bytes: All of its memory.
        free_bytes: What can be had of it now.
        shares: Name of the device whose memory it has, too, so that it is counted once; empty: the
            memory is its own.
        server: HOST:PORT of the RPC server whose device it is; empty: it is this machine's.
        splits_rows: Whether rows of one weight can be shared between several of its kind.
    """

    name: str
    description: str
    kind: DeviceKind
    total_bytes: int
    free_bytes: int
    shares: str = ""
    server: str = ""
    splits_rows: bool = False

    @property
    def takes_layers(self) -> bool:
        """True where layers can be put on it, away from the processor."""
        return self.kind in ("gpu", "igpu", "rpc")


class DeviceMemory(Checked, frozen=True):
    """The memory that loaded models have taken of one device, in bytes, as llama.cpp says it.

    Attributes:
        device: Its name, as `DeviceInfo` has it.
        weights: Of the CPU the parts of the files that are mapped, and copies of weights.
        kv: Caches of keys and values, and recurrent states with the earlier ones that are kept.
        compute: Buffers for computing, and for the rows that a decode gives.
    """

    device: str
    weights: int
    kv: int
    compute: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.kv + self.compute


class ServerProblem(Checked, frozen=True):
    """The reason why an RPC server, given by its HOST:PORT, cannot be used, and what to do."""

    server: str
    message: UserText
    hint: UserText


class Reading(Checked, frozen=True):
    """The rate at which this machine reads weights while it decodes, in bytes per second.

    Attributes:
        n_threads: The threads that it was measured with, those that a model gets by default.
        low: The slower tries.
        typical: Their median.
        high: The fastest one.
    """

    n_threads: int
    low: float
    typical: float
    high: float


class KernelUse(Checked, frozen=True):
    """Whose kernels compute with one kind of numbers on the CPU.

    Attributes:
        kind: ggml's name of a type of weights, e.g. "q4_K", or "attention".
        by: "own": Paceline's, which compute each row as if it were alone; "stock": llama.cpp's.
    """

    kind: str
    by: Literal["own", "stock"]


def by_kind(uses: tuple[KernelUse, ...]) -> dict[str, str]:
    """Return the field ``kernels`` of reports: "own" or "stock" by ggml's name of the type."""
    return {use.kind: use.by for use in uses}


class ModelInfo(Checked, frozen=True):
    """What a loaded model is, for people and for run records; no `kernels`: that is not known.

    `file_id` identifies the file wherever it lies; empty in records from before there was one.
    """

    path: str
    name: str
    architecture: str
    description: str
    n_params: int
    size_bytes: int
    n_ctx: int
    n_ctx_train: int
    n_vocab: int
    n_layers: int
    n_threads: int
    n_threads_batch: int
    n_gpu_layers: int
    can_rollback: bool
    has_template: bool
    kernels: tuple[KernelUse, ...] = ()
    file_id: str = ""


class Sameness(Checked, frozen=True):
    """Whether a turn's text can depend on how many tokens were drafted, with this file here.

    Attributes:
        holds: True: the same turn gives the same text with any strategy; False: rows of logits
            were seen to depend on the width of the batch; None: not known yet.
        n_rows: Rows that were compared at the widths in use.
        difference: The largest difference of one logit between any two widths; None: nothing was
            compared.
        is_exact: Whether the pair was loaded in exact mode.
        any_context: Whether the text depends neither on what the context held before nor on where
            a prompt was cut: in exact mode, and where own kernels compute every row alone.
        words: All that in sentences.
        basis: Identifies what the numbers depend on: model, settings, build, processor, widths.
            Only where it is the same can equality be expected at all.
    """

    holds: bool | None
    n_rows: int
    difference: float | None
    is_exact: bool
    words: UserText
    basis: str = ""
    any_context: bool = False


class WidthCost(Checked, frozen=True):
    """What a step costs whose batch has `width` tokens, by `n_samples` timed ones."""

    width: int
    seconds: float
    n_samples: int


class ClassRate(Checked, frozen=True):
    """How often drafted tokens of one class of confidence are accepted.

    Attributes:
        upper: Upper end of the class, 0..1.
        share: Accepted of those judged, 0..1, as believed at present.
        weight: Tokens of this class that the belief rests on.
    """

    upper: float
    share: float
    weight: float


PLACE_OF = (0, 1, 2, 3, 3, 4, 4, 4, 4) + (5,) * 56
"""The group that a place in the draft belongs to; acceptance is told by it."""


class Outlook(Checked, frozen=True):
    """What Auto thinks of one drafter.

    Attributes:
        drafter: Its id.
        is_open: Whether it is asked; False while it pauses because it did not pay.
        seconds_per_token: What drafting one token costs.
        acceptance: Share of its tokens that were accepted recently, given that all before them
            were, by groups of places in the draft: the 1st, 2nd, 3rd, 4th and 5th, 6th to 9th, and
            all from the 10th on (`PLACE_OF`). It ends before the first
            group that was never reached.
        by_confidence: The same by confidence.
        gain: Tokens per second of the steps that it drafted, over plain decoding's; None: too few.
        n_judged: Tokens of its own that were judged so far, in any reply with this pair.
        n_accepted: How many of them were accepted.
        saved_s: Seconds that it saved so far over plain decoding, negative: lost.
    """

    drafter: str
    is_open: bool
    seconds_per_token: float
    acceptance: tuple[float, ...]
    by_confidence: tuple[ClassRate, ...]
    gain: float | None
    n_judged: int
    n_accepted: int
    saved_s: float


class DrafterStats(Checked, frozen=True):
    """A drafter's totals over one reply, as llama.cpp counts them (`common/speculative.cpp`).

    Attributes:
        drafter: The drafter's id.
        n_begin: Calls at the end of a prefill.
        n_draft: Calls for a proposal.
        n_accept: Calls after a step that verified a proposal of this drafter.
        begin_s: Seconds in the calls of `n_begin`; likewise `draft_s` and `accept_s`.
        draft_s: See `begin_s`.
        accept_s: See `begin_s`.
        drafts: Proposals with at least one token.
        drafts_accepted: Proposals of which at least one token was accepted.
        tokens: Tokens drafted.
        tokens_accepted: Tokens accepted.
        accepted_per_position: Accepted tokens by their place in the draft.
    """

    drafter: str
    n_begin: int
    n_draft: int
    n_accept: int
    begin_s: float
    draft_s: float
    accept_s: float
    drafts: int
    drafts_accepted: int
    tokens: int
    tokens_accepted: int
    accepted_per_position: tuple[int, ...]


class Kept(Checked, frozen=True):
    """How much of an earlier reply a new one has, in tokens; see `engine.decode.kept`.

    From the first insertion or omission on, tokens stand at other places and get other noise, so
    that above temperature 0 they come again by their probabilities alone.

    Attributes:
        n_earlier: Tokens of the earlier reply.
        n_kept: How many of them the new one has.
        n_before: Tokens of the earlier reply before the first insertion or omission; all, where
            there is none.
        n_kept_before: How many of these the new one has.
    """

    n_earlier: int
    n_kept: int
    n_before: int
    n_kept_before: int

    @property
    def share(self) -> float:
        """Kept tokens of all, 0..1."""
        return self.n_kept / self.n_earlier if self.n_earlier else 0.0


SpeedupVerdict = Literal["gain", "even", "loss"]
GAIN_FROM, LOSS_TO = 1.05, 0.95
"""Ratios between these are even: with one decimal they read 1.0, and the difference is not felt."""
FEWEST_STEPS, FEWEST_TOKENS = 40, 60
"""Steps or tokens of a reply before which nothing is said of its gain: its first drafts are trials,
but a reply that is copied takes few steps."""
_NOTICED_S = 0.1
"""Seconds from which on a loss is noticed."""


class Speedup(NamedTuple):
    """A speed over plain decoding's, and between what it scatters.

    Of a reply that is the estimate with its 95 % interval, of a benchmark the median of the
    repeats with their quartiles.
    """

    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> SpeedupVerdict:
        """All that may be said of it; wherever a ratio is shown, this decides words and colour."""
        if self.low > 1.0 and self.ratio >= GAIN_FROM:
            return "gain"
        return "loss" if self.high < 1.0 and self.ratio <= LOSS_TO else "even"


Warmth = Literal["context", "memory", "disk"]
"""The place of the tokens that need no reading: the target's context, or stored states that were in
memory, or at least one of them in its file alone."""


RereadCode = Literal[
    "line", "message", "left", "tools", "template", "text", "used", "loaded", "whole", "piece"
]
"""The reason for reading tokens again; see `Reread`."""


class Reread(Checked, frozen=True):
    """Tokens of a prompt that were read again, and why.

    Attributes:
        code: "line": a line of the system prompt changed. "message": an earlier message did, or an
            earlier reply. "left": earlier messages were left out. "tools": the tools changed.
            "template": the chat template writes something in another way. "text": a text that is
            no conversation changed. "used": the model read something else meanwhile. "loaded": the
            models were loaded anew. "whole": the model's memory cannot be cut. "piece": exact mode
            goes on from whole pieces alone.
        n_tokens: Tokens that were read again, of those that are no longer in the context.
        words: All that in a sentence.
        pattern: An expression that finds the line as it was and as it is; empty: there is none.
    """

    code: RereadCode
    n_tokens: int
    words: UserText
    pattern: str = ""


class TurnStats(Checked, frozen=True):
    """The figures of one reply; times in seconds, rates in 0..1.

    Attributes:
        batch_invariant: Whether a token's logits are the same at every batch width in use; None:
            not known yet. See `Sameness.holds`.
        n_prompt: Tokens of the prompt, reused ones included.
        n_reused: Tokens of the prompt that needed no reading.
        n_generated: Committed tokens, with the one from the prefill's logits.
        prefill_s: The target's prefill only.
        decode_s: From the prefill's end to the last commit; draft prefill and catch-up
            included.
        total_s: prefill_s + decode_s.
        tokens_per_s: n_generated / decode_s.
        plain_tokens_per_s: What plain decoding would have given: n_generated over the `decode_s`
            that it would have taken, see `engine.plain_time`; None: nothing is known of it.
        plain_low: Lower end of its 95 % interval; None: it was not told.
        plain_high: The upper end.
        machine_busy: Whether others used the machine so much that speeds say little: they had the
            engine's processor for a tenth of `decode_s`, or step times vary by a quarter.
        n_steps: Verify decodes of the target.
        n_drafted: Tokens drafted.
        n_accepted: Drafted tokens that were committed.
        n_discarded: Drafted tokens after a committed end or stop.
        acceptance_rate: n_accepted / (n_drafted - n_discarded); None when nothing was drafted.
        mean_committed_per_step: Committed tokens per verify decode; None without a step.
        overhead_s: decode_s minus the time within native calls.
        by_drafter: One entry per drafter that was used.
        kernels: Whose kernels the target was computed with; see `ModelInfo`.
        n_rows_compared: See `Sameness.n_rows`.
        logit_difference: See `Sameness.difference`.
        basis: See `Sameness.basis`; empty: it was not kept.
        any_context: See `Sameness.any_context`.
        kept: What it has of the reply that it replaces; None: it replaces none, or goes on after a
            beginning.
        warm: Where those of `n_reused` were.
        reread: Why tokens were read that had been read before; None: hardly any were, or it is not
            known.
    """

    batch_invariant: bool | None
    n_prompt: int
    n_reused: int
    n_generated: int
    prefill_s: float
    decode_s: float
    total_s: float
    tokens_per_s: float
    plain_tokens_per_s: float | None
    n_steps: int
    n_drafted: int
    n_accepted: int
    n_discarded: int
    acceptance_rate: float | None
    mean_committed_per_step: float | None
    overhead_s: float
    by_drafter: tuple[DrafterStats, ...] = ()
    kernels: tuple[KernelUse, ...] = ()
    n_rows_compared: int = 0
    logit_difference: float | None = None
    basis: str = ""
    plain_low: float | None = None
    plain_high: float | None = None
    machine_busy: bool = False
    kept: Kept | None = None
    warm: Warmth = "context"
    any_context: bool = False
    reread: Reread | None = None

    @property
    def speedup(self) -> Speedup | None:
        """How much faster than plain decoding it was; None: nothing was drafted, or not known."""
        plain, low, high = self.plain_tokens_per_s, self.plain_low, self.plain_high
        if not (self.n_drafted and self.tokens_per_s and plain and low and high):
            return None
        speed = self.tokens_per_s
        return Speedup(speed / plain, speed / high, speed / low)

    @property
    def verdict(self) -> SpeedupVerdict | None:
        """All that may be said of its gain; None: nothing, or nothing yet."""
        speedup, plain = self.speedup, self.plain_tokens_per_s
        is_short = self.n_steps < FEWEST_STEPS and self.n_generated < FEWEST_TOKENS
        if speedup is None or not plain or is_short:
            return None
        lost_s = self.decode_s - self.n_generated / plain
        return "even" if 0 < lost_s < _NOTICED_S else speedup.verdict

"""Measurements of tokens, steps, replies, models and devices, as frozen values.

Events of `messages` carry them, and `messages` defines the terms; nothing else belongs here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from paceline.codec import Checked
from paceline.sentence import UserText

Reason = Literal[
    "pays", "nothing", "expensive", "shut", "trial", "ledger", "plain", "first", "forced"
]
"""Reason of Auto's choice in a step; see `Decision`."""


class TokenTrace(Checked, frozen=True):
    """The origin of one committed token.

    Attributes:
        token: The token's id.
        source: "target", or the id of the drafter whose proposal was accepted.
        position: Index in the draft, 0 for the first drafted token; -1 for the target's own.
        confidence: The drafter's confidence in the token, 0..1, or None if it gives none.
        text_end: Length of the reply's text up to and with this token, in characters. A token that
            ends within a UTF-8 character, or that is a control token, ends where the one before it
            ended.
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
        piece: Its bytes as shown in a reply; for a control token, its name.
        logprob: Natural logarithm of its probability over all tokens, at temperature 1, before
            biases, penalties and grammar.
    """

    token: int
    piece: bytes
    logprob: float


class TokenLikelihood(Checked, frozen=True):
    """The likelihood of a committed token by the model, with the most likely alternatives.

    Attributes:
        drawn: The committed token.
        best: The most likely tokens, the most likely first; as many as requested, without
            impossible ones.
    """

    drawn: LikelyToken
    best: tuple[LikelyToken, ...]


class DraftCount(Checked, frozen=True):
    """The tokens of one drafter in one step; drafted = accepted + rejected + discarded."""

    drafter: str
    n_drafted: int
    n_accepted: int
    n_discarded: int = 0


class Decision(Checked, frozen=True):
    """Auto's choice for one step, and its expectation of it.

    Attributes:
        drafter: Id of the drafter whose draft was verified first; empty for a plain step.
        n_drafted: Number of verified tokens.
        reason: "pays": the draft was worth its time. "nothing": no drafter had a proposal.
            "expensive": there were proposals, but verifying them would have cost more than they
            gain. "shut": drafting did not pay recently and pauses. "trial": drafting is tried
            again. "ledger": a loss could not be covered by what was saved. "plain": a plain step
            that measures how fast plain decoding is. "first": one of the first steps after a load.
            "forced": the grammar allows no other token.
        expected: Number of tokens that the step was expected to commit.
        gain: Expected tokens per second relative to plain decoding's, which is 1.
    """

    drafter: str
    n_drafted: int
    reason: Reason
    expected: float = 1.0
    gain: float = 1.0


DeviceKind = Literal["cpu", "gpu", "igpu", "accel", "rpc"]
"""Kind of a device: "igpu" is a GPU in the processor, "accel" supports the processor, "rpc" is a
device of an RPC server."""


class DeviceInfo(Checked, frozen=True):
    """A device that the native library can compute on; memory in bytes.

    Attributes:
        name: Name, such as "CUDA0", also used in `ModelParams.device`.
        description: Description; for an RPC server's device, its HOST:PORT.
        kind: See `DeviceKind`.
        total_bytes: Size of its memory.
        free_bytes: Size of its free memory now.
        shares: Name of the device whose memory it shares, so that it is counted once; empty if the
            memory is its own.
        server: HOST:PORT of the device's RPC server; empty for this machine's devices.
        splits_rows: Whether several devices of its kind can share the rows of one weight.
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
        """Return whether layers can be placed on it, away from the processor."""
        return self.kind in ("gpu", "igpu", "rpc")


class DeviceMemory(Checked, frozen=True):
    """The memory that loaded models use on one device, in bytes, as llama.cpp reports it.

    Attributes:
        device: Name of the device, as in `DeviceInfo`.
        weights: For the CPU, the mapped parts of files, and copies of weights.
        kv: Caches of keys and values, and recurrent states including kept earlier ones.
        compute: Buffers for computing, and for the rows that a decode outputs.
    """

    device: str
    weights: int
    kv: int
    compute: int

    @property
    def total(self) -> int:
        """The sum of all memory."""
        return self.weights + self.kv + self.compute


class ServerProblem(Checked, frozen=True):
    """The reason why an RPC server, given by its HOST:PORT, cannot be used, and what to do."""

    server: str
    message: UserText
    hint: UserText


class Reading(Checked, frozen=True):
    """The rate at which this machine reads weights while it decodes, in bytes per second.

    Attributes:
        n_threads: Number of threads of the measurement, which is a model's default.
        low: Rate of the slower tries.
        typical: Median of all tries.
        high: Rate of the fastest try.
    """

    n_threads: int
    low: float
    typical: float
    high: float


class KernelUse(Checked, frozen=True):
    """The kernels that compute with one type of numbers on the CPU.

    Attributes:
        kind: ggml's name of a type of weights, for example "q4_K", or "attention".
        by: "own" for Paceline's, which compute each row as if it were alone; "stock" for
            llama.cpp's.
    """

    kind: str
    by: Literal["own", "stock"]


def by_kind(uses: tuple[KernelUse, ...]) -> dict[str, str]:
    """Return the field ``kernels`` of reports: "own" or "stock" by ggml's name of the type."""
    return {use.kind: use.by for use in uses}


class ModelInfo(Checked, frozen=True):
    """The properties of a loaded model, for users and run records; `kernels` is empty if not known.

    `file_id` identifies the file wherever it is stored; it is empty in old records.
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
    """The dependence of a turn's text on how many tokens were drafted, with this model here.

    Attributes:
        holds: True if the same turn gives the same text with any strategy; False if rows of logits
            were seen to depend on the width of the batch; None if not known yet.
        n_rows: Number of rows compared at the widths in use.
        difference: Largest difference of one logit between any two widths, or None if nothing was
            compared.
        is_exact: Whether the pair was loaded in exact mode.
        any_context: Whether the text depends neither on earlier content of the context nor on where
            a prompt was cut: in exact mode, and where own kernels compute every row alone.
        words: All of this in sentences.
        basis: Key of what the numbers depend on: model, settings, build, processor, widths. Only
            with equal keys can equality be expected at all.
    """

    holds: bool | None
    n_rows: int
    difference: float | None
    is_exact: bool
    words: UserText
    basis: str = ""
    any_context: bool = False


class WidthCost(Checked, frozen=True):
    """The cost of a step whose batch has `width` tokens, from `n_samples` timed steps."""

    width: int
    seconds: float
    n_samples: int


class ClassRate(Checked, frozen=True):
    """The acceptance of drafted tokens of one class of confidence.

    Attributes:
        upper: Upper end of the class, 0..1.
        share: Accepted share of the judged tokens, 0..1, as estimated at present.
        weight: Number of tokens of this class that the estimate rests on.
    """

    upper: float
    share: float
    weight: float


PLACE_OF = (0, 1, 2, 3, 3, 4, 4, 4, 4) + (5,) * 56
"""Group in which acceptance is reported, by index in the draft."""


class Outlook(Checked, frozen=True):
    """Auto's present estimates for one drafter.

    Attributes:
        drafter: Its id.
        is_open: Whether it is asked; False while it pauses because it did not pay.
        seconds_per_token: Seconds of drafting one token.
        acceptance: Share of its recent tokens that were accepted, given that all before them were,
            by groups of places in the draft: the 1st, 2nd, 3rd, 4th and 5th, 6th to 9th, and all
            from the 10th on (`PLACE_OF`). It ends before the first group that was never reached.
        by_confidence: The same share by classes of confidence.
        gain: Tokens per second of the steps that it drafted relative to plain decoding's, or None
            with too few steps.
        n_judged: Number of its tokens that were judged so far, in any reply with this pair.
        n_accepted: Number of them that were accepted.
        saved_s: Seconds saved so far compared with plain decoding; negative if lost.
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
        n_begin: Number of calls at the end of a prefill.
        n_draft: Number of calls for a proposal.
        n_accept: Number of calls after a step that verified a proposal of this drafter.
        begin_s: Seconds in the calls of `n_begin`; likewise `draft_s` and `accept_s`.
        draft_s: See `begin_s`.
        accept_s: See `begin_s`.
        drafts: Number of proposals with at least one token.
        drafts_accepted: Number of proposals of which at least one token was accepted.
        tokens: Number of drafted tokens.
        tokens_accepted: Number of accepted tokens.
        accepted_per_position: Number of accepted tokens by index in the draft.
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
    """The tokens of an earlier reply that a new one contains; see `engine.decode.comparison`.

    From the first insertion or omission on, tokens stand at other places and get other noise, so
    above temperature 0 they recur only by their probabilities.

    Attributes:
        n_earlier: Number of tokens of the earlier reply.
        n_kept: Number of them that the new one contains.
        n_before: Number of tokens of the earlier reply before the first insertion or omission, or
            all without one.
        n_kept_before: Number of these that the new one contains.
    """

    n_earlier: int
    n_kept: int
    n_before: int
    n_kept_before: int

    @property
    def share(self) -> float:
        """The share of kept tokens, 0..1."""
        return self.n_kept / self.n_earlier if self.n_earlier else 0.0


SpeedupVerdict = Literal["gain", "even", "loss"]
GAIN_FROM, LOSS_TO = 1.05, 0.95
"""Bounds of an even ratio: with one decimal it reads 1.0, and the difference is not felt."""
MIN_GAIN_STEPS, MIN_GAIN_TOKENS = 40, 60
"""Minimum number of steps or tokens of a reply for a statement about its gain: first drafts are
trials, but a copied reply takes few steps."""
_MIN_NOTICED_S = 0.1
"""Seconds from which on a loss is noticeable."""


class Speedup(NamedTuple):
    """A speed relative to plain decoding's, with its interval.

    For a reply, the estimate with its 95 % interval; for a benchmark, the median of the repeats
    with their quartiles.
    """

    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> SpeedupVerdict:
        """The verdict, which decides words and colour wherever a ratio is shown."""
        if self.low > 1.0 and self.ratio >= GAIN_FROM:
            return "gain"
        return "loss" if self.high < 1.0 and self.ratio <= LOSS_TO else "even"


Warmth = Literal["context", "memory", "disk"]
"""Place of the reused tokens: the target's context, stored states in memory, or stored states of
which at least one was only in its file."""


RereadCode = Literal[
    "line", "message", "left", "tools", "template", "text", "used", "loaded", "whole", "piece"
]
"""Reason for reading tokens again; see `Reread`."""


class Reread(Checked, frozen=True):
    """Tokens of a prompt that were read again, with the reason.

    Attributes:
        code: "line": a line of the system prompt changed. "message": an earlier message or reply
            changed. "left": earlier messages were omitted. "tools": the tools changed. "template":
            the chat template writes something differently. "text": a text that is not a
            conversation changed. "used": the model read something else meanwhile. "loaded": the
            models were loaded again. "whole": the model's memory cannot be cut. "piece": exact mode
            reuses only whole pieces.
        n_tokens: Number of read tokens that had been read before, but are no longer in the context.
        words: All of this in a sentence.
        pattern: Regular expression that matches the earlier and the later line; empty without one.
    """

    code: RereadCode
    n_tokens: int
    words: UserText
    pattern: str = ""


class TurnStats(Checked, frozen=True):
    """The figures of one reply; times in seconds, rates from 0 to 1.

    Attributes:
        batch_invariant: Whether a token's logits are the same at every batch width in use, or None
            if not known yet. See `Sameness.holds`.
        n_prompt: Number of tokens of the prompt, including reused ones.
        n_reused: Number of tokens of the prompt that needed no reading.
        n_generated: Number of committed tokens, including the one from the prefill's logits.
        prefill_s: Seconds of the target's prefill only.
        decode_s: Seconds from the prefill's end to the last commit, including draft prefill and
            catch-up.
        total_s: prefill_s + decode_s.
        tokens_per_s: n_generated / decode_s.
        plain_tokens_per_s: Estimated speed of plain decoding: n_generated over the `decode_s` that
            it would have taken, see `engine.auto.plain_time`; None if nothing is known of it.
        plain_low: Lower end of its 95 % interval, or None if not recorded.
        plain_high: Upper end of its 95 % interval, or None if not recorded.
        machine_busy: Whether other programs used the machine so much that speeds say little: they
            had the engine's processor for a tenth of `decode_s`, or step times vary by a quarter.
        n_steps: Number of verify decodes of the target.
        n_drafted: Number of drafted tokens.
        n_accepted: Number of drafted tokens that were committed.
        n_discarded: Number of drafted tokens after a committed end or stop.
        acceptance_rate: n_accepted / (n_drafted - n_discarded), or None if nothing was drafted.
        mean_committed_per_step: Committed tokens per verify decode, or None without a step.
        overhead_s: decode_s minus the time within native calls.
        by_drafter: One entry per used drafter.
        kernels: Kernels that computed the target; see `ModelInfo`.
        n_rows_compared: See `Sameness.n_rows`.
        logit_difference: See `Sameness.difference`.
        basis: See `Sameness.basis`; empty if not recorded.
        any_context: See `Sameness.any_context`.
        kept: The part of the replaced reply that it contains, or None if it replaces none or
            continues a beginning.
        warm: Place of the tokens of `n_reused`.
        reread: The reason why tokens were read that had been read before, or None if hardly any
            were, or it is not known.
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
        """Return its speed relative to plain decoding; None without drafts, or if not known."""
        plain, low, high = self.plain_tokens_per_s, self.plain_low, self.plain_high
        if not (self.n_drafted and self.tokens_per_s and plain and low and high):
            return None
        speed = self.tokens_per_s
        return Speedup(speed / plain, speed / high, speed / low)

    @property
    def verdict(self) -> SpeedupVerdict | None:
        """Return the verdict on its gain, or None if there is none, or none yet."""
        speedup, plain = self.speedup, self.plain_tokens_per_s
        is_short = self.n_steps < MIN_GAIN_STEPS and self.n_generated < MIN_GAIN_TOKENS
        if speedup is None or not plain or is_short:
            return None
        lost_s = self.decode_s - self.n_generated / plain
        return "even" if 0 < lost_s < _MIN_NOTICED_S else speedup.verdict

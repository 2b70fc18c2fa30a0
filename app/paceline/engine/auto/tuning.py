"""The constants of Auto's decisions, each with its meaning and its unit.

They were fitted in the simulator of `tests/engine/auto` and are not meant to be changed by feel:
`measure` in `tests/engine/auto/test_machines.py` shows what another value gains and loses. A
percentage below is how much of the mean gain over plain decoding another value loses there.
Constants that stand in the code itself are insensitive: half of each, or half as much again,
changes the mean gain by less than 0.3 %.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AutoTuning:
    """The constants; a "plain step" is the time of decoding one token without a draft."""

    # ------------------------------------------------------------------ the promise (`ledger.py`)

    promised_share: float = 0.02
    """Share of plain decoding's time by which a turn may be slower."""
    reading_share: float = 0.03
    """Additional share of the prefill that reading the prompt with a draft model may take."""
    allowance_steps: float = 3.5
    """Plain steps that a reply may lose in addition; four are promised."""

    # ------------------------------------------------------------- one decision (`controller.py`)

    loss_aversion: float = 2.0
    """Additional weight of a lookup's expected loss beyond the slack; decision 107."""
    max_reading_share: float = 0.5
    """Maximum share of the slack that reading a text with a draft model may take; 0 loses 5.1 %
    after a prompt."""
    min_remaining_share: float = 0.25
    """Minimum number of tokens assumed to follow, as a share of the reply's tokens so far; decision
    110."""
    whole_reading_share: float = 0.1
    """Share of a draft model's expected gain that reading the whole text may cost."""
    tokens_ahead: int = 4
    """Drafted tokens to look ahead; 1 loses 1.4 % with MTP heads on code; decision 103."""
    neighbour_correlation: float = 0.25
    """Correlation of acceptance between neighbouring tokens of a model; twice that loses 0.2 % with
    heads."""
    rate_kept: float = 0.98
    """Factor by which older tokens and seconds count less with each step; 0.99 loses 0.4 % after a
    prompt."""
    prior_switch_steps: float = 0.03
    """Assumed cost of a change of the batch's width before any was seen, in plain steps."""
    max_switch_steps: float = 1.0
    """Upper bound of the cost of changing the batch's width, in plain steps: that of a model of 17
    M weights, which takes as long to build a graph as to compute it."""
    sample_weight: float = 0.1
    """Smoothing weight of one new sample of that cost, and of Auto's own time; not fitted."""
    gain_reported_after: float = 4.0
    """Minimum time of a drafter's steps before their gain is reported, in plain steps."""
    max_saved_steps: float = 100.0
    """Maximum number of plain steps whose shares for deciding are saved up; decision 100."""
    prior_reply_tokens: float = 200.0
    """Assumed length of a reply before any was seen, in tokens."""

    # --------------------------------------------------------- what is accepted (`acceptance.py`)

    prior_acceptance: tuple[float, ...] = (0.2, 0.4, 0.6, 0.75, 0.85, 0.95, 0.5)
    """Assumed acceptance by class of confidence before any token was judged; the last class has no
    confidence."""
    acceptance_kept: float = 0.97
    """Factor by which older tokens of a class count less with each new one."""
    long_run_weight: float = 5.0
    """Weight of the long-run estimate beside recent tokens, in judged tokens."""
    few_judged_tokens: float = 20.0
    """Number of judged tokens below which the 30 % quantile is used; half of it loses 0.2 %."""
    few_judged_z: float = 0.52
    """z-score of that quantile; 0 gains 0.8 %, but gives up some good models after prompts."""
    caution: float = 0.2
    """Share of its probability of rejection that is subtracted from a lookup's estimate; decision
    097."""
    prior_gain_spread: float = 0.5
    """Assumed standard deviation of a model's gain per step before any was seen; more loses 0.7 %
    in the worst reply."""
    trials_kept: float = 0.997
    """Factor by which a model's trials count less with each step; 0.9955 loses 0.5 % in the worst
    reply."""
    trial_credit: float = 1.0
    """Plain steps that a model's trials may lose at once, and the maximum debt apart from
    reading."""
    trial_share: float = 0.005
    """Share of the steps that makes up for unsuccessful trials; decisions 105 and 110."""
    next_text_kept: float = 0.25
    """Factor by which recent acceptance counts less in the next reply; more loses 0.4 % where
    different texts alternate."""
    evidence_to_stop: float = 8.0
    """Number of a model's steps needed to conclude that it does not pay, for idle-time work."""

    # ---------------------------------- what steps cost (`costs.py`, `context_cost.py`)

    timings_kept: int = 9
    """Number of timings kept of one kind: their median survives four that were held up."""
    error_measured: float = 0.04
    """Relative error of the cost of a measured width; checked by `test_plain_time.py`."""
    error_between: float = 0.15
    """Relative error of the cost of a width between measured ones."""
    error_beyond: float = 0.5
    """Relative error of the cost of a width beyond all measured ones."""
    error_unknown: float = 1.0
    """Relative error of a cost where nothing was measured."""
    context_share: float = 0.5
    """Share of the context's cost that each further row adds once more, before it was measured: 0
    on GPUs, up to 1 on processors."""
    max_context_slope: float = 0.01
    """Upper bound of the share by which each token of the context slows a plain step; the smallest
    models, whose weights fit in the CPU's cache, have 0.007."""
    prior_draft_token_steps: float = 1.0
    """Assumed cost of a drafted token before any was drafted and without a guess, in plain steps;
    more loses 5 % where costs have yet to be learned."""
    prior_batched_ratio: float = 0.4
    """Assumed time of a draft model's token in a batch relative to one alone, before any batch was
    seen; more loses 5 % where costs have yet to be learned."""
    short_backlog_tokens: int = 4
    """Length of a draft model's backlog up to which its time counts as drafting alone, in tokens; 2
    loses 1.2 %."""

    # --------------------------------------------------------- how fast plain steps are (`pace.py`)
    # Fitted to machines whose pace changes and whose timings vary: decisions 091 and 109.

    steps_after_load: int = 4
    """Number of plain steps at first after a load, so that there is something to compare with."""
    pace_samples: int = 3
    """Number of plain steps that the first estimate rests on."""
    misfit_factor: float = 1.18
    """Factor beyond which a step does not fit the expectation; half as far loses 0.5 %, 0.8 % after
    a prompt."""
    agreement_factor: float = 1.25
    """Factor within which two steps confirm each other; without this condition 0.7 % are lost."""
    doubt_samples: int = 3
    """Number of plain steps that confirm or refute a change of pace."""
    steps_without_doubt: int = 16
    """Number of wide steps that raise no doubt after only wide ones have changed; 0 loses 1.5 and
    2.6 % with noise of 20 and 35 %."""
    max_plain_asked: float = 6.0
    """Maximum number of plain steps requested at once; without a limit 0.3 % are lost."""
    plain_asked_per_step: float = 0.08
    """Number of plain steps that may be requested per step in the long run."""
    min_plain_saved: float = 2.0
    """Number of plain steps that must have been saved up before any is requested."""
    after_wide_kept: float = 0.72
    """Factor by which the slow-down after a wide step falls with each plain one; measured on
    CPUs, held by `test_plain_time.py`."""
    prior_after_wide: float = 0.08
    """Assumed share by which the first plain step after a wide one is slower, before it was
    seen."""
    max_after_wide: float = 0.4
    """Upper bound of the share by which a plain step after a wide one is slower."""
    after_wide_weight: float = 0.03
    """Smoothing weight of one new sample of that share."""
    earlier_pace_error: float = 0.3
    """Relative error of a pace that was measured before the reply."""
    wait_kept: float = 0.94
    """Factor by which earlier waiting counts less with each step; for display only."""
    max_wait_ratio: float = 10.0
    """Upper bound of a step's waiting, relative to the time that it ran."""

    # --------------------------------------- what plain decoding would take (`plain_time.py`)
    # Values not said to be measured are checked by `tests/engine/test_plain_time.py`: the interval
    # has to cover the plain time in 95 of 100 replies on its machines, quiet and busy.

    busy_noise: float = 0.25
    """Relative deviation of step times from the pace of their stretch on a busy machine."""
    stretch_steps: int = 8
    """Number of timed steps that share one pace: fewer show no pace, more hide its changes."""
    guessed_row_steps: float = 0.25
    """Assumed cost of a further token in a batch where no table is known, in plain steps."""
    prior_noise: float = 0.1
    """Assumed relative deviation of step times before any was seen."""
    prior_noise_steps: float = 2.0
    """Number of steps that this assumption counts for."""
    slow_steps_after_wide: int = 6
    """Number of plain steps after a wide one that are slower; measured on CPUs."""
    pace_valid_steps: int = 8
    """Number of steps for which a measured pace remains valid."""
    slow_step_error: float = 0.03
    """Relative error of a pace from slowed steps."""
    contradiction_z: float = 2.5
    """z-score at which plain steps contradict the table of costs, which is then discarded."""
    correction_error: float = 0.1
    """Relative error of a correction of the table when applied to other widths and contexts."""
    earlier_stretch_error: float = 0.1
    """Relative error of a pace that was measured at another time within the reply."""


TUNING = AutoTuning()

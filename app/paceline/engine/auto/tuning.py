"""The numbers that Auto's decisions depend on, each with its meaning and its unit.

They were fitted in the simulator of `tests/engine/auto` and are not meant to be changed on a
feeling: `measure` in `tests/engine/auto/test_machines.py` says what another value gains and loses.
Percentages below are what the mean gain over plain decoding loses there. Numbers that stand in the
code itself are insensitive: half of each, or half as much again, changes the mean gain by less than
0.3 %.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AutoTuning:
    """The numbers; a "plain step" is the time of decoding one token without a draft."""

    # ------------------------------------------------------------------ the promise (`ledger.py`)

    promised_share: float = 0.02
    """Share of plain decoding's time by which a turn may be later."""
    reading_share: float = 0.03
    """Share of the prefill that reading the prompt with a draft model may take besides."""
    allowance: float = 3.5
    """Plain steps that a reply may lose besides; four are promised."""

    # ------------------------------------------------------------- one decision (`controller.py`)

    loss_aversion: float = 2.0
    """Weight of a lookup's expected loss beyond the slack; decision 107."""
    most_reading: float = 0.5
    """Share of the slack that reading a text with a draft model may take; none of it: 5.1 % after
    a prompt."""
    least_to_come: float = 0.25
    """Share of a reply's tokens so far that are assumed to follow at least; decision 110."""
    gain_by_reading: float = 0.1
    """Share of a draft model's gain that it may gain more by a text that it has read whole."""
    tokens_ahead: int = 4
    """Drafted tokens that are looked ahead; 1: 1.4 % with MTP heads on code; decision 103."""
    neighbour_correlation: float = 0.25
    """Correlation of acceptance between neighbouring tokens of a model; twice: 0.2 % with heads."""
    rate_kept: float = 0.98
    """Factor by which older tokens and seconds count less with each step; .99: 0.4 % after a
    prompt."""
    first_switch: float = 0.03
    """Plain steps that a change of the batch's width costs, before any was seen."""
    most_switch: float = 1.0
    """Upper bound of the same: that of a model of 17 M weights, whose graph takes as long to be
    built as to be computed."""
    sample_weight: float = 0.1
    """Smoothing weight of one new sample of that cost, and of Auto's own time; not fitted."""
    gain_reported_after: float = 4.0
    """Plain steps that a drafter's steps take at least before their gain is reported."""
    saved_up: float = 100.0
    """Plain steps whose shares for deciding may be saved up; decision 100."""
    first_reply: float = 200.0
    """Tokens that a reply is expected to have, before any was seen."""

    # --------------------------------------------------------- what is accepted (`acceptance.py`)

    prior_acceptance: tuple[float, ...] = (0.2, 0.4, 0.6, 0.75, 0.85, 0.95, 0.5)
    """Acceptance by class of confidence before any token was judged; the last: no confidence."""
    acceptance_kept: float = 0.97
    """Factor by which older tokens of a class count less with each new one."""
    long_run_weight: float = 5.0
    """Judged tokens that the long run counts for beside the recent ones."""
    few_judged: float = 20.0
    """Judged tokens below which the 30 % quantile is believed; half: 0.2 %."""
    few_judged_z: float = 0.52
    """z-score of that quantile; 0: 0.8 % more, but some good models are given up after prompts."""
    caution: float = 0.2
    """Share of its chance of rejection by which a lookup's token is believed less; decision 097."""
    first_spread: float = 0.5
    """Standard deviation of a model's gain per step, before any was seen; more: 0.7 % in the worst
    reply."""
    trials_kept: float = 0.997
    """Factor by which a model's trials count less with each step; .9955: 0.5 % in the worst
    reply."""
    trial_credit: float = 1.0
    """Plain steps that a model's trials may lose at once, and owe at most but for reading."""
    trial_share: float = 0.005
    """Share of the steps that makes up for trials in vain; decisions 105 and 110."""
    next_text_kept: float = 0.25
    """Factor by which recent acceptance counts less in the next reply; more: 0.4 % where texts take
    turns."""
    evidence_to_stop: float = 8.0
    """Steps of a model that it takes to say that it does not pay, for work in idle time."""

    # ---------------------------------- what steps cost (`costs.py`, `context_cost.py`)

    timings_kept: int = 9
    """Timings of one kind that are kept: their median outlives four that were held up."""
    error_measured: float = 0.04
    """Relative error of what a width takes that was measured; held by `test_plain_time.py`."""
    error_between: float = 0.15
    """The same of a width between measured ones."""
    error_beyond: float = 0.5
    """The same of a width beyond all measured ones."""
    error_unknown: float = 1.0
    """The same where nothing was measured."""
    context_share: float = 0.5
    """Share of what the context adds to a step that each further row adds once more, before it was
    measured: 0 on GPUs, up to 1 on processors."""
    steepest_context: float = 0.01
    """Upper bound of the share by which each token of the context slows a plain step: the smallest
    models, whose weights lie in the cache, have 0.007."""
    first_draft_token: float = 1.0
    """Plain steps of a drafted token, before any was drafted and without a guess; more: 5 % where
    costs are to be learned."""
    first_batched_token: float = 0.4
    """Time of a draft model's token in a batch, over that of one alone, before any batch was seen;
    more: 5 %, as above."""
    short_backlog: int = 4
    """Tokens of a draft model's backlog that every step leaves; 2: 1.2 %."""

    # --------------------------------------------------------- how fast plain steps are (`pace.py`)
    # Fitted to machines whose pace changes and whose timings vary: decisions 091 and 109.

    steps_after_load: int = 4
    """Plain steps that come first after a load, so that there is something to compare with."""
    pace_samples: int = 3
    """Plain steps that the first estimate rests on."""
    misfit: float = 1.18
    """Factor beyond which a step does not fit what is expected; half as far: 0.5 %, 0.8 % after a
    prompt."""
    agreement: float = 1.25
    """Factor within which two steps confirm each other; without: 0.7 %."""
    doubt_samples: int = 3
    """Plain steps that confirm or refute a change of pace."""
    steps_without_doubt: int = 16
    """Wide steps that raise no doubt after only wide ones have changed; 0: 1.5 and 2.6 % with noise
    of 20 and 35 %."""
    most_plain_asked: float = 6.0
    """Plain steps that may be asked for at once; without a limit: 0.3 %."""
    plain_asked_per_step: float = 0.08
    """Plain steps that may be asked for per step in the long run."""
    plain_asked_from: float = 2.0
    """Plain steps that must have been saved up before any is asked for."""
    after_wide_kept: float = 0.72
    """Factor by which the slow-down after a wide step falls with each plain one; measured on
    CPUs, held by `test_plain_time.py`."""
    first_after_wide: float = 0.08
    """Share by which the first plain step after a wide one is slower, before it was seen."""
    most_after_wide: float = 0.4
    """Upper bound of the same."""
    after_wide_weight: float = 0.03
    """Smoothing weight of one new sample of it."""
    earlier_pace_error: float = 0.3
    """Relative error of a pace from before a reply."""
    wait_kept: float = 0.94
    """Factor by which earlier waiting counts less with each step; only reported."""
    most_wait: float = 10.0
    """Upper bound of a step's waiting, over the time that it ran."""

    # --------------------------------------- what plain decoding would take (`plain_time.py`)
    # What is not said to be measured is held by `tests/engine/test_plain_time.py`: the interval has
    # to cover the plain time in 95 of 100 replies on its machines, quiet and busy.

    busy_noise: float = 0.25
    """Relative deviation of step times from the pace of their stretch on a busy machine."""
    stretch: int = 8
    """Timed steps that share one pace: fewer tell none, more hide its changes."""
    guessed_row: float = 0.25
    """Plain steps of a further token in a batch, where no table is known."""
    first_noise: float = 0.1
    """Relative deviation of step times before any was seen."""
    first_noise_steps: float = 2.0
    """Steps that this counts for."""
    slow_after_wide: int = 6
    """Plain steps after a wide one that are slower; measured on CPUs."""
    pace_valid: int = 8
    """Steps within which a pace tells by how much."""
    slow_step_error: float = 0.03
    """Relative error of the pace that such steps tell."""
    contradiction_z: float = 2.5
    """z-score at which plain steps contradict the table of costs, which is discarded then."""
    correction_error: float = 0.1
    """Share of a correction of the table by which it is wrong at other widths and contexts."""
    earlier_stretch_error: float = 0.1
    """Relative error of a pace that was measured at another time within the reply."""


TUNING = AutoTuning()

"""What an engine answers to commands that it has nothing for, wherever it is hosted."""

from __future__ import annotations

from paceline.messages import (
    Calibrate,
    Calibrated,
    CountTokens,
    TokensCounted,
    Tune,
    TuneRejected,
    TurnFailed,
)


def no_model(turn_id: str) -> TurnFailed:
    """Answer a turn that finds no model loaded."""
    return TurnFailed(
        turn_id, "no-model", "No model is loaded.", "Choose one first, or load the demo pair."
    )


def not_running(tune: Tune) -> TuneRejected:
    """Answer a `Tune` that comes behind the end of its reply."""
    return TuneRejected(
        tune.turn_id, tune.strategy, "not-running",
        "This reply is not running any more.",
        "The setting counts from the next reply on.",
    )  # fmt: skip


def not_counted(question: CountTokens) -> TokensCounted:
    """Answer a question about sizes that finds no model loaded."""
    return TokensCounted(question.request_id, -1, 0)


def not_calibrated(command: Calibrate) -> Calibrated:
    """Answer a wish to measure that finds no model loaded."""
    return Calibrated(command.request_id, problem="No model is loaded.")

"""What Auto decides, in words: for every reason, calm, and true to the figures it was told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest

from gui.control_events import CURVE, costs, drafting_step, outlook, plain_step, report
from gui.fake_client import step_of
from paceline.chat.decisions import RECENT_STEPS, DecisionLog, is_news, judge, mix_of
from paceline.engine.draft import grammar_drafter, registry
from paceline.figures import Decision, Reason, Speedup
from paceline.gui.chat.markdown.provenance import Provenance
from paceline.gui.chat.markdown.view import describe_token
from paceline.gui.plot.plot_words import step_words
from paceline.gui.state.auto_words import (
    MOST_ROWS,
    cost_rows,
    decision_details,
    decision_part,
    decision_rows,
    reason_title,
    sentence,
    step_decision,
    why,
)
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.sources import Sources

if TYPE_CHECKING:
    from paceline.chat.decisions import Verdict
    from paceline.messages import ControlReported, StepCommitted

GAIN, LOSS = Speedup(1.5, 1.2, 1.9), Speedup(0.8, 0.7, 0.99)
PERHAPS = Speedup(1.3, 0.98, 1.7)
SOURCES = Sources((*registry.available(), grammar_drafter.INFO))
REASONS: tuple[Reason, ...] = get_args(Reason)
SAYS: dict[Reason, str] = {
    "pays": "Draft model pays here: 3 tokens per draft, 67\u202f% accepted.",
    "nothing": "No drafts here: there is nothing to guess the next words from.",
    "expensive": "The model is faster alone here: checking one more token makes a step 1.1 times "
    "as long, and 78\u202f% of what Draft model drafts first is accepted.",
    "shut": "No drafts for now: with Draft model it was 0.82 times as fast as without.",
    "trial": "Draft model is being tried, to see whether drafting pays here.",
    "ledger": (
        "No drafts for now: one more wrong draft would cost more time than drafts have saved."
    ),
    "plain": "Some steps without drafts, to see how fast the model is alone.",
    "first": "Auto begins without drafts, until it knows what they would cost.",
    "forced": "The grammar allows one continuation only: its tokens cost next to nothing.",
}
DRAFTS = ("pays", "trial", "forced")


def steps_of(reason: Reason, n: int = RECENT_STEPS) -> list[StepCommitted]:
    if reason in DRAFTS:
        drafter = "forced" if reason == "forced" else "draft"
        return [drafting_step("t", i, drafter=drafter, reason=reason) for i in range(1, n + 1)]
    return [plain_step("t", i, reason) for i in range(1, n + 1)]


def said(
    steps: list[StepCommitted],
    told: ControlReported | None = None,
    speedup: Speedup | None = GAIN,
) -> str:
    return sentence(judge(mix_of(steps), speedup=speedup, report=told), SOURCES)


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_its_sentence_and_its_words(reason: Reason, qapp: object) -> None:
    shut = outlook(is_open=False, gain=0.82)
    told = report("t", shut if reason == "shut" else outlook())
    assert said(steps_of(reason), told) == SAYS[reason]
    assert said(steps_of(reason))  # before the first report
    assert len({reason_title(r) for r in REASONS}) == len(REASONS)
    hover = step_decision(Decision("draft", 3, reason, 2.4, 1.6))
    assert hover.startswith(f"Auto: {reason_title(reason)}")
    assert ("2.4 tokens expected" in hover) == (reason != "forced")
    assert "expected" not in step_decision(Decision("", 0, reason))


def test_a_single_token_is_no_plural(qapp: object) -> None:
    steps = []
    for i in range(30):
        step = drafting_step("t", i, n_rejected=0)
        one = tuple(replace(count, n_drafted=1, n_accepted=1) for count in step.drafted)
        steps.append(replace(step, drafted=one))
    assert said(steps).startswith("Draft model pays here: 1 token per draft, ")


def test_a_mixture_is_told_as_one(qapp: object) -> None:
    steps = [
        plain_step("t", i, "nothing")
        if i % 5 < 2
        else drafting_step("t", i, drafter="suffix" if i % 5 == 2 else "draft")
        for i in range(30)
    ]
    words = said(steps)
    assert words.startswith("Draft model and Suffix match pay here: 3 tokens per draft, ")
    assert words.endswith("; about 40\u202f% of the steps have no draft.")
    # Rare drafts that make the reply faster all the same are what goes on.
    for n_plain, share in ((28, "90"), (130, "95"), (196, "98"), (1000, "99")):
        rare = [plain_step("t", i, "nothing") for i in range(n_plain)]
        rare += [drafting_step("t", i, drafter="suffix", total_s=0.01) for i in range(4)]
        words = said(rare)
        assert words.startswith("Suffix match pays here:")
        assert words.endswith(f"; about {share}\u202f% of the steps have no draft.")
        for speedup in (PERHAPS, LOSS, None):
            assert said(rare, speedup=speedup) == SAYS["nothing"]


@pytest.mark.parametrize(
    ("speedup", "one", "two"),
    [
        (GAIN, "Draft model pays here: ", "Draft model and Suffix match pay here: "),
        (
            PERHAPS,
            "Draft model gives about as much as it costs here: ",
            "Draft model and Suffix match give about as much as they cost here: ",
        ),
        (
            LOSS,
            "Draft model gave less than it cost: ",
            "Draft model and Suffix match gave less than they cost: ",
        ),
        (None, "Draft model: ", "Draft model and Suffix match: "),
    ],
)
def test_what_drafts_gave_is_what_the_interval_allows_to_say(
    speedup: Speedup | None, one: str, two: str, qapp: object
) -> None:
    facts = "3 tokens per draft, 67\u202f% accepted."
    # How long the newest steps took changes nothing: the figures of the reply tell.
    for total_s in (0.01, 0.3):
        steps = [drafting_step("t", i, total_s=total_s) for i in range(30)]
        assert said(steps, speedup=speedup) == one + facts
    both = [drafting_step("t", i, drafter="suffix" if i % 2 else "draft") for i in range(30)]
    assert said(both, speedup=speedup) == two + facts


def test_another_verdict_about_the_speed_is_news(qapp: object) -> None:
    mix = mix_of(steps_of("pays"))
    pays = judge(mix, speedup=GAIN)
    assert not is_news(pays, judge(mix, speedup=Speedup(1.9, 1.1, 2.9)))  # it stands beside it
    for speedup in (Speedup(1.5, 0.99, 2.0), LOSS, None):
        assert is_news(pays, judge(mix, speedup=speedup, before=pays))


def test_several_pausing_drafters_are_named(qapp: object) -> None:
    told = report("t", outlook(is_open=False, gain=0.7), outlook("suffix", is_open=False))
    words = said(steps_of("shut"), told)
    assert words == "No drafts for now: Draft model and Suffix match did not pay of late."
    assert "they did not pay of late" in said(steps_of("shut"), report("t", outlook()))


def test_the_sentence_stays_while_steps_only_scatter(qapp: object) -> None:
    log, shown, told = DecisionLog(), None, set()
    for i in range(400):
        if i % 7 == 3:
            step = plain_step("t", i, "expensive" if i % 2 else "nothing")
        else:  # rejected tokens and times differ from step to step
            step = drafting_step("t", i, n_rejected=1 + i % 2, total_s=0.07 + 0.01 * (i % 3))
        log.push(step)
        if i >= RECENT_STEPS:
            speedup = Speedup(1.5 + 0.02 * (i % 3), 1.2 - 0.05 * (i % 2), 1.9)
            now = judge(log.recent, speedup=speedup, before=shown)
            if is_news(shown, now):
                shown = now
            told.add(sentence(shown, SOURCES))
    assert len(told) == 1


def test_a_reason_is_kept_until_another_one_is_clearly_more_frequent(qapp: object) -> None:
    def kind(n_expensive: int, before: Verdict | None) -> Verdict:
        steps = steps_of("expensive", n_expensive) + steps_of("nothing", RECENT_STEPS - n_expensive)
        return judge(mix_of(steps), speedup=GAIN, before=before)

    first = kind(20, None)
    assert first.kind == "expensive"
    assert kind(15, first).kind == "expensive"
    assert kind(10, first).kind == "nothing"
    measuring = mix_of(steps_of("plain", 23) + steps_of("nothing", 9))
    assert judge(measuring, speedup=None).kind == "nothing"
    before = judge(mix_of(steps_of("plain", 30) + steps_of("nothing", 2)), speedup=None)
    assert before.kind == judge(measuring, speedup=None, before=before).kind == "measures"
    drafting = judge(mix_of(steps_of("pays")), speedup=PERHAPS)
    few = mix_of(steps_of("pays", 7) + steps_of("nothing", 25))
    assert judge(few, speedup=PERHAPS, before=drafting).kind == "even"
    assert judge(few, speedup=PERHAPS).kind == "nothing"


def test_steps_without_a_decision_are_left_out(qapp: object) -> None:
    log = DecisionLog()
    for i in range(5):
        log.push(step_of("t", "abc", i))
    assert log.whole.n_steps == log.recent.n_steps == 0
    assert decision_rows(log.whole, SOURCES, GAIN) == ()
    assert decision_part(log.whole) == decision_details(log.whole) == ""


def test_only_the_newest_steps_are_recent() -> None:
    log = DecisionLog()
    for step in steps_of("expensive", 50) + steps_of("pays"):
        log.push(step)
    assert log.recent.reasons == {"pays": RECENT_STEPS}
    assert log.whole.reasons == {"expensive": 50, "pays": RECENT_STEPS}
    work = log.whole.drafters["draft"]
    assert (work.n_steps, work.n_drafted, work.n_accepted) == (32, 96, 64)


def test_a_replys_decisions_in_rows(qapp: object) -> None:
    mix = mix_of(steps_of("pays", 30) + steps_of("nothing", 9) + steps_of("plain", 1))
    for speedup, words in ((GAIN, "pays here"), (LOSS, "gave less than it cost")):
        rows = dict(decision_rows(mix, SOURCES, speedup))
        assert rows["In short"].startswith(f"Draft model {words}")
    assert (
        rows["Draft model"] == "drafted first in 75\u202f% of the steps, 60 of 90 tokens accepted"
    )
    assert rows["Drafting paid"] == "30 steps, 75\u202f%"
    assert decision_part(mix) == "75\u202f% of steps drafted"
    assert decision_details(mix).startswith("Auto: drafting paid 75\u202f%, nothing to draft 22")
    many = mix_of(steps_of("pays", 300) + steps_of("plain", 1))
    assert dict(decision_rows(many, SOURCES, None))["Speed without drafts measured"] == (
        "1 steps, under 1\u202f%"
    )


def test_the_pointer_on_a_token_tells_its_steps_decision(qapp: object) -> None:
    known = Provenance(SOURCES)
    for step in (drafting_step("t", 1), plain_step("t", 2, "expensive"), step_of("t", "abc", 3)):
        ends = tuple(replace(trace, text_end=step.step) for trace in step.tokens)
        known.add(replace(step, tokens=ends))
    told = [describe_token(record) for record in map(known.record_at, range(3)) if record]
    assert told[0].endswith("step 1\nAuto: drafting paid, 2.4 tokens expected (1.6×)")
    assert told[1].endswith("\nAuto: drafts cost too much")
    assert "Auto" not in told[2]


def test_the_pointer_on_a_bar_of_the_plot_tells_it_too(qapp: object) -> None:
    metrics = StepMetrics(SOURCES)
    for step in (drafting_step("t", 1), plain_step("t", 2, "shut"), step_of("t", "abc", 3)):
        metrics.push(step)
    steps = [step for step in map(metrics.step, range(3)) if step is not None]
    told = [step_words(at + 1, step, 0.0, SOURCES) for at, step in enumerate(steps)]
    assert told[0].splitlines()[-1] == "Auto: drafting paid, 2.4 tokens expected (1.6×)"
    assert told[1].splitlines()[-1] == "Auto: drafting paused"
    assert "Auto" not in told[2]


# --------------------------------------------------------------------------------------------- why


def test_the_costs_are_those_of_the_report(qapp: object) -> None:
    rows = cost_rows(costs(CURVE[:8]))
    assert [row.width for row in rows] == list(range(1, 9))
    assert (rows[1].time, rows[1].ratio) == ("44.8\u202fms", "1.12×")
    assert rows[-1].share == 1.0
    assert rows[0].share == pytest.approx(0.5)
    assert rows[3].words == "4 tokens: 52.4\u202fms, 1.31× of a step without a draft"
    assert cost_rows(()) == ()


def test_a_long_table_is_cut_to_the_widths_that_matter(qapp: object) -> None:
    rows = cost_rows(costs([1 + 0.1 * i for i in range(62)]))
    assert len(rows) == MOST_ROWS
    assert [row.width for row in rows][:6] == [1, 2, 3, 4, 5, 6]
    assert rows[-1].width == 62


def test_a_drafter_says_what_it_did_and_why_it_pauses(qapp: object) -> None:
    shut = outlook("suffix", is_open=False, gain=0.82, saved_s=-0.4, n_judged=120, n_accepted=31)
    unused = outlook("ngram-mod", n_judged=0, saved_s=0.0)
    view = why(report("t", outlook(), shut, unused), SOURCES)
    draft, suffix = view.drafters
    assert (draft.title, draft.kind, draft.state) == ("Draft model", "draft", "in use")
    assert draft.facts == (
        "640 of 900 tokens accepted · 3.2\u202fms per drafted token · saved 12.3\u202fs"
    )
    assert draft.places[0].words == "place 1: 78\u202f% accepted, if all before were"
    assert draft.places[3].words == "places 4 to 5: 60\u202f% accepted, if all before were"
    assert draft.places[5].words == "place 10 and later: 50\u202f% accepted, if all before were"
    assert [bar.label for bar in draft.places] == ["1", "2", "3", "4–5", "6–9", "10+"]
    assert draft.classes[1].words == "30 to 50 % sure: 42\u202f% accepted"
    assert draft.classes[0].belief < draft.classes[1].belief < draft.classes[-1].belief == 1.0
    assert (suffix.kind, suffix.state) == ("lookup", "paused")
    assert "pauses because its steps gave 0.82×" in suffix.facts
    assert view.unused == "Not used so far: N-gram pool."
    assert view.balance[0] == "Decoding one token takes 40.0\u202fms now."
    assert view.balance[1] == "Drafting has saved 11.9\u202fs with these models so far."
    assert view.balance[2].startswith("Drafts may still lose 210\u202fms")


def test_a_slow_machine_and_a_loss_are_told(qapp: object) -> None:
    told = replace(report("t", outlook(saved_s=-1.5)), pace=0.5)
    words = " ".join(why(told, SOURCES).balance)
    assert "50\u202f% of the speed that was measured first" in words
    assert "Drafting has cost 1.50\u202fs" in words
    late = replace(report("t"), slack_s=-0.6)
    assert why(late, SOURCES).balance[-1].startswith("Drafts may lose nothing more in this reply")
    assert "measured first" not in " ".join(why(report("t"), SOURCES).balance)

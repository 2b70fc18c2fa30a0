"""Chains: who is asked, whose tokens are whose, and what a broken member costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chain_members import (
    REPLY,
    Lookup,
    Member,
    TextsGrammar,
    bench,
    copy,
    explode,
    info_of,
    nothing,
    strategy,
)
from engine.harness import PROMPT, decoder_for, run
from fake_model import EOG, FakeModel, scripted
from paceline.engine.decode.decoder import Decoder
from paceline.engine.draft.base import Draft, DrafterInfo, Settings, Workbench
from paceline.engine.draft.chain import Chain, Proposal
from paceline.engine.draft.strategy import CompleteStrategy
from paceline.engine.model.backend import Grammar
from paceline.engine.stats import TurnMeter
from paceline.errors import CancelledError, EngineError, UserError
from paceline.messages import SOURCE_TARGET, DraftCount


def chain_of(grammar: Grammar | None = None, **members: Member) -> Chain:
    return Chain(strategy(**members), bench(grammar), TurnMeter())


def propose(chain: Chain, n_max: int = 10, text: str = "") -> Proposal:
    return chain.propose([*PROMPT, *text.encode()], len(PROMPT), n_max)[0]


def parts(proposal: Proposal) -> list[tuple[str, str]]:
    """Return the drafted texts with their drafters."""
    return [
        (p.drafter.info.id, bytes(proposal.tokens[p.first : p.first + p.n]).decode())
        for p in proposal.parts
    ]


# ------------------------------------------------------------------------------------- who drafts


def test_the_first_lookup_that_finds_something_drafts_alone() -> None:
    a, b, c, m = Lookup(nothing), Lookup(copy(REPLY, 4)), Lookup(copy(REPLY, 9)), Member(nothing)
    chain = chain_of(a=a, b=b, c=c, model=m)
    assert parts(propose(chain)) == [("b", "The ")]
    assert (a.asked, b.asked, c.asked, m.asked) == ([("propose", 10)], [("propose", 10)], [], [])
    assert (c.begun, m.begun) == (0, 0)  # those that are not needed do not even begin


def test_the_model_drafts_where_lookups_find_nothing_and_one_continues_after_it() -> None:
    a, b, c = Lookup(nothing), Lookup(copy(REPLY, 9, behind=3)), Lookup(copy(REPLY, 9, behind=3))
    model = Member(copy(REPLY, 4))
    chain = chain_of(a=a, b=b, c=c, model=model)
    assert parts(propose(chain)) == [("model", "The "), ("b", "quick ")]
    assert a.asked == [("propose", 10), ("extend", 6)]
    assert b.asked == [("propose", 10), ("extend", 6)]
    assert c.asked == [("propose", 10)]


@pytest.mark.parametrize("n_max", range(1, 8))
def test_a_chain_never_drafts_more_than_was_asked_for(n_max: int) -> None:
    chain = chain_of(a=Lookup(copy(REPLY, 99, behind=1)), model=Member(copy(REPLY, 4)))
    proposal = propose(chain, n_max)
    assert len(proposal.tokens) == n_max
    assert len(proposal.confidences) == n_max
    assert bytes(proposal.tokens).decode() == REPLY[:n_max]
    assert len(proposal.parts) == (1 if n_max <= 4 else 2)


def test_what_a_drafter_proposes_beyond_what_it_was_asked_for_is_cut() -> None:
    greedy = Lookup(nothing)
    greedy.extend = lambda ahead, n_max: Draft([1] * 9)  # type: ignore[method-assign]
    extended = propose(chain_of(a=greedy, model=Member(copy(REPLY, 2))), 5)
    assert extended.tokens == [*REPLY[:2].encode(), 1, 1, 1]
    greedy.propose = lambda n_max: Draft([1] * 9)  # type: ignore[method-assign]
    assert propose(chain_of(a=greedy), 4).tokens == [1] * 4


def test_a_lookup_that_cannot_extend_is_passed_over() -> None:
    stiff, b = Member(copy(REPLY, 9, behind=1)), Lookup(copy(REPLY, 2, behind=1))
    chain = chain_of(stiff=stiff, b=b, model=Member(copy(REPLY, 4)))
    assert parts(propose(chain)) == [("model", "The "), ("b", "qu")]


def test_nothing_continues_after_an_end_or_after_no_draft() -> None:
    a = Lookup(copy("ab" * 9, 9, behind=1))
    assert propose(chain_of(a=a, model=Member(copy("a", 9)))).tokens == [97, EOG]
    assert a.asked == [("propose", 10)]
    silent = propose(chain_of(a=a, model=Member(nothing)))
    assert (silent.tokens, silent.parts) == ([], [])


def test_an_end_within_a_part_ends_the_draft() -> None:
    lookup = Lookup(lambda text, n: [98, EOG, 99, 99] if len(text) > len(PROMPT) else ())
    proposal = propose(chain_of(a=lookup, model=Member(lambda text, n: [97])))
    assert proposal.tokens == [97, 98, EOG]
    assert [part.n for part in proposal.parts] == [1, 2]


# --------------------------------------------------------------------------------- whose is whose


@given(
    n_model=st.integers(1, 5), n_lookup=st.integers(0, 5),
    n_accepted=st.integers(0, 10), n_discarded=st.integers(0, 10),
)  # fmt: skip
def test_counts_are_those_of_counting_token_by_token(
    n_model: int, n_lookup: int, n_accepted: int, n_discarded: int
) -> None:
    n = n_model + n_lookup
    n_accepted = min(n_accepted, n)
    n_discarded = min(n_discarded, n - n_accepted)
    fates = ["accepted"] * n_accepted
    fates += ["rejected"] * (n - n_accepted - n_discarded) + ["discarded"] * n_discarded
    model, lookup = Member(copy(REPLY, n_model)), Lookup(copy(REPLY, n_lookup, behind=1))
    idle = Lookup(nothing)
    meter = TurnMeter()
    chain = Chain(strategy(idle=idle, a=lookup, model=model), bench(), meter)
    proposal = propose(chain, 20)
    assert len(proposal.tokens) == n
    counts = {c.drafter: c for c in chain.observe(proposal, n_accepted, n_discarded)}
    for name, drafter, own in (("model", model, fates[:n_model]), ("a", lookup, fates[n_model:])):
        if own:
            accepted, discarded = own.count("accepted"), own.count("discarded")
            assert counts[name] == DraftCount(name, len(own), accepted, discarded)
            assert drafter.seen == [accepted]
            frozen = meter.drafter(name).freeze(name)
            assert (frozen.tokens, frozen.tokens_accepted) == (len(own), accepted)
            assert sum(frozen.accepted_per_position) == accepted
        else:
            assert name not in counts
            assert drafter.seen == [None]
    assert idle.seen == [None]
    places = meter.drafter("a").per_position
    assert places[:n_model] == [0] * min(n_model, len(places))  # places within the whole draft


def test_a_drafter_that_has_not_begun_gets_no_reports() -> None:
    a, b = Lookup(copy(REPLY, 2)), Lookup(nothing)
    chain = chain_of(a=a, b=b)
    chain.observe(propose(chain), 1, 0)
    assert (a.seen, b.seen) == ([1], [])


def chained(reply: str = REPLY, **members: Member) -> Decoder:
    """A decoder on a scripted reply with these drafters."""
    decoder = decoder_for(FakeModel(scripted(reply, len(PROMPT))))
    decoder.switch(strategy(**members))
    return decoder


def test_the_events_of_a_chain_name_every_token() -> None:
    model, lookup = Member(copy(REPLY, 2), sure=0.5), Lookup(copy("The quack", 3, behind=3))
    decoder = chained(a=lookup, model=model)
    steps = run(decoder)
    assert decoder.reply == REPLY
    first = steps[1]  # after "T": "he" by the model, " qu" after it, then the target's "i"
    assert [(t.source, t.position, t.confidence) for t in first.tokens] == [
        ("model", 0, 0.5), ("model", 1, 0.5), ("a", 2, None), ("a", 3, None), ("a", 4, None),
        (SOURCE_TARGET, -1, None),
    ]  # fmt: skip
    assert first.drafted == (DraftCount("model", 2, 2), DraftCount("a", 3, 3))
    second = steps[2]  # the lookup alone now, and wrong: "ck" of "quack" reads "ick" in the reply
    assert [t.source for t in second.tokens] == ["a", "a", SOURCE_TARGET]
    assert second.drafted == (DraftCount("a", 3, 2),)
    stats = decoder.meter.freeze()
    assert stats.n_drafted == sum(c.n_drafted for s in steps for c in s.drafted)
    assert stats.n_accepted == sum(c.n_accepted for s in steps for c in s.drafted)
    assert {d.drafter: d.accepted_per_position[:5] for d in stats.by_drafter}["a"][2:] == (1, 1, 1)


# -------------------------------------------------------------------------------- broken members


@pytest.mark.parametrize("broken", ["a", "b", "model"])
@pytest.mark.parametrize("method", ["begin", "propose", "extend", "observe", "close"])
def test_a_member_that_breaks_leaves_the_others_working(broken: str, method: str) -> None:
    members = {
        "a": Lookup(copy(REPLY, 3, behind=8, until=18)),
        "b": Lookup(copy(REPLY, 3, behind=28)),
        "model": Lookup(copy(REPLY, 2)),
    }
    setattr(members[broken], method, explode)
    decoder = chained(**members)
    run(decoder)
    assert decoder.reply == REPLY
    never = method == "extend" and broken == "model"  # it does not extend
    assert [name for name, _ in decoder.draft_failures] == ([] if never else [broken])
    for name in members.keys() - {broken}:
        assert decoder.meter.drafters[name].tokens_accepted > 0, name
    if method != "close" and not never:
        assert members[broken].closed == 1  # it may hold something


def test_a_chain_of_broken_members_drafts_no_more() -> None:
    a, model = Lookup(explode), Member(explode)
    chain = chain_of(a=a, model=model)
    assert propose(chain).tokens == []
    assert not chain.may_draft
    assert [name for name, _ in chain.failures] == ["a", "model"]
    propose(chain)
    assert (len(a.asked), len(model.asked)) == (1, 1)


def test_a_cancel_passes_through() -> None:
    def cancelled(*_: object) -> Sequence[int]:
        raise CancelledError

    chain = chain_of(a=Lookup(nothing), model=Member(cancelled))
    with pytest.raises(CancelledError):
        propose(chain)
    assert chain.failures == []


def test_a_chain_that_cannot_be_made_lets_go_of_its_beginning() -> None:
    first = Lookup(nothing)

    def impossible(_bench: Workbench, _settings: Settings) -> Member:
        raise UserError("no-draft-model", "There is none.")

    bad = DrafterInfo("model", "m", "m.", "model", (), impossible)
    with pytest.raises(UserError):
        Chain(CompleteStrategy(((info_of("a", first), {}), (bad, {}))), bench(), TurnMeter())
    assert first.closed == 1


# ------------------------------------------------------------------------------------- settings


def with_settings(old: CompleteStrategy, value: float) -> CompleteStrategy:
    return CompleteStrategy(tuple((info, {"n": value}) for info in old.infos))


def test_settings_reach_every_member_without_a_new_chain() -> None:
    a, b = Lookup(nothing), Lookup(copy(REPLY, 1))
    old = strategy(a=a, b=b)
    chain = Chain(old, bench(), TurnMeter())
    propose(chain)
    new = with_settings(old, 7)
    assert chain.tune(new)
    assert (a.settings, b.settings) == ({"n": 7}, {"n": 7})
    assert chain.strategy is new
    assert (a.begun, a.closed) == (1, 0)


def test_a_member_that_takes_no_settings_asks_for_a_new_chain() -> None:
    old = strategy(a=Lookup(nothing), b=Member(nothing))
    chain = Chain(old, bench(), TurnMeter())
    assert not chain.tune(with_settings(old, 7))
    assert chain.strategy is old


def test_other_drafters_ask_for_a_new_chain() -> None:
    a, b = Lookup(nothing), Lookup(nothing)
    chain = chain_of(a=a, b=b)
    infos = {"a": info_of("a", a), "b": info_of("b", b)}
    for names in ("a", "b", "ba", "aa"):
        assert not chain.tune(CompleteStrategy(tuple((infos[name], {}) for name in names)))
    assert (a.settings, b.settings) == (None, None)


@pytest.mark.parametrize("kind", [Lookup, Member])
def test_switching_closes_the_old_members_and_begins_the_new_ones(kind: type[Member]) -> None:
    made: list[Member] = []

    def make(_bench: Workbench, settings: Settings) -> Member:
        made.append(kind(copy(REPLY, int(settings["n"]))))
        return made[-1]

    info = DrafterInfo("a", "a", "a.", "lookup", (), make)
    decoder = decoder_for(FakeModel(scripted(REPLY, len(PROMPT))))
    for i, _ in enumerate(decoder.run(PROMPT, lambda _n: None)):
        decoder.switch(CompleteStrategy(((info, {"n": 2 + i}),)))
    assert decoder.reply == REPLY
    assert len(made) == (1 if kind is Lookup else i + 1)
    assert all(member.closed == 1 for member in made)


def test_a_member_that_breaks_while_it_is_tuned_is_made_anew() -> None:
    made: list[Lookup] = []

    def make(_bench: Workbench, settings: Settings) -> Lookup:
        made.append(Lookup(copy(REPLY, 2)))
        if len(made) == 1:
            made[0].tune = explode  # type: ignore[method-assign]
        return made[-1]

    info = DrafterInfo("a", "a", "a.", "lookup", (), make)
    decoder = decoder_for(FakeModel(scripted(REPLY, len(PROMPT))))
    decoder.switch(CompleteStrategy(((info, {}),)))
    for i, _ in enumerate(decoder.run(PROMPT, lambda _n: None)):
        if i == 2:
            decoder.switch(CompleteStrategy(((info, {"n": 1}),)))
    assert decoder.reply == REPLY
    assert len(made) == 2
    assert decoder.draft_failures == []
    assert made[1].asked


# -------------------------------------------------------------------------------------- grammars


def test_what_a_grammar_forces_comes_first() -> None:
    grammar = TextsGrammar(b"name: a", b"name: b")
    lookup = Lookup(copy("nothing", 9))
    chain = chain_of(grammar, a=lookup)
    assert parts(propose(chain, 9)) == [("grammar", "name: ")]
    assert lookup.asked == []
    assert grammar.n_open == [1]  # every copy of it was freed


def test_what_a_grammar_forbids_is_not_drafted() -> None:
    grammar = TextsGrammar(b"abcd", b"bacd", b"abzz")
    chain = chain_of(grammar, a=Lookup(copy("abxyz", 9)), b=Lookup(copy("bacde", 9)))
    assert parts(propose(chain)) == [("a", "ab")]
    forbidden = chain_of(grammar, a=Lookup(copy("xyz", 9)), b=Lookup(copy("bacde", 9)))
    assert parts(propose(forbidden)) == [("b", "bacd")]  # the first one had nothing legal
    assert grammar.n_open == [1]


def test_a_grammar_that_cannot_read_on_ends_the_draft_and_not_the_reply() -> None:
    class SlowGrammar(TextsGrammar):
        def accept(self, token: int) -> None:
            if self.done == b"ba":
                raise EngineError("grammar-too-slow", "It takes too long.")
            super().accept(token)

        def clone(self) -> SlowGrammar:
            other = SlowGrammar(*self.texts)
            other.done, other.n_open = self.done, self.n_open
            self.n_open[0] += 1
            return other

    grammar = SlowGrammar(b"abcd", b"bacd")
    assert parts(propose(chain_of(grammar, a=Lookup(copy("bacd", 9))))) == [("a", "ba")]
    assert grammar.n_open == [1]


def test_an_extension_is_legal_after_the_models_draft() -> None:
    grammar = TextsGrammar(b"abcd", b"bacd", b"abzz")
    chain = chain_of(grammar, a=Lookup(copy("abzy", 9, behind=1)), model=Member(copy("abzz", 2)))
    assert parts(propose(chain)) == [("model", "ab"), ("a", "z")]
    astray = chain_of(grammar, a=Lookup(copy("xyab", 9, behind=1)), model=Member(copy("xy", 2)))
    assert parts(propose(astray)) == [("model", "xy")]
    assert grammar.n_open == [1]


def test_without_drafters_a_grammar_drafts_nothing() -> None:
    off = CompleteStrategy(
        ((DrafterInfo("off", "o", "o.", "off", (), lambda _b, _s: Member(nothing)), {}),)
    )
    chain = Chain(off, bench(TextsGrammar(b"name: a")), TurnMeter())
    assert not chain.may_draft


@pytest.mark.parametrize(
    ("given_confidences", "kept"),
    [
        ([0.5, 0.25, 1.0], [0.5, 0.25, 1.0]),
        ([-1, 7, 0.5], [0, 1, 0.5]),
        ([0.5], [None] * 3),
        ([0.5] * 9, [0.5] * 3),
        ([0.5, float("nan"), 0.5], [None] * 3),
        (np.array([0.5, 0.5, 1.5], np.float32), [0.5, 0.5, 1]),
    ],
)
def test_confidences_are_numbers_from_0_to_1_or_none(
    given_confidences: Sequence[float], kept: list[float | None]
) -> None:
    member = Member(nothing)
    member.propose = lambda n_max: Draft([1, 2, 3], given_confidences)  # type: ignore[method-assign]
    assert propose(chain_of(a=member)).confidences == kept

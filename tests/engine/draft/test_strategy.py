"""Strategy texts: what they name, and what is refused with a reason."""

from __future__ import annotations

import itertools

import pytest

from paceline.engine.draft.base import AUTO, DrafterInfo, Settings
from paceline.engine.draft.strategy import (
    as_written,
    brief,
    complete,
    parse_strategy,
    read_strategy,
    short_text,
    strategy_named,
    strategy_text,
)
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.params import Strategy


def one(text: str) -> tuple[DrafterInfo, Settings]:
    """The only drafter of a strategy."""
    (member,) = parse_strategy(text).drafters
    return member


def refused(text: str) -> ValueOutOfRangeError:
    with pytest.raises(ValueOutOfRangeError) as caught:
        parse_strategy(text)
    assert caught.value.code == "bad-strategy"
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    return caught.value


# ------------------------------------------------------------------------------------- parsing


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("off", "off", {}),
        ("draft", "draft", {"n_max": 16, "n_min": 0, "p_min": 0.5}),
        (" draft\n", "draft", {"n_max": 16, "n_min": 0, "p_min": 0.5}),
        ("draft:n_max=4", "draft", {"n_max": 4, "n_min": 0, "p_min": 0.5}),
        ("draft:p_min=0:n_max=10000:n_min=3", "draft", {"n_max": 10000, "n_min": 3, "p_min": 0}),
        ("draft:n_min=5:n_max=5:p_min=1", "draft", {"n_max": 5, "n_min": 5, "p_min": 1}),
        ("draft:p_min=5e-1", "draft", {"n_max": 16, "n_min": 0, "p_min": 0.5}),
        ("prompt-lookup", "prompt-lookup", {"max_ngram": 3, "n_pred": 8}),
        ("prompt-lookup:max_ngram=16:n_pred=64", "prompt-lookup", {"max_ngram": 16, "n_pred": 64}),
    ],
)
def test_strategies(text: str, name: str, settings: dict[str, float]) -> None:
    info, given = one(text)
    assert info.id == name
    assert dict(given) == settings
    for parameter in info.parameters:
        if parameter.kind == "int":
            assert isinstance(given[parameter.name], int)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no strategy “”"),
        ("Draft", "no strategy “Draft”"),
        ("nonsense", "no strategy “nonsense”"),
        ("nonsense:n_max=4", "no strategy “nonsense”"),
        (":n_max=4", "no strategy “”"),
        ("n_max=4", "no strategy"),
        ("auto+draft", "“auto” cannot be part of a chain"),
        ("suffix+auto", "“auto” cannot be part of a chain"),
        ("auto:p_min=0", "no setting of auto"),
        ("draft:n_max=Auto", "must be a whole number"),
        ("off+draft", "cannot be part of a chain"),
        ("draft+draft", "named twice"),
        ("suffix+suffix+draft", "named twice"),
        ("prompt-lookup+draft+auto", "cannot be part of a chain"),
        ("suffix+ngram-mod:n_max=4:suffix.n_max=3", "no setting"),
        (
            "ngram-mod+draft:n_max=4",
            "could mean several",
        ),
        ("draft+mtp", "the chain has more: “draft”, “mtp”."),
        ("ngram-mod+draft:off.n_max=4", "no setting of ngram-mod+draft"),
        ("ngram-mod+draft:draft.n_max=0", "from 1 to 10,000"),
        ("ngram-mod+draft:draft.n_max=4:draft.n_max=4", "given twice"),
        ("draft+nonsense", "no strategy"),
        ("+", "no strategy"),
        ("draft:", "“” is no setting of draft"),
        ("draft::n_max=4", "“” is no setting of draft"),
        ("draft:n_max", "“n_max” has no value"),
        ("draft:nmax", "“nmax” is no setting of draft"),
        ("draft+", "A drafter is missing in “draft+”"),
        ("suffix++draft", "A drafter is missing"),
        ("draft:N_MAX=4", "“N_MAX=4” is no setting"),
        ("draft:n_pred=4", "“n_pred=4” is no setting of draft"),
        ("off:n_max=4", "“n_max=4” is no setting of off"),
        ("draft:n_max=" + "9" * 5000, "must be a whole number"),
        ("draft:n_max=4=4", "must be a whole number"),
        ("draft:n_max=4:n_max=5", "n_max is given twice"),
        ("draft:n_min=17", "above n_max 16"),
        ("draft:n_max=4:n_min=5", "above n_max 4"),
        ("ngram-mod:n_max=10:n_min=48", "above n_max 10"),
    ],
)
def test_every_other_text_is_refused_with_a_reason(text: str, words: str) -> None:
    assert words in refused(text).message.replace("\n", "")


def test_hints_list_what_there_is() -> None:
    for name in ("off", "draft", "prompt-lookup"):
        assert name in refused("nonsense").hint
        assert name in refused("automatic").hint
    assert "or auto" in refused("draft:n_max=x").message
    assert "or auto" not in refused("draft:p_min=x").message
    for name in ("n_max", "n_min", "p_min"):
        assert name in refused("draft:x=1").hint
    assert "no settings" in refused("off:x=1").hint
    assert refused("draft:n_max=x").hint == "The default is 16."
    assert "16" in refused("draft:n_max=0").hint
    hint = refused("ngram-mod+draft:n_max=4").hint
    assert hint == "Choose one of ngram-mod.n_max, draft.n_max."


# ---------------------------------------------------------------------------------------- chains


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("suffix+draft", ["suffix", "draft"]),
        ("draft+suffix", ["suffix", "draft"]),
        ("draft+ngram-mod+suffix", ["ngram-mod", "suffix", "draft"]),
        ("ngram-mod+prompt-lookup", ["ngram-mod", "prompt-lookup"]),
    ],
)
def test_lookups_come_first_in_their_own_order_and_the_model_last(
    text: str, names: list[str]
) -> None:
    strategy = parse_strategy(text)
    assert [info.id for info in strategy.infos] == names
    assert strategy.speculates
    assert strategy.needs == ("draft" if "draft" in names else "")


def test_settings_of_a_chain() -> None:
    text = "ngram-mod+draft:draft.n_max=4:ngram-mod.n_max=8:p_min=0.5:n_match=3"
    (_, lookup), (_, model) = parse_strategy(text).drafters
    assert dict(lookup) == {"n_match": 3, "n_min": 8, "n_max": 8}
    assert dict(model) == {"n_max": 4, "n_min": 0, "p_min": 0.5}
    assert one("draft:draft.n_max=4") == one("draft:n_max=4")


def test_a_default_n_min_yields_to_a_smaller_n_max() -> None:
    assert one("ngram-mod:n_max=10")[1]["n_min"] == 10
    assert one("ngram-mod:n_max=50")[1]["n_min"] == 48


def test_what_a_grammar_forces_is_drafted_first_where_anything_is_drafted() -> None:
    members = parse_strategy("suffix+draft").members(has_grammar=True)
    assert [info.id for info, _ in members] == ["grammar", "suffix", "draft"]
    assert [info.id for info, _ in parse_strategy("off").members(has_grammar=True)] == []
    assert len(parse_strategy("draft").members(has_grammar=False)) == 1
    assert not parse_strategy("off").speculates


# ------------------------------------------------------------------------------------------ auto


def test_auto_is_a_portfolio_of_what_there_is() -> None:
    strategy = parse_strategy("auto")
    assert (strategy.is_auto, strategy.is_controlled, strategy.speculates) == (True, True, True)
    assert (strategy.uses_model, strategy.needs) == (True, "")
    for has_grammar, has_earlier, has_cache in itertools.product((False, True), repeat=3):
        for model in ("", "draft", "mtp"):
            members = strategy.members(
                has_grammar=has_grammar, model=model, has_earlier=has_earlier, has_cache=has_cache
            )
            assert [info.id for info, _ in members] == [
                *["grammar"] * has_grammar, *["earlier"] * has_earlier, "suffix",
                *["ngram-cache"] * has_cache, *[model] * bool(model),
            ]  # fmt: skip


@pytest.mark.parametrize("longest", [1, 7, 32, 62])
def test_autos_drafters_have_all_their_settings_within_their_ranges(longest: int) -> None:
    strategy = parse_strategy(f"auto:n_max={longest}")
    assert strategy.n_most == longest
    for info, settings in strategy.members(has_grammar=False):
        assert set(settings) == {parameter.name for parameter in info.parameters}
        for parameter in info.parameters:
            assert parameter.low <= settings[parameter.name] <= parameter.high
            if parameter.can_be_auto:
                assert settings[parameter.name] == longest


@pytest.mark.parametrize("strategy", ["auto", "off"])
def test_some_strategies_make_no_drafter_of_their_own(strategy: str) -> None:
    info, settings = one(strategy)
    with pytest.raises(UserError, match="no drafter of its own"):
        info.make(None, settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "stored", "used"),
    [
        (
            "draft:n_max=auto",
            {"n_max": AUTO, "n_min": 0, "p_min": 0},
            {"n_max": 32, "n_min": 0, "p_min": 0},
        ),
        (
            "draft:n_max=auto:p_min=0.5:n_min=2",
            {"n_max": AUTO, "n_min": 2, "p_min": 0.5},
            {"n_max": 32, "n_min": 2, "p_min": 0.5},
        ),
        (
            "suffix:max=auto",
            {"max": AUTO, "min_match": 2, "p_min": 0},
            {"max": 32, "min_match": 2, "p_min": 0},
        ),
        (
            "ngram-mod:n_max=auto",
            {"n_match": 24, "n_min": 0, "n_max": AUTO},
            {"n_match": 24, "n_min": 0, "n_max": 32},
        ),
        (
            "prompt-lookup:n_pred=auto",
            {"max_ngram": 3, "n_pred": AUTO},
            {"max_ngram": 3, "n_pred": 32},
        ),
        ("ngram-cache:n_max=auto", {"n_max": AUTO}, {"n_max": 32}),
        ("ngram-simple:m=auto", None, {"m": 32}),
    ],
)
def test_a_length_can_be_automatic(
    text: str, stored: dict[str, float] | None, used: dict[str, float]
) -> None:
    strategy = parse_strategy(text)
    assert strategy.is_controlled
    assert not strategy.is_auto
    if stored is not None:
        assert dict(strategy.drafters[0][1]) == stored
    ((_, settings),) = strategy.members(has_grammar=False)
    assert used.items() <= dict(settings).items()


def test_in_a_chain_the_other_lengths_are_limits() -> None:
    strategy = parse_strategy("suffix+draft:suffix.max=5:draft.n_max=auto")
    assert strategy.is_controlled
    (_, lookup), (_, model) = strategy.members(has_grammar=False)
    assert (lookup["max"], model["n_max"], model["p_min"]) == (5, 32, 0)


@pytest.mark.parametrize("text", ["off", "draft", "suffix+draft:draft.n_max=4"])
def test_a_strategy_with_lengths_of_its_own_is_not_controlled(text: str) -> None:
    assert not parse_strategy(text).is_controlled


# ---------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("drafters", "text"),
    [
        ((), ""),
        ((("nonsense", ()),), "nonsense"),
        ((("nonsense", (("n_max", 4.0),)),), "nonsense:n_max=4"),
        ((("draft", (("n_max", 10001.0),)),), "draft:n_max=10001"),
        ((("draft", (("n_max", 4.5),)),), "draft:n_max=4.5"),
        ((("draft", (("n_max", float("nan")),)),), "draft:n_max=nan"),
        ((("draft", (("p_min", 1.01),)),), "draft:p_min=1.01"),
        ((("draft", (("p_min", float("nan")),)),), "draft:p_min=nan"),
        ((("draft", (("n_pred", 4.0),)),), "draft:n_pred=4"),
        ((("off", (("n_max", 4.0),)),), "off:n_max=4"),
        ((("draft", (("n_min", 17.0),)),), "draft:n_min=17"),
        ((("off", ()), ("draft", ())), "off+draft"),
        ((("draft", ()), ("draft", ())), "draft+draft"),
        ((("suffix", ()), ("draft", (("n", 4.0),))), "suffix+draft:draft.n=4"),
        ((("auto", (("n_max", 63.0),)),), "auto:n_max=63"),
    ],
)
def test_a_value_is_refused_as_its_text_is(
    drafters: tuple[tuple[str, tuple[tuple[str, float], ...]], ...], text: str
) -> None:
    with pytest.raises(ValueOutOfRangeError) as caught:
        complete(Strategy(drafters))
    because = refused(text)
    assert (caught.value.code, caught.value.message, caught.value.hint) == (
        because.code, because.message, because.hint,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "off",
        "auto",
        "auto:n_max=8",
        "draft:n_max=auto:p_min=0.25",
        "draft:p_min=0",
        "draft:p_min=1",
        "suffix+draft:suffix.max=3:draft.n_max=4:draft.n_min=0",
    ],
)
def test_a_value_is_written_as_it_was_read(text: str) -> None:
    value = read_strategy(text)
    assert strategy_text(value) == text
    floats = Strategy(
        tuple((name, tuple((key, float(v)) for key, v in own)) for name, own in value.drafters)
    )
    assert strategy_text(floats) == text
    for (_, settings), (info, exact) in zip(
        complete(floats).drafters, parse_strategy(text).drafters, strict=True
    ):
        assert settings == exact
        for parameter in info.parameters:
            given = settings[parameter.name]
            assert isinstance(given, int) == isinstance(exact[parameter.name], int)


def test_what_there_is_not_is_written_all_the_same() -> None:
    gone = Strategy((("plugin.gone", (("n", 0.0), ("share", 0.5))),))
    assert strategy_text(gone) == "plugin.gone:n=0:share=0.5"
    assert strategy_text(Strategy((("draft", (("gone", 4.0),)),))) == "draft:gone=4"


def test_users_are_told_their_own_text() -> None:
    written = "draft+suffix:n_max=04"
    for told in (
        read_strategy("suffix+draft:draft.n_max=4"),
        complete(read_strategy(written)).value,
    ):
        assert as_written(told, written) == written
    assert as_written(Strategy.of("off"), written) == "off"
    assert as_written(parse_strategy("suffix:max=7").value, written) == "suffix:max=7"


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("off", "off"),
        ("draft:n_max=16", "draft"),
        ("draft:n_max=9:n_min=3", "draft:n_max=9:n_min=3"),
        ("draft:n_max=auto:p_min=0.5", "draft:n_max=auto:p_min=0.5"),  # a default that yields
        ("draft:n_max=auto:p_min=0", "draft:n_max=auto"),
        ("ngram-mod:n_max=9", "ngram-mod:n_max=9"),  # whose n_min yields, too
        ("ngram-mod+draft:ngram-mod.n_min=48:draft.n_min=2", "ngram-mod+draft:draft.n_min=2"),
    ],
)
def test_what_all_settings_are_is_written_in_short(text: str, short: str) -> None:
    whole = parse_strategy(text)
    assert complete(whole.value) == whole
    assert short_text(whole.value) == short_text(read_strategy(text)) == short
    assert complete(brief(whole.value)) == whole
    assert strategy_named(short) == whole.value


@pytest.mark.parametrize(
    "text", ["", "gone", "gone:n=1:p", "draft:n_max=x", "draft+draft", "a:b+c"]
)
def test_a_text_that_cannot_be_read_stays(text: str) -> None:
    assert short_text(strategy_named(text)) == text

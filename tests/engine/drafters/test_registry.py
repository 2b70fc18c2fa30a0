"""Strategy texts, and drafters from other packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from paceline.engine.cancel import CancelFlag
from paceline.engine.drafters import registry
from paceline.engine.drafters.base import Draft, Parameter, Workbench
from paceline.engine.drafters.draft_model import DraftModel
from paceline.engine.drafters.off import Off
from paceline.engine.drafters.prompt_lookup import PromptLookup
from paceline.engine.drafters.registry import available, parse_strategy
from paceline.engine.fake import ByteVocabulary, FakeModel, scripted
from paceline.engine.prefix import CachedContext
from paceline.engine.sampling import Sampler
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.messages import SamplingParams


def bench(draft: FakeModel | None = None) -> Workbench:
    return Workbench(
        vocab=ByteVocabulary(),
        sampler=Sampler(SamplingParams(), 1),
        draft=CachedContext(draft) if draft else None,
        eog=frozenset(),
        remember=False,
        chunk=16,
    )


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
        ("draft", "draft", {"n_max": 16, "n_min": 0, "p_min": 0.75}),
        (" draft\n", "draft", {"n_max": 16, "n_min": 0, "p_min": 0.75}),
        ("draft:n_max=4", "draft", {"n_max": 4, "n_min": 0, "p_min": 0.75}),
        ("draft:p_min=0:n_max=10000:n_min=3", "draft", {"n_max": 10000, "n_min": 3, "p_min": 0}),
        ("draft:n_min=5:n_max=5:p_min=1", "draft", {"n_max": 5, "n_min": 5, "p_min": 1}),
        ("draft:p_min=5e-1", "draft", {"n_max": 16, "n_min": 0, "p_min": 0.5}),
        ("prompt-lookup", "prompt-lookup", {"max_ngram": 3, "n_pred": 8}),
        ("prompt-lookup:max_ngram=16:n_pred=64", "prompt-lookup", {"max_ngram": 16, "n_pred": 64}),
    ],
)
def test_strategies(text: str, name: str, settings: dict[str, float]) -> None:
    strategy = parse_strategy(text)
    assert strategy.info.id == name
    assert dict(strategy.settings) == settings
    for parameter in strategy.info.parameters:
        if parameter.kind == "int":
            assert isinstance(strategy.settings[parameter.name], int)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no strategy “”"),
        ("Draft", "no strategy “Draft”"),
        ("nonsense", "no strategy “nonsense”"),
        ("nonsense:n_max=4", "no strategy “nonsense”"),
        (":n_max=4", "no strategy “”"),
        ("n_max=4", "no strategy"),
        ("auto", "not built yet"),
        ("suffix", "not built yet"),
        ("ngram-cache:n_max=3", "not built yet"),
        ("prompt-lookup+draft", "not built yet"),
        ("draft+nonsense", "no strategy"),
        ("+", "no strategy"),
        ("draft:", "“” is no setting of draft"),
        ("draft::n_max=4", "“” is no setting of draft"),
        ("draft:n_max", "“n_max” is no setting"),
        ("draft:N_MAX=4", "“N_MAX=4” is no setting"),
        ("draft:n_pred=4", "“n_pred=4” is no setting of draft"),
        ("off:n_max=4", "“n_max=4” is no setting of off"),
        ("draft:n_max=", "not a whole number"),
        ("draft:n_max=four", "not a whole number"),
        ("draft:n_max=4.0", "not a whole number"),
        ("draft:n_max=1e3", "not a whole number"),
        ("draft:n_max=" + "9" * 5000, "not a whole number"),
        ("draft:n_max=4=4", "not a whole number"),
        ("draft:p_min=often", "not a number"),
        ("draft:n_max=0", "from 1 to 10000"),
        ("draft:n_max=-4", "from 1 to 10000"),
        ("draft:n_max=10001", "from 1 to 10000"),
        ("draft:n_min=-1", "from 0 to 10000"),
        ("draft:p_min=-0.1", "from 0 to 1"),
        ("draft:p_min=1.01", "from 0 to 1"),
        ("draft:p_min=nan", "from 0 to 1"),
        ("draft:p_min=inf", "from 0 to 1"),
        ("prompt-lookup:max_ngram=0", "from 1 to 16"),
        ("prompt-lookup:max_ngram=17", "from 1 to 16"),
        ("prompt-lookup:n_pred=65", "from 1 to 64"),
        ("draft:n_max=4:n_max=5", "n_max is given twice"),
        ("draft:n_min=17", "above n_max 16"),
        ("draft:n_max=4:n_min=5", "above n_max 4"),
    ],
)
def test_every_other_text_is_refused_with_a_reason(text: str, words: str) -> None:
    assert words in refused(text).message.replace("\n", "")


def test_hints_list_what_there_is() -> None:
    for name in ("off", "draft", "prompt-lookup"):
        assert name in refused("nonsense").hint
        assert name in refused("auto").hint
    for name in ("n_max", "n_min", "p_min"):
        assert name in refused("draft:x=1").hint
    assert "no settings" in refused("off:x=1").hint
    assert "1 to 10000" in refused("draft:n_max=x").hint
    assert "16" in refused("draft:n_max=0").hint


# ---------------------------------------------------------------------------------------- making


def test_strategies_make_their_drafters() -> None:
    model = FakeModel(scripted("", 0))
    assert isinstance(parse_strategy("off").make(bench()), Off)
    assert isinstance(parse_strategy("prompt-lookup").make(bench()), PromptLookup)
    assert isinstance(parse_strategy("draft").make(bench(model)), DraftModel)


def test_a_draft_strategy_needs_a_draft_model() -> None:
    with pytest.raises(UserError) as caught:
        parse_strategy("draft").make(bench())
    assert caught.value.code == "no-draft-model"


def test_a_draft_model_must_take_tokens_back() -> None:
    model = FakeModel(scripted("", 0), can_rollback=False, cancel=CancelFlag())
    with pytest.raises(UserError) as caught:
        parse_strategy("draft").make(bench(model))
    assert caught.value.code == "draft-cannot-rollback"


def test_off_proposes_nothing() -> None:
    drafter = parse_strategy("off").make(bench())
    drafter.begin([1, 2], 1)
    assert list(drafter.propose(8).tokens) == []
    drafter.observe(None)
    drafter.close()


# -------------------------------------------------------------------------------------- plug-ins


class Phrases:
    """Knows phrases by heart.

    More than that nobody needs to read.
    """

    title = "Phrase book"
    parameters = (Parameter("n_pred", "int", 5, 1, 9, "Ahead", "Tokens ahead."),)

    def __init__(self, bench: Workbench, settings: dict[str, float]) -> None:
        self.settings = settings

    def begin(self, history: Sequence[int], n_prompt: int) -> None: ...

    def propose(self, n_max: int) -> Draft:
        return Draft([1] * min(n_max, int(self.settings["n_pred"])))

    def observe(self, n_accepted: int | None) -> None: ...

    def close(self) -> None: ...


class Bare(Phrases):
    __doc__ = None
    parameters = ()


class FakeEntry:
    """What an installed package announces."""

    def __init__(self, name: str, thing: object) -> None:
        self.name = name
        self._thing = thing

    def load(self) -> object:
        if isinstance(self._thing, BaseException):
            raise self._thing
        return self._thing


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call it with name=class to announce plug-ins."""

    def announce(**things: object) -> None:
        entries = [FakeEntry(name, thing) for name, thing in things.items()]

        def entry_points(*, group: str, name: str | None = None) -> list[FakeEntry]:
            assert group == "paceline.drafters"
            return [entry for entry in entries if name in (None, entry.name)]

        monkeypatch.setattr(registry, "entry_points", entry_points)

    return announce


def test_built_in_drafters_come_first(install: Any) -> None:
    install(zebra=Phrases, ape=Bare)
    assert [info.id for info in available()] == [
        "off", "draft", "prompt-lookup", "plugin.ape", "plugin.zebra",
    ]  # fmt: skip
    install()
    assert [info.id for info in available()] == ["off", "draft", "prompt-lookup"]


def test_a_plugin_describes_itself(install: Any) -> None:
    install(phrases=Phrases)
    info = available()[-1]
    assert (info.id, info.title, info.family) == ("plugin.phrases", "Phrase book", "lookup")
    assert info.summary == "Knows phrases by heart."
    assert info.parameters == Phrases.parameters


def test_a_plugin_may_say_nothing(install: Any) -> None:
    install(bare=Bare)
    info = available()[-1]
    assert info.summary
    assert info.parameters == ()
    assert parse_strategy("plugin.bare").settings == {}


def test_a_plugins_settings_are_parsed_and_checked(install: Any) -> None:
    install(phrases=Phrases)
    strategy = parse_strategy("plugin.phrases:n_pred=2")
    drafter = strategy.make(bench())
    assert isinstance(drafter, Phrases)
    assert list(drafter.propose(9).tokens) == [1, 1]
    assert parse_strategy("plugin.phrases").settings == {"n_pred": 5}
    assert "from 1 to 9" in refused("plugin.phrases:n_pred=10").message
    assert "n_pred" in refused("plugin.phrases:x=1").hint


def test_a_plugin_that_is_not_installed(install: Any) -> None:
    install(phrases=Phrases)
    assert "plugin.none" in refused("plugin.none").message
    assert "plugin." in refused("plugin.").message
    assert "no strategy" in refused("phrases").message


@pytest.mark.parametrize(
    "error", [ImportError("no module named x"), AttributeError("module has no Phrases")]
)
def test_a_broken_plugin(install: Any, error: Exception) -> None:
    install(broken=error)
    with pytest.raises(UserError) as caught:
        parse_strategy("plugin.broken")
    assert caught.value.code == "broken-plugin"
    assert "broken" in caught.value.message
    assert str(error) in caught.value.message
    assert parse_strategy("draft").info.id == "draft"  # the others still work


@pytest.mark.parametrize("error", [SyntaxError("x"), RuntimeError("x"), NameError("x"), OSError()])
def test_a_plugin_may_break_in_any_way(install: Any, error: Exception) -> None:
    install(broken=error)
    with pytest.raises(UserError) as caught:
        parse_strategy("plugin.broken")
    assert caught.value.code == "broken-plugin"


def test_a_broken_plugin_does_not_hide_the_others(
    install: Any, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("plug-in broken cannot be imported")
    install(broken=ImportError("no module named x"), phrases=Phrases)
    assert {"off", "draft", "plugin.phrases"} <= {info.id for info in available()}


def test_a_plugin_with_a_blank_docstring(install: Any) -> None:
    install(blank=type("Blank", (Phrases,), {"__doc__": "\n  "}))
    assert parse_strategy("plugin.blank").info.summary

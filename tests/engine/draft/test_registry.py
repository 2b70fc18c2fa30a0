"""Strategy texts, and drafters from other packages."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from engine.workbench import workbench
from fake_model import FakeModel, scripted
from paceline.engine import draft
from paceline.engine.cancel import CancelFlag
from paceline.engine.draft import grammar_drafter, registry
from paceline.engine.draft.base import (
    Draft,
    Drafter,
    DrafterInfo,
    Parameter,
    Settings,
    Workbench,
)
from paceline.engine.draft.draft_model import ModelDrafter
from paceline.engine.draft.lookups.prompt_lookup import PromptLookup
from paceline.engine.draft.registry import available, built_in
from paceline.engine.draft.strategy import parse_strategy
from paceline.engine.model.context import CachedContext
from paceline.errors import UserError, ValueOutOfRangeError


def bench(model: FakeModel | None = None) -> Workbench:
    return workbench(draft=CachedContext(model) if model else None)


def one(text: str) -> tuple[DrafterInfo, Settings]:
    """The only drafter of a strategy."""
    (member,) = parse_strategy(text).drafters
    return member


def make(text: str, bench: Workbench) -> Drafter:
    info, settings = one(text)
    return info.make(bench, settings)


def refused(text: str) -> ValueOutOfRangeError:
    with pytest.raises(ValueOutOfRangeError) as caught:
        parse_strategy(text)
    assert caught.value.code == "bad-strategy"
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    return caught.value


# ---------------------------------------------------------------------------------------- making


def test_strategies_make_their_drafters() -> None:
    model = FakeModel(scripted("", 0))
    assert isinstance(make("prompt-lookup", bench()), PromptLookup)
    assert isinstance(make("draft", bench(model)), ModelDrafter)


def test_a_draft_strategy_needs_a_draft_model() -> None:
    with pytest.raises(UserError) as caught:
        make("draft", bench())
    assert caught.value.code == "no-draft-model"


def test_a_draft_model_must_take_tokens_back() -> None:
    model = FakeModel(scripted("", 0), can_rollback=False, cancel=CancelFlag())
    with pytest.raises(UserError) as caught:
        make("draft", bench(model))
    assert caught.value.code == "draft-cannot-rollback"


# -------------------------------------------------------------------------------------- plug-ins


class Phrases:
    """Knows phrases by heart.

    Nothing further is needed.
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
    """Entry point of an installed package."""

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


def described() -> dict[str, DrafterInfo]:
    """All drafters that the modules of the engine describe, whether they can be named or not."""
    found = {}
    for module in pkgutil.walk_packages(draft.__path__, f"{draft.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, DrafterInfo):
                found[value.id] = value
    return found


def test_every_drafter_that_is_described_can_be_named() -> None:
    known = {info.id: info for info in built_in()}
    assert list(known)[:2] == ["off", "auto"]
    found = described()
    assert found.pop(grammar_drafter.INFO.id) is grammar_drafter.INFO  # asked unnamed
    assert known == found
    assert all(registry.find(name) is info for name, info in known.items())


def test_built_in_drafters_come_first(install: Any) -> None:
    install(zebra=Phrases, ape=Bare)
    names = [info.id for info in built_in()]
    assert [info.id for info in available()] == [*names, "plugin.ape", "plugin.zebra"]
    install()
    assert [info.id for info in available()] == names


def test_a_plugin_describes_itself(install: Any) -> None:
    install(phrases=Phrases)
    info = available()[-1]
    assert (info.id, info.title, info.family) == ("plugin.phrases", "Phrase book", "lookup")
    assert info.summary == "Knows phrases by heart."
    assert info.parameters == Phrases.parameters


@pytest.mark.parametrize("doc", [None, "\n  "])
def test_a_plugin_may_say_nothing(install: Any, doc: str | None) -> None:
    install(bare=type("Bare", (Bare,), {"__doc__": doc}))
    info = available()[-1]
    assert info.summary
    assert info.parameters == ()
    assert one("plugin.bare")[1] == {}


def test_a_plugins_settings_are_parsed_and_checked(install: Any) -> None:
    install(phrases=Phrases)
    drafter = make("plugin.phrases:n_pred=2", bench())
    assert isinstance(drafter, Phrases)
    assert list(drafter.propose(9).tokens) == [1, 1]
    assert one("plugin.phrases")[1] == {"n_pred": 5}
    assert "from 1 to 9" in refused("plugin.phrases:n_pred=10").message
    assert "n_pred" in refused("plugin.phrases:x=1").hint


def test_a_plugin_that_is_not_installed(install: Any) -> None:
    install(phrases=Phrases)
    assert "plugin.none" in refused("plugin.none").message
    assert "plugin." in refused("plugin.").message
    assert "no strategy" in refused("phrases").message


@pytest.mark.parametrize(
    "broken",
    [
        *(ImportError("no module named x"), AttributeError("module has no Phrases")),
        *(SyntaxError("x"), RuntimeError("x"), NameError("x"), OSError()),
        *(7, type("Bad", (), {"parameters": (1,)})),  # which are no drafters
    ],
    ids=repr,
)
def test_a_broken_plugin(install: Any, broken: object) -> None:
    install(broken=broken)
    with pytest.raises(UserError) as caught:
        parse_strategy("plugin.broken")
    assert caught.value.code == "broken-plugin"
    assert "broken" in caught.value.message
    if isinstance(broken, Exception):
        assert str(broken) in caught.value.message
    assert one("draft")[0].id == "draft"  # the others still work


def test_a_broken_plugin_does_not_hide_the_others(
    install: Any, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("plug-in broken cannot be imported")
    install(broken=ImportError("no module named x"), phrases=Phrases)
    assert {"off", "draft", "plugin.phrases"} <= {info.id for info in available()}

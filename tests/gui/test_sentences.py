"""Sentences of engine and catalogue are shown in German, from whatever process they come."""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QWidget

from linguist import catalogue
from linguist.sources import places_of
from paceline.catalog.download.names import repository_folder
from paceline.catalog.hub.errors import from_exception, from_status
from paceline.catalog.hub.values import parse_reference
from paceline.catalog.judge.curated import curated_pairs_path, load_curated
from paceline.chat.attachments import read_attachment
from paceline.chat.exchange.reading import read_chats
from paceline.chat.presets import presets_from_text
from paceline.codec import decode, encode
from paceline.engine.draft.strategy import complete, read_strategy
from paceline.engine.model.memory_hints import what_to_do_about_weights
from paceline.engine.model.model_file import check_model_file
from paceline.engine.model.model_params import NO_REASON, no_context
from paceline.errors import ModelError, UserError
from paceline.gui.kit.notices import ErrorBar, Notice
from paceline.gui.kit.sentences import SENTENCES, said
from paceline.gui.kit.translation import install_language
from paceline.gui.models.candidates import MachineFacts, Picks
from paceline.gui.models.lists.recommended_page import RecommendedPage
from paceline.hosting.exit_reasons import describe_death
from paceline.messages import LoadFailed
from paceline.names import visible
from paceline.parameters import check_fields
from paceline.params import ModelParams, SamplingParams
from paceline.paths import resources
from paceline.sentence import Sentence, Wording, sentence
from paceline.storage.problems import MovedError, NewerSchemaError, problem_of
from paceline.workers.ends import End
from translations import ts_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot


@pytest.fixture
def german(qapp: QCoreApplication) -> Iterator[None]:
    translators = install_language("de", resources())
    yield
    for translator in translators:
        QCoreApplication.removeTranslator(translator)
        translator.deleteLater()
    QLocale.setDefault(QLocale.c())


def _templates() -> dict[str, str]:
    """Return the German translations of the templates."""
    entries = catalogue.read(ts_file("de")).items()
    return {source.text: entry.text for source, entry in entries if source.context == SENTENCES}


@pytest.mark.usefixtures("german")
def test_every_template_has_a_translation() -> None:
    for template, translation in _templates().items():
        names = {place: f"Nr. {i} {{" for i, place in enumerate(sorted(places_of(template)))}
        assert said(Sentence(template, names)) == visible(Wording().put(translation, names))


@pytest.mark.usefixtures("german")
def test_any_argument_can_be_shown() -> None:
    values = st.text() | st.integers() | st.floats()
    templates = st.sampled_from([text for text in _templates() if places_of(text)])

    @given(templates, st.data())
    def shown(template: str, data: st.DataObject) -> None:
        inner = Sentence("{n:,} {name}", {"n": data.draw(values), "name": data.draw(values)})
        names = {place: data.draw(values | st.just(inner)) for place in places_of(template)}
        assert said(Sentence(template, names))

    shown()


@pytest.mark.usefixtures("german")
def test_numbers_and_sentences_at_places_are_german() -> None:
    told = sentence(
        "There is no room for a {what}: {why}.",
        what=sentence("context of {n_ctx:,} tokens for “{name}”", n_ctx=4096, name="plainly"),
        why="No model is loaded.",
    )
    assert said(told) == (
        "Für einen Kontext von 4.096 Token für „plainly“ ist kein Platz: No model is loaded.."
    )


@pytest.mark.usefixtures("german")
def test_a_plain_text_is_translated_as_a_whole_or_not_at_all() -> None:
    """Old records keep plain texts."""
    assert said("No model is loaded.") == "Kein Modell ist geladen."
    assert said("The moon is full. No model is loaded.") == "The moon is full. No model is loaded."
    assert said("", "") == ""


_ENGLISH = re.compile(r"\b(a|and|are|at|for|has|have|is|it|must|no|not|of|or|than|the|to|with)\b")


def _raised(check: Callable[..., object], *given: object) -> UserError:
    with pytest.raises(UserError) as raised:
        check(*given)
    return raised.value


def _errors(folder: Path) -> Iterator[UserError]:
    """Real ones of every room, those first that are put together from the most parts."""
    yield from _errors_of_files()
    for strategy in (
        *("suffix+", "suffix:n_max", "suffix+suffix", "off+suffix", "draft+mtp"),
        *("suffix:n_max=many", "suffix:n_max=-1", "suffix:colour=1"),
    ):
        yield _raised(lambda text: complete(read_strategy(text)), strategy)
    yield _raised(check_model_file, str(folder))
    yield _raised(check_model_file, str(folder / "a{0}.gguf"))
    yield _raised(read_attachment, folder)
    yield _raised(read_attachment, folder / "{name}.txt")
    (folder / "picture.txt").write_bytes(b"\x89PNG")
    yield _raised(read_attachment, folder / "picture.txt")
    for values in (SamplingParams(temperature=-1), ModelParams("x", kv_type_k="q9")):
        yield _raised(check_fields, values)
    yield _raised(parse_reference, "hf:of/nobody:x@y:z{")
    yield _raised(repository_folder, folder, "one/other/place")
    yield from_exception(ConnectionResetError(), "hub.example")
    for status in (401, 403, 404, 416, 429, 500, 302):
        yield from_status(status, {}, "https://hub.example/a/b/resolve/main/c")
    for failure in (
        *(sqlite3.OperationalError("disk"), sqlite3.DatabaseError("malformed")),
        *(OSError(28, "full"), MovedError(), NewerSchemaError()),
    ):
        problem = problem_of(failure, Path("chats.sqlite"))
        yield UserError(problem.code, problem.message, problem.hint)
    for exit_code, words in ((-9, ""), (-11, ""), (-6, "GGML_ASSERT"), (3, ""), (None, "")):
        death = describe_death(End(exit_code, words))
        yield UserError(death.code, death.reason, death.hint)


def _errors_of_files() -> Iterator[UserError]:
    message = {"id": "a", "role": "user", "content": "Hi"}
    head = {"id": "c", "leaf_id": "a"}
    chat = {"format": "paceline-chat", "version": 2, "conversation": head}
    for wrong in (
        {"version": "1"},
        {"version": 99},
        {"messages": {}},
        {"messages": ["hello"]},
        {"messages": [message | {"content": None}]},
        {"messages": [message | {"role": "system"}]},
        {"messages": [message | {"created_s": 10**400}]},
        {"messages": [message | {"parent_id": "gone"}]},
        {"messages": [message | {"id": "x" * 1_001}]},
        {"messages": [{"id": "a"}]},
        {"messages": [message], "conversation": {"id": "c"}},
        {"messages": [message], "runs": [[]]},
        {"messages": [message], "runs": [{"message_id": "a", "zzz": 1}]},
        {"messages": [message], "runs": [{"message_id": "a", "steps": []}]},
        {"messages": [message], "runs": [{"message_id": "a", "steps": {"names": [1]}}]},
        {"messages": [message], "runs": [{"message_id": "a", "steps": {"names": 1}}]},
        *(
            {"messages": [message], "conversation": {**head, "settings": settings}}
            for settings in (
                {"seed": -1},
                {"sampling": {"temperature": 99}},
                {"sampling": {"temperature": -1}},
            )
        ),
    ):
        with pytest.raises(UserError) as raised:
            read_chats(json.dumps({**chat, **wrong}).encode(), "chat.json")
        yield raised.value
    for preset in (
        *(1, {"name": ""}, {"name": "T", "seed": "x"}, {"name": "T", "none": 1}),
        {"name": "T is damaged: the", "seed": "x"},
        {"name": "T cannot be used: the", "sampling": {"temperature": 99}},
    ):
        kept = {"kind": "paceline reply presets", "version": 1, "presets": [preset]}
        with pytest.raises(UserError) as raised:
            presets_from_text(json.dumps(kept))
        yield raised.value
    for kind, per_token in itertools.product(("f16", "q8_0"), (None, 1e5)):
        yield no_context(ModelParams("x.gguf", kv_type_k=kind), 8_192, per_token, NO_REASON)
    hint = what_to_do_about_weights(ModelParams("x.gguf"))
    yield UserError("x", "“{name}” is not a file.", hint, name="x.gguf")


def _sent(error: UserError) -> LoadFailed:
    """Return an error as it comes from another process."""
    event = LoadFailed(error.code, error.message, error.hint)
    return decode(LoadFailed, json.loads(json.dumps(encode(event))))


@pytest.mark.usefixtures("german")
def test_nothing_of_what_is_put_together_stays_english(tmp_path: Path) -> None:
    told = [said(event.message, event.hint) for event in map(_sent, _errors(tmp_path))]
    at_once = [said(str(error)) for error in _errors(tmp_path)]
    without_names = [re.sub(r"„[^“]*“", "", words) for words in (*told, *at_once)]
    assert [words for words in without_names if _ENGLISH.search(words)] == []
    assert _ENGLISH.search(said("A word that is unknown.")), "the search finds nothing"


def test_english_is_left_alone(qapp: QCoreApplication) -> None:
    assert said("No model is loaded.", "Open one in the Models menu.") == (
        "No model is loaded. Open one in the Models menu."
    )


@pytest.mark.usefixtures("german")
def test_notices_say_errors_in_german(qtbot: QtBot) -> None:
    error = ModelError(
        "not-a-gguf", "“{name}” is not a GGUF file.", "Choose a .gguf file.", name="wolf.gguf"
    )
    window, bar = QWidget(), ErrorBar()
    qtbot.addWidget(window)
    bar.setParent(window)
    bar.show_notice(Notice("error", error.message, error.hint))
    assert bar.accessibleName() == "„wolf.gguf“ ist keine GGUF-Datei. Wählen Sie eine .gguf-Datei."


@pytest.mark.usefixtures("german")
def test_recommended_pairs_are_described_in_german(qtbot: QtBot) -> None:
    """Every shipped claim, machine and drafter: what is left of English would be one of these."""
    page = RecommendedPage(load_curated(curated_pairs_path()))
    qtbot.addWidget(page)
    page.show_picks(Picks(), MachineFacts())
    offers = page.rows.offers.rows
    assert "Jedes Modell bis 2B" in [offer.title for offer in offers]
    for offer in offers:
        shown = " ".join((offer.facts, offer.size, *offer.details))
        english = (
            r"\b(times|as fast|from|report|on|with|about|memory|any|head|inside|not checked)\b"
        )
        assert not re.search(english, re.sub(r"https?:\S+", "", shown)), shown

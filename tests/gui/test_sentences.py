"""What engine and catalogue say is recognised by its words, and shown in German."""

from __future__ import annotations

import itertools
import json
import re
from time import thread_time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QWidget

from linguist import catalogue
from linguist.sources import places_of
from paceline.catalog.judge.curated import curated_pairs_path, load_curated
from paceline.chat.exchange.reading import read_chats
from paceline.chat.presets import presets_from_text
from paceline.engine.model.memory_hints import what_to_do_about_weights
from paceline.engine.model.model_params import NO_REASON, no_context
from paceline.errors import ModelError, UserError
from paceline.gui.kit.notices import ErrorBar, Notice
from paceline.gui.kit.sentences import SENTENCES, said
from paceline.gui.kit.translation import install_language
from paceline.gui.models.candidates import Picks
from paceline.gui.models.lists.recommended_page import RecommendedPage
from paceline.params import ModelParams
from paceline.paths import resources
from paceline.sentence import Sentence, Wording, sentence
from translations import ts_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot


@pytest.fixture
def german(qapp: QCoreApplication) -> Iterator[None]:
    translators = install_language("de", resources())
    yield
    for translator in translators:
        QCoreApplication.removeTranslator(translator)
        translator.deleteLater()
    QLocale.setDefault(QLocale.c())


def _numbered(source: str, translation: str) -> tuple[Sentence, str]:
    """Return a sentence with names at its places, and what it is in German."""
    places = sorted(places_of(source))
    names = {place: f"Nr. {i} {{" for i, place in enumerate(places)}
    return Sentence(source, names), Wording().put(translation, names)


@pytest.mark.usefixtures("german")
def test_every_template_has_a_translation() -> None:
    """With texts at its places that are no templates, each is what its translation says."""
    for source, entry in catalogue.read(ts_file("de")).items():
        if source.context == SENTENCES and places_of(source.text):
            told, wanted = _numbered(source.text, entry.text)
            assert said(told) == wanted


@pytest.mark.usefixtures("german")
def test_numbers_and_sentences_at_places_are_german() -> None:
    told = sentence(
        "There is no room for a {what}: {why}.",
        what=sentence("context of {n_ctx:,} tokens for “{name}”", n_ctx=4096, name="The reply"),
        why="no {what} for 1.5x",
    )
    assert said(told) == (
        "Für einen Kontext von 4.096 Token für „The reply“ ist kein Platz: no {what} for 1.5x."
    )


@pytest.mark.usefixtures("german")
def test_what_is_no_sentence_is_shown_as_it_is() -> None:
    assert said("The moon is full.") == "The moon is full."
    assert said("") == ""


_ENGLISH = re.compile(r"\b(an?|and|are|at|for|has|have|is|it|must|no|not|of|or|than|the|to|with)\b")


def _errors() -> Iterator[UserError]:
    """Those that are put together from the most parts."""
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


@pytest.mark.usefixtures("german")
def test_nothing_of_what_is_put_together_stays_english() -> None:
    told = [said(error.message, error.hint) for error in _errors()]
    at_once = [said(str(error)) for error in _errors()]
    without_names = [re.sub(r"„[^“]*“", "", words) for words in (*told, *at_once)]
    assert [words for words in without_names if _ENGLISH.search(words)] == []
    assert _ENGLISH.search(said("A word that is unknown.")), "the search finds nothing"


@pytest.mark.usefixtures("german")
def test_no_text_takes_long() -> None:
    said("No model is loaded.")
    for n_parts in (8, 24, 200):
        text = ", ".join(f"The word{n} is not {n}" for n in range(n_parts))
        begin = thread_time()
        assert said(text) == text
        assert thread_time() - begin < 0.5


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
    page.show_picks(Picks(), 0, has_gpu=False)
    offers, details = page.rows.offers.rows, page.details
    assert "Jedes Modell bis 2B" in [offer.title for offer in offers]
    for row in range(len(offers)):
        page.rows.show_row(row)
        lines = (details.gain, details.needs, details.checked)
        shown = " ".join(label.text() for label in lines if not label.isHidden())
        shown += details.files.text() + details.source.text()
        english = r"\b(times|as fast|from|report|on|with|memory|any|head|inside|not checked)\b"
        assert not re.search(english, re.sub(r"https?:\S+", "", shown)), shown

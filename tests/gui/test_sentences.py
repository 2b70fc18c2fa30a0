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
from paceline.catalog.judge.curated import curated_pairs_path, load_curated
from paceline.chat.exchange.reading import read_chats
from paceline.chat.presets import presets_from_text
from paceline.engine.model.memory_hints import what_to_do_about_weights
from paceline.engine.model.model_params import NO_REASON, no_context
from paceline.errors import UserError
from paceline.gui.kit.notices import ErrorBar, Notice
from paceline.gui.kit.sentences import SENTENCES, said
from paceline.gui.kit.translation import install_language
from paceline.gui.models.candidates import Picks
from paceline.gui.models.lists.recommended_page import RecommendedPage
from paceline.params import ModelParams
from paceline.paths import resources
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


@pytest.mark.parametrize(
    ("english", "german_words"),
    [
        ("No model is loaded.", "Kein Modell ist geladen."),
        # A part that is a phrase of its own, a part that is a number, a name that is a word.
        (
            "The MTP head is the target's, so no second model is needed.",
            "Der MTP-Kopf ist der des Zielmodells, darum braucht es kein zweites Modell.",
        ),
        (
            "A context of 4,096 tokens for “prose” needs 1.5 GB of memory; 900 MB are free.",
            "Ein Kontext von 4.096 Token für „prose“ braucht 1,5 GB Speicher; 900 MB sind frei.",
        ),
        # Message and hint; a phrase that begins a sentence; a clause that may be missing.
        (
            "“notes” is empty. Attach a file with text.",
            "„notes“ ist leer. Hängen Sie eine Textdatei an.",
        ),
        (
            "Their tokenizers are of different kinds: a, b. Drafts cannot be translated "
            "either: of the tokens that the target writes the draft model has only 3 %.",
            "Ihre Tokenizer sind verschiedener Art: a, b. Entwürfe können auch nicht übersetzt "
            "werden: Von den Token, die das Zielmodell schreibt, hat das Entwurfsmodell nur "
            "3\u202f%.",
        ),
        (
            "Exact mode: a reply is the same with any strategy and whatever was in the context "
            "before, as far as was looked (1,200 rows of logits compared, none differs).",
            "Exakter Modus: Eine Antwort ist dieselbe mit jeder Strategie und gleich, was vorher "
            "im Kontext war, soweit geprüft wurde (1.200 Zeilen von Logits verglichen, keine ist "
            "anders).",
        ),
        (
            "“x.gguf” is no model in GGUF format, or is damaged: bad value [0, 5]. "
            "Download it again, or choose another one.",
            "„x.gguf“ ist kein Modell im GGUF-Format, oder es ist beschädigt: bad value [0, 5]. "
            "Laden Sie die Datei noch einmal herunter, oder wählen Sie eine andere.",
        ),
        # What is put together from a list, and a number that a full stop follows.
        (
            "What can help: a context of 2,048 tokens or fewer, a quantised cache, "
            "a smaller model.",
            "Was helfen kann: ein Kontext von höchstens 2.048 Token, ein quantisierter Cache, "
            "ein kleineres Modell.",
        ),
        (
            "“a.json”: The chat is damaged: messages[1].content must be a text, not None. "
            "Export it again from where it is whole.",
            "„a.json“: Der Chat ist beschädigt: messages[1].content muss ein Text sein, nicht "
            "None. Exportieren Sie ihn noch einmal dort, wo er heil ist.",
        ),
        ("8,192.", "8.192."),
        # A name, or several, that a variable inserts with its quotation marks.
        (
            "The draft model's licence is “mit”, the target's is “a is b”.",
            "Die Lizenz des Entwurfsmodells ist „mit“, die des Zielmodells ist „a is b“.",
        ),
        (
            "One model can draft, and the chain has more: “draft”, “mtp”.",
            "Nur ein Modell kann entwerfen, und die Kette hat mehr: „draft“, „mtp“.",
        ),
        ("“A is B” is 3, but it must be at most 5.", "„A is B“ ist 3, darf aber höchstens 5 sein."),
        # A sentence that a place begins does not take the words of others.
        (
            "Ask for access on x is 1, but it must be at most 2.",
            "Bitten Sie auf x ist 1, darf aber höchstens 2 sein um Zugang.",
        ),
        # What brackets and quotation marks hold together is not torn apart.
        (
            "“x.json”: The chat was exported by a newer Paceline (runs[0].zzz is not known).",
            "„x.json“: Der Chat wurde von einem neueren Paceline exportiert (runs[0].zzz ist "
            "nicht bekannt).",
        ),
        (
            "Preset 1 (“T is damaged: no”) is damaged: seed must be a text, not 1.",
            "Vorgabe 1 („T is damaged: no“) ist beschädigt: seed muss ein Text sein, nicht 1.",
        ),
        # What models are called by their size is no number.
        ("7.6B", "7.6B"),
        ("7.6 B", "7,6 B"),
        # A name is never taken for sentences, nor in words that are German already.
        ("“Oh. Try again. No” is empty.", "„Oh. Try again. No“ ist leer."),
        ("„Oh. Try again. No“ wurde gelöscht.", "„Oh. Try again. No“ wurde gelöscht."),
        # What a plug-in or a library says stays as it is.
        ("The moon is full.", "The moon is full."),
        ("", ""),
    ],
)
@pytest.mark.usefixtures("german")
def test_sentences_are_said_in_german(english: str, german_words: str) -> None:
    assert said(english) == german_words


@pytest.mark.usefixtures("german")
def test_every_sentence_is_recognised() -> None:
    """With names at its places, each has its own translation and none of another sentence."""
    wrong = []
    for source, entry in catalogue.read(ts_file("de")).items():
        if source.context == SENTENCES:
            text, wanted = (
                re.sub(r"{(\d)}", r"Nr\1x", words) for words in (source.text, entry.text)
            )
            upper = wanted[0].upper() + wanted[1:] if text[0].isupper() else wanted
            if said(text) != upper.replace(" %", "\u202f%"):
                wrong.append((text, said(text)))
    assert wrong == []


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
    yield UserError("x", "“x.gguf” is not a file.", what_to_do_about_weights(ModelParams("x.gguf")))


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
    error = UserError("x", "“wolf.gguf” is not a GGUF file.", "Choose a .gguf file.")
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

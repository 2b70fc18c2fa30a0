"""The two example plug-ins: what they draft, and that they work as an installed package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from architecture.source import REPOSITORY
from cli.program import Result, assert_one_clear_line, chat, paceline_process
from engine.harness import PROMPT, decoder_for, run
from engine.workbench import workbench
from fake_model import EOG, FakeModel, scripted
from paceline.engine.draft import registry
from paceline.engine.draft.base import Workbench
from paceline.engine.draft.strategy import CompleteStrategy
from paceline.errors import UserError

PACKAGE = REPOSITORY / "tests" / "plugins" / "paceline-example-drafters"
QUESTION = "What does os.path.join do?"


@pytest.fixture(autouse=True)
def _source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PACKAGE / "src")
    monkeypatch.delenv("PACELINE_PHRASES", raising=False)
    monkeypatch.delenv("PACELINE_PATTERNS", raising=False)


def example(name: str) -> ModuleType:
    import importlib

    return importlib.import_module(f"paceline_example_drafters.{name}")


def bench() -> Workbench:
    return workbench(eog=frozenset({EOG}))


def defaults(cls: Any, **changes: float) -> dict[str, float]:
    return {p.name: p.default for p in cls.parameters} | changes


class Reader:
    """A drafter and the text that it follows."""

    def __init__(self, cls: Any, text: str = "", **settings: float) -> None:
        self.drafter = cls(bench(), defaults(cls, **settings))
        self.history = [*PROMPT, *text.encode()]
        self.drafter.begin(self.history, len(PROMPT))

    def write(self, text: str) -> None:
        self.history += text.encode()
        self.drafter.observe(None)

    def drafts(self, n_max: int = 64) -> str:
        return bytes(self.drafter.propose(n_max).tokens).decode()


# ------------------------------------------------------------------------------------ phrases


@pytest.fixture
def phrases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Call it with phrases; returns the class, which reads them from a file."""

    def write(*lines: str) -> Any:
        file = tmp_path / "phrases.txt"
        file.write_text("\n".join(lines), "utf-8")
        monkeypatch.setenv("PACELINE_PHRASES", str(file))
        return example("phrases").Phrases

    return write


def test_the_rest_of_a_phrase_is_drafted(phrases: Callable[..., Any]) -> None:
    reader = Reader(phrases("on the other hand", "one of many"), "o")
    assert reader.drafts() == ""  # a single token is no match yet
    reader.write("n t")
    assert reader.drafts() == "he other hand"
    assert reader.drafts(3) == "he "
    reader.write("he other hand")
    assert reader.drafts() == ""
    reader.write(", one")
    assert reader.drafts() == " of many"


def test_of_several_phrases_the_commonest_counts(phrases: Callable[..., Any]) -> None:
    cls = phrases("abcdX1", "abcdX2", "abcdY3")
    reader = Reader(cls, "ab")
    draft = reader.drafter.propose(9)
    assert bytes(draft.tokens) == b"cdX1"
    assert list(draft.confidences) == pytest.approx([1, 1, 2 / 3, 1 / 3])
    assert Reader(cls, "ab", p_min=0.5).drafts() == "cdX"
    assert Reader(cls, "ab", p_min=0.9).drafts() == "cd"
    assert Reader(cls, "ab", n_max=1).drafts() == "c"
    assert Reader(cls, "ab", min_match=3).drafts() == ""


def test_the_longest_match_wins(phrases: Callable[..., Any]) -> None:
    assert Reader(phrases("xyab1", "ab2", "ab3"), "xyab").drafts() == "1"


def test_phrases_continue_after_another_draft(phrases: Callable[..., Any]) -> None:
    reader = Reader(phrases("hello world"), "he")
    ahead = list(b"llo")
    assert bytes(reader.drafter.extend(ahead, 99).tokens) == b" world"
    assert reader.drafts() == "llo world"  # and nothing of it was kept


def test_a_phrase_is_found_from_the_middle_of_a_reply(phrases: Callable[..., Any]) -> None:
    assert Reader(phrases("hello world"), "x" * 5000 + "hello").drafts() == " world"


def state_behind(automaton: Any, text: bytes) -> Any:
    state = automaton.start
    for byte in text:
        state = automaton.step(state, byte)
    return state


def patterns_of(leaf: st.SearchStrategy[str], *, endless: bool) -> st.SearchStrategy[str]:
    signs = ["?", "{2}", "{1,2}", "{0,1}"] + (["*", "+", "{1,}"] if endless else [])

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
            st.tuples(inner, st.sampled_from(signs)).map(lambda pair: f"({pair[0]}){pair[1]}"),
        )

    return st.recursive(leaf, grow, max_leaves=6)


LEAVES = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", r"\w", r"\.", "ab", "", "[a-c]", "é"])


TEXTS = st.text("abc.é\n-", max_size=8)


@given(pattern=patterns_of(LEAVES, endless=True), texts=st.lists(TEXTS, max_size=10))
def test_the_automaton_matches_what_python_matches(pattern: str, texts: list[str]) -> None:
    automaton = example("automaton").Automaton(pattern)
    # Over bytes, so that “.” and “[^a]” are one byte in both; “é” is a group there.
    reference = re.compile(pattern.replace("é", "(é)").encode(), re.ASCII)
    for text in texts:
        state = state_behind(automaton, text.encode())
        assert automaton.accepts(state) == bool(reference.fullmatch(text.encode())), text


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        ("(", "without"), ("a)", "without"), ("[ab", "without"), ("*a", "nothing to repeat"),
        ("a**", "upon another"), ("a{3,2}", "to less"), ("a{x}", "neither"), ("{", "nothing"),
        ("a{9999}", "too large"), ("((a{99}){99}){99}", "too large"), ("((){9999}){9999}", "large"),
        ("(" * 100 + ")" * 100, "too deep"), ("a$", "not known"), ("a^", "beginning only"),
        (r"\q", "not known"), ("a\\", "not known"), ("[b-a]", "not a range"), ("(?i)a", "(?"),
        ("[é]", "several bytes"), ("[\\", "without"), ("[a-\\d]", "not a range"),
    ],
)  # fmt: skip
def test_what_is_no_pattern_is_refused_in_words(pattern: str, what: str) -> None:
    module = example("automaton")
    with pytest.raises(module.PatternError) as caught:
        module.Automaton(pattern)
    assert what.replace("not known", "known") in str(caught.value)
    assert "character" in str(caught.value)


# -------------------------------------------------------------------------------------- regex


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        ("It was on 2024", "-"),
        ("It was on 2024-05", "-"),
        ("It was on 12024", ""),  # no year
        ("id 0123abcd", "-"),
        ("```py", "thon\n"),
        ("see https", "://www."),
        ("import nump", "y as np\n"),
        ("\n|-", "--"),
        ("a|-", ""),  # no line begins there
        ("nothing here", ""),
    ],
)
def test_the_built_in_patterns(text: str, draft: str) -> None:
    assert Reader(example("regex").RegexDrafter, text, min_match=2).drafts() == draft


@pytest.fixture
def patterns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Call it with patterns; returns the class, which reads them from a file."""

    def write(*lines: str) -> Any:
        file = tmp_path / "patterns.txt"
        file.write_text("# mine\n\n" + "\n".join(lines), "utf-8")
        monkeypatch.setenv("PACELINE_PATTERNS", str(file))
        return example("regex").RegexDrafter

    return write


def test_a_wrong_pattern_is_reported_with_the_pattern(patterns: Callable[..., Any]) -> None:
    cls = patterns("fine", "not (fine")
    with pytest.raises(UserError) as caught:
        cls(bench(), defaults(cls))
    assert caught.value.code == "bad-pattern"
    assert "not (fine" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00bad"])
def test_a_file_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "phrases.txt"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("PACELINE_PHRASES", str(file))
    cls = example("phrases").Phrases
    with pytest.raises(UserError) as caught:
        cls(bench(), defaults(cls))
    assert caught.value.code == "file-not-readable"
    assert "PACELINE_PHRASES" in caught.value.hint


# ------------------------------------------------------------------------------- in the decoder


def as_strategy(cls: Any, name: str, **settings: float) -> CompleteStrategy:
    info = registry.describe(name, cls)
    return CompleteStrategy(((info, defaults(cls, **settings)),))


REPLY = "On the other hand, dates like 2024-05-17 are as well as others. On the other hand."


@pytest.mark.parametrize("name", ["phrases", "regex"])
def test_an_example_saves_steps_and_keeps_the_text(name: str) -> None:
    module = example(name)
    cls = module.Phrases if name == "phrases" else module.RegexDrafter
    model = FakeModel(scripted(REPLY, len(PROMPT)))
    decoder = decoder_for(model, max_tokens=200)
    decoder.switch(as_strategy(cls, name))
    run(decoder)
    assert decoder.reply == REPLY
    assert decoder.draft_failures == []
    assert decoder.meter.drafters[name].tokens_accepted > 0


# --------------------------------------------------------------------------- as a real package


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the example package, without network."""
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
            "--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir",
            "--target", str(target), str(PACKAGE),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A plain reply of the demo pair, as the command line gives it."""
    home = tmp_path_factory.mktemp("home")
    result = chat(
        "--strategy", "off", *REPLY_OPTIONS, prompt=QUESTION, environ={"PACELINE_HOME": str(home)}
    )
    assert result.code == 0, result.err
    return result.finished


REPLY_OPTIONS = ("--max-tokens", "80", "--temperature", "0", "--seed", "1")


def with_plugins(strategy: str, installed: Path, **environ: object) -> Result:
    variables = {key: str(value) for key, value in environ.items()}
    return chat(
        "--strategy", strategy, *REPLY_OPTIONS, run=paceline_process,
        prompt=QUESTION, environ={"PYTHONPATH": str(installed), **variables},
    )  # fmt: skip


def drafted_by(result: Result, drafter: str) -> tuple[int, int]:
    """Tokens that a drafter drafted, and how many of them were accepted."""
    stats = result.finished["stats"]["by_drafter"][drafter]
    return stats["tokens"], stats["tokens_accepted"]


def pieces(text: str) -> list[str]:
    """A reply cut into pieces of a few words, one per line of a file."""
    found = re.findall(r"[^\n]{12,40}(?= |$)", text, re.MULTILINE)
    assert len(found) >= 2, text
    return [piece.strip() for piece in found]


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("strategy", ["plugin.phrases", "plugin.phrases+draft:draft.p_min=0"])
def test_installed_phrases_are_accepted(
    installed: Path, plain: dict[str, Any], tmp_path: Path, strategy: str
) -> None:
    file = tmp_path / "phrases.txt"
    file.write_text("\n".join(pieces(plain["text"])), "utf-8")
    result = with_plugins(strategy, installed, PACELINE_PHRASES=file)
    assert result.code == 0, result.err
    assert result.err == ""
    assert result.finished["tokens"] == plain["tokens"]
    drafted, accepted = drafted_by(result, "plugin.phrases")
    assert 5 < accepted <= drafted
    if "+" in strategy:
        assert drafted_by(result, "draft")[0] > 0


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("chain", ["", "+draft"])
def test_installed_patterns_are_accepted(
    installed: Path, plain: dict[str, Any], tmp_path: Path, chain: str
) -> None:
    file = tmp_path / "patterns.txt"
    escaped = [re.sub(r"([^\w ])", r"\\\1", piece) for piece in pieces(plain["text"])]
    file.write_text("\n".join(escaped), "utf-8")
    result = with_plugins("plugin.regex" + chain, installed, PACELINE_PATTERNS=file)
    assert result.code == 0, result.err
    assert result.finished["tokens"] == plain["tokens"]
    drafted, accepted = drafted_by(result, "plugin.regex")
    assert 5 < accepted <= drafted


def test_a_plugin_that_cannot_begin_says_why(installed: Path, tmp_path: Path) -> None:
    result = with_plugins("plugin.phrases", installed, PACELINE_PHRASES=tmp_path / "none.txt")
    assert result.code == 1
    assert_one_clear_line(result)
    assert "none.txt" in result.err


def test_the_command_line_lists_the_plugins(installed: Path) -> None:
    result = with_plugins("nonsense", installed)
    assert result.code == 2
    assert "plugin.phrases, plugin.regex" in result.err


LIST = """
import json
from paceline.gui.app import _drafters
infos, problem = _drafters()
assert problem is None, problem
print(json.dumps([[i.id, i.title, i.summary, [p.name for p in i.parameters]] for i in infos]))
"""


def test_the_window_gets_the_plugins(installed: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIST],
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    listed = {row[0]: row[1:] for row in json.loads(done.stdout)}
    assert listed["plugin.phrases"][0] == "Phrases"
    assert listed["plugin.phrases"][1].startswith("Drafts the rest of a phrase")
    assert listed["plugin.regex"][2] == ["n_max", "min_match", "p_min"]

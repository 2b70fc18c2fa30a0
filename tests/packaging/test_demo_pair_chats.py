"""The demo pair's recipe: chats, and that nothing held out is among those to learn from."""

from __future__ import annotations

import ast
import doctest
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from demo_pair.chats import asking, build, phrases, reading
from demo_pair.chats.aspects import Answer, Aspects
from demo_pair.chats.chat import Chat, asked, read_chats, write_chats
from demo_pair.chats.copying import Copying
from demo_pair.chats.editing import Editing, names_in, with_docstring, without_comments
from demo_pair.chats.manners import Manners, with_system
from demo_pair.chats.words import how_tos, off_topic, word_list
from demo_pair.corpus.blocks import parse
from demo_pair.corpus.objects import Documented
from demo_pair.corpus.sources import INSTALLED, Documentation, Source, read_documentation

JOIN = Documented(
    "paths.join",
    "function",
    "paths",
    "",
    ("join(path, *paths, sep='/')",),
    (
        "Join one or more path components. Return the whole. *sep* goes between them.",
        "If *path* is empty, `ValueError` is raised.",
        "```python\n>>> join('a', 'b')\n'a/b'\n```",
        "New in version 3.4.",
        "Changed in version 3.6: Accepts bytes.",
    ),
    "library/paths",
)
SPLIT = replace(JOIN, name="paths.split", signatures=("split(path)",))
CODE = (
    "def total(values):\n    result = 0  # so far\n    for value in values:\n"
    "        result += value\n    return result"
)
PARAGRAPHS = [
    f"This is paragraph number {n} of a text that is quoted. It has sentences of {n} kinds. "
    f"Every one of them ends somewhere, the last one here."
    for n in range(9)
]


FUNCTION = """
.. function:: {m}_{n}(first, second=None)

   Return the value number {n} of *first*, from the module {m}. It is a rather good value.

   ::

      total = {m}_{n}(1)
      for item in range(total):
          print(item, total)

   More about the value {n} of {m} follows here. It goes on and on, for long.
"""


def module(name: str) -> Source:
    head = f":mod:`{name}` --- Values\n{'=' * 30}\n\n.. module:: {name}\n\nAbout {name}.\n"
    text = head + "".join(FUNCTION.format(m=name, n=n) for n in range(12))
    return Source(f"library/{name}", parse(text.splitlines()))


def answers() -> dict[str, str]:
    return {each.aspect: each.text for each in Aspects([JOIN, SPLIT]).of(JOIN)}


def test_every_aspect_is_answered_from_the_description() -> None:
    found = answers()
    assert found["signature"] == "```python\npaths.join(path, *paths, sep='/')\n```"
    assert found["parameters"] == (
        "`paths.join` takes 3 parameters:\n\n- `path`\n- `*paths`\n"
        "- `sep`, by keyword only, by default `'/'`"
    ).replace(", by keyword only", "")
    assert found["default"] == "The default of `sep` in `paths.join` is `'/'`."
    assert found["parameter"] == "*sep* goes between them."
    assert found["raises"] == "If *path* is empty, `ValueError` is raised."
    assert found["returns"] == "Return the whole."
    assert found["since"] == "`paths.join` was added in Python 3.4."
    assert found["changes"] == "- Changed in version 3.6: Accepts bytes."
    assert found["example"] == JOIN.paragraphs[2]
    assert "from paths import join" in found["module"]
    assert found["explain"].startswith("**`paths.join(path, *paths, sep='/')`**\n\nJoin one")
    assert set(found) <= set(phrases.QUESTIONS)


@pytest.mark.parametrize(
    ("notes", "modules", "since"),
    [
        (("New in version 3.4.",), {"paths": "3.2"}, "`paths.join` was added in Python 3.4."),
        ((), {"paths": "3.2"}, "`paths.join` came with `paths` in Python 3.2."),
        ((), {}, "The documentation names no version in which `paths.join` was added."),
    ],
)
def test_what_says_no_version_is_as_old_as_what_it_is_in(
    notes: tuple[str, ...], modules: dict[str, str], since: str
) -> None:
    thing = replace(JOIN, paragraphs=("Join.", *notes))
    found = {each.aspect: each.text for each in Aspects([thing], modules).of(thing)}
    assert found["since"] == since


def test_what_is_kept_for_evaluation_is_not_asked() -> None:
    rng = random.Random(1)
    known = list(Aspects([JOIN]).of(JOIN))
    chats = [chat for _ in range(300) for chat in asking.single(JOIN, known, rng)]
    kept = {chat.turns[0][1] for _ in range(50) for chat in asking.evaluated(JOIN, known, rng)}
    assert kept.isdisjoint(chat.turns[0][1] for chat in chats)
    assert {"explain", "brief", "signature", "module", "since"} <= {chat.kind for chat in chats}


def test_templates_can_be_filled() -> None:
    rng = random.Random(2)
    for aspect, templates in (phrases.QUESTIONS | phrases.FOLLOW_UPS).items():
        for template in templates:
            text = template.replace("{v}", "sort")
            question = asking.filled(text, JOIN, Answer(aspect, "", "sep"), rng)
            assert not re.search(r"[{}]", question)
    assert len({t for ts in phrases.QUESTIONS.values() for t in ts}) > 80


@pytest.mark.parametrize(
    ("first", "task"),
    [
        ("Return the absolute value of *x*.", "get the absolute value of x"),
        ("Return `True` if *path* is a file.", "check whether path is a file"),
        ("Converts a *text* to bytes (quickly), and returns them.", "convert a text to bytes"),
        ("This is no instruction at all.", ""),
        ("Set it to zero, please.", ""),
    ],
)
def test_tasks_come_from_the_first_sentence(first: str, task: str) -> None:
    assert asking.task_of(replace(JOIN, paragraphs=(first,))) == task


def test_conversations_refer_to_what_was_said() -> None:
    rng = random.Random(3)
    known = list(Aspects([JOIN, SPLIT]).of(JOIN))
    chats = [asking.conversation((JOIN, SPLIT), (known, known), rng) for _ in range(80)]
    assert all(len(chat.turns) >= 4 and len(chat.turns) % 2 == 0 for chat in chats)
    follow_ups = [text for chat in chats for role, text in chat.turns[2:] if role == "user"]
    assert "What is its signature?" in follow_ups
    assert not any("paths.join" in text for text in follow_ups)
    assert any("paths.split" in text for text in follow_ups)


def test_copies_are_copies() -> None:
    rng = random.Random(4)
    copying = Copying(PARAGRAPHS, [CODE], [f"name_{n}" for n in range(20)], rng)
    kinds = Counter()
    for _ in range(300):
        chat = copying.make()
        kinds[chat.kind] += 1
        given, said = chat.turns[0][1], chat.turns[1][1]
        if chat.kind == "quote" and not said.isupper():
            assert said in given
    assert kinds["quote"] > kinds["list"] > 0


def test_edits_change_only_what_they_say() -> None:
    rng = random.Random(5)
    editing = Editing([CODE], ["Return the sum of some values."], rng)
    renamings = 0
    for _ in range(200):
        chat = editing.make()
        codes = [
            re.search(r"```python\n(.*)\n```", text, re.DOTALL)[1] for _, text in chat.turns[:2]
        ]
        for code in codes:
            ast.parse(code)
        before, after = (re.findall(r"\w+", code) for code in codes)
        if len(before) == len(after) and "sum" not in before:
            assert (
                len({pair for pair in zip(before, after, strict=True) if len(set(pair)) > 1}) == 1
            )
            renamings += 1
    assert renamings > 50


def test_helpers_of_edits() -> None:
    assert names_in(CODE) == ["result", "value", "values"]
    assert with_docstring(CODE, "Add.").splitlines()[1] == '    """Add."""'
    assert "so far" not in without_comments(CODE)
    assert without_comments("x = (") == ""


def test_manners() -> None:
    manners = Manners([JOIN, SPLIT, replace(JOIN, name="files.open", module="files")],
                      random.Random(6))  # fmt: skip
    for _ in range(100):
        chats = (manners.refusal(), manners.unknown(), manners.greeting(), manners.thanks())
        for chat in chats:
            assert "{" not in chat.text()
        assert "Python's standard library" in chats[0].turns[1][1]
        assert not {"paths.join", "paths.split", "files.open"} & set(
            re.findall(r"`([\w.]+)`", chats[1].turns[1][1])
        )


def test_some_chats_begin_with_a_system_message() -> None:
    chats = [asked("explain", "What is it?", f"It is {n}.") for n in range(400)]
    made = with_system(chats, 0.25, random.Random(8))
    with_one = [chat for chat in made if chat.turns[0][0] == "system"]
    assert 50 < len(with_one) < 150
    assert [chat.turns[-2:] for chat in made] == [chat.turns for chat in chats]
    assert {len(chat.turns) for chat in with_one} == {3}


def test_word_lists() -> None:
    assert len(set(word_list("verbs"))) > 100
    templates = list(off_topic())
    assert len(templates) > 100
    assert all(("{}" in template) == bool(fillers) for template, fillers in templates)


def test_how_tos_are_right() -> None:
    """Sessions give what they say, and the rest is at least Python."""
    found = list(how_tos())
    assert len(found) > 80
    runner = doctest.DocTestRunner(verbose=False)
    parser = doctest.DocTestParser()
    for wordings, answer in found:
        assert wordings
        assert answer
        assert not any(wording.startswith("?") for wording in wordings)
        for code in re.findall(r"```python\n(.*?)\n```", answer, re.DOTALL):
            if ">>>" in code:
                runner.run(parser.get_doctest(code + "\n", {}, wordings[0], None, 0))
            else:
                ast.parse(code)
    assert runner.summarize(verbose=False).failed == 0


def test_nothing_held_out_is_learnt() -> None:
    documentation = Documentation([module("goodmod"), module("telnetlib")], {})
    made = build.build(documentation)
    learnt = "".join(chat.text() for chat in made.learnt)
    assert "goodmod_3" in learnt
    assert "telnetlib" not in learnt
    assert all("telnetlib" in chat.text() or chat.kind in ("quote", "list", "edit")
               for chat in made.unseen)  # fmt: skip
    assert "goodmod" not in "".join(chat.text() for chat in made.unseen)
    asked_so = {text for chat in made.learnt for role, text in chat.turns if role == "user"}
    assert made.rephrased
    assert asked_so.isdisjoint(chat.turns[0][1] for chat in made.rephrased)


def test_the_same_seed_builds_the_same_chats() -> None:
    documentation = Documentation([module("goodmod"), module("telnetlib")], {})
    assert build.build(documentation) == build.build(documentation)
    assert build.build(documentation) != build.build(documentation, seed=2)


def test_sessions_are_long() -> None:
    chats = [asked("explain", "What is it?", "x" * 300)]
    session = next(reading.sessions(chats, 1, random.Random(7)))
    assert len(session.text()) > 2_000
    assert [role for role, _ in session.turns[:4]] == ["user", "assistant"] * 2


def test_chats_are_written_and_read(tmp_path: Path) -> None:
    chats = [asked("explain", "What is “x”?", "A\nname.", "And y?", "Too."), asked("a", "b", "c")]
    write_chats(tmp_path / "chats.jsonl", chats)
    assert list(read_chats(tmp_path / "chats.jsonl")) == chats
    assert Chat("a", (("user", "b"),)).text() == "<|im_start|>user\nb<|im_end|>\n"


@pytest.mark.long
@pytest.mark.skipif(not INSTALLED.is_dir(), reason="needs Debian's package python3.11-doc")
def test_the_real_documentation_leaves_no_markup_behind() -> None:
    made = build.build(read_documentation(INSTALLED), share=0.2)
    assert len(made.learnt) > 10_000
    texts = [text for chat in made.learnt for _, text in chat.turns]
    prose = [re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL) for text in texts]
    marked = [text for text in prose if re.search(r":\w+:`|^\.\. \w+::", text, re.MULTILINE)]
    assert len(marked) < len(prose) / 1_000

#!/usr/bin/env python3
"""Break Paceline in every way of the table below, as often as wanted, and write down how it held.

    python3 packaging/faults.py [R1...]             the short profile: the first test of each row
    python3 packaging/faults.py --long [R1...]      as often as wanted; by default what is not known
    python3 packaging/faults.py --controls [R1...]  without the protection: the row has to fail

Each row names the tests that inject its fault, and the change to the program that takes its
protection away. A long run writes `packaging/reliability.md` after each row, and goes on there when
it is started again; a row that is named is run anew. What the short profile tried stands there as
long as nothing more is known. It takes the Python that runs it. The exit
code is 1 when a row failed, or did not fail without its protection.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from planted.fault import Fault
from planted.tree import ROOT, Copy
from upper_bound import at_most

REPORT = ROOT / "packaging" / "reliability.md"


class Row(NamedTuple):
    """A fault, and the tests which show that the program withstands it.

    Attributes:
        name: Its number in the design.
        fault: Description of the fault.
        wanted: Number of trials that the design asks for.
        tests: Tests that inject it and check that it struck during work, as arguments for pytest.
            The first one has to fail without the protection.
        without: Texts of the program and what they become when the protection is taken away.
        note: Reason for fewer trials than wanted, or empty if there are enough.
    """

    name: str
    fault: str
    wanted: int
    tests: tuple[str, ...]
    without: tuple[tuple[str, str], ...]
    note: str = ""


class Result(NamedTuple):
    """Results of a row's tests."""

    n_trials: int
    n_failed: int
    seconds: float


HOSTING, GUI, HUB = "tests/hosting/", "tests/gui/", "tests/catalog/hub/"
ENGINE, LLAMA, STORAGE = "tests/engine/", "tests/integration/", "tests/storage/"
DOWNLOAD = "tests/catalog/download/"

_UNCHECKED = (
    (
        'if self._files[index].sha256 in ("", sha256):',
        "if True:",
    ),
)
"""Download without a check of its hash."""

ROWS = (
    Row(
        "R1",
        "The engine's process is killed at any token",
        200,
        (
            HOSTING + "test_injected_faults.py::test_kill_at_random_tokens",
            HOSTING + "test_injected_faults.py::test_a_kill_just_when_a_reply_is_asked_for",
            GUI + "test_engine_process.py::test_a_kill_in_mid_reply_keeps_the_text_and_the_next_"
            "reply_works",
        ),
        (
            (
                "            self._emit(EngineDied(death.reason, death.hint, death.lost))",
                "            pass",
            ),
        ),
    ),
    Row(
        "R2",
        "The engine's process aborts or crashes",
        600,
        (HOSTING + "test_injected_faults.py::test_a_crash_is_reported_with_its_cause",),
        (
            (
                'reason = sentence("llama.cpp gave up: {words:bare}.", words=words)',
                'reason = sentence("It ended.")',
            ),
        ),
    ),
    Row(
        "R3",
        "The engine's process dies at each start",
        3,
        (HOSTING + "test_deaths_at_start_and_load.py::test_a_crash_loop_ends_after_three_starts",),
        (("if len(recent) < self._most:", "if len(recent) < 9 * self._most:"),),
    ),
    Row(
        "R4",
        "The engine's process hangs",
        50,
        (
            HOSTING + "test_injected_faults.py::test_a_hang_is_found_and_reported",
            HOSTING + "test_injected_faults.py::test_what_is_only_slow_costs_no_reply",
        ),
        (("if self._silent_s > SILENT_S:", "if self._silent_s > SILENT_S + 12:"),),
    ),
    Row(
        "R5",
        "A reply, its prompt or a load is cancelled",
        300,
        (
            ENGINE + "test_context.py::test_the_book_equals_the_context",
            ENGINE + "test_context.py",
            HOSTING + "test_cancels.py",
        ),
        (
            ("self.tokens.extend(tokens[: self.model.n_past - len(self.tokens)])", "pass"),
            (
                "if not self.model.can_rollback or self.model.n_past != len(self.tokens):\n"
                "            self.clear()",
                "pass",
            ),
        ),
    ),
    Row(
        "R6",
        "A decode fails with a code of llama.cpp's",
        250,
        (LLAMA + "test_decode_codes.py::test_a_code_at_every_decode",),
        (
            (
                "isinstance(failure, BatchRefusedError) and n_draft:",
                "isinstance(failure, BatchRefusedError) and n_draft > 99:",
            ),
        ),
    ),
    Row(
        "R7",
        "The context is full, or nearly",
        108,
        (LLAMA + "test_llama.py::test_a_context_that_is_nearly_full", LLAMA + "test_cuts.py"),
        (("if n_prompt >= n_ctx:", "if n_prompt >= n_ctx + 9:"),),
    ),
    Row(
        "R8",
        "Memory runs out in a load or a prefill",
        90,
        (
            HOSTING + "test_injected_faults.py::test_memory_that_runs_out_in_a_prefill",
            LLAMA + "test_load_memory.py",
        ),
        (("_MEMORY_SIGNS.search(self.last_words) or", "False and"),),
        "Eight shares of the memory in a load, since each takes a whole load.",
    ),
    Row(
        "R9",
        "Single allocations fail in the engine's process",
        500,
        (HOSTING + "test_failing_malloc.py",),
        (
            (
                "            self._emit(EngineDied(death.reason, death.hint, death.lost))",
                "            pass",
            ),
        ),
    ),
    Row(
        "R10",
        "Logits are no numbers",
        100,
        (
            ENGINE + "test_recovery.py",
            ENGINE + "test_self_test.py",
            LLAMA + "test_llama.py::test_a_model_of_invalid_numbers_is_refused_by_the_self_test",
        ),
        (("        if not math.isfinite(top):", "        if False:"),),
    ),
    Row(
        "R11",
        "A model file has wrong bytes",
        5000,
        (
            "tests/catalog/test_inspector_deaths.py::test_a_file_is_not_blamed_for_damage_done_by_another_one",
            "tests/catalog/test_inspector_deaths.py",
        ),
        (("if not (is_fit and error.trouble in _MAYBE_ANOTHERS):", "if True:"),),
    ),
    Row(
        "R12",
        "A header promises too much",
        30,
        (
            LLAMA + "test_gguf_header.py::test_long_arrays_of_numbers_are_left_out",
            LLAMA + "test_gguf_header.py",
            "tests/catalog/test_inspector.py",
        ),
        (("elif item in _SCALARS and n <= _MAX_NUMBERS:", "elif item in _SCALARS:"),),
    ),
    Row(
        "R13",
        "A byte of a downloaded file changes on the disk",
        100,
        (
            DOWNLOAD + "test_downloads.py",
            "tests/catalog/test_fingerprint.py",
        ),
        _UNCHECKED,
    ),
    Row(
        "R14",
        "A model file is cut while it is used",
        50,
        (HOSTING + "test_injected_faults.py::test_a_model_file_that_is_cut_while_it_is_used",),
        (('"SIGBUS": (', '"SIGNONE": ('),),
    ),
    Row(
        "R15",
        "A model file is deleted, replaced or overwritten while it is used",
        150,
        (
            HOSTING + "test_injected_faults.py::test_a_model_file_that_is_overwritten_while_it_is_"
            "used",
            HOSTING + "test_injected_faults.py::test_a_model_file_that_goes_away_while_it_is_used",
        ),
        (("before[0] == now[0] and before[1] != now[1]:", "False:"),),
        "The reply under way meanwhile is not told of; the next one is refused.",
    ),
    Row(
        "R16",
        "Two models do not fit each other",
        12,
        (
            "tests/catalog/test_pairing_matrix.py::test_a_longer_tail_makes_translation_needed",
            "tests/catalog/test_pairing_matrix.py",
            ENGINE + "test_vocabulary_fit.py",
        ),
        (
            (
                "if abs(target.n_tokens - draft.n_tokens) > MAX_SIZE_DIFFERENCE:",
                "if abs(target.n_tokens - draft.n_tokens) > 9 * MAX_SIZE_DIFFERENCE:",
            ),
        ),
    ),
    Row(
        "R17",
        "A drafter proposes tokens that do not exist",
        10_000,
        (LLAMA + "test_adversarial.py::test_a_wild_drafter_changes_nothing",),
        (
            (
                "if min(tokens) < 0 or max(tokens) >= self._n_vocab or",
                "if",
            ),
        ),
        "A case is a reply of some twenty drafts.",
    ),
    Row(
        "R18",
        "A model cannot take back what was drafted",
        1000,
        (
            LLAMA + "test_hybrids.py::test_a_short_reply_once_more_and_after_idle_time",
            LLAMA + "test_hybrids.py",
            LLAMA + "test_sliding_windows.py",
        ),
        (("            if n_removed >= self._n_new:\n", "            if False:\n"),),
        "Each of the tests of rejections draws a thousand patterns, and counts as one.",
    ),
    Row(
        "R19",
        "A drafter or draft model fails in mid-reply",
        200,
        (
            LLAMA + "test_adversarial.py::test_a_raising_drafter_changes_nothing",
            ENGINE + "test_recovery.py::test_a_dead_draft_model_costs_no_token",
        ),
        (("            self._fail(error)\n            return None", "            raise"),),
    ),
    Row(
        "R20",
        "A CPU does not stand the library's instructions",
        3,
        (
            HOSTING + "test_deaths_at_start_and_load.py::test_a_crash_in_the_self_test_is_tried_"
            "once_more",
            ENGINE + "test_self_test.py",
        ),
        (("if again is None or not self.died_in_self_test(death):", "if True:"),),
    ),
    Row(
        "R21",
        "A chat template attacks",
        194,
        (HOSTING + "test_template_attacks.py", ENGINE + "test_template.py"),
        (
            (
                "if time.monotonic() > deadline:\n                raise NoAnswerError(\n",
                "if False:\n                raise NoAnswerError(\n",
            ),
            ("dump_traceback_later(_ALONE_S,", "dump_traceback_later(_ALONE_S + 12,"),
        ),
    ),
    Row(
        "R22",
        "A user types control tokens",
        72,
        (
            ENGINE + "test_template.py::test_a_template_that_reads_the_parts_of_a_content",
            ENGINE + "test_template.py",
            LLAMA + "test_llama.py::test_typed_control_tokens_stay_text",
        ),
        (
            (
                "tokens += vocab.tokenize(text, special=special)",
                "tokens += vocab.tokenize(text, special=True)",
            ),
        ),
    ),
    Row(
        "R23",
        "A reply is a bomb of Markdown",
        40,
        (
            GUI + "test_markdown_bombs.py::test_no_text_holds_the_window_up",
            GUI + "test_markdown_bombs.py",
        ),
        (("MAX_TABLE_CELLS = 1_200", "MAX_TABLE_CELLS = 1_200_000"),),
    ),
    Row(
        "R24",
        "A reply has links to anything",
        40,
        (
            GUI + "test_markdown.py::test_no_other_scheme_is_a_link",
            GUI + "test_markdown.py::test_only_web_addresses_are_links",
            GUI + "test_links.py",
        ),
        (('_LINK_SCHEMES = ("http", "https")', '_LINK_SCHEMES = ("http", "https", "ftp")'),),
    ),
    Row(
        "R25",
        "The Hub's connection drops or stalls",
        20,
        (
            DOWNLOAD + "test_downloads.py",
            DOWNLOAD + "test_faults.py",
            HUB + "test_stream.py",
        ),
        (
            (
                "                n_failed = 1 if part.n_bytes > before else n_failed + 1",
                "                raise",
            ),
        ),
    ),
    Row(
        "R26",
        "The Hub sends wrong bytes",
        10,
        (
            DOWNLOAD + "test_faults.py::test_one_wrong_byte_costs_a_second_try",
            DOWNLOAD + "test_downloads.py",
            DOWNLOAD + "test_faults.py::test_a_content_that_changes_under_way_begins_anew",
        ),
        _UNCHECKED,
    ),
    Row(
        "R27",
        "The Hub refuses, or is not there",
        12,
        (
            HUB + "test_session.py::test_a_status_is_reported_at_once_and_once",
            HUB + "test_session.py",
            HUB + "test_hostile.py",
        ),
        (("    if status == 429:", "    if status == 1429:"),),
    ),
    Row(
        "R28",
        "The network is slow",
        5,
        (
            HUB + "test_session.py::test_a_stop_is_obeyed_within_a_second",
            HUB + "test_stream.py::test_a_stop_while_nothing_comes",
            HUB + "test_stream.py::test_a_slow_server_is_heard_in_small_pieces",
        ),
        (
            (
                "            if is_stopped():\n                raise errors.stopped()",
                "            pass",
            ),
        ),
    ),
    Row(
        "R29",
        "The disk is full",
        10,
        (
            DOWNLOAD + "test_downloads.py",
            STORAGE + "test_faults.py",
        ),
        (("            if error.errno in (errno.ENOSPC, ", "            if error.errno in (-1, "),),
    ),
    Row(
        "R30",
        "A download is killed",
        200,
        (
            LLAMA
            + "test_download_kills.py::test_killed_at_random_points_the_file_is_right_and_little_"
            "is_fetched_twice",
            LLAMA + "test_download_kills.py",
        ),
        (("part.start_at(n_kept(self._files[index], target))", "part.start_at(0)"),),
    ),
    Row(
        "R31",
        "A repository's names mean harm",
        60,
        (
            DOWNLOAD + "test_names.py::test_names_that_could_do_harm_are_refused",
            DOWNLOAD + "test_names.py",
        ),
        (
            (
                '    parts = path.split("/")\n    for part in parts:\n        _check(part, path)',
                '    parts = path.split("/")',
            ),
        ),
    ),
    Row(
        "R32",
        "The window is killed while it writes",
        200,
        (
            STORAGE + "test_crash.py::test_nothing_is_lost_when_killed",
            STORAGE + "test_crash.py",
            GUI + "test_whole_program.py::test_whatever_was_shown_is_there_when_the_program_was_"
            "killed",
        ),
        (
            ("return not self._waiting or self._waiting[0].number > number", "return True"),
            (
                "return bool(self._waiting) and self._waiting[0].number <= self._urgent_until",
                "return False",
            ),
        ),
    ),
    Row(
        "R34",
        "The database is locked, read-only, newer or damaged",
        1200,
        (
            STORAGE + "test_any_bytes.py::test_every_byte_of_the_header_may_be_another",
            STORAGE + "test_any_bytes.py",
            STORAGE + "test_faults.py",
            GUI + "test_any_database.py",
        ),
        (
            (
                "                note = self._salvaged()\n                database",
                "                raise\n                database",
            ),
        ),
    ),
    Row(
        "R35",
        "The program is started several times at once",
        100,
        (
            GUI + "test_one_window.py::test_the_second_start_hands_over_its_files",
            GUI + "test_one_window.py",
        ),
        (
            (
                "            if _hand_over(address, files, until):\n                return False",
                "            return True",
            ),
        ),
    ),
    Row(
        "R36",
        "The window is closed at any time",
        500,
        (
            GUI + "test_liveness.py::test_closing_the_window_at_any_moment_is_quick_and_silent",
            GUI + "test_whole_program.py::test_it_can_be_closed_at_any_moment",
        ),
        (("engine_ended = self._client.close()", "engine_ended = self._client.close() and False"),),
    ),
    Row(
        "R37",
        "A chat is very long",
        10,
        (
            GUI + "test_message_pages.py::test_scrolling_through_keeps_the_number_of_views_bounded",
            GUI + "test_message_pages.py",
            GUI + "test_window_pace.py",
        ),
        (("MAX_BUILT = 56", "MAX_BUILT = 56_000"),),
    ),
    Row(
        "R38",
        "Private words reach a log",
        200,
        (
            "tests/chat/test_last_run.py::test_it_holds_no_word_and_no_token_of_the_reply",
            "tests/chat/test_last_run.py",
            HUB + "test_session.py::test_no_log_holds_the_token",
            GUI + "test_whole_program.py::test_whatever_was_shown_is_there_when_the_program_was_"
            "killed",
        ),
        (("names = Path(target.path).name,", "names = target.path,"),),
    ),
    Row(
        "R39",
        "The engine's process sends garbage",
        10_000,
        (
            HOSTING + "test_garbage.py::test_ten_thousand_frames_of_garbage",
            HOSTING + "test_garbage.py",
            "tests/chat/test_session_under_garbage.py",
        ),
        (
            (
                "except (msgspec.DecodeError, ValueError, RecursionError) as error:",
                "except (msgspec.DecodeError, RecursionError) as error:",
            ),
        ),
    ),
    Row(
        "R41",
        "The program is stopped and goes on",
        20,
        (
            HOSTING + "test_stops.py::test_a_host_that_is_stopped_does_not_blame_the_engine",
            HOSTING + "test_watchdog.py",
            HOSTING + "test_pulse.py",
        ),
        (
            (
                "passed = min(now - self._last_tick, _MAX_TICK_S)",
                "passed = now - self._last_tick",
            ),
        ),
        "The clock of the day is not read by any of these.",
    ),
    Row(
        "R42",
        "Models are loaded and calls made for a long time",
        500,
        (
            HOSTING + "test_nothing_grows.py::test_starting_over_after_kills",
            HOSTING + "test_nothing_grows.py",
            GUI + "test_qt_canary.py",
        ),
        (("        self._job.close()\n        self._output.close()", "        self._job.close()"),),
    ),
    Row(
        "R43",
        "Anything happens in any order",
        2000,
        (
            ENGINE + "test_state_machine.py",
            HOSTING + "test_broker.py",
            STORAGE + "test_store_contract.py",
            DOWNLOAD + "test_downloads.py",
            DOWNLOAD + "test_faults.py::test_whatever_is_done_to_them_files_are_whole_or_gone",
        ),
        (("rollback(min(n_held + 1 + verdict.n_accepted, ", "rollback(max(n_held + 99, "),),
        "A test is hundreds of lives of 30 steps, and counts as one.",
    ),
)


def run(tests: Sequence[str], *options: str) -> ET.Element:
    """Run tests in a process of their own; pytest's report.

    Raises:
        RuntimeError: They could not be run.
    """
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *options, *tests],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode not in (0, 1):
            raise RuntimeError(f"pytest {' '.join(tests)}:\n{done.stdout[-3000:]}{done.stderr}")
        return ET.parse(report).getroot()


def counted(report: ET.Element, tests: tuple[str, ...]) -> Result:
    """Add up the results of these tests; a test that counts no trials is one trial.

    Tests that were skipped were not tried.
    """
    places = tuple(test.replace(".py", "") for test in tests)
    n_trials = n_failed = 0
    seconds = 0.0
    for case in report.iter("testcase"):
        place = f"{case.get('classname', '').replace('.', '/')}::{case.get('name')}"
        if case.find("skipped") is not None or not place.startswith(places):
            continue
        told = case.find("properties/property[@name='trials']")
        n_trials += 1 if told is None else int(told.get("value", "1"))
        n_failed += case.find("failure") is not None or case.find("error") is not None
        seconds += float(case.get("time", "0"))
    return Result(n_trials, n_failed, seconds)


_HEAD = (
    "# How Paceline stands faults\n\n"
    "Written by `python3 packaging/faults.py --long`, row by row, or without `--long` by the short"
    " profile, the first test of each row; the table there says what takes a protection away. A"
    " trial is a fault that hit the program at work, or a test that sets up one"
    " such fault. “At most” is the 95 % upper bound of the share of trials that fail. “Without” is"
    " whether the row failed when its protection was taken away (`--controls`).\n\n"
)
_SHORT = " (short)"
_COLUMNS = (
    "Row", "What is broken", "Trials", "Wanted", "Failed", "At most", "Without", "Seconds",
    "Tests, and why less is shown than wanted",
)  # fmt: skip


def read_report() -> dict[str, dict[str, str]]:
    """The lines of the report, by row and column."""
    if not REPORT.exists():
        return {}
    names, _, *lines = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in REPORT.read_text("utf-8").splitlines()
        if line.startswith("|")
    ]
    return {line[0]: dict(zip(names, line, strict=True)) for line in lines}


def write_report(known: dict[str, dict[str, str]]) -> None:
    """Write the existing lines in the order of the table."""
    lines = [_line(_COLUMNS), _line(["---"] * len(_COLUMNS))]
    for row in ROWS:
        cells = known.get(row.name, {})
        tests = " ".join(f"`{test}`" for test in row.tests)
        fixed = {
            "Row": row.name,
            "What is broken": row.fault,
            "Wanted": f"{row.wanted:,}",
            _COLUMNS[-1]: f"{tests} {row.note}".strip(),
        }
        lines.append(_line([(cells | fixed).get(column, "") for column in _COLUMNS]))
    REPORT.write_text(_HEAD + "".join(lines), "utf-8")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def told(row: Row, result: Result) -> dict[str, str]:
    """The cells of a row for the report, which are printed, too."""
    cells = {
        "Trials": f"{result.n_trials:,}",
        "Failed": f"{result.n_failed}",
        "At most": f"{100 * at_most(result.n_failed, result.n_trials):.2g} %",
        "Seconds": f"{result.seconds:.0f}",
    }
    print(f"{row.name} {row.fault}: {cells}", flush=True)
    return cells


def control(row: Row, copy: Copy) -> str:
    """Remove a row's protection, run its first test, and return the outcome."""
    if not row.without:
        return "nothing to take away"
    tests = row.tests[:1]
    before = copy.plant(Fault(row.fault, row.without, tests))
    try:
        caught = copy.failures(tests)
    finally:
        copy.restore(before)
    print(f"{row.name} without its protection: {', '.join(caught) or 'NOTHING FAILED'}", flush=True)
    return "fails" if caught else "does not fail"


def _is_known(known: dict[str, dict[str, str]], row: Row, column: str) -> bool:
    return not (known.get(row.name, {}).get(column) or _SHORT).endswith(_SHORT)


def main() -> int:
    """Run the rows that are asked for; see the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--long", action="store_true", help="the full counts")
    parser.add_argument("--trials", type=int, help="at most so many trials in each test")
    parser.add_argument("--controls", action="store_true", help="take protections away")
    args = parser.parse_args()
    known = read_report()
    column = "Without" if args.controls else "Trials"
    is_kept = args.long or args.controls
    chosen = [
        row
        for row in ROWS
        if row.name in args.rows
        or (not args.rows and not (is_kept and _is_known(known, row, column)))
    ]
    options = ["--long"] if args.long else ["--trials=1"]
    options += [f"--trials={args.trials}"] if args.trials else []
    is_bad = False
    if not is_kept:
        began = time.monotonic()
        report = run([row.tests[0] for row in chosen], *options)
        for row in chosen:
            cells = told(row, counted(report, row.tests[:1]))
            is_bad |= cells["Failed"] != "0"
            if not _is_known(known, row, "Trials"):
                cells["Trials"] += _SHORT
                known[row.name] = {**known.get(row.name, {}), **cells}
        write_report(known)
        print(f"{time.monotonic() - began:.0f} s")
        return int(is_bad)
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch:
        copy = Copy(Path(scratch)) if args.controls else None
        for row in chosen:
            if copy is not None:
                cells = {"Without": control(row, copy)}
            else:
                cells = told(row, counted(run(row.tests, *options), row.tests))
            is_bad |= cells.get("Failed", "0") != "0" or cells.get("Without") == "does not fail"
            known[row.name] = {**known.get(row.name, {}), **cells}
            write_report(known)
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())

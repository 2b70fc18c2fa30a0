#!/usr/bin/env python3
"""Plant faults in a copy of the tree, one at a time, and see whether the usual tests catch them.

The faults of the engine are those that tests had missed in an audit, and some like them in what was
built since: a fault that was caught once stays here.

    python3 packaging/planted_faults.py [WORD...]    only faults whose name contains a word

It takes the Python that runs it, so start it with the environment's. For each fault it runs the few
test files of the short run that should notice it, and prints which test did. The exit code is 1
when a fault survives, and 2 when a place to plant one in is gone (then the fault needs a new place)
or the tests fail without a fault.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("app", "tests", "packaging", "pyproject.toml", "README.md")
TIMEOUT_S = 600


NATIVE = ("tests/integration/test_native_params.py",)


def sources(root: Path) -> list[Path]:
    """Return the files of a tree into which faults are planted."""
    app = root / "app"
    return [*(app / "paceline").rglob("*.py"), *(app / "kernels" / "rows").iterdir()]


class Fault(NamedTuple):
    """What is changed, and the tests that should see it.

    Attributes:
        name: For people.
        changes: Texts and what they become; each text is found in exactly one module of the
            program, or file of the library of rows, which may be moved and renamed.
        tests: Arguments for pytest.
    """

    name: str
    changes: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]


FAULTS = (
    Fault(
        "the RPC server tells that all memory is free",
        (("free[0] = min(free[0], free_memory())", "free[0] = min(free[0], free[0])"),),
        ("tests/cli/test_rpc_server.py",),
    ),
    Fault(
        "the RPC server's native code prints to stdout",
        (("output.keep_from_native_code()", "output.Results()"),),
        ("tests/cli/test_rpc_server.py",),
    ),
    Fault(
        "the RPC server lends the processor with llama.cpp's kernels",
        (
            (
                'if any(device.kind == "cpu" for device in server.devices)',
                'if any(device.kind == "gpu" for device in server.devices)',
            ),
        ),
        ("tests/engine/test_lent_processor.py",),
    ),
    Fault(
        "a chat's text in the contexts is kept as the next one's",
        (("if before != owner:  # from now on", "if before is owner:  # from now on"),),
        ("tests/engine/test_read_ahead.py",),
    ),
    Fault(
        "prompts are read ahead in other batches than the turn's",
        (("self._whole = 1 if self._may_cut else", "self._whole = 1 if self._pair else"),),
        ("tests/engine/test_read_ahead.py",),
    ),
    Fault(
        "the shortened conversation stays in the context",
        (
            (
                "        states.keep()\n        self._read(self._certain, self._tell)\n",
                "        states.keep()\n",
            ),
        ),
        ("tests/engine/test_read_ahead.py",),
    ),
    Fault(
        "a damaged stored state is used",
        (("if found == facts and start ==", "if found == facts or start =="),),
        ("tests/engine/test_state_files.py",),
    ),
    Fault(
        "a deleted chat's stored states stay in their folder",
        (("drop_files(str(self._folder), (owner,) if owner else ())", "pass"),),
        ("tests/engine/test_state_files.py",),
    ),
    Fault(
        "a private chat's states stay when it is left",
        (
            (
                "if chat in self._known or self._conversations.is_private(chat)",
                "if chat in self._known",
            ),
        ),
        ("tests/chat/test_chat_states.py",),
    ),
    Fault(
        "no rollback after a rejection",
        (("rollback(min(n_held + 1 + verdict.n_accepted, ", "rollback(max(n_held + 99, "),),
        ("tests/engine/test_decoder.py",),
    ),
    Fault(
        "a mark in a fence of code begins a call",
        (("fence = None if self._form.is_framed else _FENCE", "fence = None and _FENCE"),),
        ("tests/engine/calls/test_reader.py",),
    ),
    Fault(
        "a mark in a reasoning begins a call",
        (
            (
                "self._marks = MarkFinder(form) if form.is_framed else None",
                "self._marks = MarkFinder(form)",
            ),
        ),
        ("tests/engine/calls/test_waiting.py",),
    ),
    Fault(
        "objects of tools stay open",
        (('found["additionalProperties"] = False', 'found["additionalProperties"] = True'),),
        ("tests/engine/calls/test_tool_schemas.py",),
    ),
    Fault(
        "noise ignores the seed",
        (("_mix((_mix((seed + _GOLDEN) & _MASK)", "_mix((_mix(_GOLDEN & _MASK)"),),
        ("tests/engine/test_noise.py",),
    ),
    Fault(
        "draft counters are off by one",
        (("self.tokens_accepted += n_accepted", "self.tokens_accepted += n_accepted + 1"),),
        ("tests/engine/test_stats.py",),
    ),
    Fault(
        "a message is not synced to disk",
        (("{'FULL' if durable else 'NORMAL'}", "NORMAL"),),
        ("tests/storage/test_power.py",),
    ),
    Fault(
        "a download's hash is not checked",
        (('if self._files[index].sha256 in ("", sha256):', "if sha256:"),),
        ("tests/catalog/download/test_faults.py",),
    ),
    Fault(
        "a stop string across tokens is missed",
        (("max(self._searched - len(stop) + 1, first)", "max(self._searched, first)"),),
        ("tests/engine/test_text.py",),
    ),
    Fault(
        "a cancel leaves the context dirty",
        (
            (
                "self.tokens.extend(tokens[: self.model.n_past - len(self.tokens)])",
                "self.tokens.extend(tokens)",
            ),
            (
                "if not self.model.can_rollback or self.model.n_past != len(self.tokens):\n"
                "            self.clear()",
                "pass",
            ),
        ),
        ("tests/engine/test_context.py", "tests/engine/test_decoder.py"),
    ),
    Fault(
        "a theme has no contrast",
        (('muted="#5D6A72"', 'muted="#C5CACD"'),),
        ("tests/gui/test_contrast.py",),
    ),
    Fault(
        "the event loop is blocked",
        (
            (
                "        if not self._is_closed:\n            listener(event)\n",
                "        if not self._is_closed:\n            from PySide6.QtCore import QThread\n"
                "            QThread.msleep(900 if type(event).__name__ == 'PairLoaded' else 0)\n"
                "            listener(event)\n",
            ),
        ),
        ("tests/gui/test_liveness.py", "-k", "stays_live and thread"),
    ),
    Fault(
        "a thread is leaked",
        (
            (
                "        self._broker.close()\n        if not self._thread.ident:\n",
                "        self._broker.close()\n"
                "        threading.Thread(target=time.sleep, args=(9,), name='left').start()\n"
                "        if not self._thread.ident:\n",
            ),
        ),
        ("tests/hosting/test_threaded.py",),
    ),
    Fault(
        "facts without the model's file",
        (
            (
                "                self.info.file_id, llama_cpp.__version__,",
                "                llama_cpp.__version__,",
            ),
        ),
        NATIVE,
    ),
    Fault(
        "facts without the build",
        (("self.info.file_id, llama_cpp.__version__,", "self.info.file_id,"),),
        NATIVE,
    ),
    Fault(
        "facts without the types of the cache",
        (('params.kv_type_k, params.kv_type_v, f"fa-', 'f"fa-'),),
        NATIVE,
    ),
    Fault(
        "facts without whether windows alone are kept",
        (('                *(() if params.swa_full else ("windows",)),\n', ""),),
        NATIVE,
    ),
    Fault(
        "facts without whether states are copied",
        (('                *(("copies",) if self.needs_copies else ()),\n', ""),),
        ("tests/integration/test_hybrids.py", "-k", "says_how_far"),
    ),
    Fault(
        "a padded plain step counts as a wide one",
        (
            (
                "width = target.model.last_decode[0] if n_draft or n_owed else 1",
                "width = target.model.last_decode[0]",
            ),
        ),
        ("tests/engine/test_api.py",),
    ),
    Fault(
        "facts without whether hidden states are put out",
        (('                *(("hidden",) if self._hidden is not None else ()),\n', ""),),
        ("tests/integration/test_mtp.py", "-k", "takes_its_place"),
    ),
    Fault(
        "types of K and V swapped",
        (("p.type_k, p.type_v = KV", "p.type_v, p.type_k = KV"),),
        NATIVE,
    ),
    Fault(
        "flash attention ignored",
        (("p.flash_attn_type = FLASH_ATTN[params.flash_attn]", "pass"),),
        NATIVE,
    ),
    Fault(
        "threads that are set do not arrive",
        (("llama_cpp.llama_set_n_threads(self._context, n_threads, n_threads_batch)", "pass"),),
        NATIVE,
    ),
    Fault(
        "the position is not read back after a stopped decode",
        (
            (
                "self._n_past = self._gaps.index(last + 1)",
                "self._n_past = past",
            ),
        ),
        ("tests/integration/test_stopped_decode.py",),
    ),
    Fault(
        "exact mode keeps whole pieces that were taken back",
        (("self._n_whole = min(self._n_whole, n_tokens)", "pass"),),
        ("tests/engine/test_context.py",),
    ),
    Fault(
        "exact mode reuses parts of pieces",
        (("            keep -= self.tokens.gaps.n_since(keep) % self.prefill_piece\n", ""),),
        ("tests/engine/test_context.py", "tests/integration/test_exact_context.py"),
    ),
    Fault(
        "padding stays in the context",
        (
            (
                "if not self.model.rollback(self.model.n_past - n_pad):",
                "if not self.model.can_rollback:",
            ),
        ),
        ("tests/engine/sameness", "tests/engine/test_context.py"),
    ),
    Fault(
        "a change of strategy renews Auto's allowance",
        (("ledger=self._meter.ledger,", "ledger=None,"),),
        ("tests/engine/test_auto_chain.py", "-k", "does_not_renew"),
    ),
    Fault(
        "the second reply of a comparison has the first one's context",
        (("            self._client.request(Reset(keeps_rates=True), asker=ASKER)\n", ""),),
        ("tests/chat/test_comparison.py",),
    ),
    Fault(
        "a comparison leaves other models loaded",
        (("        if there != own.pair:\n            self._pair.reload()\n", ""),),
        ("tests/chat/test_comparison.py",),
    ),
    Fault(
        "a look leaves cells",
        (
            (
                "                    if apart := difference(row, other):",
                "                    n_held = len(context.tokens)\n"
                "                    if apart := difference(row, other):",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "one look at one place is enough",
        (
            (
                "return sum(looks) >= ENOUGH and all(looks[part] for part in self._parts)",
                "return sum(looks) > 0",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "exact mode takes cheaper widths before enough was compared",
        (("return next(filter(self._is_sure, choices), choices[-1]", "return (choices[0]"),),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "a draft of tokens that write the same becomes the last of them",
        (("                ids[equal] = found[-1]\n", ""),),
        ("tests/engine/test_translation.py",),
    ),
    Fault(
        "a row that differs does not withdraw the promise",
        (
            (
                "if not self._is_possible or self._evidence.refutes(widths):",
                "if not self._is_possible:",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "own products are enough for a promise, whoever computes attention",
        (
            (
                'own = [use.by == "own" for use in model.info.kernels]',
                'own = [u.by == "own" for u in model.info.kernels if u.kind != "attention"]',
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "a batch is padded beyond the widths that agree",
        (
            (
                "if n_tokens < width <= min(self.widths.highest, "
                "self.model.n_ctx - len(self.tokens)):",
                "if n_tokens < width:",
            ),
        ),
        ("tests/engine/test_context.py",),
    ),
    Fault(
        "costs of other widths are believed",
        (
            (
                "        if has_changed:\n"
                "            self.knowledge.costs = self.knowledge.costs.emptied()\n",
                "",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "evidence of another processor",
        (('return f"{model.facts_key}|{processor()}"', "return model.facts_key"),),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "exact mode with a memory that overwrites what is far back",
        (("self._is_exact = is_exact and not context.model.forgets", "self._is_exact = is_exact"),),
        ("tests/integration/test_hybrids.py", "-k", "refused_in_words"),
    ),
    Fault(
        "a promise by construction with a memory that overwrites",
        (("        if model.max_rollback and model.forgets:\n", "        if False:\n"),),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "a copy outlives the text that it was made of",
        (("            self._saved.forget(n_past)\n", "            pass\n"),),
        ("tests/integration/test_sliding_windows.py", "-k", "outlives"),
    ),
    Fault(
        "padding is taken after too few looks",
        (
            (
                "if self._has_enough(widths) and self._is_cheap(widths):",
                "if self._is_cheap(widths):",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "what a step took at other widths is told",
        (("            self._cost = None  # until the next load\n", ""),),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "other widths wait for the next load",
        (
            (
                "if self._pair.settle() and self._idle_work is not None:",
                "if False and self._idle_work is not None:",
            ),
        ),
        ("tests/engine/test_full_calibration.py",),
    ),
    Fault(
        "a state that comes back is not looked at",
        (("return n_held == 2 and bool(np.allclose(", "return n_held == 2 or bool(np.allclose("),),
        ("tests/engine/test_self_test.py",),
    ),
    Fault(
        "the last program's evidence alone is kept",
        (("        self._read(self._facts.newest(self._name))\n", ""),),
        ("tests/engine/sameness/test_evidence.py",),
    ),
    Fault(
        "what a load's self-test saw of rows is not kept",
        (
            (
                "            if apart:\n                seen =",
                "            if False:\n                seen =",
            ),
        ),
        ("tests/engine/test_self_test.py",),
    ),
    Fault(
        "a draft may be one cell too long",
        (("self._max_tokens, target.n_ctx + 1)", "self._max_tokens, target.n_ctx + 2)"),),
        ("tests/engine/test_decoder.py",),
    ),
    Fault(
        "how likely a token was is told with biases and penalties",
        (("own = row.copy()", "own = row"),),
        ("tests/engine/test_likelihoods.py",),
    ),
    Fault(
        "a template's own text counts as the stop text that was asked for",
        (("for stop in stops if stop in self._command.stop), ", "for stop in stops), "),),
        ("tests/engine/test_stops.py",),
    ),
    Fault(
        "a lookup goes on with the index of another conversation",
        (("if same_chat and shape ==", "if shape =="),),
        ("tests/engine/test_conversations_apart.py",),
    ),
    Fault(
        "programs are drafted from the texts of earlier chats",
        (("earlier=pair.earlier if command.remember else None", "earlier=pair.earlier"),),
        ("tests/engine/test_conversations_apart.py",),
    ),
    Fault(
        "wide steps are learned as of an empty context",
        (("costs.add(width, step.n_ctx,", "costs.add(width, 0,"),),
        ("tests/engine/auto/test_controller.py",),
    ),
    Fault(
        "tokens after the rejected one count as judged",
        (
            (
                "step.n_judged = len(proposal.tokens) - n_discarded",
                "step.n_judged = len(proposal.tokens)",
            ),
        ),
        ("tests/engine/test_auto_chain.py", "tests/engine/auto/test_controller.py"),
    ),
    Fault(
        "plain steps are never asked for",
        (
            (
                "        if self._n_since >= 256:\n            self._due = max(self._due, 1)\n",
                "",
            ),
        ),
        ("tests/engine/auto/test_controller.py", "tests/engine/auto/test_pace.py"),
    ),
    Fault(
        "lookups are believed as in the reply before",
        (
            (
                "n for n in self._accepted]\n        self._rates = [None] * _PLACES\n",
                "n for n in self._accepted]\n",
            ),
        ),
        ("tests/engine/auto/test_acceptance.py",),
    ),
    Fault(
        "idle time keeps wrong tokens in the draft model's context",
        (("        draft.rollback(n_shared)\n", ""),),
        ("tests/engine/test_idle.py", "tests/integration/test_catching_up.py"),
    ),
    Fault(
        "noise keyed off by one position",
        (("(position + 1) * _STREAM", "(position + 2) * _STREAM"),),
        ("tests/engine/test_noise.py", "tests/engine/test_pinned_replies.py"),
    ),
    Fault(
        "of equal scores any is drawn",
        (("gumbel_of(key, token)), token)", "gumbel_of(key, token)), -token)"),),
        ("tests/engine/test_plain_rows.py",),
    ),
    Fault(
        "native code gives equal scores to the higher id",
        (("each.token < best.token", "each.token > best.token"),),
        ("tests/engine/test_native_rows.py",),
    ),
    Fault(
        "native code reads beyond the last row",
        (("if (first + PIECE <= n) return", "if (first + PIECE <= n + 4) return"),),
        ("tests/engine/test_native_rows.py",),
    ),
    Fault(
        "native code draws what a shorter mask does not tell of",
        (("&= (1ull << (known - first) % 64) - 1", "&= ~0ull"),),
        ("tests/engine/test_native_rows.py",),
    ),
    Fault(
        "a recurrent model goes back to a state of an earlier time",
        (("            if n_removed >= self._n_new:\n                return False\n", ""),),
        ("tests/integration/test_hybrids.py",),
    ),
    Fault(
        "tokens that are owed are never decoded again",
        (
            (
                "[*self.tokens[len(self.tokens) - self.n_owed :], *tokens], n_rows)",
                "[*tokens], n_rows)",
            ),
        ),
        ("tests/engine/test_context.py", "tests/integration/test_hybrids.py"),
    ),
    Fault(
        "cells of states that an MTP head has guessed stay",
        (
            (
                "            self._context.rollback(n_true - self._origin)\n",
                "            pass\n",
            ),
        ),
        ("tests/integration/test_mtp.py", "-k", "guessed_states"),
    ),
    Fault(
        "a picture is taken for another one in its place",
        (("            if one != another:\n", "            if one[0] != another[0]:\n"),),
        ("tests/engine/test_tokens.py",),
    ),
    Fault(
        "positions are counted as cells are",
        (
            (
                "position = self._n_past + self._gaps.shift\n",
                "position = self._n_past\n",
            ),
        ),
        ("tests/integration/test_gaps.py",),
    ),
    Fault(
        "n-grams are counted across a gap",
        (
            (
                "                tail = n_known = 0\n                continue\n",
                "                continue\n",
            ),
        ),
        ("tests/engine/test_gaps.py",),
    ),
    Fault(
        "acceptance is kept under one name however drafts are translated",
        (('        key += f"|{pair.draft.translation.how}"\n', "        pass\n"),),
        ("tests/engine/test_translated_context.py",),
    ),
    Fault(
        "programs are told of the token that ends a reply",
        (
            (
                'if event.reason == "eog":\n                            held',
                "if False:\n                            held",
            ),
        ),
        ("tests/server/test_logprobs.py",),
    ),
    Fault(
        "the last files beside a gap are left out in place of the first",
        (("for file in reversed(prompt.files):", "for file in prompt.files:"),),
        ("tests/engine/test_infill.py",),
    ),
    Fault(
        "drafted tokens are counted at the first place of the draft",
        (("place += 1\n", "place = 1\n"),),
        ("tests/server/test_metrics.py",),
    ),
    Fault(
        "a call that was cut is told as a whole one",
        (("return [block for block in self.all if block.is_whole]", "return self.all"),),
        ("tests/server/test_tool_calls.py",),
    ),
    Fault(
        "a reply that calls tools ends as if it called none",
        (("return self.n_calls > 0 and not self.is_call_cut", "return False"),),
        ("tests/server/test_tool_calls.py",),
    ),
    Fault(
        "tokens from the cache are counted twice at /v1/messages",
        (('"input_tokens": n_prompt - n_reused,', '"input_tokens": n_prompt,'),),
        ("tests/server/test_messages.py",),
    ),
    Fault(
        "what the model said in a row becomes several messages",
        (
            (
                "if last is None:\n                messages.append(ChatMessage",
                "if True:\n                messages.append(ChatMessage",
            ),
        ),
        ("tests/server/test_responses.py",),
    ),
    Fault(
        "a reason quotes what another program has sent",
        (
            (
                "owner = turn.owner and structs.replace(turn.owner, asker=caller.name)",
                "owner = turn.owner",
            ),
        ),
        ("tests/server/test_reread.py",),
    ),
    Fault(
        "what is forgotten while it is answered is held all the same",
        (
            (
                "if self._running is not None and (not owners or",
                "if False and self._running and (not owners or",
            ),
        ),
        ("tests/engine/test_last_prompts.py",),
    ),
    Fault(
        "the second line that an expression finds is given the first one's text",
        (("self._n_found[expression] += 1", "self._n_found[expression] += 0"),),
        ("tests/server/test_reread.py",),
    ),
)


class Copy:
    """A copy of the tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in NEEDED:
            if (ROOT / name).is_dir():
                shutil.copytree(
                    ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copy(ROOT / name, folder)
        (folder / "resources").symlink_to(ROOT / "resources", target_is_directory=True)

    def plant(self, fault: Fault) -> dict[Path, str]:
        """Make the changes; return the files as they were.

        Raises:
            LookupError: A place is gone, or there are several.
        """
        before: dict[Path, str] = {}
        for old, new in fault.changes:
            found = [path for path in sources(self.folder) if old in path.read_text("utf-8")]
            if len(found) != 1:
                self.restore(before)
                raise LookupError(f"{len(found)} files instead of one have: {old!r}")
            text = found[0].read_text("utf-8")
            before.setdefault(found[0], text)
            found[0].write_text(text.replace(old, new), "utf-8")
        return before

    def restore(self, before: dict[Path, str]) -> None:
        """Take a fault back."""
        for path, text in before.items():
            path.write_text(text, "utf-8")

    def failures(self, tests: tuple[str, ...]) -> list[str]:
        """Run tests up to the first one that fails; return its name, or what else went wrong."""
        # Byte code of a fault must not outlive it: two versions may have one size and one second.
        env = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "app"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "QT_QPA_PLATFORM": "offscreen",
            "COLUMNS": "200",  # room for why a test failed
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(
                [*command, *tests], cwd=self.folder, env=env, capture_output=True,
                text=True, timeout=TIMEOUT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return [f"no end within {TIMEOUT_S} s"]
        if done.returncode == 0:
            return []
        named = re.findall(r"^(?:FAILED|ERROR) (tests/.*)", done.stdout, re.MULTILINE)
        if done.returncode != 1 or not named:
            raise RuntimeError(f"pytest {' '.join(tests)}:\n{done.stdout[-3000:]}{done.stderr}")
        return named


def main() -> int:
    """Plant, run, print; see the top."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD")
    words = parser.parse_args().words
    chosen = [f for f in FAULTS if not words or any(word in f.name for word in words)]
    survived = broken = 0
    with tempfile.TemporaryDirectory(prefix="planted-") as scratch:
        copy = Copy(Path(scratch))
        without = cache(copy.failures)  # many faults share their tests
        for fault in chosen:
            if failures := without(fault.tests):
                print(f"{fault.name}: tests fail without it: {', '.join(failures)}", flush=True)
                broken += 1
                continue
            try:
                before = copy.plant(fault)
            except LookupError as error:
                print(f"{fault.name}: cannot be planted: {error}", flush=True)
                broken += 1
                continue
            caught = copy.failures(fault.tests)
            copy.restore(before)
            survived += not caught
            print(f"{fault.name}: {'caught by ' + caught[0] if caught else 'SURVIVED'}", flush=True)
    print(f"{len(chosen) - survived - broken} of {len(chosen)} faults were caught.")
    return 2 if broken else 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

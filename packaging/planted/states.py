"""Faults of contexts and stored states: what a reply finds computed already."""

from __future__ import annotations

from planted.fault import Fault

FAULTS = (
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
        "a copy outlives the text that it was made of",
        (("            self._saved.forget(n_past)\n", "            pass\n"),),
        (
            "tests/integration/test_sliding_windows.py::test_no_copy_outlives_the_text_that_it_was_made_of",
        ),
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
        (
            "tests/integration/test_mtp.py::test_a_head_keeps_nothing_computed_from_the_states_of_drafted_"
            "tokens",
        ),
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
        "a private text's states serve other chats",
        (('if child.only_for in ("", owner):', "if child.only_for is not None:"),),
        ("tests/engine/test_stored_states.py",),
    ),
    Fault(
        "a block is named without what comes before it",
        (("digest = hashlib.sha256(parent.name.encode())", "digest = hashlib.sha256()"),),
        ("tests/engine/test_stored_states.py",),
    ),
    Fault(
        "states of another processor are used",
        (("{model.facts_key}|{processor()}|{weights}", "{model.facts_key}|{weights}"),),
        ("tests/engine/test_kept_states.py",),
    ),
    Fault(
        "states of weights that were replaced are used",
        (("{model.facts_key}|{processor()}|{weights}", "{model.facts_key}|{processor()}"),),
        ("tests/engine/test_kept_states.py",),
    ),
    Fault(
        "states in memory know no limit",
        (
            (
                "while self.n_bytes > self.most_bytes and self._held:",
                "while self.n_bytes < 0 and self._held:",
            ),
        ),
        ("tests/engine/test_stored_states.py",),
    ),
    Fault(
        "what a chat alone had stays in memory when it is deleted",
        (
            (
                "elif not owner or owner == block.only_for or owner in block.owners:",
                "elif not owner or owner == block.only_for:",
            ),
        ),
        ("tests/engine/test_stored_states.py",),
    ),
    Fault(
        "the end of a stored block that is another text's stays in the context",
        (
            (
                "if n_block:  # the end of the last block may be another owner's text",
                "if n_block < 0:  # the end of the last block may be another owner's text",
            ),
        ),
        ("tests/engine/test_kept_states.py",),
    ),
)

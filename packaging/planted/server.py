"""Faults of what other programs are answered."""

from __future__ import annotations

from planted.fault import Fault

FAULTS = (
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
        "the second line that an expression finds is given the first one's text",
        (("self._n_found[expression] += 1", "self._n_found[expression] += 0"),),
        ("tests/server/test_reread.py",),
    ),
    Fault(
        "a program without a key is let in",
        (("if not right or not all(right):", "if right and not all(right):"),),
        ("tests/server/test_guard.py",),
    ),
    Fault(
        "a page of any origin may ask",
        (
            (
                "if origin is not None and origin not in self.origins:",
                "if origin is not None and origin in self.origins:",
            ),
        ),
        ("tests/server/test_guard.py",),
    ),
    Fault(
        "a page that makes its own name point here may ask",
        (("if not self.key and not self._knows(", "if self.key and not self._knows("),),
        ("tests/server/test_guard.py",),
    ),
    Fault(
        "what a form in a page sends is answered",
        (('if kind != "application/json":', 'if kind == "text/html":'),),
        ("tests/server/test_guard.py",),
    ),
    Fault(
        "a reply goes on when its program has left",
        (("if not (self._is_answered or self.has_hung_up):", "if self._is_answered:"),),
        ("tests/server/test_askers.py",),
    ),
)

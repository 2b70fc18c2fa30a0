"""Comparison of Auto with fixed settings, in turns."""

from __future__ import annotations

import pytest

from benchmarks import sweep
from benchmarks.sweep import Took, compare

STRATEGIES = ["off", "suffix", "draft", "auto"]
KINDS = ["copy", "prose"]


def status(auto: dict[str, float]) -> int:
    """Judge replies of which plain decoding takes 1 s, and each other setting is best for one."""
    seconds = {
        ("copy", "suffix"): 0.5, ("copy", "draft"): 0.9,
        ("prose", "suffix"): 1.1, ("prose", "draft"): 0.8,
    }  # fmt: skip

    def reply(kind: str, strategy: str) -> Took:
        took = auto[kind] if strategy == "auto" else seconds.get((kind, strategy), 1.0)
        return Took(took, f"{kind} by {strategy}")

    return compare(KINDS, STRATEGIES, reply, 3)


def test_auto_has_to_be_near_the_best_of_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert status({"copy": 0.51, "prose": 0.82}) == 0
    printed = capsys.readouterr().out
    assert "copy           Auto is 1.96 of plain decoding, 0.98 of the best fixed" in printed
    assert "suffix                  0.91 (0.91 to 0.91)  prose by suffix" in printed
    assert "mean off 1.00, suffix 1.45, draft 1.18, auto 1.59" in printed
    assert "within the limits" in printed
    assert status({"copy": 0.51, "prose": 0.83}) == 1
    assert "a limit is missed: prose\n" in capsys.readouterr().out


def test_auto_has_to_be_above_every_setting_over_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert status({"copy": 0.7, "prose": 0.82}) == 1
    assert "a limit is missed: copy, mean\n" in capsys.readouterr().out


def test_real_decodes_in_both_orders(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--pair", "demo", "--kernels", "stock", "--kinds", "story", "--repeat", "1"]
    assert sweep.main([*options, "--strategies", "draft:n_max=2"]) in {0, 1}
    printed = capsys.readouterr().out
    (drafted,) = (x for x in printed.splitlines() if x.startswith("story          draft"))
    n_accepted, n_drafted = (int(n) for n in drafted.split()[6].split("/"))
    assert 0 < n_accepted < n_drafted
    assert "off                     1.00 (1.00 to 1.00)  0/0" in printed

"""Faults of the choice of a token."""

from __future__ import annotations

from planted.fault import Fault

FAULTS = (
    Fault(
        "noise ignores the seed",
        (("_mix((_mix((seed + _GOLDEN) & _MASK)", "_mix((_mix(_GOLDEN & _MASK)"),),
        ("tests/engine/test_noise.py",),
    ),
    Fault(
        "how likely a token was is told with biases and penalties",
        (("own = row.copy()", "own = row"),),
        ("tests/engine/test_likelihoods.py",),
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
)

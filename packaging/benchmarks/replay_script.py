"""A long reply in Markdown, as tokens: headings, prose, lists, tables, code, formulas, emoji.

Made from a seed, so that two runs on two machines replay the same.
"""

from __future__ import annotations

from random import Random

from scripted import tokens_of

_WORDS = (
    *("the", "a", "file", "reads", "each", "line", "and", "keeps", "what", "it", "found", "so"),
    *("that", "later", "steps", "need", "not", "ask", "again", "parser", "token", "context"),
    *("batch", "draft", "target", "accepted", "memory", "thread", "window", "buffer", "value"),
    *("error", "name", "path", "when", "where", "because", "only", "before", "behind", "between"),
)
_EMOJI = ("🚀", "✅", "👩‍💻", "🔥", "🧪")
_CODE = """```python
def read_{name}(path: Path, limit: int = {number}) -> dict[str, int]:
    \"\"\"Read the {name} and count its {name}s.\"\"\"
    counts: dict[str, int] = {{}}
    for line in path.read_text(encoding="utf-8").splitlines()[:limit]:
        key, _, value = line.partition("=")
        if not value.isdigit():
            raise ValueError(f"{{path.name}}: {{line!r}} is no number")
        counts[key.strip()] = counts.get(key, 0) + int(value)
    return {{key: value for key, value in sorted(counts.items(), key=str) if value > {number} and key}}
```

"""  # noqa: E501
_MATHS = r"""The {name} has $n = {number}$ parts and the mean \(\bar{{x}}_{{{number}}} = \frac{{1}}{{n}}\sum_i x_i\), so

$$\hat{{\theta}} = \arg\max_\theta \prod_{{i=1}}^{{{number}}} p(x_i \mid \theta), \quad \sqrt{{n}}\,(\hat{{\theta}} - \theta_0) \to \mathcal{{N}}(0, \sigma^2)$$

and with $\sigma^2 = \int_0^{{{number}}} (x - \mu)^2 \, dx$:

\[
\begin{{aligned}}
A &= \begin{{pmatrix}} {number} & b \\ c & d \end{{pmatrix}} \\
f(x) &= \begin{{cases}} x & \text{{if }} x > {number} \\ 0 & \text{{otherwise}} \end{{cases}}
\end{{aligned}}
\]

"""  # noqa: E501  a model breaks no lines either


def long_text(n_tokens: int, seed: int) -> list[str]:
    """Return so many tokens of Markdown."""
    random = Random(seed)
    tokens: list[str] = []
    while len(tokens) < n_tokens:
        tokens += tokens_of(_section(random))
    return tokens[:n_tokens]


def _section(random: Random) -> str:
    name = random.choice(_WORDS)
    parts = [
        f"## About the {name} {random.choice(_EMOJI)}\n\n",
        f"{_sentence(random)} {_sentence(random)} It has *{name}* and `{name}()`.\n\n",
        "".join(f"- {_sentence(random)}\n" for _ in range(3)) + "\n",
        _CODE.format(name=name, number=random.randrange(1_000)),
        _MATHS.format(name=name, number=random.randrange(1_000)),
        _table(random),
        "".join(f"{n}. **{random.choice(_WORDS)}**: {_sentence(random)}\n" for n in (1, 2, 3)),
        f"\n> {_sentence(random)}\n\n",
    ]
    return "".join(parts)


def _sentence(random: Random) -> str:
    words = " ".join(random.choice(_WORDS) for _ in range(random.randrange(6, 16)))
    return (
        f"{words.capitalize()} {random.choice(_EMOJI)}."
        if not random.randrange(6)
        else (f"{words.capitalize()}.")
    )


def _table(random: Random) -> str:
    rows = "".join(
        f"| {random.choice(_WORDS)} | {random.random() * 100:.1f} | {_sentence(random)} |\n"
        for _ in range(4)
    )
    return f"| part | share | what it does |\n|---|---:|---|\n{rows}\n"

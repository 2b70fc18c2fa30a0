"""Conversations for the pictures: texts with code, tables and reasoning.

The demo pair cannot write such texts, so their replies are scripted (`scripted.py`). The database,
the window and everything that is shown of them are real.
"""

from __future__ import annotations

from time import time
from types import MappingProxyType

from paceline.conversation import Attachment, Conversation, Message
from paceline.run_record import RunRecord
from scripted import record_of

Chat = tuple[Conversation, dict[str, RunRecord]]

CODE = """Reading a file line by line keeps only one line in memory. Here is a function that \
counts how often each word occurs:

```python
from collections import Counter
from pathlib import Path


def count_words(path: Path, limit: int = 10) -> list[tuple[str, int]]:
    \"\"\"Return the most frequent words of a text file.\"\"\"
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8") as file:
        for line in file:  # one line at a time
            counts.update(line.lower().split())
    return counts.most_common(limit)
```

How the usual ways compare:

| way | memory | best for |
|---|---|---|
| `for line in file` | one line | large files |
| `file.read()` | the whole file | small files |
| `file.readlines()` | the whole file, as a list | random access to lines |
| `mmap` | pages on demand | searching binary data |

- [x] opens the file as UTF-8
- [x] closes it in every case
- [ ] tells words apart by language: `split()` knows spaces only
"""
REASONING = """<think>
The user asks which of two ways is faster. Appending to a list and joining at the end is linear, \
adding strings in a loop may copy the text every time. CPython has an optimisation for that, but \
only when nobody else holds the string. I should say both, and how to measure it.
</think>

Collect the parts in a list and join them once:

```python
parts = []
for row in rows:
    parts.append(render(row))
text = "".join(parts)
```

Adding with `+=` **may** copy everything that is there so far at each step. Measure it with \
`python -m timeit` before you change code that is easy to read."""
MATHS = r"""The **least-squares line** through $n$ points has the slope and the intercept

$$\hat{\beta}_1 = \frac{\sum_{i=1}^{n} (x_i - \bar{x})(y_i - \bar{y})}{\sum_{i=1}^{n} (x_i - \bar{x})^2},
\qquad \hat{\beta}_0 = \bar{y} - \hat{\beta}_1 \bar{x}$$

With several variables, in the rows of a matrix \(\mathbf{X} \in \mathbb{R}^{n \times p}\):

1. Set the gradient to zero:
   \[
   \nabla_{\boldsymbol{\beta}} \left\| \mathbf{y} - \mathbf{X}\boldsymbol{\beta} \right\|_2^2
   = -2\,\mathbf{X}^\top (\mathbf{y} - \mathbf{X}\boldsymbol{\beta}) = 0
   \]
2. Solve $\mathbf{X}^\top \mathbf{X} \boldsymbol{\beta} = \mathbf{X}^\top \mathbf{y}$, never by $(\mathbf{X}^\top \mathbf{X})^{-1}$ itself.

| quantity | estimate |
|---|---|
| variance | $s^2 = \frac{1}{n-p} \sum_i e_i^2$ |
| loss | $\ell(e) = \begin{cases} e^2 & \text{if } \lvert e \rvert \le \delta \\ 2\delta\lvert e \rvert - \delta^2 & \text{otherwise} \end{cases}$ |

```python
def slope_and_intercept(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    # both arrays have n numbers
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    return slope, float(y.mean() - slope * x.mean())
```

It costs $5 or $10 of electricity at most.
"""  # noqa: E501
SHORT = "Use `pathlib.Path.glob`: it yields paths, and `**` descends into folders."
FILE = """def render(row):
    cells = "".join(f"<td>{cell}</td>" for cell in row)
    return f"<tr>{cells}</tr>"
"""


def chat(name: str, title: str, *turns: tuple[str, str], **more: object) -> Chat:
    """Return a conversation of questions and scripted replies."""
    messages: dict[str, Message] = {}
    records: dict[str, RunRecord] = {}
    parent = None
    for number, (question, reply) in enumerate(turns):
        asked, said = f"{name}-{number}-q", f"{name}-{number}-r"
        files = more.get("attachments", ()) if number == 0 else ()
        assert isinstance(files, tuple)
        messages[asked] = Message.of_text(asked, parent, "user", question, attachments=files)
        messages[said] = Message.of_text(said, asked, "assistant", reply)
        records[said] = record_of(said, reply, number + len(name))
        parent = said
    tags = more.get("tags", ())
    assert isinstance(tags, tuple)
    days = more.get("days", 0)
    assert isinstance(days, int)
    now = time() - 600 * (1 + len(name)) - 86_400 * days
    conversation = Conversation(
        name, title, created_s=now, changed_s=now,
        messages=MappingProxyType(messages), leaf_id=parent,
        pinned=bool(more.get("pinned")), tags=tags,
    )  # fmt: skip
    return conversation, records


def chats() -> tuple[Chat, ...]:
    """Return all conversations of the pictures, oldest first."""
    file = Attachment("render.py", FILE, len(FILE))
    return (
        chat("notes", "Notes for the release", ("List what changed since spring.", SHORT), days=1),
        chat("glob", "Find files by pattern", ("How do I list all .py files?", SHORT),
             tags=("python",), days=1),
        chat("join", "Fast string building", ("Which is faster, join or +=?", REASONING),
             tags=("python", "speed"), attachments=(file,)),
        chat("maths", "Fit a line to points", ("How are slope and intercept computed?", MATHS),
             tags=("python",), days=1),
        chat("words", "Count words in a file",
             ("What is the best way to walk a folder?", SHORT),
             ("Count the words of a large file, and compare the ways to read it.", CODE),
             tags=("python",), pinned=True),
    )  # fmt: skip


def many(n: int) -> tuple[Chat, ...]:
    """Return more conversations, so that the list looks realistic."""
    titles = (
        *("Regex for ISO dates", "Explain decorators", "SQL: last row per group"),
        *("Pack a wheel", "Letter to the landlord"),
    )
    return tuple(
        chat(f"more{i}", title, (f"{title}?", SHORT), days=2 + 3 * i)
        for i, title in enumerate(titles[:n])
    )


def foreign() -> Conversation:
    """Return an imported chat, without a record of its reply."""
    conversation, _ = chat("foreign", "From another program", ("How do I open a file?", SHORT))
    return conversation

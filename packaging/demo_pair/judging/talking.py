"""How the pair talks: acceptance and speed by workload, right answers, and answers to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from demo_pair.chats.asking import FACTS
from demo_pair.chats.chat import Chat
from demo_pair.judging.engine import Pair
from paceline.bench.workload import Workload
from paceline.engine.draft.strategy import read_strategy
from paceline.messages import ChatMessage, SamplingParams, StartTurn, TurnFinished

ALWAYS = "draft:n_max=4:p_min=0"
"""Four tokens per step, however sure the draft is: what is accepted judges the draft alone."""
DRAFT = "draft:n_max=4"
STRATEGIES = ("off", DRAFT, "auto")
SEEDS = (1, 2)
MOST_OF_A_KIND = 6
QUESTIONS = Path(__file__).with_name("questions.txt")
_GREEDY = SamplingParams(temperature=0.0)


@dataclass(frozen=True)
class Accepted:
    """How often the draft was right in one workload.

    Attributes:
        workload: Its name.
        temperature: Of the target and the draft.
        rate: Accepted by drafted tokens; what lay after the reply's end does not count.
        n_drafted: Those that count.
    """

    workload: str
    temperature: float
    rate: float
    n_drafted: int


def workloads_of(chats: Sequence[Chat]) -> list[Workload]:
    """Return held-out chats as workloads that are named by their kind, some of each."""
    found: dict[str, list[Workload]] = {}
    for chat in chats:
        of_kind = found.setdefault(chat.kind, [])
        if len(of_kind) < MOST_OF_A_KIND:
            messages = tuple(ChatMessage(role, text) for role, text in chat.turns[:-1])
            of_kind.append(Workload(chat.kind, messages, max_tokens=160))
    return [each for of_kind in found.values() for each in of_kind]


def acceptance(
    pair: Pair, workloads: Sequence[Workload], temperatures: Sequence[float]
) -> list[Accepted]:
    """Return the acceptance of four drafted tokens per step, by workload's name and temperature.

    Replies end where the model ends them: after its end it only repeats itself, which is easily
    drafted. Above temperature 0 each prompt is answered with several seeds.
    """
    found = []
    for temperature in temperatures:
        sums: dict[str, tuple[int, int]] = {}
        for workload in workloads:
            params = replace(workload.sampling, temperature=temperature)
            for seed in SEEDS if temperature else SEEDS[:1]:
                asked = replace(workload, sampling=params, seed=seed, ignore_eog=False)
                stats = pair.answer(asked.turn("turn", ALWAYS)).stats
                accepted, drafted = sums.get(workload.name, (0, 0))
                drafted += stats.n_drafted - stats.n_discarded
                sums[workload.name] = (accepted + stats.n_accepted, drafted)
        for name, (accepted, drafted) in sums.items():
            rate = accepted / drafted if drafted else 0.0
            found.append(Accepted(name, temperature, rate, drafted))
    return found


def speeds(pair: Pair, workloads: Sequence[Workload], repeats: int) -> dict[str, dict[str, float]]:
    """Return the best tokens per second by workload and strategy, at the workload's sampling.

    The best of some runs in turns is what the machine can do when nothing else disturbs it.
    """
    found: dict[str, dict[str, float]] = {}
    for workload in workloads:
        best = dict.fromkeys(STRATEGIES, 0.0)
        for _ in range(repeats):
            for strategy in STRATEGIES:
                stats = pair.answer(workload.turn("turn", strategy)).stats
                best[strategy] = max(best[strategy], stats.tokens_per_s)
        found[workload.name] = best
    return found


def right_answers(pair: Pair, chats: Iterable[Chat]) -> dict[str, tuple[int, int]]:
    """Return by aspect how many questions have exactly the documentation's answer, and how many.

    Only aspects whose answer is short and has one wording count.
    """
    found: dict[str, tuple[int, int]] = {}
    for chat in chats:
        if chat.kind not in FACTS:
            continue
        (_, question), (_, wanted) = chat.turns
        said = reply(pair, question, most=256).text.strip()
        right, n = found.get(chat.kind, (0, 0))
        found[chat.kind] = (right + (said == wanted), n + 1)
    return found


def reply(pair: Pair, question: str, most: int = 320) -> TurnFinished:
    """Return the greedy reply to one question."""
    messages = (ChatMessage("user", question),)
    turn = StartTurn(
        "turn",
        messages=messages,
        sampling=_GREEDY,
        strategy=read_strategy(DRAFT),
        max_tokens=most,
    )
    return pair.answer(turn)


def questions() -> list[str]:
    """Return the ten questions whose answers people should read."""
    return QUESTIONS.read_text(encoding="utf-8").strip().replace("\\n", "\n").split("\n---\n")


def transcript(pair: Pair) -> str:
    """Return the ten questions with the answers, as Markdown."""
    parts = []
    for number, question in enumerate(questions(), 1):
        quoted = "\n".join(f"> {line}".rstrip() for line in question.splitlines())
        parts.append(f"### {number}\n\n{quoted}\n\n{reply(pair, question).text.strip()}")
    return "\n\n".join(parts) + "\n"

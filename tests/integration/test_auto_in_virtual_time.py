"""Auto against fixed settings, on real texts and made-up time: what it promises, without noise.

`pytest -s --long` takes all shipped prompts, all machines and the whole sweep of fixed settings,
and prints a line for each machine; else a few of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from integration.engine import Engine
from integration.virtual_machine import Machine, Recorded, Reply, Rig, machines
from make_pairs import path
from paceline.bench.recommend import sweep
from paceline.bench.workload import Workload, read_workloads, shipped_workloads

FEW = ("question", "chat", "free-1.0", "fix-bug", "edit-loop", "async")
FEW_FIXED = ("draft:n_max=1:p_min=0", "draft:n_max=4:p_min=0", "suffix",
             "suffix+draft:draft.n_max=2:draft.p_min=0")  # fmt: skip
BOUND = 4.3  # plain steps; a few tenths for what becomes known with a step alone


def workloads(*, is_long: bool) -> list[Workload]:
    found = [
        w for name in ("standard", "held_out") for w in read_workloads(shipped_workloads(name))
    ]
    return found if is_long else [w for w in found if w.name in FEW]


@pytest.fixture
def rig(demo_pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    yield from rig_of(*demo_pair, monkeypatch)


def rig_of(target: Path, draft: Path, patch: pytest.MonkeyPatch) -> Iterator[Rig]:
    with Engine(target, draft) as engine:
        # The first steps of a load are plain, and the first long reply measures invariance.
        engine.reply("How are files opened? " * 80, strategy="off", max_tokens=32)
        yield Rig(engine, engine.pair, patch)


def loss(reply: Reply, plain_s: float, machine: Machine) -> float:
    """Return the plain steps by which a reply took longer than 1.02 times plain decoding."""
    return (reply.total_s - 1.02 * (plain_s + reply.prefill_s)) / machine.plain_s


@pytest.mark.long
def test_it_is_hardly_ever_behind_the_best_fixed_setting(
    rig: Rig, *, is_long: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    fixed = [s for s in sweep("draft") if s != "auto"] if is_long else ["off", *FEW_FIXED]
    texts = workloads(is_long=is_long)
    recorded = {w.name: {s: rig.record(w, s) for s in fixed} for w in texts}
    for name, make in machines().items():
        if name in ("larger", "flat", "cpu", "noisy") and not is_long:
            continue
        outcome = Outcome(make())
        for workload in texts:
            outcome.add(rig.auto(workload, outcome.machine), recorded[workload.name])
        with capsys.disabled():
            if is_long:
                print(f"\n{name:7} {outcome}", end="")
        outcome.check(name)


class Outcome:
    """Speeds of Auto's replies on one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._ratios: list[float] = []
        self._shares: list[float] = []
        self._losses: list[float] = []
        self._fixed: dict[str, list[float]] = {}

    def add(self, reply: Reply, recorded: Mapping[str, Recorded]) -> None:
        """Compare a reply with those of the fixed settings, which are priced without noise."""
        machine = Machine(
            self.machine.curve, self.machine.plain_s, self.machine.draft_s, self.machine.backlog_s
        )
        times = {s: reply.prefill_s + r.price(machine) for s, r in recorded.items()}
        assert all(r.tokens == reply.tokens for r in recorded.values())
        plain_s = times["off"]
        self._ratios.append(plain_s / reply.total_s)
        self._shares.append(min(times.values()) / reply.total_s)
        self._losses.append(loss(reply, plain_s - reply.prefill_s, machine))
        for strategy, seconds in times.items():
            self._fixed.setdefault(strategy, []).append(plain_s / seconds)

    @property
    def geomean(self) -> float:
        return statistics.geometric_mean(self._ratios)

    @property
    def best_single(self) -> tuple[float, str]:
        return max((statistics.geometric_mean(r), s) for s, r in self._fixed.items())

    @property
    def share(self) -> float:
        """Return the share of the speed of the best fixed setting for each text, in hindsight."""
        return statistics.geometric_mean(self._shares)

    def __str__(self) -> str:
        single, strategy = self.best_single
        return (
            f"auto {self.geomean:.3f}, best single setting {single:.3f} ({strategy}), share of the "
            f"best of each text {self.share:.3f} (worst {min(self._shares):.3f}), slowest "
            f"{min(self._ratios):.3f}, latest {max(self._losses):.1f} steps"
        )

    def check(self, name: str) -> None:
        """Assert bounds; what noise adds has no bound, since plain decoding has it as well."""
        if name == "noisy":
            assert self.geomean > 0.95 * self.best_single[0], (name, str(self))
            return
        assert max(self._losses) <= BOUND, (name, str(self))
        assert self.geomean > 0.96 * self.best_single[0], (name, str(self))
        assert self.share > 0.92, (name, str(self))


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("name", ["dense", "flat", "moe"])
def test_a_useless_draft_costs_next_to_nothing(
    name: str, target_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_long: bool
) -> None:
    """The very first reply included, from which Auto begins to know how useless it is."""
    for rig in rig_of(target_path, path("draft-corrupt"), monkeypatch):
        machine = machines()[name]()
        texts = workloads(is_long=is_long)[:12]
        for i, workload in enumerate(texts):
            reply = rig.auto(workload, machine) if i == 0 else rig.again(workload, machine)
            assert loss(reply, len(reply.tokens[1:]) * machine.plain_s, machine) <= BOUND


def test_what_was_learned_is_worth_something(rig: Rig) -> None:
    """A second reply to the same prompt is no slower than the first, beyond chance."""
    total = [0.0, 0.0]
    for workload in workloads(is_long=False):
        machine = machines()["dense"]()
        total[0] += rig.auto(workload, machine).decode_s
        total[1] += rig.again(workload, machine).decode_s
    assert total[1] < 1.03 * total[0]

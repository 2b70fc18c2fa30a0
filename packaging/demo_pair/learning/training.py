"""Training one network: the target on the chats, the draft on the target's predictions.

A run ends after its steps or its minutes, whichever comes first, and may be interrupted: its
checkpoint has everything, and a second call goes on from there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from demo_pair.learning.batches import Batch, Batches
from demo_pair.learning.in_parts import loss_in_parts
from demo_pair.learning.losses import distillation_loss, next_token_loss
from demo_pair.learning.network import Network, Seen, blocks_within, seen_within
from demo_pair.learning.packing import Rows
from demo_pair.learning.precision import is_narrow_faster
from demo_pair.learning.schedule import DECAY_FROM, rate_factor
from demo_pair.learning.sizes import Run

SEED = 1711
WEIGHT_DECAY, BETAS, LONGEST_GRADIENT = 0.1, (0.9, 0.95), 1.0
TELL_EVERY_S, SAVE_EVERY_S = 10.0, 120.0
MOST_VARIATION = 0.5
WORTH_COMPILING = 1e14
"""Additions and multiplications of a run on a processor that takes longer than its compiler."""

Tell = Callable[[str], None]


class PausedError(Exception):
    """Training was interrupted as it was told to."""


class Training:
    """One network and how far it is.

    Args:
        run: What is trained and for how long.
        rows: What is learnt; see `Batches`.
        checkpoint: The file to go on from, if it is there, and to write.
        teacher: The target, for a draft.
        blocks: On a GPU, leave out what attention does not see block by block.
        tell: Hears a line now and then.
    """

    def __init__(
        self,
        run: Run,
        rows: Rows | Sequence[Rows],
        checkpoint: Path,
        *,
        teacher: Network | None = None,
        blocks: bool = True,
        tell: Tell,
    ) -> None:
        torch.manual_seed(SEED)
        self._run, self._path, self._blocks, self._tell = run, checkpoint, blocks, tell
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.set_float32_matmul_precision("high")
        self._is_narrow = is_narrow_faster(self._device)
        self.network = Network(run.size).to(self._device)
        self._teacher = teacher.to(self._device).eval() if teacher else None
        self._batches = Batches(rows, run.batch, self._device, SEED)
        self._optimiser = _optimiser(self.network, run.rate)
        self._see: Callable[[Tensor], Seen] = seen_within
        self._next_token_loss: Callable[..., Tensor] = next_token_loss
        self._distillation_loss: Callable[..., Tensor] = distillation_loss
        self.step, self.elapsed_s = 0, 0.0
        if checkpoint.exists():
            self._load()

    @property
    def progress(self) -> float:
        """How much of the run is done, 0 to 1."""
        by_steps = self.step / self._run.steps
        limit_s = 60 * self._run.minutes
        return min(1.0, max(by_steps, self.elapsed_s / limit_s if limit_s else 0.0))

    def go(self, pause_at_s: float = math.inf) -> None:
        """Train to the end.

        Args:
            pause_at_s: Moment of `time.monotonic` after which it is interrupted.

        Raises:
            PausedError: It was; the checkpoint is written.
        """
        if self.progress >= 1:
            return
        kind = "bfloat16" if self._is_narrow else "single precision"
        self._tell(f"{self._run.size.n_params / 1e6:.1f} M weights on {self._device}, {kind}")
        self._compile()
        # Summed on the device: reading it every time would wait for it.
        loss_sum, n_since = torch.zeros((), device=self._device), 0
        told_s = saved_s = last_s = time.monotonic()
        while self.progress < 1:
            loss_sum += self._learn(self._batches.at(self.step))
            self.step += 1
            n_since += 1
            now = time.monotonic()
            if self._device.type == "cpu" or self.step % 10 == 0:
                _wait(self._device)
                now = time.monotonic()
                self.elapsed_s += now - last_s
                last_s = now
            if now - told_s > TELL_EVERY_S or self.progress >= 1:
                self._report(float(loss_sum) / n_since, n_since / (now - told_s))
                loss_sum.zero_()
                n_since, told_s = 0, now
            if now > pause_at_s:
                self._save()
                raise PausedError
            if now - saved_s > SAVE_EVERY_S:
                self._save()
                saved_s = last_s = time.monotonic()
        self._save()

    def _learn(self, batch: Batch) -> Tensor:
        """Take one step; returns the loss, still on the device."""
        for group in self._optimiser.param_groups:
            group["lr"] = self._run.rate * rate_factor(self.progress)
        with self._precision():
            loss = self._loss(batch)
        self._optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self.network.parameters(), LONGEST_GRADIENT)
        self._optimiser.step()
        return loss.detach()

    def _loss(self, batch: Batch) -> Tensor:
        seen = self._see(batch.chat)
        hidden = self.network(batch.ids, seen)[batch.before]
        told = None
        variation = MOST_VARIATION * max(0.0, (self.progress - DECAY_FROM) / (1 - DECAY_FROM))
        if self._teacher is not None:
            with torch.no_grad():
                told = self._teacher(batch.ids, seen)[batch.before]

        def part_loss(logits: Tensor, part: slice) -> Tensor:
            if self._teacher is None or told is None:
                return self._next_token_loss(logits, batch.wanted[part])
            with torch.no_grad():
                theirs = self._teacher.logits(told[part])
            return self._distillation_loss(logits, theirs, variation)

        if self._device.type == "cpu":
            return loss_in_parts(hidden, self.network.token_embd.weight, part_loss)
        return part_loss(self.network.logits(hidden), slice(None))

    def _precision(self) -> torch.autocast:
        return torch.autocast(self._device.type, torch.bfloat16, enabled=self._is_narrow)

    def _compile(self) -> None:
        """Take the fastest way of computing that works here."""
        if self._device.type == "cuda":
            self._compile_for_gpu()
        elif self._flops > WORTH_COMPILING:
            self._compile_for_cpu()

    @property
    def _flops(self) -> float:
        """Additions and multiplications of the run: two per weight and token, thrice if learnt."""
        teacher = self._teacher.size.n_params if self._teacher else 0
        per_token = 6 * self._run.size.n_params + 2 * teacher
        return float(per_token * self._batches.tokens * self._run.steps)

    def _compile_for_cpu(self) -> None:
        # One of an earlier training is not to count against how often a layer may be compiled.
        torch.compiler.reset()
        try:
            for layer in self._layers():
                layer.compile(dynamic=False)  # each length of rows on its own: faster code
            self._next_token_loss = torch.compile(next_token_loss, dynamic=True)
            distilled = torch.compile(distillation_loss, dynamic=True)
            # A number would be compiled into it, and every step has another one.
            self._distillation_loss = lambda student, teacher, variation: distilled(
                student, teacher, torch.tensor(variation)
            )
            began = time.monotonic()
            for batch in self._batches.of_each_length():
                with self._precision():
                    torch.autograd.backward(self._loss(batch))
        except Exception as error:  # noqa: BLE001 - a compiler may raise anything
            self._tell(f"computing without a compiler: {error!s:.300}")
            self._do_not_compile()
            self._next_token_loss, self._distillation_loss = next_token_loss, distillation_loss
            return
        self._tell(f"compiled in {time.monotonic() - began:.0f} s")

    def _compile_for_gpu(self) -> None:
        ways: list[tuple[Callable[[Tensor], Seen], str]] = [(seen_within, "a mask")]
        if self._blocks:
            ways.insert(0, (blocks_within, "blocks"))
        for see, name in ways:
            self._see = see
            try:
                for layer in self._layers():
                    layer.compile()
                with self._precision():
                    torch.autograd.backward(self._loss(self._batches.at(0)))
            except Exception as error:  # noqa: BLE001 - a compiler may raise anything
                self._tell(f"attention with {name} does not compile: {error!s:.300}")
                self._do_not_compile()
                continue
            self._tell(f"compiled, attention with {name}")
            return
        self._tell("nothing compiles: computing without")

    def _layers(self) -> list[nn.Module]:
        networks = (self.network, self._teacher) if self._teacher else (self.network,)
        return [layer for network in networks for layer in network.blk]

    def _do_not_compile(self) -> None:
        for layer in self._layers():
            layer._compiled_call_impl = None

    def _report(self, loss: float, steps_per_s: float) -> None:
        seen = self.step * self._batches.tokens
        rate = steps_per_s * self._batches.tokens
        self._tell(
            f"{self.progress:4.0%}  step {self.step}, {seen / 1e6:.1f} M tokens "
            f"({self.step / len(self._batches):.1f} passes), loss {loss:.3f}, {rate:,.0f} tokens/s"
        )

    # ---------------------------------------------------------------------------- checkpoints

    def _save(self) -> None:
        whole = {
            "network": self.network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "step": self.step,
            "elapsed_s": self.elapsed_s,
        }
        beside = self._path.with_suffix(".new")
        torch.save(whole, beside)
        beside.replace(self._path)

    def _load(self) -> None:
        whole = torch.load(self._path, map_location=self._device, weights_only=True)
        self.network.load_state_dict(whole["network"])
        self._optimiser.load_state_dict(whole["optimiser"])
        self.step, self.elapsed_s = whole["step"], whole["elapsed_s"]
        self._tell(f"goes on from step {self.step}")


def _optimiser(network: Network, rate: float) -> torch.optim.AdamW:
    """AdamW; norms do not decay."""
    weights = [w for w in network.parameters() if w.ndim == 2]
    norms = [w for w in network.parameters() if w.ndim < 2]
    groups = [
        {"params": weights, "weight_decay": WEIGHT_DECAY},
        {"params": norms, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=BETAS, fused=True)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()

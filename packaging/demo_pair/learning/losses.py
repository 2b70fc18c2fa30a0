"""What is made small: the loss of the target, and what the draft learns from the target.

A drafted token is accepted with the probability that both distributions share, one minus their
total variation distance (Leviathan et al., arXiv:2211.17192). Which divergence a draft is best
distilled with depends on the task (Zhou et al., "DistillSpec", arXiv:2310.08461). Here it is the
Kullback-Leibler divergence of Hinton et al. (arXiv:1503.02531), whose gradients are good from the
beginning, and, growing in share over the run, the total variation itself.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor


def next_token_loss(logits: Tensor, wanted: Tensor) -> Tensor:
    """Return the mean surprise in nats; logits (n, vocabulary), wanted ids (n,)."""
    return F.cross_entropy(logits.float(), wanted)


def distillation_loss(student: Tensor, teacher: Tensor, variation: float | Tensor) -> Tensor:
    """Return how far a student is from its teacher, a mean over places.

    Args:
        student: Logits, (n, vocabulary).
        teacher: Logits of the same shape; no gradient goes there.
        variation: Share of the total variation distance, 0 to 1; the rest is KL. As a tensor
            where this is compiled, which would be done again for every other number.
    """
    log_q = F.log_softmax(student.float(), -1)
    log_p = F.log_softmax(teacher.float(), -1)
    loss = (1 - variation) * F.kl_div(log_q, log_p, log_target=True, reduction="batchmean")
    if isinstance(variation, Tensor) or variation:
        loss = loss + variation * 0.5 * (log_q.exp() - log_p.exp()).abs().sum(-1).mean()
    return loss


def accepted_share(student: Tensor, teacher: Tensor) -> tuple[float, float]:
    """Return which share of drafted tokens would be accepted, drawn at temperature 1, and greedily.

    Args:
        student: Logits, (n, vocabulary).
        teacher: Logits of the same shape.
    """
    both = torch.minimum(F.softmax(student, -1), F.softmax(teacher, -1)).sum(-1).mean()
    same = (student.argmax(-1) == teacher.argmax(-1)).float().mean()
    return float(both), float(same)

"""What both sides are told alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from paceline.messages import KernelWish


@dataclass(frozen=True)
class Settings:
    """Models and the settings that both sides share; `kernels` are for our side alone."""

    target: Path
    draft: Path | None
    n_ctx: int = 2048
    threads: int = 1
    gpu_layers: int = 0
    flash_attn: str = "auto"
    kv_type: str = "f16"
    kernels: KernelWish = "auto"

"""A random pair of the sizes that people use: ``python -m device_trials.large_pair DIR [LAYERS]``.

The target is one random layer of 4,096 channels 32 times, 6.5 billion weights, written in Q4_K by
llama.cpp's own quantiser; the draft model has 200 million, the vocabulary is the demo pair's. Its
text makes no sense, but a step costs what it costs. Prints the paths of both, target first.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[2] / "tests"
LAYERS = 32


def deep(model: Any, n_layers: int) -> Any:
    """Return the model (`gguf_file.Gguf`) with its first layer so many times."""
    first = {k: v for k, v in model.tensors.items() if k.startswith("blk.0.")}
    model.tensors = {k: v for k, v in model.tensors.items() if not k.startswith("blk.")}
    for layer in range(n_layers):
        model.tensors |= {k.replace("blk.0.", f"blk.{layer}."): v for k, v in first.items()}
    model.set(llama__block_count=n_layers)
    return model


def main(arguments: list[str]) -> None:
    """Write the target, and print the paths of both models."""
    sys.path.append(str(TESTS))
    import make_pairs  # noqa: PLC0415 - they lie with the tests
    from gguf_file import read  # noqa: PLC0415
    from requantised import requantise  # noqa: PLC0415

    folder = Path(arguments[0])
    n_layers = int(arguments[1]) if arguments[1:] else LAYERS
    target, draft = folder / f"random-{n_layers}-layers-q4_k.gguf", make_pairs.path("random-q4_k")
    if not target.exists():
        whole = folder / "whole.gguf"
        with whole.open("wb") as out:
            deep(read(make_pairs.path("random-q8_0-4096")), n_layers).write(out)
        requantise(whole, "q4_k", target)
        whole.unlink()
    print(target)
    print(draft)


if __name__ == "__main__":
    main(sys.argv[1:])

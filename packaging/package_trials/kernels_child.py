"""Decodes by own kernels, timed: ``python -m package_trials.kernels_child MODEL KERNELS``.

llama.cpp's libraries are those of LLAMA_CPP_LIB_PATH, as `llama_cpp` itself has it. Every line on
stdin, "WIDTH TIMES", is answered by the least milliseconds of that many decodes of so many tokens,
on one thread and in its own processor time, so that other programs do not count.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from benchmarks.wide_decodes import OWN, Sides, WideDecodes, own_library
from paceline.engine.native import llama_backend
from paceline.params import ModelParams

N_CELLS = 64


def main(arguments: list[str]) -> int:
    """Answer until stdin ends."""
    model, kernels = arguments
    backend = llama_backend()
    backend.describe()  # starts the library, whose symbols the kernels ask for
    library = own_library(Path(kernels), Path())
    params = ModelParams(model, n_ctx=512, n_threads=1, n_gpu_layers=0)
    with closing(WideDecodes(backend, params, Sides(library))) as decodes:
        decodes.set_threads(1)
        decodes.fill(N_CELLS)
        print(f"ready {library.isa}", flush=True)
        for line in sys.stdin:
            width, times = map(int, line.split())
            tokens = decodes.tokens(width, seed=width)
            taken = [decodes.seconds(OWN, tokens) for _ in range(times)]
            print(1000 * min(taken), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

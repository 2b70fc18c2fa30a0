"""What a machine can do at best, and so the least that a decode of n tokens can take.

A decode has to read the weights once, and to multiply each of them once per token. The longer of
the two is the limit: max(bytes / bandwidth, products / peak). It knows nothing of the processor's
caches: a model that fits into them may be faster.
"""

from __future__ import annotations

import math
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paceline.engine.model.model_file import GgufHeader, GgufTensor

INT8_GAIN = 4.0
"""Products of bytes for one of float32: VNNI multiplies and adds four bytes where FMA does one
float, in one instruction."""
AVX2_GAIN = 4 / 3
"""The same without VNNI, where 32 bytes take three instructions: multiply, add pairs, add."""
_FLOATS = frozenset({0, 1, 30})
"""F32, F16 and BF16 in `enum ggml_type`."""
_OUTPUTS = frozenset({"output.weight", "token_embd.weight"})
_READ_BYTES = 256 << 20
_PASSES = 8
_PEAK = """
import os, time
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", OMP_NUM_THREADS="1")
import numpy
n = 512
block = numpy.ones((n, n), numpy.float32)
best = float("inf")
for _ in range(60):
    start = time.perf_counter()
    block @ block
    best = min(best, time.perf_counter() - start)
print(n**3 / best)
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """What some threads can do at best.

    Attributes:
        n_threads: Their number.
        bandwidth: Bytes per second that they read.
        float_peak: Products of float32, with the sum, per second.
        byte_peak: Products of bytes.
    """

    n_threads: int
    bandwidth: float
    float_peak: float
    byte_peak: float


def measure_machine(n_threads: int, system_info: str, byte_peak: float = 0.0) -> Machine:
    """Measure reading and multiplying, a second in all; the best of several passes.

    Args:
        n_threads: Threads that read and multiply.
        system_info: What llama.cpp says of the processor.
        byte_peak: Products of bytes per second and thread where that is known; 0: the products of
            float32 in numpy's matrix product, times what one instruction does more.
    """
    float_peak = _float_peak() * n_threads
    gain = INT8_GAIN if "VNNI = 1" in system_info else AVX2_GAIN
    return Machine(
        n_threads,
        _bandwidth(n_threads),
        float_peak,
        byte_peak * n_threads or float_peak * gain,
    )


def _bandwidth(n_threads: int) -> float:
    memory = np.ones(_READ_BYTES, np.uint8)
    parts = np.array_split(memory, n_threads)
    best = float("inf")
    for _ in range(_PASSES):
        threads = [threading.Thread(target=part.max) for part in parts[1:]]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        parts[0].max()
        for thread in threads:
            thread.join()
        best = min(best, time.perf_counter() - start)
    return _READ_BYTES / best


def _float_peak() -> float:
    """Return one thread's products per second; by a process, since numpy's threads are fixed."""
    done = subprocess.run([sys.executable, "-c", _PEAK], capture_output=True, check=True)
    return float(done.stdout)


@dataclass(frozen=True, slots=True)
class Work:
    """What decodes of a model have to do.

    Attributes:
        header: Its file's.
        tensors: Those that activations are multiplied by; a row of an embedding is only looked up.
        cell_bytes: Bytes per element of the cache.
    """

    header: GgufHeader
    tensors: Sequence[GgufTensor]
    cell_bytes: float = 2.0

    def least_s(self, machine: Machine, n_tokens: int, n_rows: int, n_cells: int) -> float:
        """Return the least seconds of a decode.

        Args:
            machine: Where it runs.
            n_tokens: Its width.
            n_rows: Tokens whose logits are computed.
            n_cells: Tokens in the context before it.
        """
        per_cell, products_per_cell = self._attention()
        n_bytes = n_cells * per_cell
        multiply_s = n_tokens * n_cells * products_per_cell / machine.float_peak
        for tensor in self.tensors:
            n = n_rows if tensor.name in _OUTPUTS else n_tokens
            share, n_used = self._used(tensor, n)
            peak = machine.float_peak if tensor.kind in _FLOATS else machine.byte_peak
            n_bytes += tensor.n_bytes * share
            multiply_s += math.prod(tensor.shape) * n_used / peak
        return max(n_bytes / machine.bandwidth, multiply_s)

    def _used(self, tensor: GgufTensor, n: int) -> tuple[float, float]:
        """Return which share of the weights n tokens read, and how often each is multiplied.

        Of a mixture's experts, those that n tokens choose if all are as likely.
        """
        n_experts = self.header.of_architecture("expert_count")
        if not n_experts or "_exps" not in tensor.name:
            return 1.0, n
        chosen = self.header.of_architecture("expert_used_count") / n_experts
        return 1 - (1 - chosen) ** n, chosen * n

    def _attention(self) -> tuple[float, float]:
        """Return what a cell costs, all layers together: bytes, and products per token."""
        of = self.header.of_architecture
        n_heads = max(of("attention.head_count"), 1)
        n_shared = of("attention.head_count_kv") or n_heads
        keys = of("attention.key_length") or of("embedding_length") // n_heads
        values = of("attention.value_length") or keys
        per_head = of("block_count") * (keys + values)
        return self.cell_bytes * n_shared * per_head, n_heads * per_head

"""Faults of the devices that a model computes on."""

from __future__ import annotations

from planted.fault import Fault

NATIVE = ("tests/integration/test_native_params.py",)

FAULTS = (
    Fault(
        "the RPC server tells that all memory is free",
        (("free[0] = min(free[0], free_memory())", "free[0] = min(free[0], free[0])"),),
        ("tests/cli/test_rpc_server.py",),
    ),
    Fault(
        "the RPC server's native code prints to stdout",
        (("output.keep_from_native_code()", "output.Results()"),),
        ("tests/cli/test_rpc_server.py",),
    ),
    Fault(
        "the RPC server lends the processor with llama.cpp's kernels",
        (
            (
                'if any(device.kind == "cpu" for device in server.devices)',
                'if any(device.kind == "gpu" for device in server.devices)',
            ),
        ),
        ("tests/engine/test_lent_processor.py",),
    ),
    Fault(
        "types of K and V swapped",
        (("p.type_k, p.type_v = KV", "p.type_v, p.type_k = KV"),),
        NATIVE,
    ),
    Fault(
        "flash attention ignored",
        (("p.flash_attn_type = FLASH_ATTN[params.flash_attn]", "pass"),),
        NATIVE,
    ),
    Fault(
        "threads that are set do not arrive",
        (("llama_cpp.llama_set_n_threads(self._context, n_threads, n_threads_batch)", "pass"),),
        NATIVE,
    ),
    Fault(
        "a GPU that two backends know is taken twice",
        (
            (
                "gpus = [each for each in gpus if each.shares not in names]",
                "gpus = [each for each in gpus if each.name in names]",
            ),
        ),
        ("tests/engine/test_model_params.py",),
    ),
    Fault(
        "integrated GPUs take layers in place of a GPU",
        (
            (
                "    if not gpus:\n        integrated =",
                "    if gpus or not gpus:\n        integrated =",
            ),
        ),
        ("tests/engine/test_model_params.py",),
    ),
    Fault(
        "the shares that were asked for are ignored",
        (
            (
                "    if any(given):\n        return tuple(given)",
                "    if not given:\n        return tuple(given)",
            ),
        ),
        ("tests/catalog/test_placement.py",),
    ),
    Fault(
        "the second server's devices are named as the first one's",
        (("        n += len(memory)\n", "        n += 0 * len(memory)\n"),),
        (
            "tests/engine/test_rpc_servers.py",
            "tests/integration/test_found_memory.py",
            "tests/integration/test_rpc_steps.py",
        ),
    ),
    Fault(
        "a server of a newer protocol is used",
        (("if major != PROTOCOL[0] or minor > PROTOCOL[1]:", "if major < PROTOCOL[0]:"),),
        ("tests/engine/test_rpc_servers.py",),
    ),
    Fault(
        "a device of a server on this computer counts as more memory",
        (
            (
                "if main is not None and is_here and device.total_bytes == main.total_bytes:",
                "if main is None and is_here:",
            ),
        ),
        ("tests/engine/test_rpc_servers.py",),
    ),
)

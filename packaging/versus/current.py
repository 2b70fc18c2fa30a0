"""llama.cpp's current server, as the package xllamacpp brings it prebuilt.

Run by an interpreter that has it: ``PYTHON current.py --model GGUF --port N …``. The options are
those of llama-server that `versus/sides.py` uses.
"""

from __future__ import annotations

import argparse
import importlib
import threading


def main() -> None:
    """Serve until the process is ended."""
    xllamacpp = importlib.import_module("xllamacpp")  # of another interpreter's packages
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", action="version", version=f"xllamacpp {xllamacpp.__version__}")
    parser.add_argument("--model", required=True)
    parser.add_argument("--spec-type", default="none")
    for name in ("port", "ctx-size", "threads"):
        parser.add_argument(f"--{name}", type=int, required=True)
    options = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.port = options.port
    params.n_ctx = options.ctx_size
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.n_gpu_layers = 0
    # As in `arguments` of server.py: one slot, and off what would cost time and serves nothing.
    params.n_parallel = 1
    params.cache_ram_mib = params.n_ctx_checkpoints = 0
    params.fit_params = False
    params.n_threads_http = 2
    params.verbosity = 1
    kind = options.spec_type.upper().replace("-", "_")
    kinds = xllamacpp.common_speculative_type
    params.speculative.types = [getattr(kinds, f"COMMON_SPECULATIVE_TYPE_{kind}")]
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()

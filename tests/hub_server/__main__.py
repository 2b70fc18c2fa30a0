"""Start the server by hand, from the folder `tests`; see the package's docstring."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path

from hub_server import Fault, HubServer
from hub_server.demo import demo_repositories


def main() -> int:
    """Serve until Ctrl+C."""
    parser = argparse.ArgumentParser(prog="python -m hub_server", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="OWNER/REPO/files below it")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--demo", action="store_true", help="serve the built-in pair")
    parser.add_argument("--bytes-per-s", type=int, default=0, help="send files at most this fast")
    args = parser.parse_args()
    if args.demo == bool(args.folder):
        parser.error("give either a folder or --demo")
    with HubServer(demo_repositories() if args.demo else args.folder, port=args.port) as hub:
        if args.bytes_per_s:
            hub.add(Fault(bytes_per_s=args.bytes_per_s))
        try:
            print(f"HF_ENDPOINT={hub.endpoint}", flush=True)
            for name, repository in hub.repositories.items():
                for file in repository.all_files():
                    print(f"  {name}  {file.path}  {file.n_bytes / 1e6:.1f} MB", flush=True)
            threading.Event().wait()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())

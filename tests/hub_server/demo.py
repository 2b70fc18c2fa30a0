"""The program's built-in pair as two repositories, for whole flows without a network."""

from __future__ import annotations

import math

from hub_server.repositories import Repository


def demo_repositories() -> dict[str, Repository]:
    """Return the pair's repositories, described by what the files' headers say."""
    # Here, because most tests that need a server need no llama.cpp.
    from paceline import paths
    from paceline.engine.llama.gguf import read_header

    found = {}
    for place, downloads in zip(paths.demo_pair(), (2100, 1400), strict=True):
        header = read_header(place)
        name = f"paceline/{place.stem.removesuffix('-q8_0')}-GGUF"
        architecture = header.text("general.architecture")
        said = {
            "total": sum(math.prod(tensor.shape) for tensor in header.tensors),
            "architecture": architecture,
            "context_length": header.whole(f"{architecture}.context_length"),
        }
        details = {"downloads": downloads, "likes": 7, "license": "psf-2.0", "gguf": said}
        found[name] = Repository(name, {place.name: place}, details)
    return found

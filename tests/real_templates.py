"""Chat templates of the model families, as llama.cpp keeps them beside its tests.

``real_templates.source("Qwen-Qwen3-0.6B")`` from a test, and ``python tests/real_templates.py`` to
bring them. The source package of llama-cpp-python is downloaded once; its templates are kept in the
cache of `make_pairs`, in the folder ``templates``. Nothing of them is a part of Paceline.
``PACELINE_VOCABULARIES`` may name the folder ``models`` of llama.cpp's sources in their place.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest

import make_pairs
from real_models import NoPackageIndexError

PACKAGE = "llama-cpp-python"
NAMES = (
    "Apertus-8B-Instruct",
    "Apriel-1.6-15b-Thinker-fixed",
    "Bielik-11B-v3.0-Instruct",
    "ByteDance-Seed-OSS",
    "Cohere2MoE",
    "CohereForAI-c4ai-command-r-plus-tool_use",
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
    "deepseek-ai-DeepSeek-V3.1",
    "deepseek-ai-DeepSeek-V3.2",
    "deepseek-ai-DeepSeek-V4",
    "deepseek-ai-DeepSeek-V4-Flash-0731",
    "fireworks-ai-llama-3-firefunction-v2",
    "GigaChat3-10B-A1.8B",
    "GigaChat3.1-10B-A1.8B",
    "GLM-4.6",
    "GLM-4.7-Flash",
    "google-gemma-2-2b-it",
    "google-gemma-4-31B-it",
    "google-gemma-4-31B-it-interleaved",
    "HuggingFaceTB-SmolLM3-3B",
    "ibm-granite-granite-3.3-2B-Instruct",
    "ibm-granite-granite-4.0",
    "ibm-granite-granite-4.1",
    "inclusionai-ling-3.0-flash",
    "Kimi-K2-Instruct",
    "Kimi-K2-Thinking",
    "Kimi-K3",
    "LFM2-8B-A1B",
    "LFM2.5-8B-A1B",
    "LFM2.5-Instruct",
    "llama-cpp-deepseek-r1",
    "llama-cpp-rwkv-world",
    "meetkai-functionary-medium-v3.1",
    "meetkai-functionary-medium-v3.2",
    "meta-llama-Llama-3.1-8B-Instruct",
    "meta-llama-Llama-3.2-3B-Instruct",
    "meta-llama-Llama-3.3-70B-Instruct",
    "microsoft-Phi-3.5-mini-instruct",
    "MiMo-VL",
    "MiniMax-M1",
    "MiniMax-M2",
    "MiniMax-M3",
    "Mistral-Small-3.2-24B-Instruct-2506",
    "mistralai-Ministral-3-14B-Reasoning-2512",
    "mistralai-Mistral-Nemo-Instruct-2407",
    "moonshotai-Kimi-K2",
    "muse-glimmer",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "NVIDIA-Nemotron-Nano-v2",
    "openai-gpt-oss-120b",
    "openbmb-MiniCPM5-1B",
    "poolside-Laguna-S-2.1",
    "poolside-Laguna-XS-2.1",
    "poolside-Laguna-XS.2",
    "Qwen-Qwen2.5-7B-Instruct",
    "Qwen-Qwen3-0.6B",
    "Qwen-QwQ-32B",
    "Qwen3-Coder",
    "Qwen3.5-4B",
    "Reka-Edge",
    "Spark2.5",
    "StepFun3.5-Flash",
    "tencent-Hy3",
    "unsloth-Apriel-1.5",
    "unsloth-mistral-Devstral-Small-2507",
    "upstage-Solar-Open-100B",
)
"""Those of version 0.3.36."""


def source(name: str) -> str:
    """The source of a template, in Jinja; a test that asks is skipped where there is none.

    Args:
        name: One of `NAMES`.
    """
    found = _folder()
    if isinstance(found, str):
        pytest.skip(found)
    file = found / f"{name}.jinja"
    if not file.exists():
        pytest.skip(f"this version of {PACKAGE} has no template {name}")
    return file.read_text("utf-8")


@functools.cache
def _folder() -> Path | str:
    """The folder that has them, or why there is none."""
    try:
        return folder()
    except NoPackageIndexError as error:
        return str(error)


def folder() -> Path:
    """The folder that has the templates; made now if it is not there yet.

    Raises:
        NoPackageIndexError: The package has to be downloaded and cannot be.
    """
    given = os.environ.get("PACELINE_VOCABULARIES")
    if given and (unpacked := Path(given) / "templates").is_dir():
        return unpacked
    kept = make_pairs.cache_folder() / "templates"
    made = kept / version(PACKAGE)
    if made.is_dir():
        return made
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept, prefix=".making-") as scratch:
        written = Path(scratch) / made.name
        unpack(_download(Path(scratch)), written)
        try:
            written.rename(made)
        except OSError:  # another process was faster
            if not made.is_dir():
                raise
    return made


def _download(scratch: Path) -> Path:
    requirement = f"{PACKAGE}=={version(PACKAGE)}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--no-binary", PACKAGE, "--dest", str(scratch)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoPackageIndexError(f"there is no package index that has the sources of {PACKAGE}")
    return next(scratch.glob("*.tar.gz"))


def unpack(archive: Path, into: Path) -> None:
    """Write the templates of a source package into a folder, which is made."""
    into.mkdir()
    with tarfile.open(archive) as packed:
        for member in packed:
            path = Path(member.name)
            if path.suffix == ".jinja" and path.parts[-3:-1] == ("models", "templates"):
                file = packed.extractfile(member)
                (into / path.name).write_bytes(file.read() if file else b"")


if __name__ == "__main__":
    print(folder())

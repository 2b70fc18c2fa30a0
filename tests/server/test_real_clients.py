"""Clients that people use, each in an environment of its own, and SmolLM2 that answers them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

import real_models
from client_environments import node_with, python_with
from paceline.messages import LoadPair, ModelParams
from server.rig import running

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long

SCRIPTS = Path(__file__).parent / "clients"
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "size": {"type": "integer", "minimum": 0, "maximum": 9},
    },
    "required": ["name", "size"],
    "additionalProperties": False,
}
PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "unit": {"type": "string", "enum": ["C", "F"]},
    },
    "required": ["city", "unit"],
    "additionalProperties": False,
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Tells the weather in a city.",
            "parameters": PARAMETERS,
        },
    }
]
PYTHON = {
    "litellm_script.py": ("litellm>=1.110",),
    "langchain_script.py": ("langchain-openai>=1.7",),
    "pydantic_ai_script.py": ("pydantic-ai-slim[openai]>=2.66",),
}
NODE = {
    "openai_script.mjs": ("openai@7",),
    "ai_sdk_script.mjs": ("ai@7", "@ai-sdk/openai-compatible@3"),
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    model = str(real_models.path_or_skip("smollm2-135m", "q8_0"))
    params = ModelParams(model, n_ctx=4096, n_threads=1, n_threads_batch=1, n_gpu_layers=0)
    with running(LoadPair(params, None)) as endpoint:
        yield endpoint.url


def result_of(command: list[str], folder: Path, **environment: str) -> str:
    # What the clients would reach beyond this computer is not there.
    quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HOME": str(folder), "NO_COLOR": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, cwd=folder,
        env=os.environ | quiet | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-1000:]
    return done.stdout


def check(found: dict[str, Any], *, has_logprobs: bool = True) -> None:
    assert found["chat"] == found["stream"] != ""
    jsonschema.validate(json.loads(found["schema"]), SCHEMA)
    name, arguments, reason = found["tool"]
    if name == "get_weather":
        jsonschema.validate(json.loads(arguments), PARAMETERS)
        assert reason == "tool_calls"
    else:  # the client's own tool, with the answer's schema
        jsonschema.validate(json.loads(arguments), SCHEMA)
    assert found["second"]
    if has_logprobs:
        n_tokens, n_top = found["logprobs"]
        assert n_tokens > 0
        assert n_top == 3
    assert "4,096" in found["error"], "the error names both numbers"


@pytest.mark.parametrize("script", PYTHON)
def test_a_client_in_python(script: str, url: str, tmp_path: Path) -> None:
    python = python_with(*PYTHON[script])
    command = [str(python), str(SCRIPTS / script), url, json.dumps(TOOLS), json.dumps(SCHEMA)]
    found = json.loads(result_of(command, tmp_path).splitlines()[-1])
    check(found, has_logprobs="pydantic" not in script)


@pytest.mark.parametrize("script", NODE)
def test_a_client_for_node(script: str, url: str, tmp_path: Path) -> None:
    folder = node_with(*NODE[script])
    copy = folder / script  # Node looks for packages beside the script
    copy.write_bytes((SCRIPTS / script).read_bytes())
    command = ["node", str(copy), url, json.dumps(TOOLS), json.dumps(SCHEMA)]
    found = json.loads(result_of(command, tmp_path).splitlines()[-1])
    check(found, has_logprobs="openai_" in script)
    if "streamed_tool" in found:
        assert found["streamed_tool"] == found["tool"][:2]


def test_llm(url: str, tmp_path: Path) -> None:
    python = python_with("llm>=0.36")
    (tmp_path / "extra-openai-models.yaml").write_text(
        f"- model_id: paceline\n  model_name: any\n  api_base: {url}/v1\n  supports_schema: true\n"
    )
    command = [
        str(python),
        "-m",
        "llm",
        "-m",
        "paceline",
        "--key",
        "none",
        "-o",
        "max_tokens",
        "60",
    ]
    command += ["-o", "temperature", "0", "What is the capital of France?"]
    streamed = result_of(command, tmp_path, LLM_USER_PATH=str(tmp_path))
    whole = result_of([*command, "--no-stream"], tmp_path, LLM_USER_PATH=str(tmp_path))
    assert streamed == whole != ""
    schema = result_of(
        [*command, "--schema", json.dumps(SCHEMA)], tmp_path, LLM_USER_PATH=str(tmp_path)
    )
    jsonschema.validate(json.loads(schema), SCHEMA)


def test_aider(url: str, tmp_path: Path) -> None:
    python = python_with("aider-chat>=0.86")
    file = tmp_path / "hello.py"
    file.write_text('print("hello")\n')
    command = [
        str(python), "-m", "aider", "--model", "openai/any", "--openai-api-base", f"{url}/v1",
        "--openai-api-key", "none", "--no-git", "--yes-always", "--no-check-update",
        "--no-show-model-warnings", "--no-analytics", "--no-auto-lint", "--edit-format", "whole",
        "--map-tokens", "0", "--message", "Print bye in place of hello.", str(file),
    ]  # fmt: skip
    said = result_of(command, tmp_path)
    assert "Tokens:" in said, "it tells what the reply's usage says"

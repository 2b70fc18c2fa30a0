"""Recipes: settings of other programs for the endpoint, to copy."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from paceline.gui.kit.translation import translator

NO_KEY = "none"
"""Key for programs that insist on one where none is needed."""
_QUESTION = [{"role": "user", "content": "What is a list?"}]


@dataclass(frozen=True, slots=True)
class EndpointAccess:
    """Access to the endpoint.

    Attributes:
        url: Its address.
        key: The key that programs need, or empty.
        model: The name of the loaded model.
        n_ctx: Tokens of its context.
    """

    url: str
    key: str
    model: str
    n_ctx: int

    @property
    def given_key(self) -> str:
        """The key, or its replacement."""
        return self.key or NO_KEY


def openai_python(access: EndpointAccess) -> str:
    """Return a program for OpenAI's Python client."""
    return f"""from openai import OpenAI

client = OpenAI(
    base_url={json.dumps(f"{access.url}/v1")},
    api_key={json.dumps(access.given_key, ensure_ascii=False)},
)
reply = client.chat.completions.create(
    model={json.dumps(access.model, ensure_ascii=False)},
    messages={json.dumps(_QUESTION)},
)
print(reply.choices[0].message.content)
"""


def curl(access: EndpointAccess) -> str:
    """Return a command of curl."""
    body = json.dumps({"model": access.model, "messages": _QUESTION}, ensure_ascii=False)
    key = f"  -H {shlex.quote(f'Authorization: Bearer {access.key}')} \\\n" if access.key else ""
    return (
        f"curl {access.url}/v1/chat/completions \\\n{key}"
        f"  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(body)}\n"
    )


def claude_code(access: EndpointAccess) -> str:
    """Return commands that start Claude Code."""
    model = shlex.quote(access.model)
    names = ("ANTHROPIC_MODEL", *(f"ANTHROPIC_DEFAULT_{each}_MODEL" for each in _SIZES))
    return "".join(
        (
            f"export ANTHROPIC_BASE_URL={access.url}\n",
            f"export ANTHROPIC_AUTH_TOKEN={shlex.quote(access.given_key)}\n",
            *(f"export {name}={model}\n" for name in names),
            "claude\n",
        )
    )


_SIZES = ("OPUS", "SONNET", "HAIKU")


def continue_yaml(access: EndpointAccess) -> str:
    """Return a ``config.yaml`` of Continue; strings of JSON are strings of YAML, too."""
    model = json.dumps(access.model, ensure_ascii=False)
    return f"""name: Paceline
version: 1.0.0
schema: v1
models:
  - name: {model}
    provider: openai
    model: {model}
    apiBase: {access.url}/v1
    apiKey: {json.dumps(access.given_key, ensure_ascii=False)}
    roles: [chat, edit, apply]
"""


def zed_json(access: EndpointAccess) -> str:
    """Return the entries for the ``settings.json`` of Zed."""
    model = {"name": access.model, "display_name": access.model, "max_tokens": access.n_ctx}
    provider = {"api_url": f"{access.url}/v1", "available_models": [model]}
    settings = {
        "language_models": {"openai_compatible": {"Paceline": provider}},
        "agent": {"default_model": {"provider": "Paceline", "model": access.model}},
    }
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def aider(access: EndpointAccess) -> str:
    """Return commands that start aider."""
    return (
        f"export OPENAI_API_BASE={access.url}/v1\n"
        f"export OPENAI_API_KEY={shlex.quote(access.given_key)}\n"
        f"aider --model {shlex.quote(f'openai/{access.model}')}\n"
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of one program.

    Attributes:
        id: Its identity.
        name: The program.
        where: Words on where to put the text.
        write: Returns the text.
    """

    id: str
    name: str
    where: str
    write: Callable[[EndpointAccess], str]


def recipes() -> tuple[Recipe, ...]:
    """Return all recipes, in the language of the window."""
    return (
        Recipe("openai", "Python", _tr("A program with OpenAI's client."), openai_python),
        Recipe("curl", "curl", _tr("A command for the shell."), curl),
        Recipe(
            "claude",
            "Claude Code",
            _tr(
                "Commands for the shell. What it tells the model takes more than 16,000 tokens: "
                "load a context of 32,768 or more."
            ),
            claude_code,
        ),
        Recipe("continue", "Continue", _tr("For the file ~/.continue/config.yaml."), continue_yaml),
        Recipe(
            "zed",
            "Zed",
            _tr(
                "For Zed's settings.json. Zed keeps keys apart: give it in the settings of its "
                "agent, or in the variable PACELINE_API_KEY."
            ),
            zed_json,
        ),
        Recipe("aider", "aider", _tr("Commands for the shell."), aider),
    )


_tr = translator("Recipes")

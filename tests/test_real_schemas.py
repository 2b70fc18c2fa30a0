"""Schemas are found in what packages hold, and brought once."""

from __future__ import annotations

import io
import json
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import make_pairs
import real_schemas
from schemas.validity import Judge

NO_LEAP_SECONDS_NO_MAIL = {
    "optional/format/date-time.json: validation of date-time strings",
    "optional/format/time.json: validation of time strings",
    "optional/format/email.json: validation of e-mail addresses",
    "optional/format/ecmascript-regex.json: \\a is not an ECMA 262 control escape",
}
"""Cases that the suite calls optional and where the library `jsonschema` differs from it."""


def wheel(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_json", ".json"), text)
    return path


def packed(path: Path, files: dict[str, Any]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, value in files.items():
            data = json.dumps(value).encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_functions_are_read_with_the_types_of_json(tmp_path: Path) -> None:
    fields = {"a": {"type": "float"}, "b": {"type": "any"}, "type": {"type": "String"}}
    function = {"name": "f", "parameters": {"type": "dict", "properties": fields}}
    lines = json.dumps({"id": "1", "function": [function]}) + "\n[broken\n"
    found = list(real_schemas._functions(wheel(tmp_path / "w", x__data__BFCL_v4_a_json=lines)))
    fields = {"a": {"type": "number"}, "b": {}, "type": {"type": "string"}}
    assert found == [("BFCL_v4_a/f", {"type": "object", "properties": fields})]


def test_schemas_in_code_are_found(tmp_path: Path) -> None:
    code = (
        'A = Tool(inputSchema={"type": "object", "properties": {"a": {"type": "string"}}})\n'
        'B = {"type": "object", "properties": {"b": {"description": computed()}}}\n'
        'C = {"type": "report", "properties": []}\n'
    )
    path = tmp_path / "w"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("server/tools.py", code)
    expected = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert list(real_schemas._in_code(path)) == [("server/tools.py:1", expected)]


def test_bodies_of_an_api_bring_what_they_refer_to(tmp_path: Path) -> None:
    parts = {
        "A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}},
        "B": {"type": "string", "nullable": True, "enum": ["x"], "example": "x"},
        "C": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
    }
    form = {"schema": {"$ref": "#/components/schemas/A"}}
    routes = {"/a": {"post": {"requestBody": {"content": {"application/json": form}}}}}
    api = {"paths": routes, "components": {"schemas": parts}}
    files = {f"package/api/one.org/{i}.json": api for i in range(3)}
    apis = list(real_schemas._apis(packed(tmp_path / "p.tgz", {**files, "package/x.json": api})))
    assert [name for name, _ in apis] == ["one.org/0.json", "one.org/1.json"]
    ((name, schema),) = real_schemas._bodies(*apis[0])
    assert name == "one.org/0.json post /a"
    assert schema["$ref"] == "#/$defs/A"
    assert schema["$defs"] == {
        "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
        "B": {"type": ["string", "null"], "enum": ["x", None]},
    }
    assert real_schemas._as_schema(parts["C"]) == {"type": "integer", "exclusiveMinimum": 0}
    assert real_schemas._is_whole(schema)
    assert not real_schemas._is_whole({"$ref": "#/$defs/A", "$defs": {}})
    assert not real_schemas._is_whole({"$ref": "https://example.com/a.json"})
    assert not real_schemas._is_whole({"type": "file"})


def test_without_an_index_a_test_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(make_pairs.CACHE_VARIABLE, str(tmp_path))
    real_schemas._brought.cache_clear()
    failed = SimpleNamespace(returncode=1)
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_more: failed)
    with pytest.raises(pytest.skip.Exception, match="no package index that has"):
        real_schemas.tool_schemas()
    assert list((tmp_path / "schemas").iterdir()) == []


@pytest.mark.long
def test_hundreds_of_real_schemas() -> None:
    tools = real_schemas.tool_schemas()
    assert len({json.dumps(schema, sort_keys=True) for _, schema in tools}) == len(tools) >= 300
    assert len({re.split(r"[/ ]", name)[0] for name, _ in tools}) > 50
    assert all(real_schemas._is_whole(schema) for _, schema in tools[::10])


@pytest.mark.long
def test_the_judge_agrees_with_the_test_suite() -> None:
    n_values, otherwise = 0, set()
    for case in real_schemas.suite_cases():
        judge = Judge(case.schema)
        for value, is_valid in case.values:
            n_values += 1
            text = json.dumps(value)
            if judge.allows(value) != is_valid or (not judge.problem_of(text)) != is_valid:
                otherwise.add(case.name)
    assert n_values > 1000
    # Without the packages that know them, `iri` and its like are not judged.
    assert {name for name in otherwise if "/iri" not in name} == NO_LEAP_SECONDS_NO_MAIL

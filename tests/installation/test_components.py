"""The components that come along: by the list of a package, and by metadata."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paceline import paths
from paceline.installation.components import (
    Component,
    library_component,
    listed_components,
    resource_components,
)

PARTS = {
    "components": [
        {
            "name": "zlib",
            "version": "1.2.13",
            "licenses": [{"license": {"id": "Zlib"}}],
            "externalReferences": [
                {"type": "license", "url": "licences/zlib.txt"},
                {"type": "source-distribution", "url": "https://example.org/zlib"},
            ],
        },
        {
            "name": "hf-xet",
            "version": "1.8.0",
            "licenses": [{"expression": "Apache-2.0"}],
            "externalReferences": [{"type": "license", "url": "licences/hf-xet.txt"}],
            "components": [
                {"name": "ring", "version": "0.17", "licenses": [{"license": {"name": "ISC"}}]},
                {"name": "anyhow", "licenses": [{"expression": "MIT OR Apache-2.0"}]},
            ],
        },
        {"name": "paceline", "version": "0.1.0", "licenses": [{"expression": "MIT"}]},
    ]
}


@pytest.fixture
def parts_list(tmp_path: Path) -> Path:
    (tmp_path / "licences").mkdir()
    (tmp_path / "licences" / "zlib.txt").write_text("Zlib's text\n")
    (tmp_path / "licences" / "hf-xet.txt").write_text("Apache's text\n")
    file = tmp_path / "list.json"
    file.write_text(json.dumps(PARTS))
    return file


def test_the_parts_of_a_package_are_read_with_their_texts(parts_list: Path) -> None:
    assert listed_components(parts_list) == (
        Component("paceline 0.1.0", "MIT", ""),
        Component(
            "hf-xet 1.8.0",
            "Apache-2.0",
            "Apache's text\n\n\nanyhow: MIT OR Apache-2.0\nring 0.17: ISC",
        ),
        Component("zlib 1.2.13", "Zlib", "Zlib's text"),
    )


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"components": [{}]}', b"\xff"])
def test_a_damaged_list_has_no_parts(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "list.json"
    file.write_bytes(content)
    assert listed_components(file) == ()
    assert listed_components(tmp_path / "absent.json") == ()


def test_what_is_installed_says_its_licence_itself() -> None:
    numpy = library_component("numpy")
    assert numpy.name.startswith("numpy ")
    assert "BSD-3-Clause" in numpy.licence
    assert "Redistribution" in numpy.text
    assert library_component("no-such-distribution") == Component("no-such-distribution", "", "")


def test_fonts_and_models_bring_their_licences() -> None:
    texts = {each.name: each.text for each in resource_components(paths.resources())}
    assert "SIL OPEN FONT LICENSE" in texts["Inter"].upper()
    assert set(texts) == {"Inter", "JetBrains Mono", "Demo models", "STIX Two Math"}
    assert all(texts.values())

"""The parts list of a package: what is found in a frozen program, and what ends the build."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import tomllib
from collections.abc import Collection, Iterable
from importlib import metadata
from pathlib import Path

import pytest

pytest.importorskip("cyclonedx", reason="the extra `dev` is older than the parts list")

from paceline.installation.components import listed_components
from paceline.installation.package import PARTS
from packages import licences
from packages.licences import fault, licence_table
from packages.parts import (
    Distributions,
    Frozen,
    PartsError,
    collect,
    debian_files,
    files_of,
    into_resources,
)
from packages.parts_list import ShippedPart, write

ELF = b"\x7fELF stand-in"
PYTHONS = ("python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so", "libpython3.11.so.1.0")
OWN = ("paceline/_kernels/libpaceline_kernels-0.so", "llama_cpp/lib/libggml-cpu-haswell.so")
MODULES = ("json.decoder", "numpy", "numpy.linalg", "msgspec", "_pyi_rth_utils", "rpds")


@pytest.fixture(scope="module")
def distributions() -> Distributions:
    return Distributions.installed(metadata.distributions())


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    file = tmp_path / "llama_cpp_python-0.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        member = tarfile.TarInfo("llama_cpp_python-0/vendor/llama.cpp/LICENSE")
        text = b"the licence of llama.cpp"
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return file


def frozen(folder: Path, files: Iterable[str], modules: Collection[str] = MODULES) -> Frozen:
    for name in files:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(ELF)
    return Frozen(folder, modules)


def wheel(folder: Path, name: str, licence: str, crates: object = None) -> Distributions:
    """Make an installed distribution with one module of its name; returns what it has."""
    info = folder / f"{name}-1.dist-info"
    info.mkdir(parents=True)
    (folder / f"{name}.py").write_text("")
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
    (info / "METADATA").write_text(head + (f"License-Expression: {licence}\n" if licence else ""))
    rows = [f"{name}.py,,", f"{name}-1.dist-info/METADATA,,"]
    if crates is not None:
        (info / "sboms").mkdir()
        (info / "sboms" / "native.cyclonedx.json").write_text(json.dumps(crates))
        rows.append(f"{name}-1.dist-info/sboms/native.cyclonedx.json,,")
    (info / "RECORD").write_text("\n".join(rows))
    return Distributions.installed(metadata.distributions(path=[str(folder)]))


def test_everything_that_came_along_is_listed_with_its_licence(
    tmp_path: Path, distributions: Distributions, sdist: Path
) -> None:
    bundled = [str(p) for p in distributions.by_file if "numpy.libs" in p.parts]
    plugin = "PySide6/Qt/plugins/wayland-graphics-integration-client/libdrm-egl-server.so"
    qt = "PySide6/Qt/lib/libQt6Core.so.6"
    inside = tmp_path / "inside"
    program = frozen(inside, [*PYTHONS, *OWN, *bundled, plugin, qt, "libz.so.1", "libgomp.so.1"])
    (inside / "libQt6Core.so.6").symlink_to(qt)
    parts = collect(program, distributions, {}, sdist)
    known = {part.name: part for part in parts}
    assert set(known) == {
        *("CPython", "PyInstaller's bootloader", "msgspec", "numpy", "rpds-py"),
        *("PySide6_Essentials", "Qt", "llama.cpp and ggml", "zlib", "GCC's libgomp"),
        *("OpenBLAS and LAPACK", "GCC's libgfortran", "GCC's libquadmath"),
        *("Inter", "JetBrains Mono", "Demo models", "STIX Two Math"),
    }
    assert known["llama.cpp and ggml"].texts == ("the licence of llama.cpp",)
    assert known["numpy"].version == metadata.version("numpy")
    assert known["OpenBLAS and LAPACK"].texts == known["numpy"].texts
    assert any(crate.name == "pyo3" for crate in known["rpds-py"].inside)

    file = write(parts, inside)
    assert file == inside / PARTS
    shown = {each.name: each for each in listed_components(file)}
    assert len(shown) == len(parts)
    (name,) = (name for name in shown if name.startswith("Qt "))
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in shown[name].text
    assert "GNU GENERAL PUBLIC LICENSE" in shown[name].text
    assert "can be replaced" in shown[name].text
    assert "GCC RUNTIME LIBRARY EXCEPTION" in shown["GCC's libgomp"].text
    assert all(each.licence and each.text for each in shown.values())
    # One file for the text that NumPy and its libraries share.
    own = [each.read_text("utf-8") for each in (file.parent / "licences").iterdir()]
    assert len(set(own)) == len(own)


def test_equal_parts_make_equal_bytes_and_an_earlier_list_goes(tmp_path: Path) -> None:
    parts = [
        ShippedPart("b", "1", "MIT", ("Copyright B", "")),
        ShippedPart(
            "a", "2", "GPL-3.0-or-later WITH GCC-exception-3.1", (), source="https://a.org/"
        ),
        ShippedPart("c", "", "MIT", (), "pkg:pypi/c@1", inside=(ShippedPart("d", "1", "ISC", ()),)),
    ]
    (tmp_path / PARTS).parent.mkdir()
    stale = (tmp_path / PARTS).with_name("stale.txt")
    stale.write_text("")
    first = write(parts, tmp_path).read_bytes()
    assert write(parts, tmp_path).read_bytes() == first
    assert not stale.exists()
    said = json.loads(first)
    assert said["specVersion"] == "1.6"
    assert said["metadata"]["component"]["name"] == "Paceline"
    shown = {each.name: each for each in listed_components(tmp_path / PARTS)}
    assert shown["b 1"].text == "Copyright B"
    assert shown["a 2"].text.count("GNU GENERAL PUBLIC LICENSE") > 0
    assert shown["c"].text.endswith("d 1: ISC")


@pytest.mark.parametrize(
    ("files", "modules", "words"),
    [
        (["libreadline.so.8"], (), "GNU Readline: GPL-3.0-or-later would be the licence of"),
        (["libmystery.so.2"], (), "libmystery.so.2 belongs to no part"),
        (["mystery/_core.abi3.so"], (), "_core.abi3.so belongs to no part"),
        ([], ("mystery.core",), "The module mystery.core belongs to no part"),
    ],
)
def test_what_cannot_be_passed_on_ends_the_build(
    tmp_path: Path,
    distributions: Distributions,
    sdist: Path,
    files: list[str],
    modules: tuple[str, ...],
    words: str,
) -> None:
    program = frozen(tmp_path / "inside", files, modules)
    with pytest.raises(PartsError, match=words.replace(".", r"\.")) as caught:
        collect(program, distributions, {}, sdist)
    assert len(caught.value.faults) == 1


@pytest.mark.parametrize(
    ("licence", "crates", "words"),
    [
        ("", None, "lonely: no licence is known"),
        ("Whatever-1.0", None, "lonely: SPDX knows no licence “Whatever-1.0”"),
        ("AGPL-3.0-only AND MIT", None, "lonely: AGPL-3.0-only AND MIT would be"),
        ("ISC", None, "lonely: no text of its licence"),
        (
            "MIT",
            {"components": [{"name": "crab", "licenses": [{"expression": "GPL-2.0-only"}]}]},
            "crab, a part of lonely: GPL-2.0-only would be",
        ),
    ],
)
def test_so_does_a_distribution_without_a_fitting_licence(
    tmp_path: Path,
    sdist: Path,
    monkeypatch: pytest.MonkeyPatch,
    licence: str,
    crates: object,
    words: str,
) -> None:
    there = wheel(tmp_path / "site", "lonely", licence, crates)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    with pytest.raises(PartsError) as caught:
        collect(frozen(tmp_path / "inside", [], ("lonely",)), there, {}, sdist)
    assert [each for each in caught.value.faults if each.startswith(words)] == caught.value.faults


@pytest.mark.parametrize(
    ("licence", "is_fine"),
    [
        ("MIT", True),
        ("LGPL-2.1-or-later", True),
        ("GPL-2.0-only", False),
        ("LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only", True),
        ("BSD-3-Clause AND GPL-2.0-only", False),
        ("(MIT OR GPL-3.0-only) AND Zlib", True),
        ("GPL-3.0-or-later WITH GCC-exception-3.1", True),
        ("GPL-2.0-or-later WITH Bootloader-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("LicenseRef-public-domain", True),
        ("MIT License", False),
        ("", False),
    ],
)
def test_the_gpl_comes_along_only_with_an_exception(licence: str, is_fine: bool) -> None:
    assert (fault(licence) == "") is is_fine


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("libssl.so.3", "OpenSSL"),
        ("libcrypto-3.dll", "OpenSSL"),
        ("libssl.3.dylib", "OpenSSL"),
        ("libz.so.1", "zlib"),
        ("libzstd.so.1", "Zstandard"),
        ("libicudata.so.73", "ICU"),
        ("Qt6Core.dll", "Qt"),
        ("libpython3.11.so.1.0", "CPython"),
        ("python311.dll", "CPython"),
        ("VCRUNTIME140_1.dll", "Microsoft Visual C++ runtime"),
        ("libgfortran-040039e1-0352e75f.so.5.0.0", "GCC's libgfortran"),
        ("libscipy_openblas64_-32a4b2a6.so", "OpenBLAS and LAPACK"),
        ("libxcb-render-util.so.0", "XCB"),
        ("libglib-2.0.so.0", "GLib"),
        ("libggml-cpu-haswell.so", "llama.cpp and ggml"),
        ("libllama.dylib", "llama.cpp and ggml"),
        ("libreadline.so.8", "GNU Readline"),
        ("_ssl.cpython-311-x86_64-linux-gnu.so", None),
        ("zlib.cpython-311-x86_64-linux-gnu.so", None),
        ("_uuid.pyd", None),
        ("libshiboken6.abi3.so.6.11", None),
        ("libqgif.so", None),
        ("libmdns.so.1", None),
    ],
)
def test_libraries_are_known_by_their_files(file: str, name: str | None) -> None:
    known = licence_table().library(file)
    assert (known.name if known else None) == name


def test_the_table_is_sound() -> None:
    table = tomllib.loads((licences.FOLDER / "libraries.toml").read_text("utf-8"))
    refused = {name for name, entry in table["libraries"].items() if fault(entry["licence"])}
    assert refused == {"GNU Readline", "GNU dbm"}
    texts = {
        entry["text"]
        for kind in ("libraries", "distributions")
        for entry in table[kind].values()
        if "text" in entry
    }
    assert {name for name in texts if not (licences.FOLDER / name).is_file()} == set()
    named = [entry["licence"] for entry in table["distributions"].values() if "licence" in entry]
    assert not any(map(fault, [*named, *table["names"].values()]))


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="no Debian")
def test_debian_says_whose_a_library_is() -> None:
    found = debian_files(["libc.so.6", "libno-such.so.1"])
    assert set(found) == {"libc.so.6"}
    assert found["libc.so.6"].package == "libc6"
    assert found["libc.so.6"].source_name == "glibc"
    assert debian_files(["libno-such.so.1"]) == {}


def test_an_app_has_the_texts_among_its_resources(tmp_path: Path) -> None:
    program = tmp_path / "Contents" / "MacOS" / "paceline"
    for name in ("MacOS", "Frameworks", "Resources"):
        (tmp_path / "Contents" / name).mkdir(parents=True)
    inside = files_of(program)
    assert inside == tmp_path / "Contents" / "Frameworks"
    for _ in range(2):
        into_resources(write([ShippedPart("a", "1", "MIT", ("Copyright A",))], inside).parent)
        (component,) = listed_components(inside / PARTS)
        assert component.text == "Copyright A"
        assert not [path for path in inside.iterdir() if not path.is_symlink()]
    assert files_of(tmp_path / "lib" / "paceline") == tmp_path / "lib" / "_internal"

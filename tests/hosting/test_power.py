"""Reading of the power source, battery or mains, from the system."""

from __future__ import annotations

from pathlib import Path

import pytest

from paceline.hosting.power import is_on_battery


def supplies(folder: Path, **kinds: dict[str, str]) -> Path:
    """Write the files in which Linux reports power supplies."""
    for name, files in kinds.items():
        (folder / name).mkdir()
        for file, text in files.items():
            (folder / name / file).write_text(f"{text}\n")
    return folder


BATTERY = {"type": "Battery", "status": "Discharging"}
MOUSE = BATTERY | {"scope": "Device"}


@pytest.mark.parametrize(
    ("kinds", "is_on"),
    [
        ({}, False),
        ({"BAT0": BATTERY}, True),
        ({"BAT0": BATTERY | {"status": "Charging"}}, False),
        ({"BAT0": BATTERY, "AC": {"type": "Mains", "online": "0"}}, True),
        ({"BAT0": BATTERY, "AC": {"type": "Mains", "online": "1"}}, False),
        ({"BAT0": BATTERY, "usb": {"type": "USB", "online": "1"}}, False),
        ({"hidpp_battery_0": MOUSE}, False),
        ({"hidpp_battery_0": MOUSE, "BAT0": BATTERY | {"status": "Full"}}, False),
        ({"BAT0": {}, "BAT1": BATTERY}, True),
    ],
)
def test_a_computer_is_on_its_battery_where_one_of_its_own_gives_power(
    kinds: dict[str, dict[str, str]], is_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    assert is_on_battery(supplies(tmp_path, **kinds)) is is_on


def test_a_computer_that_reports_no_power_source_counts_as_on_mains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    assert not is_on_battery(tmp_path / "none")


@pytest.mark.parametrize(("plugged", "is_on"), [(True, False), (False, True), (None, False)])
def test_other_systems_are_asked(
    plugged: bool | None, is_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Battery:
        power_plugged = plugged

    monkeypatch.setattr("platform.system", lambda: "Windows")
    monkeypatch.setattr("psutil.sensors_battery", Battery)
    assert is_on_battery() is is_on
    monkeypatch.setattr("psutil.sensors_battery", lambda: None)
    assert not is_on_battery()

"""The program on Vulkan's software driver, where `packaging/devices.py` has brought it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import devices
from device_trials.software_gpu import SoftwareGpu
from device_trials.vulkan import SHORT

SCRIPT = devices.ROOT / "packaging" / "devices.py"


@pytest.mark.long
def test_a_gpu_gives_replies_or_refusals() -> None:
    if not SoftwareGpu(devices.cache()).is_here:
        pytest.skip("`python packaging/devices.py vulkan` has not made the build yet")
    command = [sys.executable, str(SCRIPT), "vulkan", "--short"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    *lines, verdict = done.stdout.splitlines()
    assert verdict == "No case failed."
    assert {line.split(": ")[0] for line in lines} == set(SHORT)
    assert any(": equal; logits by up to " in line for line in lines)

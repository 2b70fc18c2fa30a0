"""A GPU in software: Mesa's software driver for Vulkan, and llama.cpp compiled for Vulkan.

All of it lies in one folder, and nothing is installed. Headers are those of Debian 13, since Debian
12's are older than what llama.cpp is written for; the compiler of shaders and the loader are Debian
12's, since the newer ones need a newer C library; the driver is Mesa 25 of the backports, since
Mesa 22.3 crashes in shaders that llama.cpp fuses.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from backends import Build
from bootstrap import ROOT, Project, Runner, bring_tools, obtain_wheel, wheel_cache

HERE, BACKPORTS, NEWER = "bookworm", "bookworm-backports", "trixie"
PACKAGES = {
    HERE: "glslc libshaderc1 spirv-headers libvulkan1 libvulkan-dev libhiredis0.14 ccache",
    BACKPORTS: "mesa-vulkan-drivers",
    NEWER: "libvulkan-dev",
}
LIBRARIES = Path("usr/lib/x86_64-linux-gnu")


class NoSoftwareGpuError(Exception):
    """The driver is not available here; the error says why in one sentence."""


class SoftwareGpu:
    """The driver in a folder, the libraries compiled for it, and the shaders that are kept.

    Attributes:
        folder: The downloaded files, one folder for each suite of Debian.
        lib: llama.cpp's libraries.
    """

    def __init__(self, folder: Path, lib: Path | None = None) -> None:
        """Set the paths; nothing is fetched yet.

        Args:
            folder: The cache.
            lib: Libraries that are already compiled, or None for those in the folder.
        """
        self.folder = folder.absolute()
        version = Project.read(ROOT).llama.rpartition("=")[2]
        self.lib = lib.absolute() if lib else self.folder / f"lib-{version}"

    @property
    def is_here(self) -> bool:
        """Return True if nothing has to be fetched."""
        return (self.lib / "libllama.so").exists() and self._driver.exists()

    def bring(self) -> None:
        """Fetch and compile what is missing; takes minutes the first time.

        Raises:
            NoSoftwareGpuError: It cannot be had here.
            BootstrapError: The build failed.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._driver.exists():
            for suite, names in PACKAGES.items():
                self._fetch(suite, names.split())
            # llama.cpp looks for both in one folder.
            include = Path("usr", "include")
            spirv = self.folder / HERE / include / "spirv"
            shutil.copytree(spirv, self.folder / NEWER / include / "spirv", dirs_exist_ok=True)
            library = str(self.folder / BACKPORTS / LIBRARIES / "libvulkan_lvp.so")
            about = {"api_version": "1.4.305", "library_path": library}
            self._driver.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": about}))
        if not (self.lib / "libllama.so").exists():
            self._compile()

    def variables(self, n_devices: int) -> dict[str, str]:
        """Return environment variables for a program with so many GPUs; 0 for the CPU alone."""
        seen = {"GGML_VK_VISIBLE_DEVICES": ",".join("0" * n_devices)} if n_devices else {}
        paths = os.pathsep.join(filter(None, (self._loader, os.environ.get("LD_LIBRARY_PATH"))))
        usual = {k: v for k, v in os.environ.items() if k != "GGML_VK_VISIBLE_DEVICES"}
        return (
            usual
            | seen
            | {
                "LLAMA_CPP_LIB_PATH": str(self.lib),
                "LD_LIBRARY_PATH": paths,
                "VK_ICD_FILENAMES": str(self._driver),
                "MESA_SHADER_CACHE_DIR": str(self.folder / "shaders"),
            }
        )

    @property
    def _driver(self) -> Path:
        return self.folder / "lavapipe.json"

    @property
    def _loader(self) -> str:
        return str(self.folder / HERE / LIBRARIES)

    def _fetch(self, suite: str, names: list[str]) -> None:
        """Unpack a suite's packages into a folder of its own, by an apt that has its own lists."""
        at = self.folder / "apt" / suite
        for folder in ("lists/partial", "cache/archives/partial"):
            (at / folder).mkdir(parents=True, exist_ok=True)
        key = "/usr/share/keyrings/debian-archive-keyring.gpg"
        (at / "list").write_text(f"deb [signed-by={key}] {mirror()} {suite} main\n")
        settings = {
            "Dir::Etc::sourcelist": at / "list",
            "Dir::Etc::sourceparts": "-",
            "Dir::State::lists": at / "lists",
            "Dir::Cache": at / "cache",
            "APT::Sandbox::User": "root",
        }
        apt = ["apt-get", "-qq", *(f"-o{key}={value}" for key, value in settings.items())]
        tell(f"Fetching from Debian's {suite}: {' '.join(names)}")
        _run([*apt, "update"], at)
        _run([*apt, "download", *names], at)
        for package in at.glob("*.deb"):
            _run(["dpkg", "-x", str(package), str(self.folder / suite)], at)

    def _compile(self) -> None:
        """Compile llama.cpp as the bootstrap does, and take the libraries out of its wheel."""
        tools = self.folder / HERE / "usr"
        flags = {
            "Vulkan_INCLUDE_DIR": self.folder / NEWER / "usr" / "include",
            "Vulkan_LIBRARY": self.folder / HERE / LIBRARIES / "libvulkan.so",
            "Vulkan_GLSLC_EXECUTABLE": tools / "bin" / "glslc",
            "SPIRV-Headers_DIR": tools / "share" / "cmake" / "SPIRV-Headers",
        }
        path = os.pathsep.join((str(tools / "bin"), os.environ.get("PATH", os.defpath)))
        wishes = " ".join(f"-D{name}={value}" for name, value in flags.items())
        os.environ |= {"PATH": path, "LD_LIBRARY_PATH": self._loader, "CMAKE_ARGS": wishes}
        runner = Runner(wheel_cache() / "devices.log")
        build = Build("vulkan", ("-DGGML_VULKAN=ON",))
        pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
        bring_tools(build, runner)
        wheel = obtain_wheel(Project.read(ROOT).llama, build, pip, runner)
        half = self.folder / "half"
        shutil.rmtree(half, ignore_errors=True)
        with zipfile.ZipFile(wheel) as packed:
            inside = [name for name in packed.namelist() if name.startswith("llama_cpp/lib/")]
            packed.extractall(half, inside)
        (half / "llama_cpp" / "lib").rename(self.lib)
        shutil.rmtree(half)


def mirror() -> str:
    """Return where this Debian 12 gets its packages from.

    Raises:
        NoSoftwareGpuError: This is none.
    """
    words = ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)"]
    try:
        listing = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        listing = ""
    for line in listing.splitlines():
        release, _, address = line.partition(" ")
        if release == HERE:
            return address
    raise NoSoftwareGpuError(
        "The software driver is brought for Debian 12 alone, after `apt-get update`."
    )


def tell(text: str) -> None:
    """Print progress on stderr."""
    print(text, file=sys.stderr, flush=True)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NoSoftwareGpuError(f"{command[0]} failed: {said[-1] if said else done.returncode}")

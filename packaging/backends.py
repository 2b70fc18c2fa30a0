"""Backends that llama.cpp can be compiled for, and the needs of each build.

A `Build` is a backend with the flags that this machine's devices ask for. `asked` makes one from
the user's option: `auto` means a GPU's build if a GPU is found with everything that compiles for
it, or else the processor's. Standard library only: `bootstrap.py` calls it before anything is
installed. As a program, this file prints the Vulkan GPUs, one per line, so that a crashing driver
ends only this process.
"""

import ctypes
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, NamedTuple

BASE = ("-DLLAVA_BUILD=OFF", "-DGGML_RPC=ON")  # no support for images; devices of other machines
NAMES = ("cpu", "vulkan", "cuda", "metal", "hip")
MAC = sys.platform == "darwin"
WINDOWS = sys.platform == "win32"
PACKAGES = {  # by need and package manager
    "compiler": {"apt-get": "g++", "dnf": "gcc-c++", "pacman": "gcc", "zypper": "gcc-c++"},
    "vulkan": {
        "apt-get": "glslc libvulkan-dev spirv-headers",
        "dnf": "glslc vulkan-loader-devel vulkan-headers spirv-headers-devel",
        "pacman": "shaderc vulkan-icd-loader vulkan-headers spirv-headers",
        "zypper": "shaderc vulkan-devel spirv-headers",
    },
    "nvcc": {"apt-get": "nvidia-cuda-toolkit", "pacman": "cuda"},
    "hipcc": {
        **{"apt-get": "hipcc libhipblas-dev librocblas-dev", "dnf": "rocm-hip-devel hipblas-devel"},
        "pacman": "rocm-hip-sdk",
    },
}
INSTALL = {"apt-get": "install", "dnf": "install", "pacman": "-S", "zypper": "install"}
ELSEWHERE = {  # instructions where no package manager has it
    "compiler": "install GCC or Clang",
    "vulkan": "install the Vulkan SDK (https://vulkan.lunarg.com)",
    "old": "those of this system are older; install the Vulkan SDK (https://vulkan.lunarg.com)",
    "nvcc": "install the CUDA toolkit (https://developer.nvidia.com/cuda-downloads)",
    "hipcc": "install ROCm (https://rocm.docs.amd.com)",
    "metal": "it takes a Mac",
}
# A test program: it compiles and links only if the compiler finds headers and loader. Headers that
# lack this struct, such as those of Debian 12, are too old for llama.cpp.
VULKAN_PROGRAM = """
#include <vulkan/vulkan.hpp>
#include <spirv/unified1/spirv.hpp>
vk::LayerSettingEXT setting;
int main() { return vkEnumerateInstanceVersion(nullptr); }
"""


class Build(NamedTuple):
    """A backend, the CMake flags that it takes on this machine, and who chose it."""

    backend: str
    flags: tuple[str, ...] = ()
    is_auto: bool = False

    @classmethod
    def read(cls, stored: Any) -> "Build | None":
        """Return the build that a stamp holds in the form of `_asdict`, or None."""
        try:
            backend, flags, is_auto = (dict(stored)[name] for name in cls._fields)
            return cls(backend, tuple(map(str, flags)), bool(is_auto)) if backend in NAMES else None
        except (LookupError, TypeError, ValueError):
            return None

    @property
    def core_seconds(self) -> int:
        """Seconds of compiling on one core of an ordinary machine."""
        architectures = max(1, len(re.findall(r"\d+-real|gfx\w+", " ".join(self.flags))))
        extra = {"vulkan": 450, "cuda": 3600 * architectures, "hip": 3600 * architectures}
        return 360 + extra.get(self.backend, 0)

    @property
    def space(self) -> float:
        """Bytes of disk, more than twice what sources, objects and libraries take."""
        return {"cuda": 4e9, "hip": 4e9}.get(self.backend, 1e9)


class Missing(NamedTuple):
    """A missing requirement of a build."""

    what: str  # its name in a sentence
    kind: str  # key of PACKAGES

    @property
    def packages(self) -> list[str]:
        """Debian packages that contain it, if apt may install them without asking."""
        is_small = self.kind in ("compiler", "vulkan")  # the others are gigabytes
        return PACKAGES[self.kind]["apt-get"].split() if is_small else []

    @property
    def remedy(self) -> str:
        """Return how to get it on this system."""
        if MAC and self.kind == "compiler":
            return "`xcode-select --install`"
        for tool, packages in PACKAGES.get(self.kind, {}).items():
            if shutil.which(tool):
                return f"`sudo {tool} {INSTALL[tool]} {packages}`"
        return ELSEWHERE[self.kind]


def capture(command: Sequence[str], text: str = "") -> str | None:
    """Return the command's stdout, or None when it does not run or fails."""
    given: dict[str, Any] = {"input": text.encode()} if text else {"stdin": DEVNULL}
    try:
        done = subprocess.run(command, **given, capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    output: bytes = done.stdout
    return output.decode(errors="replace")


def find_compiler() -> tuple[str, tuple[int, ...]] | None:
    """Return title and, for GCC only, version of the C++ compiler that CMake will pick."""
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")):
        title = capture([*shlex.split(name), "--version"])
        if title:
            is_gcc = "Free Software Foundation" in title
            number = capture([*shlex.split(name), "-dumpfullversion"]) if is_gcc else None
            return title.splitlines()[0], tuple(map(int, re.findall(r"\d+", number or "")))
    return None


def cmake_arguments(
    gcc: tuple[int, ...], machine: str, wishes: str, flags: Sequence[str] = ()
) -> str:
    """Return CMAKE_ARGS: Paceline's, no miscompiled AMX, the backend's, then the user's own."""
    arguments = [*BASE]
    # GCC knows AMX since 11 and sets up its tiles wrongly before 12.4: the first decode of two
    # tokens at once ends in a segmentation fault on processors that have it.
    if (11,) <= gcc < (12, 4) and machine.lower() in ("x86_64", "amd64"):
        words = "'-mno-amx-tile -mno-amx-int8 -mno-amx-bf16'"
        arguments += [f"-DCMAKE_C_FLAGS={words}", f"-DCMAKE_CXX_FLAGS={words}"]
    return " ".join([*arguments, *map(shlex.quote, flags), wishes]).strip()


def asked(word: str, wishes: str, say: Callable[[str], None]) -> Build:
    """Return the build for an option; `missing` checks its requirements.

    Args:
        word: A backend's name, or "auto".
        wishes: The user's own CMake flags, which come last and so win.
        say: Called with the reason why `auto` uses no GPU.
    """
    if word == "auto":
        return _auto(wishes, say)
    flags: dict[str, Callable[[], list[str]]] = {
        "cpu": lambda: ["-DGGML_METAL=OFF"] if MAC else [],
        "vulkan": lambda: ["-DGGML_VULKAN=ON"],
        "cuda": _cuda_flags,
        "metal": lambda: ["-DGGML_METAL=ON"],
        "hip": _hip_flags,
    }
    return Build(word, tuple(flags[word]()))


def _auto(wishes: str, say: Callable[[str], None]) -> Build:
    """Return a GPU's build if nothing is missing for it, or else the processor's."""
    if re.search(r"-DGGML_(CUDA|VULKAN|METAL|HIP|SYCL|OPENCL|MUSA|CANN)\b", wishes):
        return Build("cpu", is_auto=True)  # the user has decided
    hints = []
    signs: dict[str, Callable[[], bool]] = {
        "cuda": lambda: bool(_nvidia()),
        "metal": lambda: MAC and platform.machine() == "arm64",
        "hip": lambda: Path("/dev/kfd").exists() and bool(_tool("hipcc")),
        "vulkan": lambda: bool(_vulkan_gpus()),
    }
    for backend, is_here in signs.items():
        if is_here():
            lacking = missing(backend, wishes)
            if not lacking:
                return asked(backend, wishes, say)._replace(is_auto=True)
            hints.append(f"{lacking[0].what} ({lacking[0].remedy}, then --backend {backend})")
    if hints:
        say(f"Compiling for the processor alone; the GPU would need {hints[0]}.")
    return asked("cpu", wishes, say)._replace(is_auto=True)


def missing(backend: str, wishes: str) -> list[Missing]:
    """Return the missing requirements of a build, without those that the user's flags name."""
    lacking = []
    if not find_compiler() and not WINDOWS:
        lacking.append(Missing("a C++ compiler", "compiler"))
    if backend == "vulkan":
        if not (_tool("glslc") or "Vulkan_GLSLC_EXECUTABLE" in wishes):
            lacking.append(Missing("glslc, the compiler of shaders", "vulkan"))
        elif not ("Vulkan_INCLUDE_DIR" in wishes or _compiles_vulkan()):
            kind = "old" if Path("/usr/include/vulkan/vulkan.hpp").exists() else "vulkan"
            what = "the headers of Vulkan 1.3.272 or newer, those of SPIR-V, and libvulkan"
            lacking.append(Missing(what, kind))
    elif backend == "cuda" and not (_tool("nvcc") or "CMAKE_CUDA_COMPILER" in wishes):
        lacking.append(Missing("nvcc, the compiler of the CUDA toolkit", "nvcc"))
    elif backend == "hip" and not (_tool("hipcc") or "CMAKE_HIP_COMPILER" in wishes):
        lacking.append(Missing("hipcc, the compiler of ROCm", "hipcc"))
    elif backend == "metal" and not MAC:
        lacking.append(Missing("macOS", "metal"))
    return lacking


def _tool(name: str) -> str | None:
    """Return the path of a tool in PATH, or in its vendor's usual folder."""
    variable, default = {
        "glslc": ("VULKAN_SDK", ""),
        "nvcc": ("CUDA_PATH", "/usr/local/cuda"),
        "hipcc": ("ROCM_PATH", "/opt/rocm"),
    }[name]
    folder = os.environ.get(variable) or default
    beside = shutil.which(name, path=str(Path(folder, "bin"))) if folder else None
    given = os.environ.get("CUDACXX") if name == "nvcc" else None
    return given or shutil.which(name) or beside


def _nvidia() -> list[str]:
    """Return the compute capabilities of NVIDIA's GPUs, such as "86", each once."""
    words = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    return sorted({f"{a}{b}" for a, b in re.findall(r"(\d+)\.(\d+)", capture(words) or "")})


def _cuda_flags() -> list[str]:
    """Return flags that compile only for the architectures of this machine's GPUs."""
    own = ";".join(f"{number}-real" for number in _nvidia())
    flags = ["-DGGML_CUDA=ON", *([f"-DCMAKE_CUDA_ARCHITECTURES={own}"] if own else [])]
    nvcc = _tool("nvcc")
    if nvcc and not (shutil.which("nvcc") or os.environ.get("CUDACXX")):
        flags.append(f"-DCMAKE_CUDA_COMPILER={nvcc}")
    return flags


def _hip_flags() -> list[str]:
    """Return flags that compile only for this machine's GPUs."""
    folder = Path(_tool("hipcc") or "hipcc").parent
    listing = capture([str(folder / "rocm_agent_enumerator")]) or ""
    own = ";".join(sorted(set(re.findall(r"gfx[1-9a-f]\w*", listing))))
    return ["-DGGML_HIP=ON", *([f"-DGPU_TARGETS={own}"] if own else [])]


def _compiles_vulkan() -> bool:
    sdk = os.environ.get("VULKAN_SDK")
    if WINDOWS:  # CMake finds Visual Studio's compiler without PATH
        return bool(sdk and Path(sdk, "Include", "vulkan", "vulkan.hpp").is_file())
    inside = [f"-I{sdk}/include", f"-L{sdk}/lib"] if sdk else []
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")):
        words = [*shlex.split(name), "-std=c++17", "-x", "c++", "-", *inside, "-lvulkan"]
        if capture([*words, "-o", os.devnull], VULKAN_PROGRAM) is not None:
            return True
    return False


def _vulkan_gpus() -> list[str]:
    """Return the names of Vulkan's GPUs, without drivers that compute on the processor."""
    return (capture([sys.executable, "-I", __file__]) or "").splitlines()


def print_vulkan_gpus() -> None:
    """Print the names of the GPUs, found by three calls of the Vulkan loader."""
    name = {"win32": "vulkan-1.dll", "darwin": "libvulkan.1.dylib"}.get(sys.platform)
    try:
        vulkan = ctypes.CDLL(name or "libvulkan.so.1")
    except OSError:
        return
    # VkInstanceCreateInfo: type 1, next, flags, application, then counts and names of layers and
    # extensions, which are empty.
    create = (ctypes.c_uint64 * 8)(1)
    instance, count = ctypes.c_void_p(), ctypes.c_uint32()
    if vulkan.vkCreateInstance(create, None, ctypes.byref(instance)):
        return
    vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
    devices = (ctypes.c_void_p * count.value)()
    vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices)
    for device in devices:
        # VkPhysicalDeviceProperties: four numbers, type, name of 256 bytes; 824 bytes in all.
        properties = ctypes.create_string_buffer(4096)
        vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(device), properties)
        if int.from_bytes(properties.raw[16:20], sys.byteorder) in (1, 2):  # integrated, discrete
            print(properties.raw[20:276].split(b"\0")[0].decode(errors="replace"))


if __name__ == "__main__":
    print_vulkan_gpus()

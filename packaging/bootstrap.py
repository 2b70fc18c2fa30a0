#!/usr/bin/env python3
"""Set Paceline up in this checkout and start it, or run its checks.

    python3 packaging/bootstrap.py run [ARGS...]     start `paceline ARGS...`
    python3 packaging/bootstrap.py test [ARGS...]    run every check, the last is `pytest ARGS...`;
                                                     with --long, every test
    python3 packaging/bootstrap.py --backend cuda run    the same for a GPU

The first start makes a virtual environment, compiles llama-cpp-python for this machine and the
device that `--backend` names, keeps the wheel for later, installs the rest, and compiles Paceline's
native code. A stamp in the environment says what is installed and for which device; while it fits,
a start needs neither pip nor the network. An interrupted installation is made again; after a change
of the native code's sources only that is compiled again.

Long: what runs before anything is installed is this file and `backends.py`, and uses the standard
library only. Every line here must parse on Python 3.6, whose users get a sentence and not a
SyntaxError.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - older Pythons do get as far as this line
    sys.exit(
        f"Paceline needs Python 3.11 or newer, not {sys.version_info[0]}.{sys.version_info[1]}: "
        "start it with a newer one, for example `python3.12 packaging/bootstrap.py run`."
    )

import argparse
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from typing import Any, NamedTuple

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

sys.path.insert(0, str(Path(__file__).resolve().parent))  # which a safe path leaves out

from backends import NAMES, Build, asked, capture, cmake_arguments, find_compiler, missing

ROOT = Path(__file__).resolve().parent.parent
WINDOWS = sys.platform == "win32"
ENVIRONMENT_SPACE = 1.5e9  # three times its size, since pip unpacks packages meanwhile
STARTER_AGAIN = 3600  # seconds

QT_PACKAGES = (  # libraries that Qt links to, then those that a display needs
    *("libegl1", "libgl1", "libxkbcommon0", "libfontconfig1", "libdbus-1-3", "libglib2.0-0"),
    *("libgssapi-krb5-2", "fonts-dejavu-core"),
    *("libxcb-cursor0", "libxcb-icccm4", "libxcb-keysyms1", "libxcb-image0", "libxcb-shape0"),
    *("libxcb-render-util0", "libxkbcommon-x11-0", "libwayland-client0", "libwayland-cursor0"),
    "libwayland-egl1",
)
# Output of a failing command, and the remedy; the first pattern that matches is shown.
CAUSES = {
    r"No space left on device|Errno 28": "the disk is full: make room and start again",
    r"Killed signal|memory exhausted|[Oo]ut of memory|bad_alloc": "the memory did not suffice: "
    "close other programs, or compile one file at a time with CMAKE_BUILD_PARALLEL_LEVEL=1",
    r"CERTIFICATE_VERIFY_FAILED": "the package index's certificate was not accepted: tell pip "
    "about your network's certificate with `pip config set global.cert FILE`",
    r"name resolution|NewConnectionError|Max retries|getaddrinfo|ProxyError|Could not resolve|"
    r"unreachable|timed out|IncompleteRead|Connection (was )?(refused|aborted|reset|broken)": "the "
    "network cannot be reached: check it and start again (later starts do not need it)",
    r"No matching distribution found": "the package index has no release that fits this system "
    "and Python: try another Python with --python PATH",
    r"Permission denied|Errno 13": "it may not be written: change its rights, or choose other "
    "folders with --venv DIR and the variable PACELINE_WHEEL_CACHE",
}
SDIST = "llama_cpp_python-*.tar.gz"
# CMake reads this at the beginning of llama.cpp's own project. llama-cpp-python switches on the
# common library, whose web server takes half of the compile time and is never loaded.
LEAN = "set(LLAMA_BUILD_COMMON OFF)\n"
# A file's tests share loaded models; `tests/conftest.py` says in which order files begin.
PYTEST = "pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder"
ALONE = "pytest --last-failed --last-failed-no-failures none"  # one process, no other tests
MOST_ALONE = 3  # tests; if more fail, the load of the machine is not the cause
COMPILE = "python -m compileall -q app"  # for the many tests that start the program
COLLECT = "python -m pytest --collect-only -qqq"  # compiles the tests for all workers
CHECKS = ("ruff check .", "ruff format --check .", "mypy", "lint-imports", COMPILE, COLLECT)
CHECK_MINUTES = {"default": 22, "--long": 180}  # minutes of one core; update them when they change
MOST_CORES = 4  # as PYTEST says


class BootstrapError(Exception):
    """Ends the program with one sentence that also says what to do, after lines of a log."""

    def __init__(self, text: str, *lines: str) -> None:
        super().__init__(text)
        self.lines = lines


def say(text: str) -> None:
    """Print to stderr: stdout belongs to the program that is started."""
    print(text, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Return a time in words."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def fingerprint(*parts: object) -> str:
    """Return a short hash of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def progress(line: str, seconds: float) -> str | None:
    """Return the progress that a line of ninja's or pip's output shows, if it shows any."""
    step = re.match(r"\s*\[(\d+)/(\d+)\]", line)
    if step:
        done, total = int(step[1]), int(step[2])
        left = f", about {duration(seconds / done * (total - done))} left" if done > 9 else ""
        return f"{done} of {total} compile steps after {duration(seconds)}{left}"
    words = re.match(r"\s*(Collecting|Downloading|Installing collected packages)[: ]*(\S*)", line)
    return f"{words[1]} {words[2]}" if words else None


class Project(NamedTuple):
    """Tables of pyproject.toml that concern an installation; the digest ignores the others."""

    dependencies: list[str]
    extras: dict[str, list[str]]
    llama: str
    digest: str

    @classmethod
    def read(cls, root: Path) -> "Project":
        """Read the file, and the version from the file that hatch reads it from."""
        try:
            data = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
            table, hatch = data["project"], data["tool"]["hatch"]
            version = (root / hatch["version"]["path"]).read_text("utf-8")
            pins = [item for item in table["dependencies"] if item.startswith("llama-cpp-python==")]
            digest = fingerprint(table, data["build-system"], hatch, version)
            return cls(table["dependencies"], table["optional-dependencies"], pins[0], digest)
        except (LookupError, tomllib.TOMLDecodeError) as error:
            raise BootstrapError(f"pyproject.toml is damaged ({error!r}): restore it.") from error


def kernels_digest(root: Path) -> str:
    """Return a digest of the native code's sources and the build settings."""
    how = root / "app" / "paceline" / "installation"
    compilers = (
        file for kind in ("build", "files", "library") for file in how.glob(f"*_{kind}.py")
    )
    files = [*(root / "app" / "kernels").rglob("*.[ch]*"), *compilers]
    return fingerprint({p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files})


def cause_of(output: str) -> str | None:
    """Return the cause and the remedy if the output contains a known error."""
    return next((cause for known, cause in CAUSES.items() if re.search(known, output)), None)


def in_words(error: Exception, remedy: str = "try --rebuild, or other folders (--venv DIR)") -> str:
    """Return one sentence with the error and its remedy."""
    if not isinstance(error, OSError):
        return str(error)
    place, what = error.filename, error.strerror or error
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):  # of many files
        _, place, what = error.args[0][0]
    return f"{place or 'A file'}: {what}: {cause_of(str(what)) or remedy}."


class Progress:
    """Progress on stderr: one line that is rewritten in a terminal, or else a line now and then."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self.pause = 0.2 if self.is_terminal else 15.0  # seconds
        self.shown = time.monotonic()
        self.length = 0

    def show(self, text: str | None) -> None:
        """Show the progress, unless it was shown a moment ago."""
        now = time.monotonic()
        if not text or now - self.shown < self.pause:
            return
        self.shown = now
        if self.is_terminal:
            self._rewrite("  " + text)
        else:
            say("  " + text)

    def clear(self) -> None:
        """Erase the line before other output."""
        if self.length:
            self._rewrite("")
            self.length = 0

    def _rewrite(self, text: str) -> None:
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns
        except OSError:
            width = 0
        text = text[: (width or 80) - 1]  # a full line would wrap
        sys.stderr.write("\r" + text.ljust(min(self.length, (width or 80) - 1)) + "\r" * (not text))
        sys.stderr.flush()
        self.length = len(text)


class Runner:
    """Runs commands into a log file and turns one that fails into a BootstrapError."""

    def __init__(self, log: Path) -> None:
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("", "utf-8")

    def run(self, task: str, command: Sequence[str], **variables: str) -> None:
        """Run the command with these variables added to the environment."""
        code, lines = self.follow(command, **variables)
        if code:
            errors = [line for line in lines[:-15] if re.search(r"\berror\b:", line)]
            shown = [line[:200] for line in [*errors[:5], *lines[-15:]]]
            cause = cause_of("\n".join(lines)) or "its last lines say why"
            text = f"{task} failed: {cause}. The whole log is {self.log}."
            raise BootstrapError(text, *shown)

    def follow(self, command: Sequence[str], **variables: str) -> tuple[int, list[str]]:
        """Run the command, show its progress, and return its exit code and output."""
        started = time.monotonic()
        told = Progress()
        lines: list[str] = []
        env = {**os.environ, **variables}
        # The child inherits the lock file: if it outlives a killed bootstrap, the lock stays held.
        process = subprocess.Popen(
            command, env=env, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, close_fds=WINDOWS
        )
        with process, self.log.open("a", encoding="utf-8") as log:
            log.write("$ " + shlex.join(command) + "\n")
            try:
                for raw in process.stdout or ():
                    line = raw.decode(errors="replace").rstrip()
                    log.write(line + "\n")
                    lines.append(line)
                    told.show(progress(line, time.monotonic() - started))
            except BaseException:
                process.terminate()
                raise
            finally:
                told.clear()
        return process.returncode, lines


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file; the system frees it when the process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        try:
            if sys.platform == "win32":
                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            busy = f"Another bootstrap is at work in {path.parent}: start again when it is done."
            raise BootstrapError(busy) from error
        os.set_inheritable(lock.fileno(), True)
        yield


def need_space(folder: Path, amount: float, purpose: str, remedy: str) -> None:
    """Raise `BootstrapError` if the disk has too little space for a task."""
    free = shutil.disk_usage(folder).free
    if free < amount:
        need = f"{purpose} needs {amount / 1e9:.1f} GB, and {folder} has {free / 1e9:.1f} GB free"
        raise BootstrapError(f"{need}: make room, or {remedy}.")


def cpu_features() -> str:
    """Return the CPU features that compilers use, without those that a kernel update may add."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return platform.processor()
    found = re.search(r"^(flags|Features)\s*:(.*)$", text, re.MULTILINE)
    if not found or found[1] == "Features":
        return found[2].strip() if found else platform.processor()
    kinds = re.compile(r"sse|ssse|avx|amx|fma|f16c|bmi|abm|popcnt|movbe|xop|tbm")
    return " ".join(sorted(name for name in found[2].split() if kinds.match(name)))


def missing_packages(names: Sequence[str]) -> list[str]:
    """Return the Debian packages that are not installed, not even under their newer t64 name."""
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names]
    query += [name + "t64" for name in names]
    listing = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    there = {line.split()[0] for line in listing.splitlines() if line.endswith(" installed")}
    return [name for name in names if not {name, name + "t64"} & there]


def apt_install(names: Sequence[str], runner: Runner) -> bool:
    """Install Debian packages, where that is possible."""
    is_root = getattr(os, "geteuid", lambda: 1)() == 0
    if not (is_root and shutil.which("apt-get") and shutil.which("dpkg-query")):
        return False
    say(f"Installing system packages: {' '.join(names)}")
    apt = "apt-get -o DPkg::Lock::Timeout=120"
    script = f"{apt} update && {apt} install -y --no-install-recommends {shlex.join(names)}"
    runner.run("apt-get", ["sh", "-c", script], DEBIAN_FRONTEND="noninteractive")
    return True


def bring_qt_libraries(runner: Runner) -> None:
    """Install what Qt links to, or say how; the command line works without."""
    missing = missing_packages(QT_PACKAGES) if shutil.which("dpkg-query") else []
    try:
        if missing and not apt_install(missing, runner):
            say(f"The window needs more libraries: `sudo apt-get install {' '.join(missing)}`")
    except BootstrapError as error:
        say(f"Going on without some of Qt's libraries: {error}")


def python_version(python: str) -> str | None:
    """Return the version of a Python that runs and is new enough."""
    code = "import sys; print(*sys.version_info[:3], sep='.') if sys.version_info >= (3, 11) else 0"
    return (capture([python, "-I", "-c", code]) or "").strip() or None


class Environment:
    """The virtual environment and the stamp that says what is in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scripts = folder / ("Scripts" if WINDOWS else "bin")
        self.python = str(self.scripts / ("python.exe" if WINDOWS else "python"))
        self.pip = [self.python, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
        self.program = self.scripts / ("paceline.exe" if WINDOWS else "paceline")
        self.stamp = folder / "paceline-stamp.json"
        self.lock = folder / "paceline.lock"
        self.version = python_version(self.python)
        self.build = Build.read(self.read_stamp().get("build")) or Build("cpu")

    def read_stamp(self) -> dict[str, Any]:
        """Return the record of the installation; empty if it cannot be read."""
        return read_json(self.stamp)

    def write_stamp(self, **content: object) -> None:
        """Replace the stamp."""
        build = self.build._asdict()  # also of an installation that is interrupted
        write_json(self.stamp, {"folder": str(self.folder), "build": build, **content})

    def key(self, project: Project) -> str:
        """Return the stamp that allows a start without installing."""
        place = (str(ROOT), str(self.folder), platform.machine(), cpu_features())
        version = (self.version or "").rpartition(".")[0]
        flags = cmake_arguments((), "", os.environ.get("CMAKE_ARGS", ""), self.build.flags)
        return fingerprint(project.digest, self.build.backend, flags, LEAN, version, place)

    def is_sound(self) -> bool:
        """Return whether the environment is complete and its Python still exists."""
        config = self.folder / "pyvenv.cfg"
        stamp = self.read_stamp()
        whole = stamp.get("folder") in (None, str(self.folder)) and not stamp.get("unfinished")
        if not (whole and self.version and config.exists()):
            return False
        same = f"= {self.version.rpartition('.')[0]}." in config.read_text("utf-8")
        return same and capture([*self.pip, "--version"]) is not None

    def is_read_only(self) -> bool:
        """Return whether there is a program that cannot be updated."""
        return self.program.exists() and not os.access(self.folder, os.W_OK)

    def create(self, base: str, runner: Runner) -> None:
        """Make the environment anew."""
        inside = [path for path in self.folder.iterdir() if path not in (self.lock, self.stamp)]
        if inside and not (self.folder / "pyvenv.cfg").exists() and not self.stamp.exists():
            raise BootstrapError(f"{self.folder} is no environment: choose another --venv DIR.")
        need_space(self.folder, ENVIRONMENT_SPACE, "The environment", "use another --venv DIR")
        say(f"Making a virtual environment in {self.folder}")
        self.write_stamp(unfinished=True)
        for path in inside:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        runner.run("Making the environment", [base, "-m", "venv", str(self.folder)])
        # Looking for a newer pip takes seconds; without one, Python's own pip is good enough.
        runner.follow([*self.pip, "install", "--retries=0", "--upgrade", "pip"])
        self.version = python_version(self.python)


def choose_python(path: str, runner: Runner) -> str:
    """Return the Python that makes the environment, after checking that it can."""
    version = python_version(path)
    if not version:
        raise BootstrapError(f"{path} is no Python 3.11 or newer: choose one with --python PATH.")
    if capture([path, "-I", "-c", "import ensurepip, venv"]) is None:
        package = f"python{version.rpartition('.')[0]}-venv"
        of_debian = Path(shutil.which(path) or path).resolve().parent == Path("/usr/bin")
        if not of_debian or not apt_install([package], runner):
            remedy = f"`sudo apt-get install {package}`, or another Python by --python PATH"
            raise BootstrapError(f"{path} cannot make virtual environments: {remedy}.")
    return path


def bring_tools(build: Build, runner: Runner) -> None:
    """Install the tools that compile llama.cpp, or raise an error that says how to get them."""
    wishes = os.environ.get("CMAKE_ARGS", "")
    lacking = missing(build.backend, wishes)
    packages = [name for need in lacking for name in need.packages]
    if packages and apt_install(packages, runner):
        lacking = missing(build.backend, wishes)
    if lacking:
        what, remedy = lacking[0].what, lacking[0].remedy
        purpose = "" if build.backend == "cpu" else f" for {build.backend}"
        raise BootstrapError(f"Compiling llama.cpp{purpose} needs {what}: {remedy}.")


def obtain_wheel(
    llama: str, build: Build, pip: Sequence[str], runner: Runner, anew: bool = False
) -> Path:
    """Return the wheel of llama-cpp-python for this machine, compiled now or earlier.

    Args:
        llama: The requirement, with its version.
        build: The device to compile for.
        pip: The words that call it.
        runner: Its log is in the folder that keeps the wheels.
        anew: Compile it even where it is kept.
    """
    compiler = find_compiler()
    wishes = os.environ.get("CMAKE_ARGS", "")
    gcc = compiler[1] if compiler else ()
    arguments = cmake_arguments(gcc, platform.machine(), wishes, build.flags)
    system = (sysconfig.get_platform(), platform.libc_ver(), cpu_features())
    cache = runner.log.parent
    shelf = cache / f"{llama.replace('==', '-')}-{fingerprint(arguments, LEAN, compiler, system)}"
    ready = sorted(shelf.glob("llama_cpp_python-*.whl"))
    if ready and not anew:
        say(f"Using the llama-cpp-python that was compiled earlier: {shelf}")
        return ready[0]
    need_space(cache, build.space, "Compiling llama.cpp", "set PACELINE_WHEEL_CACHE elsewhere")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(cores or 1)
    guess = duration(build.core_seconds / (cores or 1) + 30)
    devices = "this machine" if build.backend == "cpu" else f"this machine and {build.backend}"
    say(f"Compiling {llama} for {devices}: about {guess} with {jobs} jobs (log: {runner.log})")
    started = time.monotonic()
    with locked(cache / "lock"), workshop(cache) as scratch:
        lean = scratch / "lean.cmake"
        lean.write_text(LEAN, "utf-8")
        include = f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={shlex.quote(lean.as_posix())}"
        variables = {"CMAKE_ARGS": f"{include} {arguments}", "CMAKE_BUILD_PARALLEL_LEVEL": jobs}
        if not WINDOWS:  # where paths would grow too long
            variables["TMPDIR"] = str(scratch)
        # pip's own cache could return a wheel that was built with other CMAKE_ARGS.
        options = ["--no-cache-dir", "--no-binary=llama-cpp-python", "--no-deps", "--verbose"]
        # The sources go to the shelf too: the kernels are compiled with their headers.
        fetch = [*pip, "download", *options, f"--dest={scratch}/shelf", llama]
        runner.run("Fetching llama-cpp-python", fetch, **variables)
        sdist = next(Path(scratch, "shelf").glob(SDIST))
        unpack = [pip[0], "-I", "-m", "tarfile", "--extract", str(sdist), f"{scratch}/src"]
        runner.run("Unpacking llama-cpp-python", unpack)
        (sources,) = Path(scratch, "src").iterdir()
        place = [f"--config-settings=build-dir={scratch}/obj", f"--wheel-dir={scratch}/shelf"]
        command = [*pip, "wheel", *options, *place, str(sources)]
        runner.run("Compiling llama-cpp-python", command, **variables)
        shutil.rmtree(shelf, ignore_errors=True)
        Path(scratch, "shelf").replace(shelf)
    say(f"Compiled in {duration(time.monotonic() - started)}, kept in {shelf}")
    return next(shelf.glob("llama_cpp_python-*.whl"))


@contextmanager
def workshop(cache: Path) -> Iterator[Path]:
    """Yield an empty folder below the cache, whose lock the caller holds.

    It has the same path each time, since ccache and sccache, which ggml's build takes where one is
    installed, know again only what is compiled at the same place.
    """
    folder = cache / "build"
    for leftover in (folder, *cache.glob("tmp*")):
        shutil.rmtree(leftover, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def install(options: argparse.Namespace, project: Project, environment: Environment) -> None:
    """Install what the stamp will then record; the kernels are compiled afterwards."""
    name = f"install-{fingerprint(str(environment.folder))}.log"
    runner = Runner(wheel_cache() / name)
    bring_tools(environment.build, runner)  # before anything is changed
    if options.anew or not environment.is_sound():
        base = options.python or getattr(sys, "_base_executable", sys.executable)
        environment.create(choose_python(base, runner), runner)
    bring_qt_libraries(runner)
    build, pip = environment.build, environment.pip
    wheel = obtain_wheel(project.llama, build, pip, runner, options.rebuild)
    before = environment.read_stamp()
    extras = sorted({*before.get("extras", []), *options.extras})
    extra = [item for name in extras for item in project.extras.get(name, [])]
    environment.write_stamp(unfinished=True)
    try:
        pip = [*pip, "install"]
        if before.get("wheel") != str(wheel):
            bare = ["--no-deps", "--force-reinstall", str(wheel)]
            runner.run("Installing llama-cpp-python", [*pip, *bare])
        say("Installing the other packages")
        is_dev = "dev" in extras
        # The checks compile what they import, a quarter of it.
        later = ["--no-compile"] if is_dev else []
        source = ["--only-binary=llama-cpp-python", f"--find-links={wheel.parent}"]
        needed = [*project.dependencies, *extra]
        runner.run("Installing the packages", [*pip, *later, *source, *needed])
        # Its build tools are already installed with the development packages.
        inside = ["--no-build-isolation"] if is_dev else []
        own = ["--no-deps", *inside, "--editable", str(ROOT)]
        runner.run("Installing Paceline", [*pip, *own])
        load = [environment.python, "-I", "-c", "import llama_cpp"]
        runner.run("Loading llama.cpp (--rebuild compiles it again)", load)
    except BootstrapError:
        environment.write_stamp()
        raise
    if capture([environment.python, "-I", "-c", "import PySide6.QtWidgets"]) is None:
        say("Qt does not load here: the command line will work, the window will not.")
    environment.write_stamp(key=environment.key(project), extras=extras, wheel=str(wheel))


def install_or_do_without(
    options: argparse.Namespace, project: Project, environment: Environment
) -> None:
    """Install; if `auto` chose a GPU and its build fails, install for the processor."""
    build = environment.build
    try:
        install(options, project, environment)
    except BootstrapError as error:
        cpu = asked("cpu", "", say)
        if not build.is_auto or build.backend == cpu.backend:
            raise
        say(f"Going on with the processor alone, without {build.backend}: {error}")
        environment.build = cpu._replace(is_auto=True)
        install(options, project, environment)


def bring_kernels(environment: Environment, digest: str) -> None:
    """Compile Paceline's native code, or say what replaces it."""
    cache, stamp = wheel_cache(), environment.read_stamp()
    shelf = Path(stamp["wheel"]).parent
    try:
        with locked(environment.lock), locked(cache / "lock"):
            sdists = list(shelf.glob(SDIST))
            sources = ["--sdist", str(sdists[0])] if sdists else []
            runner = Runner(cache / f"kernels-{fingerprint(str(environment.folder))}.log")
            say(f"Preparing Paceline's kernels for this processor (log: {runner.log})")
            script = str(Path(__file__).with_name("build_kernels.py"))
            place = ["--into", str(environment.folder / "share" / "paceline" / "kernels")]
            builds = {
                "sampling in Python, which is slower": ["rows", *place],
                "llama.cpp's kernels": ["kernels", *place, "--shelf", str(shelf), *sources],
            }
            for instead, words in builds.items():
                command = [environment.python, "-I", script, *words]
                with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as scratch:
                    code, lines = runner.follow(command, TMPDIR=scratch)
                if code:
                    say(f"Going on with {instead}: {lines[-1] if lines else runner.log}")
            for sdist in sdists:  # the headers are kept
                sdist.unlink()
            environment.write_stamp(**{**stamp, "kernels": digest})
    except (BootstrapError, OSError) as error:  # the next start tries again
        say(f"Going on without Paceline's kernels: {in_words(error)}")


def bring_starter(environment: Environment) -> None:
    """Put the first model into the user's models folder, once for each home.

    A user who deletes it does not get it again. If it cannot be fetched, a start an hour later
    tries again. No failure here keeps the program from starting.
    """
    shelf, now = wheel_cache() / "starter", time.time()
    marks = shelf / "homes.json"  # by home: True, or when it was tried
    names = ("PACELINE_HOME", "XDG_DATA_HOME", "HOME", "LOCALAPPDATA")
    home = fingerprint([os.environ.get(name, "") for name in names])
    try:
        known = read_json(marks)
        tried = known.get(home)
        if tried is True or (isinstance(tried, (int, float)) and 0 <= now - tried < STARTER_AGAIN):
            return
        with locked(shelf / "lock"):
            words = ["-I", str(Path(__file__).with_name("bring_starter.py")), "--shelf", str(shelf)]
            code = subprocess.run([environment.python, *words], stdout=DEVNULL, check=False)
            known[home] = now if code.returncode else True
            write_json(marks, known)
    except (BootstrapError, OSError) as error:
        say(f"Going on without the first model: {in_words(error)}")


def read_json(file: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one if there is no file."""
    try:
        return dict(json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def write_json(file: Path, content: "dict[str, Any]") -> None:
    """Replace a file by an object, in one step."""
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps(content), "utf-8")
    draft.replace(file)


def wheel_cache() -> Path:
    """Return the folder for wheels and logs."""
    homes = {"darwin": "~/Library/Caches", "win32": os.environ.get("LOCALAPPDATA", "~")}
    home = homes.get(sys.platform) or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    default = Path(home, "paceline", "wheels")
    return Path(os.environ.get("PACELINE_WHEEL_CACHE") or default).expanduser().absolute()


def expected(arguments: Sequence[str]) -> str:
    """Return a line with the expected duration of the checks with these pytest arguments."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = min(len(affinity(0)) if affinity else os.cpu_count() or 1, MOST_CORES)
    kind = "--long" if "--long" in arguments else "default"
    minutes = max(1, round(CHECK_MINUTES[kind] / cores))
    words = {"default": "the usual tests (all of them: test --long)", "--long": "all tests"}
    some = "" if set(arguments) <= {"--long"} else "; less with a part of the tests"
    quiet = f"{cores} quiet core{'s' if cores > 1 else ''}{some}"
    return f"All checks and {words[kind]} take about {minutes} min on {quiet}."


def passes_alone(
    arguments: Sequence[str], start: "Callable[[str, int | None], subprocess.Popen[bytes]]"
) -> bool:
    """Return whether the few tests that failed pass when they run alone.

    Real processes, threads and clocks are tested, so a machine that stalls for seconds fails a
    test now and then. Such tests are named, and a part of the tests is never run a second time.
    """
    names = sorted(read_json(ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"))
    if not set(arguments) <= {"--long"} or not 0 < len(names) <= MOST_ALONE:
        return False
    say(f"--- {ALONE}")
    if start(ALONE, None).wait():
        return False
    say(
        "--- passed alone, so these depend on the machine's load or on the tests before them: "
        + ", ".join(names)
    )
    return True


def committed_tree(root: Path) -> str:
    """Return git's hash of a checkout's files, or empty if some are not committed."""
    changes = capture(["git", "-C", str(root), "status", "--porcelain"])
    tree = capture(["git", "-C", str(root), "rev-parse", "HEAD^{tree}"]) if changes == "" else None
    return (tree or "").strip()


def run_checks(environment: Environment, arguments: Sequence[str]) -> int:
    """Run every check, even after failures; the tests come last, with a count.

    Where all have passed, the stamp says for which files: a release is made of no others.
    """
    say(expected(arguments))
    tree = committed_tree(ROOT)
    path = os.pathsep.join((str(environment.scripts), os.environ.get("PATH", os.defpath)))
    variables = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "PATH": path}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # see COLLECT

    def start(check: str, output: int | None) -> "subprocess.Popen[bytes]":
        tool, *words = check.split()
        words += arguments if check in (PYTEST, ALONE) else ()
        command = [str(environment.scripts / tool), *words]
        errors = STDOUT if output else None
        return subprocess.Popen(command, cwd=ROOT, env=variables, stdout=output, stderr=errors)

    failed = []
    # All at once: mypy alone takes most of their time, on one core.
    running = [(check, start(check, PIPE)) for check in CHECKS]
    for check, process in running:
        output = process.communicate()[0]
        say(f"--- {check}")
        if process.returncode or check != COLLECT:  # it counts the tests of each file
            print(output.decode(errors="replace"), end="", flush=True)
        if process.returncode:
            failed.append(check)
    say(f"--- {PYTEST}")
    code = start(PYTEST, None).wait()
    if code > 1 or (code == 1 and not passes_alone(arguments, start)):
        failed.append(PYTEST)
    if not failed and set(arguments) <= {"--long"} and tree and tree == committed_tree(ROOT):
        environment.write_stamp(**{**environment.read_stamp(), "tested": tree})
    say(f"--- failed: {', '.join(failed)}" if failed else "--- all checks passed")
    return 1 if failed else 0


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.epilog = "For example: %(prog)s run chat --prompt 'How do I open a file?'"
    parser.add_argument("--python", metavar="PATH", help="make the environment with this Python")
    parser.add_argument("--venv", metavar="DIR", type=Path, default=ROOT / ".venv")
    parser.add_argument("--rebuild", action="store_true", help="make and compile everything anew")
    starter = "do not fetch the first model (98 MB), as with the variable PACELINE_STARTER=0"
    parser.add_argument("--no-starter", action="store_true", help=starter)
    backend = "compile llama.cpp for this kind of device; without it, for the one of the last time"
    parser.add_argument("--backend", choices=("auto", *NAMES), help=backend + ", at first auto")
    parser.add_argument("verb", choices=("run", "test"))
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, install what is missing, and do what was asked."""
    options = read_arguments(arguments)
    options.extras = {"dev"} if options.verb == "test" else set()
    environment = Environment(options.venv.absolute())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    try:
        project = Project.read(ROOT)
        stamp = environment.read_stamp()
        build = Build.read(stamp.get("build"))
        # The choice of `auto` is kept once it is installed, so devices are not examined again.
        if options.backend or not build or (build.is_auto and "key" not in stamp):
            wishes = os.environ.get("CMAKE_ARGS", "")
            environment.build = asked(options.backend or "auto", wishes, say)
        python = python_version(options.python) if options.python else environment.version
        options.anew = options.rebuild or python != environment.version
        whole = stamp.get("key") == environment.key(project) and environment.program.exists()
        if options.anew or not whole or not options.extras <= set(stamp.get("extras", ())):
            if environment.is_read_only() and not options.anew:
                say(f"{environment.folder} cannot be written to: starting what is installed there.")
            else:
                with locked(environment.lock):
                    install_or_do_without(options, project, environment)
        kernels = kernels_digest(ROOT)
        if environment.read_stamp().get("kernels") != kernels:
            bring_kernels(environment, kernels)
            say(f"Ready after {duration(time.monotonic() - started)}")
        wanted = not options.no_starter and os.environ.get("PACELINE_STARTER", "1") != "0"
        if options.verb == "run" and wanted:
            bring_starter(environment)
        if options.verb == "test":
            return run_checks(environment, options.arguments)
        command = [str(environment.program), *options.arguments]
        if not WINDOWS:
            # Until the program handles Ctrl+C itself, Python would print a traceback.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            os.execv(command[0], command)
        return subprocess.run(command, check=False).returncode
    except (BootstrapError, OSError) as error:
        for line in getattr(error, "lines", ()):
            say("  | " + line)
        say(in_words(error))
    except KeyboardInterrupt:
        say("Interrupted; the next start goes on from here.")
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())

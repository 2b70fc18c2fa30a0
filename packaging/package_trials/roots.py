"""Roots of a clean Debian: no compiler, no Python, no Qt; and programs that run in them.

A program sees the root alone, in a namespace of mounts of its own, so that nothing stays mounted.
Without a network it has its own loopback.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from package_trials.report import CannotTryError, TrialError

SUITES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
"""Suites whose roots are made if missing; debootstrap has their keys."""
UBUNTU = {"jammy": "Ubuntu 22.04", "noble": "Ubuntu 24.04"}
"""Suites that are tried if their roots exist; the first has the oldest C library that works."""
USER, USER_NAME = 4321, "tester"
MIRROR = "http://deb.debian.org/debian"
_NOT_CLEAN = ("python3", "cc", "gcc", "g++", "c++", "clang", "pip")


class Root:
    """A copy of a root, and the folder that it shares with this system under the same path.

    Attributes:
        path: Its path.
        shared: The folder; programs of either system find it under this path.
    """

    def __init__(self, clean: Path, path: Path, shared: Path) -> None:
        """Copy the root, and create an ordinary user in it."""
        self.path, self.shared = path, shared
        shared.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", str(clean), str(path)], check=True)
        for folder in ("proc", "sys", "dev", "tmp", "run", f"home/{USER_NAME}"):
            (path / folder).mkdir(parents=True, exist_ok=True)
        (path / "tmp").chmod(0o1777)
        (path / shared.relative_to("/")).mkdir(parents=True, exist_ok=True)
        with (path / "etc" / "passwd").open("a") as file:
            file.write(f"{USER_NAME}:x:{USER}:{USER}::/home/{USER_NAME}:/bin/sh\n")
        os.chown(path / "home" / USER_NAME, USER, USER)
        shutil.copy("/etc/resolv.conf", path / "etc" / "resolv.conf")

    @property
    def home(self) -> Path:
        """Return the ordinary user's home, as this system sees it."""
        return self.path / "home" / USER_NAME

    def words(self, *, network: bool = False, as_user: bool = True) -> tuple[str, ...]:
        """Return the command line that runs a command in it by exec."""
        who = f"--userspec={USER}:{USER}" if as_user else "--userspec=0:0"
        enter = shlex.join([_tool("chroot"), who, str(self.path)])
        return self._apart(f'exec {enter} "$@"', network=network)

    def without_network(self, *command: str) -> tuple[str, ...]:
        """Return the command line that runs a command of this system beside the root's programs."""
        return (*self._apart('exec "$@"', network=False), *command)

    def run(self, *command: str, network: bool = False, as_user: bool = True) -> str:
        """Run a command in it to its end; returns what it printed.

        Raises:
            TrialError: It failed.
        """
        words = (*self.words(network=network, as_user=as_user), *command)
        env = {"PATH": _PATH, "HOME": f"/home/{USER_NAME}" if as_user else "/root",
               "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8"}  # fmt: skip
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise TrialError(f"{command[0]} failed: {said[-1] if said else done.returncode}")
        return done.stdout

    def unclean(self) -> list[str]:
        """Return what it has that a clean root has not."""
        folders = [self.path / folder for folder in ("usr/bin", "usr/local/bin", "bin")]
        programs = [name for name in _NOT_CLEAN if any((f / name).exists() for f in folders)]
        return programs + sorted(path.name for path in self.path.glob("usr/lib/*/libQt*"))

    def _apart(self, script: str, *, network: bool) -> tuple[str, ...]:
        """Return the command line that runs a shell script in its own namespaces."""
        root, shared, screens = self.path, self.shared, "/tmp/.X11-unix"
        steps = [
            f"mount -t proc proc {shlex.quote(f'{root}/proc')}",
            f"mount --rbind /dev {shlex.quote(f'{root}/dev')}",
            f"mount --bind {shlex.quote(str(shared))} {shlex.quote(f'{root}{shared}')}",
            f"mkdir -p {screens} {shlex.quote(f'{root}{screens}')}",
            f"mount --bind {screens} {shlex.quote(f'{root}{screens}')}",
        ]
        if not network:
            steps.insert(0, f"{_tool('ip')} link set lo up")
        words = [_tool("unshare"), "--mount", *([] if network else ["--net"])]
        return (*words, _tool("sh"), "-c", " && ".join([*steps, script]), "sh")


def _tool(name: str) -> str:
    """Return a tool's path, since the PATH of an ordinary user has not all of them."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
    return shutil.which(name, path=path) or name


_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def clean_root(suite: str, roots: Path) -> Path:
    """Return an unmodified root, made by debootstrap if it is missing.

    Raises:
        CannotTryError: It cannot be made here.
    """
    path = roots / suite
    if (path / "usr" / "bin" / "apt-get").exists():
        return path
    if shutil.which("debootstrap") is None:
        raise CannotTryError(f"Install debootstrap, or name a folder with {suite} by --roots.")
    roots.mkdir(parents=True, exist_ok=True)
    command = ["debootstrap", "--variant=minbase", suite, str(path), MIRROR]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(path, ignore_errors=True)
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CannotTryError(f"debootstrap failed: {said[-1] if said else done.returncode}")
    return path


def check_rights() -> None:
    """Check that programs can be run in roots.

    Raises:
        CannotTryError: They cannot.
    """
    if os.geteuid() != 0:
        raise CannotTryError("Run it as root: it enters roots, mounts folders and changes users.")
    if missing := [name for name in ("unshare", "chroot", "mount", "ip") if not shutil.which(name)]:
        raise CannotTryError(f"Install what has {', '.join(missing)} (util-linux, iproute2).")

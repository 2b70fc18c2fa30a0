"""A lock on an open file, which the system takes back when its holder dies.

Two programs, or two windows, must not write the same partial file. No lock file is needed for that,
so none can be left behind by a crash.
"""

from __future__ import annotations

import errno
import io
import sys

_TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    _FAR = 1 << 40
    """A byte that no model reaches: on Windows nobody else could read a locked one."""

    def try_lock(file: io.FileIO) -> bool:
        """Lock a file for as long as it is open here; false: somebody else has it."""
        position = file.tell()
        file.seek(_FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            file.seek(position)
        return True

else:
    import fcntl

    def try_lock(file: io.FileIO) -> bool:
        """Lock a file for as long as it is open here; false: somebody else has it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some network disks have no locks at all; there the user has to take care.
            return error.errno not in _TAKEN
        return True

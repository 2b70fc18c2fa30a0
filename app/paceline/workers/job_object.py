"""Windows' job object, by which a child ends with this process."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
    _KILL_ON_JOB_CLOSE = 0x2000
    _SET_QUOTA_AND_TERMINATE = 0x0101

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
            ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_ulonglong * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )


class JobObject:
    """Ends what is in it when it is closed, or when the process that holds it ends."""

    def __init__(self, handle: int = 0) -> None:
        self._handle = handle

    def close(self) -> None:
        """Close the job's handle; Windows then ends what is in it."""
        if sys.platform == "win32" and self._handle:
            ctypes.windll.kernel32.CloseHandle(wintypes.HANDLE(self._handle))
            self._handle = 0


def end_with_this_process(pid: int) -> JobObject:
    """Put a child into a Windows job object that ends it when this process ends in any way.

    Where Windows refuses, only this safety net is missing. On other systems the child looks after
    this (`child`), and nothing is done here.
    """
    if sys.platform == "win32":
        return _make_job(pid)
    return JobObject()


if sys.platform == "win32":

    def _make_job(pid: int) -> JobObject:
        kernel = ctypes.windll.kernel32
        kernel.CreateJobObjectW.restype = wintypes.HANDLE
        kernel.OpenProcess.restype = wintypes.HANDLE
        job = kernel.CreateJobObjectW(None, None)
        if not job:
            return JobObject()
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
        kernel.SetInformationJobObject(
            wintypes.HANDLE(job), _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
        )
        child = kernel.OpenProcess(_SET_QUOTA_AND_TERMINATE, 0, pid)
        if child:
            kernel.AssignProcessToJobObject(wintypes.HANDLE(job), wintypes.HANDLE(child))
            kernel.CloseHandle(wintypes.HANDLE(child))
        return JobObject(job)

"""Faults of the window and its threads."""

from __future__ import annotations

from planted.fault import Fault

FAULTS = (
    Fault(
        "a theme has no contrast",
        (('muted="#5D6A72"', 'muted="#C5CACD"'),),
        ("tests/gui/test_contrast.py",),
    ),
    Fault(
        "the event loop is blocked",
        (
            (
                "        if not self._is_closed:\n            listener(event)\n",
                "        if not self._is_closed:\n            from PySide6.QtCore import QThread\n"
                "            QThread.msleep(900 if type(event).__name__ == 'PairLoaded' else 0)\n"
                "            listener(event)\n",
            ),
        ),
        ("tests/gui/test_liveness.py::test_the_window_stays_live_while_the_engine_works[thread]",),
    ),
    Fault(
        "a thread is leaked",
        (
            (
                "        self._broker.close()\n        if not self._thread.ident:\n",
                "        self._broker.close()\n"
                "        threading.Thread(target=time.sleep, args=(9,), name='left').start()\n"
                "        if not self._thread.ident:\n",
            ),
        ),
        ("tests/hosting/test_threaded.py",),
    ),
)

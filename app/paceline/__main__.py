"""The program's entry point: the window without arguments, otherwise the command line.

Modules are imported only when they are needed: commands load no Qt, and ``--version`` and
``--help`` load no native library either.
"""

# Not imported: `__future__` would be read from its file before `main` can answer to Ctrl+C;
# so annotations are strings.
import os
import sys

TYPE_CHECKING = False  # imports run before `main`, which answers to Ctrl+C
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.bench.runs import Report
    from paceline.errors import UserError


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run the program; return its exit code."""
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        if given[:1] == ["--child"]:  # a child process of this program: see `workers/start`
            from paceline.workers.child import run

            return run(given[1:])
        import signal

        if hasattr(signal, "pthread_sigmask"):  # the bootstrap blocks it while Python starts
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return _main(given)
    except BaseException as error:  # Ctrl+C during an import may raise another error
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        return 130


def _main(given: list[str]) -> int:
    for name in ("stdout", "stderr"):  # None in a program without a console
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    from paceline.cli.main import run

    return run(given, _open_window, _smoke_test, _draw_chart)


def _open_window(files: "Sequence[Path]") -> int:
    import gc

    gc.disable()  # imports leave no garbage, and collecting takes a tenth of the time
    try:
        from paceline.gui.beginning import begin

        begun = begin(sys.argv[:1], files)
        if begun is None:
            return 0
        from paceline.gui.app import run
    except ImportError as error:
        raise _no_window(error) from error
    finally:
        gc.enable()
    return run(begun, files)


def _smoke_test(out: "Path") -> int:
    try:
        from paceline.gui.smoke import run_smoke_test
    except ImportError as error:
        raise _no_window(error) from error
    return run_smoke_test(out)


def _draw_chart(report: "Report", path: "Path") -> int:
    try:
        from paceline.gui.bench.chart import draw_chart
    except ImportError as error:
        raise _no_window(error) from error
    return draw_chart(report, path)


def _no_window(error: ImportError) -> "UserError":
    """Return advice about a missing library of Qt, or of the system."""
    from paceline.errors import UserError
    from paceline.installation import remedies

    hint = remedies.window_again(error)
    return UserError("no-window", f"The window cannot be opened ({error}).", hint)


if __name__ == "__main__":
    sys.exit(main())

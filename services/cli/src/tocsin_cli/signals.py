"""End on a signal without being interrupted again while cleaning up."""

import asyncio
import signal

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def cancel_on_signal() -> None:
    """Cancel the current task on the first SIGINT or SIGTERM; later ones change nothing."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in _SIGNALS:
            loop.add_signal_handler(number, _already_stopping)
        if task is not None:
            task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)


def _already_stopping() -> None:
    pass

"""Runs the steps of a start as soon as what they need is done, in parallel.

Each finished step is reported in a line with the seconds since the start and the
seconds that it took. The first failure ends the run: steps that have not begun
are left out, and `abandon` is called to end the work of the others.
"""

import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Step:
    name: str
    work: Callable[[], None]
    after: tuple[str, ...] = ()


class Progress:
    """Tells what happened and when, in seconds since the beginning."""

    def __init__(self, quiet: bool = False):
        self.began = time.monotonic()
        self.quiet = quiet

    def seconds(self) -> float:
        return time.monotonic() - self.began

    def say(self, text: str) -> None:
        if not self.quiet:
            print(f"{self.seconds():6.1f} s  {text}", file=sys.stderr, flush=True)


def run_steps(steps: list[Step], progress: Progress, abandon: Callable[[], object]) -> None:
    """Runs all steps; raises the first failure."""
    known = {step.name for step in steps}
    for step in steps:
        missing = set(step.after) - known
        assert not missing, f"{step.name} waits for {missing}, which no step does"

    waiting = list(steps)
    done: set[str] = set()
    running: dict[Future, Step] = {}
    with ThreadPoolExecutor(max_workers=len(steps)) as pool:
        try:
            while waiting or running:
                for step in [step for step in waiting if done.issuperset(step.after)]:
                    waiting.remove(step)
                    running[pool.submit(_timed, step, progress)] = step
                assert running, "the steps wait for each other"
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    done.add(running.pop(future).name)
                    future.result()
        except BaseException:
            abandon()
            raise


def _timed(step: Step, progress: Progress) -> None:
    began = time.monotonic()
    step.work()
    progress.say(f"{step.name} ({time.monotonic() - began:.1f} s)")

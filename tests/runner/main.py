"""Runs the stages of tests/run and sums up what their runners counted."""

import argparse
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "deploy")]

import counts  # noqa: E402
import progress  # noqa: E402
import stages  # noqa: E402


def choose(options: argparse.Namespace, parser: argparse.ArgumentParser) -> list[stages.Stage]:
    wanted = ["release"] if options.fast else options.stages
    known = [stage.name for stage in stages.STAGES]
    for name in wanted:
        if name not in known:
            parser.error(f"no stage {name!r}; there are: {' '.join(known)}")
    return [stage for stage in stages.STAGES if not wanted or stage.name in wanted]


def parse() -> list[stages.Stage]:
    parser = argparse.ArgumentParser(prog="tests/run")
    parser.add_argument("--fast", action="store_true", help="the unit tests of the release build")
    parser.add_argument("--list", action="store_true", help="what stages there are")
    parser.add_argument("stages", nargs="*", metavar="STAGE")
    options = parser.parse_args()
    if options.list:
        for stage in stages.STAGES:
            print(f"{stage.name:10} {stage.what}")
        sys.exit(0)
    return choose(options, parser)


def run_all(chosen: list[stages.Stage], runner: stages.Runner) -> counts.Counts:
    table, total, began = [], counts.Counts(), time.monotonic()
    for stage in chosen:
        started = time.monotonic()
        runner.screen.say(runner.screen.paint(f"{stage.name}: {stage.what}", "bold"))
        found = stage.work(runner)
        total += found
        table.append((stage.name, str(found), time.monotonic() - started))
        runner.screen.say(f"    {found}")
    runner.screen.say()
    for name, found, seconds in table:
        runner.screen.say(f"  {name:10} {progress.clock(seconds):>8}  {found}")
    runner.screen.say(f"  {'all':10} {progress.clock(time.monotonic() - began):>8}")
    return total


def main() -> int:
    chosen = parse()
    # To end is to clean up: a lab may be running below us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    runner = stages.Runner(ROOT, progress.Screen())
    stages.clear_logs(runner)
    runner.screen.say(f"logs: {runner.logs}")
    try:
        total = run_all(chosen, runner)
    except KeyboardInterrupt:
        runner.screen.say("interrupted")
        return 130
    for name in total.names_failed:
        runner.screen.say(f"  failed: {name}")
    print(total, flush=True)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())

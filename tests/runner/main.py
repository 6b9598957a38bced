"""Runs the stages of tests/run and sums up what their runners counted."""

import argparse
import json
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
    if options.fast:
        return [stages.FAST]
    if options.soak:
        options.stages += [stage.name for stage in stages.SOAK]
    known = [stage.name for stage in stages.STAGES + stages.SOAK]
    for name in options.stages:
        if name not in known:
            parser.error(f"no stage {name!r}; there are: {' '.join(known)}")
    if not options.stages:
        return list(stages.STAGES)
    return [stage for stage in stages.STAGES + stages.SOAK if stage.name in options.stages]


def parse() -> tuple[list[stages.Stage], argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="tests/run")
    parser.add_argument("--fast", action="store_true", help="the unit tests only")
    parser.add_argument("--soak", action="store_true", help="what is too long for every change")
    parser.add_argument("--list", action="store_true", help="what stages there are")
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)  # beside the others
    parser.add_argument("--built", help=argparse.SUPPRESS)  # another process builds this preset
    parser.add_argument("stages", nargs="*", metavar="STAGE")
    options = parser.parse_args()
    if options.list:
        for title, listed in (("", stages.STAGES), ("\n--soak:\n", stages.SOAK)):
            print(title, end="")
            for stage in listed:
                print(f"{stage.name:10} {stage.what}")
        sys.exit(0)
    return choose(options, parser), options


Row = tuple[str, counts.Counts, float]


def run_stage(stage: stages.Stage, runner: stages.Runner) -> Row:
    started = time.monotonic()
    runner.screen.say(runner.screen.paint(f"{stage.name}: {stage.what}", "bold"))
    found = stage.work(runner)
    runner.screen.say(f"    {found}")
    return stage.name, found, time.monotonic() - started


class Beside:
    """Stages that wait most of the time, in a process of their own while others compile."""

    DEADLINE_S = 75 * 60

    def __init__(self, preset: str, names: list[str], runner: stages.Runner):
        self.names, self.runner = names, runner
        self.log = runner.log(f"beside-{preset}")
        self.report = runner.logs / f"beside-{preset}.json"
        command = [sys.executable, "-B", __file__, "--report", str(self.report), "--built", preset, *names]
        self.started = time.monotonic()
        self.process = progress.begin(command, self.log, ROOT)
        runner.screen.say(f"  beside the others from here on: {' '.join(names)}")

    def _where(self) -> str:
        return next((line.strip() for line in reversed(progress.tail(self.log, 1))), "")

    def end(self) -> None:
        if self.process.poll() is None:
            progress.end_group(self.process)

    def rows(self) -> list[Row]:
        screen = self.runner.screen
        title = "wait for " + ", ".join(self.names)
        progress.finish(screen, title, self.process, self._where, self.started, self.DEADLINE_S)
        # Its own words, with its failures' last lines.
        for line in progress.tail(self.log, 400)[1:]:
            screen.say(line)
        told = json.loads(self.report.read_text()) if self.report.exists() else []
        rows = [(name, counts.Counts(**found), seconds) for name, found, seconds in told]
        ended = {name for name, _, _ in rows}
        missing = [name for name in self.names if name not in ended]
        return rows + [(name, counts.failed(f"{name}: did not end"), 0.0) for name in missing]


def run_beside(chosen: list[stages.Stage], runner: stages.Runner, report: Path, preset: str) -> int:
    """What `Beside` starts: the build is there."""
    runner.is_built(preset)
    rows: list[tuple[str, dict, float]] = []
    for stage in chosen:
        name, found, seconds = run_stage(stage, runner)
        rows.append((name, vars(found), seconds))
        report.write_text(json.dumps(rows))
    return 0


def waiting_groups(chosen: list[stages.Stage]) -> dict[str, list[str]]:
    """By what has to be built for them; none if nothing would run meanwhile."""
    names = {stage.name for stage in chosen}
    groups = {
        preset: [each for each in waiting if each in names] for preset, waiting in stages.BESIDE.items()
    }
    if len(names) == sum(len(each) for each in groups.values()):
        return {}
    return {preset: each for preset, each in groups.items() if each}


def run_all(chosen: list[stages.Stage], runner: stages.Runner) -> counts.Counts:
    began = time.monotonic()
    groups = waiting_groups(chosen)
    rows: list[Row] = []
    beside: list[Beside] = []
    elsewhere: set[str] = set()
    try:
        for stage in chosen:
            # What is compiled for a stage is built before it, and others begin to wait.
            for preset in [each for each in groups if each in ("release", stage.name)]:
                names = groups.pop(preset)
                if runner.built(preset):
                    beside.append(Beside(preset, names, runner))
                    elsewhere.update(names)
                    runner.in_background = True
            if stage.name not in elsewhere:
                rows.append(run_stage(stage, runner))
        for group in beside:
            rows += group.rows()
    finally:
        for group in beside:
            group.end()
    runner.screen.say()
    for name, found, seconds in rows:
        runner.screen.say(f"  {name:10} {progress.clock(seconds):>8}  {found}")
    runner.screen.say(f"  {'all':10} {progress.clock(time.monotonic() - began):>8}")
    return sum((found for _, found, _ in rows), counts.Counts())


def main() -> int:
    chosen, options = parse()
    # To end is to clean up: a lab may be running below us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    runner = stages.Runner(ROOT, progress.Screen())
    try:
        if options.report:
            return run_beside(chosen, runner, options.report, options.built)
        stages.clear_logs(runner)
        runner.screen.say(f"logs: {runner.logs}")
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

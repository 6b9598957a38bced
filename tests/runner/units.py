"""Runs test programs of GoogleTest, each in as many shards as there are cores, several at a time.

    units.py BIN_DIR REPORTS_DIR PROGRAM...

Prints how far it is, the runners' own summaries, and in full what failed. Reports are
REPORTS_DIR/PROGRAM-SHARD.xml.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SHARD_DEADLINE_S = 40 * 60
SHARDS = os.cpu_count() or 2
SUMMARIES = ("[  PASSED  ]", "[  FAILED  ]")


def reports(directory: Path, program: str) -> list[Path]:
    return [directory / f"{program}-{shard}.xml" for shard in range(SHARDS)]


def run(program: Path, shard: int, report: Path) -> tuple[bool, str]:
    """Whether all passed, and what it said."""
    report.unlink(missing_ok=True)
    environment = {"GTEST_TOTAL_SHARDS": str(SHARDS), "GTEST_SHARD_INDEX": str(shard)}
    try:
        done = subprocess.run(
            [str(program), f"--gtest_output=xml:{report}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
            timeout=SHARD_DEADLINE_S,
        )
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace")
        return False, f"{said}\n{program.name}: not done after {SHARD_DEADLINE_S} s"
    return done.returncode == 0, done.stdout.decode(errors="replace")


def summary(said: str) -> list[str]:
    """How many passed and failed; not the names of those that failed, which come after it."""
    lines = [line for line in said.splitlines() if line.startswith(SUMMARIES)]
    return [line for line in lines if " tests." in line or " test." in line or " listed below" in line]


def main(bin_dir: Path, directory: Path, programs: list[str]) -> int:
    directory.mkdir(parents=True, exist_ok=True)
    work = [
        (program, shard, report)
        for program in programs
        for shard, report in enumerate(reports(directory, program))
    ]
    all_good = True
    with ThreadPoolExecutor(SHARDS) as pool:
        ends = pool.map(lambda one: run(bin_dir / one[0], one[1], one[2]), work)
        for number, ((program, shard, _), (good, said)) in enumerate(zip(work, ends), start=1):
            if not good:
                print(said)
            for line in summary(said):
                print(f"{program} ({shard + 1} of {SHARDS}): {line}")
            print(f"[{number}/{len(work)}]", flush=True)
            all_good = all_good and good
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))

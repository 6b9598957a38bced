"""The stages of tests/run: what each runs, with a deadline, and what it counts."""

import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import counts
import progress
import units
from counts import Counts

PYTHON = "/usr/bin/python3"
BUILD_DEADLINE_S = 60 * 60
CHECK_DEADLINE_S = 40 * 60
UNIT_TESTS_DEADLINE_S = 50 * 60
LAB_DEADLINE_S = 75 * 60
SUITES = "tests/gateway_suites"
SOAK_DEADLINE_S = 4 * 60 * 60
CONFIGURE_DEADLINE_S = 5 * 60
# A race ends the program at once, with a failure.
TSAN_ENVIRONMENT = {"TSAN_OPTIONS": "halt_on_error=1"}
FUZZ_SECONDS = "6"  # for each target: about a minute for all on two cores
FUZZ_SOAK_SECONDS = "600"
SOAK_SCHEDULES = "10000"
SOAK_RESERVATIONS = "2000"
SOAK_OVERSUBSCRIPTION = "10000"
SOAK_SHARED = "3000"
PLACEMENT_CASES = "3000"
# Of the optimised build, what is installed and what plays the clouds; unit tests run in the
# sanitized one.
TARGETS = {"release": ("programs",)}
# Of a log's end on the screen: a linker's lines have thousands of characters.
WIDEST_LINE = 240
SCHEDULES = r"^faults\.(schedules|replay)(_gateway|_reservations|_oversubscription)?$"
CLANG = (PYTHON, "-B", "tests/runner/clang.py")
# What the lab ran on, in its own words.
VERSIONS = ("OpenStack Zed: ", "OpenStack 20", "OpenStack of Nova")
# What tests/in-debian keeps.
ROOTS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "openstack-reaper"
CODE_FOLDERS = ("reaper", "config", "clients", "strategies", "tagging", "tests")


class Runner:
    """Runs commands for the stages; every one is logged in build/test-logs."""

    def __init__(self, root: Path, screen: progress.Screen):
        self.root = root
        # Others wait for answers in the meantime: compilers may have what is left.
        self.in_background = False
        self.screen = screen
        self.logs = root / "build" / "test-logs"
        self.jobs = str(os.cpu_count() or 2)
        self._ready: dict[str, bool] = {}

    def build_dir(self, preset: str) -> Path:
        return self.root / "build" / preset

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def run(
        self,
        title: str,
        name: str,
        deadline_s: float,
        *command: str,
        env: dict[str, str] | None = None,
    ) -> bool:
        words = [*progress.IN_BACKGROUND, *command] if self.in_background else list(command)
        done = progress.run(self.screen, title, words, self.log(name), deadline_s, self.root, env)
        return done.status == 0 and not done.timed_out

    def show_tail(self, name: str) -> None:
        for line in progress.tail(self.log(name)):
            self.screen.say(f"    {line[:WIDEST_LINE]}")
        self.screen.say(f"    the whole log: {self.log(name)}")

    def show_line(self, name: str, *words: str) -> None:
        """The last line of a log with one of these words: the runner's own summary."""
        for line in reversed(progress.tail(self.log(name), 400)):
            if any(word in line for word in words):
                self.screen.say(f"    {line.strip()}")
                return

    def is_built(self, preset: str) -> None:
        """Another process did that."""
        self._ready |= {f"configure {preset}": True, f"build {preset}": True}

    def configured(self, preset: str) -> bool:
        """Once for each preset."""
        key = f"configure {preset}"
        if key not in self._ready:
            self._ready[key] = self.run(
                f"configure {preset}", preset, CONFIGURE_DEADLINE_S, "cmake", "--preset", preset
            )
            if not self._ready[key]:
                self.show_tail(preset)
        return self._ready[key]

    def built(self, preset: str) -> bool:
        key = f"build {preset}"
        if key not in self._ready:
            build = ["cmake", "--build", "--preset", preset, "-j", self.jobs]
            if preset in TARGETS:
                build += ["--target", *TARGETS[preset]]
            self._ready[key] = self.configured(preset) and self.run(
                f"build {preset}", preset, BUILD_DEADLINE_S, *build
            )
            if not self._ready[key] and self._ready[f"configure {preset}"]:
                self.show_tail(preset)
        return self._ready[key]

    def check(
        self, title: str, stage: str, *command: str, deadline_s: float = CHECK_DEADLINE_S
    ) -> Counts:
        """A check that has no tests of its own counts as one."""
        if self.run(title, stage, deadline_s, *command):
            return counts.passed()
        self.show_tail(stage)
        return counts.failed(f"{stage}: {title}")

    def ctest(self, stage: str, preset: str, *choice: str) -> Counts:
        report = self.logs / f"{stage}.xml"
        report.unlink(missing_ok=True)
        good = self.run(
            "run the tests",
            f"{stage}-tests",
            UNIT_TESTS_DEADLINE_S,
            *("ctest", "--test-dir", str(self.build_dir(preset)), "-j", self.jobs),
            *("--output-on-failure", "--output-junit", str(report), *choice),
        )
        if not good:
            self.show_tail(f"{stage}-tests")
        self.show_line(f"{stage}-tests", "tests passed", "No tests were found")
        return self.consistent(stage, good, counts.from_junit(report, stage))

    @property
    def traces(self) -> Path:
        """What scenarios saw on one cloud, for the run on another to be compared with."""
        return self.logs / "traces"

    def scenarios(self, stage: str, cloud: str) -> Counts:
        options = ("--cloud", cloud, "--traces", str(self.traces))
        found = self.pytest(stage, "tests/openstack", *options)
        self.show_line(stage, *VERSIONS)
        return found

    def pytest(self, stage: str, folder: str, *options: str) -> Counts:
        report = self.logs / f"{stage}.xml"
        report.unlink(missing_ok=True)
        programs = self.build_dir("release") / "bin"
        good = self.run(
            "run the tests",
            stage,
            LAB_DEADLINE_S,
            *(PYTHON, "-B", "-m", "pytest", folder, "-v", "-ra", "-p", "no:cacheprovider"),
            *("-n", "auto", "--dist", "loadgroup", f"--junitxml={report}", *options),
            env={name.upper(): str(programs / name) for name in ("reaper", "cloudsim")},
        )
        if not good:
            self.show_tail(stage)
        self.show_line(stage, " passed", " failed", " error", " skipped", "no tests ran")
        return self.consistent(stage, good, counts.from_junit(report, stage))

    @staticmethod
    def consistent(stage: str, good: bool, found: Counts) -> Counts:
        """A runner that failed without a failed test still failed."""
        if not good and not found.failed:
            return found + counts.failed(f"{stage}: the runner failed")
        return found


@dataclass(frozen=True)
class Stage:
    name: str
    what: str
    work: Callable[[Runner], Counts]


def needs_build(preset: str, stage: str) -> Counts:
    return counts.failed(f"{stage}: the {preset} build failed")


def code_format(run: Runner) -> Counts:
    files = sorted(
        str(path.relative_to(run.root))
        for folder in CODE_FOLDERS
        for path in (run.root / folder).rglob("*")
        if path.suffix in (".cpp", ".hpp")
    )
    return run.check("clang-format", "format", "clang-format", "--dry-run", "-Werror", *files)


def schedules(run: Runner) -> Counts:
    """Thousands of faults at the speed of what is installed."""
    if not run.built("release"):
        return needs_build("release", "release")
    return run.ctest("release", "release", "-R", r"^faults\.")


def unit_tests(run: Runner, preset: str) -> Counts:
    """Whole programs: a process for each test would take twice as long."""
    log, reports = f"{preset}-tests", run.logs / f"{preset}-units"
    programs = (run.build_dir(preset) / "unit_tests.txt").read_text().split()
    script = (PYTHON, "-B", "tests/runner/units.py", str(run.build_dir(preset) / "bin"))
    good = run.run("run the unit tests", log, UNIT_TESTS_DEADLINE_S, *script, str(reports), *programs)
    if not good:
        run.show_tail(log)
    for line in progress.tail(run.log(log), 400):
        if ": [  " in line:
            run.screen.say(f"    {line}")
    found = Counts()
    for program in programs:
        for report in units.reports(reports, program):
            found += counts.from_junit(report, f"{preset}: {program}")
    return run.consistent(preset, good, found)


def sanitized(run: Runner, preset: str) -> Counts:
    if not run.built(preset):
        return needs_build(preset, preset)
    return unit_tests(run, preset) + run.ctest(preset, preset, "-R", SCHEDULES)


def asan(run: Runner) -> Counts:
    return sanitized(run, "asan")


def fast(run: Runner) -> Counts:
    return unit_tests(run, "asan") if run.built("asan") else needs_build("asan", "unit")


def clang_checks(run: Runner, stage: str, preset: str, **checks: str) -> Counts:
    """Checks of tests/runner/clang.py, by what they are called there."""
    if not run.configured(preset):
        return counts.failed(f"{stage}: cmake --preset {preset}")
    place = (str(run.build_dir(preset)), str(run.root))
    found = Counts()
    for check, title in checks.items():
        found += run.check(title, stage, *CLANG, check, *place)
    return found


SIGHT = "clang refuses a discarded result"
TIDY = "the program's, with clang-tidy"


def clang(run: Runner) -> Counts:
    """Its warnings are errors in the sanitized build, discarded results among them."""
    return clang_checks(run, "clang", "clang", sight=SIGHT)


def tidy(run: Runner) -> Counts:
    return clang_checks(run, "tidy", "clang", sight=SIGHT, tidy=TIDY)


def purity(run: Runner) -> Counts:
    if not run.configured("release"):
        return counts.failed("purity: cmake --preset release")
    size = run.check("count lines and files", "size", PYTHON, "-B", "tests/purity/size")
    run.show_line("size", "size: ")
    return size + run.ctest("purity", "release", "-R", r"^(purity|runner)\.")


def install(run: Runner) -> Counts:
    if not run.built("release"):
        return needs_build("release", "install")
    return run.ctest("install", "release", "-R", r"^deploy\.")


def fuzzers(run: Runner, stage: str, seconds: str, deadline_s: float) -> Counts:
    """Each parser of bytes from outside, for a bounded time. Crashers stay in build/fuzz/crashes."""
    if not run.built("fuzz"):
        return needs_build("fuzz", stage)
    report = run.logs / f"{stage}.xml"
    report.unlink(missing_ok=True)
    log = f"{stage}-runs"
    good = run.run(
        "run the fuzzers",
        log,
        deadline_s,
        *(PYTHON, "-B", "tests/fuzz/run", "--seconds", seconds, "--report", str(report)),
    )
    if not good:
        run.show_tail(log)
    run.show_line(log, " passed, ")
    return run.consistent(stage, good, counts.from_junit(report, stage))


def fuzz(run: Runner) -> Counts:
    return fuzzers(run, "fuzz", FUZZ_SECONDS, CHECK_DEADLINE_S)


def rabbitmq(run: Runner) -> Counts:
    """With the sanitizers: this is where threads, a C library and broken connections meet."""
    if not run.built("asan"):
        return needs_build("asan", "rabbitmq")
    programs = run.build_dir("asan") / "bin"
    commands = {
        "rabbitmq": ("run", str(programs / "rabbitmq_tests")),
        "rabbitmq-cluster": ("run", "--nodes", "3", str(programs / "rabbitmq_cluster_tests")),
    }
    found = Counts()
    for name, command in commands.items():
        report = run.logs / f"{name}.xml"
        report.unlink(missing_ok=True)
        options = (f"--gtest_output=xml:{report}",)
        good = run.run(f"run {name}", name, CHECK_DEADLINE_S, "tests/rabbitmq/broker", *command, *options)
        if not good:
            run.show_tail(name)
        for words in ("[  PASSED  ]", "[  FAILED  ]"):
            run.show_line(name, words)
        found += run.consistent(name, good, counts.from_junit(report, name))
    return found


def prometheus(run: Runner) -> Counts:
    if not run.built("asan"):
        return needs_build("asan", "prometheus")
    report = run.logs / "prometheus.xml"
    report.unlink(missing_ok=True)
    program = str(run.build_dir("asan") / "bin" / "prometheus_tests")
    command = ("tests/prometheus/server", program, f"--gtest_output=xml:{report}")
    good = run.run("run prometheus", "prometheus", CHECK_DEADLINE_S, *command)
    if not good:
        run.show_tail("prometheus")
    return run.consistent("prometheus", good, counts.from_junit(report, "prometheus"))


def tsan(run: Runner) -> Counts:
    """The threads of the broker's connections and of the journal."""
    if not run.built("tsan"):
        return needs_build("tsan", "tsan")
    programs = run.build_dir("tsan") / "bin"
    broker = ("tests/rabbitmq/broker", "run")
    journal = run_with_threads(run, "tsan-journal", str(programs / "journal_tests"))
    return journal + run_with_threads(run, "tsan-rabbitmq", *broker, str(programs / "rabbitmq_tests"))


def run_with_threads(run: Runner, name: str, *command: str) -> Counts:
    report = run.logs / f"{name}.xml"
    report.unlink(missing_ok=True)
    options = (f"--gtest_output=xml:{report}",)
    good = run.run(f"run {name}", name, CHECK_DEADLINE_S, *command, *options, env=TSAN_ENVIRONMENT)
    if not good:
        run.show_tail(name)
    return run.consistent(name, good, counts.from_junit(report, name))


def tsan_recording(run: Runner) -> Counts:
    """The recorder's thread; what it records is decided here, which is half of the program."""
    build = ("cmake", "--build", "--preset", "tsan", "-j", run.jobs, "--target", "recording_tests")
    if not (run.configured("tsan") and run.run("build it", "tsan-recording", BUILD_DEADLINE_S, *build)):
        return needs_build("tsan", "tsan-recording")
    program = str(run.build_dir("tsan") / "bin" / "recording_tests")
    return run_with_threads(run, "tsan-recording", program)


def suites(run: Runner) -> Counts:
    """What judges must be able to fail."""
    if not run.built("release"):
        return needs_build("release", "suites")
    self_test = (PYTHON, "-B", f"{SUITES}/self_test")
    return run.check("wrong proxies are noticed", "suites-self", *self_test) + run_suites(run, "suites")


def run_suites(run: Runner, name: str, *options: str, deadline_s: int = CHECK_DEADLINE_S) -> Counts:
    report = run.logs / f"{name}.xml"
    report.unlink(missing_ok=True)
    program = (PYTHON, "-B", f"{SUITES}/run", "--report", str(report), *options)
    command = ("tests/rabbitmq/broker", "run", *program) if "serving" in options else program
    reaper = {"REAPER": str(run.build_dir("release") / "bin" / "reaper")}
    good = run.run("run the suites", name, deadline_s, *command, env=reaper)
    if not good:
        run.show_tail(name)
    for line in progress.tail(run.log(name), 400):
        if "requests over TCP" in line:
            run.screen.say(f"    {line}")
    return run.consistent(name, good, counts.from_junit(report, name))


def suites_long(run: Runner) -> Counts:
    if not built_too(run, "suites-long", "cloudsim"):
        return needs_build("release", "suites-long")
    ways = [word for way in ("haproxy", "gateway", "serving") for word in ("--through", way)]
    which = ("--suite", "osc", "--suite", "nova-modules")
    return run_suites(run, "suites-long", *which, *ways, deadline_s=SOAK_DEADLINE_S)


def sim(run: Runner) -> Counts:
    if not run.built("release"):
        return needs_build("release", "sim")
    return run.scenarios("sim", "sim")


def galera(run: Runner) -> Counts:
    if not run.built("release"):
        return needs_build("release", "galera")
    return run.pytest("galera", "tests/openstack", "--cloud", "sim", "--galera")


def faults(run: Runner) -> Counts:
    if not run.built("release"):
        return needs_build("release", "faults")
    return run.pytest("faults", "tests/faults/process")


def page(run: Runner) -> Counts:
    """Screenshots are kept, for people to look at."""
    if not run.built("release"):
        return needs_build("release", "page")
    return run.pytest("page", "tests/page", "--shots", str(run.logs / "page-shots"))


def lab(run: Runner) -> Counts:
    """Compares with what the same scenarios saw on cloudsim; runs them there first if need be."""
    if not run.built("release"):
        return needs_build("release", "lab")
    return run.scenarios("lab", "lab" if (run.traces / "sim").exists() else "both")


def lab_on(debian: str) -> Callable[[Runner], Counts]:
    """The stage `lab` in a root directory of another release of Debian, with its OpenStack; it builds there."""

    def elsewhere(run: Runner) -> Counts:
        stage = f"lab-on-debian-{debian}"
        checkout = str(run.root).replace("/", "-")  # as tests/in-debian names what it builds
        report = ROOTS / f"debian-{debian}" / "built" / checkout / "test-logs" / "lab.xml"
        report.unlink(missing_ok=True)
        command = ("tests/in-debian", debian, "lab", "tests/run", "lab")
        good = run.run(f"run the lab on Debian {debian}", stage, SOAK_DEADLINE_S, *command)
        if not good:
            run.show_tail(stage)
        for words in (VERSIONS, (" passed, ",)):
            run.show_line(stage, *words)
        return run.consistent(stage, good, counts.from_junit(report, stage))

    return elsewhere


def each(run: Runner) -> Counts:
    """Unity builds hide what a source lacks by itself."""
    return sanitized(run, "each")


def clang_each(run: Runner) -> Counts:
    return clang_checks(run, "clang-each", "clang-each", sight=SIGHT, tidy=TIDY, syntax="the tests' sources")


def many_schedules(run: Runner) -> Counts:
    if not run.built("release"):
        return needs_build("release", "schedules")
    program = str(run.build_dir("release") / "bin" / "fault_schedules")
    command = (program, "--schedules", SOAK_SCHEDULES, "--seed", "1")
    title = f"{SOAK_SCHEDULES} schedules"
    found = run.check(title, "schedules", *command, deadline_s=SOAK_DEADLINE_S)
    through = (*command, "--gateway", "100")
    gateway = f"{title} through the gateway"
    found += run.check(gateway, "schedules-gateway", *through, deadline_s=SOAK_DEADLINE_S)
    reserved = (program, "--schedules", SOAK_RESERVATIONS, "--seed", "3000")
    reserved += ("--gateway", "70", "--reservations", "100")
    title = f"{SOAK_RESERVATIONS} schedules with reserved room"
    found += run.check(title, "schedules-reserved", *reserved, deadline_s=SOAK_DEADLINE_S)
    sold = (program, "--schedules", SOAK_OVERSUBSCRIPTION, "--seed", "7000")
    sold += ("--gateway", "40", "--oversubscription", "100")
    title = f"{SOAK_OVERSUBSCRIPTION} schedules in which unused vCPUs are sold"
    found += run.check(title, "schedules-sold", *sold, deadline_s=SOAK_DEADLINE_S)
    shared = (program, "--schedules", SOAK_SHARED, "--seed", "390000")
    shared += ("--gateway", "40", "--shared-journal", "100")
    title = f"{SOAK_SHARED} schedules with a shared journal"
    return found + run.check(title, "schedules-shared", *shared, deadline_s=SOAK_DEADLINE_S)


def mutants(run: Runner) -> Counts:
    report = run.logs / "mutants.xml"
    report.unlink(missing_ok=True)
    command = (PYTHON, "-B", "tests/faults/mutants/run", "--report", str(report))
    good = run.run("try the mutants", "mutants", SOAK_DEADLINE_S, *command)
    run.show_line("mutants", " caught")
    return run.consistent("mutants", good, counts.from_junit(report, "mutants"))


def fuzz_long(run: Runner) -> Counts:
    return fuzzers(run, "fuzz-long", FUZZ_SOAK_SECONDS, SOAK_DEADLINE_S)


def placement(run: Runner) -> Counts:
    """Other cases than those that are kept; the seed makes them again."""
    if not run.built("asan"):
        return needs_build("asan", "placement")
    seed, cases = secrets.randbelow(1_000_000_000), run.logs / "placement-cases.jsonl"
    ask = (PYTHON, "-B", "tests/placement/cases.py", "--count", PLACEMENT_CASES, "--seed", str(seed))
    title = f"ask Placement about {PLACEMENT_CASES} cases of seed {seed}"
    asked = run.check(title, "placement", *ask, "--out", str(cases), deadline_s=SOAK_DEADLINE_S)
    if asked.failed:
        return asked
    program = str(run.build_dir("asan") / "bin" / "core_tests")
    answer = ("/usr/bin/env", f"REAPER_PLACEMENT_CASES={cases}", program, "--gtest_filter=PlacementCases.*")
    return asked + run.check(f"answer the same (seed {seed})", "placement-tests", *answer)


def built_too(run: Runner, stage: str, *targets: str) -> bool:
    """Of the optimised build, what the other stages do without."""
    command = ("cmake", "--build", "--preset", "release", "-j", run.jobs)
    more = ("--target", *targets) if targets else ()
    return run.built("release") and run.run("build them", stage, BUILD_DEADLINE_S, *command, *more)


def optimised(run: Runner) -> Counts:
    """What compilers make of a mistake that sanitizers pass over; and ten times the random cases."""
    if not built_too(run, "optimised"):
        return needs_build("release", "optimised")
    os.environ.setdefault("RC_PARAMS", "max_success=1000")
    return unit_tests(run, "release")


def bench(run: Runner) -> Counts:
    if not built_too(run, "bench", "reaper_bench"):
        return needs_build("release", "bench")
    programs = run.build_dir("release") / "bin"
    each = (str(programs / "reaper_bench"), "--benchmark_min_time=0.01")
    compare = (PYTHON, "-B", "tests/bench/compare", "--bin", str(programs))
    ran = run.check("run each", "bench", *each, deadline_s=SOAK_DEADLINE_S)
    compared = run.check("compare with what was kept", "bench-compare", *compare)
    run.show_line("bench-compare", "figures are as good")
    return ran + compared


def queries(run: Runner) -> Counts:
    """On a lab of its own, which it takes up and down."""
    command = (PYTHON, "-B", "tests/openstack/placement_queries", "--check")
    return run.check("record them again", "queries", *command, deadline_s=SOAK_DEADLINE_S)


def package(run: Runner) -> Counts:
    """In a fresh Debian, and started by its own systemd. Makes no build, but packages one."""
    if not run.built("release"):
        return needs_build("release", "package")
    command = (PYTHON, "-B", "tests/deploy/package_test", str(run.build_dir("release")))
    return run.check("install, upgrade, start and purge it", "package", *command, deadline_s=SOAK_DEADLINE_S)


def story(run: Runner) -> Counts:
    """Packages that build too."""
    if not run.built("release"):
        return needs_build("release", "story")
    command = (PYTHON, "-B", "tests/deploy/operator_story", str(run.build_dir("release")))
    found = run.check("tell it", "story", *command, deadline_s=SOAK_DEADLINE_S)
    run.show_line("story", "first dry-run plan")
    return found


STAGES = (
    Stage("format", "the code is formatted", code_format),
    Stage("release", "optimised build, 1,360 schedules of faults", schedules),
    Stage("purity", "the core is pure, dependencies point one way, the program is no larger, the sum adds up", purity),
    Stage("install", "what an install puts where, the systemd unit, the documents' examples, the quickstart", install),
    Stage("asan", "unit tests with address and undefined behaviour sanitizers", asan),
    Stage("rabbitmq", "the AMQP client against a real RabbitMQ, sanitized", rabbitmq),
    Stage("prometheus", "the client of Prometheus against a real one, sanitized", prometheus),
    Stage("clang", "what the sanitized build is compiled with sees a discarded result", clang),
    Stage("fuzz", "fuzzers of every parser of outside bytes, for a bounded time", fuzz),
    Stage("tsan", "thread sanitizer: the AMQP client and the journal", tsan),
    Stage("suites", "suites that others wrote, through the gateway as without it", suites),
    Stage("sim", "scenarios on a simulated OpenStack", sim),
    Stage("faults", "the power goes, the disk fills up, the clock steps under a real daemon", faults),
    Stage("page", "the page of the admin API in a headless Chromium", page),
    Stage("lab", "scenarios on a real OpenStack", lab),
)

# Too long for every change: before a larger piece of work ends.
SOAK = (
    Stage("each", "every source compiled by itself, unit tests with all sanitizers", each),
    Stage("tidy", "clang-tidy on the program's sources", tidy),
    Stage("clang-each", "clang and clang-tidy on every source by itself, the tests' too", clang_each),
    Stage("optimised", "unit tests of the optimised build", optimised),
    Stage("schedules", f"{SOAK_SCHEDULES} schedules of faults, as many through the gateway and with sold vCPUs, some with reserved room", many_schedules),
    Stage("mutants", "each rule broken on purpose, and caught", mutants),
    Stage("galera", "reapers over a journal in a Galera cluster whose nodes fail", galera),
    Stage("tsan-recording", "thread sanitizer: recordings", tsan_recording),
    Stage("fuzz-long", f"every fuzzer for {FUZZ_SOAK_SECONDS} s", fuzz_long),
    Stage("placement", "room for groups as Placement's own code tells it, new cases", placement),
    Stage("suites-long", "Nova's and Placement's tests through haproxy and each gateway", suites_long),
    Stage("bench", "the benchmarks run, and are as good as when their figures were kept", bench),
    Stage("package", "the package in a fresh Debian: lintian, upgrade in use, systemd, purge", package),
    Stage("story", "an operator's way from the package to trust, each step against cloudsim's record", story),
    Stage("lab-2025.1", "the same scenarios on the OpenStack of Debian 13, built there", lab_on("13")),
    Stage("lab-2026.1", "the same scenarios on the OpenStack of Debian testing, built there", lab_on("testing")),
    Stage("queries", "what Nova asks of Placement is what was recorded", queries),
)

FAST = Stage("unit", "the unit tests", fast)

# They wait for answers most of the time, so that they run beside what compiles, as soon as
# this is built.
BESIDE = {"release": ("sim", "faults", "page", "lab", "suites"), "asan": ("rabbitmq", "prometheus")}


def clear_logs(run: Runner) -> None:
    shutil.rmtree(run.logs, ignore_errors=True)
    run.logs.mkdir(parents=True)

"""Passed, failed and skipped tests, as the runners themselves reported them (JUnit files)."""

import textwrap
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    names_failed: list[str] = field(default_factory=list)

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.names_failed + other.names_failed,
        )

    def __str__(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed"
        return f"{text}, {self.skipped} skipped" if self.skipped else text


def passed() -> Counts:
    return Counts(passed=1)


def failed(name: str) -> Counts:
    return Counts(failed=1, names_failed=[name])


def reason(case: ElementTree.Element) -> str | None:
    """Why it failed, in one line: all that is left of a run whose logs are gone. None if it did not."""
    for kind in ("failure", "error"):
        if (found := case.find(kind)) is not None:
            return textwrap.shorten(found.get("message") or "", 300, placeholder=" ...")
    return None


def from_junit(path: Path, stage: str) -> Counts:
    """A report that is missing, empty or broken is a failure: silence is not success."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        return failed(f"{stage}: no report of the runner ({error})")
    found = Counts()
    for case in cases:
        if (why := reason(case)) is not None:
            found += failed(f"{stage}: {case.get('name')}" + (f": {why}" if why else ""))
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            found += Counts(skipped=1)
        else:
            found += passed()
    if not cases:
        return failed(f"{stage}: the runner ran no test")
    return found

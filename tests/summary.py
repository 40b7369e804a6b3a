#!/usr/bin/env python3
"""Counts the tests of a report that ctest wrote: `N passed, N failed` and, if any, `, N skipped`."""
import re
import sys
import xml.etree.ElementTree as ElementTree


def outcomes(case):
    """How many tests of a test of ctest (passed, failed, were skipped)."""
    status, skipped = case.get("status"), case.find("skipped")
    if status == "disabled" or (skipped is not None and skipped.get("message", "").startswith("SKIP_")):
        return 0, 0, 1
    if "/part " not in case.get("name"):  # what could not start has failed, too
        return (1, 0, 0) if status == "run" else (0, 1, 0)
    output = case.findtext("system-out") or ""
    count = {word: int(number) for word, number in re.findall(r"^\[ +(\w+) +\] (\d+) tests?\b", output, re.MULTILINE)}
    failed = count.get("FAILED", 0) if status == "run" else max(1, count.get("FAILED", 0))
    return count.get("PASSED", 0), failed, count.get("SKIPPED", 0)


def main(report):
    passed, failed, skipped = map(sum, zip((0, 0, 0), *map(outcomes, ElementTree.parse(report).iter("testcase"))))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))


if __name__ == "__main__":
    main(sys.argv[1])

"""Stage `kernels`: time of each kernel of an update and of a decoding step, by --profile and, where permitted, by ncu; and when
the GPU waits (trace.py)."""
import csv
import re

from gpu_stages.check import last_line
from gpu_stages.trace import trace

METRICS = {"gpu__time_duration.sum": "ns", "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory, %",
           "sm__throughput.avg.pct_of_peak_sustained_elapsed": "multiprocessors, %",
           "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue slots, %",
           "sm__warps_active.avg.pct_of_peak_sustained_active": "warps, %",
           "smsp__inst_executed.sum": "instructions of warps", "launch__registers_per_thread": "registers"}
TIME = "gpu__time_duration.sum"
SHOWN = 12  # kernels in the table; the --json file has all
# For all metrics a kernel has to run several times, which takes about 0.2 s, so first ncu measures the time alone.
PASSES = (([TIME], 1500, 100), (list(METRICS), 120, 60))  # metrics, most launches, most seconds


def kernels(check, train, translate):
    for what, command in (("an update", train), ("a step", translate)):
        profile(check, what, command)
        trace(check, what, command)
        measure(check, what, command)


def profile(check, what, command):
    """The table of --profile over several updates or steps: time of each kernel by the GPU's clock."""
    code, text, seconds = check.run(check.dragoman, *command(several=True), "--profile")
    rows = re.findall(r"^([a-z_ 0-9]+?) +([\d,]+) +([\d.]+) +[\d.]+%", text, re.MULTILINE)
    for name, calls, taken in rows:
        check.found[f"{what}, {name}", "calls"] = int(calls.replace(",", ""))
        check.found[f"{what}, {name}", "seconds"] = float(taken)
    check.say(f"profile of {what}", code, text, figure=f"{len(rows)} kernels", seconds=seconds)


def measure(check, what, command):
    for metrics, launches, at_most in PASSES:
        if not measured(check, what, command, metrics, launches, at_most):
            return


def measured(check, what, command, metrics, launches, at_most):
    """Shows what ncu measures of the first launches. Returns whether it measured anything."""
    log = check.folder / "ncu.csv"
    log.unlink(missing_ok=True)
    code, text, seconds = check.run("ncu", "--clock-control", "none", "--metrics", ",".join(metrics), "--launch-count", launches,
                                    "--csv", "--log-file", log, check.dragoman, *command(several=False), at_most=at_most)
    kernels_seen = summary(log) if log.exists() else {}
    if not kernels_seen:
        why = last_line(text) if code is None or not log.exists() else last_line(log.read_text(encoding="utf-8"))
        check.skip(f"ncu of {what}", why or f"ncu measured nothing, exit code {code}")
        return False
    whole = sum(row["ns"] for row in kernels_seen.values())
    count = sum(row["launches"] for row in kernels_seen.values())
    check.rows += [{"what": f"ncu of {what}", "kernel": name, **row} for name, row in kernels_seen.items()]
    check.say(f"ncu of {what}", 0, "", figure=f"{whole / 1e6:.2f} ms in {count} kernels" +
              (", not all" if code or count >= launches else ""), seconds=seconds)
    for name, row in list(kernels_seen.items())[:SHOWN]:
        busy = "".join(f"{share} {row[share]:3.0f}  " for share in ("memory, %", "multiprocessors, %") if share in row)
        print(f"    {row['ns'] / whole:6.1%} {row['launches']:>6} x  {busy}{name[:60]}", flush=True)
    return True


def summary(log):
    """Returns {kernel: launches, total ns, and means over its launches weighted by time}, the longest first."""
    lines = log.read_text(encoding="utf-8").splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    launches = {}
    for row in csv.DictReader(lines[begin:]):
        if row.get("Metric Name") in METRICS and row.get("Metric Value"):
            launch = launches.setdefault(row["ID"], {"kernel": row["Kernel Name"]})
            launch[row["Metric Name"]] = in_ns(row) if row["Metric Name"] == TIME else number(row["Metric Value"])
    kernels_seen = {}
    for launch in launches.values():
        ns = launch.get(TIME, 0)
        row = kernels_seen.setdefault(launch["kernel"], {"launches": 0, "ns": 0})
        row["launches"] += 1
        row["ns"] += ns
        for metric, name in METRICS.items():
            if metric != TIME and metric in launch:
                row[name] = row.get(name, 0) + ns * launch[metric]
    for row in kernels_seen.values():
        for metric, name in METRICS.items():
            if metric != TIME and name in row:
                row[name] /= row["ns"] or 1
    return dict(sorted(kernels_seen.items(), key=lambda item: -item[1]["ns"]))


def number(text):
    return float(text.replace(",", ""))


def in_ns(row):
    unit = {"nsecond": 1, "ns": 1, "usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6, "second": 1e9, "s": 1e9}
    return number(row["Metric Value"]) * unit.get(row["Metric Unit"], 1)

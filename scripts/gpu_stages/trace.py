"""Traces of stage `kernels`: what a GPU does from moment to moment, where the build has tests/bench/gpu_trace.cpp and the machine
CUPTI. Unlike the sums of --profile and ncu, they show how long the GPU waits, and after which kernel."""
import collections
import glob
import os
import re
import site
from pathlib import Path

SHOWN = 5  # waits, by their sum
PLACES = ("/usr/local/cuda*/lib*", "/usr/local/cuda*/extras/CUPTI/lib*", "/usr/local/cuda*/targets/*/lib")


def trace(check, what, command):
    """Traces several updates or steps, and shows the waits between the second half of all kernels, which are loaded by then."""
    library, file = check.a.build / "tests/bench/libgpu_trace.so", check.folder / "trace.tsv"
    if not library.exists():
        check.skip(f"trace of {what}", f"{library} is missing: build gpu_trace")
        return
    file.unlink(missing_ok=True)
    folders = ":".join(cupti_folders() + [os.environ.get("LD_LIBRARY_PATH", "")])
    code, text, seconds = check.run(check.dragoman, *command(several=True), at_most=60, CUDA_INJECTION64_PATH=str(library),
                                    GPU_TRACE=str(file), LD_LIBRARY_PATH=folders)
    events = read(file) if file.exists() else []
    if code == 0 and not events:
        check.skip(f"trace of {what}", "the driver did not load the trace: CUPTI is missing, or this is no real GPU")
        return
    if code != 0:
        check.say(f"trace of {what}", code, text, seconds=seconds)
        return
    show(check, what, events, seconds)


def cupti_folders():
    packages = [f"{folder}/nvidia/*/lib" for folder in site.getsitepackages()]
    return sorted({str(Path(file).parent) for place in (*PLACES, *packages) for file in glob.glob(f"{place}/libcupti.so.13")})


def read(file):
    """[(begin, end, name)] in order, times in ns."""
    with open(file, encoding="utf-8", errors="replace") as lines:
        fields = [line.rstrip("\n").split("\t", 3) for line in lines]
    return sorted((int(begin), int(end), name) for begin, end, _, name in fields)


def waits(events):
    """[(ns, times, the kernel before, the one after)], the longest sum first, and the busy part of the whole time."""
    sums = collections.defaultdict(lambda: [0, 0])
    for (_, end, before), (begin, _, after) in zip(events, events[1:]):
        if begin > end:
            entry = sums[before, after]
            entry[0], entry[1] = entry[0] + begin - end, entry[1] + 1
    whole = events[-1][1] - events[0][0]
    idle = sum(ns for ns, _ in sums.values())
    return sorted(((ns, times, *pair) for pair, (ns, times) in sums.items()), reverse=True), 1 - idle / max(1, whole)


def show(check, what, events, seconds):
    events = events[len(events) // 2:]
    longest, busy = waits(events)
    whole = (events[-1][1] - events[0][0]) / 1e6
    check.note(f"trace of {what}", "busy, %", 100 * busy)
    check.rows += [{"what": f"trace of {what}", "ms": ns / 1e6, "times": times, "after": before, "before": after}
                   for ns, times, before, after in longest[:10 * SHOWN]]
    check.say(f"trace of {what}", 0, "", figure=f"busy in {busy:.1%} of {whole:.1f} ms, {len(events):,} kernels and copies",
              seconds=seconds)
    for ns, times, before, after in longest[:SHOWN]:
        print(f"    waits {ns / 1e6:7.2f} ms in {times:>5} x  after {short(before)}, before {short(after)}", flush=True)


def short(name):
    """The name of a kernel without its namespaces and arguments."""
    return re.sub(r"^void |dragoman::|cuda::|\(anonymous namespace\)::|\(.*", "", name)[:45]

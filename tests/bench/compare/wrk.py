"""Puts load on a server with wrk: a closed loop over several connections, or requests that arrive at a given rate."""
import json
from dataclasses import dataclass
from pathlib import Path

from process import Failed, run

SCRIPT = Path(__file__).with_name("wrk.lua")


@dataclass
class Load:
    rate: float  # requests answered in a second
    p50: float  # milliseconds from a request to its answer
    p99: float
    cpu: float  # of wrk itself, percent of a core


def load(server, lines, connections, seconds, core, rate=0, seed=1):
    """Sends the lines of a file as requests to a server, from its own core."""
    done = run(["taskset", "--cpu-list", str(core), "wrk", "--threads", "1", "--connections", str(connections),
                "--duration", f"{seconds}s", "--timeout", "60s", "--script", SCRIPT, server.url, "--", lines, server.body,
                str(seed), str(rate)])
    found = json.loads(done.log.splitlines()[-1])
    if found["errors"] or not found["requests"]:
        raise Failed(f"{server.url}: {found['requests']} requests answered, {found['errors']} errors")
    return Load(found["requests"] / found["seconds"], found["p50"], found["p99"], 100 * done.cpu / found["seconds"])

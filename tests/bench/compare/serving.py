"""Compares `dragoman serve` with CTranslate2 behind FastAPI and uvicorn, with the same weights, under load by wrk.

Servers are pinned to one core and wrk to another. First, the maximum rate of each server over several connections is measured.
Then requests arrive at random times, at a rate that both servers can handle. Finally the server is compared with `dragoman
translate` on the same text.
"""
import contextlib
import statistics
import tempfile
from pathlib import Path

import samples
import table
import wrk
from model_file import ModelFile
from samples import Measure
from servers import CTranslate2Server, Dragoman
from text import read_lines
from translators import Job

COUNT = "{:,.0f}".format
TIME = "{:,.2f}".format
LINES = Measure("lines/s", COUNT, max)


def add_options(p):
    p.add_argument("--model", required=True, help="dragoman model in float32")
    p.add_argument("--source", required=True, help="text, of which each request sends a line")
    p.add_argument("--connections", type=int, nargs="+", default=[1, 8, 64])
    p.add_argument("--seconds", type=int, default=10, help="duration of each load")
    p.add_argument("--share", type=float, default=0.6, help="the equal load, as a share of the slower server's maximum rate")
    p.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    p.add_argument("--precisions", nargs="+", default=["int8"])
    p.add_argument("--normalize", type=float, default=1, help="divide scores by length to this power")
    p.add_argument("--waits", type=float, nargs="+", default=[5, 0], metavar="MS", help="how long CTranslate2's server waits "
                   "for a batch to fill; several values are tried")
    p.add_argument("--lines", type=int, default=4000, help="lines that dragoman translate gets")
    p.add_argument("--server-core", type=int, default=0)
    p.add_argument("--wrk-core", type=int, default=1)


def programs(a):
    return Dragoman(a), CTranslate2Server(a)


def answered(load):
    return Measure(f"{load}, requests/s", COUNT, max)


def measures(load, found):
    """The results of wrk, as rows."""
    return {answered(load): found.rate, Measure(f"{load}, p50, ms", TIME, min): found.p50,
            Measure(f"{load}, p99, ms", TIME, min): found.p99, Measure(f"{load}, CPU of wrk, %", COUNT, min): found.cpu}


class Comparison:
    def __init__(self, a, servers, folder):
        self.a, self.servers, self.lines = a, servers, folder / "lines"
        lines = [line for line in read_lines(a.source) if line.strip()]
        self.lines.write_text("".join(f"{lines[i % len(lines)]}\n" for i in range(a.lines)), encoding="utf-8")

    @contextlib.contextmanager
    def warm(self, server, job, setting):
        with server.serve(job, setting):
            self.load(server, max(self.a.connections), 2)
            yield

    def load(self, server, connections, seconds, rate=0):
        return wrk.load(server, self.lines, connections, seconds, self.a.wrk_core, rate)

    def at_most(self, job):
        """Load in a closed loop: each connection sends its next request when it has its answer."""
        def once(server, setting):
            found = {}
            with self.warm(server, job, setting):
                for n in self.a.connections:
                    found |= measures(f"{n} connections", self.load(server, n, self.a.seconds))
            return found

        return samples.collect(self.servers, self.a.rounds, once)

    def both_can_bear(self, found):
        """Load at a rate, in requests a second."""
        most = answered(f"{max(self.a.connections)} connections")
        return self.a.share * min(statistics.median(s.best(most)[1]) for s in found.values())

    def at_rate(self, job, rate):
        def once(server, setting):
            with self.warm(server, job, setting):
                return measures("equal load", self.load(server, max(self.a.connections), self.a.seconds, rate))

        return samples.collect(self.servers, self.a.rounds, once)

    def beside_the_command(self, job, ours):
        """Samples of the server and of the command."""
        served, translated = samples.Samples(), samples.Samples()
        for _ in range(self.a.rounds):
            translated.add("translate", {LINES: ours.lines_per_second(job, self.lines)})
            with self.warm(ours, job, ""):
                served.add("serve", {LINES: self.load(ours, max(self.a.connections), self.a.seconds).rate})
        return served, translated


def compare(a, ours, peer):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for side in ("source", "target"):
            ModelFile(a.model).save_vocabulary(side, folder / f"{side}.spm")
        servers = [server for server in (ours, peer) if server]
        for server in servers:
            server.prepare(folder)
        comparison = Comparison(a, servers, folder)
        print(f"Rounds: {a.rounds}, each load: {a.seconds} s\n\n{table.header(CTranslate2Server.name)}", flush=True)
        for job in [Job(precision, beam, a.normalize, 0) for beam in a.beams for precision in a.precisions]:
            for found in (at_most := comparison.at_most(job), comparison.at_rate(job, comparison.both_can_bear(at_most))):
                yield str(job), found[ours], found.get(peer, samples.Samples())
            yield f"{job}, beside dragoman translate", *comparison.beside_the_command(job, ours)

"""Compares variants of a model: each is trained on the same text within the same budget, averaged, and measured.

A comparison such as table3 defines rows (a name and options of `dragoman train`) and texts, and run() does the rest. Each row
has its own folder. Running a comparison again skips the finished rows and resumes a stopped one.

    recipes/NAME DATA_DIR [FOLDER]        --help says more

The environment variable DRAGOMAN names the program, if it is neither built here nor on the PATH.
"""

import argparse
import gzip
import hashlib
import json
import lzma
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENDINGS = ("", ".xz", ".gz")


@dataclass
class Row:
    name: str
    options: list  # arguments of `dragoman train`
    default: bool  # False: runs only with --all


@dataclass
class Texts:
    train: tuple  # source and target file
    tests: dict  # {title of a column: (source, reference)}
    measures: dict = field(default_factory=dict)  # {title: function of lines (sources, references, translations)}, if not BLEU


class Stopped(Exception):
    """The user interrupted the run; the same command resumes it."""


def fail(message, hint):
    print(f"error: {message}\n  hint: {hint}", file=sys.stderr)
    sys.exit(2)


def parse_rows(text):
    """Rows from lines `NAME | OPTIONS`; a row whose name begins with + runs only with --all."""
    rows = []
    for line in filter(str.strip, text.splitlines()):
        name, options = (part.strip() for part in line.split("|"))
        rows.append(Row(name.removeprefix("+").strip(), options.split(), not name.startswith("+")))
    return rows


def find_dragoman():
    built = HERE.parent / "build/release/dragoman"
    program = os.environ.get("DRAGOMAN") or (str(built) if built.exists() else "dragoman")
    if not shutil.which(program):
        fail(f"{program} is not a program", "build dragoman, or let the environment variable DRAGOMAN name it")
    return program


def text_file(*name):
    """The path of the file, plain or compressed."""
    path = Path(*name)
    for ending in ENDINGS:
        if Path(f"{path}{ending}").exists():
            return Path(f"{path}{ending}").resolve()
    return fail(f"{path} is missing, also with .xz or .gz", "recipes/README.md says where the text comes from")


def pair(data, part):
    """The English and the German file of a part of Multi30k."""
    return tuple(text_file(data, "tok", f"{part}.lc.norm.tok.{side}") for side in ("en", "de"))


def read_lines(path):
    opened = {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\n") for line in lines]


def write_pairs(folder, name, pairs):
    """Writes the sides of pairs into two files, and returns their names."""
    if not pairs:
        fail(f"no lines of the text belong in {name}", "--help says which do, recipes/README.md where to get it")
    files = tuple(folder / f"{file_name(name)}.{side}" for side in ("en", "de"))
    for file, lines in zip(files, zip(*pairs)):
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return files


def file_name(title):
    return re.sub(r"[^\w.-]+", "-", title).strip("-")


def multi30k(data, _folder):
    return Texts(pair(data, "train"), {"BLEU": pair(data, "test_2016_flickr")})


class Runner:
    """Runs one row after the other in a folder."""

    def __init__(self, texts, folder, configs):
        self.texts, self.folder, self.configs = texts, Path(folder), [str(Path(config).resolve()) for config in configs]
        self.dragoman = find_dragoman()
        self.text = checksum([*texts.train, *(file for pair in texts.tests.values() for file in pair)])

    def call(self, *words):
        """Runs a command and returns its CPU seconds. On an interrupt, waits until the program has ended by itself."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen([self.dragoman, *map(str, words)])
        stopped = False
        while process.returncode is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                stopped = True
        if stopped:
            raise Stopped
        if process.returncode:
            sys.exit(process.returncode)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def printed(self, *words):
        """The output of a short command."""
        done = subprocess.run([self.dragoman, *map(str, words)], stdout=subprocess.PIPE, encoding="utf-8", check=False)
        return done.stdout if done.returncode == 0 else sys.exit(done.returncode)

    def train_words(self, row):
        vocabulary = self.folder / "vocab.spm"
        return ["train", "-c", *self.configs_of(row), "-t", *self.texts.train, "-v", vocabulary, vocabulary,
                *row.options, "-m", self.folder_of(row) / "model.safetensors"]

    def configs_of(self, row):
        """The files of the budget and the model, and the user's, which override them."""
        model = "s2s" if "s2s" in row.options else "transformer"
        return [HERE / "experiments.yml", HERE / f"experiments-{model}.yml", *self.configs]

    def folder_of(self, row):
        return self.folder / file_name(row.name)

    def done(self, row):
        """The figures in the folder of a row; {} if there are none. Ends with an error if they are of other options or texts."""
        file = self.folder_of(row) / "figures.json"
        if not file.exists():
            return {}
        figures = json.loads(file.read_text(encoding="utf-8"))
        same_text = figures.get("text") == self.text
        if same_text and figures["made_by"] == self.made_by(row):
            return figures
        if not same_text and (self.folder / "vocab.spm").exists():
            fail(f"{self.folder} was made with other texts", "delete it, or name another FOLDER")
        if "parameters" in figures or any(file.parent.glob("model.*")):
            fail(f"{file.parent} was made with other options or texts", "delete it, or name another FOLDER")
        return {}  # nothing was trained with those options

    def made_by(self, row):
        return self.printed(*self.train_words(row), "--dump-config", "minimal")

    def measure(self, row):
        """Takes the missing steps towards the figures of a row. Each step writes its figures to a file."""
        folder, figures = self.folder_of(row), self.done(row)
        if not figures:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "run.jsonl").unlink(missing_ok=True)
            figures = save(folder / "figures.json", {"made_by": self.made_by(row), "text": self.text})
        if "parameters" not in figures:
            figures = save(folder / "figures.json", figures | self.train(row, folder))
        if "bleu" not in figures:
            bleu = {title: self.figure(folder, title, *texts) for title, texts in self.texts.tests.items()}
            save(folder / "figures.json", figures | {"bleu": bleu})
            for file in folder.glob("model.*"):  # only the average is kept
                file.unlink()

    def train(self, row, folder):
        log = folder / "run.jsonl"
        print(f"== {row.name}", file=sys.stderr)
        seconds = self.call(*self.train_words(row), "--log-json", log)
        events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
        if events[-1].get("reason") == "signal":
            raise Stopped
        checkpoints = sorted(folder.glob("model.update*.safetensors"))
        self.call("average", "--output", folder / "average.safetensors", *checkpoints)
        start = [event for event in events if event["event"] == "start"][-1]
        words = events[-1]["target_tokens"]
        # The speed of a row that was stopped is that after the last resume.
        speed = (words - start["target_tokens"]) / seconds
        return {"parameters": start["parameters"], "words": words, "words_per_second": speed}

    def figure(self, folder, title, source, reference):
        output = folder / f"translated.{file_name(title)}"
        self.call("translate", "-m", folder / "average.safetensors", "--beam-size", 5, "-i", source, "-o", output,
                  "--cpu-threads", 1, "--quiet")
        if measure := self.texts.measures.get(title):
            return measure(*map(read_lines, (Path(source), Path(reference), output)))
        said = self.printed("evaluate", "--references", reference, "--hypotheses", output, "--tokenize", "none",
                            "--metrics", "bleu", "--json")
        return json.loads(said)["bleu"]


def checksum(files):
    """Of the content of files, in their order."""
    found = hashlib.sha256()
    for file in files:
        content = Path(file).read_bytes()
        found.update(len(content).to_bytes(8, "little") + content)
    return found.hexdigest()


def save(path, figures):
    new = path.with_suffix(".new")
    new.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    new.replace(path)
    return figures


def cells(row, figures, titles):
    speed = figures["words_per_second"]
    return [row.name, f"`{' '.join(row.options)}`" if row.options else "",
            *(f"{figures['bleu'][title]:.2f}" for title in titles), f"{speed:,.0f}", f"{figures['parameters']:,}",
            f"{figures['words'] / speed:.0f}" if speed else ""]


def table(runner, rows):
    """A Markdown table of all rows that have figures. Seconds are CPU time of training, and words/s are target tokens in a
    second of it, so that other programs on the machine do not count."""
    titles = list(runner.texts.tests)
    lines = [["row", "options", *titles, "words/s", "parameters", "seconds"], ["---"] * (5 + len(titles))]
    lines += [cells(row, figures, titles) for row in rows if "bleu" in (figures := runner.done(row))]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


def arguments_of(name, description, data):
    parser = argparse.ArgumentParser(prog=f"recipes/{name}", description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    if data:
        parser.add_argument("data", metavar="DATA_DIR", nargs="?", help=f"holds {data}, plain or compressed (.xz, .gz)")
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default=name,
                        help="for all files (default: %(default)s); the table is FOLDER/table.md")
    parser.add_argument("--all", action="store_true", help="also run the rows that are left out by default")
    parser.add_argument("--row", metavar="NAME", action="append", default=[], help="run only this row; may be repeated")
    parser.add_argument("-c", metavar="FILE", action="append", default=[], dest="configs", help="options of dragoman "
                        "train that override recipes/experiments*.yml, for a longer run or another machine")
    parser.add_argument("--list", action="store_true", help="print the rows and their options, then exit")
    arguments = parser.parse_args()
    if data and not arguments.list and not arguments.data:
        parser.error("DATA_DIR is missing")
    return arguments


def chosen(rows, arguments):
    unknown = set(arguments.row) - {row.name for row in rows}
    if unknown:
        fail(f"there is no row {sorted(unknown)[0]}", "--list --all prints them")
    if arguments.row:
        return [row for row in rows if row.name in arguments.row]
    return [row for row in rows if row.default or arguments.all]


def run(description, rows, texts=multi30k, data="tok/{train,test_2016_flickr}.lc.norm.tok.{en,de} of Multi30k"):
    """The main() of a comparison. `texts` is a function of (DATA_DIR, FOLDER); `data` says what DATA_DIR holds, None: no DATA_DIR."""
    arguments = arguments_of(Path(sys.argv[0]).name, description, data)
    rows = parse_rows(rows)
    if arguments.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader of the pipe may close it early
        print("\n".join(f"{row.name}\t{' '.join(row.options)}" for row in chosen(rows, arguments)))
        return
    folder = Path(arguments.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    runner = Runner(texts(getattr(arguments, "data", None), folder), folder, arguments.configs)
    for row in rows:
        runner.done(row)  # before anything is computed that cannot stand in one table with the rest
    try:
        for row in chosen(rows, arguments):
            runner.measure(row)
            (folder / "table.md").write_text(table(runner, rows), encoding="utf-8")
    except Stopped:
        sys.exit(f"stopped; run the same command again to resume. {folder}/table.md has the finished rows")
    print(table(runner, rows), end="")

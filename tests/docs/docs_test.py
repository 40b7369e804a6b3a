#!/usr/bin/env python3
"""Keeps the pages true: files they name exist, code they quote is in the tree, commands they show are accepted.

usage: docs_test.py DRAGOMAN
"""

import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("recipes/*.md")])
SCRIPTS = [ROOT / "scripts" / name for name in ("demo", "java-cs", "multi30k", "titles")]
DRAGOMAN = "dragoman"

BLOCK = re.compile(r"^( *)```(\w*) ?(\S*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
TREE_PATH = re.compile(r"(?<![\w/.-])(?:src|cli|vocab|docs|tests|scripts|recipes)/[\w./*-]*\w")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")


def without_blocks(text):
    return BLOCK.sub("", text)


def blocks(text, language):
    """(file named after the language or "", content) of each fenced block in that language."""
    return [(name, body) for _, kind, name, body in BLOCK.findall(text) if kind == language]


def spans(text):
    """What stands between backticks in running text."""
    return re.findall(r"`([^`\n]+)`", without_blocks(text))


def commands(shell):
    """Words of each dragoman command in a piece of shell: pipes are cut, redirections and -c FILE left out."""
    for line in re.sub(r"\\\n", " ", shell).splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>;&")
        lexer.whitespace_split = True
        words, redirected = [], False
        for word in [*lexer, ";"]:
            if set(word) <= set("|;&"):
                if words and Path(words[0].lstrip("$")).name == "dragoman" and len(words) > 1:
                    yield words[1:]
                words = []
            elif set(word) <= set("<>"):
                redirected = True
            elif not redirected:
                words.append(word)
            else:
                redirected = False


def checked_words(words):
    """A command as it can be run anywhere: configuration files that are only an example are left out."""
    kept = []
    for word in words:
        if kept and kept[-1] in ("-c", "--config") and not (ROOT / word).exists():
            kept.pop()
        else:
            kept.append(word)
    return kept


def run(*words):
    return subprocess.run([DRAGOMAN, *words], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def refusal(words):
    """What dragoman says against a command's options; empty if it takes them. --dump-config runs nothing."""
    if words[0] in ("help", "--help", "--version"):
        result = run(*words)
    else:
        result = run(*checked_words(words), "--dump-config", "minimal")
    return "" if result.returncode == 0 else f"dragoman {shlex.join(words)}\n    {result.stderr.strip()}"


class Pages(unittest.TestCase):
    def check(self, complaints):
        complaints = list(complaints)
        self.assertEqual(complaints, [], "\n" + "\n".join(complaints))

    def each(self, rule):
        self.check(f"{page.relative_to(ROOT)}: {what}" for page in PAGES
                   for what in rule(page, page.read_text(encoding="utf-8")))

    def test_files_that_are_named_exist(self):
        def missing(_, text):
            return [name for name in TREE_PATH.findall(text) if not any(ROOT.glob(name))]

        self.each(missing)

    def test_links_lead_somewhere(self):
        def broken(page, text):
            return [target for target in LINK.findall(without_blocks(text)) if not (page.parent / target).exists()]

        self.each(broken)

    def test_code_with_the_name_of_a_file_stands_in_that_file(self):
        def stale(_, text):
            for name, code in blocks(text, "cpp"):
                if name and code not in (ROOT / name).read_text(encoding="utf-8"):
                    yield f"{name} has no such lines any more:\n{code}"

        self.each(stale)

    def test_commands_that_are_shown_are_accepted(self):
        def refused(_, text):
            shown = [words for _, shell in blocks(text, "sh") for words in commands(shell)]
            return filter(None, map(refusal, shown))

        self.each(refused)

    def test_options_that_are_mentioned_exist(self):
        known = set(OPTION.findall(run("help", "--markdown").stdout)) | {"--markdown", "--man", "--version"}

        def unknown(page, text):
            if page.name.startswith("coming_from_"):  # name what is not here; tests/cli/docs_test.cpp keeps them true
                return
            for span in spans(text):
                if span.startswith("--") or span.startswith("dragoman "):
                    yield from (option for option in OPTION.findall(span) if option not in known)

        self.each(unknown)

    def test_commands_in_scripts_are_accepted(self):
        texts = (script.read_text(encoding="utf-8").replace('"$threads"', "1") for script in SCRIPTS)
        self.check(filter(None, (refusal(words) for text in texts for words in commands(text))))

    def test_the_demo_takes_as_long_as_the_readme_says(self):
        [minutes] = re.findall(r"of which training took (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"))
        self.assertIn(f"trains a small model in about {minutes} minutes", (ROOT / "scripts/demo").read_text(encoding="utf-8"))

    def test_recipes_are_accepted(self):
        for recipe in sorted(ROOT.glob("recipes/*.yml")):
            words = "train -t s t --valid-sets s t -v v v -m m".split() + ["-c", str(recipe.relative_to(ROOT))]
            with self.subTest(recipe.name):
                self.assertEqual(refusal(words), "")


class Reranking(unittest.TestCase):
    """The program of docs/evaluate.md that chooses from an n-best list."""

    LIST = ("0 ||| by F0 ||| F0= -1.5 Other= -9 ||| -0.3\n"
            "0 ||| by the sum ||| F0= -2 Other= -2 ||| -0.5\n"
            "0 ||| ||| by Other ||| F0= -20 Other= -1e-05 ||| -4\n"
            "1 ||| the first ||| F0= -1 Other= -3 ||| -0.2\n"
            "1 ||| of equal ones ||| F0= -1 Other= -3 ||| -0.2\n"
            "2 |||  ||| F0= -10 Other= -10 ||| -10\n")

    def best(self, weights):
        [(_, program)] = blocks((ROOT / "docs/evaluate.md").read_text(encoding="utf-8"), "awk")
        done = subprocess.run(["awk", "-v", f"weights={weights}", program], input=self.LIST, capture_output=True, text=True,
                              check=True)
        return done.stdout.splitlines()

    def test_takes_the_highest_weighted_sum(self):
        self.assertEqual(self.best("F0= 1"), ["by F0", "the first", ""])
        self.assertEqual(self.best("F0= 0.5 Other= 0.5"), ["by the sum", "the first", ""])

    def test_keeps_text_that_looks_like_a_separator(self):
        self.assertEqual(self.best("Other= 1")[0], "||| by Other")


class Rules(unittest.TestCase):
    """The rules themselves, on small examples."""

    def test_commands_are_found_in_shell(self):
        shell = ("mkdir -p x && $dragoman train -t a b \\\n  -m model  # a comment\n"
                 'echo "hi, dragoman" | build/release/dragoman translate -m m > out\nexport PATH="$PWD:$PATH"\n')
        self.assertEqual(list(commands(shell)), [["train", "-t", "a", "b", "-m", "model"], ["translate", "-m", "m"]])

    def test_example_configurations_are_left_out_and_real_ones_kept(self):
        self.assertEqual(checked_words(["train", "-c", "no/such.yml", "--seed", "2"]), ["train", "--seed", "2"])
        recipe = ["train", "-c", "recipes/multi30k-tiny.yml"]
        self.assertEqual(checked_words(recipe), recipe)

    def test_paths_and_code_are_found_in_text(self):
        text = "See `src/ops/norm.h` and a/src/x, `--after`.\n```cpp src/ops/norm.h\nint a;\n```\n"
        self.assertEqual(TREE_PATH.findall(text), ["src/ops/norm.h", "src/ops/norm.h"])
        self.assertEqual(blocks(text, "cpp"), [("src/ops/norm.h", "int a;\n")])
        self.assertEqual(spans(text), ["src/ops/norm.h", "--after"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    DRAGOMAN = sys.argv.pop(1)
    unittest.main()

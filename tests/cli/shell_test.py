#!/usr/bin/env python3
"""Tests the output for shells, terminals and man: completion, the manual page, the version, colours.

    shell_test.py BINARY
"""

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = ""  # from the command line
COMMANDS = {"translate", "train", "score", "average", "vocab", "evaluate", "inspect", "completion"}


def said(*arguments):
    """What the binary prints on stdout."""
    return subprocess.run([BINARY, *arguments], capture_output=True, encoding="utf-8", check=True).stdout


def run(*command, text=""):
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Bash(unittest.TestCase):
    def complete(self, *words):
        """What bash would offer for the last of the words."""
        script = ('eval "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dragoman; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = run("bash", "-c", script, "bash", said("completion", "bash"), "dragoman", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.split())

    def test_offers_commands(self):
        self.assertLessEqual(COMMANDS | {"help", "--version"}, self.complete(""))
        self.assertEqual(self.complete("tr"), {"train", "translate"})
        self.assertLessEqual(COMMANDS, self.complete("help", ""))

    def test_offers_the_options_of_the_command(self):
        self.assertEqual(self.complete("translate", "--beam"), {"--beam-size"})
        self.assertEqual(self.complete("evaluate", "--paired"), {"--paired-bs", "--paired-ar"})
        self.assertEqual(self.complete("inspect", "--beam"), set())

    def test_offers_values_that_are_few(self):
        self.assertEqual(self.complete("train", "--task", "transformer-b"),
                         {"transformer-base", "transformer-big", "transformer-base-prenorm", "transformer-big-prenorm",
                          "transformer-base-marian"})
        self.assertEqual(self.complete("evaluate", "-r", "a", "--metrics", "bleu", "ch"), {"chrf", "chrf++"})

    def test_offers_words_that_stand_without_an_option_in_their_place_only(self):
        self.assertEqual(self.complete("vocab", ""), {"train", "encode", "decode", "inspect"})
        self.assertEqual(self.complete("vocab", "train", ""), set())
        self.assertEqual(self.complete("completion", ""), {"bash", "zsh", "fish"})

    def test_leaves_files_to_the_shell(self):
        self.assertEqual(self.complete("translate", "--model", ""), set())
        self.assertIn("complete -o default", said("completion", "bash"))


class OtherShells(unittest.TestCase):
    def offers_of_fish(self, line):
        done = run("fish", "-N", "-c", f"source; complete -C '{line}'", text=said("completion", "fish"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {offer.split("\t")[0] for offer in done.stdout.splitlines()}

    @needs("fish")
    def test_fish_offers_commands_options_and_values(self):
        for line, words in (("dragoman tr", {"train", "translate"}), ("dragoman translate --beam", {"--beam-size"}),
                            ("dragoman evaluate --tokenize ", {"13a", "intl", "zh", "char", "none", "spm"}),
                            ("dragoman vocab ", {"train", "encode", "decode", "inspect"}),
                            ("dragoman help ", COMMANDS)):
            self.assertLessEqual(words, self.offers_of_fish(line), line)

    @needs("fish")
    def test_fish_offers_no_options_of_a_command_that_is_named_later(self):
        self.assertIn("--learn-rate", self.offers_of_fish("dragoman train --learn"))
        self.assertNotIn("--learn-rate", self.offers_of_fish("dragoman vocab train --learn"))

    @needs("zsh")
    def test_zsh_takes_the_script(self):
        script = said("completion", "zsh")
        done = run("zsh", "-f", "-c", "autoload -U compinit; compinit -u -D; source /dev/stdin; echo $_comps[dragoman]",
                   text=script)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "_dragoman\n", ""))

    @needs("zsh")
    def test_zsh_offers_commands_options_and_values(self):
        for line, words in (("dragoman tr", {"train", "translate"}), ("dragoman translate --beam", {"--beam-size"}),
                            ("dragoman train --task transformer-t", {"transformer-tiny"})):
            for seconds in (1, 4, 16):  # longer on a busy machine
                offers = self.offers_of_zsh(line, seconds)
                if words <= offers:
                    break
            self.assertLessEqual(words, offers, line)

    def offers_of_zsh(self, line, seconds):
        """What a zsh at a terminal shows, or puts into the line, within some seconds after the tab key."""
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "_dragoman")
            script.write_text(said("completion", "zsh"), encoding="utf-8")
            driver = (f"zmodload zsh/zpty; zpty z 'PS1=READY; export TERM=dumb; exec zsh -f -i'\n"
                      f"zpty -w z 'autoload -U compinit; compinit -u -D; source {script}; "
                      f"bindkey \"^I\" complete-word; "
                      f"zstyle \":completion:*\" menu no; LISTMAX=0; echo BE''GIN'\n"
                      f"zpty -r z out '*BEGIN*'; zpty -w -n z '{line}'$'\\t\\t'; sleep {seconds}; "
                      f"zpty -w z $'\\x15echo EN''D'\n"
                      "zpty -r z out '*END*'; print -r -- $out")
            return set(re.findall(r"[\w-]+", run("zsh", "-f", "-c", driver).stdout))

    def test_every_option_is_known_to_every_shell(self):
        options = set(re.findall(r"--([a-z][a-z0-9-]+)", said("completion", "bash"))) - {"version"}
        self.assertGreater(len(options), 60)
        for shell, form in (("zsh", "'--{}["), ("fish", " -l {} ")):
            script = said("completion", shell)
            self.assertEqual([o for o in options if form.format(o) not in script], [], shell)

    def test_options_are_those_of_the_second_word_in_fish(self):
        script = said("completion", "fish")
        self.assertIn("complete -c dragoman -n '__dragoman_command train' -l learn-rate", script)
        self.assertNotIn("__fish_seen_subcommand_from", script)


class Pages(unittest.TestCase):
    def test_the_manual_has_every_command_and_option(self):
        page = said("help", "--man").replace("\\-", "-")
        for command in COMMANDS:
            self.assertIn(f'.SH "DRAGOMAN {command}"', page)
            for option in re.findall(r"(?m)^ +(?:-\w, )?(--[a-z][a-z0-9-]+)", said(command, "--help")):
                self.assertIn(option, page, command)

    def test_help_of_help_is_the_list_of_commands(self):
        for word in ("help", "-h", "--help"):
            self.assertEqual(said("help", word), said("help"), word)

    @needs("groff")
    def test_the_manual_is_sound_roff(self):
        done = run("groff", "-man", "-Tutf8", "-ww", "-z", text=said("help", "--man"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_version_names_libraries_and_instruction_set(self):
        self.assertRegex(said("--version"), r"^dragoman \d+\.\d+\.\d+\noneDNN \d\S+ on \S+")
        for library in ("Highway", "SentencePiece", "Boost", "fmt", "spdlog", "nlohmann-json", "yaml-cpp", "utf8proc"):
            self.assertRegex(said("--version"), rf"{library} \d+\.\d+")
        for words in (["-V"], ["version"], ["train", "--version"], ["score", "-V"]):
            self.assertEqual(said(*words), said("--version"))

    def test_a_surplus_word_is_said_of_the_option_that_it_was_meant_for(self):
        done = run(BINARY, "score", "-m", "m", "--summary", "ce-men", "-t", "s", "t")
        self.assertIn("error: --summary: 'ce-men' is not one of none, cross-entropy, ce-mean, ", done.stderr)


class Limits(unittest.TestCase):
    def test_a_limit_on_memory_is_named_and_not_taken_for_a_bug(self):
        """evaluate holds all lines; stdin never ends."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("a b c\n")
            file.flush()
            done = run("bash", "-c", 'ulimit -v 600000; yes "a b c" | OMP_NUM_THREADS=1 "$1" evaluate -r "$2" -i -',
                       "bash", BINARY, file.name)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Aerror: out of memory\n  hint: .*ulimit -v.*--mini-batch-words.*\n\Z")


class Colours(unittest.TestCase):
    @staticmethod
    def all_of(descriptor):
        """Everything written to the other end. Reading a closed terminal is an error."""
        text = b""
        try:
            while piece := os.read(descriptor, 4096):
                text += piece
        except OSError:
            pass
        return text

    def warning(self, terminal, **environment):
        """stderr of a command that warns: of text that looks tokenised."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("a b .\n" * 100)
            file.flush()
            controller, end = pty.openpty() if terminal else os.pipe()
            kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
            subprocess.run([BINARY, "evaluate", "-r", file.name, "-i", file.name], stdout=subprocess.DEVNULL,
                           stderr=end, check=True, env=kept | {"TERM": "xterm"} | environment)
            os.close(end)
            text = self.all_of(controller).decode()
            os.close(controller)
        self.assertIn("looks tokenised", text)
        return text

    def test_are_for_terminals_alone(self):
        self.assertIn("\x1b[", self.warning(terminal=True))
        self.assertNotIn("\x1b[", self.warning(terminal=False))

    def test_are_off_where_nobody_wants_them(self):
        self.assertNotIn("\x1b[", self.warning(terminal=True, NO_COLOR="1"))
        self.assertIn("\x1b[", self.warning(terminal=True, NO_COLOR=""))
        self.assertNotIn("\x1b[", self.warning(terminal=True, TERM="dumb"))


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()

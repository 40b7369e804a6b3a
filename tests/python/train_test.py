#!/usr/bin/env python3
"""train() of the Python package makes the files of the command, with the same options; it can be stopped, resumed,
interrupted and run twice at once, and says what is wrong. Models are converted, averaged and quantised.

    train_test.py DRAGOMAN FOLDER_OF_THE_PACKAGE
"""
import copy
import dataclasses
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from package_case import LINES, PACKAGE, ROOT, PackageTest, dragoman, python

ENDLESS = {"after": None, "disp_freq": 0}


class TrainCase(PackageTest):
    def setUp(self):
        s, v = self.folder / "s", self.folder / "v"
        self.options = {"train_sets": [s, str(s)], "vocabs": (v, v), "after": "6u", "dim_emb": 16, "enc_depth": "1",
                        "transformer_dim_ffn": 16, "transformer_heads": 2, "dec_depth": 1, "disp_freq": 1,
                        "mini_batch_words": 60, "lr_warmup": 2, "threads": 1}

    def train(self, name, **more):
        return dragoman.train(model=self.folder / name, **self.options | more)

    @staticmethod
    def printable(options):
        """With texts in place of paths."""
        return {key: list(map(str, v)) if isinstance(v, (list, tuple)) else v for key, v in options.items()}

    def bytes_of(self, name):
        return [path.read_bytes() for path in (self.folder / name, self.folder / f"{name}.state")]

    def existing(self, name):
        return sorted(path.name for path in self.folder.iterdir() if path.name.startswith(name))

    def assert_left(self, name, files):
        """The files of a run that train() does not wait for."""
        for _ in range(100):
            if self.existing(name) == files:
                return
            time.sleep(0.1)
        self.assertEqual(self.existing(name), files)


class Training(TrainCase):
    def test_gives_the_files_of_the_command(self):
        self.command(*"train -t s s -v v v -m command --after 6u --dim-emb 16 --enc-depth 1 --dec-depth 1".split(),
                     *"--transformer-dim-ffn 16 --transformer-heads 2 --mini-batch-words 60 --lr-warmup 2".split(),
                     *"--learn-rate 0.001 --optimizer-params 0.9 0.98 1e-09 --tied-embeddings-all".split(),
                     *"--exponential-smoothing --no-shuffle --seed 18446744073709551615 --disp-freq 1".split(),
                     *"--cpu-threads 1 --quiet".split())
        result = self.train("program", learn_rate=0.001, optimizer_params=[0.9, 0.98, 1e-9], tied_embeddings_all=True,
                            exponential_smoothing=True, no_shuffle=True, seed=2**64 - 1, valid_sets=None)
        self.assertEqual((result.reason, result.updates), ("after", 6))
        self.assertGreater(result.epochs, 0)
        self.assertEqual(self.bytes_of("program"), self.bytes_of("command"))
        self.assertIsInstance(dragoman.Translator(self.folder / "program", threads=1).translate("a house"), str)

    def test_stops_saved_when_on_event_says_so_and_resumes(self):
        def stop_after_3(event):
            events.append(event)
            if isinstance(event, dragoman.RunReport) and event.updates == 3:
                raise dragoman.StopTraining

        self.train("whole")
        events = []
        self.assertEqual(self.train("parts", on_event=stop_after_3).updates, 3)
        self.assertEqual(events[-1].reason, "signal")
        self.assertFalse(events[0].resumes)
        events = []
        result = self.train("parts", on_event=events.append)
        self.assertEqual((result.reason, result.updates), ("after", 6))
        self.assertTrue(events[0].resumes)
        self.assertEqual(self.bytes_of("parts"), self.bytes_of("whole"))

    def test_descriptions_of_events_name_what_there_is(self):
        options = self.command("train", "--help=all")
        for kind in (*dragoman.RunEvent.__subclasses__(), dragoman.RunFigure):
            known = {field.name for field in dataclasses.fields(kind)} | set(dir(dragoman))
            for name in re.findall(r"``(\w+)``", kind.__doc__):
                self.assertTrue(name in known or f"--{name.replace('_', '-')} " in options, f"{kind.__name__}: {name}")

    def test_reports_events_in_order_and_in_the_thread_of_the_caller(self):
        events, threads = [], set()

        def take(event):
            events.append(event)
            threads.add(threading.get_ident())

        valid = {"valid_sets": [self.folder / "s"] * 2, "valid_freq": 4, "valid_metrics": ["cross-entropy", "chrf"],
                 "valid_max_lines": 5}
        result = self.train("m1", on_event=take, after="4u", **valid)
        self.assertEqual(threads, {threading.get_ident()})
        self.assertEqual([type(event).__name__ for event in events],
                         ["RunStarted", *["RunReport"] * 4, "RunValidation", "RunSave", "RunEnd"])
        self.assertEqual([event.updates for event in events], [0, 1, 2, 3, 4, 4, 4, 4])
        self.assertEqual((events[0].model, events[0].resumes), (str(self.folder / "m1"), False))
        self.assertGreater(events[0].parameters, 16 * 500)  # the embeddings
        report = events[4]
        self.assertGreater(report.cost, 0)
        self.assertEqual((report.fraction_done, report.alignment_cost), (1, None))
        self.assertEqual([f.metric for f in events[5].figures], ["cross-entropy", "chrf"])
        self.assertEqual([(f.better, f.best, f.stalled) for f in events[5].figures], [(True, None, 0)] * 2)
        self.assertEqual((events[6].model, events[6].failure), (str(self.folder / "m1"), None))
        self.assertEqual((events[7].reason, events[7].epochs), (result.reason, result.epochs))
        for event in (*events, result):
            self.assertEqual(pickle.loads(pickle.dumps(event)), event)
            self.assertEqual(copy.deepcopy(event), event)
            with self.assertRaises(dataclasses.FrozenInstanceError):
                event.updates = 0

    def test_event_classes_have_the_fields_of_the_header(self):
        header = (ROOT / "include/dragoman/run_event.h").read_text(encoding="utf-8")
        header = re.sub(r"  struct Figure \{.*?\n  \};", "", re.sub("//.*", "", header), flags=re.DOTALL)
        header = header.replace("enum Reason { after, early_stopping, signal, end_of_text } reason", "int reason")
        structs = dict(re.findall(r"^struct (\w+) \{\n(.*?)^\};", header, flags=re.DOTALL | re.MULTILINE))
        fields = {name: [field for line in body.splitlines() for field in re.findall(r"(\w+)(?: = [^;,]+)?[;,]", line)]
                  for name, body in structs.items()}
        moment = fields.pop("RunMoment")
        fields["RunReport"] = ["elapsed" if name == "seconds" else name for name in fields["RunReport"]]
        self.assertEqual(len(fields), 8)
        for name, own in fields.items():
            self.assertEqual([f.name for f in dataclasses.fields(getattr(dragoman, name))], moment + own, name)

    def test_ends_unsaved_with_what_on_event_raises(self):
        class Enough(Exception):
            pass

        raised = Enough("enough")

        def give_up(event):
            if event.updates == 2:
                raise raised

        with self.assertRaises(Enough) as caught:
            self.train("m2", on_event=give_up)
        self.assertIs(caught.exception, raised)
        with self.assertRaises(SystemExit):
            self.train("m2", on_event=lambda event: sys.exit())
        self.assertEqual(self.existing("m2"), [])

    def test_two_threads_train_at_once(self):
        seeds = {f"at_once_{seed}": seed for seed in (1, 2)}
        together = threading.Barrier(2, timeout=60)

        def train(name):
            self.train(name, seed=seeds[name], on_event=lambda event: event.updates == 3 and together.wait())

        threads = [threading.Thread(target=train, args=(name,)) for name in seeds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(together.broken)
        for name, seed in seeds.items():
            self.train(f"alone_{seed}", seed=seed)
            self.assertEqual(self.bytes_of(name), self.bytes_of(f"alone_{seed}"))

    def test_logs_where_python_does(self):
        with self.assertLogs("dragoman", logging.INFO) as logged:
            self.train("m3", after="1u")
        self.assertIn("Model: ", "\n".join(logged.output))

    def test_knows_every_option_of_the_command(self):
        names = set(re.findall(r"^  (?:-\w, |    )--([a-z0-9-]+)", self.command("train", "--help=all"), flags=re.MULTILINE))
        self.assertGreater(len(names), 100)
        for name in sorted(names):
            with self.assertRaises((dragoman.Error, TypeError)) as caught:
                dragoman.train(**{name: [], "no_such_option": 1})
            self.assertNotIn(f"there is no option '{name}'", str(caught.exception))

    def test_says_what_is_wrong(self):
        expected = "expected a text, number, truth value, file name or list of these, found"
        for kind, text, hint, options in (
                (dragoman.Error, "there is no option 'dim-emd'", "did you mean dim-emb", {"dim_emd": 16}),
                (dragoman.Error, "dim_emb is True, expected N", "", {"dim_emb": True}),
                (dragoman.Error, "freeze is True, expected PATTERN", "", {"freeze": True}),
                (dragoman.Error, "seed is an empty list, expected N", "", {"seed": []}),
                (dragoman.Error, "tied_embeddings_all is an empty list, expected True or False", "",
                 {"tied_embeddings_all": []}),
                (dragoman.Error, "seed: [0-9]+ is out of range", "", {"seed": 2**65}),
                (dragoman.Error, "--dim-emb: '16.5' is not a whole number", "", {"dim_emb": 16.5}),
                (dragoman.Error, "--learn-rate: 'fast' is not a number", "", {"learn_rate": "fast"}),
                (dragoman.Error, "--seed takes one value, found 2: 1 2", "", {"seed": [1, 2]}),
                (dragoman.Error, "train has no option cpu_threads", "it is called threads here", {"cpu_threads": 2}),
                (dragoman.Error, "train has no option devices", "it is called device here", {"devices": "0"}),
                (dragoman.Error, "train has no option fast-math", "it is a keyword, fast_math, here", {"fast-math": True}),
                (dragoman.Error, "train has no option config", "yaml.safe_load", {"config": "a.yml"}),
                (dragoman.Error, "train has no option dump_config", "only the command line", {"dump_config": True}),
                (dragoman.Error, "train has no option help", "docs/options.md", {"help": True}),
                (dragoman.Error, "train has no option quiet", "getLogger", {"quiet": True}),
                (dragoman.Error, "train has no option dry_run", "only the command line", {"dry_run": True}),
                (dragoman.Error, "nowhere", "", {"train_sets": ["nowhere", "nowhere"]}),
                (TypeError, f"seed: {expected} 1j of type complex", "", {"seed": 1j}),
                (TypeError, f"vocabs: {expected} None of type NoneType", "", {"vocabs": ["v", None]}),
                (TypeError, f"train_sets: {expected} {{}} of type dict", "", {"train_sets": {}}),
                (TypeError, f"train_sets: {expected} {{'s'}} of type set", "", {"train_sets": {"s"}}),
                (TypeError, "on_event: expected a function, found 5 of type int", "", {"on_event": 5}),
                (TypeError, "threads is '2', expected int", "", {"threads": "2"}),
                (TypeError, "fast_math is 'no', expected bool", "", {"fast_math": "no"}),
                (ValueError, "log: 'a.x00b' is not a file name", "", {"log": "a\0b"})):
            with self.subTest(text), self.assertRaisesRegex(kind, text) as caught:
                self.train("m4", **options)
            self.assertIn(hint, getattr(caught.exception, "hint", ""))
        with self.assertRaisesRegex(dragoman.Error, "--model FILE is missing(.|\n)*--vocabs SOURCE TARGET is missing"):
            dragoman.train(train_sets=self.options["train_sets"])
        self.assertEqual(self.existing("m4"), [])


class Interrupting(TrainCase):
    def interrupted(self, program, name):
        """The output of a child that trains without an end, and gets SIGINT once it has printed a line."""
        options = self.printable(self.options | ENDLESS)
        child = subprocess.Popen([sys.executable, "-B", "-c", program, repr(options), str(self.folder / name)],
                                 encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=os.environ | {"PYTHONPATH": PACKAGE})
        self.assertEqual(child.stdout.readline(), "begun\n")
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=60)
        return child.returncode, output, errors

    def test_ctrl_c_saves_the_model_and_raises_keyboard_interrupt(self):
        program = """
import ast, sys, dragoman
def take(event):
    events.append(event)
    if isinstance(event, dragoman.RunStarted): print('begun', flush=True)
events = []
try: dragoman.train(model=sys.argv[2], on_event=take, **ast.literal_eval(sys.argv[1]))
except KeyboardInterrupt: print(events[-1].reason, events[-1].updates)
"""
        code, output, errors = self.interrupted(program, "ctrl_c")
        reason, updates = output.split()
        self.assertEqual((code, reason), (0, "signal"), errors)
        self.assertGreater(int(updates), 0)
        self.assertEqual(self.train("ctrl_c", after=int(updates) + 1).updates, int(updates) + 1)

    def test_ctrl_c_ends_a_program_that_does_not_catch_it(self):
        program = """
import ast, logging, sys, dragoman
class Handler(logging.Handler):
    def emit(self, record):
        if 'Model:' in record.getMessage(): print('begun', flush=True)
logging.getLogger('dragoman').addHandler(Handler())
logging.getLogger('dragoman').setLevel(logging.INFO)
dragoman.train(model=sys.argv[2], **ast.literal_eval(sys.argv[1]))
"""
        code, output, errors = self.interrupted(program, "uncaught")
        self.assertEqual((code, output), (-signal.SIGINT, ""))
        self.assertTrue(errors.endswith("KeyboardInterrupt\n"), errors)
        self.assertEqual(self.existing("uncaught"), ["uncaught", "uncaught.state"])

    def test_keyboard_interrupt_in_on_event_saves_the_model_too(self):
        def interrupt(event):
            if isinstance(event, dragoman.RunReport) and event.updates == 2:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.train("inside", on_event=interrupt)
        self.assertEqual(self.train("inside").updates, 6)
        events = []
        self.train("inside", on_event=events.append)
        self.assertTrue(events[0].resumes)

    def test_the_first_exception_is_raised(self):
        def fail(event):
            if isinstance(event, dragoman.RunSave):
                raise ValueError("later")
            if isinstance(event, dragoman.RunReport) and event.updates == 2:
                raise KeyboardInterrupt

        with self.assertLogs("dragoman", logging.WARNING) as logged, self.assertRaises(KeyboardInterrupt):
            self.train("first", on_event=fail)
        self.assertIn("later", logged.output[-1])

    def test_a_second_ctrl_c_does_not_wait(self):
        def interrupt(event):
            if event.updates >= 1:
                raise KeyboardInterrupt

        with self.assertLogs("dragoman", logging.WARNING), self.assertRaises(KeyboardInterrupt):
            self.train("twice", on_event=interrupt)
        self.assert_left("twice", ["twice", "twice.state"])

    def test_ctrl_c_before_training_leaves_no_model(self):
        class Interrupt(logging.Handler):
            def emit(self, record):
                if "Model:" in record.getMessage():
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(pause)

        handler, logger = Interrupt(), logging.getLogger("dragoman")
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        events = []
        try:
            for pause in (0, 0, 0, 0.5):
                with self.assertRaises(KeyboardInterrupt):
                    self.train("early", on_event=events.append)
                self.assert_left("early", [])
        finally:
            logger.removeHandler(handler)
            logger.setLevel(logging.NOTSET)
        self.assertEqual(events, [])

    # Text that is still being read when the program ends is waited for, until the next Ctrl-C.
    def test_ctrl_c_raises_at_once_while_text_is_read(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        program = """
import ast, sys, dragoman
print('begun', flush=True)
try: dragoman.train(model=sys.argv[2], **ast.literal_eval(sys.argv[1]))
except KeyboardInterrupt: print('interrupted', flush=True)
"""
        options = self.printable(self.options | {"train_sets": [pipe, pipe]})
        child = subprocess.Popen([sys.executable, "-B", "-c", program, repr(options), str(self.folder / "piped")],
                                 encoding="utf-8", stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": PACKAGE})
        self.assertEqual(child.stdout.readline(), "begun\n")
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.stdout.readline(), "interrupted\n")
        for _ in range(100):
            if child.poll() is not None:
                break
            time.sleep(0.2)
            child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(10), 128 + signal.SIGINT)
        child.stdout.close()

    def test_a_fork_leaves_the_run_to_the_parent(self):
        program = """
import ast, os, sys, dragoman
def take(event):
    if event.updates == 1 and os.fork() == 0: child.append(os.getpid())
child = []
try: print(dragoman.train(model=sys.argv[2], on_event=take, **ast.literal_eval(sys.argv[1])).updates, flush=True)
except dragoman.Error as e: print(e, flush=True)
if not child: print(os.wait()[1])
"""
        lines = python(program, repr(self.printable(self.options | {"after": "2u"})), self.folder / "fork").stdout
        self.assertRegex(lines, "training run was created before this process was forked")
        self.assertEqual(sorted(line for line in lines.splitlines() if len(line) == 1), ["0", "2"])

    def test_the_interpreter_ends_while_a_daemon_thread_trains(self):
        options = self.printable(self.options | ENDLESS)
        program = f"""
import sys, threading, dragoman
begun = threading.Event()
def work(): dragoman.train(model=sys.argv[1], on_event=lambda event: begun.set(), **{options!r})
threading.Thread(target=work, daemon=True).start()
begun.wait()
"""
        done = python(program, self.folder / "daemon")
        self.assertEqual(done.stdout, "")
        self.assertNotRegex(done.stderr, "Error|Fatal|terminate")
        self.assertEqual(self.existing("daemon"), ["daemon", "daemon.state"])


class MadeModels(TrainCase):
    def test_converts_to_another_program_and_back(self):
        dragoman.convert(self.model, self.folder / "ct2", format="ctranslate2")
        self.assertIn("model.bin", os.listdir(self.folder / "ct2"))
        dragoman.convert(self.folder / "ct2", output=self.folder / "back")
        for model in ("ct2", "back"):
            with dragoman.Translator(self.folder / model, threads=1) as translator:
                self.assertEqual(translator.translate(LINES[:20], beam_size=1),
                                 self.translator.translate(LINES[:20], beam_size=1))
        with self.assertRaisesRegex(dragoman.Error, "format is 'word', expected one of dragoman, ctranslate2"):
            dragoman.convert(self.model, self.folder / "x", format="word")
        with self.assertRaisesRegex(dragoman.Error, "is already a dragoman model"):
            dragoman.convert(self.model, self.folder / "x")
        with self.assertRaisesRegex(TypeError, "input: expected a file name, found 5 of type int"):
            dragoman.convert(5, self.folder / "x")

    def test_averages_checkpoints_as_the_command_does(self):
        self.train("run", save_freq=3, keep_last=2)
        checkpoints = [name for name in self.existing("run") if name not in ("run", "run.state")]
        self.assertEqual(len(checkpoints), 2, checkpoints)
        dragoman.average((self.folder / name for name in checkpoints), self.folder / "mean", threads=1)
        self.command("average", "-o", "mean_of_command", *checkpoints, "--quiet")
        self.assertEqual(*((self.folder / name).read_bytes() for name in ("mean", "mean_of_command")))
        with self.assertRaisesRegex(dragoman.Error, "no models to average"):
            dragoman.average([], self.folder / "x")
        with self.assertRaisesRegex(TypeError, "models: expected a list of file names, found "):
            dragoman.average(self.model, self.folder / "x")

    def test_quantizes_and_translates_with_the_result(self):
        text = self.folder / "short"
        text.write_text("\n".join(LINES[:10]) + "\n", encoding="utf-8")
        result = dragoman.quantize(self.model, self.folder / "int8", valid_sets=[text, text], gate=50, threads=1)
        self.assertEqual((result.bytes_before, result.bytes_after),
                         tuple(path.stat().st_size for path in (self.model, self.folder / "int8")))
        self.assertLess(result.bytes_after, result.bytes_before)
        for quality in (result.float32, result.int8):
            self.assertTrue(0 <= quality.bleu <= 100 and 0 <= quality.chrf <= 100)
        with dragoman.Translator(self.folder / "int8", threads=1) as small, \
                dragoman.Translator(self.model, threads=1, precision="int8") as large:
            self.assertEqual(small.translate(LINES[:20]), large.translate(LINES[:20]))
        unmeasured = dragoman.quantize(model=self.model, output=self.folder / "int8")
        self.assertEqual((unmeasured.float32, unmeasured.int8), (None, None))
        with self.assertRaisesRegex(dragoman.Error, "gate needs valid_sets: BLEU is measured on them"):
            dragoman.quantize(self.model, self.folder / "x", gate=0.5)
        with self.assertRaisesRegex(dragoman.Error, "is already in 8 bits"):
            dragoman.quantize(self.folder / "int8", self.folder / "x")
        with self.assertRaisesRegex(dragoman.Error, "tokenize is 'x', expected one of 13a"):
            dragoman.quantize(self.model, self.folder / "x", valid_sets=[text, text], tokenize="x")
        self.assertFalse((self.folder / "x").exists())


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""End-to-end test of `--devices`: training, translating and scoring give the same results on GPU and CPU, runs resume
to the same bits, and errors say what is missing. The library for GPUs is the one that runs on the host (tests/cuda_on_host).

    gpu_test.py BINARY LIBRARY
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from itertools import product
from pathlib import Path

BINARY, LIBRARY = "", ""  # from the command line
RUN = "--dim-emb 16 --dec-depth 1 --mini-batch-words 128 --learn-rate 0.01 --lr-warmup 10 --cpu-threads 1 --disp-freq 1u"
TRANSFORMER = "--transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 "
DECODER = "--type decoder-only --transformer-heads 2 --transformer-dim-ffn 32 "
RECURRENT = "--type s2s --dim-rnn 16 "
T5 = TRANSFORMER + ("--transformer-positions relative-bias --transformer-relative-buckets 8 "
                    "--transformer-relative-max-distance 16 --transformer-ffn-gated ")
UPDATES = 4


def setUpModule():
    """A folder with the program and its library for GPUs (with), the program alone (alone), text and a vocabulary."""
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    Gpu.folder = Path(temporary.name)
    for name in ("with", "alone"):
        (Gpu.folder / name).mkdir()
        shutil.copy(BINARY, Gpu.folder / name / "dragoman")
        shutil.copy(Path(BINARY).parent / "libdragoman.so.0", Gpu.folder / name)
    shutil.copy(LIBRARY, Gpu.folder / "with" / "libdragoman_cuda.so")
    words = list(product(("red", "blue", "green", "old"), ("house", "book", "car"), ("new", "small", "near")))
    Gpu.lines = ["the {} {} is {}".format(*w) for w in words]
    for name, line in (("s", "the {} {} is {}\n"), ("t", "das {1} {0} ist {2}\n")):
        text = [line.format(*w) for w in words]
        (Gpu.folder / name).write_text("".join(text), encoding="utf-8")
        (Gpu.folder / f"{name}.few").write_text("".join(text[::8]), encoding="utf-8")  # some tests train too little to be brief
    (Gpu.folder / "weights").write_text("".join(f"{n % 4}\n" for n in range(len(words))), encoding="utf-8")
    Gpu.succeed("vocab train --input s t --model v --size 320")


class Gpu(unittest.TestCase):
    @classmethod
    def call(cls, command, *more, text="", program="with"):
        return subprocess.run([cls.folder / program / "dragoman", *command.split(), *more], cwd=cls.folder, timeout=300,
                              check=False, input=text, capture_output=True, encoding="utf-8",
                              env=os.environ | {"OMP_NUM_THREADS": "1"})

    @classmethod
    def succeed(cls, command, *more, text=""):
        done = cls.call(command, *more, text=text)
        if done.returncode:
            raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stderr}")
        return done

    def train(self, model, options, device="0", updates=UPDATES):
        """Costs of the updates."""
        done = self.succeed(f"train -t s t -v v v -m {model} --devices {device} --after {updates}u {RUN} {options}")
        return [float(cost) for cost in re.findall(r"Cost ([\d.]+)", done.stderr)]

    def fails(self, expected, command, *more, program="with", text=""):
        done = self.call(command, *more, program=program, text=text)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for part in expected:
            self.assertIn(part, done.stderr)

    def assert_close(self, some, others, tolerance):
        self.assertEqual(len(some), len(others))
        for a, b in zip(some, others):
            self.assertLess(abs(a - b), tolerance * max(1, abs(b)), (some, others))


class Training(Gpu):
    def test_takes_the_same_steps_as_on_a_cpu_dropout_included(self):
        for name, options in (
                ("plain", TRANSFORMER), ("bfloat16", TRANSFORMER), ("float16", TRANSFORMER),
                ("bfloat16 throughout", TRANSFORMER), ("float16 throughout", TRANSFORMER + "--transformer-preprocess n --transformer-postprocess da"),
                ("relative", TRANSFORMER + "--transformer-positions relative --attention-score additive"),
                ("relative-bias", T5),
                ("rotary", TRANSFORMER + "--transformer-positions rotary --transformer-norm rms "
                                         "--transformer-ffn-activation swish"),
                ("batch-norm", TRANSFORMER + "--transformer-norm batch"),
                ("ssru", TRANSFORMER + "--transformer-decoder-autoreg rnn --attention-window 2 "
                                       "--exponential-smoothing 0.1"),
                ("experts", TRANSFORMER + "--moe-experts 3 --moe-frequency 1 --moe-load-loss 1 --data-weighting weights"),
                ("s2s", RECURRENT + "--enc-cell lstm --dec-cell gru"),
                ("decoder", DECODER + "--label-smoothing 0.1 --transformer-ffn-activation gelu")):
            with self.subTest(name):
                options += " --dropout-rnn 0.2" if name == "s2s" else " --transformer-dropout 0.2"
                half = "float16" in name
                on_gpu = name.replace(" throughout", " --half-activations") if half else "float32"
                costs = [self.train(f"{name.replace(' ', '-')}-{device}.safetensors", f"{options} --precision {precision}", device)
                         for device, precision in (("cpu", "float32"), ("0", on_gpu))]
                self.assertEqual(len(costs[0]), UPDATES)
                self.assert_close(costs[1], costs[0], 0.02 if half else 2e-4)

    def test_resumes_to_the_same_bits(self):
        for precision in ("float32", "bfloat16", "float16", "bfloat16 --half-activations"):
            options = TRANSFORMER + f"--exponential-smoothing 0.1 --seed 3 --precision {precision} --no-reload"
            self.train("whole.safetensors", options)
            for updates in (1, UPDATES):
                self.train("parts.safetensors", options, updates=updates)
                options = options.replace(" --no-reload", "")
            for file in ("safetensors", "state.safetensors"):
                self.assertEqual((self.folder / f"whole.{file}").read_bytes(),
                                 (self.folder / f"parts.{file}").read_bytes(), precision)

    def test_keeps_activations_in_16_bits_unless_a_precision_is_given(self):
        options = TRANSFORMER + "--no-reload"
        for name, more in (("auto", ""), ("half", " --precision bfloat16 --half-activations"), ("whole", " --precision bfloat16")):
            self.train(f"{name}.safetensors", options + more, updates=2)
        auto, half, whole = ((self.folder / f"{name}.safetensors").read_bytes() for name in ("auto", "half", "whole"))
        self.assertEqual(auto, half)
        self.assertNotEqual(auto, whole)
        self.train("recurrent.safetensors", RECURRENT + "--no-reload", updates=1)  # whose cells compute in float32

    def test_scales_losses_so_that_float16_holds_their_gradients(self):
        (self.folder / "heavy").write_text("200000\n" * len(self.lines), encoding="utf-8")
        done = self.succeed(f"train -t s t -v v v -m heavy.safetensors --devices 0 --after 16u --precision float16 "
                            f"--data-weighting heavy {TRANSFORMER}{RUN}")
        self.assertIn("update 1 skipped: its gradient is too large for float16; the loss scale is now 64",
                      done.stderr)
        costs = [float(cost) for cost in re.findall(r"Cost ([\d.]+)", done.stderr)]
        learnt = [cost for cost in costs if cost > 0]  # skipped updates have none
        self.assertTrue(4 <= len(learnt) < 12, done.stderr)
        self.assertEqual(costs[-len(learnt):], learnt)
        self.assertLess(learnt[-1], learnt[0])

    def test_begins_to_scale_losses_where_a_run_changes_to_float16(self):
        self.train("changes.safetensors", TRANSFORMER + "--precision float32", updates=1)
        for updates, precision, scale in ((2, "float16", 128), (3, "float16", 128), (4, "float32", 1)):
            self.train("changes.safetensors", TRANSFORMER + f"--precision {precision}", updates=updates)
            state = (self.folder / "changes.state.safetensors").read_bytes()
            self.assertEqual(float(re.search(rb'loss_scale\\*": *([\d.]+)', state)[1]), scale, (updates, precision))

    def test_fits_batches_to_the_memory_once_a_run(self):
        command = f"train -t s t -v v v -m fit.safetensors --devices 0 --mini-batch-fit {TRANSFORMER}{RUN} --after "
        begun, gone_on = (self.succeed(command + updates).stderr for updates in ("1u", "2u"))
        words = re.search(r"(\d+) target tokens", begun)[1]  # all of them: they are few
        self.assertIn(f"Batches of {words} target tokens fit into memory", begun)
        self.assertIn(f"Batches of {words} target tokens as before", gone_on)
        self.assertRegex(self.succeed(command + "1u --dry-run --no-reload").stdout, rf"batches that fit +{words} target tokens")

    def test_validates_and_profiles(self):
        done = self.succeed("train -t s t -v v v -m valid.safetensors --devices cuda:0 --after 4u --valid-sets s.few t.few "
                            "--valid-metrics cross-entropy bleu --valid-freq 4u --profile " + TRANSFORMER + RUN)
        self.assertIn("bleu", done.stderr)
        self.assertIn("attention_backward", done.stderr)

    def test_gives_each_tensor_memory_of_its_own_where_that_is_asked_for(self):
        """For compute-sanitizer, which cannot see the bounds of tensors in one shared range."""
        usual = self.train("m.usual.safetensors", TRANSFORMER)
        with unittest.mock.patch.dict(os.environ, DRAGOMAN_GPU_MEMORY="tensors"):
            self.assertEqual(self.train("m.alone.safetensors", TRANSFORMER), usual)
            texts = [self.succeed(f"translate -m m.{name}.safetensors --devices 0 -b 2 -i s.few").stdout
                     for name in ("usual", "alone")]
            self.assertEqual(*texts)
        self.assertEqual(*((self.folder / f"m.{name}.safetensors").read_bytes() for name in ("usual", "alone")))

    # A run of 16 updates has as many allocations and waits as one of 8.
    def test_allocates_nothing_once_a_run_is_under_way(self):
        allocations, waits = [], []
        for updates in (8, 16):
            done = self.succeed(f"train -t s t -v v v -m counted.safetensors --devices 0 --after {updates}u --no-reload "
                                f"--profile {TRANSFORMER}{RUN}")
            allocations.append(int(re.search(r"allocations on the device +(\d+)", done.stderr)[1]))
            waits.append(int(re.search(r"waits for the device +([\d,]+)", done.stderr)[1].replace(",", "")))
        self.assertGreater(allocations[0], 0)
        self.assertEqual((allocations[1] - allocations[0], waits[1] - waits[0]), (0, 0))


class Decoding(Gpu):
    @classmethod
    def setUpClass(cls):
        for name, more in (("a", TRANSFORMER), ("b", TRANSFORMER + "--seed 2 --transformer-positions relative"),
                           ("r", RECURRENT), ("d", DECODER), ("t", T5)):
            cls.succeed(f"train -t s t -v v v -m {name}.safetensors --after 60u --quiet {RUN} {more}")
        cls.lines = cls.lines[::5]

    def both(self, command, *more, lines=None):
        text = "".join(f"{line}\n" for line in lines or self.lines)
        return [self.succeed(command, "--devices", device, "--cpu-threads", "1", *more, text=text).stdout
                for device in ("cpu", "0")]

    def test_translates_as_a_cpu_does(self):
        for options in ("-m a.safetensors", "-m a.safetensors --beam-size 1", "-m b.safetensors --alignment",
                        "-m a.safetensors b.safetensors", "-m r.safetensors", "-m d.safetensors", "-m t.safetensors",
                        "-m a.safetensors --mini-batch-words 30", "-m a.safetensors --output-sampling topk 5 --seed 4"):
            with self.subTest(options):
                cpu, gpu = self.both("translate --quiet " + options)
                self.assertEqual(gpu, cpu)

    # Steps are recorded for up to 64 past positions, up to 128, … (src/model/recorded_steps.h).
    def test_translates_at_length_as_a_cpu_does(self):
        for name, model in (("u", TRANSFORMER), ("ut", T5)):  # they never predict </s>
            self.succeed(f"train -t s t -v v v -m {name}.safetensors --after 1u --quiet {RUN} {model}")
        for options in ("-m u.safetensors --beam-size 1", "-m u.safetensors --beam-size 3 --mini-batch-words 30",
                        "-m ut.safetensors --beam-size 2"):
            cpu, gpu = self.both("translate --quiet --word-scores --max-length-add 70 " + options, lines=self.lines[:4])
            cpu, gpu = ([line.split(" ||| WordScores= ") for line in text.splitlines()] for text in (cpu, gpu))
            self.assertEqual([text for text, _ in gpu], [text for text, _ in cpu])
            self.assertGreater(max(len(scores.split()) for _, scores in gpu), 64)

    def nearly_as_in_float32(self, options, precision="bfloat16", of_line=lambda line: line):
        lines = Gpu.lines[::3]
        text = "".join(f"{line}\n" for line in lines)
        cpu = self.succeed("translate --quiet " + options, text=text).stdout
        gpu = self.succeed(f"translate --quiet --precision {precision} --devices 0 {options}", text=text).stdout
        same = sum(of_line(a) == of_line(b) for a, b in zip(cpu.splitlines(), gpu.splitlines()))
        self.assertGreater(same, 0.9 * len(lines), gpu)

    def test_in_16_bits_nearly_as_in_float32(self):
        for model, precision in (*product("abrdt", ("bfloat16",)), ("a", "float16")):
            with self.subTest(model=model, precision=precision):
                self.nearly_as_in_float32(f"-m {model}.safetensors", precision)
        self.nearly_as_in_float32("-m a.safetensors b.safetensors --alignment")

    # They keep caches in float32, or have ops that take no 16 bits, or learn positions.
    def test_in_16_bits_whatever_a_model_is_made_of(self):
        for i, options in enumerate((
                TRANSFORMER + "--transformer-decoder-autoreg rnn", TRANSFORMER + "--transformer-decoder-autoreg average-attention",
                TRANSFORMER + "--copy --half-activations --devices 0", TRANSFORMER + "--transformer-positions rotary --transformer-preprocess n --transformer-postprocess da",
                TRANSFORMER + "--moe-experts 2 --moe-frequency 1", DECODER + "--dec-depth 2 --attention-memory local-compressed --attention-block 4 --attention-stride 2")):
            with self.subTest(options):
                self.succeed(f"train -t s t -v v v -m k{i}.safetensors --after 60u --quiet {RUN} {options}")
                self.nearly_as_in_float32(f"-m k{i}.safetensors")
        # The one that copies crashed with alignments. Their shares are nearly equal, so that 16 bits may align other pieces.
        self.nearly_as_in_float32("-m k2.safetensors --alignment", of_line=lambda line: line.split(" ||| ")[0])

    # Few rows and more than 16 rows: their products use different kernels.
    def test_in_8_bits_as_a_cpu_does(self):
        texts = lambda said: [line.split(" ||| ")[0] for line in said.splitlines()]
        for model, options in (("a", "--beam-size 1 --mini-batch-words 1"), ("a", "--beam-size 3"), ("r", "--beam-size 3"),
                               ("d", "--beam-size 3")):
            with self.subTest(model=model, options=options):
                self.succeed(f"quantize -m {model}.safetensors -o {model}8.safetensors")
                command = f"translate --quiet --word-scores {options} -m {model}"
                cpu, gpu = self.both(f"{command}.safetensors --precision int8")
                same = sum(a == b for a, b in zip(texts(cpu), texts(gpu)))
                # Products of equal x are equal bit by bit, but the norms before them may round differently on a GPU.
                self.assertGreaterEqual(same, (1 if "on_host" in LIBRARY else 0.9) * len(self.lines))
                self.assertEqual(self.both(f"{command}8.safetensors"), [cpu, gpu])
                self.assertNotEqual(self.both(f"{command}.safetensors")[1], gpu)

    def test_takes_floats_from_a_file_in_8_bits(self):
        self.succeed("quantize -m a.safetensors -o q.safetensors")
        text = "".join(f"{line}\n" for line in self.lines)
        command = "translate --quiet --precision float32 -m q.safetensors --devices "
        cpu, gpu = (self.succeed(command + device, text=text).stdout for device in ("cpu", "0 --fast-math"))
        self.assertEqual(gpu, cpu)

    # Weights of an output layer of its own are packed for decoding, and the originals have no memory.
    def test_scores_and_aligns_as_a_cpu_does(self):
        cpu, gpu = self.both("score --quiet -t s t -m a.safetensors")
        self.assert_close([float(x) for x in gpu.split()], [float(x) for x in cpu.split()], 1e-3)
        for name, model in (("tt", TRANSFORMER), ("tr", RECURRENT), ("td", DECODER)):
            with self.subTest(model):
                untied = "--tied-embeddings-all=false"
                self.succeed(f"train -t s t -v v v -m {name}.safetensors --after 60u --quiet {RUN} {model} {untied}")
                cpu, gpu = self.both(f"score --quiet -t s t -m {name}.safetensors")
                self.assert_close([float(x) for x in gpu.split()], [float(x) for x in cpu.split()], 1e-3)
                if model != DECODER:
                    cpu, gpu = self.both(f"translate --quiet --precision float32 --alignment hard -m {name}.safetensors")
                    self.assertEqual(gpu, cpu)


class Refused(Gpu):
    """What the drivers of some GPUs refuse, such as virtual ones: the stand-in refuses it, too."""

    def with_refusal_of(self, call, function, *arguments):
        with unittest.mock.patch.dict(os.environ, CUDA_ON_HOST_REFUSES=call):
            return function(*arguments)

    def test_tensors_lie_in_one_allocation_where_addresses_cannot_be_reserved(self):
        run = f"train -t s t -v v v -m refused.safetensors --no-reload --devices 0 --after 2u {TRANSFORMER}{RUN}"
        costs = lambda done: re.findall(r"Cost ([\d.]+)", done.stderr)
        usual = self.succeed(run)
        self.assertNotIn("reserving", usual.stderr)
        for call in ("cuMemAddressReserve", "cuMemCreate", "cuMemMap"):
            done = self.with_refusal_of(call, self.succeed, run)
            self.assertIn(f"CUDA: {call} failed: operation not supported: reserving half of the free GPU memory", done.stderr)
            self.assertEqual(costs(done), costs(usual))

    def test_steps_run_kernel_by_kernel_where_they_cannot_be_recorded(self):
        self.succeed(f"train -t s t -v v v -m steps.safetensors --after 20u --quiet {RUN} {TRANSFORMER}")
        run = "translate -m steps.safetensors --devices 0 -i s.few -b 2 --mini-batch-words 30"
        usual = self.succeed(run)
        self.assertNotIn("one by one", usual.stderr)
        for call in ("cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate", "cudaGraphLaunch"):
            done = self.with_refusal_of(call, self.succeed, run)
            self.assertEqual(done.stdout, usual.stdout, call)
            warning = f"CUDA: {call} failed: operation not supported; kernels are launched one by one"
            self.assertEqual(done.stderr.count(warning), 1, done.stderr)

    # Not taken for an event that the device has not reached yet.
    def test_a_failure_of_an_event_ends_the_run(self):
        self.with_refusal_of("cudaEventQuery", self.fails, ["CUDA: cudaEventQuery failed: operation not supported"],
                             f"train -t s t -v v v -m event.safetensors --devices 0 --after 2u {TRANSFORMER}{RUN}")


class Limited(Gpu):
    """GPUs that have less than others: code, numbers, memory."""

    def with_gpu(self, function, *arguments, **what):
        with unittest.mock.patch.dict(os.environ, what):
            return function(*arguments)

    def test_code_for_an_earlier_gpu_uses_no_matrix_units(self):
        run = f"train -t s t -v v v -m earlier.safetensors --no-reload --devices 0 --after 2u {TRANSFORMER}{RUN}"
        precise, earlier = self.succeed(run + " --precision float32"), self.with_gpu(self.succeed, run, CUDA_ON_HOST_CODE="75")
        self.assertNotIn("idle", precise.stderr)
        self.assertIn("this build has code for compute capability 7.5, which leaves the matrix units of GPU 0 idle: build with "
                      "-DCMAKE_CUDA_ARCHITECTURES=80", earlier.stderr)
        # Of products of bfloat16, which the matrix units multiply, costs would differ.
        self.assert_close(*([float(cost) for cost in re.findall(r"Cost ([\d.]+)", done.stderr)] for done in (earlier, precise)), 2e-5)

    def test_a_gpu_without_code_is_an_error_at_once(self):
        self.with_gpu(self.fails, ["this build has no code for GPU 0: CUDA 13.0 on the host, in place of a GPU (compute capability 8.0)",
                                   "-DCMAKE_CUDA_ARCHITECTURES=80"],
                      "train -t nowhere nowhere -v v v -m none.safetensors --devices 0", CUDA_ON_HOST_CODE="0")
        listed = self.with_gpu(self.succeed, "inspect --devices", CUDA_ON_HOST_CODE="0").stdout
        self.assertIn("this build has no code for it: build with -DCMAKE_CUDA_ARCHITECTURES=80", " ".join(listed.split()))

    def test_a_driver_that_is_too_old_is_named(self):
        self.with_gpu(self.fails, ["CUDA 13 needs NVIDIA's driver 580 or newer"], "translate -m none.safetensors --devices 0",
                      CUDA_ON_HOST_REFUSES="cudaGetDeviceCount")

    def test_all_of_the_half_that_is_allocated_at_once_is_used(self):
        run = (f"train -t s t -v v v -m half.safetensors --no-reload --devices 0 --after 1u {RUN} {TRANSFORMER}"
               "--dim-emb 128 --transformer-dim-ffn 2048")
        planned = lambda done: re.search(r"Memory: .* (\d+) MiB with the largest batch, in micro-batches of at most (\d+)", done.stderr)
        plenty = planned(self.succeed(run))
        self.assertTrue(16 < int(plenty[1]) < 32, plenty[0])
        half = self.with_gpu(self.succeed, run, DRAGOMAN_GPU_MEMORY="plain", CUDA_ON_HOST_MEMORY="64")
        self.assertEqual(planned(half)[0], plenty[0])

    def test_float16_that_overflows_is_not_called_a_damaged_model(self):
        self.succeed(f"train -t s t -v v v -m large.safetensors --after 1u --quiet {RUN} {TRANSFORMER}")
        model = bytearray((self.folder / "large.safetensors").read_bytes())
        header = json.loads(model[8:8 + int.from_bytes(model[:8], "little")])
        begin, end = next(tensor["data_offsets"] for name, tensor in header.items() if name.endswith("feed_forward.down.weight"))
        data = 8 + int.from_bytes(model[:8], "little")
        model[data + begin:data + end] = struct.pack("<f", 60000) * ((end - begin) // 4)
        (self.folder / "large.safetensors").write_bytes(model.replace(b'checksum', b'outdated'))
        command = "translate --quiet -m large.safetensors --devices 0 --precision "
        self.succeed(command + "bfloat16", text="the red house\n")
        self.fails(["no number may exceed 65,504", "use --precision bfloat16 or float32"], command + "float16", text="the red house\n")


class Choosing(Gpu):
    command = "train -t s t -v v v -m none.safetensors --devices "

    def test_lists_what_there_is(self):
        self.assertIn("the host, in place of a GPU", self.succeed("inspect --devices").stdout)
        self.assertIn("no library for GPUs", self.call("inspect --devices", program="alone").stdout)

    def test_names_what_is_missing(self):
        self.fails(["no library for GPUs", "alone/libdragoman_cuda.so", "alone/dragoman/libdragoman_cuda.so", "DRAGOMAN_CUDA"],
                   self.command + "0", program="alone")
        self.fails(["no GPU 1", "has 1"], self.command + "1")
        for wrong in ("gpu", "cuda", "1x", "cuda:x"):
            self.fails(["--devices", f"'{wrong}'", "expected cpu or the number of a GPU"], self.command + wrong)
        self.fails(["rank 1 of 2", "no GPU 1", "has 1"], self.command + "0 1")
        self.fails(["--processes 2, but --devices names one GPU"], self.command + "0 --processes 2")
        self.fails(["--devices names 2 devices (0 1), expected one"], "serve -m none.safetensors --devices 0 1")
        self.assertFalse((self.folder / "none.safetensors").exists())

    def test_refuses_a_library_of_another_build_or_none_at_all(self):
        (self.folder / "broken").mkdir()
        shutil.copy(BINARY, self.folder / "broken" / "dragoman")
        shutil.copy(Path(BINARY).parent / "libdragoman.so.0", self.folder / "broken")
        library = self.folder / "broken" / "libdragoman_cuda.so"
        whole = Path(LIBRARY).read_bytes()
        build = next(digits for digits in re.findall(rb"\0([0-9a-f]{16})(?=\0)", whole) if digits != b"0123456789abcdef")
        library.write_bytes(whole.replace(build, b"0" * 16))
        self.fails(["another build"], self.command + "0", program="broken")
        library.write_bytes(whole.replace(b"_ZNK8dragoman6Tensor7columnsEll", b"_ZNK8dragoman6Tensor7COLUMNSEll"))
        self.fails(["cannot load", "undefined symbol", "it belongs to another build of dragoman: reinstall both"],
                   self.command + "0", program="broken")
        library.write_bytes(b"no library")
        self.fails(["cannot load", "libdragoman_cuda.so", "without --devices, the CPU computes"], self.command + "0", program="broken")


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(2)
    BINARY = sys.argv.pop(1)
    unittest.main()

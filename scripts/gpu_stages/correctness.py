"""Stages `tests` and `sanitize`: kernels against the reference, whole runs against the CPU, memory errors and races."""
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpu_stages.check import TOO_LATE, first_match

ROOT = Path(__file__).resolve().parents[2]
KERNELS = "*.GpusAgreeWithTheReference*:GpusAgreeWithTheReference/*"
SHAPES = "*ShapesOfTrainingOnGpus*"
SHARDS, AT_ONCE = 24, 6  # processes that test kernels
ALONE = 40  # at most so many failed cases are run again, each alone
TRIED_OUT = 16  # --try-out runs one case in so many


def tests(check):
    kernels(check, every=TRIED_OUT if check.a.try_out else 1)
    if not check.a.try_out:
        shapes_of_training(check)
    for which, one, what in (("Training", "test_resumes_to_the_same_bits", "runs against the CPU, and resuming"),
                             ("Decoding", "test_translates_as_a_cpu_does", "translations against the CPU's")):
        code, text, seconds = check.run(sys.executable, "-B", ROOT / "tests/cli/gpu_test.py", check.dragoman,
                                        check.a.build / "libdragoman_cuda.so", f"{which}.{one}" if check.a.try_out else which,
                                        at_most=120)
        check.say(what, code, text, seconds=seconds)


def program(check):
    return check.a.build / "tests/ops/test_ops"


def names_of(check, pattern):
    """Returns (exit code, full names of the tests that match, or the error message)."""
    code, text, _ = check.run(program(check), "--gtest_list_tests", f"--gtest_filter={pattern}", at_most=60)
    if code != 0:
        return code, text
    names, suite = [], ""
    for line in text.splitlines():
        word = line.split("#")[0].strip()
        if line.startswith(" "):
            names.append(suite + word)
        elif word.endswith("."):
            suite = word
    return 0, names


def run_cases(check, names, at_most=100, **environment):
    """Returns {name: ok, SKIPPED, FAILED or CRASHED} for the cases that were started, the output and the exit code."""
    code, text, _ = check.run(program(check), f"--gtest_filter={':'.join(names)}", at_most=at_most, **environment)
    verdicts = {}
    for verdict, name in re.findall(r"^\[ +(RUN|OK|SKIPPED|FAILED) +\] ([^\s,]+)", text, re.MULTILINE):
        verdicts[name] = {"RUN": "CRASHED", "OK": "ok"}.get(verdict, verdict)
    return {name: verdict for name, verdict in verdicts.items() if name in names}, text, code


def shard(check, names):
    """Returns verdicts on all of the names, and the output. After a crash, the remaining cases run in a new process."""
    verdicts, said, left = {}, "", list(names)
    while left:
        some, text, code = run_cases(check, left)
        said += text
        if not some:
            return verdicts | dict.fromkeys(left, "not run" if code is None else "CRASHED"), said
        verdicts |= some
        left = [name for name in left if name not in verdicts]
    return verdicts, said


def kernels(check, every=1):
    """Runs one case in `every`, distributed over several processes. After an illegal access all later cases of a process fail,
    so each failed case is run again alone, with CUDA waiting for each kernel."""
    what, begin = "kernels against the reference", time.monotonic()
    code, names = names_of(check, KERNELS)
    if code != 0:
        check.say(what, code, names)
        return
    parts = [part for part in (names[i * every::SHARDS * every] for i in range(SHARDS)) if part]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        parts = list(pool.map(lambda part: shard(check, part), parts))
    verdicts = {name: verdict for part, _ in parts for name, verdict in part.items()}
    if any(verdict == "SKIPPED" for verdict in verdicts.values()):
        check.skip(what, "test_ops found no GPU, or no libdragoman_cuda.so in the build folder")
        return
    if set(verdicts.values()) == {"not run"}:
        check.skip(what, "no time left")
        return
    bad = [name for name, verdict in verdicts.items() if verdict not in ("ok", "not run")]
    count = lambda wanted: sum(verdict == wanted for verdict in verdicts.values())
    check.note(what, "cases", len(verdicts))
    check.note(what, "cases not run", count("not run"))
    alone = again_alone(check, bad)
    failed = [name for name in bad if alone.get(name) != "ok"]
    check.note(what, "cases that failed", len(failed))
    check.note(what, "cases that failed after others alone", len(bad) - len(failed))
    summary = f"{count('ok')} of {len(verdicts)} cases" + (f", {count('not run')} not run" if count("not run") else "")
    check.say(what, 1 if bad else 0, "\n".join(f"{alone.get(n, 'not run')} alone: {n}" for n in bad)
              + f"\n{len(failed)} of {len(verdicts)} cases fail alone, {len(bad) - len(failed)} after others only",
              figure=summary, seconds=time.monotonic() - begin)


def again_alone(check, names):
    verdicts = {}
    for name in names[:ALONE]:
        some, text, code = run_cases(check, [name], at_most=60, CUDA_LAUNCH_BLOCKING="1")
        verdicts[name] = some.get(name, "not run" if code is None else "CRASHED")
        if verdicts[name] != "ok":
            check.note_outcome(name, verdicts[name], text[-4000:])
    return verdicts


def shapes_of_training(check):
    code, names = names_of(check, SHAPES)
    for name in names if code == 0 else []:
        begin = time.monotonic()
        verdicts, text, code = run_cases(check, [name], at_most=150)
        seconds = time.monotonic() - begin
        if verdicts.get(name) == "SKIPPED":
            code, text = None, "test_ops found no GPU, or no libdragoman_cuda.so in the build folder"
        check.say(f"shapes of training, {name.rsplit('/', 1)[-1]}", code, text, seconds=seconds)


def sanitizers(check, train, translate):
    """`train` gives the arguments of a run that writes the model it is given, `translate` those of a translation with it. The
    kernels' cases come last, in random order, as there is no time for all of them."""
    for tool in ("memcheck", "racecheck"):
        sanitize(check, tool, "", check.dragoman, *train(f"{tool}.safetensors"), **environment_of(tool))
    for tool in ("memcheck", "racecheck"):
        sanitize(check, tool, ", translating", check.dragoman, *translate("memcheck.safetensors"))
    for tool in ("memcheck", "racecheck"):
        sanitize(check, tool, ", kernels", program(check), f"--gtest_filter={KERNELS}", "--gtest_shuffle",
                 **environment_of(tool))


# Racecheck reports cuBLASLt's kernels on an H200, whose barriers it does not know. (Initcheck is of no use there, because it
# does not see what they write.)
OF_TOOL = {"memcheck": (), "racecheck": ("--kernel-name", "kernel_substring=dragoman")}


def environment_of(tool):
    """Accesses beyond a tensor are detected only if each tensor has its own allocation; races do not need that."""
    return {} if tool == "racecheck" else {"DRAGOMAN_GPU_MEMORY": "tensors"}


def sanitize(check, tool, what, *command, at_most=90, **environment):
    """Runs a command under compute-sanitizer. A command that has no error until its time is over counts as skipped, and so does
    one that the tool does not support."""
    code, text, seconds = check.run("compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *OF_TOOL[tool], *command,
                                    at_most=at_most, **environment)
    if code == TOO_LATE and not re.search(r"^========= (?!COMPUTE-SANITIZER)|^\[  FAILED", text, re.MULTILINE):
        code, text = None, f"not done after {seconds:.0f} s, no error until then"
    elif code and re.search(r"Device not supported|not supported on|Unable to (attach|find)|initialization failed", text):
        code, text = None, first_match(r"^(.*(?:not supported|Unable to|initialization failed).*)$", text)
    check.say(f"compute-sanitizer {tool}{what}", code, text, seconds=seconds)

"""Stage `facts`: what the machine is, and how long the program takes to start on it."""
import re
import shutil

from gpu_stages.check import first_match

QUERY = "name,driver_version,memory.total,memory.free,clocks.sm,clocks.max.sm,power.limit,mig.mode.current"
PYTHON = ("import importlib.util as u, sys; print(sys.version.split()[0]); "
          "[print(n, __import__(n).__version__) for n in ('torch', 'sentencepiece', 'safetensors') if u.find_spec(n)]")


def facts(check):
    _, text, _ = check.run("nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader", at_most=20)
    check.note_fact("nvidia-smi", text.strip())
    for name, command, pattern in (("nvcc", ["nvcc", "--version"], r"release (.*)$"),
                                   ("ncu", ["ncu", "--version"], r"^Version (.*)$"),
                                   ("compute-sanitizer", ["compute-sanitizer", "--version"], r"^Version (.*)$"),
                                   ("kernel", ["uname", "-r"], r"^(.*)$"), ("dragoman", [check.dragoman, "--version"], r"^(.*)$"),
                                   ("memory", ["free", "-m"], r"^Mem: +(\d+)"), ("processors", ["nproc"], r"^(.*)$")):
        code, text, _ = check.run(*command, at_most=20)
        check.note_fact(name, first_match(pattern, text) if code == 0 else "not here")
    _, text, _ = check.run(check.a.python, "-c", PYTHON, at_most=40)
    check.note_fact("Python", text.strip().splitlines())
    check.note_fact("libraries", libraries(check))
    for name, environment in (("first start", {}), ("start", {}), ("start, CUDA_MODULE_LOADING=EAGER",
                                                                    {"CUDA_MODULE_LOADING": "EAGER"})):
        code, text, seconds = check.run(*translate_nothing(check), at_most=60, **environment)
        check.say(name, code, text, seconds=seconds)
        check.note(name, "seconds", seconds if code == 0 else None)
    for name, value in check.facts.items():
        print(f"{name:<20} {', '.join(value) if isinstance(value, list) else value}", flush=True)


def translate_nothing(check):
    """A command that opens the GPU and computes almost nothing."""
    return [check.dragoman, "train", "-t", *check.a.train, "-v", check.a.vocab, check.a.vocab, "--dim-emb", "16",
            "--transformer-heads", "2", "--transformer-dim-ffn", "32", "--enc-depth", "1", "--dec-depth", "1",
            "--mini-batch-words", "16", "--after", "1u", "--devices", "0", "--quiet", "--no-reload", "-m",
            "start.safetensors"]


def libraries(check):
    """The CUDA libraries that libdragoman_cuda.so links, and missing ones."""
    code, text, _ = check.run("ldd", check.a.build / "libdragoman_cuda.so", at_most=20)
    if code != 0 or not shutil.which("ldd"):
        return []
    return [line.strip() for line in text.splitlines() if re.search(r"cuda|cublas|not found", line)]

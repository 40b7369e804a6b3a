"""The environment of the figures: the machine, the installed packages, and other running programs."""
import os
import platform
import shutil
import subprocess

INSTRUCTIONS = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "asimd", "sve",
                "i8mm", "bf16")


def cpu():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in file)}
    except OSError:
        fields = {}
    has = set(fields.get("flags", fields.get("Features", "")).split())
    name = fields.get("model name", platform.processor() or platform.machine())
    return f"{name}, {os.cpu_count()} logical cores: {' '.join(i for i in INSTRUCTIONS if i in has)}"


def warning():
    """A warning if the machine is busy before anything has started, else empty."""
    load = os.getloadavg()[0]
    return f"note: something else is running (load {load:.1f}); do not quote these figures\n" if load > 0.5 else ""


def missing(program, *packages):
    """Why the program cannot run, such as missing Python packages; empty if it can."""
    if not shutil.which(program):
        return f"no program {program}"
    for package in packages:
        if subprocess.run([program, "-c", f"import {package}"], capture_output=True, check=False).returncode:
            return f"{program} has no {package}; --python names another"
    return ""

"""What nvidia-smi reports about the first GPU; empty if there is none."""
import subprocess
import threading


def query(field):
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits", "--id=0"],
                              capture_output=True, encoding="utf-8", check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


class Memory:
    """Peak use of a GPU's memory inside a `with`, minus the use before it."""

    def __enter__(self):
        self.before, self.most, self.stop = self.used(), 0, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        if self.before is not None:
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        if self.before is not None:
            self.thread.join()

    @staticmethod
    def used():
        answer = query("memory.used")
        return float(answer) if answer.isdigit() else None

    def watch(self):
        while not self.stop.wait(0.5):
            self.most = max(self.most, self.used() or 0)

    def mib(self):
        """None if unknown"""
        return None if self.before is None else self.most - self.before

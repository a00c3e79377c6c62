"""A run of a slow scripted model in a process of its own: ``slow_run.py DATA OUT LOG SECONDS [DTYPE]``.

Every id that the model is asked for is appended to LOG, so that a test can see what was asked twice. In OUT and DTYPE,
which the model says it was loaded with, ``{rank}`` stands for the rank of the process.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.processes import Processes
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.types import Response


class Slow:
    """Answers with a digest of what it was shown, after a while."""

    def __init__(self, log: str, seconds: float, dtype: str | None = None) -> None:
        self.log, self.seconds, self.dtype, self.is_loaded = log, seconds, dtype, False

    def load(self):
        self.is_loaded = True

    def describe(self):
        return {"id": "slow"} | ({"loaded": {"dtype": self.dtype}} if self.is_loaded and self.dtype else {})

    def generate(self, requests):
        for request in requests:
            with open(self.log, "a", encoding="utf-8") as log:
                log.write(f"{request.id}\n")
            time.sleep(self.seconds)
            seen = hashlib.sha256(b"".join(picture.data for picture in request.pictures)).hexdigest()[:12]
            yield Response(id=request.id, text=f"- {seen}")


def main() -> None:
    data, out, log, seconds, *dtype = (word.format(rank=os.environ.get("RANK", 0)) for word in sys.argv[1:])
    chosen = benchmark("diffspot")
    processes = Processes.from_environment()
    settings = Settings(prompt=chosen.prompt, progress=False)
    run(chosen, RowSet(chosen, data), Slow(log, float(seconds), *dtype), RunFolder(out), settings, processes)
    processes.close()


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()

"""What the programs of this folder share: how a method is run, and what is read from a run."""

import json
import math
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAPER_ENV = HERE / "paper.env"

# The five methods, by the recipes of `--algorithm` and what these leave open. A ring all-reduce is
# what synchronous methods exchange by in the paper.
METHODS = {
    "halos": {"algorithm": "halos"},
    "async-local-sgd": {"algorithm": "async-local-sgd"},
    "diloco-dynamic": {"algorithm": "diloco-dynamic", "collective": "ring"},
    "diloco": {"algorithm": "diloco", "collective": "ring"},
    "ddp": {"algorithm": "ddp", "collective": "ring"},
}


def slackline():
    """The program: SLACKLINE in the environment, or this checkout's release build."""
    path = os.environ.get("SLACKLINE") or HERE.parent.parent / "build/release/bin/slackline"
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there; build it with tools/quickstart, or set SLACKLINE")
    return str(path)


def mean(values):
    return sum(values) / len(values) if values else 0.0


# Two-sided 95 % of Student's t, by degrees of freedom.
STUDENT = [float("nan"), 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]


def interval(values):
    """Mean and half the width of its 95 % interval."""
    n = len(values)
    if n < 2:
        return {"mean": mean(values), "half_width": 0.0}
    variance = sum((v - mean(values)) ** 2 for v in values) / (n - 1)
    t = STUDENT[n - 1] if n <= len(STUDENT) else 1.96
    return {"mean": mean(values), "half_width": t * math.sqrt(variance / n)}


class Run:
    """One finished run and its folder."""

    command = None

    def __init__(self, folder, env=None, **flags):
        self.folder = pathlib.Path(folder)
        command = [slackline(), self.command, f"--run-dir={folder}"]
        if env:
            command.append(f"--env={env}")
        command += [f"--{name}={value}" for name, value in flags.items()]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        self.read()

    @classmethod
    def found(cls, folder):
        """A run that was made before."""
        run = cls.__new__(cls)
        run.folder = pathlib.Path(folder)
        run.read()
        return run

    def read(self):
        self.summary = json.loads((self.folder / "summary.json").read_text())
        # "name = value  # where it came from"
        lines = (self.folder / "config.ini").read_text().splitlines()
        self.config = dict(line.split("  #")[0].split(" = ", 1) for line in lines
                           if " = " in line.split("  #")[0])

    def events(self):
        with subprocess.Popen([slackline(), "events", str(self.folder)], stdout=subprocess.PIPE,
                              text=True) as process:
            for line in process.stdout:
                yield json.loads(line)
            process.stdout.close()
            process.kill()  # Whoever has read enough does not wait for the rest.

    def metrics(self, event):
        for line in (self.folder / "metrics.jsonl").read_text().splitlines():
            record = json.loads(line)
            if record["event"] == event:
                yield record

    def model_bytes(self):
        return 4 * next(self.metrics("placement"))["dense_elements"]

    def slow_link_bytes(self):
        """Payload that crossed from one region to another."""
        return sum(count for link, count in self.summary.get("region_bytes", {}).items()
                   if len(set(link.split(" -> "))) == 2)


class Sim(Run):
    command = "sim"


class Real(Run):
    command = "run"


class Table:
    """Rows of text in columns."""

    def __init__(self, head):
        self.rows = [[str(cell) for cell in head]]

    def add(self, row):
        self.rows.append([str(cell) for cell in row])

    def __str__(self):
        widths = [max(len(row[i]) for row in self.rows) for i in range(len(self.rows[0]))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                         for row in self.rows)

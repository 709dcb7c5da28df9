#!/usr/bin/python3
"""A small HALoS and its flat rival over real processes: what 200 ms between regions cost each."""

import json
import pathlib
import subprocess
import tempfile
import unittest

REAL = pathlib.Path(__file__).resolve().parents[2] / "examples/halos/real"


class HalosRealTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="halos-real-") as folder:
            printed = subprocess.run([REAL, "--out", folder, "--samples", "50000"], check=True,
                                     capture_output=True, text=True).stdout
            cls.json = json.loads((pathlib.Path(folder) / "table.json").read_text())
            cls.printed = (printed, (pathlib.Path(folder) / "table.txt").read_text())

    def test_the_table_is_printed_and_written(self):
        printed, written = self.printed
        self.assertIn(written, printed)
        for column in ("method", "seconds", "samples/s", "rounds/s a worker", "utilisation",
                       "MB over slow links", "staleness mean", "max", "final loss"):
            self.assertIn(column, written)

    def test_halos_keeps_its_round_rate(self):
        self.assertLess(self.json["halos_drop_percent"], 10)

    def test_flat_the_far_workers_fall_to_a_fifth(self):
        self.assertGreater(self.json["flat_far_share_percent"], 15)
        self.assertLess(self.json["flat_far_share_percent"], 27)

    def test_every_run_trained(self):
        for method, result in self.json["methods"].items():
            self.assertGreaterEqual(result["samples"], 50000, method)
            self.assertEqual(len(result["rounds_per_s"]), 4, method)
            self.assertGreater(result["slow_link_mb"], 0, method)
            self.assertGreater(result["final_metric"], 0.3, method)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""The clock of the HALoS paper (Kim et al., ICML 2025), to the digits that its released code gives."""

import json
import pathlib
import subprocess
import unittest

CLOCK = pathlib.Path(__file__).resolve().parents[2] / "examples/halos/clock"


class HalosClockTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.clock = json.loads(subprocess.run([CLOCK, "--json"], check=True, capture_output=True).stdout)

    def test_hours_to_four_decimals(self):
        hours = {method: result["hours"] for method, result in self.clock.items()}
        ddp = hours.pop("ddp")
        self.assertEqual(hours, {"halos": 0.6762, "async-local-sgd": 1.1384,
                                 "diloco-dynamic": 3.5064, "diloco": 5.2233})
        self.assertAlmostEqual(ddp, 60.2, delta=0.05)

    def test_updates(self):
        self.assertEqual(self.clock["halos"]["updates"], 396)
        self.assertEqual(self.clock["halos"]["region_updates"], [4202, 4431, 4316, 4673])
        self.assertEqual(self.clock["async-local-sgd"]["updates"], 4875)
        self.assertEqual(self.clock["diloco"]["updates"], 192)
        self.assertEqual(self.clock["diloco-dynamic"]["updates"], 303)

    def test_staleness(self):
        self.assertEqual(self.clock["halos"]["staleness"], {"mean": 2.98, "max": 6})
        self.assertEqual(self.clock["halos"]["region_staleness"], {"mean": 3.0, "max": 6})
        self.assertEqual(self.clock["async-local-sgd"]["staleness"], {"mean": 14.97, "max": 39})

    def test_workers_are_as_busy_as_published(self):
        published = {"halos": 0.980, "async-local-sgd": 0.590, "diloco-dynamic": 0.190,
                     "diloco": 0.200}
        for method, share in published.items():
            self.assertAlmostEqual(self.clock[method]["utilisation"], share, delta=0.0051)


if __name__ == "__main__":
    unittest.main()

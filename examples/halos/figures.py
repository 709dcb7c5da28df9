"""The two figures: held-out loss by virtual time and by samples, a line a method, a band a seed."""

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402: the backend comes first.

COLOURS = {"halos": "#d1495b", "async-local-sgd": "#edae49", "diloco-dynamic": "#66a182",
           "diloco": "#2e4057", "ddp": "#8d96a3"}


def draw(curves, targets, out):
    """Writes loss-by-{time,samples}.{svg,png} into `out`; returns their names."""
    names = []
    for axis, label in (("hours", "virtual hours"), ("samples", "samples")):
        figure, plot = pyplot.subplots(figsize=(7, 4.5))
        for method, runs in curves.items():
            for i, curve in enumerate(runs):
                plot.plot(getattr(curve, axis), curve.loss, color=COLOURS.get(method), alpha=0.7,
                          linewidth=1.2, label=method if i == 0 else None)
        for target in targets:
            plot.axhline(target, color="black", linewidth=0.5, linestyle=":")
        if axis == "hours":  # From minutes to days: else the fast methods are one line.
            plot.set_xscale("log")
            first = min(curve.hours[1] for runs in curves.values() for curve in runs
                        if len(curve.hours) > 1)
            plot.set_xlim(left=first / 2)
        losses = [loss for runs in curves.values() for curve in runs for loss in curve.loss
                  if loss is not None]
        plot.set_ylim(min(losses) - 0.02, sorted(losses)[-1])
        plot.set_xlabel(label)
        plot.set_ylabel("held-out loss")
        plot.legend(frameon=False)
        plot.spines[["top", "right"]].set_visible(False)
        figure.tight_layout()
        stem = f"loss-by-{'time' if axis == 'hours' else axis}"
        for ending in ("svg", "png"):
            figure.savefig(out / f"{stem}.{ending}", dpi=150)
            names.append(f"{stem}.{ending}")
        pyplot.close(figure)
    return names

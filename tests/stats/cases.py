"""Cases of distributions: parameters, points, and what SciPy and mpmath say about them."""
import json
import math

import numpy as np
from scipy import stats


def plain(value):
    """Numbers that JSON has no words for become strings."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    value = float(value)
    if math.isnan(value):
        return "nan"
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


QUANTILES = (1e-10, 1e-3, 0.1, 0.25, 0.5, 0.8, 0.95, 0.9999, 1 - 1e-10)
STEPS = np.linspace(0.005, 0.995, 100)


class Cases:
    def __init__(self):
        self.list = []

    def add(self, name, sets, frozen, *, extra=(), points=QUANTILES, log_density=None, log_cdf=None, log_survival=None,
            tolerance=1e-12, single=1e-4, moments=1e-9, kurtosis=None, tensors=True, draws=True,
            relative=lambda s, p: p):
        """One case: `sets` of parameters; frozen(*set) is SciPy's distribution.

        Points are the quantiles `points` of each set, then `extra` ones, which relative(set, extra) places.
        log_density(x, *set), log_cdf and log_survival replace SciPy's functions, or (True) ask for SciPy's.
        tolerance, single: of log densities in f64 and f32, relative to 1 + |value|.
        moments: how far mean and variance may be off, relatively; kurtosis: in place of SciPy's.
        tensors: also with the sets as one batch; draws: draws are compared with cdf and moments.
        """
        rows = []
        for s in sets:
            d = frozen(*s)
            discrete = isinstance(d.dist, stats.rv_discrete)
            at = [float(q) for q in d.ppf(points)] if len(points) else []
            at += [float(relative(s, p)) for p in extra]
            own = log_density or (lambda x, *_: d.logpmf(x) if discrete else d.logpdf(x))
            row = {"parameters": plain(s), "points": plain(at)}
            with np.errstate(all="ignore"):
                row["log_density"] = plain([own(x, *s) for x in at])
                if log_cdf:
                    f = d.logcdf if log_cdf is True else lambda x: log_cdf(x, *s)
                    row["log_cdf"] = plain([f(x) for x in at])
                if log_survival:
                    f = d.logsf if log_survival is True else lambda x: log_survival(x, *s)
                    row["log_survival"] = plain([f(x) for x in at])
                mean, variance, tails = d.stats(moments="mvk")
                row.update(mean=plain(mean), variance=plain(variance),
                           kurtosis=plain(tails if kurtosis is None else kurtosis))
                where = sorted(set(float(q) for q in d.ppf(STEPS)))
                row["cdf_points"], row["cdf"] = plain(where), plain(d.cdf(where))
            rows.append(row)
        self.list.append({"name": name, "tolerance": tolerance, "single": single, "moments": moments,
                          "tensors": tensors, "draws": draws, "sets": rows})

    def write(self, path):
        with open(path, "w") as file:
            json.dump(self.list, file, indent=0)

#!/usr/bin/env python3
"""Writes cases for diagnostics_test: diagnostics_reference.py FILE.

Everything is computed here from the definitions of the papers, with NumPy and SciPy, as plainly as possible:
Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021); Geyer (1992); Margossian et al. (2024);
Vehtari, Simpson, Gelman, Yao, Gabry (2024); Zhang and Stephens (2009).
"""
import json
import math
import sys
import warnings

import numpy as np
from scipy import special, stats

warnings.simplefilter("ignore")  # 0 / 0 is part of the cases


def split(x):
    """Rows are chains; halves of chains as rows."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, x.shape[1] - half:]])


def undefined(x):
    return x.size == 0 or not np.all(np.isfinite(x)) or np.all(x == x.flat[0])


def normal_scores(x):
    ranks = stats.rankdata(x, method="average").reshape(x.shape)
    return stats.norm.ppf((ranks - 0.375) / (x.size + 0.25))


def basic_r_hat(halves):
    n = halves.shape[1]
    if n < 2:
        return math.nan
    between = n * np.var(halves.mean(axis=1), ddof=1)
    within = np.mean(np.var(halves, axis=1, ddof=1))
    return float(np.sqrt((np.float64(between) / within + n - 1) / n))


def r_hat(x):
    if undefined(x):
        return math.nan
    folded = np.abs(x - np.median(x))
    return float(np.nanmax([basic_r_hat(normal_scores(split(x))), basic_r_hat(normal_scores(split(folded)))]))


def covariances(series):
    """Biased autocovariances at every lag, by direct sums."""
    centred = series - series.mean()
    n = len(series)
    return np.array([np.dot(centred[:n - t], centred[t:]) for t in range(n)]) / n


def ess(halves):
    m, n = halves.shape
    if n < 3 or undefined(halves):
        return math.nan
    mean_covariances = np.mean([covariances(row) for row in halves], axis=0)
    within = mean_covariances[0] * n / (n - 1)
    total = within * (n - 1) / n + np.var(halves.mean(axis=1), ddof=1)
    rho = 1 - (within - mean_covariances) / total
    rho[0] = 1
    # Pairs up to the lag n - 2, at least one.
    pairs = [(rho[t], rho[t + 1]) for t in range(0, max(n - 2, 1), 2) if t + 1 <= max(n - 2, 1)]
    sums = [a + b for a, b in pairs]
    positive = next((k for k, s in enumerate(sums) if not s > 0), len(sums))
    if len(pairs) == 1 and positive == 1:
        tau = -1 + 2 * sums[0]
    else:
        end = min(positive, len(sums) - 1)
        kept = np.minimum.accumulate(sums[:end]) if end else np.zeros(0)
        tau = -1 + 2 * kept.sum() + max(pairs[end][0], 0)
    return float(m * n / max(tau, 1 / math.log10(m * n)))


def ess_bulk(x):
    return math.nan if undefined(x) else ess(normal_scores(split(x)))


def ess_quantile(x, p):
    if undefined(x):
        return math.nan
    bound = np.quantile(x, p)
    inside = x <= bound if p <= 0.5 else x >= bound
    return ess(split(inside.astype(float)))


def ess_tail(x):
    sizes = [ess_quantile(x, 0.05), ess_quantile(x, 0.95)]
    return float(np.nanmin(sizes)) if not np.all(np.isnan(sizes)) else math.nan


def ess_mean(x):
    return math.nan if undefined(x) else ess(split(x))


def mcse_mean(x):
    return float(np.std(x, ddof=1) / np.sqrt(ess_mean(x))) if x.size > 1 else math.nan


def mcse_sd(x):
    if undefined(x):
        return math.nan
    d = x - x.mean()
    variance = np.mean(d ** 2)
    return float(np.sqrt((np.mean(d ** 4) - variance ** 2) / ess(split(np.abs(d))) / (4 * variance)))


def mcse_quantile(x, p):
    size = ess_quantile(x, p)
    if math.isnan(size):
        return math.nan
    a = stats.beta.ppf(stats.norm.cdf([-1, 1]), size * p + 1, size * (1 - p) + 1)
    ordered, count = np.sort(x.ravel()), x.size
    low = ordered[max(math.floor(a[0] * count), 1) - 1]
    high = ordered[min(math.ceil(a[1] * count), count) - 1]
    return float((high - low) / 2)


def nested_r_hat(x, superchains):
    if undefined(x):
        return math.nan
    groups = x.reshape(superchains, -1, x.shape[1])
    chain_means = groups.mean(axis=2)
    between_chains = chain_means.var(axis=1, ddof=1) if groups.shape[1] > 1 else 0
    within_chains = groups.var(axis=2, ddof=1).mean(axis=1) if groups.shape[2] > 1 else 0
    return float(np.sqrt(1 + chain_means.mean(axis=1).var(ddof=1) / np.mean(between_chains + within_chains)))


def hdi(x, share):
    ordered = np.sort(x.ravel())
    steps = min(int(share * len(ordered)), len(ordered) - 1)
    widths = ordered[steps:] - ordered[:len(ordered) - steps]
    first = int(np.argmin(widths))
    return [float(ordered[first]), float(ordered[first + steps])]


def e_bfmi(x):
    return [float(np.sum(np.diff(row) ** 2) / np.sum((row - row.mean()) ** 2)) for row in x]


def autocorrelation(series, lags):
    c = covariances(series)
    return (c / c[0])[:lags + 1].tolist()


# --- Pareto smoothing

def pareto_fit(x):
    """x ascending. Returns the shape with its weak prior, and the scale."""
    n = len(x)
    grid = 30 + int(math.sqrt(n))
    j = np.arange(1, grid + 1)
    theta = 1 / x[-1] + (1 - np.sqrt(grid / (j - 0.5))) / (3 * x[int(n / 4 + 0.5) - 1])
    shape = np.array([np.mean(np.log1p(-t * x)) for t in theta])
    profile = n * (np.log(-theta / shape) - shape - 1)
    weights = np.array([1 / np.sum(np.exp(profile - value)) for value in profile])
    best = np.sum(theta * weights)
    k = np.mean(np.log1p(-best * x))
    return (k * n + 5) / (n + 10), -k / best


def loo_point(log_likelihood):
    """log_likelihood: chains x draws of one observation. elpd, k, lppd."""
    flat = log_likelihood.ravel()
    efficiency = ess(split(np.exp(log_likelihood - flat.max()))) / flat.size
    tail = math.ceil(min(flat.size / 5, 3 * math.sqrt(flat.size / efficiency)))
    weights = -flat - np.max(-flat)
    order = np.argsort(weights, kind="stable")
    cut = np.exp(weights[order[-tail - 1]])
    exceedances = np.exp(weights[order[-tail:]]) - cut
    k, scale = pareto_fit(exceedances)
    p = (np.arange(1, tail + 1) - 0.5) / tail
    if math.isfinite(k):
        smooth = np.log(stats.genpareto.ppf(p, k, scale=scale) + cut)
        weights[order[-tail:]] = np.minimum(smooth, 0)
    else:
        k = math.inf  # no fit exists: nothing is smoothed, nothing is trusted
    weights -= special.logsumexp(weights)
    return (float(special.logsumexp(weights + flat)), float(k),
            float(special.logsumexp(flat) - math.log(flat.size)))


def loo_case(name, log_likelihood):
    """log_likelihood: chains x draws x observations."""
    points = [loo_point(log_likelihood[:, :, i]) for i in range(log_likelihood.shape[2])]
    elpd, k, lppd = (np.array(column) for column in zip(*points))
    draws = log_likelihood.shape[0] * log_likelihood.shape[1]
    flat = log_likelihood.reshape(draws, -1)
    waic_pointwise = lppd - flat.var(axis=0, ddof=1)
    threshold = min(1 - 1 / math.log10(draws), 0.7)
    return {"name": name, "chains": log_likelihood.shape[0], "draws": log_likelihood.shape[1],
            "observations": log_likelihood.shape[2], "values": log_likelihood.ravel().tolist(),
            "elpd": float(elpd.sum()), "p_loo": float((lppd - elpd).sum()),
            "se": float(np.sqrt(len(elpd) * elpd.var(ddof=1))), "pointwise": elpd.tolist(), "k": k.tolist(),
            "threshold": threshold, "bad": int(np.sum(k > threshold)),
            "waic_elpd": float(waic_pointwise.sum()), "p_waic": float(flat.var(axis=0, ddof=1).sum()),
            "waic_se": float(np.sqrt(len(elpd) * waic_pointwise.var(ddof=1)))}


# --- Chains

def ar1(rng, chains, draws, phi, noise=None):
    noise = rng.standard_normal((chains, draws)) if noise is None else noise
    x = np.empty((chains, draws))
    x[:, 0] = noise[:, 0]
    for t in range(1, draws):
        x[:, t] = phi * x[:, t - 1] + math.sqrt(1 - phi ** 2) * noise[:, t]
    return x


def chain_inputs(rng):
    yield "independent", rng.standard_normal((4, 250))
    yield "ar_0.5", 3 + 2 * ar1(rng, 4, 300, 0.5)
    yield "ar_0.95", ar1(rng, 4, 700, 0.95)  # long enough to need the transform
    yield "ar_0.999_runs_to_the_end", ar1(rng, 2, 400, 0.999)
    yield "antithetic", ar1(rng, 4, 200, -0.7)
    yield "one_chain_odd", ar1(rng, 1, 301, 0.6)
    yield "odd_lengths", ar1(rng, 3, 101, 0.3) * 1e-3
    yield "large_offset", 1e9 + ar1(rng, 4, 128, 0.4)
    shifted = rng.standard_normal((4, 200))
    shifted[2] += 1.5
    yield "one_chain_shifted", shifted
    yield "one_chain_wider", rng.standard_normal((4, 200)) * np.array([[1], [1], [1], [4]])
    yield "drift", rng.standard_normal((4, 200)) + np.linspace(0, 2, 200)
    yield "cauchy", rng.standard_cauchy((4, 250))
    yield "log_normal", np.exp(3 * ar1(rng, 4, 160, 0.5))
    yield "ties", np.round(ar1(rng, 4, 200, 0.5) * 2)
    yield "counts", rng.poisson(0.4, (4, 150)).astype(float)
    yield "signs", np.where(rng.standard_normal((4, 100)) > 0, 1.0, -1.0)
    yield "rare", (rng.random((4, 100)) < 0.02).astype(float)
    yield "single_precision", ar1(rng, 4, 400, 0.2).astype(np.float32).astype(float)
    yield "many_sorted_by_digits", np.round(ar1(rng, 16, 250, 0.2), 3) * 1e-5 + 7
    outlier = rng.standard_normal((4, 500)) * 1e-9 + 1e6
    outlier[0, 0] = -1e70
    yield "one_far_away", outlier
    yield "zeros_of_both_signs", rng.choice([-1.0, -0.0, 0.0, 1.0], (4, 60))
    yield "many_short_chains", rng.standard_normal((200, 10))
    yield "many_very_short_chains", rng.standard_normal((100, 6))
    yield "seven_draws", rng.standard_normal((50, 7))
    yield "five_draws", rng.standard_normal((40, 5))
    yield "three_draws", rng.standard_normal((4, 3))
    yield "two_draws", rng.standard_normal((4, 2))
    yield "one_draw", rng.standard_normal((6, 1))
    yield "one_value", np.array([[1.5]])
    yield "constant", np.full((4, 50), 0.1)
    yield "constant_chains_apart", np.repeat([[1.0], [2.0], [3.0], [4.0]], 20, axis=1)
    holes = rng.standard_normal((4, 50))
    holes[1, 7] = math.nan
    yield "not_a_number", holes
    infinite = rng.standard_normal((4, 50))
    infinite[3, 9] = math.inf
    yield "infinite", infinite


def chain_case(name, x):
    case = {"name": name, "chains": x.shape[0], "values": x.ravel().tolist()}
    case["expect"] = {
        "r_hat": r_hat(x), "r_hat_plain": math.nan if undefined(x) else basic_r_hat(split(x)),
        "ess_bulk": ess_bulk(x), "ess_tail": ess_tail(x), "ess_mean": ess_mean(x),
        "ess_quantile_0.3": ess_quantile(x, 0.3), "ess_quantile_0.8": ess_quantile(x, 0.8),
        "mcse_mean": mcse_mean(x), "mcse_sd": mcse_sd(x),
        "mcse_quantile_0.1": mcse_quantile(x, 0.1), "mcse_quantile_0.5": mcse_quantile(x, 0.5),
        "quantile_0.05": float(np.quantile(x, 0.05)), "quantile_0.37": float(np.quantile(x, 0.37)),
        "mad": float(1.4826 * np.median(np.abs(x - np.median(x)))),
        "mean": float(np.mean(x)), "sd": float(np.std(x, ddof=1)) if x.size > 1 else math.nan}
    if np.all(np.isfinite(x)):
        case["hdi_0.94"] = hdi(x, 0.94)
    if x.shape[0] % 2 == 0:
        case["expect"]["nested_2"] = nested_r_hat(x, 2)
    if x.shape[0] % 4 == 0:
        case["expect"]["nested_4"] = nested_r_hat(x, 4)
    if not undefined(x):
        case["autocorrelation"] = autocorrelation(x[0], min(60, x.shape[1] - 1)) if not undefined(x[0]) else None
        case["e_bfmi"] = e_bfmi(x)
    return case


def plain(value):
    """JSON has no NaN or infinities: null and strings."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def main():
    rng = np.random.default_rng(20240817)
    chains = [chain_case(name, x) for name, x in chain_inputs(rng)]
    # Likelihoods of a normal model with a far observation, and of heavy tails.
    y = np.concatenate([rng.standard_normal(11), [4.5]])
    mu = 0.3 * ar1(rng, 4, 250, 0.4)
    normal = stats.norm.logpdf(y[None, None, :], mu[:, :, None], 1)
    heavy = -rng.exponential(1, (2, 300, 6)) * np.array([0.1, 0.3, 0.6, 0.9, 1.3, 2.0])
    heavy[:, :, 3] = -np.abs(rng.standard_cauchy((2, 300)))  # beyond any Pareto tail
    loo = [loo_case("normal", normal), loo_case("heavy", heavy), loo_case("short", normal[:, :20, :4])]
    fits = []
    for k in (-0.4, 0.05, 0.3, 0.7, 1.2):
        x = np.sort(stats.genpareto.rvs(k, scale=2.5, size=400, random_state=rng))
        shape, scale = pareto_fit(x)
        fits.append({"values": x.tolist(), "shape": float(shape), "scale": float(scale)})
    scores = [{"p": p, "z": float(stats.norm.ppf(p))} for p in
              (1e-300, 1e-12, 2e-8, 1e-3, 0.07, 0.0751, 0.3, 0.5, 0.8, 0.925, 0.9999, 1 - 1e-12)]
    betas = [{"p": p, "a": a, "b": b, "x": float(stats.beta.ppf(p, a, b))}
             for p in (0.1587, 0.8413) for a, b in ((1, 1), (1.5, 40), (21, 381), (5000.5, 5000.5), (3e5, 1e6))]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(plain({"chains": chains, "loo": loo, "fits": fits, "scores": scores, "betas": betas}), file)
    print(f"{len(chains)} cases of chains, {len(loo)} of likelihoods")


if __name__ == "__main__":
    main()

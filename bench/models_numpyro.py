#!/usr/bin/env python3
"""The models of models_bench in NumPyro, a line of JSON each.

    models_bench --data FOLDER
    bench/models_numpyro.py FOLDER [--platform cpu|cuda] [--precision f64|f32] [--chains N] [--warmup N]
                            [--draws N] [--seed N] [--max-depth N] [--rate] [NAME]...

All chains are vectorised. The warm-up runs twice with one key and XLA's cache of compiled programs: the second time is
its time, and the difference is what the compiler took, told as the seconds until the first draw. Every run of draws
compiles again, so the time of a draw is the slope between a short and a long run. Leapfrogs are those of warm-up too.
With --rate there are no draws: leapfrogs a second of warm-up alone, for models that take minutes otherwise.
"""
import argparse
import functools
import json
import os
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description="The models of models_bench in NumPyro, a line of JSON each.")
parser.add_argument("folder")
parser.add_argument("names", nargs="*")
parser.add_argument("--platform", default="cpu", choices=["cpu", "cuda"])
parser.add_argument("--precision", default="f64", choices=["f64", "f32"])
parser.add_argument("--chains", type=int, default=4)
parser.add_argument("--warmup", type=int, default=1000)
parser.add_argument("--draws", type=int, default=1000)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--max-depth", type=int, default=10)
parser.add_argument("--rate", action="store_true")

MODELS = {}


def model(function):
    MODELS[function.__name__] = function
    return function


def start(platform, precision):
    """JAX reads its settings when it is first imported."""
    os.environ["JAX_PLATFORMS"] = platform
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    global jax, jnp, np, numpyro, dist, constraints, MCMC, NUTS, factor, sample, ndtr
    import jax
    import jax.numpy as jnp
    import numpy as np
    import numpyro
    import numpyro.distributions as dist
    from jax.scipy.special import ndtr
    from numpyro import factor, sample
    from numpyro.distributions import constraints
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", precision == "f64")
    jax.config.update("jax_compilation_cache_dir", tempfile.mkdtemp(prefix="models_numpyro"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def read_data(path):
    """Numbers as numbers, arrays in their shapes; places count from 1 in the file and from 0 here."""
    places = {"group", "subject", "stimulus", "school_of_class", "class_of_pupil", "person", "item"}
    data = {}
    with open(path) as file:
        columns = json.load(file)
    for name, column in columns.items():
        if not column["shape"]:
            data[name] = column["values"][0]
            continue
        values = np.array(column["values"]).reshape(column["shape"])
        if name in places:
            data[name] = jnp.asarray(values.astype(np.int32) - 1)
        else:
            data[name] = jnp.asarray(values, dtype=jnp.result_type(float))
    return data


def many(distribution, count):
    return distribution.expand([count]).to_event(1)


def ordered(name, count, scale):
    """An ordered vector of normal numbers."""
    x = sample(name, dist.ImproperUniform(constraints.ordered_vector, (), (count,)))
    factor(name + "_prior", dist.Normal(0.0, scale).log_prob(x).sum())
    return x


# --- Rows in groups ---


def slopes(d):
    a, b = sample("a", dist.Normal(0.0, 2.0)), sample("b", dist.Normal(0.0, 1.0))
    sa, sb = sample("sa", dist.HalfNormal(1.0)), sample("sb", dist.HalfNormal(1.0))
    za = sample("za", many(dist.Normal(0.0, 1.0), d["groups"]))
    zb = sample("zb", many(dist.Normal(0.0, 1.0), d["groups"]))
    return (a + sa * za)[d["group"]] + (b + sb * zb)[d["group"]] * d["x"]


@model
def varying_slopes(d):
    eta = slopes(d)
    phi = sample("phi", dist.Gamma(2.0, 0.5))
    sample("y", dist.NegativeBinomial2(jnp.exp(eta), phi), obs=d["y"])


@model
def poisson_slopes(d):
    factor("y", poisson_log(slopes(d), d["y"]).sum())


def poisson_log(eta, y):
    """Poisson's log mass by the logarithm of the rate, less what does not vary."""
    return y * eta - jnp.exp(eta)


@model
def crossed(d):
    mu = sample("mu", dist.Normal(0.0, 2.0))
    s_subject, s_stimulus = sample("s_subject", dist.HalfNormal(1.0)), sample("s_stimulus", dist.HalfNormal(1.0))
    z_subject = sample("z_subject", many(dist.Normal(0.0, 1.0), d["subjects"]))
    z_stimulus = sample("z_stimulus", many(dist.Normal(0.0, 1.0), d["stimuli"]))
    logit = mu + (s_subject * z_subject)[d["subject"]] + (s_stimulus * z_stimulus)[d["stimulus"]]
    sample("y", dist.Bernoulli(logits=logit), obs=d["y"])


@model
def nested(d):
    mu = sample("mu", dist.Normal(0.0, 5.0))
    s_school, s_class = sample("s_school", dist.HalfNormal(2.0)), sample("s_class", dist.HalfNormal(2.0))
    s_pupil = sample("s_pupil", dist.HalfNormal(2.0))
    by_school = sample("by_school", many(dist.Normal(mu, s_school), d["schools"]))
    by_class = sample("by_class", dist.Normal(by_school[d["school_of_class"]], s_class).to_event(1))
    sample("y", dist.Normal(by_class[d["class_of_pupil"]], s_pupil), obs=d["y"])


# --- Answers ---


@model
def irt_1pl(d):
    spread = sample("spread", dist.HalfNormal(1.0))
    ability = sample("ability", many(dist.Normal(0.0, 1.0), d["persons"]))
    difficulty = sample("difficulty", many(dist.Normal(0.0, 2.0), d["items"]))
    sample("y", dist.Bernoulli(logits=(spread * ability)[d["person"]] - difficulty[d["item"]]), obs=d["y"])


@model
def irt_2pl(d):
    ability = sample("ability", many(dist.Normal(0.0, 1.0), d["persons"]))
    slope = sample("slope", many(dist.LogNormal(0.0, 0.5), d["items"]))
    difficulty = sample("difficulty", many(dist.Normal(0.0, 2.0), d["items"]))
    logit = slope[d["item"]] * (ability[d["person"]] - difficulty[d["item"]])
    sample("y", dist.Bernoulli(logits=logit), obs=d["y"])


@model
def ordered_probit(d):
    b = sample("b", many(dist.Normal(0.0, 2.0), d["column_count"]))
    cut = ordered("cut", d["answers"] - 1, 3.0)
    ends = jnp.concatenate([jnp.array([-100.0]), cut, jnp.array([100.0])])
    answer = d["y"].astype(jnp.int32) - 1
    eta = d["x"] @ b
    factor("y", jnp.log(ndtr(ends[answer + 1] - eta) - ndtr(ends[answer] - eta)).sum())


# --- Series ---


@model
def ar2(d):
    c, y = sample("c", dist.Normal(0.0, 1.0)), d["y"]
    first, second = sample("first", dist.Normal(0.0, 0.5)), sample("second", dist.Normal(0.0, 0.5))
    sigma = sample("sigma", dist.HalfNormal(1.0))
    sample("y", dist.Normal(c + first * y[1:-1] + second * y[:-2], sigma), obs=y[2:])


def volatility():
    return (
        sample("mu", dist.Normal(0.0, 3.0)),
        sample("phi", dist.Uniform(-1.0, 1.0)),
        sample("sigma", dist.HalfNormal(1.0)),
    )


@model
def volatility_centred(d):
    mu, phi, sigma = volatility()
    h = sample("h", dist.ImproperUniform(constraints.real_vector, (), (d["row_count"],)))
    factor("h_first", dist.Normal(mu, sigma / jnp.sqrt(1 - phi**2)).log_prob(h[0]))
    factor("h_next", dist.Normal(mu + phi * (h[:-1] - mu), sigma).log_prob(h[1:]).sum())
    sample("y", dist.Normal(0.0, jnp.exp(h / 2)), obs=d["y"])


@model
def volatility_noncentred(d):
    mu, phi, sigma = volatility()
    z = sample("z", many(dist.Normal(0.0, 1.0), d["row_count"]))

    def follow(last, step):
        last = phi * last + step
        return last, last

    first = z[0] / jnp.sqrt(1 - phi**2)
    _, rest = jax.lax.scan(follow, first, z[1:])
    h = mu + sigma * jnp.concatenate([first[None], rest])
    sample("y", dist.Normal(0.0, jnp.exp(h / 2)), obs=d["y"])


@model
def garch(d):
    mu, base = sample("mu", dist.Normal(0.0, 2.0)), sample("base", dist.HalfNormal(1.0))
    news = sample("news", dist.Uniform(0.0, 1.0))
    # A share of what `news` leaves; flat for their product, which is the memory.
    share = sample("share", dist.Uniform(0.0, 1.0))
    factor("memory", jnp.log(1 - news))
    memory = (1 - news) * share

    def follow(last, y):
        last = base + news * (y - mu) ** 2 + memory * last
        return last, last

    first = jnp.asarray(d["first_variance"], dtype=d["y"].dtype)
    _, rest = jax.lax.scan(follow, first, d["y"][:-1])
    sample("y", dist.Normal(mu, jnp.sqrt(jnp.concatenate([first[None], rest]))), obs=d["y"])


@model
def hmm(d):
    chance = sample("chance", dist.Dirichlet(jnp.full((3,), 2.0)).expand([3]).to_event(1))
    mu = ordered("mu", 3, 3.0)
    sigma = sample("sigma", many(dist.HalfNormal(1.0), 3))
    log_chance = jnp.log(chance)
    seen = dist.Normal(mu, sigma).log_prob(d["y"][:, None])

    def forward(last, now):
        return jax.nn.logsumexp(last[:, None] + log_chance, axis=0) + now, None

    last, _ = jax.lax.scan(forward, seen[0], seen[1:])
    factor("forward", jax.nn.logsumexp(last))


# --- Mixtures ---


@model
def mixture(d):
    weight = sample("weight", dist.Dirichlet(jnp.full((3,), 2.0)))
    mu = ordered("mu", 3, 5.0)
    sigma = sample("sigma", many(dist.HalfNormal(2.0), 3))
    terms = jnp.log(weight) + dist.Normal(mu, sigma).log_prob(d["y"][:, None])
    factor("y", jax.nn.logsumexp(terms, axis=-1).sum())


@model
def zero_inflated(d):
    a, b = sample("a", dist.Normal(0.0, 2.0)), sample("b", many(dist.Normal(0.0, 1.0), d["column_count"]))
    c, g = sample("c", dist.Normal(0.0, 2.0)), sample("g", many(dist.Normal(0.0, 1.0), d["column_count"]))
    eta, logit, y = a + d["x"] @ b, c + d["x"] @ g, d["y"]
    zero = jax.nn.log_sigmoid(logit) + jax.nn.softplus(-logit - jnp.exp(eta))
    count = jax.nn.log_sigmoid(-logit) + poisson_log(eta, y)
    factor("y", jnp.where(y == 0, zero, count).sum())


# --- Densities that factorise matrices ---


def covariance(d, ridge):
    rho, alpha = sample("rho", dist.InverseGamma(5.0, 5.0)), sample("alpha", dist.HalfNormal(1.0))
    apart = d["x"][:, None] - d["x"][None, :]
    return alpha**2 * jnp.exp(-0.5 * (apart / rho) ** 2) + (ridge + 1e-4) * jnp.eye(d["row_count"])


@model
def gp_marginal(d):
    sigma = sample("sigma", dist.HalfNormal(1.0))
    factor_of = jnp.linalg.cholesky(covariance(d, sigma**2))
    sample("y", dist.MultivariateNormal(jnp.zeros(d["row_count"]), scale_tril=factor_of), obs=d["y"])


def latent_process(d):
    z = sample("z", many(dist.Normal(0.0, 1.0), d["row_count"]))
    return jnp.linalg.cholesky(covariance(d, 0.0)) @ z


@model
def gp_latent(d):
    f = latent_process(d)
    sample("y", dist.Normal(f, sample("sigma", dist.HalfNormal(1.0))), obs=d["y"])


@model
def gp_poisson(d):
    f = latent_process(d)
    factor("y", poisson_log(sample("a", dist.Normal(0.0, 2.0)) + f, d["y"]).sum())


@model
def correlated(d):
    size = d["column_count"]
    mu = sample("mu", many(dist.Normal(0.0, 5.0), size))
    tau = sample("tau", many(dist.HalfNormal(2.0), size))
    factor_of = sample("factor", dist.LKJCholesky(size, 2.0))
    sample("y", dist.MultivariateNormal(mu, scale_tril=tau[:, None] * factor_of), obs=d["y"])


# --- Regressions ---


@model
def horseshoe(d):
    a, sigma = sample("a", dist.Normal(0.0, 2.0)), sample("sigma", dist.HalfNormal(2.0))
    tau = sample("tau", dist.HalfCauchy(0.05))
    lam = sample("lambda", many(dist.HalfCauchy(1.0), d["column_count"]))
    z = sample("z", many(dist.Normal(0.0, 1.0), d["column_count"]))
    sample("y", dist.Normal(a + d["x"] @ (tau * lam * z), sigma), obs=d["y"])


@model
def logistic_large(d):
    a, b = sample("a", dist.Normal(0.0, 2.0)), sample("b", many(dist.Normal(0.0, 1.0), d["column_count"]))
    sample("y", dist.Bernoulli(logits=a + d["x"] @ b), obs=d["y"])


@model
def linear_large(d):
    a, b = sample("a", dist.Normal(0.0, 2.0)), sample("b", many(dist.Normal(0.0, 1.0), d["column_count"]))
    sigma = sample("sigma", dist.HalfNormal(1.0))
    sample("y", dist.Normal(a + d["x"] @ b, sigma), obs=d["y"])


# --- Time ---


def ess_bulk(x):
    """Of the split, rank-normalised chains (Vehtari and others 2021), as Adit's and rstan's."""
    from numpyro.diagnostics import effective_sample_size
    from scipy.special import ndtri
    from scipy.stats import rankdata

    half = x.shape[1] // 2
    split = np.concatenate([x[:, :half], x[:, -half:]])
    ranks = rankdata(split, method="average").reshape(split.shape)
    return float(effective_sample_size(ndtri((ranks - 0.375) / (ranks.size + 0.25))))


def quality_of(samples):
    """The smallest effective size and the largest R-hat over all elements; past 64 chains of the first 64, scaled."""
    from numpyro.diagnostics import split_gelman_rubin

    least, worst = float("inf"), 0.0
    for values in samples.values():
        values = np.asarray(values, dtype=np.float64)
        chains = values.shape[0]
        flat = values[:64].reshape(min(chains, 64), values.shape[1], -1)
        for i in range(flat.shape[-1]):
            x = flat[:, :, i]
            if x.min() == x.max():
                continue
            least = min(least, ess_bulk(x) * chains / x.shape[0])
            worst = max(worst, float(split_gelman_rubin(x)))
    return least, worst


def measure(name, options):
    data = read_data(os.path.join(options.folder, name + ".json"))
    fields = ("num_steps", "diverging")

    def sampler(warmup, draws):
        kernel = NUTS(functools.partial(MODELS[name], data), max_tree_depth=options.max_depth)
        return MCMC(
            kernel,
            num_warmup=warmup,
            num_samples=draws,
            num_chains=options.chains,
            chain_method="vectorized",
            progress_bar=False,
        )

    def warm_up():
        mcmc = sampler(options.warmup, options.draws)
        begin = time.perf_counter()
        mcmc.warmup(jax.random.PRNGKey(options.seed), extra_fields=fields, collect_warmup=True)
        jax.block_until_ready(mcmc.last_state)
        return time.perf_counter() - begin, mcmc

    def draw(warm, count, key):
        mcmc = MCMC(
            warm.sampler,
            num_warmup=0,
            num_samples=count,
            num_chains=options.chains,
            chain_method="vectorized",
            progress_bar=False,
        )
        mcmc.post_warmup_state = warm.last_state
        begin = time.perf_counter()
        mcmc.run(jax.random.PRNGKey(key), extra_fields=fields)
        jax.block_until_ready(mcmc.get_samples())
        return time.perf_counter() - begin, mcmc

    cold, _ = warm_up()
    warmup_s, warm = warm_up()
    warm_steps = float(np.sum(np.asarray(warm.get_extra_fields()["num_steps"])))
    if options.rate:
        line = dict(engine="numpyro", model=name, device=options.platform, precision=options.precision)
        line |= dict(chains=options.chains, warmup=options.warmup, max_depth=options.max_depth, warmup_s=warmup_s)
        line |= dict(first_draw_s=max(cold - warmup_s, 0.0), leapfrogs_per_s=warm_steps / warmup_s)
        print(json.dumps(line), flush=True)
        return
    short, count = max(options.draws // 4, 1), options.draws + max(options.draws // 4, 1)
    short_s, _ = draw(warm, short, options.seed + 1)
    long_s, drawn = draw(warm, count, options.seed + 2)
    sampling_s = max(long_s - short_s, 1e-9) / (count - short) * options.draws
    extra = drawn.get_extra_fields()
    steps = warm_steps + float(np.sum(np.asarray(extra["num_steps"]))) * options.draws / count
    ess, worst = quality_of(drawn.get_samples(group_by_chain=True))
    ess *= options.draws / count
    both = warmup_s + sampling_s
    line = dict(
        engine="numpyro",
        model=name,
        device=options.platform,
        precision=options.precision,
        chains=options.chains,
        warmup=options.warmup,
        draws=options.draws,
        first_draw_s=max(cold - warmup_s, 0.0),
        warmup_s=warmup_s,
        sampling_s=sampling_s,
        leapfrogs=steps,
        leapfrogs_per_s=steps / both,
        ess=ess,
        ess_per_s=ess / both,
        ess_per_s_sampling=ess / sampling_s,
        r_hat=worst,
        divergences=int(np.sum(np.asarray(extra["diverging"]))),
    )
    print(json.dumps(line), flush=True)


def main():
    options = parser.parse_intermixed_args()
    unknown = [name for name in options.names if name not in MODELS]
    if unknown:
        sys.exit(f"models_numpyro.py: {unknown[0]}: expected one of {', '.join(MODELS)}")
    start(options.platform, options.precision)
    for name in options.names or MODELS:
        try:
            measure(name, options)
        except Exception as error:  # one model's failure must not end the others' runs
            print(json.dumps(dict(engine="numpyro", model=name, refused=repr(error)[:300])), flush=True)
        jax.clear_caches()


if __name__ == "__main__":
    main()

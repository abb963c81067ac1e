defmodule Adit.Distribution do
  @moduledoc """
  Distributions for models, with the names and the parameters of the C++ library.

      import Adit.Distribution

      normal(0, 5)
      mixture([0.3, 0.7], [normal(-1, 1), normal(2, 0.5)])

  Parameters are numbers, lists, or tensors, also those that a model gave; they broadcast together. Values that are
  known to be wrong, as a negative scale, raise `Adit.Error` with the parameter's name.
  """
  alias Adit.{Constraint, Error, NIF, Value}

  defstruct [:name, :ref, :log_density, :support]
  @type t :: %__MODULE__{}

  # Name, parameters, what it is.
  simple = [
    {:normal, [:mu, :sigma], "normal"},
    {:half_normal, [:sigma], "the positive half of a normal one at 0"},
    {:lognormal, [:mu, :sigma], "of numbers whose logarithm is normal"},
    {:student_t, [:nu, :mu, :sigma], "Student's t with `nu` degrees of freedom"},
    {:cauchy, [:location, :scale], "Cauchy's"},
    {:half_cauchy, [:scale], "the positive half of a Cauchy one at 0"},
    {:exponential, [:rate], "exponential, of mean 1 / rate"},
    {:gamma, [:shape, :rate], "gamma, of mean shape / rate"},
    {:inv_gamma, [:shape, :scale], "of numbers whose inverse is gamma"},
    {:beta, [:a, :b], "beta, between 0 and 1"},
    {:uniform, [:low, :high], "uniform between `low` and `high`"},
    {:laplace, [:mu, :scale], "Laplace's"},
    {:logistic, [:mu, :scale], "logistic"},
    {:weibull, [:shape, :scale], "Weibull's"},
    {:truncated_normal, [:mu, :sigma, :low, :high], "normal between bounds, which may be infinite"},
    {:bernoulli, [:p], "0 or 1, which has probability `p`"},
    {:bernoulli_logit, [:logit], "0 or 1, by the log odds of 1"},
    {:binomial, [:count, :p], "how many of `count` are 1"},
    {:binomial_logit, [:count, :logit], "how many of `count` are 1, by the log odds"},
    {:poisson, [:rate], "Poisson's counts"},
    {:poisson_log, [:log_rate], "Poisson's counts, by the logarithm of their mean"},
    {:neg_binomial_2, [:mean, :dispersion], "counts of variance mean + mean^2 / dispersion"},
    {:categorical, [:p], "a class from 0 on; the last axis of `p` holds the classes"},
    {:categorical_logit, [:logits], "a class from 0 on, by unnormalised log probabilities"},
    {:dirichlet, [:concentration], "of probabilities that sum to 1"},
    {:multi_normal, [:mean, :covariance], "normal vectors"},
    {:multi_normal_cholesky, [:mean, :factor], "normal vectors, by the Cholesky factor of their covariance"}
  ]

  for {name, parameters, text} <- simple do
    variables = Enum.map(parameters, &Macro.var(&1, __MODULE__))

    @doc "A distribution: #{text}."
    def unquote(name)(unquote_splicing(variables)), do: new(unquote(name), unquote(variables))
  end

  @doc "The Cholesky factor of a correlation matrix of `size` rows (Lewandowski, Kurowicka, Joe)."
  def lkj_corr_cholesky(size, shape) when is_integer(size),
    do: new(:lkj_corr_cholesky, [shape], size: size)

  @doc "A walk of `steps` values: the first is normal around 0, each other around the one before it."
  def gaussian_random_walk(sigma, steps) when is_integer(steps),
    do: new(:gaussian_random_walk, [sigma], steps: steps)

  @doc "One of several, by weights on the last axis of `weights`."
  def mixture(weights, components) when is_list(components) do
    refs = Enum.map(components, &ref_of!(&1, "mixture"))
    made("mixture", NIF.distribution_mixture(Value.to_ref(weights), refs))
  end

  @doc "Values at or beyond a bound were seen only as the bound; an infinite bound censors nothing."
  def censored(inner, low, high) do
    ref = ref_of!(inner, "censored")
    made("censored", NIF.distribution_censored(ref, Value.to_ref(low), Value.to_ref(high)))
  end

  @doc """
  Any log density: `fun` takes the value and gives one number an event, by Nx operations or a `defn` function.

  `support` is a constraint from `Adit.Constraint`, where a variable of this prior lies.
  """
  def custom(name, fun, support \\ nil) when is_function(fun, 1),
    do: %__MODULE__{name: to_string(name), log_density: fun, support: support || Constraint.real()}

  @doc "A distribution by its name, for those that are chosen by data."
  def new(name, parameters, attributes \\ []) do
    name = to_string(name)
    made(name, NIF.distribution(name, Enum.map(parameters, &Value.to_ref/1), attributes))
  end

  @doc "The log density of `x`, one number an event."
  def log_density(%__MODULE__{ref: nil, log_density: fun}, x), do: fun.(x)

  def log_density(%__MODULE__{ref: ref}, x),
    do: Value.wrap(Error.unwrap(NIF.distribution_log_density(ref, Value.to_ref(x))))

  defp made(name, result), do: %__MODULE__{name: name, ref: Error.unwrap(result)}

  defp ref_of!(%__MODULE__{ref: ref}, _) when ref != nil, do: ref

  defp ref_of!(other, what) do
    raise ArgumentError, "#{what}: expected a distribution of the library's, got #{inspect(other)}"
  end
end

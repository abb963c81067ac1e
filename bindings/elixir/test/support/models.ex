defmodule Adit.TestModels do
  @moduledoc false
  # Models for the tests, without Nx: other nodes load this module to build them.
  import Adit.Distribution
  alias Adit.{Model, Value}

  @y [28, 8, -3, 7, -1, 1, 18, 12]
  @sigma [15, 10, 16, 11, 9, 11, 10, 18]

  def eight_schools, do: Model.build("eight_schools", &state_schools/1)

  def state_schools(m) do
    school = Model.plate(m, "school", 8)
    mu = Model.sample(m, "mu", normal(0, 5))
    tau = Model.sample(m, "tau", half_cauchy(5))
    z = Model.sample(m, "z", normal(0, 1), [school])
    theta = Model.deterministic(m, "theta", Value.call(:add, [mu, Value.call(:multiply, [tau, z])]))
    Model.observe(m, "y", normal(theta, Model.data(m, "sigma", @sigma)), @y)
  end

  # `count` numbers of one mean: how long it takes goes by `count`.
  def mean(count) do
    y = for i <- 1..count, do: :math.sin(i * 1.0)
    Model.build("mean", %{y: y}, &state_mean/2)
  end

  def state_mean(m, data) do
    mu = Model.sample(m, "mu", normal(0, 10))
    sigma = Model.sample(m, "sigma", half_normal(5))
    Model.observe(m, "y", normal(mu, sigma), Model.data(m, "values", data.y))
  end

  def eight_schools_stan do
    """
    data {
      int<lower=0> J;
      array[J] real y;
      array[J] real<lower=0> sigma;
    }
    parameters {
      real mu;
      real<lower=0> tau;
      vector[J] z;
    }
    transformed parameters {
      vector[J] theta = mu + tau * z;
    }
    model {
      mu ~ normal(0, 5);
      tau ~ cauchy(0, 5);
      z ~ normal(0, 1);
      y ~ normal(theta, sigma);
    }
    """
  end

  def schools_data, do: %{J: 8, y: @y, sigma: @sigma}
end

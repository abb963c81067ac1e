defmodule Adit.Constraint do
  @moduledoc """
  Where a parameter without a prior may lie, for `Adit.Model.parameter/4` and `Adit.Distribution.custom/3`.
  """
  alias Adit.{Error, NIF, Value}

  defstruct [:name, :ref]
  @type t :: %__MODULE__{}

  simple = [
    {:real, [], "all real numbers"},
    {:lower, [:bound], "numbers above `bound`"},
    {:positive, [], "positive numbers"},
    {:upper, [:bound], "numbers below `bound`"},
    {:interval, [:low, :high], "numbers between `low` and `high`"},
    {:unit, [], "numbers between 0 and 1"},
    {:offset_multiplier, [:offset, :multiplier], "all real numbers, sampled on another scale"},
    {:ordered, [], "vectors whose numbers grow"},
    {:positive_ordered, [], "vectors of positive numbers that grow"},
    {:simplex, [], "vectors of positive numbers that sum to 1"},
    {:cholesky_factor_corr, [], "Cholesky factors of correlation matrices"},
    {:corr_matrix, [], "correlation matrices"},
    {:cov_matrix, [], "covariance matrices"},
    {:cholesky_factor_cov, [], "Cholesky factors of covariance matrices"},
    {:unit_vector, [], "vectors of length 1"},
    {:sum_to_zero, [], "vectors that sum to 0"},
    {:sum_to_zero_matrix, [], "matrices whose rows and columns sum to 0"},
    {:column_stochastic, [], "matrices whose columns are simplices"}
  ]

  for {name, parameters, text} <- simple do
    variables = Enum.map(parameters, &Macro.var(&1, __MODULE__))

    @doc "A constraint: #{text}."
    def unquote(name)(unquote_splicing(variables)), do: new(unquote(name), unquote(variables))
  end

  @doc "A constraint by its name."
  def new(name, parameters \\ []) do
    name = to_string(name)
    ref = Error.unwrap(NIF.constraint(name, Enum.map(parameters, &Value.to_ref/1)))
    %__MODULE__{name: name, ref: ref}
  end
end

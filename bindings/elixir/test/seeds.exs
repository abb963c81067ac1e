defmodule Adit.Seeds do
  @moduledoc false
  # As tests/seeds.hpp: ADIT_TEST_SEED, decimal or 0x1234567, is where random tests begin, else 1. It is printed, so that the
  # variable repeats it. ADIT_TEST_ROUNDS: rounds in place of a test's own number.
  import Bitwise

  def seed do
    seed = number("ADIT_TEST_SEED", 1) &&& 0x7FFFFFFF
    IO.puts(:stderr, "ADIT_TEST_SEED=#{seed}")
    seed
  end

  def rounds(usual), do: number("ADIT_TEST_ROUNDS", usual)

  defp number(variable, usual) do
    case System.get_env(variable) do
      none when none in [nil, ""] -> usual
      "0x" <> digits -> String.to_integer(digits, 16)
      digits -> String.to_integer(digits)
    end
  end
end

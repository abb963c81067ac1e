defmodule Adit.Sampler.Answer do
  @moduledoc false
  # Who waits for a run's result, and the result: whichever comes first waits for the other. It is given once.

  defstruct waiting: [], result: nil

  def result(%__MODULE__{waiting: []} = answer, result), do: {:keep, %{answer | result: result}}

  def result(%__MODULE__{waiting: waiting}, result) do
    Enum.each(waiting, &GenServer.reply(&1, result))
    :given
  end

  def wait(%__MODULE__{result: nil} = answer, from), do: {:wait, %{answer | waiting: [from | answer.waiting]}}
  def wait(%__MODULE__{result: result}, _), do: {:given, result}
end

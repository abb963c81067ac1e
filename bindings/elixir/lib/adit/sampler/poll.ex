defmodule Adit.Sampler.Poll do
  @moduledoc false
  # When to look at a run again: soon at first, so that short runs end without a wait, then less and less often. Looking
  # takes no time, and no scheduler waits.

  @most 20

  defstruct wait: 1, told: nil

  def new, do: %__MODULE__{told: now()}

  def next(%__MODULE__{wait: wait} = poll) do
    Process.send_after(self(), :look, wait)
    %{poll | wait: min(wait * 2, @most)}
  end

  @doc "Whether it is time to tell how far the run is."
  def due(%__MODULE__{told: told} = poll, every) do
    if now() - told >= every, do: {true, %{poll | told: now()}}, else: {false, poll}
  end

  defp now, do: System.monotonic_time(:millisecond)
end

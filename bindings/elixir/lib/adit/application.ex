defmodule Adit.Application do
  @moduledoc false
  # `config :adit, node: false` starts nothing: tensors and samplers open their device at the first use.
  use Application

  @impl true
  def start(_type, _arguments) do
    node = if Application.get_env(:adit, :node, true), do: [Adit.Node], else: []
    Supervisor.start_link(cache() ++ node, strategy: :one_for_one, name: Adit.Supervisor)
  end

  # Programs of the compiler, which is there where Nx is.
  defp cache do
    if Code.ensure_loaded?(Nx) and Code.ensure_loaded?(Adit.Compiler.Cache), do: [Adit.Compiler.Cache], else: []
  end
end

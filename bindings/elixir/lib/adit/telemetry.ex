defmodule Adit.Telemetry do
  @moduledoc """
  Events for `:telemetry`, where it is loaded.

  | event | measurements | metadata |
  |---|---|---|
  | `[:adit, :node, :start]` | `duration` | `device`, `driver` |
  | `[:adit, :node, :execute, :start]` | `queue_length` | `name` |
  | `[:adit, :node, :execute, :stop]` | `duration` | `name`, `result` (`:ok`, `:exception`) |
  | `[:adit, :node, :timeout]` | `count` | `name`, `suspect` |
  | `[:adit, :node, :device_lost]` | | `device` |
  | `[:adit, :compiler, :compile]` | `duration` | `key` (the function), `device` |
  | `[:adit, :compiler, :evaluate]` | `count` | `key`, `reason` why it is not one graph |
  | `[:adit, :sampler, :start]` | | `model`, `options` |
  | `[:adit, :sampler, :stop]` | `duration`, `divergences` | `model`, `result` |
  | `[:adit, :sampler, :node_down]` | | `node`, `chains`, `reason` |

  Durations are in native units of time.
  """

  @doc false
  def execute(event, measurements, metadata \\ %{}) do
    if Code.ensure_loaded?(:telemetry),
      do: apply(:telemetry, :execute, [[:adit | event], measurements, metadata]),
      else: :ok
  end
end

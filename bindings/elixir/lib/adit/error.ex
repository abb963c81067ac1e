defmodule Adit.Error do
  @moduledoc """
  What goes wrong in the library or on the device.

  `kind` is one of `:bad_argument`, `:not_found`, `:unsupported`, `:out_of_memory`, `:device_lost`, `:io`, `:internal`,
  and of a run over several nodes `:node_lost`: none of them is left. The message is the library's own, with the driver's
  words.
  """
  defexception [:kind, :message]

  @type t :: %__MODULE__{kind: atom(), message: String.t()}

  @doc false
  def raise!({:error, kind, message}), do: raise(__MODULE__, kind: kind, message: message)

  @doc false
  # What a function of the library gives, or an exception.
  def unwrap({:ok, value}), do: value
  def unwrap(:ok), do: :ok
  def unwrap({:error, _, _} = error), do: raise!(error)
end

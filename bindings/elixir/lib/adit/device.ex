defmodule Adit.Device do
  @moduledoc """
  Devices, opened once and kept for the life of the VM.

  The default is what the environment variable `ADIT_DEVICE` names ("cpu", "vulkan:0"), else
  `config :adit, device: "..."`, else the best one there is.
  """

  alias Adit.{Error, NIF}

  # Never replaced but by forget/0, so that reading it costs no copy and no process.
  @default {__MODULE__, :default}

  @doc "The default device's handle, opened at the first call."
  def default do
    {device, _id} = default_pair()
    device
  end

  @doc "The default device's name."
  def default_id do
    {_device, id} = default_pair()
    id
  end

  @doc "The handle of a device by its name; `nil` and `\"\"` are the default."
  def get(id) when id in [nil, ""], do: default()

  def get(id) when is_binary(id) do
    key = {__MODULE__, id}

    case :persistent_term.get(key, nil) do
      nil ->
        {default, default_id} = default_pair()
        device = if id == default_id, do: default, else: open!(id)
        :persistent_term.put(key, device)
        device

      device ->
        device
    end
  end

  def get(other) do
    raise ArgumentError, "expected :device to be a name such as \"cpu\" or \"vulkan:0\", got: #{inspect(other)}"
  end

  @doc false
  # How tensors remember their device: nil is the default one.
  def mark(id) when id in [nil, ""], do: nil
  def mark(id), do: if(id == default_id(), do: nil, else: id)

  @doc "What devices there are, and why each is or is not chosen."
  def list do
    case NIF.devices() do
      {:ok, devices} -> devices
      error -> Error.raise!(error)
    end
  end

  @doc """
  Gives the memory of a device that nobody uses back to the system: of the default one, or of the one with this name.

  A device gives back by itself what has rested for some seconds; this is for those who cannot wait. Tensors that were
  not collected yet are in use: `:erlang.garbage_collect/0` in their process first.
  """
  def trim(id \\ nil), do: id |> get() |> NIF.trim() |> Error.unwrap()

  @doc "Opens devices anew at the next use, after one was lost."
  def forget do
    for {{__MODULE__, _} = key, _} <- :persistent_term.get(), do: :persistent_term.erase(key)
    # Compiled functions hold constants on the device that was lost. (Without Nx there is no such module.)
    if Process.whereis(Adit.Compiler.Cache), do: apply(Adit.Compiler.Cache, :clear, [])
    :ok
  end

  defp default_pair do
    case :persistent_term.get(@default, nil) do
      nil -> open_default()
      pair -> pair
    end
  end

  defp open_default do
    device = open!(System.get_env("ADIT_DEVICE") || Application.get_env(:adit, :device) || "")

    with :ok <- NIF.make_default(device), {:ok, %{id: id}} <- NIF.device_info(device) do
      :persistent_term.put(@default, {device, id})
      {device, id}
    else
      error -> Error.raise!(error)
    end
  end

  defp open!(id) do
    case NIF.open(id) do
      {:ok, device} -> device
      error -> Error.raise!(error)
    end
  end
end

defmodule Adit.Ops.Graph do
  @moduledoc false
  # Nodes of a graph: nothing is computed here.

  alias Adit.{Device, Error, NIF}
  alias Adit.Ops.Types
  alias Nx.Tensor, as: T

  def call(name, refs, attributes) do
    case NIF.call(name, refs, attributes) do
      {:ok, [ref]} -> ref
      error -> Error.raise!(error)
    end
  end

  def call_all(name, refs, attributes) do
    case NIF.call(name, refs, attributes) do
      {:ok, refs} -> refs
      error -> Error.raise!(error)
    end
  end

  # A scalar that fits what it is used with: it belongs to no device.
  def number(value, type), do: full(value, type, [])

  def full(value, type, shape) do
    call(:full, [], value: Types.number(value, type), shape: shape, type: Types.dtype(type))
  end

  # The reference of an operand. Those of other backends are uploaded, beside the tensors they are used with.
  def ref(tensor), do: ref(tensor, nil)

  def ref(%T{data: %Adit.Backend{ref: ref}}, _device), do: ref

  def ref(%T{shape: shape, type: type} = tensor, device) do
    upload(Nx.to_binary(tensor), type, shape, Device.get(device))
  end

  def upload(bits, type, shape, device) do
    case NIF.from_binary(device, Types.dtype(type), shape, Types.unpack(bits, type)) do
      {:ok, ref} -> ref
      error -> Error.raise!(error)
    end
  end

  def lazy?(%T{data: %Adit.Backend{lazy: lazy}}), do: lazy
  def lazy?(_other), do: false

  # The first device that is not the default one.
  def device_of(%T{data: %Adit.Backend{device: device}}), do: device
  def device_of(_other), do: nil
end

defmodule Adit.Ops.Function do
  @moduledoc false
  # Functions of tensors as functions of the library: they are called once, with placeholders.

  alias Adit.{Error, NIF}
  alias Adit.Ops.{Convert, Types}
  alias Nx.Tensor, as: T

  # templates: what the parameters are like. fun: takes a list of tensors and gives a list of references.
  def trace(templates, fun) do
    slots = Enum.map(templates, fn %T{type: type, shape: shape} -> {Types.dtype(type), shape} end)

    case NIF.function_begin(slots) do
      {:ok, function, placeholders} ->
        tensors = Enum.zip_with(templates, placeholders, &wrap/2)

        case NIF.function_finish(function, fun.(tensors)) do
          :ok -> function
          error -> Error.raise!(error)
        end

      error ->
        Error.raise!(error)
    end
  end

  # A fold's function: Nx calls it with (element, accumulator), the library with (accumulator, element). Both are scalars
  # of the result's type. A function of the library is taken as it is.
  def combine(function, _out) when is_reference(function), do: function

  def combine(fun, %{type: type}) when is_function(fun, 2) do
    scalar = %T{type: type, shape: {}, names: [], data: nil}

    trace([scalar, scalar], fn [accumulator, element] ->
      [result(fun.(element, accumulator), type)]
    end)
  end

  defp result(value, type) do
    case Nx.to_tensor(value) do
      %T{shape: {}} = tensor -> Convert.ref(tensor, type)
      other -> raise ArgumentError, "expected the function to give a scalar, got a tensor of shape #{inspect(other.shape)}"
    end
  end

  defp wrap(template, ref), do: %{template | data: %Adit.Backend{ref: ref, lazy: true}}
end

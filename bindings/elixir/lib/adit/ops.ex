defmodule Adit.Ops do
  @moduledoc false
  # One operation of Nx as nodes of a graph; nothing is computed here. The eager backend evaluates what this gives, the
  # compiler makes one function of many.
  #
  # Tensors in the arguments are of any backend; those of others are uploaded.

  alias Adit.Ops.{Blocks, Convert, Elementwise, Function, Graph, Index, Linear, Reductions, Shape, Windows}

  # Each theme says which operations it has; a clause for each of them, so that the choice costs one jump.
  for module <- [Convert, Elementwise, Index, Linear, Reductions, Shape, Windows] do
    names = if module == Convert, do: [:as_type, :bitcast], else: module.operations()

    for name <- names do
      def apply(unquote(name), out, args), do: unquote(module).apply(unquote(name), out, args)
    end
  end

  def apply(name, _out, _args) do
    raise ArgumentError, "Adit has no operation #{inspect(name)}"
  end

  # {:ok, reference or tuple of references}, or :none where the struct is none of Nx's.
  def block(struct, out, args), do: Blocks.apply(struct, out, args)

  # A function of the library out of one of tensors: it takes a list of tensors like the templates, and gives a list of
  # references.
  def function(templates, fun), do: Function.trace(templates, fun)

  # The reference of a tensor of any backend.
  def ref(tensor), do: Graph.ref(tensor)

  # Whether a tensor, or one in a list, is a placeholder or depends on one.
  def lazy?([]), do: false
  def lazy?([head | tail]), do: lazy?(head) or lazy?(tail)
  def lazy?(term), do: Graph.lazy?(term)

  # The device of the first tensor that has one other than the default.
  def device_of([]), do: nil
  def device_of([head | tail]), do: device_of(head) || device_of(tail)
  def device_of(term), do: Graph.device_of(term)
end

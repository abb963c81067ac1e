defmodule Adit.Compiler.Key do
  @moduledoc false
  # What a function is found by. A function is equal to another of the same code that captured equal terms, so that it
  # is its own key; hashing it goes through all that it captured.
  #
  # One that captured an expression (Nx.Defn.Graph makes such) is another matter: an expression is a graph in which much
  # is shared, and whoever goes through it as a tree never comes to an end. Each expression has an id of its own, which
  # stands for it.

  # How many terms are looked at. An expression that is captured is near the top.
  @most 300

  def of(fun) do
    case Function.info(fun, :env) do
      {:env, []} -> versioned(fun)
      {:env, env} -> if search(env, @most) == :found, do: named(fun), else: fun
    end
  end

  # `&Module.name/1` stays equal when its module is loaded anew, as in IEx or a Livebook; a function of a module's own
  # code does not.
  defp versioned(fun) do
    case Function.info(fun, :type) do
      {:type, :external} ->
        {:module, module} = Function.info(fun, :module)
        {fun, module.module_info(:md5)}

      _ ->
        fun
    end
  end

  # --- Whether there is one: how many terms may still be looked at, or :found.

  defp search(_term, left) when left in [0, :found], do: left
  defp search(%{__struct__: Nx.Defn.Expr}, _left), do: :found
  defp search(%{__struct__: Nx.Tensor, data: data}, left), do: search(data, left - 1)
  defp search(%{__struct__: module}, left) when module in [Nx.BinaryBackend, Adit.Backend, Range], do: left - 1
  defp search([head | tail], left), do: search(tail, search(head, left - 1))
  defp search(tuple, left) when is_tuple(tuple), do: search(Tuple.to_list(tuple), left - 1)
  defp search(map, left) when is_map(map), do: search(Map.values(map), left - 1)

  defp search(fun, left) when is_function(fun) do
    {:env, env} = Function.info(fun, :env)
    search(env, left - 1)
  end

  defp search(_term, left), do: left - 1

  # --- The same term with ids for expressions.

  defp named(%{__struct__: Nx.Tensor, data: %{__struct__: Nx.Defn.Expr, id: id}} = tensor) do
    {tensor.type, tensor.shape, tensor.names, tensor.vectorized_axes, id}
  end

  defp named(%{__struct__: Nx.Tensor} = tensor), do: tensor
  defp named([head | tail]), do: [named(head) | named(tail)]
  defp named(tuple) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> named() |> List.to_tuple()
  defp named(map) when is_map(map), do: map |> Map.to_list() |> named()

  defp named(fun) when is_function(fun) do
    info = Function.info(fun)
    {info[:module], info[:name], info[:arity], info[:new_uniq], info[:new_index], named(info[:env])}
  end

  defp named(term), do: term
end

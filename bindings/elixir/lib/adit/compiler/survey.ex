defmodule Adit.Compiler.Survey do
  @moduledoc false
  # What is known of an expression before anything is built:
  #
  # - parameters: those that it reads, position => node. Others are not even asked for, since they may be lazy and large.
  # - readers: how many nodes read a product (`dot`), or have it as a result.

  alias Nx.Defn.{Composite, Tree}

  defstruct parameters: %{}, readers: %{}, seen: %{}

  def of(expr), do: Composite.reduce(expr, %__MODULE__{}, &visit/2)

  defp visit(%{data: %{op: :constant}}, survey), do: survey

  defp visit(%{data: %{id: id, op: op, args: args}} = node, survey) do
    survey = if op == :dot, do: read(id, survey), else: survey

    cond do
      is_map_key(survey.seen, id) ->
        survey

      op == :parameter ->
        %{survey | parameters: Map.put(survey.parameters, hd(args), node), seen: Map.put(survey.seen, id, true)}

      # Its parameters are the function's own.
      op == :fun ->
        survey

      true ->
        survey = %{survey | seen: Map.put(survey.seen, id, true)}
        {_args, survey} = Tree.apply_args(node, :scope, survey, &{&1, visit(&1, &2)})
        survey
    end
  end

  defp read(id, survey), do: %{survey | readers: Map.update(survey.readers, id, 1, &(&1 + 1))}
end

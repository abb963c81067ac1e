defmodule Adit.Compiler.Lowering do
  @moduledoc false
  # Turns an expression of Nx.Defn into nodes of Adit's graph: each node of the expression once, operations by Adit.Ops,
  # and what is left of the language here: parameters, constants, tuples, control flow, hooks, blocks.
  #
  # A value is a tensor of Adit.Backend that is lazy, a tuple of such, or, of a node `fun`, a function of Elixir.
  #
  # Scopes. The branches of a `cond` may read everything around them. What the scope around them uses too is computed
  # there, before a branch is begun; the rest is made while the function of the branch is being built, and so belongs to
  # it and is computed only where it is taken. `while` and `fun` read their own parameters alone.

  alias Adit.{Backend, Error, NIF, Ops}
  alias Adit.Ops.{Graph, Types}
  alias Nx.Defn.{Composite, Tree}

  # Of a scope: `params` are its parameters' values by position, `ids` the nodes that belong to it, or to one around it
  # that it can read; `root` is false where a node may be computed any number of times; `device` is the name of the one
  # that captured tensors go to, `readers` how many nodes read a product.
  defstruct params: %{}, ids: %{}, readers: %{}, root: true, hooks: %{}, device: nil

  # What has been made: values by the node's id, captured tensors by theirs, and hooks, the last one first.
  defp new, do: %{values: %{}, tensors: %{}, hooks: []}

  @doc """
  A function, not finished yet, of the parameters at these positions; the values of an expression's tensors in order,
  and the hooks that were met: `[{callback, template, values}]`.

  Throws `{:evaluate, reason}` where it cannot be one graph.
  """
  def run(expr, positions, survey, hooks, device) do
    {function, placeholders} = begin_like(for position <- positions, do: Nx.devectorize(survey.parameters[position]))

    scope = %__MODULE__{
      params: positions |> Enum.zip(placeholders) |> Map.new(),
      ids: Tree.scope_ids(expr),
      readers: survey.readers,
      hooks: hooks,
      device: device
    }

    {values, made} = flatten(expr, scope, new())
    {function, values, Enum.reverse(made.hooks)}
  end

  # --- Nodes

  defp walk(%{data: %{op: :constant, args: [number]}} = node, _scope, made) do
    # Made anew where it is used: it costs nothing, and a function that has it inside captures nothing.
    value = wrap(node, Ops.apply(:constant, node, [number, []]))
    {%{value | data: %{value.data | host: {:number, number}}}, made}
  end

  defp walk(%{data: %{op: :tensor, id: id, args: [tensor]}}, scope, made) do
    case made.tensors do
      %{^id => value} ->
        {value, made}

      %{} ->
        tensor = Nx.devectorize(tensor)
        value = wrap(tensor, Graph.ref(tensor, scope.device))
        {value, put_in(made.tensors[id], value)}
    end
  end

  defp walk(%{data: %{id: id, op: op, args: args}} = node, scope, made) do
    case made.values do
      %{^id => value} ->
        {value, made}

      %{} ->
        {value, made} = lower(op, args, Nx.devectorize(node), scope, made)
        {value, put_in(made.values[id], value)}
    end
  end

  defp lower(:parameter, [position], _node, scope, made) do
    {Map.fetch!(scope.params, position), made}
  end

  defp lower(:metadata, [expr, _metadata], _node, scope, made) do
    value_of(expr, scope, made)
  end

  defp lower(:elem, [tuple, position], _node, scope, made) do
    {values, made} = walk(tuple, scope, made)
    {elem(values, position), made}
  end

  defp lower(:fun, [_params, body, _mfa], node, scope, made) do
    {function_of(body, node.type, scope), made}
  end

  defp lower(:cond, [[{predicate, body} | clauses], last], node, scope, made) do
    otherwise =
      if clauses == [],
        do: last,
        else: %{node | data: %{node.data | id: make_ref(), args: [clauses, last]}}

    {predicate, made} = walk(predicate, scope, made)
    made = shared({body, otherwise}, scope, made)
    {on_true, made} = branch(body, scope, made)
    {on_false, made} = branch(otherwise, scope, made)

    results = call(:cond, [ref(predicate)], on_true: on_true, on_false: on_false)
    {like(results, body), made}
  end

  defp lower(:while, [initial, _arg, condition, body], _node, scope, made) do
    {start, made} = flatten(initial, scope, made)
    {condition, made} = function([condition], start, scope, made)
    {body, made} = function(body, start, scope, made)

    results = call(:while_loop, Enum.map(start, &ref/1), condition: condition, body: body)
    {like(results, initial), made}
  end

  defp lower(:block, [struct, args, default, _callback], node, scope, made) do
    {tensors, options} = Enum.split_while(args, &(not is_list(&1)))
    {tensors, made} = Enum.map_reduce(tensors, made, &walk(&1, scope, &2))
    out = if match?({:tuple, _}, node.type), do: default, else: node

    case Ops.block(struct, out, tensors ++ options) do
      {:ok, results} -> {like(results, out), made}
      :none -> inlined(default, tensors, scope, made)
    end
  end

  # Nx before 0.12: what a block is now.
  defp lower(:optional, [call, default, _callback], _node, scope, made) do
    {args, made} = Tree.apply_args(call, made, &walk(&1, scope, &2))
    inlined(default, Enum.filter(args, &is_struct(&1, Nx.Tensor)), scope, made)
  end

  # One in Nx 0.13.0, the other after it.
  defp lower(op, [expr, callback, template, _ref], _node, scope, made) when op in [:hook, :io_call] do
    {value, made} = value_of(expr, scope, made)

    made =
      case callback do
        {:token_hook, hooked, callback} -> hook(callback, hooked, scope, made)
        callback -> hook(callback, expr, scope, made)
      end

    case {template, value} do
      {%Nx.Tensor{}, value} -> {value, made}
      {_, value} -> {[value] |> Composite.flatten_list() |> List.to_tuple(), made}
    end
  end

  # Nx before 0.13: hooks hang on tokens.
  defp lower(:attach_token, [token, expr], _node, scope, made) do
    {_, made} = walk(token, scope, made)
    value_of(expr, scope, made)
  end

  defp lower(:token, [token], _node, scope, made) do
    made =
      List.foldr(token.hooks, made, fn %{expr: expr, name: name, callback: callback}, made ->
        hook({:named, name, callback}, expr, scope, made)
      end)

    {{}, made}
  end

  defp lower(:runtime_call, _args, _node, _scope, _made) do
    throw({:evaluate, "it has a runtime call"})
  end

  # The derivative of a product by its second factor, as Nx writes it, is a transposed product: the one with its factors
  # changed needs no transposing.
  defp lower(:transpose, [%{data: %{op: :dot, id: id, args: product}} = inner, axes] = args, node, scope, made) do
    if scope.readers[id] == 1 and not is_map_key(made.values, id) and sides_change?(product, inner, axes) do
      [a, contract_a, [], b, contract_b, []] = product
      {a, made} = walk(a, scope, made)
      {b, made} = walk(b, scope, made)
      {like(Ops.apply(:dot, node, [b, contract_b, [], a, contract_a, []]), node), made}
    else
      plain(:transpose, args, node, scope, made)
    end
  end

  defp lower(op, args, node, scope, made), do: plain(op, args, node, scope, made)

  defp sides_change?([a, contract_a, [], _b, _contract_b, []], inner, axes) do
    free = tuple_size(a.shape) - length(contract_a)
    {left, right} = Enum.split(Enum.to_list(0..(tuple_size(inner.shape) - 1)//1), free)
    axes == right ++ left
  end

  defp sides_change?(_product, _inner, _axes), do: false

  defp plain(op, _args, node, scope, made) do
    {args, made} = Tree.apply_args(node, :scope, made, &walk(&1, scope, &2))
    {like(Ops.apply(op, node, args ++ backend_options(op)), node), made}
  end

  defp backend_options(op) when op in [:iota, :eye], do: [[]]
  defp backend_options(_op), do: []

  # --- Hooks

  defp hook(callback, expr, scope, made) do
    cond do
      not called?(callback, scope.hooks) ->
        made

      not scope.root ->
        throw({:evaluate, "it has a hook inside of a loop or a branch"})

      true ->
        {values, made} = flatten(expr, scope, made)
        template = Nx.to_template(expr)
        %{made | hooks: [{callback, template, values} | made.hooks]}
    end
  end

  defp called?({:fn, _fun}, _hooks), do: true
  defp called?({:named, name, callback}, hooks), do: (hooks[name] || callback) != nil

  # --- Functions

  # Nodes of the branches that the scope around them has too.
  defp shared(branches, scope, made) do
    {made, _seen} = Composite.reduce(branches, {made, %{}}, &share(&1, scope, &2))
    made
  end

  defp share(%{data: %{op: :constant}}, _scope, acc), do: acc

  defp share(%{data: %{id: id}} = node, scope, {made, seen} = acc) do
    cond do
      is_map_key(seen, id) ->
        acc

      is_map_key(scope.ids, id) ->
        {_, made} = walk(node, scope, made)
        {made, Map.put(seen, id, true)}

      true ->
        acc = {made, Map.put(seen, id, true)}
        {_, acc} = Tree.apply_args(node, :scope, acc, &{&1, share(&1, scope, &2)})
        acc
    end
  end

  defp branch(expr, scope, made) do
    {function, []} = begin_like([])
    inner = %{scope | ids: Tree.scope_ids(expr, scope.ids), root: false}
    {results, inside} = flatten(expr, inner, made)
    finish(function, results)
    {function, %{made | tensors: inside.tensors}}
  end

  # A function of parameters that look like these tensors.
  defp function(expr, like, scope, made) do
    {function, placeholders} = begin_like(like)
    inner = %{scope | params: numbered(placeholders), ids: Tree.scope_ids(tuple(expr)), root: false}
    {results, inside} = flatten(tuple(expr), inner, %{made | values: %{}})
    finish(function, results)
    {function, %{made | tensors: inside.tensors}}
  end

  defp tuple(list) when is_list(list), do: List.to_tuple(list)
  defp tuple(expr), do: expr

  # What Nx.reduce takes: Adit.Ops calls it with placeholders.
  defp function_of(body, type, scope) do
    inner = %{scope | ids: Tree.scope_ids(body), root: false}

    fn left, right ->
      {value, _made} = walk(body, %{inner | params: %{0 => left, 1 => right}}, new())

      if value.type == type do
        value
      else
        out = %{value | type: type}
        wrap(out, Ops.apply(:as_type, out, [value]))
      end
    end
  end

  defp inlined(expr, tensors, scope, made) do
    inner = %{scope | params: numbered(tensors), ids: Tree.scope_ids(expr)}
    {value, inside} = value_of(expr, inner, %{made | values: %{}})
    {value, %{inside | values: made.values}}
  end

  defp begin_like(tensors) do
    case NIF.function_begin(Enum.map(tensors, &slot/1)) do
      {:ok, function, placeholders} -> {function, Enum.zip_with(tensors, placeholders, &wrap/2)}
      error -> Error.unwrap(error)
    end
  end

  defp finish(function, values) do
    Error.unwrap(NIF.function_finish(function, Enum.map(values, &ref/1)))
  end

  defp call(operation, refs, attributes) do
    Error.unwrap(NIF.call(operation, refs, attributes))
  end

  # --- Values

  # An expression's value in its own structure, or its tensors' values one after the other.
  defp value_of(expr, scope, made), do: Composite.traverse(expr, made, &walk(&1, scope, &2))

  defp flatten(expr, scope, made) do
    [expr]
    |> Composite.flatten_list()
    |> Enum.flat_map_reduce(made, fn node, made ->
      case walk(node, scope, made) do
        {%Nx.Tensor{} = value, made} -> {[value], made}
        {values, made} -> {Tuple.to_list(values), made}
      end
    end)
  end

  # References as tensors that look like those of an expression: one, or a tuple.
  defp like([result], %Nx.Tensor{} = node), do: wrap(node, result)
  defp like(results, node) when is_tuple(results), do: like(Tuple.to_list(results), node)

  defp like(results, node) when is_list(results) do
    [node] |> Composite.flatten_list() |> Enum.zip_with(results, &wrap/2) |> List.to_tuple()
  end

  defp like(result, %Nx.Tensor{} = node), do: wrap(node, result)

  defp wrap(tensor, ref), do: %{Nx.devectorize(tensor) | data: %Backend{ref: ref, lazy: true}}
  defp ref(%{data: %{ref: ref}}), do: ref
  defp slot(%{type: type, shape: shape}), do: {Types.dtype(type), shape}

  defp numbered(values) do
    values |> Enum.with_index() |> Map.new(fn {value, position} -> {position, value} end)
  end
end

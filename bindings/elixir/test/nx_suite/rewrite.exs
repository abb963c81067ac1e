defmodule Adit.NxSuite.Rewrite do
  @moduledoc """
  Rewrites the syntax tree of a test file so that what it asserts about tensors
  is asserted about their values:

    * `assert a == b`, `refute a == b` and their kin become calls to
      `Adit.NxSuite.Assert`, any other `==` a call to `Adit.NxSuite.Values`;
    * `assert_equal` and `assert_all_close` become host-side comparisons, so that
      a wrong comparison in the backend under test hides nothing;
    * a variable met twice in `assert pattern = value`, and a pinned tensor in
      `assert_received`, are compared by value too;
    * `doctest` becomes `Adit.NxSuite.DocTest.doctest`;
    * `test_backend` and `test_compiler`, by which Axon's tests choose among the
      backends they know, give the one under test;
    * the options that a serving is expected to start with have the compiler under
      test among them.

  Patterns, guards, numerical definitions and quoted code stay as they are.
  """

  alias Adit.NxSuite.{Assert, DocTest, Values}

  @equality [:==, :===, :!=, :!==]
  @kept [:defn, :defnp, :defmacro, :defmacrop, :quote, :@, :alias, :import, :require, :use] ++
          [:refute_receive, :refute_received]

  @doc "The rewritten tree of a file's text."
  def file(path) do
    tree = path |> File.read!() |> Code.string_to_quoted!(file: path)
    # The tests of the assertions themselves keep them.
    quoted(tree, Path.basename(path) != "testing_test.exs")
  end

  @doc "Rewrites a syntax tree."
  def quoted(tree, close? \\ true)

  def quoted({kept, _, args} = tree, _) when kept in @kept and is_list(args), do: tree

  def quoted({kind, meta, [{op, _, [left, right]} = code]}, close?)
      when kind in [:assert, :refute] and op in @equality do
    name = if kind == :assert == op in [:==, :===], do: :equal!, else: :different!
    text = Macro.to_string({kind, [], [code]})
    call(Assert, name, meta, [quoted(left, close?), quoted(right, close?), strict?(op), text])
  end

  def quoted({op, meta, [left, right]}, close?) when op in @equality do
    equal =
      call(Values, :equal?, meta, [quoted(left, close?), quoted(right, close?), strict?(op)])

    if op in [:==, :===], do: equal, else: call(:erlang, :not, meta, [equal])
  end

  def quoted({:assert, meta, [{:=, match, [pattern, value]}]}, close?) do
    {pattern, twins} = twins(pattern)
    assertion = {:assert, meta, [{:=, match, [pattern, quoted(value, close?)]}]}

    checks =
      for {first, again} <- twins, do: call(Assert, :equal!, meta, [first, again, true, nil])

    if checks == [], do: assertion, else: {:__block__, meta, [assertion | checks]}
  end

  # A serving starts with the default options, and the compiler under test is one of them.
  def quoted({:assert_received, meta, [{:{}, tuple, [:init, place, [[{:batch_keys, keys} | options]]]}]}, _) do
    {:assert_received, meta, [{:{}, tuple, [:init, place, [[{:batch_keys, keys}] ++ compiler() ++ options]]}]}
  end

  def quoted({name, meta, [pattern | rest]} = tree, _)
      when name in [:assert_receive, :assert_received] do
    # Pins of references and the like select the message and stay; the pattern has
    # to bind nothing, for the two branches are scopes of their own.
    case unpinned(pattern) do
      {_, []} ->
        tree

      {free, pins} ->
        if variables(pattern) == [] do
          pinned = Enum.map(pins, &elem(&1, 0))
          checks = for {pin, var} <- pins, do: call(Assert, :equal!, meta, [var, pin, true, nil])
          assertion = {name, meta, [free | rest]}

          {:if, meta,
           [
             call(Values, :tensors?, meta, [pinned]),
             [do: {:__block__, meta, [assertion | checks]}, else: tree]
           ]}
        else
          tree
        end
    end
  end

  def quoted({:&, meta, [{:/, slash, [{op, _, context}, 2]}]}, _)
      when op in [:==, :===] and is_atom(context) do
    {:&, meta, [{:/, slash, [{{:., meta, [Values, :equal?]}, [no_parens: true] ++ meta, []}, 2]}]}
  end

  def quoted({name, meta, args}, true)
      when name in [:assert_equal, :assert_all_close] and is_list(args) and length(args) <= 3 do
    call(Assert, name, meta, Enum.map(args, &quoted/1))
  end

  def quoted({{:., _, [{:__aliases__, _, [:Nx, :Testing]}, name]}, meta, args}, true) do
    call(Assert, name, meta, Enum.map(args, &quoted/1))
  end

  def quoted({:test, meta, [_ | _] = args}, close?) do
    case List.pop_at(args, -1) do
      {[do: body], head} -> {:test, meta, head ++ [[do: started(quoted(body, close?))]]}
      _ -> {:test, meta, quoted(args, close?)}
    end
  end

  def quoted({name, meta, [_ | _] = args}, _) when name in [:doctest, :doctest_file] do
    {:__block__, meta, [{:require, meta, [DocTest]}, call(DocTest, name, meta, args)]}
  end

  def quoted({:def, meta, [{:test_backend, _, _} = head, _]}, _) do
    {:def, meta, [head, [do: quote(do: Application.fetch_env!(:nx, :default_backend))]]}
  end

  def quoted({:def, meta, [{:test_compiler, _, _} = head, _]}, _) do
    {:def, meta,
     [
       head,
       [
         do:
           quote(
             do:
               Application.fetch_env!(:nx, :default_defn_options)[:compiler] || Nx.Defn.Evaluator
           )
       ]
     ]}
  end

  def quoted({definer, meta, [head | body]}, close?)
      when definer in [:def, :defp, :deftransform, :deftransformp] do
    {definer, meta, [head | quoted(body, close?)]}
  end

  # The left side of each is a pattern, perhaps with a guard.
  def quoted({op, meta, [left, right]}, close?) when op in [:->, :<-, :=, :match?] do
    {op, meta, [left, quoted(right, close?)]}
  end

  def quoted({:match?, _, _} = tree, _), do: tree
  def quoted({:when, _, _} = tree, _), do: tree

  def quoted({form, meta, args}, close?), do: {quoted(form, close?), meta, quoted(args, close?)}
  def quoted({left, right}, close?), do: {quoted(left, close?), quoted(right, close?)}
  def quoted(list, close?) when is_list(list), do: Enum.map(list, &quoted(&1, close?))
  def quoted(leaf, _), do: leaf

  @doc "The body of a test, after telling which test it is."
  def started(body) do
    quote do
      unquote(Values).start(__ENV__.file, __ENV__.function)
      unquote(body)
    end
  end

  # Gives each further occurrence of a variable in a pattern a name of its own.
  defp twins(pattern) do
    {pattern, {_, twins}} =
      walk(pattern, {%{}, []}, fn {name, meta, context} = var, {seen, twins} ->
        case seen do
          %{^name => count} ->
            again = {:"#{name}_again_#{count}", meta, context}
            {again, {%{seen | name => count + 1}, [{var, again} | twins]}}

          %{} ->
            {var, {Map.put(seen, name, 1), twins}}
        end
      end)

    {pattern, Enum.reverse(twins)}
  end

  defp unpinned(pattern) do
    {pattern, pins} =
      Macro.prewalk(pattern, [], fn
        {:^, meta, [pin]}, pins ->
          var = {:"pinned_#{length(pins)}", meta, nil}
          {var, [{pin, var} | pins]}

        other, pins ->
          {other, pins}
      end)

    {pattern, Enum.reverse(pins)}
  end

  defp variables(pattern) do
    {_, found} = walk(pattern, [], fn var, found -> {var, [var | found]} end)
    found
  end

  # Over the variables that a pattern binds: not the pinned, nor the ignored, nor what binaries are made of.
  defp walk({form, _, _} = tree, acc, _) when form in [:^, :<<>>], do: {tree, acc}

  defp walk({name, _, context} = var, acc, fun) when is_atom(name) and is_atom(context) do
    if String.starts_with?(to_string(name), "_"), do: {var, acc}, else: fun.(var, acc)
  end

  defp walk({form, meta, args}, acc, fun) do
    {args, acc} = walk(args, acc, fun)
    {{form, meta, args}, acc}
  end

  defp walk({left, right}, acc, fun) do
    {left, acc} = walk(left, acc, fun)
    {right, acc} = walk(right, acc, fun)
    {{left, right}, acc}
  end

  defp walk(list, acc, fun) when is_list(list), do: Enum.map_reduce(list, acc, &walk(&1, &2, fun))
  defp walk(leaf, acc, _), do: {leaf, acc}

  defp compiler do
    case System.get_env("ADIT_SUITE_COMPILER", "") do
      "" -> []
      name -> [compiler: Module.concat([name])]
    end
  end

  defp call(module, name, meta, args), do: {{:., meta, [module, name]}, meta, args}
  defp strict?(op), do: op in [:===, :!==]
end

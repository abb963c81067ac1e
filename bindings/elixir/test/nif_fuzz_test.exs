Code.require_file("nif_help.exs", __DIR__)
Code.require_file("seeds.exs", __DIR__)

defmodule Adit.NIFFuzzTest do
  # Every function of the NIF with terms of every kind at every place: it answers, and never raises or ends the VM.
  # ADIT_TEST_SEED repeats a run, ADIT_TEST_ROUNDS (calls of each function) makes it longer.
  use ExUnit.Case, async: false
  import Adit.NIFHelp
  import Bitwise
  alias Adit.NIF

  @moduletag timeout: 600_000
  @seed Adit.Seeds.seed()
  @rounds Adit.Seeds.rounds(150)
  @kinds [:bad_argument, :not_found, :unsupported, :out_of_memory, :device_lost, :io, :internal]

  # What functions of that name are given when they are given what they want. Files go to a folder that is removed.
  @wanted %{
    devices: [],
    open: [:device_name],
    make_default: [:device],
    device_info: [:device],
    statistics: [:device],
    wait: [:device],
    trim: [:device],
    from_binary: [:device, :dtype, :shape, :binary],
    to_binary: [:tensor, :small, :small],
    info: [:tensor],
    deallocate: [:mortal],
    eval: [:tensors],
    to_device: [:tensor, :device],
    to_pointer: [:tensor],
    from_pointer: [:device, :dtype, :shape, :address],
    explain: [:tensors, :truth],
    call: [:operation, :tensors, :attributes],
    call_eager: [:operation, :tensors, :attributes],
    operations: [],
    function_begin: [:slots],
    function_finish: [:function, :tensors],
    function_call: [:function, :tensors],
    function_grad: [:function, :shape],
    jit: [:function],
    run: [:compiled, :tensors],
    model_new: [:text],
    model_from_stan: [:text, :stan, :json, :small],
    distribution: [:distribution_name, :tensors, :attributes],
    distribution_mixture: [:tensor, :distributions],
    distribution_censored: [:distribution, :tensor, :tensor],
    distribution_log_density: [:distribution, :tensor],
    constraint: [:constraint_name, :tensors],
    model_plate: [:model, :text, :small, :texts],
    model_sample: [:model, :text, :distribution, :extents, :truth],
    model_parameter: [:model, :text, :constraint, :extents],
    model_observe: [:model, :text, :distribution, :tensor],
    model_deterministic: [:model, :text, :tensor, :extents],
    model_data: [:model, :text, :tensor],
    model_set_data: [:model, :text, :tensor],
    model_add_log_density: [:model, :text, :tensor],
    model_size: [:model],
    model_log_density: [:model, :tensor],
    model_layout: [:model, :options],
    run_start: [:model, :options],
    run_progress: [:run],
    run_stop: [:run],
    run_wait: [:run, :milliseconds],
    run_draws: [:run],
    draws_read: [:texts],
    draws_info: [:draws],
    draws_variables: [:draws, :group],
    draws_summary: [:draws],
    draws_warnings: [:draws],
    draws_numbers: [:draws, :text],
    draws_join: [:draws_list],
    draws_to_binary: [:draws],
    draws_from_binary: [:draws_bytes],
    draws_write_report: [:draws, :path],
    draws_write_csv: [:draws, :path],
    draws_write_netcdf: [:draws, :path]
  }

  setup do
    device = device()
    folder = Path.join(System.tmp_dir!(), "adit_fuzz_#{System.unique_integer([:positive])}")
    File.mkdir_p!(folder)
    here = File.cwd!()
    # what takes a path may be given any text
    File.cd!(folder)

    on_exit(fn ->
      File.cd!(here)
      File.rm_rf!(folder)
    end)
    :rand.seed(:exsss, @seed)
    %{seed: @seed, count: @rounds, world: world(device, folder)}
  end

  test "every function is here" do
    functions = Adit.NIF.__info__(:functions) |> Keyword.delete(:load) |> Enum.sort()
    assert functions == @wanted |> Enum.map(fn {name, kinds} -> {name, length(kinds)} end) |> Enum.sort()
  end

  test "any term at any place is answered", %{seed: seed, count: count, world: world} do
    for {function, kinds} <- functions(), i <- 1..count, kinds != [] or i <= 3 do
      # mostly what is wanted, so that a wrong term meets functions that got far
      arguments = Enum.map(kinds, fn kind -> if :rand.uniform(4) > 1, do: wanted(world, kind), else: any(world) end)
      check(function, arguments, seed)
    end
  end

  test "what is wanted in the wrong order is answered", %{seed: seed, count: count, world: world} do
    kinds = @wanted |> Map.values() |> List.flatten() |> Enum.uniq()

    for {function, [_ | _] = wanted} <- functions(), _ <- 1..count do
      check(function, Enum.map(wanted, fn _ -> wanted(world, Enum.random(kinds)) end), seed)
    end
  end

  test "stale handles are told of, at every place", %{seed: seed, world: world} do
    handles = [:device, :tensor, :function, :compiled, :model, :distribution, :constraint, :run, :draws]

    for {function, kinds} <- @wanted, {kind, place} <- Enum.with_index(kinds), kind in handles do
      arguments = kinds |> Enum.map(&wanted(world, &1)) |> List.replace_at(place, Enum.random(world.stale[kind]))
      assert {:error, :bad_argument, message} = check(function, arguments, seed)
      assert message =~ "deallocated" or message =~ "expected", "#{function}: #{message}"
      alone = kinds |> Enum.take(place) |> Enum.all?(&(&1 in handles))
      if alone, do: assert(message =~ "was deallocated", "#{function}: #{message}")
    end
  end

  test "handles of another kind are told of, at every place", %{seed: seed, world: world} do
    handles = [:device, :tensor, :function, :compiled, :model, :distribution, :constraint, :run, :draws]

    for {function, kinds} <- @wanted, {kind, place} <- Enum.with_index(kinds), kind in handles, other <- handles, other != kind do
      arguments = kinds |> Enum.map(&wanted(world, &1)) |> List.replace_at(place, wanted(world, other))
      assert {:error, _, message} = check(function, arguments, seed)
      assert is_binary(message)
    end
  end

  # deallocate comes last: it takes the handles away that others are tried with.
  defp functions, do: Map.to_list(Map.delete(@wanted, :deallocate)) ++ [deallocate: @wanted.deallocate]

  # The answer of a function, which must be one that nif.ex tells of.
  defp check(function, arguments, seed) do
    answer =
      try do
        apply(NIF, function, arguments)
      catch
        kind, reason ->
          flunk("#{function} #{kind}: #{inspect(reason)}\narguments: #{inspect(arguments, limit: 20)}\nADIT_TEST_SEED=#{seed}")
      end

    good? =
      case answer do
        :ok -> true
        :already_deallocated -> true
        {:ok, _} -> true
        {:ok, _, placeholders} -> is_list(placeholders)
        {:error, kind, message} -> kind in @kinds and is_binary(message)
        list when function == :operations -> is_list(list)
        _ -> false
      end

    unless good?, do: flunk("#{function}: #{inspect(answer, limit: 20)}\narguments: #{inspect(arguments, limit: 20)}\nADIT_TEST_SEED=#{seed}")
    # A defect of the library is no answer to a wrong argument.
    with {:error, :internal, message} <- answer do
      flunk("#{function}: internal: #{message}\narguments: #{inspect(arguments, limit: 20)}\nADIT_TEST_SEED=#{seed}")
    end

    answer
  end

  # --- Terms

  # One of each kind of handle, live and stale.
  defp world(device, folder) do
    live = handles(device)
    stale = handles(device)
    for {_, list} <- stale, handle <- list, do: :ok = NIF.deallocate(handle)
    {:ok, bytes} = NIF.draws_to_binary(hd(live.draws))
    Map.merge(live, %{stale: stale, folder: folder, draws_bytes: bytes, new: fn -> f32(device, [1.0]) end})
  end

  defp handles(device) do
    number = f64(device, [1.0], [])
    {:ok, distribution} = NIF.distribution("normal", [number, number], [])
    {:ok, constraint} = NIF.constraint("positive", [])
    {:ok, model} = NIF.model_new("m")
    {:ok, _} = NIF.model_sample(model, "x", distribution, [], false)
    {:ok, run} = NIF.run_start(model, chains: 1, warmup: 20, draws: 20, seed: 1, device: "cpu")
    {:ok, true} = NIF.run_wait(run, 60_000)
    {:ok, draws} = NIF.run_draws(run)
    f = function!([{:f32, [2]}], fn [x] -> call!(:exp, [x]) end)
    {:ok, unfinished, _} = NIF.function_begin([{:f32, []}])
    {:ok, compiled} = NIF.jit(f)
    {:ok, placeholder_function, [placeholder]} = NIF.function_begin([{:f32, [2]}])
    {:ok, second} = NIF.open("cpu")

    %{
      device: [second],
      tensor: [f32(device, [1.0, 2.0]), number, i64(device, [1, 2, 3, 4], [2, 2]), hd(call!(:exp, [f32(device, [1.0])])), placeholder],
      function: [f, unfinished, placeholder_function],
      compiled: [compiled],
      distribution: [distribution],
      constraint: [constraint],
      model: [model],
      run: [run],
      draws: [draws]
    }
  end

  @dtypes dtypes()
  @attributes ~w(axis axes shape type value k keep_axes direction starts lengths strides window low high interior dilations
    contract_a contract_b batch_a batch_b cast as into combine condition body on_true on_false seed length n parts exponent
    subscripts rows columns repeats causal full complete size steps kind p tolerance index)a
  @options ~w(chains warmup draws thin seed device precision placement layout metric adapt adapt_delta step_size max_depth
    init_buffer term_buffer window init_radius restart_stuck save_warmup log_likelihood posterior_predictive first_chain prior fixed)a

  defp wanted(world, kind) do
    case kind do
      :tensors -> list(3, fn -> wanted(world, :tensor) end)
      :distributions -> list(3, fn -> wanted(world, :distribution) end)
      :draws_list -> list(2, fn -> wanted(world, :draws) end)
      :draws_bytes -> damaged(world.draws_bytes)
      :mortal -> world.new.()
      :device_name -> Enum.random(["cpu", "", "vulkan:77", "nothing", String.duplicate("c", 5_000)])
      :dtype -> Enum.random(@dtypes)
      :shape -> shape()
      :binary -> :crypto.strong_rand_bytes(Enum.random([0, 1, 4, 8, 16, 64, 70_000]))
      :small -> Enum.random([0, 1, 2, -1, 3, 4])
      :address -> Enum.random([0, 1, 8, 1 <<< 12, 1 <<< 46, 1 <<< 63, (1 <<< 64) - 1, :rand.uniform(1 <<< 47)])
      :truth -> Enum.random([true, false])
      :operation -> elem(Enum.random(NIF.operations()), 0)
      :attributes -> list(4, fn -> {Enum.random(@attributes), value(world)} end)
      :options -> options(world)
      :slots -> list(3, fn -> {Enum.random(@dtypes), shape()} end)
      :text -> Enum.random(["x", "y", "", "a b", "é", <<255, 254>>, String.duplicate("n", 1_000)])
      :texts -> list(3, fn -> wanted(world, :text) end)
      :stan -> Enum.random(["parameters { real m; } model { m ~ normal(0, 1); }", "model {", "", "}{", "data { int n; }"])
      :json -> Enum.random(["", "{}", "{", "[1]", ~s({"n": 3}), "null"])
      :distribution_name -> Enum.random(["normal", :gamma, "uniform", "dirichlet", "lkj_corr_cholesky", "none"])
      :constraint_name -> Enum.random(["positive", :lower, "interval", "simplex", "none"])
      :extents -> list(3, fn -> Enum.random([1, 2, 3, "plate", 0, -1]) end)
      :milliseconds -> Enum.random([0, 1, 5, -1, :infinity])
      :group -> Enum.random(["posterior", "sample_stats", "observed", "warmup", "nothing"])
      :path -> Path.join(world.folder, Enum.random(["a", "b.html", "no/such/place"]))
      handle -> Enum.random(Map.fetch!(world, handle))
    end
  end

  # Shapes whose tensors fit, or cannot fit at all.
  defp shape do
    extents = Enum.random([[], [2], [2, 2], [1], [0], [-1], [1 <<< 40, 1 <<< 40], List.duplicate(1, 13), [3, 1]])
    if :rand.uniform(2) == 1, do: extents, else: List.to_tuple(extents)
  end

  defp value(world) do
    case :rand.uniform(14) do
      1 -> Enum.random([0, 1, 2, -1, 3, 1 <<< 40, (1 <<< 64) - 1, -(1 <<< 63), 1 <<< 70])
      2 -> Enum.random([0.0, 1.5, -1.0e300, 1.0e-300])
      3 -> Enum.random([true, false, nil])
      4 -> Enum.random([:nan, :infinity, :neg_infinity])
      5 -> {Enum.random([1, 1.0, :nan, :x]), Enum.random([2, 2.0, :infinity])}
      6 -> shape()
      7 -> Enum.random([[0], [0, 1], [1, 0], [-1], [5]])
      8 -> [1.0, 2, :nan]
      9 -> Enum.random(["ascending", "descending", "ij->ji", "low", ""])
      10 -> Enum.random(@dtypes)
      11 -> Enum.random([:ascending, :low, :high, :strange])
      12 -> wanted(world, :function)
      13 -> any(world)
      14 -> Enum.random([1, 2, 3])
    end
  end

  # Runs that are over soon.
  defp options(world) do
    given = [chains: Enum.random([1, 2]), warmup: 5, draws: 5]
    strange = list(2, fn -> {Enum.random(@options -- [:draws, :warmup, :chains, :thin]), value(world)} end)
    given ++ strange
  end

  defp damaged(bytes) do
    case :rand.uniform(3) do
      1 -> bytes
      2 -> binary_part(bytes, 0, :rand.uniform(byte_size(bytes)) - 1)
      3 -> with_other_byte(bytes, :rand.uniform(byte_size(bytes)) - 1)
    end
  end

  defp with_other_byte(bytes, at) do
    <<before::binary-size(at), byte, rest::binary>> = bytes
    <<before::binary, bxor(byte, :rand.uniform(255)), rest::binary>>
  end

  defp list(most, make), do: for(_ <- 1..(:rand.uniform(most + 1) - 1)//1, do: make.())

  # Anything at all.
  defp any(world) do
    case :rand.uniform(24) do
      1 -> Enum.random([:a, nil, true, :f32, :"", :nan, :"Elixir.Adit", :é, :日本])
      2 -> Enum.random([0, 1, -1, 255, 1 <<< 31, 1 <<< 62])
      3 -> Enum.random([1 <<< 63, 1 <<< 64, 1 <<< 1000, -(1 <<< 63), -(1 <<< 200)])
      4 -> Enum.random([0.0, -0.0, 1.5, 1.7e308])
      5 -> Enum.random(["", "exp", "cpu", <<0>>, <<0, 1, 2>>, <<255, 255>>, String.duplicate("x", 100_000)])
      6 -> Enum.random([<<1::1>>, <<5::3>>, <<1, 2, 3::7>>])
      7 -> Enum.random([[], [[]], [1 | 2], [:a | :b], [1, 2 | {}], ~c"text"])
      8 -> Enum.to_list(1..Enum.random([3, 5_000]))
      9 -> List.duplicate(Enum.random(world.tensor), Enum.random([1, 3_000]))
      10 -> Enum.random([{}, {1}, {:f32, [1]}, {1, 2, 3}, List.to_tuple(Enum.to_list(1..3_000))])
      11 -> Enum.random([%{}, %{a: 1}, %{__struct__: Nope}])
      12 -> self()
      13 -> make_ref()
      14 -> fn -> 1 end
      15 -> hd(Port.list())
      16 -> &Kernel.+/2
      17 -> world.stale |> Map.values() |> List.flatten() |> Enum.random()
      18 -> Enum.random(world.tensor)
      19 -> Enum.random(world.device)
      20 -> Enum.random(world.function ++ world.compiled)
      21 -> Enum.random(world.model ++ world.distribution ++ world.constraint)
      22 -> Enum.random(world.run ++ world.draws)
      23 -> list(4, fn -> any(world) end)
      24 -> List.to_tuple(list(3, fn -> any(world) end))
    end
  end
end

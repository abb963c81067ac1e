Code.ensure_loaded?(Adit.TestModels) || Code.require_file("support/models.ex", __DIR__)

defmodule Adit.DistributedTest do
  # Nodes of this machine stand for others: each is a VM of its own, with its own device.
  use ExUnit.Case, async: false
  import ExUnit.CaptureLog

  alias Adit.{Draws, Error, Model, Sampler, TestModels}

  @moduletag timeout: 300_000

  setup_all do
    unless Node.alive?() do
      System.cmd("epmd", ["-daemon"])
      {:ok, _} = Node.start(:"adit_test_#{System.pid()}@127.0.0.1", :longnames)
    end

    :ok
  end

  # A VM that goes with the test, if it was not killed before.
  defp peer(name) do
    paths = Enum.flat_map(:code.get_path(), &[~c"-pa", &1])
    cookie = [~c"-setcookie", Atom.to_charlist(Node.get_cookie())]
    name = :"#{name}_#{System.unique_integer([:positive])}_#{System.pid()}"
    {:ok, pid, node} = :peer.start(%{name: name, host: ~c"127.0.0.1", args: cookie ++ paths, wait_boot: 60_000})
    on_exit(fn -> stop(pid) end)

    for {app, key} <- [adit: :nif_path, adit: :device], value = Application.get_env(app, key) do
      :erpc.call(node, Application, :put_env, [app, key, value])
    end

    # The models' module may live in this VM's memory alone.
    {_, binary, file} = object_code(TestModels)
    {:module, _} = :erpc.call(node, :code, :load_binary, [TestModels, file, binary])
    {pid, node}
  end

  defp stop(pid) do
    :peer.stop(pid)
  catch
    :exit, _ -> :gone
  end

  defp object_code(module) do
    with :error <- :code.get_object_code(module) do
      path = Path.join([__DIR__, "support", "models.ex"])
      Code.put_compiler_option(:ignore_module_conflict, true)
      [{_, binary}] = Enum.filter(Code.compile_file(path), &(elem(&1, 0) == module))
      {module, binary, String.to_charlist(path)}
    end
  end

  defp numbers(draws, name, group) do
    case Draws.variable(draws, name, group) do
      {shape, binary} -> {shape, binary}
      tensor -> {apply(Nx, :shape, [tensor]), apply(Nx, :to_binary, [tensor])}
    end
  end

  defp assert_same(a, b) do
    assert {a.chains, a.draws, a.layout, a.precision} == {b.chains, b.draws, b.layout, b.precision}

    for group <- ["posterior", "sample_stats"], name <- Draws.names(a, group) do
      assert numbers(a, name, group) == numbers(b, name, group), "#{group} #{name}"
    end

    assert Draws.diagnostics(a).step_sizes == Draws.diagnostics(b).step_sizes
    assert Draws.summary(a) == Draws.summary(b)
  end

  test "two nodes draw what one does, bit for bit" do
    {_, first} = peer(:first)
    {_, second} = peer(:second)
    options = [chains: 6, warmup: 300, draws: 200, seed: 5]

    for model <- [
          TestModels.eight_schools(),
          Model.from_stan(TestModels.eight_schools_stan(), TestModels.schools_data())
        ] do
      one = Sampler.sample(model, options)
      assert_same(one, Sampler.sample(model, options ++ [nodes: [first, second]]))
      assert_same(one, Sampler.sample(model, options ++ [nodes: [node(), first, second], block: 1]))
      assert_same(one, Sampler.sample(model, options ++ [nodes: [node()], block: 4]))
    end
  end

  test "data that were set travel too" do
    {_, other} = peer(:other)
    model = TestModels.eight_schools() |> Model.set_data("sigma", [5, 4, 6, 4, 3, 4, 4, 7])
    options = [chains: 2, warmup: 100, draws: 50]
    assert_same(Sampler.sample(model, options), Sampler.sample(model, options ++ [nodes: [other]]))
  end

  if Code.ensure_loaded?(Nx) and Code.ensure_loaded?(Adit.Backend) do
    test "data that are tensors of a device travel as well" do
      {_, other} = peer(:other)
      y = apply(Nx, :tensor, [[0.3, 0.1, 0.7, -0.2], [backend: Adit.Backend]])
      model = Model.build("mean", %{y: y}, &TestModels.state_mean/2)
      options = [chains: 2, warmup: 100, draws: 50]
      assert_same(Sampler.sample(model, options), Sampler.sample(model, options ++ [nodes: [other]]))
    end
  end

  test "a node that is killed in mid-run loses only its running chains" do
    {_, stays} = peer(:stays)
    {_, dies} = peer(:dies)
    model = TestModels.mean(20_000)
    options = [chains: 4, warmup: 500, draws: 15_000, seed: 3]
    one = Sampler.sample(model, options)

    log =
      capture_log(fn ->
        run = Sampler.start(model, options ++ [nodes: [stays, dies], block: 1, progress: true, progress_every: 20])
        ref = run.ref
        # Both are at work.
        assert_receive {:adit_progress, ^ref, %{nodes: [_, _], leapfrogs: leapfrogs}} when leapfrogs > 1000, 60_000
        # As a machine that goes away: no farewell.
        :erpc.cast(dies, :erlang, :halt, [1, [flush: false]])
        assert {:ok, draws} = Sampler.await(run)
        assert draws.finished
        assert_same(one, draws)
      end)

    assert log =~ "#{dies} is lost to the run of mean"
    assert log =~ "run elsewhere"
  end

  test "where the only node goes away the run says so" do
    {_, dies} = peer(:dies)

    capture_log(fn ->
      run = Sampler.start(TestModels.mean(20_000), chains: 2, draws: 1_000_000, nodes: [dies], progress: true, progress_every: 20)
      ref = run.ref
      assert_receive {:adit_progress, ^ref, %{nodes: [_]}}, 60_000
      :erpc.cast(dies, :erlang, :halt, [1, [flush: false]])
      assert {:error, :node_lost, message} = Sampler.await(run)
      assert message =~ "no node is left that runs the chains"
      assert message =~ "#{dies} is gone"
    end)
  end

  test "a process that is killed on a node is begun again" do
    {_, other} = peer(:other)
    model = TestModels.mean(20_000)
    options = [chains: 2, warmup: 500, draws: 15_000, seed: 4]
    one = Sampler.sample(model, options)

    capture_log(fn ->
      run = Sampler.start(model, options ++ [nodes: [other], progress: true, progress_every: 10])
      ref = run.ref
      assert_receive {:adit_progress, ^ref, %{nodes: [_]}}, 60_000
      [worker | _] = Map.keys(:sys.get_state(run.pid).running)
      Process.exit(worker, :kill)
      assert {:ok, draws} = Sampler.await(run)
      assert_same(one, draws)
    end)
  end

  test "stop, progress, and the end of who started it" do
    {_, other} = peer(:other)
    model = TestModels.mean(20_000)
    options = [chains: 4, warmup: 20, draws: 1_000_000, nodes: [other, node()], progress: true, progress_every: 20]
    run = Sampler.start(model, options)
    ref = run.ref
    assert_receive {:adit_progress, ^ref, %{iterations: 1_000_020, iteration: iteration}} when iteration > 20, 60_000
    Sampler.stop(run)
    assert {:ok, draws} = Sampler.await(run, 60_000)
    assert draws.chains == 4 and not draws.finished

    me = self()

    owner =
      spawn(fn ->
        send(me, {:run, Sampler.start(model, chains: 2, draws: 1_000_000, nodes: [other])})
        Process.sleep(:infinity)
      end)

    assert_receive {:run, run}
    watch = Process.monitor(run.pid)
    Process.sleep(500)
    [worker] = Map.keys(:sys.get_state(run.pid).running)
    worker_watch = Process.monitor(worker)
    Process.exit(owner, :kill)
    assert_receive {:DOWN, ^watch, _, _, _}, 10_000
    assert_receive {:DOWN, ^worker_watch, _, _, _}, 10_000
  end

  test "what cannot be spread is refused" do
    {_, other} = peer(:other)
    model = TestModels.eight_schools()
    assert_raise Error, ~r/pooled/, fn -> Sampler.sample(model, adapt: :pooled, nodes: [other]) end
    assert_raise Error, ~r/prior/, fn -> Sampler.sample_prior(model, nodes: [other]) end
    assert_raise Error, ~r/checkpoint/, fn -> Sampler.sample(model, checkpoint: "x", nodes: [other]) end
    assert_raise Error, ~r/stated by calls/, fn -> Sampler.sample(Model.new("x"), nodes: [other]) end
    assert_raise Error, ~r/adapt_delta/, fn -> Sampler.sample(model, adapt_delta: 3.0, nodes: [other]) end
    assert_raise ArgumentError, fn -> Sampler.sample(model, nodes: []) end

    capture_log(fn ->
      assert_raise Error, ~r/none of the nodes/, fn -> Sampler.sample(model, nodes: [:"nobody@127.0.0.1"]) end
      # One that is not there does not matter where another is.
      assert %Draws{} = Sampler.sample(model, chains: 2, warmup: 50, draws: 20, nodes: [:"nobody@127.0.0.1", other])
    end)
  end
end

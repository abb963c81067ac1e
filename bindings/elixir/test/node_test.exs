defmodule Adit.NodeTest do
  use ExUnit.Case, async: false
  import ExUnit.CaptureLog

  alias Adit.{NIF, Node}

  setup do
    name = :"node_#{System.unique_integer([:positive])}"
    {:ok, pid} = start_supervised({Node, name: name})
    %{node: name, pid: pid}
  end

  test "it opens the device, warms it up, and tells", %{node: node} do
    status = Node.status(node)
    assert is_binary(status.device) and is_binary(status.driver) and is_binary(status.name)
    assert status.kernels_run > 0
    assert status.uptime_ms >= 0 and status.executions == 0
    assert status.memory_held >= 0 and status.memory_peak >= 0
    assert status.queue_length == 0 and status.suspects == [] and status.error == nil
    assert Node.alive?(node)
  end

  test "functions run one after the other and give what they give", %{node: node} do
    assert Node.with_node(node, "three", fn -> 3 end, 1000) == 3
    me = self()

    tasks =
      for i <- 1..20 do
        Task.async(fn ->
          Node.with_node(
            node,
            "count",
            fn ->
              send(me, {:begin, i})
              Process.sleep(2)
              send(me, {:end, i})
              i
            end,
            :infinity
          )
        end)
      end

    assert Enum.map(tasks, &Task.await/1) == Enum.to_list(1..20)

    for _ <- 1..20 do
      assert_receive {:begin, i}
      # The next message is its end: nothing ran beside it.
      assert_receive {what, j} when what in [:begin, :end]
      assert {what, j} == {:end, i}
    end

    assert Node.status(node).executions == 21
  end

  test "kernels run inside", %{node: node} do
    sum = fn ->
      device = Adit.Device.default()
      {:ok, x} = NIF.from_binary(device, :f64, [3], for(i <- 1..3, into: <<>>, do: <<i * 1.0::float-native-64>>))
      {:ok, [y]} = NIF.call_eager(:sum, [x], [])
      {:ok, <<number::float-native-64>>} = NIF.to_binary(y, 0, 1)
      number
    end

    assert Node.with_node(node, "sum", sum, 10_000) == 6.0
  end

  test "what they raise is raised by the caller, and the node lives", %{node: node, pid: pid} do
    assert_raise RuntimeError, "oh", fn -> Node.with_node(node, "oh", fn -> raise "oh" end, 1000) end
    assert catch_throw(Node.with_node(node, "oh", fn -> throw(:ball) end, 1000)) == :ball
    assert catch_exit(Node.with_node(node, "oh", fn -> exit(:out) end, 1000)) == :out
    assert Process.alive?(pid)
    assert Node.with_node(node, "after", fn -> :fine end, 1000) == :fine
  end

  test "three timeouts make a suspect, until it is reset", %{node: node} do
    slow = fn -> Process.sleep(10_000) end

    log =
      capture_log(fn ->
        for _ <- 1..3, do: assert(Node.with_node(node, "slow", slow, 20) == {:error, :node_timeout})
      end)

    assert log =~ "slow timed out 3 times"
    assert Node.with_node(node, "slow", slow, 20) == {:error, {:suspect, "slow"}}
    assert Node.with_node(node, "other", fn -> 1 end, 1000) == 1
    assert %{suspects: ["slow"], timeouts: 3} = Node.status(node)
    assert Node.reset("slow", node) == :ok
    assert Node.with_node(node, "slow", fn -> 2 end, 1000) == 2
    assert Node.status(node).suspects == []
  end

  test "who waits too long in the queue is released, and nobody is suspected for it", %{node: node} do
    busy = Task.async(fn -> Node.with_node(node, "busy", fn -> Process.sleep(300) end, 5000) end)
    Process.sleep(50)
    assert Node.with_node(node, "waits", fn -> 1 end, 30) == {:error, :node_timeout}
    assert Node.status(node).suspects == []
    assert Task.await(busy) == :ok
    assert Node.status(node).queue_length == 0
  end

  test "a caller that dies frees the node", %{node: node} do
    pid = spawn(fn -> Node.with_node(node, "dies", fn -> Process.sleep(60_000) end, :infinity) end)
    Process.sleep(50)
    assert Node.status(node).running == "dies"
    Process.exit(pid, :kill)
    assert Node.with_node(node, "next", fn -> :now end, 5000) == :now
  end

  test "a node that is not there, or dies meanwhile, is dead" do
    assert Node.with_node(:nowhere, "x", fn -> 1 end, 100) == {:error, :node_dead}
    assert Node.status(:nowhere) == {:error, :node_dead}
    {:ok, pid} = GenServer.start(Node, [])
    task = Task.async(fn -> Node.with_node(pid, "x", fn -> Process.sleep(60_000) end, :infinity) end)
    Process.sleep(50)
    Process.exit(pid, :kill)
    assert Task.await(task) == {:error, :node_dead}
  end

  test "without a device it says so and stays" do
    log =
      capture_log(fn ->
        {:ok, pid} = GenServer.start(Node, device: "nothing:9")
        assert Node.with_node(pid, "x", fn -> 1 end, 100) == {:error, :node_dead}
        assert %{device: nil, error: error} = Node.status(pid)
        assert is_binary(error)
        refute Node.alive?(pid)
        assert Process.alive?(pid)
        GenServer.stop(pid)
      end)

    assert log =~ "no device is open"
    # Once, not at every call.
    assert length(String.split(log, "no device is open")) == 2
  end

  test "the application starts and stops with it" do
    # under mix it runs already
    capture_log(fn ->
      if Application.stop(:adit) == :ok, do: on_exit(fn -> {:ok, _} = Application.ensure_all_started(:adit) end)
    end)

    {:ok, pid} = Adit.Application.start(:normal, [])
    assert Node.alive?()
    assert Node.with_node(fn -> 4 end) == 4
    assert Node.with_node(&:erlang.node/0, 1000) == node()
    Supervisor.stop(pid)
    assert Node.status() == {:error, :node_dead}
  end

  def tell(event, measured, about, who), do: send(who, {event, measured, about})

  if Code.ensure_loaded?(:telemetry) do
    test "events", %{node: node} do
      {:ok, _} = Application.ensure_all_started(:telemetry)
      me = self()
      events = [[:adit, :node, :execute, :start], [:adit, :node, :execute, :stop], [:adit, :node, :timeout]]
      apply(:telemetry, :attach_many, ["adit-node-test", events, &__MODULE__.tell/4, me])
      on_exit(fn -> apply(:telemetry, :detach, ["adit-node-test"]) end)
      Node.with_node(node, "heard", fn -> 1 end, 1000)
      assert_receive {[:adit, :node, :execute, :start], %{queue_length: 0}, %{name: "heard"}}
      assert_receive {[:adit, :node, :execute, :stop], %{duration: _}, %{name: "heard", result: :ok}}
      Node.with_node(node, "late", fn -> Process.sleep(1000) end, 10)
      assert_receive {[:adit, :node, :timeout], %{count: 1}, %{name: "late", suspect: false}}
    end
  end
end

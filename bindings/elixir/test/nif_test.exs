Code.require_file("nif_help.exs", __DIR__)

defmodule Adit.NIFTest do
  use ExUnit.Case, async: false
  import Adit.NIFHelp
  import Bitwise
  alias Adit.NIF

  setup do
    %{device: device()}
  end

  describe "devices" do
    test "are listed, and one of them is chosen" do
      assert {:ok, [_ | _] = devices} = NIF.devices()
      assert Enum.count(devices, & &1.chosen) == 1

      for info <- devices do
        for key <- [:id, :name, :kind, :driver, :reason], do: assert(is_binary(info[key]))
        assert info.memory_bytes > 0
      end

      assert "cpu" in Enum.map(devices, & &1.id)
    end

    test "are opened by name", %{device: device} do
      assert {:ok, %{id: id, kind: _, name: _, driver: _}} = NIF.device_info(device)
      assert {:ok, again} = NIF.open(id)
      assert {:ok, %{id: ^id}} = NIF.device_info(again)
      assert {:ok, _} = NIF.open("")
      assert {:error, :not_found, message} = NIF.open("vulkan:999")
      assert message =~ "vulkan:999"
    end

    test "count what they do", %{device: device} do
      assert {:ok, before} = NIF.statistics(device)
      keys = ~w(kernels_run submissions kernels_compiled kernels_loaded allocations bytes_in_use bytes_held bytes_peak lost)a
      assert Enum.sort(Map.keys(before)) == Enum.sort(keys)
      assert before.lost == false
      x = f32(device, [1.0, 2.0])
      assert {:ok, [_]} = NIF.call_eager(:exp, [x], [])
      assert :ok = NIF.wait(device)
      assert {:ok, later} = NIF.statistics(device)
      assert later.kernels_run > before.kernels_run
      assert later.allocations > before.allocations
      assert :ok = NIF.trim(device)
    end

    test "give memory back that nobody uses", %{device: device} do
      held = fn ->
        {:ok, %{bytes_held: bytes}} = NIF.statistics(device)
        bytes
      end

      bytes = 64 * 1024 * 1024
      {:ok, large} = NIF.from_binary(device, :u8, [bytes], :binary.copy(<<7>>, bytes))
      assert held.() >= bytes
      assert :ok = NIF.deallocate(large)
      before = held.()
      assert :ok = Adit.Device.trim(device_name())
      assert held.() <= before - bytes
      assert :ok = Adit.Device.trim()
      assert_raise Adit.Error, ~r/vulkan:999/, fn -> Adit.Device.trim("vulkan:999") end
    end
  end

  describe "a handle of another node" do
    # As it comes out of a message: the node's name, and numbers that say nothing here.
    defp foreign(name) do
      atom = <<119, byte_size(name), name::binary>>
      :erlang.binary_to_term(<<131, 90, 3::16, atom::binary, 1::32, 5::32, 6::32, 7::32>>)
    end

    test "is told from one of this node, wherever it is given", %{device: device} do
      far = foreign("trainer@far.example")
      x = f32(device, [1.0, 2.0])

      for {:error, kind, message} <- [
            NIF.to_binary(far, 0, -1),
            NIF.info(far),
            NIF.eval([far]),
            NIF.call_eager(:add, [far, x], []),
            NIF.call_eager(:add, [x, far], []),
            NIF.call(:add, [x, far], []),
            NIF.to_device(far, device),
            NIF.deallocate(far),
            NIF.trim(far)
          ] do
        assert kind == :not_found
        assert message =~ "that is on trainer@far.example: send Nx.backend_copy(tensor, Nx.BinaryBackend)"
        assert message =~ ~r/expected a (tensor|device|handle) of this node/
      end

      assert {:error, :not_found, message} = NIF.call_eager(:add, [x, far], [])
      assert message =~ "tensors, element 1"
      assert_raise Adit.Error, ~r/is on trainer@far.example/, fn -> Adit.Value.read(far) end
      # One of this node that is none says so.
      assert {:error, :bad_argument, message} = NIF.info(make_ref())
      assert message =~ "a reference that is no handle"
      assert {:error, :bad_argument, _} = NIF.info(foreign(Atom.to_string(node())))
    end
  end

  describe "tensors" do
    test "keep every bit of every type", %{device: device} do
      for type <- dtypes(), shape <- [[], [1], [7], [3, 5], [2, 1, 4]] do
        bytes = :crypto.strong_rand_bytes(Enum.product(shape) * bytes_of(type))
        assert {:ok, tensor} = NIF.from_binary(device, type, shape, bytes)
        assert {:ok, {^type, ^shape}} = NIF.info(tensor)
        assert {:ok, ^bytes} = NIF.to_binary(tensor, 0, -1)
      end
    end

    test "keep not-a-numbers with their payloads, infinities and zeros of both signs", %{device: device} do
      bits = [0x7FC00000, 0xFFC12345, 0x7F800001, 0x7F800000, 0xFF800000, 0x80000000, 0x00000001, 0]
      binary = for x <- bits, into: <<>>, do: <<x::32-native>>
      {:ok, tensor} = NIF.from_binary(device, :f32, {8}, binary)
      assert {:ok, ^binary} = NIF.to_binary(tensor, 0, -1)

      assert {:ok, [nans, infinities]} =
               {:ok, Enum.flat_map([:is_nan, :is_infinity], &elem(NIF.call_eager(&1, [tensor], []), 1))}

      assert numbers(nans) == [1, 1, 1, 0, 0, 0, 0, 0]
      assert numbers(infinities) == [0, 0, 0, 1, 1, 0, 0, 0]
    end

    test "are made of parts of binaries, also of ones that begin inside of a byte", %{device: device} do
      inner = for x <- 1..1000, into: <<>>, do: <<x * 1.0::float-64-native>>
      <<_::binary-size(3), part::binary-size(8000), _::binary>> = <<1, 2, 3, inner::binary, 9, 9>>
      assert {:ok, tensor} = NIF.from_binary(device, :f64, [1000], part)
      assert {:ok, ^inner} = NIF.to_binary(tensor, 0, -1)
      <<_::3, shifted::binary-size(8000), _::5>> = <<5::3, inner::binary, 1::5>>
      assert {:ok, tensor} = NIF.from_binary(device, :f64, [1000], shifted)
      assert {:ok, ^inner} = NIF.to_binary(tensor, 0, -1)
      assert {:error, :bad_argument, message} = NIF.from_binary(device, :f64, [1], <<inner::binary, 1::5>>)
      assert message =~ "binary"
    end

    test "are as large as memory allows", %{device: device} do
      bytes = :binary.copy(<<1, 2, 3, 4, 5, 6, 7, 8>>, 500_000)
      assert {:ok, tensor} = NIF.from_binary(device, :u8, [4_000_000], bytes)
      assert {:ok, ^bytes} = NIF.to_binary(tensor, 0, -1)
      assert {:ok, <<4, 5, 6>>} = NIF.to_binary(tensor, 3_999_995, 3)
    end

    test "may be empty", %{device: device} do
      for shape <- [[0], [3, 0], {0, 2, 5}] do
        case NIF.from_binary(device, :f32, shape, <<>>) do
          {:ok, tensor} -> assert {:ok, <<>>} = NIF.to_binary(tensor, 0, -1)
          {:error, kind, message} -> assert kind in [:bad_argument, :unsupported] and is_binary(message)
        end
      end
    end

    test "are read in part", %{device: device} do
      tensor = i64(device, Enum.to_list(0..99), [10, 10])
      assert {:ok, <<>>} = NIF.to_binary(tensor, 100, -1)
      assert {:ok, <<>>} = NIF.to_binary(tensor, 5, 0)
      assert {:ok, <<42::64-native, 43::64-native>>} = NIF.to_binary(tensor, 42, 2)
      assert {:ok, rest} = NIF.to_binary(tensor, 90, -1)
      assert byte_size(rest) == 80

      for {first, count} <- [{-1, 1}, {101, 0}, {0, 101}, {99, 2}, {0, -2}, {1, 0x7FFFFFFFFFFFFFFF}] do
        assert {:error, :bad_argument, message} = NIF.to_binary(tensor, first, count)
        assert message =~ ~r/first|count/
      end
    end

    test "refuse binaries and shapes that do not fit", %{device: device} do
      for {shape, bytes} <- [
            {[3], <<0::64>>},
            {[], <<>>},
            {[2], :binary.copy(<<0>>, 100_000)},
            {[-1], <<0::32>>},
            {[0x7FFFFFFFFFFFFFFF], <<0::32>>},
            {[0x100000000, 0x100000000], <<0::32>>},
            {[0x100000000, 0x100000000, 0x100000000], <<>>},
            {List.duplicate(1, 13), <<0::32>>},
            {List.duplicate(1, 100_000), <<0::32>>}
          ] do
        assert {:error, kind, message} = NIF.from_binary(device, :f32, shape, bytes)
        assert kind in [:bad_argument, :unsupported, :out_of_memory]
        assert is_binary(message)
      end

      assert {:error, :bad_argument, "[from_binary] shape, element 1: " <> _} = NIF.from_binary(device, :f32, [1, 1.5], <<>>)
      assert {:error, :bad_argument, "[from_binary] shape: " <> _} = NIF.from_binary(device, :f32, [1 | 2], <<>>)
      assert {:error, :bad_argument, "[from_binary] dtype: " <> message} = NIF.from_binary(device, :f33, [1], <<>>)
      assert message =~ ":f33"
      assert {:error, :bad_argument, "[from_binary] shape" <> _} = NIF.from_binary(device, :f32, [1 <<< 70], <<>>)
    end

    test "that no memory holds are an error, and nothing else is harmed", %{device: device} do
      assert {:ok, [huge]} = NIF.call(:iota, [], shape: [1 <<< 50], type: :f64)
      assert {:error, kind, message} = NIF.to_binary(huge, 0, -1)
      assert kind in [:out_of_memory, :unsupported, :bad_argument]
      assert is_binary(message)
      assert {:error, _, _} = NIF.eval([huge])
      assert {:ok, [y]} = NIF.call_eager(:negate, [f32(device, [1.0])], [])
      assert numbers(y) == [-1.0]
    end

    test "are deallocated once, and told of after", %{device: device} do
      tensor = f32(device, [1.0, 2.0])
      assert {:ok, [lazy]} = NIF.call(:exp, [tensor], [])
      assert :ok = NIF.deallocate(tensor)
      assert :already_deallocated = NIF.deallocate(tensor)
      assert {:error, :bad_argument, "[info] tensor: the tensor was deallocated"} = NIF.info(tensor)
      assert {:error, :bad_argument, message} = NIF.call(:add, [lazy, tensor], [])
      assert message =~ "element 1: the tensor was deallocated"
      assert [e, _] = numbers(lazy)
      assert_in_delta e, 2.718281828, 1.0e-6
    end

    test "give their memory back when they are deallocated", %{device: device} do
      before = bytes_in_use(device)
      {:ok, tensor} = NIF.from_binary(device, :u8, [1 <<< 20], :binary.copy(<<1>>, 1 <<< 20))
      assert bytes_in_use(device) >= before + (1 <<< 20)
      assert :ok = NIF.deallocate(tensor)
      assert eventually(fn -> bytes_in_use(device) <= before end)
    end

    test "are copied between devices", %{device: device} do
      x = f32(device, [1.0, 2.0])
      assert {:ok, there} = NIF.to_device(x, device)
      assert numbers(there) == [1.0, 2.0]
    end

    test "have an address on the cpu" do
      {:ok, cpu} = NIF.open("cpu")
      x = f64(cpu, [1.0, 2.0, 3.0])
      assert {:ok, address} = NIF.to_pointer(x)
      assert is_integer(address) and address > 0
      assert {:ok, y} = NIF.from_pointer(cpu, :f64, [3], address)
      assert numbers(y) == [1.0, 2.0, 3.0]
      assert {:ok, [lazy]} = NIF.call(:exp, [x], [])
      assert {:ok, _} = NIF.to_pointer(lazy)

      for bad <- [0, 1, 4096, 0xFFFFFFFFFFFFFFFF, 0xFFFF800000000000, 0xDEADBEEF000] do
        assert {:error, :bad_argument, message} = NIF.from_pointer(cpu, :f64, [3], bad)
        assert message =~ "address"
      end

      assert {:error, :bad_argument, _} = NIF.from_pointer(cpu, :f64, [1 <<< 60], address)
      assert {:error, _, _} = NIF.from_pointer(cpu, :f64, [1 <<< 40], address)
    end

    test "tell what is run for them", %{device: device} do
      {:ok, [y]} = NIF.call(:exp, [f32(device, [1.0])], [])
      assert {:ok, text} = NIF.explain([y], false)
      assert text =~ "exp"
      assert {:ok, text} = NIF.explain([y], true)
      assert is_binary(text)
    end
  end

  describe "operations" do
    test "are listed by name" do
      operations = NIF.operations()
      assert length(operations) > 100
      assert {"top_k", "x", "k"} in operations
      for {name, tensors, attributes} <- operations, part <- [name, tensors, attributes], do: assert(is_binary(part))
    end

    test "are lazy by call, evaluated by call_eager", %{device: device} do
      x = f32(device, [1.0, 4.0, 9.0])
      assert {:ok, [y]} = NIF.call("sqrt", [x], [])
      assert numbers(y) == [1.0, 2.0, 3.0]
      # the first time it is compiled, then it is quick
      for _ <- 1..5 do
        assert {:ok, [y]} = NIF.call_eager(:sqrt, [x], [])
        assert numbers(y) == [1.0, 2.0, 3.0]
      end

      large = f32(device, List.duplicate(4.0, 200_000))

      for _ <- 1..3 do
        assert {:ok, [y]} = NIF.call_eager(:sqrt, [large], [])
        assert {:ok, <<2.0::float-32-native>>} = NIF.to_binary(y, 199_999, 1)
      end
    end

    test "are evaluated together by eval", %{device: device} do
      x = f32(device, [1.0, 4.0])
      assert :ok = NIF.eval([])

      for _ <- 1..3 do
        {:ok, [a]} = NIF.call(:sqrt, [x], [])
        {:ok, [b]} = NIF.call(:negate, [x], [])
        assert :ok = NIF.eval([a, b])
        assert numbers(a) == [1.0, 2.0]
        assert numbers(b) == [-1.0, -4.0]
      end
    end

    test "have several results", %{device: device} do
      x = f32(device, [3.0, 1.0, 2.0])
      assert {:ok, [values, places]} = NIF.call_eager(:top_k, [x], k: 2)
      assert numbers(values) == [3.0, 2.0]
      assert {:ok, {_, [2]}} = NIF.info(places)
    end

    test "take attributes of every kind", %{device: device} do
      x = f32(device, [3.0, 1.0, 2.0, 6.0], [2, 2])
      assert [y] = call!(:sum, [x], axes: [0])
      assert numbers(y) == [5.0, 7.0]
      assert [y] = call!(:sum, [x], axes: {1}, keep_axes: true)
      assert {:ok, {:f32, [2, 1]}} = NIF.info(y)
      assert [y] = call!(:sum, [x], axes: nil, keep_axes: false)
      assert numbers(y) == [12.0]
      assert [y] = call!(:sort, [x], axis: 1, direction: "descending")
      assert numbers(y) == [3.0, 1.0, 6.0, 2.0]
      assert [y] = call!(:sort, [x], axis: 1, direction: :ascending)
      assert numbers(y) == [1.0, 3.0, 2.0, 6.0]
      assert [y] = call!(:as_type, [x], type: :i64)
      assert numbers(y) == [3, 1, 2, 6]
      assert [y] = call!(:reshape, [x], shape: {4})
      assert numbers(y) == [3.0, 1.0, 2.0, 6.0]
      assert [y] = call!(:add, [x, x], cast: :f64, as: :i64, into: [4])
      assert numbers(y) == [6, 2, 4, 12]
      add = function!([{:f32, []}, {:f32, []}], fn [a, b] -> call!(:add, [a, b]) end)
      [zero] = call!(:full, [], value: 0, shape: [], type: :f32)
      assert [y] = call!(:reduce, [x, zero], axes: [0], combine: add)
      assert numbers(y) == [5.0, 7.0]
      assert {:ok, [y]} = NIF.call_eager(:reduce, [x, zero], axes: [0], combine: add)
      assert numbers(y) == [5.0, 7.0]
    end

    test "are filled with any number" do
      full = fn value, type -> hd(call!(:full, [], value: value, shape: [], type: type)) end
      assert numbers(full.(18_446_744_073_709_551_615, :u64)) == [18_446_744_073_709_551_615]
      assert numbers(full.(1 <<< 63, :u64)) == [1 <<< 63]
      assert numbers(full.(-(1 <<< 63), :i64)) == [-(1 <<< 63)]
      assert numbers(full.(1.5, :f32)) == [1.5]
      assert numbers(full.(true, :u8)) == [1]
      for {value, bits} <- [infinity: 0x7F800000, neg_infinity: 0xFF800000] do
        assert {:ok, <<^bits::32-native>>} = NIF.to_binary(full.(value, :f32), 0, -1)
      end

      assert {:ok, <<nan::32-native>>} = NIF.to_binary(full.(:nan, :f32), 0, -1)
      assert (nan &&& 0x7FFFFFFF) > 0x7F800000

      for {value, re, im} <- [{{1.0, -2.0}, 1.0, -2.0}, {{1, 2}, 1.0, 2.0}, {{0, 2.5}, 0.0, 2.5}] do
        assert {:ok, <<^re::float-32-native, ^im::float-32-native>>} = NIF.to_binary(full.(value, :c64), 0, -1)
      end

      assert {:ok, <<0::64-native, 0x7FF0000000000000::64-native>>} =
               NIF.to_binary(full.({0.0, :infinity}, :c128), 0, -1)

      assert {:error, :bad_argument, message} = NIF.call(:full, [], value: 1 <<< 64, shape: [], type: :u64)
      assert message =~ "value"
    end

    test "say what is wrong", %{device: device} do
      x = f32(device, [1.0])
      assert {:error, :not_found, message} = NIF.call(:frobnicate, [x], [])
      assert message =~ "frobnicate"
      assert {:error, :bad_argument, "[call] operation: " <> _} = NIF.call(12, [x], [])
      assert {:error, :bad_argument, "[call] operation: " <> _} = NIF.call("ex\0p", [x], [])
      assert {:error, :bad_argument, "[call] tensors: " <> _} = NIF.call(:exp, x, [])
      assert {:error, :bad_argument, "[call] tensors, element 0: " <> message} = NIF.call(:exp, [device], [])
      assert message =~ "expected a tensor, got a device"
      assert {:error, :bad_argument, "[call] tensors, element 1: " <> message} = NIF.call(:add, [x, make_ref()], [])
      assert message =~ "reference"
      assert {:error, :bad_argument, "[call] attributes, element 0: " <> _} = NIF.call(:exp, [x], [:axes])
      assert {:error, :bad_argument, "[call] axes, element 1: " <> _} = NIF.call(:sum, [x], axes: [0, :a])
      assert {:error, :bad_argument, "[call] combine: " <> message} = NIF.call(:reduce, [x, x], combine: x)
      assert message =~ "expected a function, got a tensor"
      assert {:error, :bad_argument, _} = NIF.call(:exp, [x, x], [])
      assert {:error, :bad_argument, _} = NIF.call(:exp, [x], nonsense: 1)
      assert {:error, :bad_argument, _} = NIF.call(:sum, [x], axes: [5])
      assert {:error, :bad_argument, _} = NIF.call(:add, [f32(device, [1.0, 2.0]), f32(device, [1.0, 2.0, 3.0])], [])
    end

    test "take lists that a scheduler has no time for", %{device: device} do
      x = f32(device, [1.0])
      assert {:ok, [y]} = NIF.call_eager(:concatenate, List.duplicate(x, 5_000), axis: 0)
      assert {:ok, {:f32, [5_000]}} = NIF.info(y)
      assert {:error, _, _} = NIF.call(:exp, List.duplicate(x, 200_000), [])
      assert {:error, _, _} = NIF.call(:sum, [x], axes: Enum.to_list(1..1_000_000))
      assert :ok = NIF.eval(List.duplicate(x, 100_000))
    end
  end

  describe "functions" do
    test "are built, called, differentiated and compiled", %{device: device} do
      square_sum = fn [x, y] -> call!(:sum, call!(:multiply, [x, y])) end
      f = function!([{:f32, [3]}, {:f32, {3}}], square_sum)
      x = f32(device, [1.0, 2.0, 3.0])
      y = f32(device, [4.0, 5.0, 6.0])
      assert {:ok, [z]} = NIF.function_call(f, [x, y])
      assert numbers(z) == [32.0]
      assert {:ok, grad} = NIF.function_grad(f, [0, 1])
      assert {:ok, [value, by_x, by_y]} = NIF.function_call(grad, [x, y])
      assert Enum.map([value, by_x, by_y], &numbers/1) == [[32.0], [4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
      assert {:ok, compiled} = NIF.jit(grad)

      for _ <- 1..5 do
        assert {:ok, [value, by_x, by_y]} = NIF.run(compiled, [x, y])
        assert Enum.map([value, by_x, by_y], &numbers/1) == [[32.0], [4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
      end

      assert {:error, :bad_argument, _} = NIF.run(compiled, [x])
      assert {:error, :bad_argument, _} = NIF.run(compiled, [x, f32(device, [1.0])])
      assert {:error, :bad_argument, _} = NIF.function_call(f, [])
      assert {:error, :bad_argument, _} = NIF.function_grad(f, [2])
      assert {:error, :bad_argument, _} = NIF.function_grad(f, [-1])
      assert {:error, :bad_argument, _} = NIF.function_grad(f, [1 <<< 40])
    end

    test "that are not finished are told of" do
      assert {:ok, f, [p]} = NIF.function_begin([{:f32, []}])
      assert {:error, _, _} = NIF.function_call(f, [p])
      assert {:error, _, _} = NIF.jit(f)
      assert {:error, _, _} = NIF.to_binary(p, 0, -1)
      assert {:error, _, _} = NIF.eval([p])
      assert :ok = NIF.function_finish(f, call!(:exp, [p]))
      assert {:error, _, _} = NIF.function_finish(f, [p])
      assert {:error, :bad_argument, "[function_begin] slots, element 0: " <> _} = NIF.function_begin([:f32])
      assert {:error, :bad_argument, _} = NIF.function_begin([{:f32, [-1]}])
    end

    test "make loops and branches", %{device: device} do
      slots = [{:i64, []}, {:i64, []}]
      condition = function!(slots, fn [i, n] -> call!(:less, [i, n]) end)
      [one] = call!(:full, [], value: 1, shape: [], type: :i64)
      body = function!(slots, fn [i, n] -> call!(:add, [i, one]) ++ [n] end)
      assert {:ok, [i, _]} = NIF.call_eager(:while_loop, [i64(device, [0], []), i64(device, [1000], [])], condition: condition, body: body)
      assert numbers(i) == [1000]

      up = function!([{:i64, []}], fn [x] -> call!(:add, [x, one]) end)
      down = function!([{:i64, []}], fn [x] -> call!(:subtract, [x, one]) end)

      for {predicate, result} <- [{1, 6}, {0, 4}] do
        {:ok, p} = NIF.from_binary(device, :u8, [], <<predicate>>)
        assert {:ok, [y]} = NIF.call_eager(:cond, [p, i64(device, [5], [])], on_true: up, on_false: down)
        assert numbers(y) == [result]
      end
    end
  end

  test "handles of every kind are deallocated, and used by other processes", %{device: device} do
    x = f32(device, [1.0, 2.0])
    f = function!([{:f32, []}], fn [p] -> call!(:exp, [p]) end)
    {:ok, compiled} = NIF.jit(f)
    {:ok, model} = NIF.model_new("m")
    {:ok, distribution} = NIF.distribution("exponential", [f64(device, [1.0], [])], [])
    {:ok, constraint} = NIF.constraint("positive", [])
    {:ok, other} = NIF.open("cpu")
    assert Task.await(Task.async(fn -> numbers(x) end)) == [1.0, 2.0]

    for handle <- [x, f, compiled, model, distribution, constraint, other] do
      assert :ok = Task.await(Task.async(fn -> NIF.deallocate(handle) end))
      assert :already_deallocated = NIF.deallocate(handle)
    end

    for {name, got} <- [info: NIF.info(x), jit: NIF.jit(f), run: NIF.run(compiled, []), model_size: NIF.model_size(model), statistics: NIF.statistics(other)] do
      assert {:error, :bad_argument, message} = got
      assert message =~ "[#{name}]" and message =~ "was deallocated"
    end

    for bad <- [make_ref(), self(), 1, :a, nil, "", [], {}, %{}] do
      assert {:error, :bad_argument, "[deallocate] handle: " <> _} = NIF.deallocate(bad)
    end
  end
end

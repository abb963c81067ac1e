# Tests of Nx 0.13.1 that no backend with its elements outside the tensor's struct
# can pass, each with the reason. Found with a trial backend that keeps the bits of
# `Nx.BinaryBackend` behind references and is otherwise that backend.
#
# A list of {file, [{test name, reason}]}.

closure =
  "the function under grad closes over a tensor; Nx refuses this off BinaryBackend"

expression =
  "makes an expression out of a tensor made outside it; Nx refuses this off BinaryBackend"

network =
  "sends a tensor to another node as it is; Nx's documentation asks for a copy to BinaryBackend first"

zero =
  "tells -0.0 from 0.0 in a pattern, as only OTP 27 and newer do; fails on BinaryBackend too"

otp = String.to_integer(System.otp_release())

[
  {"test/nx/defn/grad_test.exs",
   [
     {"test vectorization supports combination of vectorized and non-vectorized tensors",
      closure},
     {"test vectorization supports combination of vectorized and non-vectorized tensors over composed function",
      closure},
     {"test vectorization non-vectorized input, vectorized output", closure},
     {"test vectorization window_scatter_max/min with vectorized inputs", closure},
     {"test vectorization grad of non-vectorized target with vectorized capture", closure},
     {"test vectorization vectorized grad through Nx.LinAlg.triangular_solve with captured a",
      closure},
     {"test vectorization dot with captured matrix (exercises concrete tensor handling)",
      closure},
     {"test vectorization conv with vectorized (exercises conv grad)", closure},
     {"test vectorization mixed: vectorized x * non-vectorized y (exercises broadcast_vectors)",
      closure},
     {"test vectorization composed: sigmoid(x @ w + b) (exercises composed chain with captures)",
      closure},
     {"test conv rule computes gradient of kernel when image is a constant closure variable",
      closure}
   ]},
  {"test/nx/defn/expr_test.exs",
   [
     {"test constant optimizations preserves names", expression},
     {"test constant optimizations logsumexp", expression},
     {"test constant optimizations upcast float constants when operating against higher precision types",
      expression},
     {"test inspect with scalar", expression},
     {"test inspect with parameters", expression},
     {"test inspect with tensors", expression},
     {"test inspect with fun", expression},
     {"test inspect with metadata", expression}
   ]},
  {"test/nx/defn/tree_test.exs",
   [
     {"test apply_args handles regular operations", expression},
     {"test apply_args handles concatenate", expression}
   ]},
  {"test/nx/defn/evaluator_test.exs",
   [
     {"test slice",
      "mixes a template with a tensor and expects the template's error; off BinaryBackend Nx itself raises an earlier one"}
   ]},
  {"test/nx/optional_test.exs",
   [
     {"test optional callbacks (defn) calls the default impl if custom does not exist",
      "mixes a tensor of the test's own backend with one of the default backend, which has to be BinaryBackend for this"}
   ]},
  {"test/nx/serving_test.exs",
   [
     {"test distributed spawns distributed tasks over the network", network},
     {"test distributed spawns distributed tasks over the network with streaming", network},
     {"test distributed spawns distributed tasks over the network with hidden nodes", network}
   ]}
] ++
  if System.get_env("ADIT_SUITE_COMPILER", "") != "" do
    unreadable = "its arguments are of the test's own backend, which has no to_binary: only that backend computes on them"

    [
      {"test/nx/optional_test.exs",
       for backend <- ["Non", ""] do
         {"test inspect works with defn call for backend Elixir.Nx.OptionalTest.#{backend}CustomImplTestBackend", unreadable}
       end}
    ]
  else
    []
  end ++
  if otp < 27 do
    [
      {"test/nx/floating_test.exs",
       [
         {"test f8_e4m3fn dump_f8_e4m3fn/1", zero},
         {"test f8 pretty printing", zero},
         {"test bf16 pretty printing", zero}
       ]}
    ]
  else
    []
  end

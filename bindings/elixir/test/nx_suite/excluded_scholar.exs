# Tests of Scholar (0.4.2, and its main branch after it) that do not hold on Nx 0.13.1,
# whatever the backend, and those that Nx 0.13.1 cannot run off BinaryBackend.
#
# A list of {file, [{test name, reason}]}.

drift =
  "expects the digits of an older Nx's decompositions or random numbers; fails on Nx 0.13.1's own backend"

weights =
  "gives weights, a tensor, as an option of a numerical definition; Nx refuses this off BinaryBackend"

[
  {"test/scholar/cross_decomposition/pls_svd_test.exs",
   [
     {"doctest Scholar.CrossDecomposition.PLSSVD.fit/3 (1)", drift},
     {"doctest Scholar.CrossDecomposition.PLSSVD.fit_transform/3 (3)", drift},
     {"doctest Scholar.CrossDecomposition.PLSSVD.transform/4 (2)", drift},
     {"test fit_transform test - :num_components set to 1", drift},
     {"test fit_transform test - :scale is set to :false", drift},
     {"test fit_transform test - all options are default", drift},
     {"test transform test", drift}
   ]},
  {"test/scholar/decomposition/kernel_pca_test.exs",
   [
     {"doctest Scholar.Decomposition.KernelPCA.fit_transform/2 (3)", drift},
     {"doctest Scholar.Decomposition.KernelPCA.transform/2 (2)", drift}
   ]},
  {"test/scholar/decomposition/pca_test.exs",
   [
     {"doctest Scholar.Decomposition.PCA.fit/2 (1)", drift},
     {"doctest Scholar.Decomposition.PCA.fit_transform/2 (5)", drift},
     {"doctest Scholar.Decomposition.PCA.incremental_fit/2 (2)", drift},
     {"doctest Scholar.Decomposition.PCA.partial_fit/2 (3)", drift},
     {"doctest Scholar.Decomposition.PCA.transform/2 (4)", drift}
   ]},
  {"test/scholar/decomposition/truncated_svd_test.exs",
   [
     {"doctest Scholar.Decomposition.TruncatedSVD.fit/2 (1)", drift},
     {"doctest Scholar.Decomposition.TruncatedSVD.fit_transform/2 (2)", drift},
     {"test fit test - all default options", drift},
     {"test fit_transform test - :num_components", drift},
     {"test fit_transform test - :num_iters", drift},
     {"test fit_transform test - :num_oversamples", drift},
     {"test fit_transform test - all default options", drift}
   ]},
  {"test/scholar/interpolation/bezier_spline_test.exs",
   [
     {"test bezier spline predict/2", drift}
   ]},
  {"test/scholar/linear/linear_regression_test.exs",
   [
     {"doctest Scholar.Linear.LinearRegression.fit/3 (1)", drift},
     {"doctest Scholar.Linear.LinearRegression.predict/2 (2)", drift},
     {"test fit test for shapes {1, 1}, {1, 1} and type {:f, 32} and sample_weights", drift}
   ]},
  {"test/scholar/linear/polynomial_regression_test.exs",
   [
     {"doctest Scholar.Linear.PolynomialRegression.fit/3 (1)", drift},
     {"doctest Scholar.Linear.PolynomialRegression.fit/3 (2)", drift}
   ]},
  {"test/scholar/linear/ridge_regression_test.exs",
   [
     {"doctest Scholar.Linear.RidgeRegression.fit/3 (1)", drift},
     {"doctest Scholar.Linear.RidgeRegression.predict/2 (2)", drift}
   ]},
  {"test/scholar/manifold/tsne_test.exs",
   [
     {"test all default params", drift},
     {"test non-default exaggeration", drift},
     {"test non-default learning_rate", drift},
     {"test non-default max_iter", drift},
     {"test non-default metric", drift},
     {"test non-default num_components", drift},
     {"test non-default perplexity", drift}
   ]},
  {"test/scholar/metrics/classification_test.exs",
   [{"doctest Scholar.Metrics.Classification.log_loss/3 (29)", weights}]},
  {"test/scholar/metrics/regression_test.exs",
   [{"test mean_pinball_loss/3 mean_pinball_loss with axes", weights}]},
  {"test/scholar/cluster/spectral_clustering_test.exs",
   [
     {"test properties works inside jit",
      "jits a function that closes over a tensor; Nx refuses this off BinaryBackend"}
   ]}
]

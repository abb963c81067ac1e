# Opens the netCDF file that netcdf_test wrote, or writes one as ArviZ does.
import sys

import netCDF4
import numpy as np


def check(path):
    chains, draws = 2, 3
    with netCDF4.Dataset(path) as file:
        groups = {"posterior", "sample_stats", "observed_data", "log_likelihood", "posterior_predictive"}
        assert set(file.groups) == groups, file.groups
        assert file.model == "tést" and file.seed == 2**63 + 5 and file.inference_library == "adit"
        assert file.created_by.startswith("adit ") and file.sampling_time == 1.5

        posterior = file["posterior"]
        assert posterior.inference_library == "adit" and posterior.seed == 2**63 + 5
        sizes = {name: len(dim) for name, dim in posterior.dimensions.items()}
        assert sizes == {"chain": 2, "draw": 3, "school": 3, "L_dim_0": 2, "L_dim_1": 3, "none_dim_0": 0}, sizes
        assert posterior["chain"].dtype == np.int64 and list(posterior["chain"][:]) == [0, 1]
        assert posterior["draw"].dtype == np.int64 and list(posterior["draw"][:]) == [0, 1, 2]
        assert list(posterior["school"][:]) == ["Ä", "b c", ""], posterior["school"][:]
        assert list(posterior["L_dim_1"][:]) == [0, 1, 2]
        assert posterior["mu"].dimensions == ("chain", "draw")
        assert posterior["theta"].dimensions == ("chain", "draw", "school")
        assert posterior["L"].dimensions == ("chain", "draw", "L_dim_0", "L_dim_1")
        assert posterior["none"].dimensions == ("chain", "draw", "none_dim_0")
        for name, shape in {"mu": (), "theta": (3,), "L": (2, 3)}.items():
            size = int(np.prod(shape, dtype=int))
            count = np.arange(chains * draws * size).reshape((chains, draws) + shape)
            assert posterior[name].dtype == np.float64
            assert np.array_equal(posterior[name][:], count / 7 + len(name)), name

        stats = file["sample_stats"]
        kinds = {"lp": "f8", "acceptance_rate": "f8", "step_size": "f8", "tree_depth": "i8", "n_steps": "i8",
                 "diverging": "i1", "energy": "f8"}
        for name, kind in kinds.items():
            assert stats[name].dtype == np.dtype(kind) and stats[name].dimensions == ("chain", "draw"), name
        assert stats["diverging"].getncattr("dtype") == "bool"
        assert np.array_equal(stats["diverging"][:], [[0, 1, 0], [1, 0, 1]])
        assert np.array_equal(stats["n_steps"][:], [[4, 5, 6], [7, 8, 9]])
        assert stats["inverse_metric"].dimensions == ("chain", "unconstrained")
        assert list(stats["adapted_step_size"][:]) == [0.25, 0.5]

        observed = file["observed_data"]
        assert observed["y"].dimensions == ("school",) and list(observed["y"][:]) == [28, 8, -3]
        assert observed["n"].dimensions == () and observed["n"][...] == 3
        assert file["log_likelihood"]["y"].dimensions == ("chain", "draw", "school")
        assert file["posterior_predictive"]["y"].dimensions == ("chain", "draw", "school")


def write(path):
    with netCDF4.Dataset(path, "w") as file:
        file.created_by = "somebody"
        group = file.createGroup("posterior")
        group.setncattr("inference_library", "pymc")
        group.setncattr_string("model", "schoöls")
        group.setncattr("sampling_time", 2.5)
        group.setncattr("tuning_steps", np.int64(500))
        group.setncattr("seed", np.int64(-1))
        for name, size in {"chain": 2, "draw": 4, "school": 3, "year": 2, "theta_dim_0": 2}.items():
            group.createDimension(name, size)
        group.createVariable("school", str, ("school",))[:] = np.array(["a", "b", "c"], dtype=object)
        group.createVariable("year", "i8", ("year",))[:] = [2001, 2002]
        for name, size in {"chain": 2, "draw": 4, "theta_dim_0": 2}.items():
            group.createVariable(name, "i8", (name,))[:] = np.arange(size)
        def add(to, name, kind, dims, values):
            variable = to.createVariable(name, kind, dims, zlib=True, fill_value=np.nan if kind[0] == "f" else None)
            variable[:] = values
            return variable
        counted = np.arange(2 * 4 * 3 * 2).reshape(2, 4, 3, 2)
        add(group, "mu", "f4", ("chain", "draw"), counted[..., 0, 0] / 4)
        add(group, "theta", "f8", ("chain", "draw", "theta_dim_0"), counted[:, :, 0, :])
        add(group, "z", "i8", ("chain", "draw", "school", "year"), counted)
        packed = add(group, "packed", "i2", ("chain", "draw"), counted[..., 0, 0])
        packed.set_auto_scale(False)
        packed.scale_factor = 0.5
        packed.add_offset = 10.0
        stats = file.createGroup("sample_stats")
        for name, size in {"chain": 2, "draw": 4, "extra": 2}.items():
            stats.createDimension(name, size)
        stats.createVariable("diverging", "i1", ("chain", "draw")).dtype_ = "bool"
        stats["diverging"][:] = np.arange(8).reshape(2, 4) % 3 == 0
        stats.createVariable("lp", "f8", ("chain", "draw"))[:] = -np.arange(8).reshape(2, 4)
        stats.createVariable("largest_weight", "f8", ("chain", "draw", "extra"))[:] = 0
        data = file.createGroup("observed_data")
        data.createDimension("school", 3)
        data.createVariable("y", "i8", ("school",))[:] = [1, 2, 3]


{"check": check, "write": write}[sys.argv[1]](sys.argv[2])

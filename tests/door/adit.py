"""Adit through its C door, by ctypes: as much as the tests need, and a pattern for other languages."""

import ctypes
import os
from ctypes import (POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p)

import numpy as np

library = ctypes.CDLL(os.environ["ADIT_LIBRARY"])


class Attribute(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("integer", c_int64), ("real", c_double), ("imag", c_double),
                ("count", c_size_t), ("integers", POINTER(c_int64)), ("reals", POINTER(c_double)), ("text", c_char_p),
                ("function", c_void_p)]


class Slot(Structure):
    _fields_ = [("type", c_int), ("rank", c_size_t), ("shape", POINTER(c_int64))]


class Operation(Structure):
    _fields_ = [("name", c_char_p), ("tensors", c_char_p), ("attributes", c_char_p)]


INTEGER, REAL, INTEGERS, REALS, TEXT, DTYPE, FUNCTION = range(7)
STATUS = ["ok", "bad_argument", "not_found", "unsupported", "out_of_memory", "device_lost", "io", "internal"]
DTYPES = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"]
# NumPy has no bf16: its bits travel as u16.
NUMPY = dict(zip(DTYPES, map(np.dtype, ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "u2", "f4", "f8", "c8", "c16"])))
NAMES = {kind: name for name, kind in NUMPY.items() if name != "bf16"} | {np.dtype(bool): "u8"}


def declare(name, result, *arguments):
    f = getattr(library, name)
    f.restype, f.argtypes = result, arguments
    return f


P, PP = c_void_p, POINTER(c_void_p)
error_message = declare("adit_error_message", c_char_p, P)
error_free = declare("adit_error_free", None, P)
device_open = declare("adit_device_open", c_int, c_char_p, PP, PP)
device_free = declare("adit_device_free", None, P)
device_make_default = declare("adit_device_make_default", c_int, P, PP)
from_bytes = declare("adit_tensor_from_bytes", c_int, P, c_int, c_size_t, POINTER(c_int64), P, c_size_t, PP, PP)
tensor_read = declare("adit_tensor_read", c_int, P, c_int64, c_int64, P, c_size_t, PP)
tensor_free = declare("adit_tensor_free", None, P)
tensor_dtype = declare("adit_tensor_dtype", c_int, P)
tensor_rank = declare("adit_tensor_rank", c_size_t, P)
tensor_shape = declare("adit_tensor_shape", POINTER(c_int64), P)
eval_tensors = declare("adit_eval", c_int, c_size_t, PP, PP)
call_operation = declare("adit_call", c_int, c_char_p, c_size_t, PP, c_size_t, POINTER(Attribute), c_size_t, PP,
                         POINTER(c_size_t), PP)
operation_count = declare("adit_operation_count", c_size_t)
operation_at = declare("adit_operation_at", POINTER(Operation), c_size_t)
function_begin = declare("adit_function_begin", c_int, c_size_t, POINTER(Slot), PP, PP)
function_parameter = declare("adit_function_parameter", c_int, P, c_size_t, PP, PP)
function_finish = declare("adit_function_finish", c_int, P, c_size_t, PP, PP)
function_free = declare("adit_function_free", None, P)


class Error(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = STATUS[status]


def checked(f, *arguments):
    error = c_void_p()
    status = f(*arguments, byref(error))
    if status:
        message = error_message(error).decode()
        error_free(error)
        raise Error(status, message)


class Device:
    def __init__(self, name):
        self.handle = c_void_p()
        checked(device_open, name.encode(), byref(self.handle))
        checked(device_make_default, self.handle)

    def __del__(self):
        device_free(self.handle)


class DType(str):
    """A name of an element type, given as such and not as text."""


class Tensor:
    def __init__(self, handle):
        self.handle = handle if isinstance(handle, c_void_p) else c_void_p(handle)

    def __del__(self):
        tensor_free(self.handle)

    @property
    def dtype(self):
        return DTYPES[tensor_dtype(self.handle)]

    @property
    def shape(self):
        return tuple(tensor_shape(self.handle)[: tensor_rank(self.handle)])

    def numpy(self):
        array = np.empty(self.shape, NUMPY[self.dtype])
        checked(tensor_read, self.handle, 0, array.size, array.ctypes.data, array.nbytes)
        if self.dtype == "bf16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array


def handles(tensors):
    return (c_void_p * len(tensors))(*[it.handle for it in tensors])


def integers_of(values):
    return (c_int64 * max(1, len(values)))(*values)


def tensor(device, array, dtype=None):
    array = np.array(array, order="C")
    dtype = dtype or NAMES[array.dtype]
    if dtype == "bf16":
        array = (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    made = c_void_p()
    checked(from_bytes, device.handle, DTYPES.index(dtype), array.ndim, integers_of(array.shape), array.ctypes.data,
            array.nbytes, byref(made))
    return Tensor(made)


def attribute(name, value, keep):
    it = Attribute(name=name.encode())
    if isinstance(value, DType):
        it.kind, it.integer = DTYPE, DTYPES.index(value)
    elif isinstance(value, str):
        it.kind, it.text = TEXT, value.encode()
    elif isinstance(value, Function):
        it.kind, it.function = FUNCTION, value.handle
    elif isinstance(value, (bool, int, np.integer)):
        it.kind, it.integer = INTEGER, int(value)
    elif isinstance(value, (float, complex)):
        it.kind, it.real, it.imag = REAL, value.real, value.imag
    else:
        keep.append(integers_of(value))
        it.kind, it.count, it.integers = INTEGERS, len(value), keep[-1]
    return it


def call(operation, *tensors, **attributes):
    """All results of an operation. An attribute's name may end in _, as as_."""
    keep = []
    listed = [attribute(name.rstrip("_"), value, keep) for name, value in attributes.items()]
    results, count = (c_void_p * 8)(), c_size_t()
    checked(call_operation, operation.encode(), len(tensors), handles(tensors), len(listed),
            (Attribute * len(listed))(*listed), len(results), results, byref(count))
    return [Tensor(results[i]) for i in range(count.value)]


def evaluate(tensors):
    checked(eval_tensors, len(tensors), handles(tensors))


class Function:
    """A function of tensors: `f` is called with placeholders of these (dtype, shape)s."""

    def __init__(self, f, *slots):
        self.handle, keep = c_void_p(), []
        listed = (Slot * max(1, len(slots)))()
        for i, (dtype, shape) in enumerate(slots):
            keep.append(integers_of(shape))
            listed[i] = Slot(DTYPES.index(dtype), len(shape), keep[-1])
        checked(function_begin, len(slots), listed, byref(self.handle))
        placeholders = []
        for i in range(len(slots)):
            made = c_void_p()
            checked(function_parameter, self.handle, i, byref(made))
            placeholders.append(Tensor(made))
        results = f(*placeholders)
        checked(function_finish, self.handle, len(results), handles(results))

    def __del__(self):
        function_free(self.handle)


def operations():
    """(name, tensors, attributes) of every operation that there is."""
    rows = [operation_at(i)[0] for i in range(operation_count())]
    return [(row.name.decode(), row.tensors.decode(), row.attributes.decode()) for row in rows]

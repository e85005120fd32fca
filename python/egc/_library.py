"""The C library (include/egc/egc.h): its functions, and its errors as exceptions."""

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p

API_VERSION = 2


class DataError(ValueError):
    """A graph or a dataset is invalid."""


class ModelError(ValueError):
    """A model file is invalid, or does not fit what it is used for."""


class VerificationError(RuntimeError):
    """A result failed a check, for instance a loss that is NaN."""


class Interrupted(RuntimeError):
    """Training was stopped by its callback; ``egc.train(resume=...)`` continues it."""


_EXCEPTIONS = {2: ValueError, 3: DataError, 4: ModelError, 5: OSError, 6: VerificationError, 130: Interrupted}
NAME = "libegc.so"


def _find():
    chosen = os.environ.get("EGC_LIBRARY")
    if chosen:
        places = [chosen]
    else:
        here = os.path.dirname(os.path.abspath(__file__))
        beside = os.path.join(here, "lib")  # in a wheel
        places = (
            sorted(os.path.join(beside, n) for n in os.listdir(beside) if n.startswith(NAME))
            if os.path.isdir(beside)
            else []
        )
        try:
            from ._location import LIBRARY_DIRECTORY  # written by `cmake --install`

            places.append(os.path.normpath(os.path.join(here, LIBRARY_DIRECTORY, NAME)))
        except ImportError:
            pass
    for place in places:
        if os.path.isfile(place):
            return place
    raise ImportError(
        f"egc: {NAME} was not found"
        + "".join(f", not as {place}" for place in places)
        + "; the environment variable EGC_LIBRARY may name it"
    )


class Layer(ctypes.Structure):
    """egc_layer"""

    _fields_ = [
        ("dtype", c_int32),
        ("num_aggregators", c_int32),
        ("aggregators", c_int32 * 7),
        ("self_loops", c_int32),
        ("activation", c_int32),
        ("attention_version", c_int32),
        ("in_channels", c_int64),
        ("heads", c_int64),
        ("bases", c_int64),
        ("width", c_int64),
        ("negative_slope", c_double),
        ("reserved", c_int64 * 8),
    ]


class EdgeFeatures(ctypes.Structure):
    """egc_edge_features"""

    _fields_ = [
        ("category_dtype", c_int32),
        ("number_dtype", c_int32),
        ("category_columns", c_int64),
        ("categories", c_void_p),
        ("num_categories", c_void_p),
        ("number_columns", c_int64),
        ("numbers", c_void_p),
        ("reserved", c_int64 * 4),
    ]


class EdgeTerm(ctypes.Structure):
    """egc_edge_term"""

    _fields_ = [
        ("message", c_int32),
        ("table", c_void_p),
        ("linear", c_void_p),
        ("bias", c_void_p),
        ("self_edge", c_void_p),
        ("reserved", c_int64 * 4),
    ]


class EdgeGradients(ctypes.Structure):
    """egc_edge_gradients"""

    _fields_ = [
        ("table", c_void_p),
        ("linear", c_void_p),
        ("bias", c_void_p),
        ("self_edge", c_void_p),
        ("reserved", c_int64 * 4),
    ]


class Array(ctypes.Structure):
    """egc_array"""

    _fields_ = [
        ("name", c_char_p),
        ("dtype", c_int32),
        ("dimensions", c_int32),
        ("shape", c_int64 * 2),
        ("data", c_void_p),
    ]


LOG = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)
EPOCH = ctypes.CFUNCTYPE(c_int, c_char_p, c_void_p)

_P = c_void_p
_OUT = POINTER(c_void_p)
_FUNCTIONS = {  # name: result, arguments
    "egc_api_version": (c_int, []),
    "egc_version": (c_char_p, []),
    "egc_last_error": (c_char_p, []),
    "egc_set_log": (None, [LOG, _P]),
    "egc_num_threads": (c_int, []),
    "egc_set_num_threads": (c_int, [c_int]),
    "egc_set_num_threads_here": (c_int, [c_int]),
    "egc_set_parallel": (None, [_P]),
    "egc_graph_from_edges": (c_int, [c_int64, c_int64, c_int64, _P, _P, _P, _OUT]),
    "egc_graph_from_edges_with_features": (c_int, [c_int64, c_int64, c_int64, _P, _P, _P, POINTER(EdgeFeatures), _OUT]),
    "egc_graph_from_csr": (c_int, [c_int64, c_int64, _P, _P, _P, _OUT]),
    "egc_graph_free": (None, [_P]),
    "egc_graph_num_edges": (c_int64, [_P]),
    "egc_graph_csr": (None, [_P, _OUT, _OUT, _OUT]),
    "egc_conv_saved_size": (c_int64, [_P, _P]),
    "egc_conv_forward": (c_int, [_P] * 10),
    "egc_conv_backward": (c_int, [_P] * 14),
    "egc_edge_conv_forward": (c_int, [_P] * 11),
    "egc_edge_conv_backward": (c_int, [_P] * 16),
    "egc_combine_forward": (c_int, [_P] * 5),
    "egc_combine_backward": (c_int, [_P] * 7),
    "egc_aggregate_forward": (c_int, [_P] * 4),
    "egc_aggregate_backward": (c_int, [_P] * 5),
    "egc_attention_saved_size": (c_int64, [_P, _P]),
    "egc_attention_forward": (c_int, [_P] * 8),
    "egc_attention_backward": (c_int, [_P] * 13),
    "egc_dataset_load": (c_int, [c_char_p, c_char_p, c_uint64, _OUT]),
    "egc_dataset_from_arrays": (c_int, [c_char_p, c_int64, _P, _OUT]),
    "egc_dataset_save": (c_int, [_P, c_char_p]),
    "egc_dataset_free": (None, [_P]),
    "egc_dataset_info": (c_char_p, [_P]),
    "egc_dataset_num_arrays": (c_int64, [_P]),
    "egc_dataset_array": (c_int, [_P, c_int64, POINTER(Array)]),
    "egc_model_load": (c_int, [c_char_p, c_int, _OUT]),
    "egc_model_free": (None, [_P]),
    "egc_model_info": (c_char_p, [_P]),
    "egc_model_predict": (c_int, [_P, _P, c_int64, _OUT]),
    "egc_predictions_free": (None, [_P]),
    "egc_predictions_values": (_P, [_P, POINTER(c_int64), POINTER(c_int64)]),
    "egc_predictions_classes": (_P, [_P]),
    "egc_predictions_words": (c_char_p, [_P]),
    "egc_train": (c_int, [c_char_p, EPOCH, _P, _OUT]),
    "egc_free": (None, [_P]),
    "egc_checksum": (c_uint64, [_P, c_size_t]),
}

path = _find()
lib = ctypes.CDLL(path)
for _name, (_result, _arguments) in _FUNCTIONS.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments
if lib.egc_api_version() < API_VERSION:
    raise ImportError(
        f"egc: {path} has version {lib.egc_api_version()} of the C interface, expected {API_VERSION} or newer"
    )


def fail(status, reworded=str):
    """Raises what a call's status says."""
    sentence = lib.egc_last_error().decode("utf-8", "replace")
    if status == 5 and sentence == "out of memory":
        raise MemoryError("egc: out of memory")
    raise _EXCEPTIONS.get(status, RuntimeError)(reworded(sentence))


def check(status):
    if status:
        fail(status)


def made(function, *arguments):
    """The object that a function makes in its last argument."""
    out = c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    return out.value


def encoded(text, what):
    """A text for the library, which reads up to the first zero byte."""
    if not isinstance(text, (str, os.PathLike)):
        raise TypeError(f"{what} must be a text or a path, got {type(text).__name__}")
    text = os.fspath(text)
    if isinstance(text, bytes):
        text = os.fsdecode(text)
    if "\0" in text:
        raise ValueError(f"{what} contains a zero byte: {text!r}")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ValueError(f"{what} is no text that UTF-8 can spell: {text!r}") from None


@LOG
def _log(level, message, _):
    import logging

    logger = logging.getLogger("egc")
    logger.log((logging.DEBUG, logging.INFO, logging.WARNING)[level], "%s", message.decode("utf-8", "replace"))


lib.egc_set_log(_log, None)


def whole(value, what, least, most):
    """A whole number in a range, also of numpy."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} must be a whole number, got {type(value).__name__}")
    try:
        value = value.__index__()
    except TypeError:  # an array of several
        raise TypeError(f"{what} must be a whole number, got {type(value).__name__}") from None
    if not least <= value <= most:
        raise ValueError(f"{what} must be from {least} to {most}, got {value}")
    return value


def num_threads():
    """Number of threads that egc computes with."""
    return lib.egc_num_threads()


def set_num_threads(threads):
    """Sets the number of threads. Results do not depend on it. In ``egc.torch`` torch's setting counts."""
    check(lib.egc_set_num_threads(whole(threads, "set_num_threads: threads", 1, 4096)))

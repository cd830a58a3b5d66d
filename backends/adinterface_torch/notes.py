"""Notes on torch errors: what the user should know."""

from __future__ import annotations

from adinterface.core.contract import TAKE_FUNCTIONS, Note

_NUMPY_CALLED = (
    f"NumPy or SciPy was called on a tensor that is being differentiated. {TAKE_FUNCTIONS} Pass a"
    " NumPy array w that f captures as an argument, Constant(w)."
)

NOTES = [
    Note(
        RuntimeError,
        r"Can't call numpy\(\) on Tensor that requires grad",
        _NUMPY_CALLED,
    ),
    Note(
        RuntimeError,
        "data pointer of Tensor that doesn't have storage",
        f"{_NUMPY_CALLED} For NumPy in the backward of a torch.autograd.Function write"
        " AutoTorch(chunk_size=1).",
    ),
    Note(
        RuntimeError,
        "QR decomposition is not differentiable",
        "torch has a derivative of the reduced decomposition alone: qr(x), in mode 'reduced'.",
    ),
    Note(
        TypeError,
        "as an abstract array|is not a valid JAX type",
        "A JAX function got a tensor. Write xp.sin(x) with xp = adinterface.array_namespace(x), or"
        " differentiate with AutoJax().",
    ),
    Note(
        TypeError,
        r"jaxlib\..*Tensor|Tensor.*jaxlib\.",
        "A JAX array that f captured met a tensor. Pass it to f as an argument, Constant(w), which"
        " is a tensor there.",
    ),
    Note(
        TypeError,
        # np.sum(x) calls x.sum(axis=None, out=None)
        r"unexpected keyword argument 'axis'|'dim' must be int, not NoneType|got \(.*out=NoneType",
        "NumPy was called on a tensor. Write x.sum() for np.sum(x), or xp.sum(x) with xp ="
        " adinterface.array_namespace(x), or decorate f with @adinterface.numpy_function.",
    ),
    Note(
        TypeError,
        r"numpy\.ndarray.*(Tensor|Parameter)|Tensor.*numpy\.ndarray|Concatenation operation is not"
        r" implemented for NumPy",
        "A NumPy array met a tensor. If f captured the array, pass it to f as an argument,"
        " Constant(w), which is a tensor there, or decorate f with adinterface.numpy_function."
        " Solvers and code of the host get NumPy arrays: let them use no tensors and no torch"
        " modules.",
    ),
    Note(
        OverflowError,
        "int too big to convert|negative int to unsigned",
        "A Python int of more than 64 bits met a tensor. Pass a float, Constant(float(n)).",
    ),
    Note(
        RuntimeError,
        "same dtype|destination dtypes match",  # of two dtypes in one operation
        "torch does not convert data to the dtype of parameters. Convert it before the call,"
        " x.to(weight.dtype) or array.astype('float32'), or the model: module.double(). If all have"
        " one dtype, and mode is 'forward', torch mixed them: a float32 number that meets a Python"
        " float has a float64 tangent there. Then use AutoTorch(), or pass float64.",
    ),
    Note(
        NotImplementedError,
        "'Sparse",
        "torch cannot batch sparse gradients, such as those of an Embedding with sparse=True: make"
        " it with sparse=False, or let AutoTorch(chunk_size=1) take one after another.",
    ),
    Note(
        RuntimeError,
        "randomness error mode",
        "f draws random numbers in a batched call, as Dropout does in training mode. Write"
        " batched(..., randomness='different') for numbers of each entry's own, randomness='same'"
        " for the same in all, or module.eval().",
    ),
    Note(
        RuntimeError,
        "don't yet support saved tensor hooks|A different number of tensors was saved during",
        "torch.utils.checkpoint fails where reverse meets forward or a batched call, and torch.func"
        " inside a checkpoint. Take both derivatives with AutoTorch(chunk_size=1), or leave"
        " checkpoint out.",
    ),
    Note(
        RuntimeError,
        "it must override the setup_context",
        "f contains an old-style autograd.Function, as DTensor's collectives are, which torch's"
        " forward mode and vmap cannot go through. Use AutoTorch(), without mode='forward' and"
        " outside of batched.",
    ),
    Note(
        RuntimeError,
        # of gloo, NCCL and their stores, about another process
        "closed by peer|Connection reset|Broken pipe|Timed out waiting|communicator was"
        " aborted|remote process",
        "A process of the group is gone, or does not take part in this exchange: it died, or took"
        " another path through f. Look at what it printed, and start all of them again, as torchrun"
        " --max-restarts=N does by itself. init_process_group(timeout=...) says how long to wait"
        " for one.",
    ),
    Note(
        (RuntimeError, ValueError),
        # of torch.vmap
        "vmap: |got a batched tensor|functorch transforms|data-dependent control flow|Batching rule"
        " not impl|within vmap",
        "torch.vmap cannot do this for all entries of a batched call at once: a branch on a value,"
        " an item(), a write into a tensor that all entries share, or the backward pass of what"
        " torch.compile made. BatchNorm writes its statistics in training mode: module.eval()."
        " AutoTorch(chunk_size=1) takes one entry after another.",
    ),
    Note(
        RuntimeError,
        "doesn't match the broadcast shape",
        "In a batched call torch.vmap cannot write numbers of an entry into a tensor that all"
        " entries share, as a GRU does. AutoTorch(chunk_size=1) takes one entry after another.",
    ),
    Note(
        Exception,
        r"^torch\._(dynamo|inductor)",
        "torch.compile could not compile f, for AutoTorch(compile=True). AutoTorch() runs it as"
        " it is.",
    ),
    Note(
        RuntimeError,
        # of a second derivative of compiled code
        "compiled with non-empty donated buffers|aot_autograd does not currently support double"
        " backward",
        "What torch.compile made is differentiated once. For second derivatives pass the module"
        " that it was made from, model._orig_mod.",
    ),
    Note(
        (RuntimeError, TypeError),  # the second since PyTorch 2.15
        "view_as_real is only supported for complex tensors",
        "torch's forward mode gives c - x, of a complex number c and a real tensor x, a real"
        " tangent, which has no imaginary part. Write -x + c, or differentiate in reverse, with"
        " AutoTorch().",
    ),
    Note(
        RuntimeError,
        "ZeroTensors are immutable",
        "f writes in place to a tensor whose derivative is zero so far, which torch does not allow"
        " inside two levels of forward mode. Write y = y + x * x for y += x * x, or take one of the"
        " two derivatives in reverse, with AutoTorch().",
    ),
    Note(
        RuntimeError,
        "would mutate a captured Tensor",
        "f writes to a tensor that it captured or that a module holds, which forward mode and"
        " batches of torch do not allow. A BatchNorm does in training mode: module.eval(). Or use"
        " AutoTorch(), in a batch AutoTorch(chunk_size=1).",
    ),
    Note(
        RuntimeError,
        "leaf Variable that requires grad",
        "f writes into its own argument, which torch cannot differentiate. Write into a copy: x ="
        " x.clone(), then x[i] = value.",
    ),
    Note(
        RuntimeError,
        "output of a function that returns multiple views",
        "f writes into one of several parts of a tensor, such as a slice of xs in a loop, which"
        " torch cannot differentiate. Write into a copy: x = x.clone().",
    ),
]

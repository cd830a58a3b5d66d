"""What TensorFlow cannot do, as data for the conformance table."""

from adinterface.core.contract import KnownFailure

COMPILED = (
    "tf.function knows no numbers while it traces. AutoTensorFlow(compile=False) runs such code."
)
OPERATORS = (
    "TensorFlow promotes dtypes in its operators only, has no x.mT, and does not differentiate x**n"
    " at 0."
)
FAILURES = {
    COMPILED: [
        ("control-flow/branch-*", "prepared"),
        ("function:if x > y", "prepared"),
        ("function:repeat", "prepared"),
        ("function:from_dlpack", "prepared"),
        ("function:x[[]mask]", "prepared"),
    ],
    OPERATORS: [("function:concat", "value"), ("function:x.mT", "*"), ("function:x [*][*] y", "*")],
}
LINKS = {
    COMPILED: "https://www.tensorflow.org/guide/function",
    OPERATORS: "https://www.tensorflow.org/guide/tf_numpy_type_promotion",
}
KNOWN_FAILURES = tuple(
    KnownFailure(scenario, check, reason, LINKS[reason])
    for reason, places in FAILURES.items()
    for scenario, check in places
)

"""A Kalman filter whose variances are fitted: the yearly flow of the Nile, a level that wanders
under noise.

Data: G. W. Cobb (1978). Model, method and the published estimates: J. Durbin and S. J. Koopman,
Time Series Analysis by State Space Methods (2012), section 2.10.3: the variances are 15,099 of the
noise and 1,469.1 of the level, where the diffuse log-likelihood is -632.54 (-641.59 + log(2 pi
10^7)/2 for a first level of variance 10^7).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import AutoBackend, array_namespace
from adinterface.fit import minimize
from adinterface.loops import scan

TITLE = "Kalman filter, maximum likelihood"
YEARS = (
    "1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140"
    " 1100 1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831"
    " 726 456 824 702 1120 1100 832 764 821 768 845 864 862 698 845 744 796 1040 759 781 865 845"
    " 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860 874 848 890 744 749 838 1050 918"
    " 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740"
)
FLOW = np.array(YEARS.split(), dtype=float)  # 1871 to 1970, in 10^8 cubic metres at Aswan


def filtered(model: Any, flow: Any) -> Any:
    """The level after each year, its variance, and what each year adds to the negative
    log-likelihood.

    The first year gives the first level, whose variance is then that of the noise (diffuse
    initialization).
    """
    xp = array_namespace(flow)
    noise, drift = xp.exp(model["noise"]), xp.exp(model["drift"])

    def year(carry: Any, seen: Any) -> Any:
        level, variance = carry
        predicted = variance + drift
        total = predicted + noise
        gain = predicted / total
        surprise = seen - level
        after = level + gain * surprise, predicted * (1.0 - gain)
        return after, (*after, 0.5 * (np.log(2 * np.pi) + xp.log(total) + surprise**2 / total))

    return scan(year, (flow[0], noise + 0.0 * flow[0]), flow[1:])[1]


def loss(model: Any, flow: Any) -> Any:
    return array_namespace(flow).sum(filtered(model, flow)[2])


def solve(backend: AutoBackend) -> dict[str, Any]:
    result = minimize(loss, backend, {"noise": 9.0, "drift": 8.0}, FLOW, options={"gtol": 1e-8})
    level, variance, _ = filtered({name: np.float64(x) for name, x in result.x.items()}, FLOW)
    variances = {name: np.exp(x) for name, x in result.x.items()}
    return {
        **variances,
        "likelihood": -result.fun,
        "level": np.asarray(level),
        "spread": np.sqrt(np.asarray(variance)),
    }


def draw(axes: Any, found: dict[str, Any]) -> None:
    years = np.arange(1871, 1971)
    axes.plot(years, FLOW, ".", color="0.6")
    axes.plot(years[1:], found["level"])
    low, high = found["level"] - 1.96 * found["spread"], found["level"] + 1.96 * found["spread"]
    axes.fill_between(years[1:], low, high, alpha=0.25)
    axes.set(xlabel="year", ylabel="flow of the Nile, 10$^8$ m$^3$")

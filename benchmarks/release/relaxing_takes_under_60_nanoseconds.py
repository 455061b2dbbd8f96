"""Ten million responses relaxed, tightened and bridged, by single steps and in a gradual release.

Run: PYTHONPATH=src:benchmarks/sampling python benchmarks/release/relaxing_takes_under_60_nanoseconds.py [responses]
"""

import sys

import numpy as np
from timing import Contender, compared, shown

from utmost.noise import Geometric
from utmost.release import GradualRelease, bridge, relax, tighten
from utmost.sampling import sample


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    noise = sample(Geometric("1/2"), n)
    loose = relax(noise, strict="1/2", loose=2)
    answer = GradualRelease(np.arange(n), sensitivity=1)
    answer.at(epsilon="1/2")
    levels = iter(f"{100 + i}/100" for i in range(1000))
    contenders = [
        Contender("relax 1/2 -> 1", lambda: relax(noise, strict="1/2", loose=1), n),
        Contender("relax 1/2 -> 1, constant-time", lambda: relax(noise, strict="1/2", loose=1, method="constant"), n),
        Contender("tighten 2 -> 1", lambda: tighten(loose, strict=1, loose=2), n),
        Contender("bridge 1/2 and 2 -> 1", lambda: bridge(noise, loose, strict="1/2", at=1, loose=2), n),
        Contender("GradualRelease.at, a looser level each time", lambda: answer.at(epsilon=next(levels)), n),
    ]
    shown(compared(contenders, repeats=3), "ns a response")
    assert np.abs(loose).mean() < np.abs(noise).mean()


if __name__ == "__main__":
    main()

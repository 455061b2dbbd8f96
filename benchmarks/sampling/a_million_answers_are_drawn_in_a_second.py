"""A million draws from a mechanism, by table and in constant time, beside NumPy's inverse of one row in floats.

Run: PYTHONPATH=src python benchmarks/sampling/a_million_answers_are_drawn_in_a_second.py
"""

import numpy as np
from timing import Contender, compared, shown

from utmost.channels import geometric_channel

N = 1_000_000


def main():
    contenders = []
    for n in (5, 36, 100, 400):
        channel = geometric_channel(n, alpha="1/2")
        secrets = np.random.default_rng(1).integers(0, n, N)
        some = max(1, 100_000_000 // n**2)
        contenders += [
            Contender(f"{n} places, table", lambda c=channel, s=secrets: c.draw(s, method="table"), N),
            Contender(
                f"{n} places, constant",
                lambda c=channel, s=secrets[:some]: c.draw(s, method="constant"),
                min(some, N),
            ),
        ]
    row = np.cumsum(np.asarray(channel.to_floats().matrix, float)[0])
    uniform = np.random.default_rng(1)
    contenders.append(Contender("NumPy, one row of floats", lambda: row.searchsorted(uniform.random(N)), N))
    shown(compared(contenders, repeats=3))


if __name__ == "__main__":
    main()

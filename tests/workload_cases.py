"""Domains, workloads and dense matrices for the tests of this room."""

import numpy as np
from hypothesis import strategies as st

from utmost.workloads import Domain, Workload, bins, hierarchy

BERKELEY = Domain(department=list("ABCDEF"), sex=["men", "women"], outcome=["admitted", "rejected"])
GEOGRAPHY = Domain(
    place=hierarchy({f"r{i}": [f"d{i}.{j}" for j in range(25)] for i in range(8)}, names=["region", "district"])
)
TWO_WAY = Domain(a=range(20), b=range(50))

_MARGINALS = ("department sex", "department", "sex", "")


def berkeley(marginals=_MARGINALS, *, per_answer=False):
    """Admitted and applicants, by these marginals."""
    admitted = {f"{margin} outcome=admitted".strip(): 1 for margin in marginals}
    return Workload(BERKELEY, {**admitted, **dict.fromkeys(marginals, 1)}, per_answer=per_answer)


def geography(district=1, region=1, total=1):
    return Workload(GEOGRAPHY, {"district": district, "region": region, "": total})


def two_way(*marginals, per_answer=False):
    return Workload(TWO_WAY, dict.fromkeys(marginals, 1), per_answer=per_answer)


def tree_of(*fanouts):
    """A tree with even branches, from the top; its levels are named l0, l1, ... from the finest."""

    def branch(prefix, rest):
        names = [f"{prefix}.{i}" for i in range(rest[0])]
        return names if len(rest) == 1 else {name: branch(name, rest[1:]) for name in names}

    return hierarchy(branch("v", fanouts), names=[f"l{i}" for i in range(len(fanouts))])


AXES = [range(1), range(2), range(3), range(5), bins(4), bins(8), bins(9, fanout=3), bins(6), bins(7)]


@st.composite
def domains(draw, most=60):
    """Domains of up to three axes with even levels: lists (also of one value), bins, trees."""
    axes = draw(st.lists(st.sampled_from([*AXES, "tree", "deep"]), min_size=1, max_size=3))
    trees = {"tree": tree_of(2, 3), "deep": tree_of(2, 1, 2)}
    made, cells, grown = {}, 1, False
    for place, axis in enumerate(axes):
        if isinstance(axis, str) and grown:
            continue
        grown |= isinstance(axis, str)
        chosen = trees[axis] if isinstance(axis, str) else axis
        size = chosen.size if hasattr(chosen, "size") else len(chosen)
        if cells * size <= most:
            made[f"x{place}"], cells = chosen, cells * size
    return Domain(made)


@st.composite
def workloads(draw, most=60):
    """Domains with some wanted marginals, ranges and single sums."""
    domain = draw(domains(most))
    marginals = list(domain.marginals())
    chosen = draw(st.lists(st.sampled_from(marginals), min_size=1, max_size=4, unique=True))
    weight = st.integers(1, 20)
    wanted = Workload(domain, {marginal: draw(weight) for marginal in chosen}, per_answer=draw(st.booleans()))
    if draw(st.booleans()):
        axes = draw(st.lists(st.sampled_from(domain.columns), min_size=1, unique=True))
        wanted += draw(st.sampled_from([Workload.ranges, Workload.prefixes]))(domain, *axes, weight=draw(weight))
    if draw(st.booleans()):
        name = draw(st.sampled_from(domain.columns))
        size = domain.axes[domain.columns.index(name)].size
        wanted += Workload.windows(domain, {name: draw(st.integers(1, size))}, draw(weight))
        row = st.lists(st.integers(-3, 3), min_size=size, max_size=size).filter(any)
        wanted += Workload.weighed(domain, {name: draw(st.lists(row, min_size=1, max_size=3))}, draw(weight))
    if draw(st.booleans()):
        axis = draw(st.sampled_from(domain.axes))
        labels = draw(st.lists(st.sampled_from(axis.labels[0]), min_size=1, unique=True))
        wanted += Workload.sums(domain, [{axis.levels[0]: labels}], [draw(weight)])
    return wanted


def rows_of_marginal(domain, marginal):
    """The groups of a marginal as rows over the cells, from sums of unit vectors."""
    return np.array([domain.sums(cell, marginal).ravel() for cell in np.eye(domain.size)]).T


def dense_variance(domain, levels, row):
    """The least variance of an unbiased linear estimate of row.x, by least squares on all groups; inf where none."""
    return dense_variances(domain, levels, np.array([row]))[0]


def dense_variances(domain, levels, rows):
    """The same of each of some rows."""
    groups = np.vstack([rows_of_marginal(domain, marginal) for marginal, level in levels.items() if level])
    noise = np.concatenate(
        [
            np.full(np.prod(domain.group_shape(marginal)), np.cosh(level) - 1)
            for marginal, level in levels.items()
            if level
        ]
    )
    whitened = groups * np.sqrt(noise)[:, None]
    rows = np.asarray(rows, dtype=float).T
    answers, *_ = np.linalg.lstsq(whitened.T, rows, rcond=1e-11)
    missed = np.abs(whitened.T @ answers - rows).max(axis=0) > 1e-7
    return np.where(missed, np.inf, (answers**2).sum(axis=0)).tolist()


def precision(level):
    """1/variance of geometric noise of a level, cosh(level) - 1; of a number or an array."""
    return 2 * np.sinh(np.asarray(level, dtype=float) / 2)[()] ** 2

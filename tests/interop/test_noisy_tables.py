"""Tables that another tool noised: margins against SciPy and simulation, our own release's verbs, what is verified."""

import json
from contextlib import nullcontext
from fractions import Fraction
from hashlib import sha256
from math import exp

import numpy as np
import pytest
from scipy import stats

import utmost as ut
from running import called
from utmost.errors import BadTable, FactsFarOff, OutOfRange, Unsupported, WrongKind
from utmost.interop import declared_noise, noisy_table

TABLE = {
    "region": ["north", "north", "south", "south"],
    "sex": ["men", "women"] * 2,
    "people": [412, 388, 51, 47],
}
LAPLACE = declared_noise("discrete laplace", scale=2)
SOURCE = "OpenDP 0.12"


def noisy(noise=LAPLACE, table=TABLE, **more):
    return noisy_table(table, {"people": noise}, source=SOURCE, **more)


def chances(noise, most=400):
    """Integers and their chances by the definition of the distribution."""
    x = np.arange(-most, most + 1)
    size = float(noise.size)
    weights = np.exp(-abs(x) / size) if noise.kind == "discrete laplace" else np.exp(-(x**2) / (2 * size))
    return x, weights / weights.sum()


@pytest.mark.parametrize("count", [1, 2, 3, 12])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.9999"])
@pytest.mark.parametrize(
    "noise",
    [LAPLACE, declared_noise("discrete gaussian", sigma=3), declared_noise("discrete gaussian", sigma="1/2")],
    ids=lambda noise: noise.words,
)
def test_the_margin_of_a_sum_of_whole_noises_is_the_least(noise, confidence, count):
    _, one = chances(noise)
    distribution = one
    for _ in range(count - 1):
        distribution = np.convolve(distribution, one)
    middle = len(distribution) // 2
    inside = [distribution[middle - r : middle + r + 1].sum() for r in range(200)]
    least = next(r for r, chance in enumerate(inside) if chance >= float(confidence) - 1e-12)
    assert noise.sum_of([noise.size] * count).margin(confidence) == least


def test_sums_of_different_sizes_have_the_margin_of_their_own_distribution():
    noise = declared_noise("discrete gaussian", sigma=1)
    distribution = np.convolve(chances(noise)[1], chances(declared_noise("discrete gaussian", variance="9.5"))[1])
    middle = len(distribution) // 2
    least = next(r for r in range(200) if distribution[middle - r : middle + r + 1].sum() >= 0.95)
    assert noise.sum_of([Fraction(1), Fraction("9.5")]).margin("0.95") == least


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999999"])
def test_gaussian_margins_are_normal_quantiles(confidence):
    noise = declared_noise("gaussian", sigma="1.5")
    expected = stats.norm.isf((1 - float(confidence)) / 2) * 1.5 * 5**0.5
    margin = noise.sum_of([noise.size] * 5).margin(confidence)
    assert expected * (1 - 1e-9) <= margin <= expected * (1 + 1e-9)


@pytest.mark.parametrize("miss", ["0.5", "0.05", "0.0001"])
def test_a_sum_of_two_continuous_laplace_noises_by_its_closed_form(miss):
    margin = declared_noise("laplace", scale=3).sum_of([Fraction(3)] * 2).margin_for_miss(Fraction(miss))
    x = margin / 3
    assert exp(-x) * (2 + x) / 2 <= float(miss)  # P(|S| > margin)
    x *= 0.998
    assert exp(-x) * (2 + x) / 2 > float(miss)


@pytest.mark.parametrize("count", [3, 10, 100])
def test_sums_of_continuous_laplace_noises_are_a_hundredth_of_a_deviation_too_wide_at_most(count):
    """P(|S| <= x) = 2/pi int sin(t x)/t (1 + t^2)^-n dt, by its definition."""
    t, step = (np.arange(1 << 18) + 0.5) * 2.0**-12, 2.0**-12
    transform = (1 + t**2) ** -float(count)

    def covered(x):
        return 2 / np.pi * float((np.sin(t * x) / t * transform).sum()) * step

    margin, deviation = (
        declared_noise("laplace", scale=1).sum_of([Fraction(1)] * count).margin("0.95"),
        (2 * count) ** 0.5,
    )
    assert covered(margin) >= 0.95
    assert covered(margin - deviation / 100) < 0.95


def test_many_continuous_laplace_noises_are_nearly_normal():
    margin = declared_noise("laplace", scale=1).sum_of([Fraction(1)] * 100_000).margin("0.95")
    assert 1.959 < margin / 200_000**0.5 < 1.97


def drawn(noise, rows, generator):
    size = float(noise.size)
    if noise.kind == "laplace":
        return generator.laplace(scale=size, size=rows)
    if noise.kind == "gaussian":
        return generator.normal(scale=size**0.5, size=rows)
    integers, weights = chances(noise)
    return generator.choice(integers, size=rows, p=weights)


@pytest.mark.parametrize(
    "noise",
    [
        LAPLACE,
        declared_noise("laplace", scale=2),
        declared_noise("discrete gaussian", sigma=3),
        declared_noise("gaussian", sigma=3),
    ],
    ids=lambda noise: noise.kind,
)
def test_ratios_and_differences_hold_as_often_as_they_say(noise):
    generator, held, tries = np.random.default_rng(7), np.zeros(2), 100
    for _ in range(tries):
        values = np.array(TABLE["people"]) + drawn(noise, 4, generator)
        made = noisy(noise, TABLE | {"people": values.tolist()}, confidence="0.9")
        share = made.ratio({"sex": "men"})
        change = made.difference({"region": "north"}, {"sex": "men"})
        held += share.lower <= 463 / 898 <= share.upper, abs(change.value - (388 - 51)) <= change.margin
    assert (held / tries >= 0.9 - 4 * (0.09 / tries) ** 0.5).all()


def test_marginals_and_means_of_rows_whose_noise_differs():
    """Each group has the margin of its own sizes; two means of equally many cells that of their difference."""
    table = {"region": [*"nnss"], "sex": [*"mwmw"], "people": [412, 388, 51, 47], "size": [1, 2, 1, 9]}
    made = noisy(declared_noise("discrete laplace", scale="size"), table)
    regions = made["region"]
    assert regions["people"].tolist() == [800, 98]
    assert regions["people_margin"].tolist() == [made.total({"region": region}).margin for region in "ns"]
    assert len({*regions["people_margin"].tolist()}) == 2
    sexes = ({"sex": sex} for sex in "mw")
    rows = [made.cells.rows_where(sex) for sex in sexes]
    mean = made.cells.mean(rows[0], minus=rows[1])
    gap = made.difference({"sex": "m"}, {"sex": "w"})
    assert (mean.exact, mean.margin) == (gap.exact / 2, pytest.approx(gap.margin / 2))
    assert mean.variance == pytest.approx(gap.variance / 4)
    with pytest.raises(OutOfRange, match="a mean"):
        made.cells.mean(rows[0], minus=rows[0])


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["discrete laplace", "laplace", "discrete gaussian", "gaussian"])
def test_the_noise_of_opendp_is_within_the_margins_of_its_scale(kind):
    """OpenDP's scale is the scale of a Laplace distribution, and the sigma of a Gaussian one."""
    dp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    dp.enable_features("contrib")
    number = int if kind.startswith("discrete") else float
    domain = dp.vector_domain(dp.atom_domain(T=number, **({} if number is int else {"nan": False})))
    is_laplace = kind.endswith("laplace")
    distance = dp.l1_distance(T=number) if is_laplace else dp.l2_distance(T=number)
    drawn_there = (dp.m.make_laplace if is_laplace else dp.m.make_gaussian)(domain, distance, scale=2.0)
    sums = np.array(drawn_there([number(0)] * 12_000)).reshape(-1, 3).sum(axis=1)
    noise = declared_noise(kind, **({"scale": 2} if is_laplace else {"sigma": 2}))
    margin = noise.sum_of([noise.size] * 3).margin("0.95")
    assert (abs(sums) <= margin).mean() >= 0.95 - 5 * (0.05 * 0.95 / 4000) ** 0.5
    assert (abs(sums) <= margin * 0.8).mean() < 0.95


def test_the_ends_of_a_ratio_of_gaussian_noise_are_just_rejected():
    made = noisy(declared_noise("gaussian", sigma=3))
    bar = made.ratio({"sex": "men"}, {"region": "north"})  # one cell in both
    for end in (bar.lower, bar.upper):
        deviation = 3 * (2 - 2 * end + 2 * end**2) ** 0.5
        assert abs(463 - end * 800) == pytest.approx(stats.norm.isf(0.025) * deviation, rel=1e-9)


def test_another_tools_geometric_noise_reads_as_our_own():
    promise = ut.Promise("people", public=["region", "sex"], unit=ut.Unit(1, 1))
    ours = ut.release(TABLE, promise, epsilon="1/2")
    theirs = noisy(declared_noise("discrete laplace", epsilon="1/2"), {name: ours.table[name] for name in TABLE})
    assert theirs.table == ours.table
    for where in ({}, {"sex": "men"}, {"region": "north", "sex": ["men", "women"]}):
        assert theirs.total(where) == ours.total(where)
        assert theirs.ratio({"sex": "men"}, where or None) == ours.ratio({"sex": "men"}, where or None)
    mine, own = theirs.withhold(below=60), ours.withhold(below=60)
    assert mine.bias == own.bias
    assert mine.table == own.table
    assert "protects nobody" in mine.words
    assert "costs nothing" not in mine.words


@pytest.mark.parametrize(
    "noise",
    [
        declared_noise("laplace", scale=2),
        declared_noise("laplace", scale="1/3"),
        declared_noise("gaussian", sigma=3),
        declared_noise("discrete gaussian", sigma=3),
        declared_noise("discrete laplace", scale=2),
    ],
    ids=lambda noise: noise.words,
)
def test_the_bias_of_shown_cells_is_that_of_the_declared_noise(noise):
    """With N >= 60 - t shown: the chance, and E[N | N >= 60 - t], to the three digits that are printed."""
    bias = noisy(noise).withhold(below=60).bias
    assert len(bias) == 4
    for fact in bias:
        least = 60 - float(Fraction(fact["true"]))
        if noise.kind.startswith("discrete"):
            x, weights = chances(noise)
            chance, moved = weights[x >= least].sum(), (x * weights)[x >= least].sum()
        else:
            size = float(noise.size)
            real = stats.laplace(scale=size) if noise.kind == "laplace" else stats.norm(scale=size**0.5)
            chance, moved = real.sf(least), real.expect(lb=least)
        assert fact["chance_shown"] == pytest.approx(chance, rel=6e-3)
        assert fact["bias"] == pytest.approx(moved / chance, rel=6e-3, abs=1e-6)


def test_a_clean_table_is_that_of_a_plan_over_the_same_cells():
    domain = ut.Domain(region=["north", "south"], sex=["men", "women"])
    plan = ut.workloads.Plan(domain, ut.Unit(1, 1), {"region sex": 1})
    release = ut.release(np.array([[412, 388], [5, 1]]), plan, epsilon="1/2", once=True)
    cells = release.table.measured[domain.finest]
    facts = {"total": 800, "region=north": ut.workloads.between(low=795)}
    theirs = noisy(table=TABLE | {"people": cells.ravel().tolist()})
    assert (theirs.clean(facts).cells == release.clean(facts).cells).all()
    assert theirs.clean().guarantee == theirs.guarantee
    with pytest.warns(FactsFarOff):
        theirs.clean({"total": 4000})


def test_rows_may_come_in_any_order_and_noise_may_have_decimals():
    order = [3, 0, 2, 1]
    mixed = {name: [column[row] for row in order] for name, column in TABLE.items()}
    mixed["people"] = [cell + 0.25 for cell in mixed["people"]]
    made = noisy(declared_noise("laplace", scale=2), mixed)
    beside = made.beside(made.clean())
    assert beside["clean"] == [round(cell) for cell in mixed["people"]]


def test_the_size_of_each_rows_noise_may_stand_in_a_column():
    table = TABLE | {"variance": [1, 4, 9, "1/4"]}
    made = noisy(declared_noise("discrete gaussian", variance="variance"), table)
    each = [declared_noise("discrete gaussian", variance=size).margin("0.95") for size in table["variance"]]
    assert made.table["people_margin"] == each
    assert made.total({"sex": "men"}).variance == 10
    assert made.withhold(below=60).shown == 2
    with pytest.raises(Unsupported, match="has one size"):
        made.clean()


def test_nothing_is_said_of_privacy_but_what_the_source_said(tmp_path):
    made = noisy(claim="epsilon = 1/2")
    statement = made.save(tmp_path / "declared.csv")
    assert made.guarantee.startswith("utmost promises nothing")
    assert '"epsilon = 1/2"' in made.guarantee
    assert "epsilon" not in {*statement}
    assert "promise" not in statement
    again = ut.read_release(tmp_path / "declared.csv")
    assert again.total() == made.total()
    assert again.statement == statement
    report = json.loads(called("verify", tmp_path / "declared.csv", "--json").stdout)
    assert report["promise"] == "no promise by utmost"
    assert "whatever is claimed about privacy" in report["on_trust"]


def test_every_changed_field_and_cell_is_found(tmp_path):
    path = tmp_path / "declared.csv"
    noisy().save(path)
    beside, content = path.with_name("declared.csv.json"), path.read_text()
    statement = json.loads(beside.read_text())
    changed = {"source": "Tumult", "claim": "epsilon = 9", "rows": 5, "guarantee": "private", "margins": {}}
    for name, value in changed.items():
        beside.write_text(json.dumps(statement | {name: value}))
        with pytest.raises(BadTable):
            ut.read_release(path)
    beside.write_text(json.dumps(statement))
    path.write_text(content.replace("412", "413"))
    with pytest.raises(BadTable):
        ut.read_release(path)


def test_margins_that_do_not_follow_are_refused_whatever_the_statement_says_of_the_file(tmp_path):
    """Compared as numbers: blanks and texts are others, and another spelling is none."""
    path = tmp_path / "declared.csv"
    statement = noisy().save(path)
    rows = [line.split(",") for line in path.read_text().splitlines()]
    for cell, is_same in ((rows[1][-1], True), (f"{rows[1][-1]}.0", True), ("1", False), ("", False), ("x", False)):
        path.write_text("\n".join(",".join(row) for row in [rows[0], [*rows[1][:-1], cell], *rows[2:]]) + "\n")
        table = {"of": "file", "sha256": sha256(path.read_bytes()).hexdigest()}
        path.with_name("declared.csv.json").write_text(json.dumps(statement | {"table": table}))
        with nullcontext() if is_same else pytest.raises(BadTable, match="margins must follow"):
            ut.read_release(path)


def test_the_commands_read_a_declared_table(tmp_path):
    (tmp_path / "t.csv").write_text("region,sex,people\nnorth,men,412\nnorth,women,388\nsouth,men,5\nsouth,women,-3\n")

    def run(*words):
        return json.loads(called(*words, "--json", cwd=tmp_path).stdout)

    run("declare", "t.csv", "--noise", "people=discrete-laplace:scale=2", "--source", SOURCE, "--out", "d.csv")
    asked = run("total", "d.csv", "--where", "sex=men")
    assert (asked["value"], asked["margin"]) == (417, 8)
    assert "promises nothing" in asked["guarantee"]
    assert run("read", "d.csv", "--where", "sex=men", "--minus", "region=north")["value"] == -383
    assert run("total", "d.csv", "--where", "sex=men", "--over", "all")["determined"]
    run("withhold", "d.csv", "--below", "20", "--out", "w.csv")
    assert "the rule withholds are missing" in run("verify", "w.csv", "--release", "d.csv")["rule"]
    run("clean", "d.csv", "--given", "total: 800", "--out", "c.csv")
    assert "certificate" in run("verify", "c.csv", "--release", "d.csv")["table"]
    (tmp_path / "c.csv").write_text((tmp_path / "c.csv").read_text().replace(",411", ",410"))
    assert called("verify", "c.csv", "--release", "d.csv", cwd=tmp_path).returncode == 1


REFUSED = {
    "no size": (OutOfRange, lambda: declared_noise("laplace")),
    "two sizes": (OutOfRange, lambda: declared_noise("laplace", scale=1, epsilon=1)),
    "another's size": (OutOfRange, lambda: declared_noise("gaussian", scale=1)),
    "sensitivity alone": (OutOfRange, lambda: declared_noise("laplace", scale=1, sensitivity=1)),
    "no kind": (OutOfRange, lambda: declared_noise("staircase", scale=1)),
    "size of 0": (OutOfRange, lambda: declared_noise("gaussian", sigma=0)),
    "no noise": (OutOfRange, lambda: noisy_table(TABLE, {}, source=SOURCE)),
    "no such column": (BadTable, lambda: noisy_table(TABLE, {"peeple": LAPLACE}, source=SOURCE)),
    "a number for noise": (WrongKind, lambda: noisy_table(TABLE, {"people": 2}, source=SOURCE)),
    "blank source": (OutOfRange, lambda: noisy_table(TABLE, {"people": LAPLACE}, source=" ")),
    "decimals": (BadTable, lambda: noisy(table=TABLE | {"people": [0.5, 1, 2, 3]})),
    "blank cell": (BadTable, lambda: noisy(table=TABLE | {"people": [None, 1, 2, 3]})),
    "margin there": (BadTable, lambda: noisy(table=TABLE | {"people_margin": [1, 1, 1, 1]})),
    "size of a row": (
        BadTable,
        lambda: noisy(declared_noise("gaussian", variance="v"), TABLE | {"v": [1, 0, 1, 1]}),
    ),
    "no column of sizes": (BadTable, lambda: noisy(declared_noise("gaussian", variance="v"))),
    "text for columns": (WrongKind, lambda: noisy(drop="sex")),
    "half a product": (BadTable, lambda: noisy(table={n: c[:3] for n, c in TABLE.items()}).clean()),
    "noisy selection": (OutOfRange, lambda: noisy().total({"people": 412})),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_declared_is_refused(case):
    kind, call = REFUSED[case]
    with pytest.raises(kind):
        call()

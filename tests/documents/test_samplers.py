"""Samplers for phones: the table has the mechanism's chances, and all languages draw the same from the same bits."""

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

import utmost as ut
from goodness import LEVEL
from utmost import losses, priors
from utmost.errors import BadTable, OutOfRange, PromiseBroken, Unsupported

# Forged tables of a sampler are read field by field: a command reads only what a page has, and starts anew for each.
from utmost.interfaces.documents import samplers
from utmost.interfaces.documents.answers import saved_mechanism
from utmost.interfaces.documents.sampler_files import sampler_files
from utmost.interfaces.documents.samplers import SAMPLER, Sampler, sampler_of
from utmost.local import SubsetSelection
from utmost.spaces import discrete
from utmost.tables.files.json_files import encoded

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src/utmost/interfaces/documents"
NODE, KOTLIN, SWIFT = (shutil.which(name) for name in ("node", "kotlinc", "swiftc"))
SMALL = {
    "three numbers of two bits": [["2/3", "1/3"], ["1/3", "2/3"]],
    "one answer": [["1"], ["1"]],
    "whole bytes, none refused": [["3/256", "253/256"], ["5/256", "251/256"]],
    "rows of different denominators": [["1/2", "1/4", "1/4"], ["1/3", "1/3", "1/3"], ["2/5", "1/5", "2/5"]],
    "an answer that never comes": [["1/7", "0", "6/7"], ["3/7", "0", "4/7"]],
    "numbers of eleven bits": [["1/1021", "20/1021", "1000/1021"], ["2/1021", "19/1021", "1000/1021"]],
    "pairs of four, reported": SubsetSelection(4, 2, ut.level(alpha="3/5")).channel.matrix.tolist(),
}


def sampler_in(folder, matrix):
    """The sampler of a channel, by way of its file."""
    channel = ut.channels.Channel(matrix)
    ut.save_design(channel, folder / "channel.json", overwrite=True)
    return sampler_of(saved_mechanism(folder / "channel.json", discrete(len(channel.matrix))))


@pytest.fixture(scope="module")
def paris(tmp_path_factory):
    """The districts of Paris, exactly and rounded; the former has numbers of some thousand bits."""
    folder = tmp_path_factory.mktemp("paris")
    places = ut.spaces.places(ROOT / "examples/paris.csv")
    consumer = ut.Consumer(priors.from_counts(places.column("population")), losses.distance(places))
    design = ut.optimal_mechanism(ut.PrivacyType(places, "ln 2 per 2 km"), consumer)
    ut.save_design(design, folder / "exact.json")
    ut.save_design(design.rounded, folder / "rounded.json")
    return places, [sampler_of(saved_mechanism(folder / f"{name}.json")) for name in ("exact", "rounded")], folder


@pytest.mark.parametrize("name", SMALL)
def test_every_number_counted_gives_the_distribution_exactly(name, tmp_path):
    """Of all numbers of b bits each outcome has P(k) N, and no fewer than half are taken."""
    matrix = ut.channels.Channel(SMALL[name]).matrix
    sampler = sampler_in(tmp_path, SMALL[name])
    used = np.flatnonzero(matrix[0] != 0)
    assert (sampler.channel.matrix == matrix[:, used]).all()
    assert sampler.answers == tuple(str(y) for y in used)
    for row, secret in enumerate(sampler.secrets):
        counts = dict.fromkeys(sampler.answers, 0)
        for block in all_blocks(sampler):
            for answer in taken(sampler, secret, block):
                counts[answer] += 1
        total = sum(counts.values())
        assert total == sampler.numbers
        assert (1 << sampler.bits) < 2 * total
        assert [Fraction(count, total) for count in counts.values()] == matrix[row, used].tolist()


def all_blocks(sampler):
    """Each number of so many bits as bytes; the bits above, where there are any, are set."""
    size = (sampler.bits + 7) // 8
    above = ((1 << 8 * size) - 1) >> sampler.bits << sampler.bits
    return [(number | above).to_bytes(size, "big") for number in range(1 << sampler.bits)]


def taken(sampler, secret, block):
    """The answer of one try, or none."""
    try:
        return [sampler.answer(secret, [block])]
    except BadTable:
        return []


def test_a_table_is_read_back_and_a_forged_one_is_not(tmp_path, paris):
    _, both, _ = paris
    for sampler in (*both, sampler_in(tmp_path, SMALL["one answer"])):
        written = SAMPLER.document(sampler)
        assert SAMPLER.document(SAMPLER.of(json.loads(encoded(written)), "table")) == written
    written = SAMPLER.document(sampler_in(tmp_path, SMALL["numbers of eleven bits"]))
    row = written["lasts"][0]
    for forged in (
        {"bits": written["bits"] + 1},
        {"lasts": [[row[1], row[0], row[2]], written["lasts"][1]]},
        {"lasts": [[*row[:2], "03ff"], written["lasts"][1]]},
        {"lasts": [row]},
        {"lasts": [[text.upper() for text in row], written["lasts"][1]]},
        {"answers": ["0", "0", "2"]},
        {"guarantee": "Nothing is revealed."},
        {"positions": [[1.0, 2.0]]},
    ):
        with pytest.raises(BadTable):
            SAMPLER.of(written | forged, "table")


def test_the_format_stays_as_it_is(tmp_path):
    """Format 1, to the letter: phones in the field read it."""
    written = SAMPLER.document(sampler_in(tmp_path, SMALL["an answer that never comes"]))
    guarantee, version = written.pop("guarantee"), written.pop("utmost")
    assert guarantee.startswith("Replacing the secret by another")
    assert version
    digest = written["mechanism"].pop("sha256")
    assert len(digest) == 64
    assert list(written) == [
        *("kind", "format", "epsilon", "epsilon_rounded_up", "alpha", "unit", "mechanism"),
        *("secrets", "answers", "positions", "bits", "lasts"),
    ]
    assert written == {
        "kind": "utmost sampler",
        "format": 1,
        "epsilon": "-log(1/3)",
        "epsilon_rounded_up": 1.0986122886681098,
        "alpha": "1/3",
        "unit": None,
        "mechanism": {"checked": "computed from all rows: the least level that it keeps"},
        "secrets": ["0", "1"],
        "answers": ["0", "2"],
        "positions": None,
        "bits": 3,
        "lasts": [["00", "06"], ["02", "06"]],
    }


def test_what_has_no_table_is_refused(tmp_path, monkeypatch):
    """An irrational level, numbers too long, and an answer that would rule a secret out."""
    consumer = ut.Consumer(priors.uniform(4), losses.absolute)
    design = ut.optimal_mechanism(ut.PrivacyType(ut.spaces.counts(3), epsilon=1), consumer)
    ut.save_design(design, tmp_path / "design.json")
    saved = saved_mechanism(tmp_path / "design.json")
    with pytest.raises(Unsupported, match="fractions"):
        sampler_of(saved)
    with pytest.raises(PromiseBroken, match="finite level"):
        sampler_in(tmp_path, [[1, 0], ["1/2", "1/2"]])
    monkeypatch.setattr(samplers, "_MOST_BITS", 50)
    with pytest.raises(Unsupported, match="10 bits"):
        sampler_in(tmp_path, SMALL["numbers of eleven bits"])
    even = ut.optimal_mechanism(ut.PrivacyType(ut.spaces.counts(3), alpha="1/2"), consumer)
    ut.save_design(even, tmp_path / "even.json")
    with pytest.raises(Unsupported, match="about 8 bits"):
        sampler_of(saved_mechanism(tmp_path / "even.json"))


@pytest.mark.parametrize("level", [{"alpha": "1/2"}, {"epsilon": 1}, {"epsilon": 30}])
@pytest.mark.parametrize("loss", [losses.absolute, losses.asymmetric(1, 3), losses.power("3/2")])
def test_a_rounded_design_keeps_the_level_by_itself(level, loss, tmp_path):
    """Its fractions are checked exactly, here without the design's own checker, and it loses hardly more."""
    ptype = ut.PrivacyType(ut.spaces.counts(6), **level)
    design = ut.optimal_mechanism(ptype, ut.Consumer(priors.uniform(7), loss))
    rounded = design.rounded
    assert rounded.certificate.verify()
    alpha, matrix = ptype.level.alpha_interval(256).upper, rounded.certificate.matrix
    assert (matrix[1:] >= alpha * matrix[:-1]).all()
    assert (matrix[:-1] >= alpha * matrix[1:]).all()
    assert abs(float(rounded.loss) - float(design.loss)) < 1e-12
    ut.save_design(rounded, tmp_path / "design.json")
    back = ut.read_design(tmp_path / "design.json")
    assert back.loss == rounded.loss
    assert sampler_of(saved_mechanism(tmp_path / "design.json")).bits <= 61


def test_designs_and_channels_are_saved_and_read_back(tmp_path):
    """Whole; as a matrix; never over a file unless asked; a design that proves nothing is refused."""
    space = ut.spaces.grid(2, 2)
    consumer = ut.Consumer(priors.uniform(4), losses.distance(space))
    design = ut.optimal_mechanism(ut.PrivacyType(space, epsilon=1), consumer)
    path = tmp_path / "design.json"
    ut.save_design(design, path)
    back = ut.read_design(path)
    assert json.loads(path.read_text())["loss"] == "distance"
    assert (back.loss, back.lower, back.certificate.ptype.space.labels) == (design.loss, design.lower, space.labels)
    assert back.draw((0, 1)) in space.labels
    with pytest.raises(Unsupported, match="existing file"):
        ut.save_design(design, path)
    ut.save_design(design, path, overwrite=True)
    ut.save_design(design, tmp_path / "matrix.csv")
    assert ut.read_design(tmp_path / "matrix.csv").shape == (4, 4)
    with pytest.raises(OutOfRange):
        ut.save_design(design, tmp_path / "design.txt.gz")
    with pytest.raises(OutOfRange, match="must end in"):
        ut.save_design(back.channel, tmp_path / "channel.xls")
    forged = json.loads(path.read_text())
    forged["channel"][0] = ["1", "0", "0", "0"]
    path.write_text(json.dumps(forged))
    with pytest.raises(PromiseBroken, match="must prove"):
        ut.read_design(path)


def test_an_own_loss_is_saved_as_a_matrix(tmp_path):
    """Of a function no document has the name; distances of another space are not those of the design's own."""
    other = ut.spaces.grid(1, 4)
    for at, loss in enumerate((lambda i, r: (i - r) ** 2, losses.distance(other), losses.absolute.matrix(4))):
        consumer = ut.Consumer(priors.uniform(4), loss)
        design = ut.optimal_mechanism(ut.PrivacyType(ut.spaces.grid(2, 2), epsilon=1), consumer)
        ut.save_design(design, tmp_path / f"{at}.json")
        back = ut.read_design(tmp_path / f"{at}.json").certificate.consumer
        assert back.rule is None
        assert np.array_equal(back.to_floats().loss, consumer.to_floats().loss)


def cases_of(paris, folder):
    """Every number of the small ones, random ones of the wide, each with its secret; and positions in Paris."""
    places, wide, _ = paris
    cases = []
    for matrix in SMALL.values():
        sampler = sampler_in(folder, matrix)
        cases += [(sampler, secret, all_blocks(sampler), 0) for secret in sampler.secrets]
    for sampler in wide:
        size = (sampler.bits + 7) // 8
        rows = np.random.default_rng(6).bytes(400 * size)
        blocks = [rows[at : at + size] for at in range(0, len(rows), size)]
        edges = [last + step for last in sampler.lasts[3] for step in (0, 1)]
        blocks += [last.to_bytes(size, "big") for last in edges]
        cases.append((sampler, sampler.secrets[3], blocks, 4000))
    return places, cases


def expected(sampler, secret, blocks):
    """What the table makes of the blocks: each answer, and how many tries it was until then."""
    answers = [(at, answer) for at, block in enumerate(blocks, 1) for answer in taken(sampler, secret, block)]
    return [[answer, at] for at, answer in answers]


@pytest.mark.skipif(NODE is None, reason="there is no Node")
def test_javascript_draws_the_same_from_the_same_bits(paris, tmp_path):
    """All bit strings of small tables, some of wide ones, and chi-square of what its own randomness gives."""
    places, cases = cases_of(paris, tmp_path)
    positions = [[48.8606, 2.3376], [48.83, 2.25], [48.9, 2.41]]
    asked = [
        {"table": SAMPLER.document(sampler), "secret": secret, "tries": [block.hex() for block in blocks]}
        | {"draws": draws, "positions": positions if sampler.positions else []}
        for sampler, secret, blocks, draws in cases
    ]
    (tmp_path / "cases.json").write_text(json.dumps(asked))
    words = [NODE, ROOT / "tests/documents/samplers.mjs", SOURCES / "sampler.mjs", tmp_path / "cases.json"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
    for (sampler, secret, blocks, draws), told in zip(cases, json.loads(done.stdout), strict=True):
        assert told["answers"] == expected(sampler, secret, blocks)
        if draws:
            assert fits(sampler, secret, told["counts"]) > LEVEL
            assert told["nearest"] == [places.nearest(*pair) for pair in positions]


def fits(sampler, secret, counts):
    """The p-value of answers against the row of a secret."""
    row = sampler.channel.matrix[sampler.secrets.index(secret)].astype(float)
    assert set(counts) <= set(sampler.answers)
    seen = [counts.get(answer, 0) for answer in sampler.answers]
    return chisquare(seen, row * sum(seen)).pvalue


KOTLIN_MAIN = """
import java.io.File
fun main(words: Array<String>) = File(words[0]).forEachLine { line ->
    val (bits, secret, names, answers, rows, blocks) = line.split(";")
    val tries = blocks.split(",").iterator()
    val table = rows.split("|").map { it.split(",") }
    val sampler = Sampler("utmost sampler", 1, names.split(","), answers.split(","), bits.toInt(), table) { bytes ->
        tries.next().chunked(2).forEachIndexed { at, byte -> bytes[at] = byte.toInt(16).toByte() }
    }
    val told = ArrayList<String>()
    while (tries.hasNext()) try { told.add(sampler.draw(secret)) } catch (end: NoSuchElementException) { break }
    println(told.joinToString(","))
}
operator fun <T> List<T>.component6() = this[5]
"""
SWIFT_MAIN = """
import Foundation
func texts(_ text: Substring, _ mark: Character = ",") -> [String] {
    text.split(separator: mark, omittingEmptySubsequences: false).map(String.init)
}
for line in try! String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8).split(separator: "\\n") {
    let parts = line.split(separator: ";", omittingEmptySubsequences: false)
    let sampler = Sampler(kind: "utmost sampler", format: 1, secrets: texts(parts[2]), answers: texts(parts[3]),
                          bits: Int(parts[0])!, lasts: texts(parts[4], "|").map { texts(Substring($0)) })
    var tries = texts(parts[5])[...]
    var told: [String] = []
    struct End: Error {}
    while !tries.isEmpty {
        var ended = false
        let answer = try! sampler.draw(String(parts[1])) { count in
            guard let text = tries.popFirst() else { ended = true; return [UInt8](repeating: 0, count: count) }
            let digits = text.compactMap { $0.hexDigitValue }
            return stride(from: 0, to: digits.count, by: 2).map { UInt8(16 * digits[$0] + digits[$0 + 1]) }
        }
        if !ended { told.append(answer) }
    }
    print(told.joined(separator: ","))
}
"""


def lines_of(cases):
    """The cases as lines of text that need no reader of JSON; wide ones too, but nothing of no bits."""
    for sampler, secret, blocks, _ in cases:
        rows = "|".join(",".join(row) for row in SAMPLER.document(sampler)["lasts"])
        tries = ",".join(block.hex() for block in blocks)
        yield ";".join((str(sampler.bits), secret, ",".join(sampler.secrets), ",".join(sampler.answers), rows, tries))


def compiled(language, folder):
    """The program that draws in a language, as the words that start it."""
    if language == "kotlin":
        (folder / "Main.kt").write_text(KOTLIN_MAIN)
        words = [KOTLIN, SOURCES / "Sampler.kt", folder / "Main.kt", "-include-runtime", "-d", folder / "a.jar"]
        subprocess.run(words, check=True)
        return ["java", "-jar", folder / "a.jar"]
    (folder / "main.swift").write_text(SWIFT_MAIN)
    subprocess.run([SWIFT, SOURCES / "Sampler.swift", folder / "main.swift", "-o", folder / "a.out"], check=True)
    return [folder / "a.out"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "language",
    [
        pytest.param("kotlin", marks=pytest.mark.skipif(KOTLIN is None, reason="there is no Kotlin")),
        pytest.param("swift", marks=pytest.mark.skipif(SWIFT is None, reason="there is no Swift")),
    ],
)
def test_the_other_languages_draw_the_same_from_the_same_bits(language, paris, tmp_path):
    _, cases = cases_of(paris, tmp_path)
    cases = [case for case in cases if case[0].bits]
    (tmp_path / "cases.txt").write_text("\n".join(lines_of(cases)) + "\n")
    words = [*compiled(language, tmp_path), tmp_path / "cases.txt"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
    for (sampler, secret, blocks, _), told in zip(cases, done.stdout.splitlines(), strict=True):
        assert told.split(",") == [answer for answer, _ in expected(sampler, secret, blocks)]


def test_a_name_cannot_leave_its_place_in_the_page():
    """Names of secrets are data: neither the table's element nor the parts of the page end or begin with one."""
    names = ("</script><b>", "SCRIPT POLICY")
    promise = {"epsilon": "1", "unit": None, "mechanism": {"sha256": "0", "checked": "by hand"}}
    sampler = Sampler(names, ("<!--", "STYLE"), 2, ((0, 2), (1, 2)), promise)
    page = sampler_files(sampler, "js")["index.html"].decode()
    assert page.count("</script>") == 2
    table = page.partition('id="table">')[2].partition("</script>")[0]
    assert tuple(json.loads(table)["secrets"]) == names


def test_export_writes_all_files_or_none(run, tmp_path, paris):
    _, _, folder = paris
    out = tmp_path / "phone"
    told = json.loads(run("export", folder / "exact.json", "--to", "js", "--out", out, "--json")[1])
    assert sorted(path.name for path in out.iterdir()) == [
        "index.html",
        "sampler.d.mts",
        "sampler.json",
        "sampler.mjs",
    ]
    assert told["secrets"] == 20
    assert SAMPLER.read(out / "sampler.json").bits == told["bits"] >= 61
    code, _, err = run("export", folder / "exact.json", "--out", out)
    assert (code, "no existing file is overwritten" in err) == (2, True)
    for to, name in (("kotlin", "Sampler.kt"), ("swift", "Sampler.swift")):
        assert run("export", folder / "exact.json", "--to", to, "--round", "--out", tmp_path / to)[0] == 0
        assert sorted(path.name for path in (tmp_path / to).iterdir()) == [name, "sampler.json"]
        assert "rounded" in SAMPLER.read(tmp_path / to / "sampler.json").promise["mechanism"]["checked"]
    assert run("export", folder / "exact.json", "--out", tmp_path / "no" / "folder")[0] == 1
    (tmp_path / "coin.csv").write_text("1/3,2/3\n2/3,1/3\n")
    assert run("export", tmp_path / "coin.csv", "--space", "discrete:2", "--round", "--out", tmp_path / "c")[0] == 2
    assert not (tmp_path / "c").exists()


def test_a_promise_names_distances_only_where_there_are_several(run, tmp_path):
    """A page of equally distant secrets spoke of secrets 2 apart, which there are not."""
    (tmp_path / "coin.csv").write_text("2/5,3/10,3/10\n3/10,2/5,3/10\n3/10,3/10,2/5\n")
    for space, several in (("discrete:3", False), ("line:3", True), ("cycle:3", False)):
        out = tmp_path / space.partition(":")[0]
        assert run("export", tmp_path / "coin.csv", "--space", space, "--out", out)[0] == 0
        sampler = SAMPLER.read(out / "sampler.json")
        guarantee = json.loads((out / "sampler.json").read_text())["guarantee"]
        assert ("grows with the distance" in guarantee, sampler.is_discrete) == (several, not several)
        assert "(epsilon = -log(3/4)" in guarantee or several


def test_a_rounded_survey_says_its_level_to_people(run, tmp_path):
    """The promise on the phone was a fraction of forty digits."""
    survey = tmp_path / "survey.json"
    assert run("categories", "--categories", 12, "--epsilon", 1, "--short", "--save", survey)[0] == 0
    assert run("export", survey, "--round", "--out", tmp_path / "phone")[0] == 0
    guarantee = json.loads((tmp_path / "phone" / "survey.json").read_text())["guarantee"]
    assert "at most 2.72 (epsilon below 1)," in guarantee


def test_types_stand_beside_the_module_and_name_what_it_can_be_asked(tmp_path):
    """Names of any letters are literals of TypeScript, which are those of JSON; every method of the module is typed."""
    promise = {"epsilon": "1", "unit": None, "mechanism": {"sha256": "0", "checked": "by hand"}}
    sampler = Sampler(('a "b"', "c\\d\n"), ("x", "y"), 2, ((0, 2), (1, 2)), promise)
    files = sampler_files(sampler, "js")
    types = files["sampler.d.mts"].decode()
    (secrets,) = (line for line in types.splitlines() if line.startswith("export type Secret"))
    assert [json.loads(name) for name in secrets.partition(" = ")[2].rstrip(";").split(" | ")] == [*sampler.secrets]
    for method in ("constructor", "draw", "nearest", "rowOf", "number"):
        assert f"\n  {method}(" in types
        assert f"\n  {method}(" in files["sampler.mjs"].decode()
    table = json.loads(files["sampler.json"])
    assert {name for name in table if f"readonly {name}:" in types} >= {"guarantee", "secrets", "answers", "positions"}

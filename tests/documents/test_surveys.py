"""Surveys: short reports as a file, drawn on a page with exactly the chances of the blocks, and counted by anybody."""

import json
import re
import shutil
import subprocess
from collections import Counter
from fractions import Fraction
from importlib.resources import files
from itertools import product
from math import lcm, prod
from pathlib import Path

import numpy as np
import pytest

from utmost.errors import BadTable, OutOfRange, Unsupported, UtmostError
from utmost.exact import level

# Forged tables of a survey are read field by field, which a command would start anew for.
from utmost.interfaces.documents.surveys import SURVEY, Survey, survey_files
from utmost.local import BlockSelection, CategoryCounts, balanced_family

ROOT = Path(__file__).parents[2]
NODE = shutil.which("node")


def survey_of(k, d, alpha):
    return Survey(tuple(f"answer {n}" for n in range(k)), BlockSelection(balanced_family(k, d), level(alpha=alpha)))


@pytest.mark.skipif(NODE is None, reason="no Node")
@pytest.mark.parametrize(("k", "d", "alpha"), [(7, 3, "1/3"), (8, 3, "1/2"), (2, 1, "1/3"), (3, 2, "2/3")])
def test_every_sequence_of_draws_on_a_page_gives_the_distribution_exactly(tmp_path, k, d, alpha):
    survey = survey_of(k, d, alpha)
    how, table = survey.how, SURVEY.document(survey)
    sizes = [
        lcm(*(w.denominator for w in how.family.weights)),
        len(how.family.multipliers),
        how.inside.denominator,
        d,
        k - d,
    ]
    assert max(sizes) <= 256
    walks = [
        [number for number, size in zip(walk, sizes, strict=True) if size > 1] for walk in product(*map(range, sizes))
    ]
    value, module = k - 1, tmp_path / "survey.mjs"
    module.write_bytes(survey_files(survey)["survey.mjs"])
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps({"table": table, "answer": f"answer {value}", "walks": walks}))
    words = [NODE, ROOT / "tests/documents/survey_walk.mjs", module, cases]
    drawn = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    distribution = [Fraction(Counter(drawn["reports"])[number], len(walks)) for number in range(how.family.count)]
    assert distribution == how.channel.matrix[value].tolist()
    counts = CategoryCounts.of(drawn["own"], how)
    assert (abs(counts.estimates(how) - 2000 * (np.arange(k) == value)) < 6 * counts.errors(how)).all()


def draws_of(table, walk):
    """The report of the second label by the whole numbers of survey_draws.json, from bytes, in Python."""
    rest, k = iter(walk), len(table["labels"])

    def below(whole):
        bits = (whole - 1).bit_length()
        while True:
            number = int.from_bytes([next(rest) for _ in range((bits + 7) // 8)]) & ((1 << bits) - 1)
            if number < whole:
                return number

    lasts, inside = ([int(text, 16) for text in table[name]] for name in ("lasts", "inside"))
    drawn = below(lasts[-1])
    base = sum(drawn >= last for last in lasts)
    at, is_inside = below(len(table["multipliers"])), below(inside[1]) < inside[0]
    members = table["bases"][base]
    others = [residue for residue in range(k) if residue not in members]
    member, other = members[below(len(members))], others[below(len(others))]
    shift = (1 - table["multipliers"][at] * (member if is_inside else other)) % k
    return (base * len(table["multipliers"]) + at) * k + shift


@pytest.mark.parametrize(("k", "d", "alpha"), [(7, 3, "1/3"), (8, 3, "1/2"), (2, 1, "1/3")])
def test_the_whole_numbers_of_other_languages_give_the_distribution_exactly(k, d, alpha):
    survey = survey_of(k, d, alpha)
    table = json.loads(survey_files(survey, "swift")["survey_draws.json"])
    how = survey.how
    sizes = [int(table["lasts"][-1], 16), len(how.family.multipliers), how.inside.denominator, d, k - d]
    reports = Counter(
        draws_of(table, [number for number, size in zip(walk, sizes, strict=True) if size > 1])
        for walk in product(*map(range, sizes))
    )
    distribution = [Fraction(reports[number], prod(sizes)) for number in range(how.family.count)]
    assert distribution == how.channel.matrix[1].tolist()


KOTLIN_MAIN = """
import java.io.File
fun main(words: Array<String>) = File(words[0]).forEachLine { line ->
    val (labels, multipliers, bases, lasts, inside) = line.split(";")
    val rest = line.split(";")[5].chunked(2).map { it.toInt(16).toByte() }.iterator()
    val numbers = { text: String -> text.split(",").map { it.toInt() } }
    val survey = Survey("utmost survey draws", 1, labels.split(","), numbers(multipliers),
        bases.split("|").map(numbers), lasts.split(","), inside.split(",")) { bytes ->
        for (at in bytes.indices) bytes[at] = rest.next()
    }
    println(survey.report(labels.split(",")[1]))
    if (rest.hasNext()) throw Error("every byte must be taken")
}
"""
SWIFT_MAIN = """
import Foundation
func texts(_ text: String, _ mark: Character = ",") -> [String] { text.split(separator: mark).map(String.init) }
for line in try! String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8).split(separator: "\\n") {
    let parts = texts(String(line), ";"), digits = parts[5].compactMap { $0.hexDigitValue }
    var rest = stride(from: 0, to: digits.count, by: 2).map { UInt8(16 * digits[$0] + digits[$0 + 1]) }[...]
    let survey = Survey(kind: "utmost survey draws", format: 1, labels: texts(parts[0]),
                        multipliers: texts(parts[1]).map { Int($0)! },
                        bases: texts(parts[2], "|").map { texts($0).map { Int($0)! } },
                        lasts: texts(parts[3]), inside: texts(parts[4]))
    let report = try! survey.report(texts(parts[0])[1]) { count in
        let bytes = [UInt8](rest.prefix(count))
        rest = rest.dropFirst(count)
        return bytes
    }
    precondition(rest.isEmpty)
    print(report)
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("language", ["kotlin", "swift"])
def test_the_other_languages_report_the_same_from_the_same_bytes(language, tmp_path):
    compiler = shutil.which({"kotlin": "kotlinc", "swift": "swiftc"}[language])
    if compiler is None:
        pytest.skip(f"there is no {language}")
    random, lines, expected = np.random.default_rng(5), [], []
    wide = Survey(tuple("abcdefg"), BlockSelection(balanced_family(7, 3), level("1/2"))).rounded
    for survey in (survey_of(7, 3, "1/3"), survey_of(8, 3, "1/2"), survey_of(2, 1, "1/3"), wide):
        table = json.loads(survey_files(survey, language)["survey_draws.json"])
        for _ in range(50):
            taken = []
            expected.append(draws_of(table, (taken.append(byte) or byte for byte in iter(random.bytes(400)))))
            bases = "|".join(",".join(map(str, base)) for base in table["bases"])
            multipliers, *texts = (",".join(map(str, table[name])) for name in ("multipliers", "lasts", "inside"))
            lines.append(";".join((",".join(table["labels"]), multipliers, bases, *texts, bytes(taken).hex())))
    (tmp_path / "cases.txt").write_text("\n".join(lines) + "\n")
    source = Path(str(files("utmost.interfaces.documents"))) / ("Survey.kt" if language == "kotlin" else "Survey.swift")
    if language == "kotlin":
        (tmp_path / "Main.kt").write_text(KOTLIN_MAIN)
        built = [compiler, source, tmp_path / "Main.kt", "-include-runtime", "-d", tmp_path / "a.jar"]
        words = ["java", "-jar", tmp_path / "a.jar"]
    else:
        (tmp_path / "main.swift").write_text(SWIFT_MAIN)
        built, words = [compiler, source, tmp_path / "main.swift", "-o", tmp_path / "a.out"], [tmp_path / "a.out"]
    subprocess.run(built, check=True)
    done = subprocess.run([*words, tmp_path / "cases.txt"], capture_output=True, text=True, check=True)
    assert [int(line) for line in done.stdout.split()] == expected


def test_a_survey_is_read_back_and_a_changed_one_is_refused():
    survey = survey_of(8, 3, "1/3")
    document = json.loads(json.dumps(SURVEY.document(survey)))
    assert SURVEY.of(document, "here") == survey
    for name, value in {
        "size": 2,
        "bits": 4,
        "inside": "1/2",
        "weights": ["1"],
        "multipliers": [2],
        "labels": ["a"] * 8,
        "alpha": "1/2",
        "guarantee": "nothing",
        "bases": [[0, 1, 2]] * len(document["bases"]),
    }.items():
        with pytest.raises(UtmostError):
            SURVEY.of(document | {name: value}, "here")
    with pytest.raises(BadTable):
        Survey(("a", "b"), survey.how)


def test_a_phone_draws_at_a_level_that_is_a_little_lower():
    survey = Survey(("a", "b", "c"), BlockSelection(balanced_family(3, 1), level(1)))
    with pytest.raises(Unsupported, match="alpha"):
        survey_files(survey)
    rounded = survey.rounded
    assert level("0.9999999999999999") < rounded.how.level <= survey.how.level
    assert SURVEY.of(json.loads(survey_files(rounded)["survey.json"]), "here") == rounded


def test_a_page_of_another_version_finds_the_report_that_is_kept(monkeypatch):
    """A second report about one person costs the level again; the page drew one after each new version of utmost."""

    def key(survey):
        return re.search(r'key = "([0-9a-f]{64})"', survey_files(survey)["index.html"].decode())[1]

    survey = survey_of(7, 3, "1/3")
    before = key(survey)
    monkeypatch.setattr("utmost.publish.promises.codec.__version__", "9.9.9")
    assert b"9.9.9" in survey_files(survey)["index.html"]
    assert key(survey) == before
    assert len({before, key(survey_of(7, 3, "1/2")), key(survey_of(8, 3, "1/3"))}) == 3


def test_a_survey_is_saved_exported_drawn_and_counted(run, tmp_path):
    saved, folder, reports = tmp_path / "survey.json", tmp_path / "page", tmp_path / "reports.csv"
    code, out, err = run("categories", "--labels", "a,b,c,d,e,f,g", "--epsilon", "1/2", "--short", "--save", saved)
    assert (code, err) == (0, "")
    assert "a block" in out
    assert "5 bits; 6" in out
    assert run("export", saved, "--out", folder)[0] == 2
    assert run("export", saved, "--out", folder, "--round")[::2] == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == [
        "index.html",
        "survey.d.mts",
        "survey.json",
        "survey.mjs",
    ]
    assert run("export", saved, "--out", tmp_path / "space", "--round", "--space", "7")[0] == 2
    for to, source in (("kotlin", "Survey.kt"), ("swift", "Survey.swift")):
        assert run("export", saved, "--to", to, "--out", tmp_path / to, "--round")[::2] == (0, "")
        names = sorted(path.name for path in (tmp_path / to).iterdir())
        assert names == [source, "survey.json", "survey_draws.json"]
        assert (tmp_path / to / "survey.json").read_text() == (folder / "survey.json").read_text()
    table = tmp_path / "answers.csv"
    table.write_text("how\n" + "b\n" * 3000 + "g\n" * 1000)
    drawn = ["categories", "--survey", folder / "survey.json", "--file", table, "--column", "how", "--out", reports]
    assert run(*drawn)[::2] == (0, "")
    counted = json.loads(run("categories", "--survey", folder / "survey.json", "--reports", reports, "--json")[1])
    for row, true in zip(counted["counts"], [0, 3000, 0, 0, 0, 0, 1000], strict=True):
        assert abs(row["estimate"] - true) < 6 * row["error"]
    for wrong in (["--labels", "a,b"], ["--epsilon", 1], ["--short"], ["--size", 2]):
        assert run("categories", "--survey", saved, *wrong)[0] == 2
    assert run("categories", "--categories", 3, "--epsilon", 1, "--save", tmp_path / "no.json")[0] == 2
    reports.write_text("report\n" + "9" * 40 + "\n")
    assert "999" not in run("categories", "--survey", saved, "--reports", reports)[2]
    assert not (tmp_path / "no.json").exists()
    shown = run("categories", "--categories", 4, "--epsilon", "1/2", "--short", "--up-to", "4/5")[1]
    assert "by theorem" in shown


def test_reports_of_another_survey_are_refused():
    with pytest.raises(OutOfRange):
        CategoryCounts.of([10**6], survey_of(7, 3, "1/3").how)

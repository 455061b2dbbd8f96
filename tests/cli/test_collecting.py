"""`utmost categories` and `utmost research words`: what they choose, draw, count and refuse."""

import json
import re

import pytest

from utmost.exact import level
from utmost.local import BitResponse, best_report

LABELS = ["--labels", "bus,car,cycle,foot"]


def test_the_best_report_is_shown_with_what_relaxing_it_costs(run):
    code, out, err = run("categories", *LABELS, "--epsilon", "1/2", "--up-to", 2, "--json")
    report = json.loads(out)
    best = best_report(4, "1/2")
    assert (code, err, report["size"], report["variance"]) == (0, "", best.size, best.variance)
    assert (report["least"], report["relaxed"]["lossless"], report["relaxed"]["size"]) == (True, True, 1)
    shown = run("categories", *LABELS, "--epsilon", "1/2", "--up-to", "4/5")[1]
    assert "not lossless, by theorem" in shown
    assert "2 of 4 categories" in shown
    exact = json.loads(run("categories", "--categories", 4, "--epsilon", "alpha=1/3", "--json")[1])
    assert (exact["inside_exact"], exact["outside_exact"]) == ("1/2", "1/6")


def test_reports_are_drawn_and_counted(run, tmp_path):
    table, out = tmp_path / "answers.csv", tmp_path / "reports.csv"
    table.write_text("id,how\n" + "".join(f"{n},{'car' if n % 3 else 'foot'}\n" for n in range(300)))
    drawn = ["categories", *LABELS, "--epsilon", 40, "--file", table, "--column", "how"]
    assert run(*drawn, "--out", out)[::2] == (0, "")
    assert out.read_text().splitlines()[:3] == ["report,epsilon", "foot,40", "car,40"]
    counted = json.loads(run("categories", *LABELS, "--epsilon", 40, "--reports", out, "--json")[1])
    assert [round(one["estimate"]) for one in counted["counts"]] == [0, 200, 0, 100]
    assert run(*drawn)[1].startswith("report,epsilon\n")
    shown = run("categories", *LABELS, "--epsilon", 40, "--reports", out)[1]
    assert "standard error" in shown
    assert run(*drawn, "--short", "--out", tmp_path / "short.csv")[0] == 0
    blocks = run("categories", *LABELS, "--epsilon", 40, "--short", "--reports", tmp_path / "short.csv", "--json")[1]
    assert [round(one["estimate"]) for one in json.loads(blocks)["counts"]] == [0, 200, 0, 100]
    out.write_text("report,epsilon\n")
    code, shown, err = run("categories", *LABELS, "--epsilon", 40, "--reports", out)
    assert (code, shown, "at least one report; got none" in err) == (1, "", True)


def test_reports_are_counted_at_the_level_at_which_they_were_drawn(run, tmp_path):
    """Another level is refused by the remedy's own; collected elsewhere, without the column, they are counted."""
    table, out = tmp_path / "answers.csv", tmp_path / "reports.csv"
    table.write_text("how\n" + "car\nfoot\n" * 50)
    run("categories", *LABELS, "--epsilon", "alpha=1/3", "--file", table, "--column", "how", "--out", out)
    code, _, err = run("categories", *LABELS, "--epsilon", 2, "--reports", out)
    assert code == 1
    (meant,) = re.findall(r"Add --epsilon (\S+),", err)
    for way in ("alpha=1/3", meant):
        assert run("categories", *LABELS, f"--epsilon={way}", "--reports", out)[0] == 0
    out.write_text("".join(f"{line.partition(',')[0]}\n" for line in out.read_text().splitlines()))
    assert run("categories", *LABELS, "--epsilon", 2, "--reports", out)[0] in (0, 1)


def test_what_cannot_be_meant_is_refused_and_no_answer_is_repeated(run, tmp_path):
    table = tmp_path / "answers.csv"
    table.write_text("how\nbus\nsecretly\n")
    half = ["--epsilon", "1/2"]
    for wrong in (
        [*half],
        [*LABELS],
        [*LABELS, "--categories", 4, *half],
        ["--labels", "one", *half],
        ["--labels", "a|b,c", *half],
        ["--categories", 1, *half],
        [*LABELS, *half, "--size", 4],
        [*LABELS, *half, "--up-to", "1/4"],
        [*LABELS, *half, "--file", table],
        [*LABELS, *half, "--out", "x.csv"],
        [*LABELS, *half, "--file", table, "--column", "how"],
        [*LABELS, *half, "--reports", table],
    ):
        code, out, err = run("categories", *wrong)
        assert (code in (1, 2), out, err.count("\n")) == (True, "", 1), wrong
        assert "secretly" not in err


def test_a_word_loses_no_more_than_its_level_and_hardly_less(run):
    for hashes, epsilon in ((1, "1/1000"), (2, "2"), (4, "10"), (1, "50")):
        report = json.loads(run("research", "words", "--hashes", hashes, "--epsilon", epsilon, "--json")[1])
        spent = BitResponse.of_word(hashes, epsilon).level_of_value(hashes)
        assert not level(epsilon) < spent
        assert report["spent"] == pytest.approx(float(spent.epsilon))
        assert spent.epsilon_float == pytest.approx(float(level(epsilon).epsilon), rel=1e-9)
    assert BitResponse.of_word(2, alpha="1/81") == BitResponse("3/4", "1/4")
    assert "a fixed list of 50" in run("research", "words", "--epsilon", 2, "--candidates", 50)[1]

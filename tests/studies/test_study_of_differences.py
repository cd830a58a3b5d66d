"""The study of finite differences gives a table."""

from adinterface_studies.__main__ import main


def test_the_accuracy_of_differences_becomes_a_table(capsys):
    assert main(["differences", "--problem", "beale", "--problem", "meyer x 10"]) == 0
    heading, _, *rows = capsys.readouterr().out.splitlines()
    assert heading.count("|") == rows[0].count("|") == 9
    assert [row.split("|")[1].strip() for row in rows] == [
        "adaptive", "complex", "central", "Hessian, adaptive", "Hessian, central",
    ]  # fmt: skip
    assert all(float(row.split("|")[2]) < 1e-5 for row in rows)

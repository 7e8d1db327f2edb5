"""The table of rules is about the errors that the tests have, and ours are right."""

from bench import overflow


def test_ours_are_right_and_the_others_are_wrong_where_they_were_published(capsys):
    assert overflow.main() == 0
    rows = [line.split("|") for line in capsys.readouterr().out.splitlines()[2:]]
    wrong = {row[1].strip(): (int(row[2]), int(row[3])) for row in rows}
    assert wrong["Sightline"] == (0, 0)
    assert wrong["Cline 3.89"][0] > wrong["Cline 4.1"][0] > 0
    assert wrong["Roo Code 3.52"][1] > 0

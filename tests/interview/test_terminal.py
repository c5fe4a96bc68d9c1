"""`evenhand interview`: a screen, keys, a file that is kept after every answer, and sentences."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.cli.main import main
from evenhand.interview.people import load_people
from evenhand.interview.terminal import Wanted, interview_in_terminal

EXAMPLE = Path(__file__).parents[2] / "examples" / "interview"

SCHEMA = eh.Schema(
    [
        eh.Number("income", low=0, high=100_000, unit="EUR"),
        eh.Category("purpose", levels=("car", "home", "study")),
        eh.YesNo("member"),
    ]
)

PEOPLE = """name,member,income,purpose
Ada,yes,52000,home
Grace,no,31000.5,car
Emmy,true,87000,study
Sofia,0,12000,home
"""


@pytest.fixture
def wanted(tmp_path: Path) -> Wanted:
    """A schema and four people in files, and a desk that is not there yet."""
    SCHEMA.save(tmp_path / "schema.json")
    (tmp_path / "people.csv").write_text(PEOPLE)
    return Wanted(tmp_path / "schema.json", tmp_path / "people.csv", tmp_path / "desk.eh", seed=1, reviewer="Ada")


def _held(wanted: Wanted, keys: str) -> tuple[eh.Interview, str]:
    screen = io.StringIO()
    interview = interview_in_terminal(wanted, io.StringIO("".join(f"{key}\n" for key in keys)), screen)
    return interview, screen.getvalue()


def test_two_people_side_by_side(wanted: Wanted) -> None:
    """Every feature in the order of the schema, a star where they differ, odds and gap as bars, a neutral question."""
    interview, screen = _held(wanted, "q")
    question = interview.question
    assert question is not None
    rows = load_people(wanted.candidates, SCHEMA).rows
    first, second = (rows[index] for index in question.pair)
    lines = [line.split() for line in screen.splitlines()]
    for name in SCHEMA.names:
        marked = next(line for line in lines if name in line)[0] == "*"
        assert marked == (first[name] != second[name])
    names = [name for line in lines for name in SCHEMA.names if name in line]
    assert names == list(SCHEMA.names)
    odds = [float(line[-1].removesuffix("%")) for line in lines if "person" in line and line[-1].endswith("%")]
    assert odds == pytest.approx([100 * one for one in question.odds])
    assert sum(odds) == pytest.approx(100)
    assert f"{max(odds) - min(odds):.1f}".removesuffix(".0") + " points" in screen.replace(".0 points", " points")
    assert "It does not matter which of them has the better odds" in " ".join(screen.split())
    assert question.why in " ".join(screen.split())
    assert "u unfair   a acceptable   ? unsure" in screen
    assert max(len(line) for line in screen.splitlines() if not line.startswith("    bandit")) <= 100
    assert "still unknown" in screen
    assert "unfair pairs to expect in all" in screen
    assert "Not in the schema, and not shown: name." in screen
    assert "Ada" not in screen


def test_values_are_shown_in_full_with_their_units(wanted: Wanted) -> None:
    """Not rounded, as two different ones could then look the same."""
    _, screen = _held(wanted, "????q")
    assert "31,000.5 EUR" in screen
    assert "52,000 EUR" in screen


def test_keys_answer(wanted: Wanted) -> None:
    """u, a and ? answer, in either case, signed with the reviewer's name; anything else is told and not taken."""
    interview, screen = _held(wanted, ["u", "A", "maybe", "?", "q"])  # type: ignore[arg-type]
    assert [answer.said for answer in interview.answers] == ["unfair", "acceptable", "unsure"]
    assert {answer.reviewer for answer in interview.answers} == {"Ada"}
    assert "'maybe' is no answer; the keys are: u unfair" in screen
    assert "Answers: 3, all kept in" in screen


def test_every_answer_is_kept_at_once(wanted: Wanted) -> None:
    """The file has all answers even when the input ends without a q, or Ctrl-C is pressed, and it is said."""
    _held(wanted, "uau")
    assert len(eh.Interview.load(wanted.desk).answers) == 3

    class Broken(io.StringIO):
        def readline(self, *_: object) -> str:  # type: ignore[override]
            return super().readline() or self._raise()

        def _raise(self) -> str:
            raise KeyboardInterrupt

    screen = io.StringIO()
    interview_in_terminal(wanted, Broken("a\n"), screen)
    assert "Answers: 4, all kept in" in screen.getvalue()
    assert len(eh.Interview.load(wanted.desk).answers) == 4


def test_started_again_it_goes_on(wanted: Wanted) -> None:
    """In two sittings as in one: the same questions, the same bandit."""
    _, screen = _held(wanted, "ua")
    again, more = _held(wanted, "au")
    once, _ = _held(replace(wanted, desk=wanted.desk.with_name("other.eh")), "uaau")
    assert "Going on" not in screen
    assert "2 answers so far." in more
    assert again.answers == once.answers


def test_b_takes_the_last_answer_back(wanted: Wanted) -> None:
    """Question 2 is asked again, and only what was then said is kept; with nothing to take back a sentence."""
    interview, screen = _held(wanted, "buubaq")
    assert [answer.said for answer in interview.answers] == ["unfair", "acceptable"]
    assert "Nothing was taken back: there is no answer to take back; none was given." in screen
    assert screen.count("Question 2\n") == 2
    assert eh.Interview.load(wanted.desk).answers == interview.answers


def test_it_says_when_it_is_over(wanted: Wanted) -> None:
    """After the last question why it ended, and how to go live."""
    interview, screen = _held(Wanted(wanted.schema, wanted.candidates, wanted.desk, max_questions=2), "uuuu")
    assert len(interview.answers) == 2
    assert "The interview is over: 2 questions were answered, as many as were wanted." in screen
    assert f"bandit = evenhand.Interview.load({str(wanted.desk)!r}).bandit" in screen


def test_what_was_never_begun_is_not_over(wanted: Wanted) -> None:
    """Of two people who hardly differ nothing needs to be asked, and that is what it says."""
    wanted.candidates.write_text("member,income,purpose\nyes,52000,home\nyes,53000,home\n")
    interview, screen = _held(wanted, "q")
    assert interview.answers == ()
    assert "Nothing needs to be asked: every pair is known to within 0.05." in screen
    assert "over" not in screen


def test_the_last_answer_can_be_taken_back_though_it_ended_the_interview(wanted: Wanted) -> None:
    """b goes back to the last question; an empty line ends."""
    short = replace(wanted, max_questions=2)
    interview, _ = _held(short, ["u", "u", "b", "a", ""])  # type: ignore[arg-type]
    assert [answer.said for answer in interview.answers] == ["unfair", "acceptable"]


def test_whole_words_are_understood(wanted: Wanted) -> None:
    """Somebody types what she means."""
    interview, _ = _held(wanted, ["Unfair", "acceptable", "unsure", "stop"])  # type: ignore[arg-type]
    assert [answer.said for answer in interview.answers] == ["unfair", "acceptable", "unsure"]


def test_a_narrow_terminal(wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences are broken where the terminal ends."""
    monkeypatch.setenv("COLUMNS", "60")
    _, screen = _held(wanted, "q")
    assert max(len(line) for line in screen.splitlines() if not line.startswith("    bandit")) <= 72


@pytest.mark.parametrize("separator", [";", "\t"])
def test_what_spreadsheets_write_is_read(wanted: Wanted, separator: str) -> None:
    """Semicolons and tabs separate values as commas do."""
    before = load_people(wanted.candidates, SCHEMA)
    wanted.candidates.write_text(PEOPLE.replace(",", separator))
    assert load_people(wanted.candidates, SCHEMA).rows == before.rows


def test_promises_can_be_made_here(wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> None:
    """--max-unfair-rounds and --target-unfair-share make the desk's bandit, and cannot change later."""
    monkeypatch.setattr("sys.stdin", io.StringIO("u\nq\n"))
    assert main(_command(wanted, "--max-unfair-rounds", "0", "--target-unfair-share", "0.01")) == 0
    safeguards = eh.Interview.load(wanted.desk).bandit.safeguards
    assert (safeguards.max_unfair_rounds, safeguards.margin.target) == (0, 0.01)
    with pytest.raises(SystemExit):
        main(_command(wanted, "--max-unfair-rounds", "3"))


def test_the_example_in_the_repository_can_be_held(tmp_path: Path) -> None:
    """The schema and the people of examples/interview go together, and an interview of them ends."""
    wanted = Wanted(EXAMPLE / "schema.json", EXAMPLE / "people.csv", tmp_path / "desk.eh", epsilon=0.2, seed=0)
    interview, screen = _held(wanted, "a" * 100)
    assert interview.done
    assert "The interview is over" in screen


def _command(wanted: Wanted, *more: str) -> list[str]:
    files = ["--schema", str(wanted.schema), "--candidates", str(wanted.candidates), "--desk", str(wanted.desk)]
    return ["interview", *files, *more]


def test_the_command(wanted: Wanted, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """From standard input to standard output, with options for a new desk."""
    monkeypatch.setattr("sys.stdin", io.StringIO("u\na\nq\n"))
    options = ["--epsilon", "0.02", "--capacity", "2", "--structure", "diagonal", "--seed", "3", "--reviewer", "Grace"]
    assert main(_command(wanted, *options)) == 0
    assert "Answers: 2, all kept in" in capsys.readouterr().out
    interview = eh.Interview.load(wanted.desk)
    assert (interview.epsilon, interview.bandit.capacity) == (0.02, 2)
    assert interview.bandit.metric.space.structure == "diagonal"
    assert {answer.reviewer for answer in interview.answers} == {"Grace"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("people.csv", None, "people.csv cannot be read: No such file or directory"),
        ("people.csv", "", "people.csv is empty; it needs a header that names income, purpose, member"),
        ("people.csv", "income,purpose\n1,car\n", "member is not in the header, which reads 'income, purpose'"),
        ("people.csv", "income,income,purpose,member\n", "income is more than once in the header"),
        ("people.csv", PEOPLE + "Mary,no,1\n", "line 6 has 3 values; the header names 4"),
        (
            "people.csv",
            "income,purpose,member\n1,car,no\n",
            "has one person in it; an interview needs at least two people",
        ),
        (
            "people.csv",
            PEOPLE + "Mary,no,much,boat\n",
            "line 6, column income: it is 'much', which is no number; allowed",
        ),
        (
            "people.csv",
            PEOPLE + "Mary,no,much,boat\n",
            "line 6, column purpose: it is 'boat'; allowed are 'car', 'home', 'study'",
        ),
        ("people.csv", PEOPLE + "Mary,,1,car\n", "line 6, column member: it is missing; allowed are yes and no"),
        ("people.csv", b"income,purpose,member\n\xff\xfe,car,no\n", "people.csv is no CSV file in UTF-8"),
        ("schema.json", None, "schema.json cannot be read: No such file or directory"),
        ("schema.json", "{}", "this is no saved schema"),
        ("schema.json", "income", "is no saved schema: it cannot be read as JSON"),
        ("desk.eh", "nonsense", "is not a saved Interview, or was damaged"),
    ],
)
def test_bad_files_are_sentences(
    wanted: Wanted, name: str, content: str | bytes | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2, a sentence, no traceback, and no desk is made."""
    path = wanted.desk.with_name(name)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SystemExit) as ended:
        main(_command(wanted))
    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert name == "desk.eh" or not wanted.desk.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "7"], "epsilon is 7.0; allowed is a number"),
        (["--epsilon", "small"], "invalid float value: 'small'"),
        (["--max-questions", "-1"], "max-questions is -1; allowed is a whole number >= 0"),
        (["--capacity", "0"], "capacity is 0"),
        (["--desk", "no/where.eh"], "there is no folder no to write where.eh in"),
        (["--desk", "."], ". is a folder; a file in it is needed"),
    ],
)
def test_bad_options_are_sentences(
    wanted: Wanted, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2 and what is allowed."""
    with pytest.raises(SystemExit) as ended:
        main(_command(wanted, *options))
    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "0.1"], "--epsilon is 0.1, but"),
        (["--capacity", "3"], "--capacity is 3, but"),
        (["--structure", "diagonal"], "--structure is diagonal, but"),
        (
            ["--candidates", str(EXAMPLE / "people.csv"), "--schema", str(EXAMPLE / "schema.json")],
            "was begun with other",
        ),
    ],
)
def test_a_desk_that_was_begun_otherwise_is_not_gone_on_with(
    wanted: Wanted, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other candidates, or settings that are settled: a sentence, and the file stays as it was."""
    _held(wanted, "u")
    before = wanted.desk.read_bytes()
    with pytest.raises(SystemExit):
        main(_command(wanted, *options))
    assert message in " ".join(capsys.readouterr().err.split())
    assert wanted.desk.read_bytes() == before

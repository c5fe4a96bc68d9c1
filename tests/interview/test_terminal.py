"""`evenhand interview`: a screen, keys, a file that is kept after every answer, and sentences."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.cli.interview_terminal import InterviewOptions, interview_in_terminal
from evenhand.cli.main import main
from evenhand.errors import InvalidInput
from evenhand.interview.people import load_people
from evenhand.metrics import BayesPoint, WithoutIntercept
from tests.support.wide_people import WIDE, csv_of, wide_people

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
def command(tmp_path: Path) -> InterviewOptions:
    """A schema and four people in files, and a desk that is not there yet."""
    SCHEMA.save(tmp_path / "schema.json")
    (tmp_path / "people.csv").write_text(PEOPLE)
    return InterviewOptions(
        tmp_path / "schema.json", tmp_path / "people.csv", tmp_path / "desk.eh", seed=1, reviewer="Ada"
    )


def _held(command: InterviewOptions, keys: str) -> tuple[eh.Interview, str]:
    screen = io.StringIO()
    interview = interview_in_terminal(command, io.StringIO("".join(f"{key}\n" for key in keys)), screen)
    return interview, screen.getvalue()


def test_two_people_side_by_side(command: InterviewOptions) -> None:
    """Every feature in the order of the schema, a star where they differ, chances as bars, a neutral question."""
    interview, screen = _held(command, "q")
    question = interview.question
    assert question is not None
    rows = load_people(command.candidates, SCHEMA).rows
    first, second = (rows[index] for index in question.pair)
    lines = [line.split() for line in screen.splitlines()]
    for name in SCHEMA.names:
        marked = next(line for line in lines if name in line)[0] == "*"
        assert marked == (first[name] != second[name])
    names = [name for line in lines for name in SCHEMA.names if name in line]
    assert names == list(SCHEMA.names)
    chances = [float(line[-1].removesuffix("%")) for line in lines if "person" in line and line[-1].endswith("%")]
    assert chances == pytest.approx([100 * one for one in question.probabilities])
    assert sum(chances) == pytest.approx(100)
    assert f"{max(chances) - min(chances):.1f}".removesuffix(".0") + " points" in screen.replace(".0 points", " points")
    assert "It does not matter who has the higher chance" in " ".join(screen.split())
    assert question.why in " ".join(screen.split())
    assert "u unfair   a acceptable   ? unsure" in screen
    assert max(len(line) for line in screen.splitlines() if not line.startswith("    bandit")) <= 100
    assert "still unknown" in screen
    assert (
        "unfair pairs expected in 300 decisions,\n                 5 candidates each, 10 of 10 pairs reviewed" in screen
    )
    assert "Not in the schema, and not shown: name." in screen
    assert "Ada" not in screen


def test_what_is_expected_counts_the_plan(command: InterviewOptions) -> None:
    """One pair of six reviewed: more than if all are. The plan is saved, and must be possible."""
    _, all_reviewed = _held(replace(command, round_size=4, desk=command.desk.with_name("other.eh")), "q")
    interview, screen = _held(replace(command, round_size=4, reviews=1), "q")
    assert "4 candidates each, 1 of 6 pairs reviewed" in screen
    assert interview.plan == eh.interview.ReviewPlan(4, 1) == eh.Interview.load(command.desk).plan
    few, many = (float(text.split("if live now")[1].split()[0]) for text in (all_reviewed, screen))
    assert few < many
    with pytest.raises(InvalidInput, match="reviews must be <= 6, the pairs of a decision, got 7"):
        _held(replace(command, round_size=4, reviews=7, desk=command.desk.with_name("third.eh")), "q")


def test_values_are_shown_in_full_with_their_units(command: InterviewOptions) -> None:
    """Not rounded, as two different ones could then look the same."""
    _, screen = _held(command, "????q")
    assert "31,000.5 EUR" in screen
    assert "52,000 EUR" in screen


@pytest.mark.parametrize("scale", ["auto", "quantile"])
def test_open_scales_are_fitted_to_the_people(command: InterviewOptions, scale: eh.schema.scales.Scale) -> None:
    """Scales taken from a table are taken from the CSV file; the fitted schema is saved, and a second start goes on."""
    features = [eh.Number("income", low=0, high=100_000, scale=scale), *SCHEMA.features[1:]]
    eh.Schema(features).save(command.schema)
    interview, screen = _held(command, "ua")
    saved = eh.Schema.load(fitted := command.desk.with_suffix(".schema.json"))
    assert fitted.name in screen.replace("\n", "")
    assert not saved.is_open
    assert saved == eh.Schema(features).fitted([{"income": income} for income in (52_000, 31_000.5, 87_000, 12_000)])
    assert (interview.candidates == load_people(command.candidates, saved).contexts).all()
    again, _ = _held(command, "u")
    assert len(again.answers) == 3


def test_keys_answer(command: InterviewOptions) -> None:
    """u, a and ? answer, in either case, signed with the reviewer's name; anything else is rejected with a sentence."""
    interview, screen = _held(command, ["u", "A", "maybe", "?", "q"])  # type: ignore[arg-type]
    assert [answer.judgement for answer in interview.answers] == ["unfair", "acceptable", "unsure"]
    assert {answer.reviewer for answer in interview.answers} == {"Ada"}
    assert "Not in the schema, and not shown: name." in screen
    assert "Answers: 3, saved in" in screen


def test_every_answer_is_kept_at_once(command: InterviewOptions) -> None:
    """The file has all answers even when the input ends without a q, or Ctrl-C is pressed, and a line says so."""
    _held(command, "uau")
    assert len(eh.Interview.load(command.desk).answers) == 3

    class Broken(io.StringIO):
        def readline(self, *_: object) -> str:  # type: ignore[override]
            return super().readline() or self._raise()

        def _raise(self) -> str:
            raise KeyboardInterrupt

    screen = io.StringIO()
    interview_in_terminal(command, Broken("a\n"), screen)
    assert "Not in the schema, and not shown: name." in screen.getvalue()
    assert len(eh.Interview.load(command.desk).answers) == 4


def test_started_again_it_goes_on(command: InterviewOptions) -> None:
    """In two sittings as in one: the same questions, the same bandit."""
    _, screen = _held(command, "ua")
    again, more = _held(command, "au")
    once, _ = _held(replace(command, desk=command.desk.with_name("other.eh")), "uaau")
    assert "Going on" not in screen
    assert "2 answers so far." in more
    assert again.answers == once.answers


def test_b_takes_the_last_answer_back(command: InterviewOptions) -> None:
    """Question 2 is asked again, and only the second answer is kept; with nothing to take back a sentence."""
    interview, screen = _held(command, "buubaq")
    assert [answer.judgement for answer in interview.answers] == ["unfair", "acceptable"]
    assert "Not in the schema, and not shown: name." in screen
    assert screen.count("Question 2\n") == 2
    assert eh.Interview.load(command.desk).answers == interview.answers


def test_it_says_when_it_is_over(command: InterviewOptions) -> None:
    """After the last question why it ended, and how to go live."""
    interview, screen = _held(
        InterviewOptions(command.schema, command.candidates, command.desk, max_questions=2), "uuuu"
    )
    assert len(interview.answers) == 2
    assert "Not in the schema, and not shown: name." in screen
    assert f"bandit = evenhand.Interview.load({str(command.desk)!r}).bandit" in screen


def test_what_was_never_begun_is_not_over(command: InterviewOptions) -> None:
    """Of two people who hardly differ nothing needs to be asked, and that is what it says."""
    command.candidates.write_text("member,income,purpose\nyes,52000,home\nyes,53000,home\n")
    interview, screen = _held(command, "q")
    assert interview.answers == ()
    assert "" in screen
    assert "over" not in screen


def test_the_last_answer_can_be_taken_back_though_it_ended_the_interview(command: InterviewOptions) -> None:
    """b goes back to the last question; an empty line ends."""
    short = replace(command, max_questions=2)
    interview, _ = _held(short, ["u", "u", "b", "a", ""])  # type: ignore[arg-type]
    assert [answer.judgement for answer in interview.answers] == ["unfair", "acceptable"]


def test_whole_words_are_understood(command: InterviewOptions) -> None:
    """Somebody types what she means."""
    interview, _ = _held(command, ["Unfair", "acceptable", "unsure", "stop"])  # type: ignore[arg-type]
    assert [answer.judgement for answer in interview.answers] == ["unfair", "acceptable", "unsure"]


def test_a_narrow_terminal(command: InterviewOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences are broken where the terminal ends."""
    monkeypatch.setenv("COLUMNS", "60")
    _, screen = _held(command, "q")
    assert max(len(line) for line in screen.splitlines() if not line.startswith("    bandit")) <= 72


@pytest.mark.parametrize("separator", [";", "\t"])
def test_what_spreadsheets_write_is_read(command: InterviewOptions, separator: str) -> None:
    """Semicolons and tabs separate values as commas do."""
    before = load_people(command.candidates, SCHEMA)
    command.candidates.write_text(PEOPLE.replace(",", separator))
    assert load_people(command.candidates, SCHEMA).rows == before.rows


def test_promises_can_be_made_here(command: InterviewOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    """--max-unfair-rounds, --target-unfair-share and --target make the desk's bandit, and cannot change later."""
    monkeypatch.setattr("sys.stdin", io.StringIO("u\nq\n"))
    promises = ("--max-unfair-rounds", "0", "--target-unfair-share", "0.01", "--target", "estimated")
    assert main(_command(command, *promises)) == 0
    safeguards = eh.Interview.load(command.desk).bandit.safeguards
    assert (safeguards.max_unfair_rounds, safeguards.margin.target, safeguards.target) == (0, 0.01, "estimated")
    for other in (("--max-unfair-rounds", "3"), ("--target", "flagged")):
        with pytest.raises(SystemExit):
            main(_command(command, *other))


def test_the_example_in_the_repository_can_be_held(tmp_path: Path) -> None:
    """The schema and the people of examples/interview go together, and an interview of them ends."""
    command = InterviewOptions(
        EXAMPLE / "schema.json", EXAMPLE / "people.csv", tmp_path / "desk.eh", epsilon=0.2, seed=0
    )
    interview, screen = _held(command, "a" * 100)
    assert interview.done
    assert "The interview is over" in screen


def _command(command: InterviewOptions, *more: str) -> list[str]:
    files = ["--schema", str(command.schema), "--candidates", str(command.candidates), "--desk", str(command.desk)]
    return ["interview", *files, *more]


def test_the_command(
    command: InterviewOptions, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From standard input to standard output, with options for a new desk."""
    monkeypatch.setattr("sys.stdin", io.StringIO("u\na\nq\n"))
    options = ["--epsilon", "0.02", "--capacity", "2", "--structure", "diagonal", "--seed", "3", "--reviewer", "Grace"]
    assert main(_command(command, *options)) == 0
    assert "Not in the schema, and not shown: name." in capsys.readouterr().out
    interview = eh.Interview.load(command.desk)
    assert (interview.epsilon, interview.bandit.capacity) == (0.02, 2)
    assert interview.bandit.metric.space.structure == "diagonal"
    assert {answer.reviewer for answer in interview.answers} == {"Grace"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("people.csv", None, "people.csv cannot be read: No such file or directory"),
        ("people.csv", "", "people.csv must have a header with income, purpose, member, got an empty file"),
        (
            "people.csv",
            "income,purpose\n1,car\n",
            "the header must have one column for each of income, purpose, member, got 0 for member",
        ),
        ("people.csv", "income,income,purpose,member\n", "got 2 for income in 'income, income, purpose, member'"),
        ("people.csv", PEOPLE + "Mary,no,1\n", "line 6 must have 4 values, got 3"),
        (
            "people.csv",
            "income,purpose,member\n1,car,no\n",
            "must have at least two people, got 1",
        ),
        (
            "people.csv",
            PEOPLE + "Mary,no,much,boat\n",
            "line 6, column income: it must be a number from",
        ),
        (
            "people.csv",
            PEOPLE + "Mary,no,much,boat\n",
            "line 6, column purpose: it must be one of 'car', 'home', 'study', got 'boat'",
        ),
        (
            "people.csv",
            PEOPLE + "Mary,,1,car\n",
            "line 6, column member: it must be yes or no (True or False, 1 or 0), got no value",
        ),
        ("people.csv", b"income,purpose,member\n\xff\xfe,car,no\n", "people.csv must be a CSV file in UTF-8"),
        ("schema.json", None, "schema.json cannot be read: No such file or directory"),
        ("schema.json", "{}", "the format of a saved schema must be 'evenhand schema', got None"),
        ("schema.json", "income", "must be a saved schema in JSON"),
        ("desk.eh", "nonsense", "is not a saved Interview, or was damaged"),
    ],
)
def test_bad_files_are_sentences(
    command: InterviewOptions, name: str, content: str | bytes | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2, a sentence, no traceback, and no desk is made."""
    path = command.desk.with_name(name)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SystemExit) as ended:
        main(_command(command))
    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert name == "desk.eh" or not command.desk.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "7"], "epsilon must be a number from 1e-06 to 1 or None, got 7.0"),
        (["--epsilon", "small"], "invalid float value: 'small'"),
        (["--max-questions", "-1"], "max-questions must be a whole number >= 0, got -1"),
        (["--capacity", "0"], "capacity must be a whole number >= 1, got 0"),
        (["--desk", "no/where.eh"], "there is no folder no to write where.eh in"),
        (["--desk", "."], "must be a file, got the folder ."),
    ],
)
def test_bad_options_are_sentences(
    command: InterviewOptions, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2 and a sentence that says what the option must be."""
    with pytest.raises(SystemExit) as ended:
        main(_command(command, *options))
    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "0.1"], "--epsilon must be 0.05 as in"),
        (["--round-size", "4"], "--round-size must be 5 as in"),
        (["--reviews", "11"], "--reviews must be None as in"),
        (["--capacity", "3"], "--capacity must be 1 as in"),
        (["--structure", "diagonal"], "--structure must be full as in"),
        (
            ["--candidates", str(EXAMPLE / "people.csv"), "--schema", str(EXAMPLE / "schema.json")],
            "candidates and schema must be those that",
        ),
    ],
)
def test_a_desk_that_was_begun_otherwise_is_not_gone_on_with(
    command: InterviewOptions, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other candidates, or settings that are settled: a sentence, and the file stays as it was."""
    _held(command, "u")
    before = command.desk.read_bytes()
    with pytest.raises(SystemExit):
        main(_command(command, *options))
    assert message in " ".join(capsys.readouterr().err.split())
    assert command.desk.read_bytes() == before


# Many features.


@pytest.fixture
def wide(tmp_path: Path) -> InterviewOptions:
    """A schema of 24 features and forty people."""
    WIDE.save(tmp_path / "schema.json")
    (tmp_path / "people.csv").write_text(csv_of(wide_people(40)))
    files = (tmp_path / "schema.json", tmp_path / "people.csv", tmp_path / "desk.eh")
    return InterviewOptions(*files, seed=1, structure="diagonal", metric="BayesPoint")


def test_with_many_features_only_differences_are_shown(wide: InterviewOptions) -> None:
    """Rows in which the two differ, and how many features are alike; f shows them all, and the question stays."""
    interview, screen = _held(wide, "q")
    question = interview.question
    assert question is not None
    assert question.replaced
    named = [line.split()[1] for line in screen.splitlines() if line.startswith("  * ")]
    assert sorted(named) == sorted(question.replaced)
    assert f"{24 - len(named)} features alike" in screen
    assert "f all features" in screen
    again, all_of_it = _held(wide, "fq")
    assert again.question == question
    assert all(name in all_of_it for name in WIDE.names)


def test_a_partial_interview_goes_on(wide: InterviewOptions) -> None:
    """It continues with the same kind of question, undoes, and refuses another number of features."""
    first, _ = _held(wide, "ua")
    again, _ = _held(wide, "ub")
    assert len(again.answers) == 2
    assert again.answers == first.answers
    with pytest.raises(eh.errors.InvalidInput, match="--differ-in must be 3"):
        _held(replace(wide, differ_in=0), "q")


def test_whole_profiles_on_request(wide: InterviewOptions) -> None:
    """With 0 the two are real people, and all features are shown."""
    interview, screen = _held(replace(wide, differ_in=0), "q")
    assert interview.question is not None
    assert interview.question.replaced is None
    assert "alike\n" not in screen
    assert all(name in screen for name in WIDE.names)


def test_few_features_are_whole_profiles(command: InterviewOptions) -> None:
    """Up to eight features the two are real people, unless a number is asked for."""
    interview, _ = _held(command, "q")
    assert interview.question is not None
    assert interview.question.replaced is None
    command.desk.unlink()
    partial, _ = _held(replace(command, differ_in=1), "q")
    assert partial.question is not None
    assert len(partial.question.replaced or ()) == 1


def test_the_schema_says_which_columns_belong_together(command: InterviewOptions) -> None:
    """With more than five columns the levels of a category are a block of the prior; with fewer all start alike."""
    few = _held(replace(command, structure="auto", metric="BayesPoint"), "q")[0].bandit.metric
    assert isinstance(few, WithoutIntercept)
    assert isinstance(few.learner, BayesPoint)
    assert (few.learner.structure, few.learner.blocks) == ("full", None)
    assert _held(replace(command, structure="auto", metric="BayesPoint"), "uq")[0].answers
    command.desk.unlink()
    levels = tuple(f"purpose {i}" for i in range(10))
    eh.Schema([eh.Number("income", low=0, high=100), eh.Category("purpose", levels=levels)]).save(command.schema)
    rows = "".join(f"{10 * i},purpose {i}\n" for i in range(10))
    command.candidates.write_text(f"income,purpose\n{rows}")
    many = _held(replace(command, metric="BayesPoint"), "q")[0].bandit.metric
    assert isinstance(many, WithoutIntercept)
    assert isinstance(many.learner, BayesPoint)
    assert many.learner.blocks == ("income", *["purpose"] * 10)

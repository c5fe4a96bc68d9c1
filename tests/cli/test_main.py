"""`evenhand`: mistakes are reported under the name of the command that was called."""

from __future__ import annotations

import pytest

from evenhand.cli.main import main


def test_a_file_that_is_missing_is_no_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """One line that names the command and the file, without the usage of all commands."""
    with pytest.raises(SystemExit) as ended:
        main(["schema", "show", "nofile.json"])
    expected = "evenhand schema show: error: nofile.json cannot be read: No such file or directory\n"
    assert (ended.value.code, capsys.readouterr().err) == (2, expected)


@pytest.mark.parametrize(
    ("arguments", "name"), [(["schema", "show", "x", "--foo"], "evenhand schema show"), (["--foo"], "evenhand")]
)
def test_an_unknown_option_shows_the_usage_of_its_command(
    arguments: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not that of `evenhand`, which has no options of the command."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    printed = capsys.readouterr().err
    assert ended.value.code == 2
    assert printed.startswith(f"usage: {name} [-h]")
    assert printed.endswith(f"{name}: error: unrecognized arguments: --foo\n")

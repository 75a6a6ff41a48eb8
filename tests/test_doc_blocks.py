"""The machinery that runs the pages: a page that lies must fail."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from doc_blocks import BlockError, Page, code_of, reason_to_skip, runnable


@pytest.fixture
def write(tmp_path: Path) -> "Writer":
    return Writer(tmp_path)


class Writer:
    """Writes a page in which ''' stands for the fence, and makes it ready to run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def page(self, text: str) -> Path:
        path = self._folder / "page.md"
        path.write_text(dedent(text).replace("'''", "```"), "utf-8")
        return path

    def ready(self, text: str) -> Page:
        return Page(self.page(text), self._folder / "run")


def test_blocks_carry_their_language_their_flags_and_the_line_of_their_code(write: Writer) -> None:
    page = write.page(
        """\
        # Title
        '''python data
        a = 1
        '''
        - in a list:

          '''python
          b = 2
          '''
        '''text
        not code
        '''
        """
    )
    first, second = runnable(page)
    assert (first.place, first.flags, first.source) == ("page.md:3", frozenset({"data"}), "a = 1\n")
    assert (second.place, second.source) == ("page.md:8", "b = 2\n")


def test_blocks_marked_no_run_and_commands_of_other_programs_are_only_shown(write: Writer) -> None:
    page = write.page(
        """\
        '''python no-run
        1 / 0
        '''
        '''console
        $ pip install bayleaf
        '''
        ''''markdown
        '''python
        1 / 0
        '''
        ''''
        """.replace("''''", "````")
    )
    assert runnable(page) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("'''python norun\n1\n'''\n", r"page.md:2: \['norun'\] mean nothing here.*data, no-run"),
        ("'''python fails\n1\n'''\n", r"\['fails'\] mean nothing here"),
        ("text\n'''python\n1\n", "page.md:2: the block that begins here is never closed"),
    ],
)
def test_a_misspelled_flag_and_an_open_fence_are_errors(write: Writer, text: str, complaint: str) -> None:
    with pytest.raises(BlockError, match=complaint):
        runnable(write.page(text))


def test_blocks_of_a_page_share_one_namespace_and_one_folder(write: Writer) -> None:
    page = write.ready(
        """\
        '''python
        from pathlib import Path
        names = ["ham", "spam"]
        Path("names.txt").write_text(",".join(names))
        '''
        '''python
        >>> names
        ['ham', 'spam']
        >>> Path("names.txt").read_text()
        'ham,...'
        >>> last = names[-1]
        '''
        '''python
        assert last == "spam"
        assert len(Path("messages.tsv").read_text("utf-8").splitlines()) > 900
        '''
        """
    )
    page.run(2)
    assert page.namespace["last"] == "spam"


def test_a_block_runs_once_however_often_those_below_it_are_asked_for(write: Writer) -> None:
    text = "'''python\nruns = globals().get('runs', 0) + 1\n'''\n'''python\nassert runs == 1\n'''\n"
    page = write.ready(text.replace("'runs'", '"runs"'))
    page.run(1)
    page.run(0)
    page.run(1)
    assert page.namespace["runs"] == 1


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ("1 / 0", "page.md:2: the block raises ZeroDivisionError"),
        ("raise SystemExit(0)", "the block raises SystemExit"),
        ("x = (", "the block raises SyntaxError"),
        (">>> 1 + 1\n3", r"(?s)the examples show something else.*Expected:\n    3\nGot:\n    2"),
        (">>> 1 / 0\n0", "(?s)the examples show something else.*ZeroDivisionError"),
        (">>> 1 + 1\n2\n\n1 / 0", "doctest would pass over these lines: '1 / 0'"),
        (">>> 1 + 1\n2\n>>>2", "doctest cannot read the examples"),
    ],
)
def test_a_wrong_python_block_fails_and_says_where(write: Writer, block: str, complaint: str) -> None:
    page = write.ready(f"'''python\n{block}\n'''\n")
    with pytest.raises(BlockError, match=complaint):
        page.run(0)


def test_a_block_after_a_failed_one_still_runs_and_names_it_only_if_it_fails_too(write: Writer) -> None:
    page = write.ready(
        "'''python\nx = missing\n'''\n'''python\ny = 1\n'''\n'''python\nassert x\n'''\n",
    )
    page.run(1)
    with pytest.raises(BlockError, match=r"(?s)page.md:8.*NameError.*failed: page.md:2"):
        page.run(2)


def test_an_error_below_the_first_line_points_at_its_line_of_the_page(write: Writer) -> None:
    page = write.ready("text\n'''python\nx = 1\n1 / 0\n'''\n")
    with pytest.raises(BlockError) as caught:
        page.run(0)
    cause = caught.value.__cause__
    assert cause is not None
    trace = cause.__traceback__
    assert trace is not None
    assert trace.tb_next is not None
    assert trace.tb_next.tb_lineno == 4


def test_blocks_that_need_corpora_are_skipped_with_a_reason_where_there_are_none(
    write: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = write.ready("'''python data\n1 / 0\n'''\n'''python\nx = 1\n'''\n")
    monkeypatch.delenv("BAYLEAF_DATA", raising=False)
    assert "BAYLEAF_DATA" in str(reason_to_skip(page.blocks[0]))
    page.run(1)
    monkeypatch.setenv("BAYLEAF_DATA", str(tmp_path))
    assert reason_to_skip(page.blocks[0]) is None
    with pytest.raises(BlockError):
        page.run(0)


def stand_in_for_bayleaf(page: Page, script: str) -> None:
    """Replace the launcher: what is under test here is how a page is compared, not the command line."""
    (page.launcher / "bayleaf").write_text(f"#!/bin/sh\n{script}\n", "utf-8")


ANSWER = 'echo "$1: ham 0.97"; echo "remark" >&2'


@pytest.mark.parametrize(
    "shown",
    ["", "classify: ham 0.97\n", "classify: ham ...\n", "classify:   ham\n  0.97\n"],
)
def test_output_shown_below_a_command_may_leave_out_what_varies(write: Writer, shown: str) -> None:
    page = write.ready(f"'''console\n$ bayleaf classify\n{shown}'''\n")
    stand_in_for_bayleaf(page, ANSWER)
    page.run(0)


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ("$ bayleaf classify\nclassify: spam 0.97", "(?s)prints something else.*spam 0.97.*ham 0.97"),
        ("$ bayleaf classify\n...: ham 0.97\nand more", "prints something else"),
        ("$ bayleaf one\n$ bayleaf two\ntwo: spam", "'bayleaf two' prints something else"),
        ("$ pip list | bayleaf classify", r"\['pip'\] may not run in a test"),
        ("output first\n$ bayleaf classify", "begins with a command, got 'output first'"),
    ],
)
def test_a_wrong_console_block_fails_and_says_where(write: Writer, block: str, complaint: str) -> None:
    page = write.ready(f"'''console\n{block}\n'''\n")
    stand_in_for_bayleaf(page, ANSWER)
    with pytest.raises(BlockError, match=complaint):
        page.run(0)


def test_a_command_must_succeed_unless_the_block_says_that_it_fails(write: Writer) -> None:
    refusal = 'echo "No such file." >&2; exit 2'
    page = write.ready(
        """\
        '''console
        $ bayleaf train missing.tsv
        '''
        '''console fails
        $ bayleaf train missing.tsv
        No such file.
        '''
        '''console fails
        $ bayleaf train missing.tsv
        Permission denied.
        '''
        """
    )
    stand_in_for_bayleaf(page, refusal)
    with pytest.raises(BlockError, match=r"(?s)failed \(exit code 2\).*No such file"):
        page.run(0)
    page.run(1)
    with pytest.raises(BlockError, match="prints something else"):
        page.run(2)


def test_a_command_that_should_fail_and_succeeds_is_an_error(write: Writer) -> None:
    page = write.ready("'''console fails\n$ bayleaf train\n'''\n")
    stand_in_for_bayleaf(page, "exit 0")
    with pytest.raises(BlockError, match="should fail but did"):
        page.run(0)


def test_commands_build_on_each_other_through_files_pipes_and_continued_lines(write: Writer) -> None:
    page = write.ready(
        """\
        '''console
        $ bayleaf 'a | pip' > out.txt
        $ bayleaf first \\
        >   second | wc -l
        1
        '''
        '''python
        >>> open("out.txt").read()
        'a | pip: ham 0.97\\n'
        '''
        """.replace('open("out.txt").read()', '__import__("pathlib").Path("out.txt").read_text()')
    )
    stand_in_for_bayleaf(page, ANSWER)
    page.run(1)
    page.run(0)


def test_commands_reach_the_package_of_this_interpreter(
    write: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "path" / "bayleaf"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys; print(sys.executable, sys.argv[1:])", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    page = write.ready(f"'''console\n$ bayleaf \"a b\" c\n{sys.executable} ['a b', 'c']\n'''\n")
    page.run(0)


def test_only_code_counts_as_a_mention(write: Writer) -> None:
    page = write.page("some words about `chars(3, 5)`\n'''python\nnormal()\n'''\n``a `b` c``\n")
    code = code_of(page)
    assert "words" not in code
    assert all(name in code for name in ("chars(3, 5)", "normal()", "a `b` c"))

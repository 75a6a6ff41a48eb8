"""The manual page, made of the same text as `--help`: `bayleaf --man > bayleaf.1`."""

from __future__ import annotations

import click


def page(group: click.Group, context: click.Context, version: str) -> str:
    """The page of a group and all of its commands, in the language of man."""
    lines = [
        f'.TH BAYLEAF 1 "" "bayleaf {version}" "User Commands"',
        ".SH NAME",
        "bayleaf \\- naive Bayes for text and tables",
        ".SH SYNOPSIS",
        ".B bayleaf\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]",
        ".SH DESCRIPTION",
        *_paragraphs(group.help or ""),
        ".SH COMMANDS",
    ]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None:
            lines += _command(name, command, context)
    return "\n".join([*lines, ".SH EXIT STATUS", *_paragraphs(group.epilog or "")]) + "\n"


def _command(name: str, command: click.Command, parent: click.Context) -> list[str]:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f".SS bayleaf {_plain(name)} {_plain(usage)}", *_paragraphs(command.help or "")]
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None:
            lines += [".TP", f".B {_plain(record[0])}", *_lines(record[1])]
    return lines


def _paragraphs(text: str) -> list[str]:
    """Paragraphs filled by man; those behind a \\b, which click does not fill either, line by line."""
    lines = []
    for part in text.replace("\b\n", "\0").split("\n\n"):
        kept = part.strip().startswith("\0")
        body = _lines(part.replace("\0", ""))
        lines += [".PP", *([".nf", *body, ".fi"] if kept else body)]
    return lines


def _lines(text: str) -> list[str]:
    return [_plain(line.strip()) for line in text.strip().split("\n")]


def _plain(line: str) -> str:
    """A line that says what it says: a backslash, a dash, a dot or a quote in front would mean more."""
    escaped = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped

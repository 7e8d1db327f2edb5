import importlib.util
from pathlib import Path

import click


def tool(name):
    file = Path(__file__).parents[2] / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"tools_{name}", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@click.group()
@click.option("--json", is_flag=True, help="Print one object.")
def top():
    """Keeps views true."""


@top.command()
@click.argument("path")
def read(path):
    """Show a file."""


@top.command(hidden=True)
def secret():
    """Not for users."""


@top.group()
def task():
    """Sub-tasks."""


@task.command()
def run():
    """Run one."""


def test_the_reference_holds_every_command_with_its_help():
    text = tool("reference").page(top)
    assert text.count("\n## ") == 4
    assert "## sightline task run\n\n```text\n  Run one.\n" in text
    assert "Print one object." in text
    assert "Show a file." in text


def test_hidden_commands_are_left_out():
    assert "secret" not in tool("reference").page(top)


def test_the_readme_takes_new_output_in_place_of_the_old():
    readme = tool("readme")
    page = f"before\n{readme.SPOT}\nafter\n"
    once = readme.placed(page, "one\n")
    assert once == f"before\n{readme.SPOT}```console\n$ sightline tour\none\n```\n\nafter\n"
    assert readme.placed(once, "one\n") == once


def test_long_output_is_cut_with_dots():
    assert tool("readme").block("line\n" * 100).endswith("line\n...\n```\n")

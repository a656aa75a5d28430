"""`FileCheck`: the Python package `filecheck` with LLVM's rules where they differ.

- Runs of blanks count as one, in the checks and in the input, unless `--strict-whitespace`.
- The region of a CHECK-NOT ends where the next match starts, not where it ends.
- CHECK-NEXT takes the leftmost match, which then has to be on the next line.
"""

from __future__ import annotations

import io
import re
import sys
from typing import Any

from filecheck.compiler import compile_uops
from filecheck.error import CheckError
from filecheck.finput import FInput, InputRange
from filecheck.matcher import Matcher
from filecheck.ops import CheckOp
from filecheck.options import Options, parse_argv_options
from filecheck.parser import Parser, pattern_for_opts

from ttmlir.files import decode_text, read_stream, read_text

HELP = """\
usage: FileCheck [options] CHECK_FILE

Hold a text against the CHECK lines of a file. The status is 0 if they match, 1 if they do not, and
2 if a file cannot be read.

options:
  -h, --help                  print this and end
  --input-file=FILE           the text (default: standard input)
  --check-prefix=PREFIX       what directives start with (default: CHECK)
  --check-prefixes=A,B        the same for several prefixes
  --comment-prefixes=A,B      what starts lines that hold no directives (default: COM,RUN)
  -DNAME=VALUE                a variable that patterns use as [[NAME]]
  --strict-whitespace         runs of blanks are not as good as one
  --match-full-lines          each directive matches whole lines
  --enable-var-scope          CHECK-LABEL forgets variables whose names do not start with $
  --reject-empty-vars         variables may not become empty
  --allow-empty               the text may be empty
  --dump-input=fail|never     whether a failure shows the text (default: fail)
"""

_BLANKS = re.compile(r"[ \t]+")
_KEEP_NEGATIVE_CHECKS = ("NOT", "DAG", "LABEL", "NOP")


class LLVMMatcher(Matcher):
    """A matcher that follows LLVM's FileCheck where the base class does not."""

    match_start: int | None = None
    """Where the current directive matched; None before it does."""

    def _pre_check(self, op: CheckOp) -> None:
        # The base class goes on to the next line first and so overlooks a match on this one.
        super()._pre_check(_as_plain(op) if op.name == "NEXT" else op)

    def match_eventually(self, op: CheckOp) -> None:
        """CHECK and CHECK-SAME: the leftmost match from here, on this line for SAME."""
        pattern, captures = compile_uops(op, self.ctx.live_variables, self.opts)
        self._accept(op, self.file.find(pattern, op.name == "SAME"), captures)

    def match_immediately(self, op: CheckOp) -> None:
        """CHECK-NEXT: the leftmost match from here, which has to be on the next line."""
        pattern, captures = compile_uops(_as_plain(op), self.ctx.live_variables, self.opts)
        start, content = self.file.range.start, self.file.content
        match = pattern.search(content, start, min(self.file.range.end, len(content)))
        if match and content.count("\n", start, match.start()) != min(start, 1):
            match = None
        self._accept(op, match, captures)

    def _accept(self, op: CheckOp, match: re.Match[str] | None, captures: Any) -> None:
        if match is None:
            raise CheckError(f'Couldn\'t match "{op.arg}".', op)
        self.match_start = match.start()
        self.file.move_to(match.end())
        self.capture_results(match, captures, op)

    def _post_check(self, op: CheckOp) -> None:
        begin = self.ctx.negative_matches_start
        end = self.match_start
        if op.name not in _KEEP_NEGATIVE_CHECKS and begin is not None and end is not None:
            region = InputRange(begin, max(begin, end))
            for check in self.ctx.negative_matches_stack:
                self.check_not(check, region)
            self.ctx.negative_matches_start = None
            self.ctx.negative_matches_stack = []
        self.match_start = None
        super()._post_check(op)


def _as_plain(op: CheckOp) -> CheckOp:
    """The same directive as a CHECK, whose pattern is not anchored to a line."""
    return CheckOp(op.prefix, "CHECK", op.arg, op.source_line, op.uops)


def check(options: Options, checks: str, text: str) -> int:
    """Hold `text` against the directives in `checks`; the exit status of FileCheck."""
    if not options.strict_whitespace:
        checks, text = _BLANKS.sub(" ", checks), _BLANKS.sub(" ", text)
    parser = Parser(options, io.StringIO(checks), *pattern_for_opts(options))
    source = FInput(options.readable_input_file(), FInput.canonicalize_line_ends(text))
    return LLVMMatcher(options, source, parser).run()


def run_filecheck(arguments: list[str]) -> int:
    """Run FileCheck with command-line arguments; the exit status, 2 if a file cannot be read."""
    if not {"-h", "-help", "--help"}.isdisjoint(arguments):
        print(HELP, end="")
        return 0
    options = parse_argv_options(["FileCheck", *arguments])
    try:
        checks = read_text(options.match_filename)
        return check(options, checks, _input(options.input_file))
    except (OSError, UnicodeDecodeError) as error:
        print(f"FileCheck: error: {error}", file=sys.stderr)
        return 2


def _input(path: str) -> str:
    if path == "-":
        return decode_text(read_stream(sys.stdin.buffer))
    return read_text(path)

"""Loops and branches of ttir."""

from __future__ import annotations

from ttmlir.dialects.definition import control


class WhileOp(control.WhileOp):
    """A loop: the results of `body` are what the next iteration, or the end, carries.

    The first operands, as many as there are results, are carried; the others are the same in all
    iterations. There are `trip_count` iterations, or as many as `condition`, which is asked before
    each of them, answers with a number other than 0. If both are given, `trip_count` holds.

    C1: `trip_count` or `condition` is given. C2: no more results than operands, of the types of
    the first operands. C3: `body` and `condition` are functions that take the operands; the body
    returns what is carried, the condition one element.

    Example:
        %r = "ttir.while"(%x, %w) <{body = @main_body0, trip_count = 10 : i64}> :
            (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    """

    name = "ttir.while"


class CaseOp(control.CaseOp):
    """A branch: calls the function whose number `index` is, or the last one if there is none.

    The functions take the other operands and return the results. Truth values choose the second
    of two functions where they are true.

    C1: there is at least one function. C2: `index` has one element. C3: all functions take the
    other operands and return the results.

    Example:
        %r = "ttir.case"(%index, %x) <{branches = [@main_branch0, @main_branch1]}> :
            (tensor<i32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    name = "ttir.case"

"""`goto` and labels as loops with flags, which mean the same.

What a `goto` jumps over becomes a loop that is left; what it jumps back over becomes one that
starts anew. Where a `goto` leaves loops, flags tell these to be left, too. One that goes into a
block jumps to its beginning first, and on from there: a flag says so, also to what decides whether
the block runs. A `switch` that is jumped into, or has cases in blocks, is a list of `goto` before.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ttmlir.cpp import tree
from ttmlir.cpp.types import is_built_in_type

_Statements: TypeAlias = Sequence[tree.Statement]
_Loops = (tree.For, tree.RangeFor, tree.While, tree.DoWhile)
_DECLARED = (tree.Alias, tree.Struct, tree.Enumeration, tree.UsingName, tree.UsingNamespace)


_TRAIT = "std::is_trivially_default_constructible_v"


class JumpError(Exception):
    """A jump or label that is wrong, or that has no form as a loop."""

    def __init__(self, node: tree.Node, message: str) -> None:
        """`node` is the jump or the label."""
        super().__init__(message)
        self.node = node


def replace_jumps(body: tree.Block) -> tree.Block:
    """The body of a function without `goto`; raises JumpError."""
    jumps = [each for each in _walk(body) if isinstance(each, tree.Goto)]
    labels = dict[str, tree.Label]()
    for each in _walk(body):
        if isinstance(each, tree.Label):
            if each.name in labels:
                raise JumpError(each, f"duplicate label '{each.name}'")
            labels[each.name] = each
    used = {each.label for each in jumps}
    for each in jumps:
        if each.label not in labels:
            raise JumpError(each, f"label '{each.label}' used but not defined")
    for each in labels.values():
        if each.name not in used:
            raise JumpError(each, f"label '{each.name}' defined but not used")
    entrances = _Entrances(body)
    body = entrances.open()
    structure = _Structure({**labels, **entrances.labels})
    return replace(body, statements=tuple(structure.convert(body.statements)))


def _walk(node: tree.Node) -> Iterator[tree.Node]:
    """The statements in a statement, without those of lambdas."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(list(_list_inner(each)))


def _list_inner(node: tree.Node) -> Iterator[tree.Node]:
    match node:
        case tree.Block(statements=statements) | tree.Case(statements=statements):
            yield from statements
        case tree.If(then=then, otherwise=otherwise):
            yield then
            if otherwise is not None:
                yield otherwise
        case tree.Switch(cases=cases):
            yield from cases
        case tree.For() | tree.RangeFor() | tree.While() | tree.DoWhile():
            yield node.body
        case _:
            pass


def _map_lists(
    node: tree.Statement, change: Callable[[_Statements], Iterable[tree.Statement]]
) -> tree.Statement:
    """A statement with other lists of statements directly in it."""

    def block(inner: tree.Block) -> tree.Block:
        return replace(inner, statements=tuple(change(inner.statements)))

    match node:
        case tree.Block():
            return block(node)
        case tree.If(then=then, otherwise=otherwise):
            if isinstance(otherwise, tree.If):
                changed = _map_lists(otherwise, change)
                assert isinstance(changed, tree.If)
                return replace(node, then=block(then), otherwise=changed)
            inner = None if otherwise is None else block(otherwise)
            return replace(node, then=block(then), otherwise=inner)
        case tree.Switch(cases=cases):
            made = (replace(x, statements=tuple(change(x.statements))) for x in cases)
            return replace(node, cases=tuple(made))
        case tree.For() | tree.RangeFor() | tree.While() | tree.DoWhile():
            return replace(node, body=block(node.body))
        case _:
            return node


def _map(node: tree.Block, change: Callable[[tree.Statement], tree.Statement]) -> tree.Block:
    """A block whose statements, and all in them, are changed from the inside out."""

    def run(inner: _Statements) -> Iterator[tree.Statement]:
        for each in inner:
            yield change(_map_lists(each, run))

    return replace(node, statements=tuple(run(node.statements)))


def open_switch(
    node: tree.Switch,
    nested: Sequence[tuple[tree.Label, tree.Case]],
    name: str,
    first: Sequence[tree.Statement] = (),
) -> tree.Block:
    """A `switch` as a list of jumps to its cases; those in its blocks are labels already.

    The statements that come `first`, before all of its own cases, are entered by jumps only.
    """
    at, number = node.position, tree.NamedType("int64_t")
    asked, end = tree.Name(f"{name}_value", position=at), tree.Label(f"{name}_end", position=at)

    def leave(inner: _Statements) -> Iterator[tree.Statement]:
        for each in inner:
            if isinstance(each, tree.Break):
                yield tree.Goto(end.name, position=each.position)
            else:
                is_left = isinstance(each, (*_Loops, tree.Switch))
                yield each if is_left else _map_lists(each, leave)

    entries = [*nested]
    body = list(leave(first))
    for count, each in enumerate(node.cases):
        label = tree.Label(f"{name}_case_{count}", position=each.position)
        entries.append((label, each))
        body += (label, *leave(each.statements))
    taken = tree.Cast("static_cast", number, node.condition, position=at)
    declared = tree.Declarator(asked.text, (), None, position=at)
    made: list[tree.Statement] = [
        tree.Declaration(number, (declared,), position=at),
        tree.Evaluate(tree.Assign(asked, "=", taken, position=at), position=at),
    ]
    others = next((label for label, each in entries if each.value is None), end)
    for label, each in entries:
        jump = tree.Goto(label.name, position=label.position)
        for test in _list_tests(asked, each):
            made.append(tree.If(test, tree.Block((jump,)), position=label.position))
    made += (tree.Goto(others.name, position=at), *body)
    if end.name in _list_targets(made):
        made.append(end)
    return tree.Block(tuple(made), position=at)


def _list_tests(asked: tree.Name, case: tree.Case) -> Iterator[tree.Expression]:
    """Whether a number is that of a case; nothing for `default`."""

    def compare(operator: str, value: tree.Expression) -> tree.Expression:
        at = value.position
        cast = tree.Cast("static_cast", tree.NamedType("int64_t"), value, position=at)
        return tree.BinaryOperation(operator, asked, cast, position=at)

    if case.value is not None and case.last is None:
        yield compare("==", case.value)
    elif case.value is not None and case.last is not None:
        ends = (compare(">=", case.value), compare("<=", case.last))
        yield tree.BinaryOperation("&&", *ends, position=case.position)


def _list_targets(statements: Iterable[tree.Statement]) -> set[str]:
    """The labels that statements jump to."""
    return {x.label for each in statements for x in _walk(each) if isinstance(x, tree.Goto)}


def _list_blocks(node: tree.Statement) -> list[tree.Block]:
    """The blocks directly in a statement; those of cases are left out."""
    match node:
        case tree.Block():
            return [node]
        case tree.If(then=then, otherwise=otherwise):
            return [then, *(_list_blocks(otherwise) if otherwise is not None else ())]
        case tree.For() | tree.RangeFor() | tree.While() | tree.DoWhile():
            return [node.body]
        case _:
            return []


class _Entrances:
    """Jumps into blocks on their way to jumps to labels in front of these."""

    def __init__(self, body: tree.Block) -> None:
        """`body` is that of a function."""
        self.body = body
        self.labels = dict[str, tree.Label]()
        """Those that no text has."""

    def open(self) -> tree.Block:
        """The body of the function with labels in front of what is jumped into."""
        self.body = _map(self.body, self._open_switch)
        while (found := self._find(self.body.statements)) is not None:
            self._enter(*found)
        return self.body

    def _find(self, statements: _Statements) -> tuple[tree.Statement, tree.Label, bool] | None:
        """A statement in a list, a label in it that is jumped to from outside, and whether that is
        in the first one of its blocks."""
        for each in statements:
            for number, block in enumerate(_list_blocks(each)):
                for label in (x for x in _walk(block) if isinstance(x, tree.Label)):
                    if self._count(self.body, (label.name,)) > self._count(block, (label.name,)):
                        return each, label, number == 0
            lists = [x.statements for x in _list_blocks(each)]
            if isinstance(each, tree.Switch):
                lists = [x.statements for x in each.cases]
            for inner in lists:
                if (found := self._find(inner)) is not None:
                    return found
        return None

    def _open_switch(self, node: tree.Statement) -> tree.Statement:
        """A `switch` with cases that are jumped into as a list of jumps."""
        if not isinstance(node, tree.Switch):
            return node
        for each in node.cases:
            inner = {x.name for x in _walk(each) if isinstance(x, tree.Label)}
            if self._count(self.body, inner) > self._count(each, inner):
                break
        else:
            return node
        made = open_switch(node, (), f"switch_{len(self.labels) + 1}")
        self.labels |= {x.name: x for x in _walk(made) if isinstance(x, tree.Label)}
        return made

    @staticmethod
    def _count(node: tree.Node, labels: Container[str]) -> int:
        return sum(isinstance(x, tree.Goto) and x.label in labels for x in _walk(node))

    @staticmethod
    def _refuse(label: tree.Label) -> JumpError:
        message = f"the jump to '{label.name}' goes into a range loop from outside"
        return JumpError(label, f"{message}, which is not supported; write a loop")

    def _enter(self, statement: tree.Statement, label: tree.Label, is_first: bool) -> None:
        """Let what jumps to a label in a statement jump in front of that first."""
        at, number = label.position, len(self.labels) + 1
        flag, entrance = f"enters_{number}", tree.Label(f"entrance_{number}", position=at)
        self.labels[entrance.name] = entrance
        on = tree.Goto(label.name, position=at)
        flagged = tree.Name(flag, position=at)
        first, last = _check(flag, (on,), at), _set(flag, False, at)

        def is_inside(node: tree.Statement) -> bool:
            return any(x is label for x in _walk(node))

        def mark(inner: _Statements) -> Iterator[tree.Statement]:
            for each in inner:
                yield from (each, last) if each is label else (_map_lists(each, mark),)

        def enter(inner: _Statements) -> Iterable[tree.Statement]:
            return (first, *mark(inner)) if any(map(is_inside, inner)) else change(inner)

        def change(inner: _Statements) -> Iterator[tree.Statement]:
            for each in inner:
                if isinstance(each, tree.Goto) and each.label == label.name:
                    yield from (_set(flag, True, at), replace(each, label=entrance.name))
                elif each is statement:
                    yield entrance
                    if isinstance(each, tree.RangeFor):
                        raise self._refuse(label)
                    head = list(_start_head(each, flagged, label))
                    opened = _map_lists(_open_head(each, flagged, is_first), enter)
                    is_scope = any(isinstance(x, tree.Declaration) for x in head)
                    made = (*head, opened)
                    yield from (tree.Block(made, position=at),) if is_scope else made
                else:
                    yield _map_lists(each, change)

        made = tuple(change(self.body.statements))
        declared = _declare(flag, at, tree.Boolean(False, position=at))
        self.body = replace(self.body, statements=(declared, *made))


def _start_head(
    node: tree.Statement, flag: tree.Name, label: tree.Label
) -> Iterator[tree.Statement]:
    """What a loop does first, unless it is entered in its middle."""
    if isinstance(node, tree.For) and node.start is not None:
        if isinstance(node.start, tree.Declaration):
            names = list_initialized(node.start)
            if names:
                message = f"jump to label '{label.name}' crosses the initialization of '{names[0]}'"
                raise JumpError(label, message)
            yield node.start
            yield from list_checks(node.start, label)
            return
        test = tree.Unary("!", flag, position=label.position)
        yield tree.If(test, tree.Block((node.start,)), position=label.position)


def _open_head(node: tree.Statement, flag: tree.Name, is_first: bool) -> tree.Statement:
    """A statement that goes to the first of its blocks, or to another one, if a flag is set."""
    at = flag.position
    match node:
        case tree.If(condition=condition, otherwise=otherwise) if not is_first:
            test = tree.Unary("!", flag, position=at)
            if isinstance(otherwise, tree.If):
                otherwise = tree.Block((otherwise,), position=otherwise.position)
            condition = tree.BinaryOperation("&&", test, condition, position=at)
            return replace(node, condition=condition, otherwise=otherwise)
        case tree.If(condition=condition) | tree.While(condition=condition):
            condition = tree.BinaryOperation("||", flag, condition, position=at)
            return replace(node, condition=condition)
        case tree.For(condition=condition):
            if condition is not None:
                condition = tree.BinaryOperation("||", flag, condition, position=at)
            return replace(node, start=None, condition=condition)
        case _:
            return node


class _Structure:
    """Lists of statements on their way to loops."""

    def __init__(self, labels: Mapping[str, tree.Label]) -> None:
        """`labels` are those of the function."""
        self.labels = labels
        self.count = 0

    def convert(self, statements: _Statements) -> list[tree.Statement]:
        """A list whose labels are loops, as far as its own statements jump to them."""
        inner = [_map_lists(each, self.convert) for each in statements]
        made = self._arrange(inner, None)
        own = {each.name for each in inner if isinstance(each, tree.Label)}
        if not own & _list_targets(made):
            return made
        states = self._build_states(inner)
        return made if states is None else states

    def _arrange(self, body: _Statements, follow: str | None) -> list[tree.Statement]:
        """`follow` is the label right after the list."""
        places = {each.name: i for i, each in enumerate(body) if isinstance(each, tree.Label)}
        targets = [_list_targets((each,)) for each in body]
        for name, start in places.items():
            if any(name in each for each in targets[start:]):
                outer = {x for each in targets[:start] for x in each} & places.keys()
                if all(places[each] <= start for each in outer):
                    rest = self._arrange(body[start + 1 :], follow)
                    position = body[start].position
                    ways = {name: (tree.Continue(position=position),)}
                    made = self._build_loop(ways, rest, position)
                    return [*self._arrange(body[:start], name), *made]
        ends = dict(places)
        if follow is not None:
            ends[follow] = len(body)
        first = {
            name: next((i for i in range(end) if name in targets[i]), end)
            for name, end in ends.items()
        }
        forward = [name for name, end in ends.items() if first[name] < end]
        if not forward:
            return [each for each in body if not isinstance(each, tree.Label)]
        name = max(forward, key=ends.__getitem__)
        start, end = first[name], ends[name]
        while crossed := [x for x in forward if first[x] < start < ends[x]]:
            start = min(first[x] for x in crossed)
        kept, region = _hoist(body[start:end], first[name] - start, self.labels[name])
        inner = self._arrange(region, None)
        position = self.labels[name].position
        made = self._build_loop({name: (tree.Break(position=position),)}, inner, position)
        before = self._arrange(body[:start], None)
        return [
            *before,
            *kept,
            *made,
            *self._arrange(body[end:], None if end == len(body) else follow),
        ]

    def _build_states(self, body: _Statements) -> list[tree.Statement] | None:
        """A loop over all parts between labels, of which those before a number are passed over.

        None if the parts declare variables with values.
        """
        start = next(
            i for i, x in enumerate(body) if isinstance(x, tree.Label) or _list_targets((x,))
        )
        position = body[start].position
        parts, names = [list[tree.Statement]()], list[str]()
        kept = list[tree.Statement]()
        for each in body[start:]:
            if isinstance(each, tree.Label):
                names.append(each.name)
                parts.append([])
            elif isinstance(each, (tree.Declaration, tree.Binding, *_DECLARED)):
                if not isinstance(each, tree.Declaration) or any(map(_has_value, each.declarators)):
                    return None
                kept.append(each)
            else:
                parts[-1].append(each)
        self.count += 1
        state = f"part_{self.count}"
        kept.append(_declare(state, position, tree.Integer("0", position=position)))
        name = tree.Name(state, position=position)
        ways = dict[str, tuple[tree.Statement, ...]]()
        listed = list[tree.Statement]()
        for number, part in enumerate(parts):
            at = tree.Integer(str(number), position=position)
            if number:
                going = tree.Assign(name, "=", at, position=position)
                go_on = tree.Continue(position=position)
                ways[names[number - 1]] = (tree.Evaluate(going, position=position), go_on)
            test = tree.BinaryOperation("<=", name, at, position=position)
            listed.append(tree.If(test, tree.Block(tuple(part)), position=position))
        return [*body[:start], *kept, *self._build_loop(ways, listed, position)]

    def _build_loop(
        self,
        ways: Mapping[str, tuple[tree.Statement, ...]],
        body: _Statements,
        position: tree.Position | None,
    ) -> list[tree.Statement]:
        """A loop that runs once, or anew: what goes to each label from within it is given."""
        flags = list[str]()
        after = list[tree.Statement]()

        def leave(
            statements: _Statements,
            is_jump: Callable[[tree.Statement, bool, bool], bool],
            jump: tuple[tree.Statement, ...],
            *,
            goes_out: bool,
        ) -> list[tree.Statement]:
            self.count += 1
            flag = f"jumps_{self.count}"
            raised, lowered = (_set(flag, each, position) for each in (True, False))
            direct = (raised, tree.Break(position=position)) if goes_out else jump
            again = (tree.Break(position=position),) if goes_out else (lowered, *jump)
            leaver = _Leaver(is_jump, direct, again, raised, flag)
            made = leaver.run(statements, False, False)
            if leaver.raises or (goes_out and leaver.found):
                flags.append(flag)
                if goes_out:
                    after.append(_check(flag, jump, position))
            return made

        for kind in (tree.Break, tree.Continue):
            body = leave(
                body,
                lambda x, in_loop, in_switch, kind=kind: (
                    isinstance(x, kind) and not in_loop and not (in_switch and kind is tree.Break)
                ),
                (kind(position=position),),
                goes_out=True,
            )
        for label, way in ways.items():

            def goes_there(node: tree.Statement, *_: bool, label: str = label) -> bool:
                return isinstance(node, tree.Goto) and node.label == label

            body = leave(body, goes_there, way, goes_out=False)
        no = tree.Boolean(False, position=position)
        block = tree.Block((*body, tree.Break(position=position)), position=position)
        loop = tree.While(tree.Boolean(True, position=position), block, position=position)
        return [*(_declare(each, position, no) for each in flags), loop, *after]


class _Leaver:
    """Puts something else in the place of jumps, and leaves the loops around them."""

    def __init__(
        self,
        is_jump: Callable[[tree.Statement, bool, bool], bool],
        direct: _Statements,
        again: _Statements,
        raised: tree.Statement,
        flag: str,
    ) -> None:
        """`again` is what happens behind a loop that a raised flag has left."""
        self.is_jump, self.direct, self.again = is_jump, direct, again
        self.raised, self.flag = raised, flag
        self.found = self.raises = False

    def run(self, body: _Statements, in_loop: bool, in_switch: bool) -> list[tree.Statement]:
        """The list with the loops and switches around it."""
        made = list[tree.Statement]()
        is_nested = in_loop or in_switch
        for each in body:
            position = each.position
            if self.is_jump(each, in_loop, in_switch):
                self.found = True
                self.raises = self.raises or is_nested
                leaving = (self.raised, tree.Break(position=position))
                made += leaving if is_nested else self.direct
                continue
            loops = in_loop or isinstance(each, _Loops)
            switches = in_switch or isinstance(each, tree.Switch)
            before, self.found = self.found, False
            changed = _map_lists(each, lambda x, a=loops, b=switches: self.run(x, a, b))
            made.append(changed if self.found else each)
            if self.found and isinstance(each, (*_Loops, tree.Switch)):
                leaving = (tree.Break(position=position),) if is_nested else self.again
                made.append(_check(self.flag, leaving, position))
            self.found = self.found or before
        return made


def _hoist(
    region: _Statements, jump: int, label: tree.Label
) -> tuple[list[tree.Statement], list[tree.Statement]]:
    """What a jump goes over: the declarations that hold behind it, and the rest."""
    kept, rest = list[tree.Statement](), list[tree.Statement]()
    for number, each in enumerate(region):
        match each:
            case tree.Declaration() if "static" not in each.specifiers:
                names = list_initialized(each) if number > jump else ()
            case tree.Binding(names=names) if number > jump:
                pass
            case _:
                names = ()
        if names:
            message = f"jump to label '{label.name}' crosses the initialization of '{names[0]}'"
            raise JumpError(label, message)
        if number > jump and isinstance(each, (tree.Declaration, *_DECLARED)):
            kept.append(each)
            kept += list_checks(each, label)
        else:
            rest.append(each)
    return kept, rest


def list_checks(node: tree.Statement, label: tree.Label) -> Iterator[tree.Statement]:
    """What makes sure that nothing happens when variables of a class are declared."""
    match node:
        case tree.Declaration(type=tree.NamedType(name=name)) if not is_built_in_type(name):
            trait = tree.Name(_TRAIT, (node.type,), position=label.position)
            crossed = node.declarators[0].name if node.declarators else name
            message = f"jump to label '{label.name}' crosses the initialization of '{crossed}'"
            yield tree.StaticAssert(trait, message, position=label.position)
        case _:
            pass


def list_initialized(node: tree.Declaration) -> list[str]:
    """The variables of a declaration that start with values."""
    return [each.name for each in node.declarators if _has_value(each)]


def _has_value(declarator: tree.Declarator) -> bool:
    return declarator.value is not None or declarator.arguments is not None


def _declare(
    name: str, position: tree.Position | None, value: tree.Boolean | tree.Integer
) -> tree.Statement:
    type_ = tree.NamedType("bool" if isinstance(value, tree.Boolean) else "int")
    declarator = tree.Declarator(name, (), value, position=position)
    return tree.Declaration(type_, (declarator,), position=position)


def _set(flag: str, value: bool, position: tree.Position | None) -> tree.Statement:
    name = tree.Name(flag, position=position)
    assign = tree.Assign(name, "=", tree.Boolean(value, position=position), position=position)
    return tree.Evaluate(assign, position=position)


def _check(flag: str, body: _Statements, position: tree.Position | None) -> tree.Statement:
    name = tree.Name(flag, position=position)
    return tree.If(name, tree.Block(tuple(body), position=position), position=position)

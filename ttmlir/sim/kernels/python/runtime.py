"""What compiled kernels call beside the API: arithmetic that Python has no operator for, checks.

`NAMES` gives each function its name in compiled code.
"""

from __future__ import annotations

import difflib
import math
import struct
from collections.abc import Callable, Generator, MutableSequence, Sequence
from typing import NoReturn, Protocol, TypeAlias, cast

Item: TypeAlias = "int | float | list[Item] | LocalPointer | Unset"
ROUNDS = 1 << 26
"""How often a loop goes round that neither waits nor looks at memory; it is endless then."""
_NULL = "this dereferences a null pointer"
_WORD = 0xFFFF_FFFF
OUTSIDE = "this index is outside of the array"
NO_ADDRESS = "the address of a local variable is not known to the simulator"
UNSET_READ = "this reads a variable or element that was never set"


class KernelFault(Exception):
    """Something that C++ leaves undefined; the message says what."""


class Unset:
    """What variables and elements hold before they are set: whatever needs it fails."""

    __slots__ = ()

    message = UNSET_READ

    def _fail(self, *_: object) -> NoReturn:
        raise KernelFault(self.message)

    def __getattr__(self, _: str) -> NoReturn:
        """Whatever member is wanted, it is not there."""
        raise KernelFault(self.message)

    __bool__ = __index__ = __int__ = __float__ = __hash__ = __eq__ = __ne__ = _fail
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __pos__ = __invert__ = __abs__ = _fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _fail
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _fail
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _fail
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _fail
    __getitem__ = __setitem__ = __iter__ = __len__ = __str__ = __format__ = _fail


UNSET = Unset()


class PlacedObject(Unset):
    """The object that `new` has made in an array of bytes, at its first byte."""

    __slots__ = ("element", "value")
    message = "this byte is part of an object that 'new' has made, and is no number here"

    def __init__(self, value: Item, element: str) -> None:
        """An object of the type with a tag."""
        self.value = value
        self.element = element


class LocalPointer:
    """A pointer to a variable of the kernel.

    It points to `container[place]`; elements from `first` up to `end` are of the array that it
    points into, and all are of the C++ type with the tag `element`.
    """

    __slots__ = ("container", "element", "end", "first", "place")

    def __init__(
        self, container: MutableSequence[Item], place: int, first: int, end: int, element: str
    ) -> None:
        """Point to an element."""
        self.container = container
        self.place = place
        self.first = first
        self.end = end
        self.element = element


Pointer: TypeAlias = int | LocalPointer
"""A pointer that may point to a variable, or as an address into memory; 0 is the null pointer."""


def quotient(a: int, b: int) -> int:
    """`a / b` in C++: rounds toward zero."""
    result = abs(a) // abs(b)
    return result if (a < 0) == (b < 0) else -result


def remainder(a: int, b: int) -> int:
    """`a % b` in C++: has the sign of `a`."""
    result = abs(a) % abs(b)
    return -result if a < 0 else result


def shift_count(count: int, bits: int) -> int:
    """The number of places of a shift, which has to be smaller than the type."""
    if not 0 <= count < bits:
        raise KernelFault(describe_shift(count, bits))
    return count


def describe_shift(count: int, bits: int) -> str:
    """What is wrong with a shift by so many places of a type of so many bits."""
    remedy = "; shift a uint64_t, such as 1ull" if bits <= count < 64 else ""
    return f"a shift by {count} places of a type of {bits} bits is undefined{remedy}"


def index(value: int) -> int:
    """An index that may be negative."""
    if value < 0:
        raise KernelFault(f"the index {value} lies before the start of the array")
    return value


class _Writable(Protocol):
    """An object of the library with members that kernels can change."""

    def set_member(self, name: str, value: int) -> None:
        """Change a member."""
        ...


def put_member(value: int, holder: _Writable, name: str) -> int:
    """Change a member of an object of the library; its new value."""
    holder.set_member(name, value)
    return value


def awaited(
    call: Callable[..., bool],
    received: Callable[[], object],
    *arguments: object,
    template: tuple[int, ...] | None = None,
) -> Generator[None, None, object]:
    """Make a call until it is done; what it received."""
    keywords = {} if template is None else {"template": template}
    while not call(*arguments, **keywords):
        yield
    return received()


def as_float32(value: float) -> float:
    """The value rounded to single precision."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def square_root(value: float) -> float:
    """`sqrt`, whose result of a negative number is no number."""
    return math.sqrt(value) if value >= 0 else math.nan


def round_down(value: float) -> float:
    """`floor`, which keeps the sign of 0, infinities and what is no number."""
    return math.copysign(math.floor(value), value) if math.isfinite(value) else value


def float_quotient(a: float, b: float) -> float:
    """`a / b` of floating-point numbers."""
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def truncate(value: float, low: int, high: int) -> int:
    """A floating-point number as an integer."""
    if math.isnan(value) or not low - 1 < value < high + 1:
        raise KernelFault(f"{value} is no value of the integer type that it is converted to")
    return int(value)


def float_bits(value: float) -> int:
    """The bits of a `float`."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


def bits_float(bits: int) -> float:
    """The `float` of some bits."""
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def double_bits(value: float) -> int:
    """The bits of a `double`."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def bits_double(bits: int) -> float:
    """The `double` of some bits."""
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def bits_at(holder: list[int], shift: int, count: int) -> int:
    """Some bits of a union."""
    return holder[0] >> shift & (1 << count) - 1


def put_bits(value: int, holder: MutableSequence[Item], shift: int, count: int) -> int:
    """An assignment to some bits of a union; those that were never set are zeros."""
    # Unset is no number, so nothing of it can be kept.
    before = holder[0]
    kept = before & ~((1 << count) - 1 << shift) if isinstance(before, int) else 0
    holder[0] = kept | value << shift
    return value


Parts: TypeAlias = "Sequence[tuple[int, int, str | Parts | None]]"
"""Of an object: the bits before each part, its width, and `f` for a float, or its own parts."""


def put_parts(
    value: Sequence[Item], holder: MutableSequence[Item], shift: int, parts: Parts
) -> Sequence[Item]:
    """An assignment of a whole object to a member of a union; parts that are not set stay."""
    for each, (place, width, kind) in zip(value, parts, strict=True):
        if isinstance(each, list) and isinstance(kind, tuple):
            put_parts(cast("list[Item]", each), holder, shift + place, kind)
        elif kind == "f" and isinstance(each, (int, float)):
            bits = float_bits(each) if width == 32 else double_bits(each)
            put_bits(bits, holder, shift + place, width)
        elif isinstance(each, int):
            put_bits(each & (1 << width) - 1, holder, shift + place, width)
    return value


def count_trailing_zeros(value: int, bits: int) -> int:
    """`__builtin_ctz`."""
    if not value:
        raise KernelFault("__builtin_ctz of 0 is undefined")
    return (value & -value).bit_length() - 1  # x & -x is the lowest bit that is set.


def count_leading_zeros(value: int, bits: int) -> int:
    """`__builtin_clz`."""
    if not value:
        raise KernelFault("__builtin_clz of 0 is undefined")
    return bits - (value & (1 << bits) - 1).bit_length()


def count_ones(value: int, bits: int) -> int:
    """`__builtin_popcount`."""
    return (value & (1 << bits) - 1).bit_count()


def put(value: Item, container: MutableSequence[Item], place: int) -> Item:
    """An assignment to an element, as an expression."""
    container[place] = value
    return value


def point(container: MutableSequence[Item], place: int, end: int, element: str) -> LocalPointer:
    """A pointer to an element of an array of `end` elements."""
    return LocalPointer(container, place, 0, end, element)


def point_at_one(container: MutableSequence[Item], place: int, element: str) -> LocalPointer:
    """A pointer to a variable, or to a member of a struct."""
    return LocalPointer(container, place, place, place + 1, element)


def late_array(
    counts: tuple[int, ...], elements: tuple[str, ...], most: int, level: int = 0
) -> LocalPointer:
    """A pointer to a new array with these sizes, of at most so many elements, none of them set.

    One of several dimensions holds pointers to others; `elements` are the tags of what each holds.
    """
    if not level and (min(counts) < 1 or math.prod(counts) > most):
        raise KernelFault(f"an array of {' x '.join(map(str, counts))} elements; at most {most}")
    count, rest = counts[level], level + 1
    container: list[Item] = [UNSET] * count
    if rest < len(counts):
        container = [late_array(counts, elements, most, rest) for _ in range(count)]
    return point(container, 0, count, elements[level])


def is_local(pointer: Pointer) -> bool:
    """Whether a pointer points to a variable of the kernel."""
    return type(pointer) is LocalPointer


def element_at(pointer: Pointer, offset: int) -> Item:
    """The place so many elements after another one."""
    if not isinstance(pointer, LocalPointer):
        raise KernelFault("this pointer points to no object of the kernel")
    return pointer.container[_checked_place(pointer, offset)]


def find_named(name: Pointer, numbers: tuple[tuple[str, int], ...]) -> int:
    """The compile-time argument whose name a pointer to characters points to."""
    characters = bytearray()
    while isinstance(found := element_at(name, len(characters)), int) and found:
        characters.append(found)
    known, text = dict(numbers), characters.decode("utf-8", errors="replace")
    if text not in known:
        raise KernelFault(describe_missing_name(text, tuple(known)))
    return known[text]


def describe_missing_name(name: str, known: Sequence[str]) -> str:
    """That there is no compile-time argument of a name, and which there are."""
    there = ", ".join(f"'{each}'" for each in known) or "none"
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"there is no compile-time argument '{name}'; the kernel has {there}{hint}"


def put_at(value: Item, pointer: LocalPointer, offset: int) -> Item:
    """An assignment there, as an expression."""
    pointer.container[_checked_place(pointer, offset)] = value
    return value


def _checked_place(pointer: LocalPointer, offset: int) -> int:
    place = pointer.place + offset
    if place < pointer.first:
        number = place - pointer.first
        raise KernelFault(f"the index {number} lies before the start of the array")
    if place >= pointer.end:
        raise KernelFault(OUTSIDE)
    return place


def advance(pointer: LocalPointer, count: int) -> LocalPointer:
    """A pointer to a later element of the same array."""
    return LocalPointer(
        pointer.container, pointer.place + count, pointer.first, pointer.end, pointer.element
    )


def advance_any(pointer: Pointer, count: int, size: int) -> Pointer:
    """A pointer to a later element, of `size` bytes in memory."""
    if isinstance(pointer, LocalPointer):
        return advance(pointer, count)
    return pointer + count * size & _WORD


def distance(a: Pointer, b: Pointer, size: int) -> int:
    """How many elements lie between two places in one array, or of `size` bytes in memory."""
    if isinstance(a, LocalPointer) and isinstance(b, LocalPointer):
        if _is_together(a, b):
            return a.place - b.place
        place, other = _find_byte(a), _find_byte(b)
        if place is not None and other is not None and place[0] is other[0]:
            return quotient(place[1] - other[1], size)
    if isinstance(a, LocalPointer) or isinstance(b, LocalPointer):
        raise KernelFault("these pointers point into different variables")
    return quotient(a - b, size)


def is_same(a: Pointer, b: Pointer) -> bool:
    """Whether two pointers are equal."""
    if isinstance(a, LocalPointer) and isinstance(b, LocalPointer):
        if a.place == b.place and _is_together(a, b):
            return True
        place, other = _find_byte(a), _find_byte(b)
        if place is None or other is None:
            return False
        return place[0] is other[0] and place[1] == other[1]
    return not isinstance(a, LocalPointer) and not isinstance(b, LocalPointer) and a == b


def _is_together(a: LocalPointer, b: LocalPointer) -> bool:
    """Whether pointers point into one array; a whole struct or array is one by its identity."""
    if a.container is b.container:
        return True
    return all(each.first == 0 and each.end == 1 for each in (a, b)) and (
        isinstance(a.container[0], list) and a.container[0] is b.container[0]
    )


def _find_byte(pointer: LocalPointer) -> tuple[object, int] | None:
    """What a pointer points into, and at which byte of that; None where that is not known."""
    container = pointer.container
    if isinstance(container, _View):
        return container.find_byte(pointer.place)
    size = _BYTES.get(pointer.element)
    return None if size is None else (container, pointer.place * size)


def address(pointer: Pointer) -> int:
    """The address in memory that a pointer holds."""
    if isinstance(pointer, LocalPointer):
        raise KernelFault(NO_ADDRESS)
    return pointer


def point_at_bits(holder: list[int], shift: int, size: int, element: str) -> LocalPointer:
    """A pointer to a number at some bits of a union of so many bytes."""
    width = _BYTES.get(element, 0) * 8
    if not width:
        raise KernelFault("only numbers among the members of a union have an address here")
    view = cast("MutableSequence[Item]", UnionView(holder, shift, element))
    return LocalPointer(view, 0, -(shift // width), (8 * size - shift) // width, element)


def make_place(pointer: Pointer, element: str) -> Pointer:
    """The same pointer; in an array of bytes it points to a new object without members."""
    if isinstance(pointer, LocalPointer) and isinstance(pointer.container, ObjectView):
        place = _checked_place(pointer, 0)
        pointer.container.place_object(place, PlacedObject([], element))
    return pointer


def pointer_to(pointer: Pointer, element: str, size: int = 0) -> Pointer:
    """The same pointer for elements of a type.

    Local variables are seen as numbers, and arrays of bytes as objects of `size` bytes, too.
    """
    if not isinstance(pointer, LocalPointer) or pointer.element == element:
        return pointer
    if isinstance(pointer.container, UnionView) and element in FORMATS:
        holder, place = pointer.container.find_byte(pointer.place)
        end = place + (pointer.end - pointer.place) * _BYTES[pointer.element]
        return point_at_bits(cast("list[int]", holder), 8 * place, end, element)
    if size and element not in FORMATS and _BYTES.get(pointer.element) == 1:
        objects = ObjectView(pointer.container, pointer.place, size, element)
        before, after = pointer.place - pointer.first, pointer.end - pointer.place
        view = cast("MutableSequence[Item]", objects)
        return LocalPointer(view, 0, -(before // size), after // size, element)
    if pointer.element not in FORMATS or element not in FORMATS:
        raise KernelFault(
            "a local variable that is no number, or holds none, cannot be read as another type; "
            "only memory has bytes"
        )
    view = NumberView(pointer.container, pointer.element, element)
    place, first = view.convert_place(pointer.place), view.convert_place(pointer.first)
    if place is None or first is None:
        raise KernelFault("this pointer is not aligned to the type that it is cast to")
    end = view.count_before(pointer.end)
    return LocalPointer(cast("MutableSequence[Item]", view), place, first, end, element)


def copy(value: list[Item]) -> list[Item]:
    """A copy of a struct or array with everything in it."""
    return [
        copy(each)
        if isinstance(each, list)
        else PlacedObject(copy([each.value])[0], each.element)
        if isinstance(each, PlacedObject)
        else each
        for each in value
    ]


def base_pointer(pointer: Pointer, offset: int, members: tuple[int, ...], element: str) -> Pointer:
    """A pointer to an object as one to the base that some members, each in the last, hold."""
    if not isinstance(pointer, LocalPointer):
        return pointer + offset if pointer else 0
    holder = cast("list[Item]", element_at(pointer, 0))
    for number in members[:-1]:
        holder = cast("list[Item]", holder[number])
    return point_at_one(holder, members[-1], element)


def slice_object(value: list[Item], count: int) -> list[Item]:
    """A copy of the first members of an object, which are those of its base."""
    return copy(value[:count])


def overwrite(place: list[Item], value: list[Item]) -> list[Item]:
    """The assignment of a struct."""
    place[: len(value)] = copy(value)
    return place


def printed(value: int, base: int, width: int) -> str:
    """An integer as `DPRINT` shows it after `HEX()`, `OCT()` or `SETW()`."""
    text = format(value, {8: "o", 10: "d", 16: "x"}[base])
    return text.rjust(width)


def printed_float(value: float, fixed: bool, precision: int) -> str:
    """A number as `DPRINT` shows it after `FIXED()` or `SETPRECISION()`."""
    return format(value, f".{precision}{'f' if fixed else 'g'}")


def formatted(value: float, spec: str) -> str:
    """A number as `DEVICE_PRINT` shows it in a place with an alignment, a sign or a prefix."""
    return format(value, spec)


def checked_load(load: Callable[[int, int, bool], int]) -> Callable[[int, int, bool], int]:
    """A load from memory that refuses addresses that the processor cannot load from."""

    def checked(address: int, size: int, signed: bool) -> int:
        if not address:
            raise KernelFault(_NULL)
        return load(address, size, signed)

    return checked


def checked_store(store: Callable[[int, int, int], object]) -> Callable[[int, int, int], int]:
    """A store to memory, likewise; the result is the value."""

    def checked(value: int, address: int, size: int) -> int:
        if not address:
            raise KernelFault(_NULL)
        store(address, size, value)
        return value

    return checked


def character(number: int) -> str:
    """A `char` as `DPRINT` shows it."""
    return chr(number)


def endless() -> NoReturn:
    """The end of a loop that has gone round `ROUNDS` times."""
    raise KernelFault(
        "this loop goes round without end: nothing that it waits for can change while it runs"
    )


def next_argument(listed: list[object], kind: str) -> object:
    """The next of the values that were passed for `...`, which must be of a kind."""
    written, number = listed
    if not isinstance(written, tuple) or not isinstance(number, int):
        raise KernelFault("va_start has not been called for this list")
    values = cast("tuple[tuple[str, object], ...]", written)
    if number >= len(values):
        raise KernelFault(f"va_arg asks for more than the {len(values)} values that were passed")
    found, value = values[number]
    if found != kind:
        raise KernelFault(f"va_arg asks for a '{kind}', and a '{found}' was passed")
    listed[1] = number + 1
    return value


def find_member(pointer: int) -> int:
    """The number of the member that a pointer to a member means."""
    if not pointer:
        raise KernelFault("a pointer to a member is null here")
    return pointer - 1


def no_function(pointer: int) -> NoReturn:
    """A call through a pointer that points to no function of its type."""
    if pointer == 0:
        raise KernelFault("a null pointer to a function is called")
    raise KernelFault("a pointer is called that points to no function of its type")


def missing(message: str) -> NoReturn:
    """The end of a function that has to return a value."""
    raise KernelFault(message)


# --- Variables as other types ---------------------------------------------------------------------
# Numbers of a kernel's variables as those of another type: what `(uint8_t*)&word` points to;
# members of unions, and the objects in arrays of bytes.


FORMATS = {
    **{"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q"},
    **{"i64": "q", "float": "f", "double": "d"},
}
"""The formats of `struct`, by the tags of types."""

_BYTES = {tag: struct.calcsize(f"<{format_}") for tag, format_ in FORMATS.items()}
"""The sizes of numbers, by the tags of their types."""


class _View:
    """What pointers of one type see of variables of another one."""

    __slots__ = ()

    def find_byte(self, place: int) -> tuple[object, int]:
        """The variable, and the byte of it at which an element begins."""
        raise NotImplementedError


class UnionView(_View):
    """The bits of a union, from some place on, as numbers of a type."""

    __slots__ = ("_format", "_holder", "_shift", "_width")

    def __init__(self, holder: list[int], shift: int, element: str) -> None:
        """See what is behind `shift` bits as numbers with the tag `element`."""
        self._holder, self._shift = holder, shift
        self._format, self._width = f"<{FORMATS[element]}", 8 * _BYTES[element]

    def __getitem__(self, place: int) -> int | float:
        """The number at a place."""
        bits = bits_at(self._holder, self._shift + place * self._width, self._width)
        return struct.unpack(self._format, bits.to_bytes(self._width // 8, "little"))[0]

    def __setitem__(self, place: int, value: int | float) -> None:
        """Change the number at a place."""
        bits = int.from_bytes(struct.pack(self._format, value), "little")
        holder = cast("MutableSequence[Item]", self._holder)
        put_bits(bits, holder, self._shift + place * self._width, self._width)

    def find_byte(self, place: int) -> tuple[object, int]:
        """See `_View`."""
        return self._holder, (self._shift + place * self._width) // 8


class ObjectView(_View):
    """The objects that `new` has made in an array of bytes."""

    __slots__ = ("_bytes", "_element", "_first", "_size")

    def __init__(self, bytes_: MutableSequence[Item], first: int, size: int, element: str) -> None:
        """See objects of `size` bytes with the tag `element`, the first one at a byte."""
        self._bytes, self._first = bytes_, first
        self._size, self._element = size, element

    def __getitem__(self, place: int) -> Item:
        """The object at a place."""
        found = self._bytes[self._first + place * self._size]
        if not isinstance(found, PlacedObject) or found.element != self._element:
            raise KernelFault("'new' has made no object of this type in these bytes")
        return found.value

    def __setitem__(self, place: int, value: Item) -> None:
        """Put an object, or a pointer, at a place."""
        self.place_object(place, PlacedObject(value, self._element))

    def place_object(self, place: int, made: PlacedObject) -> None:
        """Put an object at a place; others that it covers are no more."""
        start = self._first + place * self._size
        self._bytes[start] = made
        for number in range(start + 1, start + self._size):
            self._bytes[number] = UNSET

    def find_byte(self, place: int) -> tuple[object, int]:
        """See `_View`."""
        return self._bytes, self._first + place * self._size


class NumberView(_View):
    """The bytes of a list of numbers as numbers of another type, little end first."""

    __slots__ = ("_container", "_given", "_given_size", "_wanted", "_wanted_size")

    def __init__(self, container: MutableSequence[Item], given: str, wanted: str) -> None:
        """See numbers with the tag `given` as ones with the tag `wanted`."""
        self._container = container
        self._given, self._wanted = FORMATS[given], FORMATS[wanted]
        self._given_size = struct.calcsize(f"<{self._given}")
        self._wanted_size = struct.calcsize(f"<{self._wanted}")

    def find_byte(self, place: int) -> tuple[object, int]:
        """See `_View`."""
        return self._container, place * self._wanted_size

    def convert_place(self, place: int) -> int | None:
        """The number of the element at the place of an element; None if it lies within one."""
        quotient, rest = divmod(place * self._given_size, self._wanted_size)
        return None if rest else quotient

    def count_before(self, end: int) -> int:
        """How many whole elements lie before an element."""
        return end * self._given_size // self._wanted_size

    def __getitem__(self, place: int) -> int | float:
        """The number at a place."""
        first, count, offset = self._locate(place)
        return struct.unpack_from(f"<{self._wanted}", self._pack(first, count), offset)[0]

    def __setitem__(self, place: int, value: int | float) -> None:
        """Change the number at a place."""
        first, count, offset = self._locate(place)
        # What is written as a whole may never have been set.
        whole = offset == 0 and self._wanted_size == count * self._given_size
        data = bytearray(self._wanted_size) if whole else bytearray(self._pack(first, count))
        struct.pack_into(f"<{self._wanted}", data, offset, value)
        numbers = struct.unpack(f"<{count}{self._given}", data)
        for number, each in enumerate(numbers, first):
            self._container[number] = each

    def _locate(self, place: int) -> tuple[int, int, int]:
        """The elements that a number is made of: the first one, how many, and the byte in them."""
        first, offset = divmod(place * self._wanted_size, self._given_size)
        return first, max(1, self._wanted_size // self._given_size), offset

    def _pack(self, first: int, count: int) -> bytes:
        numbers = (cast("int | float", self._container[first + i]) for i in range(count))
        # Arithmetic on what was never set says so, which `struct` would not.
        return struct.pack(f"<{count}{self._given}", *(each + 0 for each in numbers))

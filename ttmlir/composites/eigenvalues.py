"""Eigenvalues of matrices that need not be symmetric, by the QR algorithm on complex numbers.

Arrays of matrices have one batch dimension; each matrix of a batch has shifts and blocks of its
own, and the loops go on until all are triangular.
"""

from __future__ import annotations

from ttmlir.arrays.array import Array, repeat
from ttmlir.composites.complex_matrices import adjoint, chosen, parts, product, scaled, taking
from ttmlir.composites.complex_numbers import Complex, absolute, square_root
from ttmlir.composites.linear_algebra import reflect

SWEEPS = 30
"""Most times that a matrix is swept for each row; two or three are enough for most."""


def find_schur_form(a: Complex) -> tuple[Complex, Complex]:
    """T, which is upper triangular, and Z, which is unitary, of A = Z T Z^H."""
    n = a.real.shape[1]
    bound = a.real.abs().maximum(a.imag.abs()).max(2).max(1)
    scale = bound.eq(0).where(1, bound)
    h, z = _reduce_to_hessenberg(a.map(lambda part: part / scale))
    if n == 1:
        return a, z
    rows, columns = h.real.count(1, h.real.shape), h.real.count(2, h.real.shape)

    def sweep(number: Array, *state: Array) -> list[Array]:
        (h, z), (last, _) = _pairs(state[:4]), state[4:]
        first = _begin_of_block(h, last)
        shift = _shift_of(h, last, number)

        def chase(i: Array, *state: Array) -> list[Array]:
            return parts(*_rotate(i, *_pairs(state), first, last, shift))

        h, z = _pairs(repeat(n - 1, chase, *parts(h, z)))
        h = h.where(rows > columns + 1, 0)
        h = h.where(rows.eq(columns + 1) & _is_small(h).broadcast(h.real.shape), 0)
        last = _end_of_block(h)
        return [*parts(h, z), last, last.max(0).reshape(())]

    last = _end_of_block(h)
    state = [*parts(h, z), last, last.max(0).reshape(())]
    found = repeat(SWEEPS * n, sweep, *state, goes_on=lambda *state: state[-1] > 0)
    h, z = _pairs(found[:4])
    return scaled(h.where(rows > columns, 0), scale), z


def find_eigenvalues(a: Complex, *, is_real: bool, vectors: bool) -> tuple[Complex, Complex]:
    """The eigenvalues, and vectors of length 1 as columns, whose largest element is positive.

    Imaginary parts of eigenvalues of real matrices that are as small as their errors are 0. Without
    `vectors` the second result is Z of the Schur form.
    """
    batch, n, _ = a.real.shape
    t, z = find_schur_form(a)
    rows, columns = t.real.count(1, t.real.shape), t.real.count(2, t.real.shape)
    values = chosen(rows.eq(columns), t, 1)
    if is_real:
        size = absolute(t).max(2).max(1)
        imag = values.imag
        is_error = imag.abs() <= size * (8 * t.real.epsilon)
        values = Complex(values.real, is_error.where(0, imag))
    found = values.map(lambda part: part.reshape((batch, n)))
    if not vectors:
        return found, z
    columns_of = t.real.count(2, (batch, 1, n))
    least = absolute(t).max(2).max(1) * t.real.epsilon
    least = least.eq(0).where(t.real.epsilon, least)

    def step(number: Array, real: Array, imag: Array) -> list[Array]:
        x = Complex(real, imag)
        place = t.real.fill(n - 1, (), "i32") - number
        row = t.map(lambda part: part.take(1, place))
        below = row.map(lambda part: part.take(2, place)) - values
        # Equal eigenvalues have no other vector.
        is_none = absolute(below) < least
        below = Complex(is_none.where(least, below.real), is_none.where(0, below.imag))
        known = -product(row, x) / below
        new = Complex(
            (columns_of > place).where(known.real, x.real.take(1, place)),
            (columns_of > place).where(known.imag, x.imag.take(1, place)),
        )
        return [x.real.put(1, place, new.real), x.imag.put(1, place, new.imag)]

    eye = rows.eq(columns).where(1, t.real.fill(0))
    real, imag = repeat(n, step, eye, eye * 0)
    x = product(z, Complex(real, imag))
    # Scaled first: squares stay in the range of the elements.
    largest = absolute(x).max(1)
    x = x.map(lambda part: part / largest)
    length = (x.real * x.real + x.imag * x.imag).sum(1).sqrt()
    size = absolute(x)
    place = size.eq(size.max(1)).where(rows, n).min(1)
    turn = chosen(rows.eq(place), x, 1).conjugate()
    x = x * turn
    length = length * absolute(turn)
    x = x.map(lambda part: part / length)
    if is_real:
        x = Complex(x.real, values.imag.eq(0).where(0, x.imag))
    return found, x


def factorize_to_hessenberg(a: Array) -> list[Array]:
    """Zeros below the subdiagonal, the reflections there, and their factors, as LAPACK's gehrd."""
    batch, n, _ = a.shape
    if n == 1:
        return [a, a.fill(0, (batch, 0))]

    def step(i: Array, x: Array, factors: Array) -> list[Array]:
        x, factor = reflect(x, i, i + 1, is_similar=True)
        return [x, factors.put(1, i, factor)]

    found, factors = repeat(n - 1, step, a, a.fill(0, (batch, n - 1, 1)))
    return [found, factors.reshape((batch, n - 1))]


# -- steps ---------------------------------------------------------------------------------------


def _pairs(state: tuple[Array, ...] | list[Array]) -> tuple[Complex, Complex]:
    return Complex(*state[:2]), Complex(*state[2:4])


def _reduce_to_hessenberg(a: Complex) -> tuple[Complex, Complex]:
    """H and the unitary Z of A = Z H Z^H, by reflections."""
    batch, n, _ = a.real.shape
    rows, columns = a.real.count(1, a.real.shape), a.real.count(2, a.real.shape)
    eye = rows.eq(columns).where(1, a.real.fill(0))
    z = Complex(eye, eye * 0)
    if n < 3:
        return a, z
    row = a.real.count(1, (batch, n, 1))

    def step(i: Array, *state: Array) -> list[Array]:
        h, z = _pairs(state)
        x = h.map(lambda part: (row > i).where(part.take(2, i), 0))
        alpha = chosen(row.eq(i + 1), x, 1)
        norm = (x.real * x.real + x.imag * x.imag).sum(1).sqrt()
        size = absolute(alpha)
        is_none = size.eq(0)
        phase = Complex(
            is_none.where(1, alpha.real / is_none.where(1, size)),
            alpha.imag / is_none.where(1, size),
        )
        v = Complex(
            x.real + row.eq(i + 1).where(phase.real * norm, 0),
            x.imag + row.eq(i + 1).where(phase.imag * norm, 0),
        )
        square = (v.real * v.real + v.imag * v.imag).sum(1)
        factor = square.eq(0).where(0, square.fill(2) / square.eq(0).where(1, square))
        h = h - scaled(product(v, product(adjoint(v), h)), factor)
        h = h - scaled(product(product(h, v), adjoint(v)), factor)
        z = z - scaled(product(product(z, v), adjoint(v)), factor)
        return parts(h, z)

    h, z = _pairs(repeat(n - 2, step, *parts(a, z)))
    return h.where(rows > columns + 1, 0), z


def _is_small(h: Complex) -> Array:
    """Whether the element before the diagonal is nothing beside its neighbours, for each row."""
    rows, columns = h.real.count(1, h.real.shape), h.real.count(2, h.real.shape)
    size = absolute(h)
    diagonal = rows.eq(columns).where(size, 0)
    own, above = diagonal.sum(2), rows.eq(columns + 1).where(diagonal.sum(1), 0).sum(2)
    before = rows.eq(columns + 1).where(size, 0).sum(2)
    around = own + above
    around = around.eq(0).where(size.max(2).max(1), around)
    return before <= around * h.real.epsilon


def _end_of_block(h: Complex) -> Array:
    """The last row of which the element before the diagonal is not small; 0 if there is none."""
    row = h.real.count(1, (*h.real.shape[:2], 1))
    return _is_small(h).where(0, row).max(1)


def _begin_of_block(h: Complex, last: Array) -> Array:
    """The last row up to there of which the element before the diagonal is small, or the first."""
    row = h.real.count(1, (*h.real.shape[:2], 1))
    return (_is_small(h) & (row <= last)).where(row, 0).max(1)


def _shift_of(h: Complex, last: Array, number: Array) -> Complex:
    """The eigenvalue of the last 2 x 2 elements of a block that is nearer to its end."""
    rows, columns = h.real.count(1, h.real.shape), h.real.count(2, h.real.shape)

    def element(up: int, left: int) -> Complex:
        is_there = (rows + up).eq(last) & (columns + left).eq(last)
        return chosen(is_there, h, 2).map(lambda part: part.sum(1))

    a, b, c, d = element(1, 1), element(1, 0), element(0, 1), element(0, 0)
    half = scaled(a - d, d.real.fill(0.5))
    of_others = b * c
    root = square_root(half * half + of_others)
    with_root, without = half + root, half - root
    is_larger = absolute(with_root) >= absolute(without)
    below = Complex(
        is_larger.where(with_root.real, without.real), is_larger.where(with_root.imag, without.imag)
    )
    is_none = absolute(below).eq(0)
    quotient = of_others / below.where(is_none, 1)
    shift = d - quotient.where(is_none, 0)
    # Now and then another one, for matrices that the shifts leave as they are.
    is_other = number.remainder(10).eq(9)
    other = Complex(d.real + absolute(c), d.imag)
    return Complex(is_other.where(other.real, shift.real), is_other.where(other.imag, shift.imag))


def _rotate(
    i: Array, h: Complex, z: Complex, first: Array, last: Array, shift: Complex
) -> tuple[Complex, Complex]:
    """Rows and columns i and i + 1 rotated, so that the element that stands out moves on."""
    before = (i > 0).where(i - 1, i)
    upper, lower = (h.map(taking(1, place)) for place in (i, i + 1))
    is_first = first.eq(i)
    begins = upper.map(taking(2, i)) - shift, lower.map(taking(2, i))
    goes_on = upper.map(taking(2, before)), lower.map(taking(2, before))
    x, y = (
        Complex(is_first.where(a.real, b.real), is_first.where(a.imag, b.imag))
        for a, b in zip(begins, goes_on, strict=True)
    )
    x_size, y_size = absolute(x), absolute(y)
    largest = x_size.maximum(y_size)
    is_idle = (first > i) | (last <= i) | y_size.eq(0)
    scale = is_idle.where(1, largest)
    p, q = x_size / scale, y_size / scale
    length = scale * (p * p + q * q).sqrt()
    length = is_idle.where(1, length)
    cosine = x.map(lambda part: part / length).where(is_idle, 1)
    sine = y.map(lambda part: part / length).where(is_idle, 0)
    rows = (
        cosine.conjugate() * upper + sine.conjugate() * lower,
        cosine * lower - sine * upper,
    )
    h = _placed(h, 1, i, *rows)
    return _turn_columns(h, i, cosine, sine), _turn_columns(z, i, cosine, sine)


def _turn_columns(a: Complex, i: Array, cosine: Complex, sine: Complex) -> Complex:
    left, right = (a.map(taking(2, place)) for place in (i, i + 1))
    return _placed(
        a,
        2,
        i,
        left * cosine + right * sine,
        right * cosine.conjugate() - left * sine.conjugate(),
    )


def _placed(a: Complex, dim: int, i: Array, first: Complex, second: Complex) -> Complex:
    return Complex(
        a.real.put(dim, i, first.real).put(dim, i + 1, second.real),
        a.imag.put(dim, i, first.imag).put(dim, i + 1, second.imag),
    )

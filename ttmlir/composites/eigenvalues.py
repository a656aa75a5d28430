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
        first = _begin_of_block(_is_small(absolute(h)), last)
        shift = _shift_of(h, last, number)

        def chase(i: Array, *state: Array) -> list[Array]:
            return parts(*_rotate(i, *_pairs(state), first, last, shift))

        h, z = _pairs(repeat(n - 1, chase, *parts(h, z)))
        h = h.where(rows > columns + 1, 0)
        h = h.where(rows.eq(columns + 1) & _is_small(absolute(h)).broadcast(h.real.shape), 0)
        last = _end_of_block(_is_small(absolute(h)))
        return [*parts(h, z), last, last.max(0).reshape(())]

    last = _end_of_block(_is_small(absolute(h)))
    state = [*parts(h, z), last, last.max(0).reshape(())]
    found = repeat(SWEEPS * n, sweep, *state, goes_on=lambda *state: state[-1] > 0)
    h, z = _pairs(found[:4])
    return scaled(h.where(rows > columns, 0), scale), z


def find_real_schur_form(a: Array) -> tuple[Array, Array]:
    """T, which has blocks of 1 x 1 and 2 x 2 on its diagonal, and an orthogonal Z of A = Z T Z^T.

    Blocks of 2 x 2 are those of pairs of complex eigenvalues: both elements of the diagonal are
    the same, and the others have different signs, as LAPACK's gees has them.
    """
    n = a.shape[1]
    bound = a.abs().max(2).max(1)
    scale = bound.eq(0).where(1, bound)
    h, z = (each.real for each in _reduce_to_hessenberg(Complex(a / scale, a * 0)))
    if n == 1:
        return a, z
    rows, columns = h.count(1, h.shape), h.count(2, h.shape)
    row = h.count(1, (a.shape[0], n, 1))

    def sweep(number: Array, h: Array, z: Array, last: Array, _: Array) -> list[Array]:
        first = _begin_of_block(_is_small(h.abs()), last)
        begin = _begin_of_chase(h, first, last, number)

        def chase(i: Array, h: Array, z: Array) -> list[Array]:
            before = h.take(2, (i > 0).where(i - 1, i))
            is_open = (first <= i) & (last > i) & (row >= i) & (row <= last) & (row <= i + 2)
            x = is_open.where(first.eq(i).where(begin, before), 0)
            norm = (x * x).sum(1).sqrt()
            alpha = x.take(1, i)
            v = x + row.eq(i).where((alpha >= 0).where(norm, -norm), 0)
            square = (v * v).sum(1)
            factor = square.eq(0).where(0, square.fill(2) / square.eq(0).where(1, square))
            h = h - v @ (v.transposed_times(h) * factor)
            h, z = (each - (each @ v * factor).times_transposed(v) for each in (h, z))
            return [h, z]

        h, z = repeat(n - 1, chase, h, z)
        h = (rows > columns + 1).where(0, h)
        h = (rows.eq(columns + 1) & _is_small(h.abs())).where(0, h)
        last = _end_of_wide_block(h)
        return [h, z, last, last.max(0).reshape(())]

    last = _end_of_wide_block(h)
    state = [h, z, last, last.max(0).reshape(())]
    h, z, *_ = repeat(SWEEPS * n, sweep, *state, goes_on=lambda *state: state[-1] > 0)
    h = (rows > columns + 1).where(0, h)
    h = (rows.eq(columns + 1) & _is_small(h.abs())).where(0, h)
    h, z = repeat(n - 1, _turn_pair, h, z)
    return h * scale, z


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


def _is_small(size: Array) -> Array:
    """Whether the element before the diagonal is nothing beside its neighbours, for each row.

    `size` are the absolute values of the elements.
    """
    rows, columns = size.count(1, size.shape), size.count(2, size.shape)
    diagonal = rows.eq(columns).where(size, 0)
    own, above = diagonal.sum(2), rows.eq(columns + 1).where(diagonal.sum(1), 0).sum(2)
    before = rows.eq(columns + 1).where(size, 0).sum(2)
    around = own + above
    around = around.eq(0).where(size.max(2).max(1), around)
    return before <= around * size.epsilon


def _end_of_block(small: Array) -> Array:
    """The last row of which the element before the diagonal is not small; 0 if there is none."""
    return small.where(0, small.count(1, small.shape)).max(1)


def _begin_of_block(small: Array, last: Array) -> Array:
    """The last row up to there of which the element before the diagonal is small, or the first."""
    row = small.count(1, small.shape)
    return (small & (row <= last)).where(row, 0).max(1)


def _end_of_wide_block(h: Array) -> Array:
    """The last row of the last block of more than two rows; 0 if there is none."""
    small = _is_small(h.abs())
    is_open = small.where(0, h.fill(1, small.shape))
    step = h.count(1, h.shape).eq(h.count(2, h.shape) + 1).where(h.fill(1), 0)
    beside = step @ is_open + step.transposed_times(is_open)
    return (is_open * beside > 0).where(small.count(1, small.shape), 0).max(1)


def _element(h: Array, row: Array, column: Array) -> Array:
    """An element of each matrix."""
    is_there = h.count(1, h.shape).eq(row) & h.count(2, h.shape).eq(column)
    return is_there.where(h, 0).sum(2).sum(1)


def _begin_of_chase(h: Array, first: Array, last: Array, number: Array) -> Array:
    """The first column of (H - s)(H - t) from the first row of a block on, and of others nothing.

    s and t are the eigenvalues of the last 2 x 2 elements; now and then others.
    """
    a, b = (_element(h, last - 1, last - left) for left in (1, 0))
    c, d = (_element(h, last, last - left) for left in (1, 0))
    is_other = number.remainder(10).eq(9)
    size = c.abs() + _element(h, last - 1, last - 2).abs()
    total = is_other.where(size * 1.5, a + d)
    determinant = is_other.where(size * size, a * d - b * c)
    row = h.count(1, (*h.shape[:2], 1))
    unit = row.eq(first).where(h.fill(1, row.shape), 0)
    once = h @ unit
    found = (row >= first).where(h @ once - once * total + unit * determinant, 0)
    largest = found.abs().max(1)
    return found / largest.eq(0).where(1, largest)


def _turn_pair(i: Array, h: Array, z: Array) -> list[Array]:
    """Rows and columns i and i + 1 rotated, so that their block has the form of LAPACK's lanv2."""
    a, b = (h.take(1, i).take(2, place) for place in (i, i + 1))
    c, d = (h.take(1, i + 1).take(2, place) for place in (i, i + 1))
    half = (a - d) * 0.5
    square = half * half + b * c
    is_real = square >= 0
    root = is_real.where(square, 0).sqrt()
    away = half + (half >= 0).where(root, -root)
    length = (away * away + c * c).sqrt()
    length = length.eq(0).where(1, length)
    other = b + c
    width = (other * other + half * half * 4).sqrt()
    width = width.eq(0).where(1, width)
    even = ((other.abs() / width + 1) * 0.5).sqrt()
    odd = -half / (width * even) * (other >= 0).where(other.fill(1), -1)
    is_idle = c.eq(0)
    cosine = is_idle.where(1, is_real.where(away / length, even))
    sine = is_idle.where(0, is_real.where(c / length, odd))
    upper, lower = h.take(1, i), h.take(1, i + 1)
    h = h.put(1, i, upper * cosine + lower * sine).put(1, i + 1, lower * cosine - upper * sine)
    turned: list[Array] = []
    for each in (h, z):
        left, right = each.take(2, i), each.take(2, i + 1)
        each = each.put(2, i, left * cosine + right * sine)
        turned.append(each.put(2, i + 1, right * cosine - left * sine))
    h, z = turned
    rows, columns = h.count(1, h.shape), h.count(2, h.shape)
    is_in = (rows.eq(i) | rows.eq(i + 1)) & rows.eq(columns) & (square < 0) & c.ne(0)
    h = is_in.where((a + d) * 0.5, h)
    return [(rows.eq(i + 1) & columns.eq(i) & is_real).where(0, h), z]


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

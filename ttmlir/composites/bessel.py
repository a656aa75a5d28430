"""Bessel functions and Airy's function, in the precision of their arguments: f32 or f64.

Near 0 they are Chebyshev's series; beyond, a wave or an exponential times series in 1 / x, as
Abramowitz and Stegun (9.2.5, 9.7.2, 10.4.59) split them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttmlir.arrays.array import Array
from ttmlir.composites.special import sum_chebyshev

# Coefficients of Chebyshev's series, which mpmath computed with 40 digits.
# exp(-x) I0(x) from 0 to 8, of x / 4 - 1; and times sqrt(x) beyond, of 16 / x - 1.
_I0_SMALL = (
    *(0.33839763720473803, -0.3046826723431984, 0.17162090152220877),
    *(-0.09490109704804764, 0.04930528423967071, -0.02373741480589947),
    *(0.010546460394594998, -0.004324309995050576, 0.0016394756169413357),
    *(-0.0005763755745385824, 0.00018850288509584165, -5.754195010082104e-05),
    *(1.6448448070728896e-05, -4.4167383584587505e-06, 1.1173875391201037e-06),
    *(-2.670793853940612e-07, 6.046995022541919e-08, -1.300025009986248e-08),
    *(2.6598237246823866e-09, -5.189795601635263e-10, 9.675809035373237e-11),
    *(-1.726826291441556e-11, 2.95505266312964e-12, -4.856446783111929e-13),
    *(7.676185498604936e-14, -1.1685332877993451e-14, 1.715391285555133e-15),
    *(-2.431279846547955e-16, 3.3307945188222384e-17),
)
_I0_LARGE = (
    *(0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05),
    *(2.8913705208347567e-06, 2.0489185894690638e-07, 2.266668990498178e-08),
    *(3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11),
    *(-3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12),
    *(7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14),
    *(-4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15),
    *(1.7725601330565263e-15, -3.425485619677219e-16, -2.8276239805165836e-16),
    *(3.461222867697461e-17, 4.46562142029676e-17),
)
# exp(-x) I1(x) / x from 0 to 8; and exp(-x) I1(x) sqrt(x) beyond.
_I1_SMALL = (
    *(0.12629359322181682, -0.17641651835783406, 0.1026436586898471),
    *(-0.05294598120809499, 0.024726449030626516, -0.010564084894626197),
    *(0.004156422944312888, -0.0015135724506312532, 0.0005122859561685758),
    *(-0.00016176081582589674, 4.781565107550054e-05, -1.3273163656039436e-05),
    *(3.4702513081376785e-06, -8.568720264695455e-07, 2.0032947535521353e-07),
    *(-4.445059128796328e-08, 9.381537386495773e-09, -1.8872497517228294e-09),
    *(3.625590281552117e-10, -6.663489723502027e-11, 1.1736186298890901e-11),
    *(-1.9839743977649436e-12, 3.223793365945575e-13, -5.042185504727912e-14),
    *(7.600684294735408e-15, -1.1055969477353862e-15, 1.5536319577362005e-16),
)
_I1_LARGE = (
    *(0.38928811750914005, -0.009761097491361469, -0.00011058893876262371),
    *(-3.882564808877691e-06, -2.512236237870209e-07, -2.6314688468895196e-08),
    *(-3.835380385964237e-09, -5.589743462196584e-10, -1.8974958123505413e-11),
    *(3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12),
    *(-7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14),
    *(4.272440016711951e-14, 1.0420276984128802e-14, -3.8144030724370075e-15),
    *(-1.8803547755107825e-15, 3.3082023109209285e-16, 2.96262899764595e-16),
    *(-3.209525921993424e-17, -4.6503053684893586e-17),
)
# J0(x) from 0 to 8, of x * x / 32 - 1; J1(x) / x.
_J0_SMALL = (
    *(0.15772797147489012, -0.008723442352852221, 0.2651786132033368),
    *(-0.37009499387264977, 0.15806710233209725, -0.034893769411408884),
    *(0.004819180069467605, -0.00046062616620627504, 3.246032882100508e-05),
    *(-1.7619469077621507e-06, 7.608163592418782e-08, -2.679253530557673e-09),
    *(7.848696314479465e-11, -1.9438346867370164e-12, 4.125320595634374e-14),
    *(-7.588508125447546e-16, 1.2218515873961411e-17),
)
_J1_SMALL = (
    *(0.08104484632565812, -0.1489751450676521, 0.1609992623572097),
    *(-0.08268049176681791, 0.022213639654966037, -0.003646940600769276),
    *(0.0004050337728354822, -3.255554866857259e-05, 1.9858774049915165e-06),
    *(-9.521984756750436e-08, 3.687133759097148e-09, -1.178026622695885e-10),
    *(3.160154580348003e-12, -7.221755239651773e-14, 1.4232144003513942e-15),
    -2.4441972916190464e-17,
)
# Y0(x) - ln(x / 2) J0(x) 2 / pi likewise; (Y1(x) - ln(x / 2) J1(x) 2 / pi + 2 / (pi x)) / x.
_Y0_SMALL = (
    *(0.03645469809116044, -0.2783237094075825, 0.2960499990207148),
    *(0.09825508408187864, -0.10755155280627783, 0.031799074084414514),
    *(-0.005161397105810715, 0.0005498525320039012, -4.1996983149420134e-05),
    *(2.4290361107923793e-06, -1.1049969793472957e-07, 4.06651736597911e-09),
    *(-1.2374148898289854e-10, 3.1685725528945945e-12, -6.926956032431002e-14),
    *(1.3086308625876684e-15, -2.1586201986914482e-17, 3.136863182479938e-19),
)
_Y1_SMALL = (
    *(0.038300769852423776, -0.08182561412732826, -0.0248677076121964),
    *(0.047967452752746984, -0.01852588451089802, 0.003680607687823511),
    *(-0.0004627254060293369, 4.06940026958087e-05, -2.6617695125295625e-06),
    *(1.350602691325434e-07, -5.483524110336276e-09, 1.8245086841229007e-10),
    *(-5.070666636591129e-12, 1.1956162517587948e-13, -2.423162442712473e-15),
    *(4.268126513072962e-17, -6.596060978723042e-19),
)
# P and Q x / 8 beyond, of 128 / (x * x) - 1, of orders 0 and 1.
_P0_LARGE = (
    *(0.9994603493475187, -0.0005365220468132117, 3.0751847875194745e-06),
    *(-5.1705945376060975e-08, 1.6306464635151382e-09, -7.86409137723707e-11),
    *(5.168262387349193e-12, -4.3045788699253914e-13, 4.3265957431549404e-14),
    *(-5.069034095935236e-15, 6.748072215733873e-16, -1.0011513723467786e-16),
    1.6305919233744186e-17,
)
_Q0_LARGE = (
    *(-0.015555854605337009, 6.838519942611649e-05, -7.414498411060647e-07),
    *(1.7972457247968992e-08, -7.27191593686632e-10, 4.2201219046687385e-11),
    *(-3.206747420996635e-12, 3.006145125351706e-13, -3.336328185322427e-14),
    *(4.255225040245461e-15, -6.09993013164005e-16, 9.662128970303257e-17),
    *(-1.6686065214378146e-17, 3.1082440486738143e-18, -6.191115787358145e-19),
    1.3091448717220122e-19,
)
_P1_LARGE = (
    *(1.0009030408600137, 0.0008989898330859408, -3.987284300488908e-06),
    *(6.177633960644299e-08, -1.8718907491063067e-09, 8.816898659582339e-11),
    *(-5.704863640395645e-12, 4.699195515230542e-13, -4.6842237839904895e-14),
    *(5.452674896044717e-15, -7.221180842274018e-16, 1.0667689114335412e-16),
    -1.7312313216116335e-17,
)
_Q1_LARGE = (
    *(0.04677778706953532, -9.62772354915708e-05, 9.138615257955454e-07),
    *(-2.0959781384083424e-08, 8.229193327650554e-10, -4.686363688176945e-11),
    *(3.5152187949686082e-12, -3.2643156743279e-13, 3.5967765829165294e-14),
    *(-4.5612523950772974e-15, 6.508282957783384e-16, -1.0269147531823243e-16),
    *(1.767635548776479e-17, -3.2834519872981614e-18, 6.524081149589261e-19),
)
# K0(x) + ln(x / 2) I0(x) from 0 to 2, of x * x / 2 - 1; (K1(x) - ln(x / 2) I1(x) - 1 / x) / x.
_K0_SMALL = (
    *(-0.2676636966169514, 0.3442898999246285, 0.0359799365153615),
    *(0.001264615411446926, 2.286212103119452e-05, 2.5347910790261494e-07),
    *(1.904516377220209e-09, 1.0349695257633625e-11, 4.2598161427910826e-14),
    1.3744654358807508e-16,
)
_K1_SMALL = (
    *(-0.06409034516866254, -0.10916919599320105, -0.006636878452817714),
    *(-0.00016822792382067343, -2.389559180803608e-06, -2.1853569024549695e-08),
    *(-1.3982271326113327e-10, -6.618562752976041e-13, -2.4134516242987822e-15),
    -6.990873731242567e-18,
)
# exp(x) K(x) sqrt(x) beyond, of 4 / x - 1.
_K0_LARGE = (
    *(1.2201515410329777, -0.0314481013119645, 0.0015698838857300533),
    *(-0.00012849549581627802, 1.39498137188765e-05, -1.8317555227191195e-06),
    *(2.766813639445015e-07, -4.660489897687948e-08, 8.574034017414225e-09),
    *(-1.6975345093890614e-09, 3.5773972814003283e-10, -7.957489244477396e-11),
    *(1.8559491149549264e-11, -4.514597883374519e-12, 1.1403405882073441e-12),
    *(-2.9800969231481784e-13, 8.032890775068375e-14, -2.2275133267462965e-14),
    *(6.340076476276646e-15, -1.848593377920907e-15, 5.5120559994043335e-16),
    *(-1.6782311257549006e-16, 5.2103917776435543e-17, -1.6475805939842632e-17),
)
_K1_LARGE = (
    *(1.3603130952422213, 0.10392373657681724, -0.002857816859622779),
    *(0.00019521551847135162, -1.936197974166083e-05, 2.406484947837217e-06),
    *(-3.5019606030878126e-07, 5.7410841254500495e-08, -1.0345762465678097e-08),
    *(2.0150497551970347e-09, -4.1903547593419254e-10, 9.218315187605315e-11),
    *(-2.129967838427791e-11, 5.139639673482343e-12, -1.2891739609498229e-12),
    *(3.348419666052243e-13, -8.976705182010146e-14, 2.4771544242195988e-14),
    *(-7.0198370892147685e-15, 2.038703166239861e-15, -6.057047270643018e-16),
    *(1.8380935752430455e-16, -5.689462849193648e-17, 1.7940510478863572e-17),
)
# Ai(x) from -4 to 2, of (x + 1) / 3.
_AIRY_NEAR = (
    *(0.06078525685079726, 0.18996030881729123, -0.250924387032336),
    *(-0.09512014013503055, 0.20236324198370076, -0.06418728306305249),
    *(-0.026814703186039963, 0.024051904281273857, -0.00413259164974895),
    *(-0.0020196817905494225, 0.0011250768750654559, -0.00011697538709676606),
    *(-7.125499253060682e-05, 2.8167833107042442e-05, -1.7594742389691562e-06),
    *(-1.4587201524168717e-06, 4.388747958436033e-07, -1.4627095866197506e-08),
    *(-1.9495992841846798e-08, 4.660552774163884e-09, -5.106245117904234e-11),
    *(-1.8343326708789198e-10, 3.5857642041278925e-11, 2.658241327479573e-13),
    *(-1.2805447574198059e-12, 2.0885896604502407e-13, 4.8741837202287105e-15),
    *(-6.895080927885035e-15, 9.51965014570017e-16, 3.5978991422145034e-17),
    *(-2.9502705833721254e-17, 3.483989442459416e-18),
)
# Ai(x) exp(z) 2 sqrt(pi) x ** 0.25 from 2, of 2 * z(2) / z - 1, z = x ** 1.5 * 2 / 3.
_AIRY_RIGHT = (
    *(0.9844053049171552, -0.014792784850104199, 0.0007327177465426715),
    *(-6.12595423417825e-05, 6.83476697557269e-06, -9.237229735403982e-07),
    *(1.436225340438052e-07, -2.489319422322096e-08, 4.709793440054328e-09),
    *(-9.583863708112733e-10, 2.0745855483677591e-10, -4.737267332192277e-11),
    *(1.1336099808224236e-11, -2.827706782319351e-12, 7.320712095125598e-13),
    *(-1.9599793911089723e-13, 5.4101162570683925e-14, -1.5356466802223836e-14),
    *(4.472340393300025e-15, -1.3338094674756683e-15, 4.066582046456231e-16),
    *(-1.265583225645289e-16, 4.015126334015871e-17, -1.2969972135960937e-17),
)
# The waves' heights F and G z / z(4) from -4 to the left, of 2 * (z(4) / z) ** 2 - 1.
_AIRY_F = (
    *(0.9993708890742778, -0.0006216836584374116, 7.181193774368645e-06),
    *(-2.316269813501758e-07, 1.3216283888528755e-08, -1.0938736172758127e-09),
    *(1.1794620737908535e-10, -1.5518841909929856e-11, 2.386927411492466e-12),
    *(-4.16552889201035e-13, 8.071678110741467e-14, -1.708757321110567e-14),
    *(3.902945148540815e-15, -9.523976784907064e-16, 2.4632810885752603e-16),
    *(-6.709077463464858e-17, 1.913939683718707e-17),
)
_AIRY_G = (
    *(0.012904069793077502, -0.00011417159701561301, 2.47015331514187e-06),
    *(-1.1276384836703058e-07, 8.114132516809686e-09, -7.96449699929011e-10),
    *(9.810535081564676e-11, -1.438554557834067e-11, 2.4232142723810082e-12),
    *(-4.572243294578044e-13, 9.485713571010158e-14, -2.1334713360480614e-14),
    *(5.145258245310423e-15, -1.3189653961186086e-15, 3.5685214438497966e-16),
    *(-1.0130701015142451e-16, 3.003133317484731e-17, -9.257863950661513e-18),
    *(2.957519212083966e-18, -9.761492965947109e-19, 3.320022740137531e-19),
    -1.160938053896864e-19,
)


# -- of imaginary arguments ------------------------------------------------------------------------


def _scaled_bessel(small: Sequence[float], large: Sequence[float], *, odd: bool, x: Array) -> Array:
    size = x.abs()
    near = sum_chebyshev(small, size.minimum(8) * 0.25 - 1)
    outside = size.maximum(8)
    far = sum_chebyshev(large, 16 / outside - 1) / outside.sqrt()
    if odd:
        near, far = near * x, far * x.sign()
    return (size > 8).where(far, near)


def i0e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function of the first kind and order 0."""
    return _scaled_bessel(_I0_SMALL, _I0_LARGE, odd=False, x=x)


def i1e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function of the first kind and order 1."""
    return _scaled_bessel(_I1_SMALL, _I1_LARGE, odd=True, x=x)


def i0(x: Array) -> Array:
    """The modified Bessel function of the first kind and order 0; NaN at both infinities."""
    return _unscale(i0e(x), x)


def i1(x: Array) -> Array:
    """The modified Bessel function of the first kind and order 1; NaN at both infinities."""
    return _unscale(i1e(x), x)


def _unscale(found: Array, x: Array) -> Array:
    # In two factors: the function is finite where exp(x) is no longer.
    root = (x.abs() * 0.5).exp()
    return found * root * root


def k0e(x: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind and order 0; NaN below 0."""
    size = _at_most(x, 2)
    near = sum_chebyshev(_K0_SMALL, size * size * 0.5 - 1) - (size * 0.5).log() * i0(size)
    return _scaled_decay(near * size.exp(), _K0_LARGE, x)


def k1e(x: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind and order 1; NaN below 0."""
    size = _at_most(x, 2)
    series = sum_chebyshev(_K1_SMALL, size * size * 0.5 - 1) * size
    near = series + (size * 0.5).log() * i1(size) + 1 / size
    # 0 times the logarithm of 0.
    near = size.eq(0).where(math.inf, near)
    return _scaled_decay(near * size.exp(), _K1_LARGE, x)


def k0(x: Array) -> Array:
    """The modified Bessel function of the second kind and order 0; NaN below 0."""
    return k0e(x) * (-x.maximum(0)).exp()


def k1(x: Array) -> Array:
    """The modified Bessel function of the second kind and order 1; NaN below 0."""
    return k1e(x) * (-x.maximum(0)).exp()


def _scaled_decay(near: Array, large: Sequence[float], x: Array) -> Array:
    far_x = x.maximum(2)
    far = sum_chebyshev(large, 4 / far_x - 1) / far_x.sqrt()
    return _where_positive(x, (x > 2).where(far, near))


# -- of real arguments -----------------------------------------------------------------------------


def j0(x: Array) -> Array:
    """The Bessel function of the first kind and order 0."""
    size = x.abs()
    cosine, _ = _wave(0, size)
    return _beyond(size, cosine, sum_chebyshev(_J0_SMALL, _square(size)))


def j1(x: Array) -> Array:
    """The Bessel function of the first kind and order 1."""
    size = x.abs()
    cosine, _ = _wave(1, size)
    found = _beyond(size, cosine, sum_chebyshev(_J1_SMALL, _square(size)) * size)
    return found * x.sign()


def y0(x: Array) -> Array:
    """The Bessel function of the second kind and order 0; -infinity at 0, NaN below."""
    size = _at_most(x, 8)
    _, sine = _wave(0, x)
    logarithm = (size * 0.5).log() * (2 / math.pi)
    near = sum_chebyshev(_Y0_SMALL, _square(size)) + logarithm * j0(size)
    return _where_positive(x, _beyond(x, sine, near))


def y1(x: Array) -> Array:
    """The Bessel function of the second kind and order 1; -infinity at 0, NaN below."""
    size = _at_most(x, 8)
    _, sine = _wave(1, x)
    logarithm = (size * 0.5).log() * (2 / math.pi)
    series = sum_chebyshev(_Y1_SMALL, _square(size)) * size
    near = series + logarithm * j1(size) - (2 / math.pi) / size
    near = size.eq(0).where(-math.inf, near)
    return _where_positive(x, _beyond(x, sine, near))


def spherical_j0(x: Array) -> Array:
    """sin(x) / x; 1 at 0 and 0 at both infinities."""
    size = x.abs()
    finite = size.eq(math.inf).where(1, size)
    found = size.eq(0).where(1, finite.sin() / size.eq(0).where(1, size))
    return size.eq(math.inf).where(0, found)


def _square(x: Array) -> Array:
    """Where x, of at most 8, lies in a series of its square."""
    near = x.minimum(8)
    return near * near * (1 / 32) - 1


def _wave(order: int, x: Array) -> tuple[Array, Array]:
    """Bessel functions of both kinds beyond 8, of order 0 or 1; NaN at infinity, as its sine is."""
    far = x.maximum(8)
    inverse = 8 / far
    place = inverse * inverse * 2 - 1
    even, odd = ((_P0_LARGE, _Q0_LARGE), (_P1_LARGE, _Q1_LARGE))[order]
    p, q = sum_chebyshev(even, place), sum_chebyshev(odd, place) * inverse
    # Turned by an eighth, or three eighths, of a circle: x less that would lose digits.
    sine, cosine = far.sin(), far.cos()
    first, second = cosine + sine, sine - cosine
    if order:
        first, second = second, -first
    height = 1 / (far * math.pi).sqrt()
    return (p * first - q * second) * height, (p * second + q * first) * height


def _beyond(x: Array, far: Array, near: Array) -> Array:
    return (x > 8).where(far, near)


def _at_most(x: Array, limit: float) -> Array:
    """Of what is positive; others are not looked at."""
    return x.maximum(0).minimum(limit)


def _where_positive(x: Array, found: Array) -> Array:
    return (x < 0).where(math.nan, found)


def airy_ai(x: Array) -> Array:
    """Airy's function of the first kind; 0 at infinity, NaN at -infinity."""
    near = sum_chebyshev(_AIRY_NEAR, (x.maximum(-4).minimum(2) + 1) * (1 / 3))
    right = (x > 2).where(_airy_right(x.maximum(2)), near)
    return (x < -4).where(_airy_left((-x).maximum(4)), right)


def _airy_right(x: Array) -> Array:
    root = x.sqrt()
    power = x * root * (2 / 3)
    series = sum_chebyshev(_AIRY_RIGHT, (2 * 2**1.5 * 2 / 3) / power - 1)
    return series * (-power).exp() / (root.sqrt() * (2 * math.sqrt(math.pi)))


def _airy_left(x: Array) -> Array:
    root = x.sqrt()
    power = x * root * (2 / 3)
    inverse = (16 / 3) / power
    place = inverse * inverse * 2 - 1
    f, g = sum_chebyshev(_AIRY_F, place), sum_chebyshev(_AIRY_G, place) * inverse
    sine, cosine = power.sin(), power.cos()
    wave = f * (sine + cosine) - g * (cosine - sine)
    return wave / (root.sqrt() * math.sqrt(2 * math.pi))

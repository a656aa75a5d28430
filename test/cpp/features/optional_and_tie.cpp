// Values that may be missing
// `std::optional`, `std::nullopt`, `std::tie`, `std::ignore`; tuples of references, compared and joined.
std::optional<uint32_t> find(uint32_t page) {
    if (page > 3) { return std::nullopt; }
    return page * 2;
}
struct Sum { uint32_t v; Sum(uint32_t a, uint32_t b) : v(a + b) {} };
std::optional<Sum> make(bool b) { if (b) return Sum(1, 2); return std::nullopt; }
struct Living {
    int v;
    Living(int x) : v(x) { note(100 + v); }
    Living(const Living& o) : v(o.v) { note(200 + v); }
    Living(Living&& o) : v(o.v) { o.v = 0; note(300 + v); }
    Living& operator=(const Living& o) { v = o.v; note(400 + v); return *this; }
    Living& operator=(Living&& o) { v = o.v; note(500 + v); return *this; }
    ~Living() { note(600 + v); }
    bool operator==(const Living& o) const { return v == o.v; }
};
struct Constant { const int a; int b; };
std::optional<Living> make(int x) { if (x) return Living(x); return std::nullopt; }
void of_objects() {
    std::optional<Living> a; note(a.has_value()); a.emplace(3); note(a->v);
    { std::optional<Living> b = a; note(b->v); b = a; b.reset(); note(b.has_value()); b = a; }
    a = Living(7); Living z(9); a = z; note((*a).v); a = std::nullopt; note(bool(a));
    std::optional<Living> c(std::in_place, 5), d = std::move(c); note(d.value().v); d = std::move(c); note(c->v);
    auto e = make(0); note(e.has_value()); auto f = make(4); note(f->v); note(f.value_or(Living(2)).v);
    note(f == d); note(f != std::nullopt); f.emplace(11);
    std::optional<Living> both[2]; both[1] = Living(21);
    std::optional<Constant> g; g.emplace(Constant{3, 4}); note(g->a + g->b); std::optional<Constant> h = g; note(h->a);
    g.reset(); note(g.has_value()); g.emplace(Constant{8, 1}); note((*g).a);
}
std::optional<Living> converted(int x) { if (x == 1) return 12; Living l(13); return l; }
int value_of(std::optional<Living> a) { return a ? a->v : -1; }
void of_other_values() {
    std::optional<Living> a(26), b{27}; a = 28; b = std::nullopt; b = 29; a.swap(b); note(a->v); b.reset(); b.swap(a); note(a.has_value());
    Living z(30); const Living c(31); note(value_of(z)); note(value_of(c)); note(value_of(32)); note(z.v);
    std::optional<Living> d = z, e = c; d = c; note(value_of(converted(1))); note(value_of(converted(2)));
}
struct Moved { int a; Moved(int x) : a(x) {} Moved(const Moved& o) : a(o.a) { note(1); } Moved(Moved&& o) : a(o.a) { o.a = -1; note(2); }
    Moved& operator=(Moved&& o) { a = o.a; o.a = -2; note(3); return *this; } Moved& operator=(const Moved& o) { a = o.a; note(4); return *this; } };
void given_up() {
    std::optional<Moved> o(std::in_place, 5), p(std::in_place, 6), r;
    Moved a = *std::move(o); note(a.a); note(o->a); Moved b = std::move(p).value(); note(b.a); note(p->a); Moved c = *p; note(c.a);
    std::optional<Moved> q = std::move(p); note(q->a); Moved d(7); d = *std::move(q); note(d.a); note(q->a);
    r = Moved(8); note(r->a); Moved e = std::move(r).value_or(Moved(4)); note(e.a); note(r->a);
    std::pair<Moved, int> two(Moved(9), 3); int n; std::tie(d, n) = std::move(two); note(d.a); note(n); note(two.first.a); std::tie(e, n) = two; note(e.a);
}
struct Place { uint32_t x; uint32_t y; };
bool operator<(const Place& a, const Place& b) { return std::tie(a.x, a.y) < std::tie(b.x, b.y); }
template <typename T> struct Box { T value; Box(T given) : value(given) {} };
uint32_t raise(std::tuple<uint32_t&, uint32_t&&> both) { std::get<0>(both)++; return std::get<1>(both); }
void of_references() {
    Place p{1, 2}, q{1, 3}; note(p < q); note(q < p); uint32_t a = 3, b = 4; auto tied = std::tie(a, b); std::get<0>(tied) = 7;
    note(a); note(tied == std::tie(b, b)); note(raise(std::forward_as_tuple(a, 2u))); note(a); Box<uint32_t&> box(b); box.value = 9; note(b);
    std::tuple<uint32_t&, int> held{a, 3}; std::get<0>(held) = 5; note(a); auto place = std::ref(b); place.get() = 6; note(b + std::cref(b).get());
    auto all = std::tuple_cat(std::make_tuple(1, 2.5f), std::make_pair(3u, 4), std::make_tuple()); note(std::get<1>(all) * 2); note(std::get<3>(all)); note(std::tuple_size_v<decltype(all)>);
    std::tuple<int, int, float> low{1, 2, 3.5f}, high{1, 3, 0.5f}; note(low < high); note(low >= high); note(low != high); note(high > low); note(low == low); note(high <= low);
}
namespace assigned {
// Tuples are assigned and compared element by element, whatever they hold.
struct M{int v; M(int x=0):v(x){} M(const M&o):v(o.v){} M(M&&o):v(o.v){o.v=-1;} M&operator=(const M&o){v=o.v;return *this;} M&operator=(M&&o){v=o.v;o.v=-2;return *this;} };
void notes() {
    M a(1),b(2),c(3),d(4); std::tie(a,b)=std::tie(c,d); note(a.v); note(c.v); note(d.v);
 auto t=std::tie(a,b); auto u=std::tie(c,d); c.v=9; t=u; note(a.v); note(c.v); t=std::move(u); note(c.v);
 std::tuple<M,int> x(M(5),6); t=std::tie(d,c); std::tie(a,std::ignore)=x; note(a.v); note(std::get<0>(x).v); std::tie(a,std::ignore)=std::move(x); note(a.v); note(std::get<0>(x).v);
 std::tuple<long,float> w(1,2.0f); w=std::make_tuple(3,4); note(std::get<0>(w)); note(std::get<1>(w)); w={7,8.0f}; note(std::get<0>(w));
 std::tuple<int,int> v=std::make_tuple(short(3),uint8_t(4)); note(std::get<1>(v)); v=std::make_pair(1,2); note(std::get<0>(v)*10+std::get<1>(v));
 std::tuple<int,uint32_t> const cc(1,2); std::tuple<int,uint32_t> dd; dd=cc; note(dd==cc); note(std::get<1>(dd));
 note(dd==std::make_tuple(1L,2)); note(std::make_tuple(1,2.5f)<std::make_tuple(1,2.75));
}
}  // namespace assigned
void kernel_main() {
    of_objects();
    std::optional<Sum> p; note(p.has_value()); p.emplace(3, 4); note(p->v); p.reset(); note(bool(p)); p = Sum(5, 6); note((*p).v);
    note(make(true)->v); note(make(false).has_value()); note(make(false).value_or(Sum(7, 8)).v);
    std::optional<int> n; n.emplace(); note(*n); n.emplace(4); note(*n); n = 5; note(*n); n = std::nullopt; note(!n);
    std::optional<Sum> q(std::in_place, 9, 1); note(q->v); q = p; note(q->v); q = {}; note(q.has_value()); p = std::nullopt; if (auto x = make(true)) { note(x->v); }
    auto m = std::make_optional<Sum>(3, 4); note(m->v); std::optional o = 3; note(*o + 1); note(o == 3); note(o < 4); note(o >= 4); note(o != n); note(n < o); auto s = o; note(s.value()); std::swap(s, n); note(s.has_value()); note(*n);
    std::optional<float> part = 2.5f; note(o > part); note(o == part); note(2.5 == part); note(3 > part); note(part <= 2); note(std::nullopt == part); note(std::optional<int>() < part); note(std::optional<int>() >= 5);
    const auto found = find(3), missing = find(4);
    note(*found); note(missing.has_value()); note(missing.value_or(7)); note(found != std::nullopt);
    uint32_t low, high;
    std::tie(low, high) = std::make_pair(5u, 6u);
    std::tie(high, std::ignore) = std::make_tuple(low + 1, 2);
    note(low * 10 + high);
    auto some = low > 2 ? std::optional<uint32_t>(low) : std::nullopt;
    auto none = low < 2 ? std::optional<uint32_t>(low) : std::nullopt;
    note(*some); note(none.has_value());
    of_other_values();
    given_up();
    of_references();
    assigned::notes();
}

// Objects in places
// Made by `new (place) T`, ended by `place->~T()`; unions with an object; objects of classes in L1.
struct Sum {
    uint32_t a, b;
    Sum(uint32_t x) : a(x), b(x + 1) {}
    Sum() : a(5), b(6) {}
    uint32_t total() const { return a + b; }
};
struct Ending { int k; Ending(int x) : k(x) {} ~Ending() { note(k); } };
struct Constant { const int a; int b = 2; };
union Place { Ending value; Place() {} ~Place() {} };
struct Holder {
    Holder() {}
    ~Holder() { if (is_set) inside.~Ending(); }
    union { Ending inside; };
    bool is_set = false;
};
struct Point { int x; uint16_t y; Point(int a, int b) : x(a), y(b) {} int sum() const { return x + y; } ~Point() { note(x); } };
struct Row { alignas(Point) unsigned char bytes[3 * sizeof(Point)]; int count = 0;
    Point& at(int i) { return reinterpret_cast<Point*>(bytes)[i]; }
    void add(int x) { new (bytes + count * sizeof(Point)) Point(x, count); ++count; }
    ~Row() { while (count) at(--count).~Point(); } };
struct Both { int a, b; };
void in_bytes() {
    Row row; row.add(5); row.add(6); row.add(7); note(row.at(1).sum()); row.at(2).y = 40; note(row.at(2).sum());
    alignas(4) uint8_t bytes[2 * sizeof(Both)]; Both* first = new (bytes) Both{1, 2}; new (bytes + sizeof(Both)) Both{5, 6};
    Both* all = reinterpret_cast<Both*>(bytes); note(all[1].b); note(all->a + first->b); all[0] = all[1]; note(first->a); note(all == first);
    alignas(4) char word[4]; int* i = new (word) int(77); note(*i); *i = 78; note(*reinterpret_cast<int*>(word)); note(word[0]);
}
namespace stored {
// Objects in `std::aligned_storage_t`.
struct P{ uint32_t x; int8_t y; P(uint32_t a,int8_t b):x(a),y(b){} uint32_t sum() const { return x+y; } };
template<class T> class Lazy{ std::aligned_storage_t<sizeof(T),alignof(T)> s; bool on=false; public: template<class...A> void make(A...a){ new(&s) T(a...); on=true; } T& get(){ return *reinterpret_cast<T*>(&s); } bool has() const {return on;} };
void notes() {
    Lazy<P> l; note(l.has()); l.make(7u,int8_t(-2)); note(l.get().sum()); l.get().x=20; note(l.get().sum()); note(sizeof(std::aligned_storage_t<6,2>)); note(alignof(std::aligned_storage_t<6,4>)); note(sizeof(std::aligned_storage<5,4>::type)); }
}  // namespace stored
void kernel_main() {
    Sum s(1); Sum* p = new (&s) Sum(7); note(p->total()); note(s.a); p = ::new (&s) Sum; note(s.total());
    int x = 3; int* q = new (&x) int(9); note(x); *q = 4; note(x); new (&x) int{11}; note(x); new (&x) int(); note(x);
    { Ending d(4); d.~Ending(); new (&d) Ending(8); Ending* e = &d; e->~Ending(); new (e) Ending(12); }
    Constant c{1}; new (&c) Constant{5}; note(c.a); note(c.b);
    Sum both[2] = {Sum(1), Sum(2)}; new (&both[1]) Sum(40); note(both[1].b); note(both[0].b); new (both) Sum(50); note(both[0].a);
    Place place; new (&place.value) Ending(14); note(place.value.k); place.value.~Ending();
    Holder holder, empty; new (&holder.inside) Ending(19); holder.is_set = true; note(holder.inside.k); note(empty.is_set);
    in_bytes();
    stored::notes();
}

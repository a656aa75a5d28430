// Classes
// Members, constructors with initial values, const member functions, operators and conversions.
class Counter {
  public:
    explicit Counter(uint32_t start, uint32_t step = 3) : value(start), step_(step) {}
    uint32_t next() { return value += step_; }
    uint32_t get() const { return value; }
    Counter& operator+=(uint32_t n) { value += n; return *this; }
    operator bool() const { return value > 10; }

  private:
    uint32_t value;
    uint32_t step_;
};
struct Kept {
    int v = 3;
    int get() & { return v + 1; }
    int get() && { return v + 2; }
    int get() const & { return v + 3; }
    int get() const && { return v + 4; }
    Kept& self() & { return *this; }
    Kept&& self() && { return static_cast<Kept&&>(*this); }
    Kept& operator=(const Kept& o) & { v = o.v; return *this; }
};
Kept make_kept() { return Kept{10}; }
template <typename T> int call_on(T&& t) { return std::forward<T>(t).get(); }
struct Once { int x; int take() && { return x; } int take() const& { return -x; } };
void of_places_and_values() {
    Kept a; const Kept c{20};
    note(a.get()); note(make_kept().get()); note(c.get()); note(std::move(c).get()); note(std::move(a).get());
    note(call_on(a)); note(call_on(Kept{5})); note(call_on(c)); note(a.self().get()); note(std::move(a).self().get());
    Kept b; b = a; note(b.v); Once o{4}; note(o.take()); note(Once{5}.take()); note(std::move(o).take());
}
void kernel_main() {
    Counter counter(5);
    note(counter.next());
    counter += 7;
    note(counter.get());
    if (counter) { note(1); }
    of_places_and_values();
}

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
void kernel_main() {
    Counter counter(5);
    note(counter.next());
    counter += 7;
    note(counter.get());
    if (counter) { note(1); }
}

// Operators
// Of classes: arithmetic, comparison, `&&`, `||`, `!`, assignment to what a call gives, `[]`, `()`, `->`, `*`, `++`, conversions; members and friends.
struct Vector {
    uint32_t x, y;
    Vector operator+(const Vector& other) const { return {x + other.x, y + other.y}; }
    bool operator==(const Vector& other) const { return x == other.x && y == other.y; }
    uint32_t operator[](uint32_t i) const { return i ? y : x; }
    Vector& operator++() { ++x; return *this; }
    Vector operator++(int) { Vector old = *this; ++x; return old; }
    uint32_t operator()(uint32_t a, uint32_t b) const { return a * x + b * y; }
    friend Vector operator*(const Vector& a, uint32_t n) { return {a.x * n, a.y * n}; }
};
Vector operator-(const Vector& a, const Vector& b) { return {a.x - b.x, a.y - b.y}; }
struct Handle { Vector* target; Vector* operator->() { return target; } Vector& operator*() { return *target; } };
struct Truth {
    uint32_t bits;
    Truth operator&&(const Truth& other) const { return {bits & other.bits}; }
    Truth operator||(const Truth& other) const { return {bits | other.bits}; }
    Truth operator!() const { return {~bits & 15}; }
};
struct Place {
    uint32_t* element;
    void operator=(uint32_t value) const { *element = value; }
    void operator+=(uint32_t value) const { *element += value; }
};
struct Places { uint32_t values[4]; Place operator[](uint32_t i) { return Place{&values[i]}; } };
struct Plain {}; int operator,(Plain, int x) { return 10 * x; }
struct Chained { int m = 1; Chained& operator+=(int v) { m += v; return *this; } Chained& operator++() { ++m; return *this; } };
struct Float { float v; operator float() const { return v; } }; struct Short { short v; operator short() const { return v; } };
void convert() {
    Float f{2.5f}; Short s{-3}; int n = 16777217, k = 1; k += f; note(k); note(int(-f * 2)); note(int((n - n + f) * 2)); note(Float{16777216.f} == n); note(f > 2);
    note(s * 2.5f == -7.5f); note(s < 1u); note(~s); note(sizeof(-s)); note(7 % s);
}
void kernel_main() {
    convert();
    Chained chained; (chained += 1) += 2; ++ ++chained; note(chained.m);
    Vector a{1, 2}, b{3, 5};
    note((a + b)[1]); note((b - a).x); note((a * 4).y); note(a == Vector{1, 2}); note(b(10, 1));
    ++a; note(a++.x); note(a.x);
    Truth left{12}, right{10};
    note((left && !right).bits); note((left || (right && Truth{3})).bits);
    Places places{}; places[2] = 7; places[2] += 4; places[3] = 1; note(places.values[2] * 10 + places.values[3]);
    Handle handle{&b}; handle->x = 9; (*handle).y += 1; note(b.x * 100 + b.y);
    note((Plain{}, 4));
}

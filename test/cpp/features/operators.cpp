// Operators
// Of classes: arithmetic, comparison, `[]`, `()`, `->`, `*`, `++`, conversions; members and friends.
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
void kernel_main() {
    Vector a{1, 2}, b{3, 5};
    note((a + b)[1]); note((b - a).x); note((a * 4).y); note(a == Vector{1, 2}); note(b(10, 1));
    ++a; note(a++.x); note(a.x);
    Handle handle{&b}; handle->x = 9; (*handle).y += 1; note(b.x * 100 + b.y);
}

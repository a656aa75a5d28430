struct Node { int value; void* next; int list[3]; };
struct Pair { int* first; float* second; };
static int counter = 1;

int* pick(int* a, int* b, bool second) { return second ? b : a; }
int* find(int* from, int count, int wanted) {
    for (int i = 0; i < count; i++) { if (from[i] == wanted) return from + i; }
    return nullptr;
}
int length(const Node* node) { int n = 0; while (node != nullptr) { n++; node = (const Node*)node->next; } return n; }
void set(int** where, int* what) { *where = what; }
void grow(int& x, int by) { int* p = &x; *p += by; }
void twice(Node& node) { grow(node.value, node.value); grow(node.list[1], 2); }
int* count() { return &counter; }
template <typename T> T* after(T* p) { return p + 1; }
template <typename T> void exchange(T& a, T& b) { T t = a; a = b; b = t; }

void kernel_main() {
    int a[5] = {10, 20, 30, 40, 50};
    int x = 7, y = 8;
    int* p = nullptr;
    for (int i = 0; i < 5; i++) { if (i == 3) p = a + 1; if (p) { note(*p + i); p[1] += 1; } }
    note(a[2]); note(p == nullptr); note(p != a); note(p - a);
    p = &x; *p = 9; note(x); note(*p++ + 1); p = a; note(*p++); note(*++p); note(*p--); note(p[0] + p[-1]);
    for (p = a; p < a + 5; ++p) note(*p);
    note(*(p - 1)); note(p == a + 5); note(p >= a); note((a + 4) - p);
    note(*pick(&x, &y, false)); note(*pick(&x, &y, true)); *pick(&x, &y, true) = 3; note(y);
    int* hit = find(a, 5, 40); note(hit != nullptr ? (int)(hit - a) : -1); note(find(a, 5, 99) == nullptr);
    Node last = {3, nullptr, {1, 2, 3}}; Node middle = {2, &last}; Node first = {1, &middle, {4}};
    note(length(&first)); Node* second = (Node*)first.next; note(((Node*)second->next)->value); ((Node*)second->next)->list[2] = 11; note(last.list[2]);
    Node* walk = &first; int sum = 0; while (walk) { sum = sum * 10 + walk->value; walk = (Node*)walk->next; } note(sum);
    middle.next = nullptr; note(length(&first)); twice(first); note(first.value); note(first.list[1]);
    twice(*second); note(middle.value); note((*second).list[1]);
    int** pp = &p; *pp = &y; note(*p); **pp = 44; note(y); set(&p, a + 3); note(*p); set(pp, &x); note(*p);
    *count() = 5; ++*count(); note(counter); note(*after(a)); note(after(after(a)) - a);
    Pair pair = {&x, nullptr}; float f = 1.5f; pair.second = &f; *pair.second *= 3; *pair.first += 1;
    note((int)(f * 2)); note(x); Pair copy = pair; *copy.first += 1; note(x); note(copy.second == &f);
    int* table[3] = {&x, &y, a + 2}; for (int i = 0; i < 3; i++) *table[i] += i; note(x); note(y); note(a[2]);
    int** row = table; row++; note(**row); note(*row[1]); note(row[1][1]);
    int g[2][3] = {{1, 2, 3}, {4, 5, 6}}; int* flat = g[1]; flat[2] = 60; note(g[1][2]); note(*(g[0] + 1));
    Node nodes[3] = {}; Node* end = nodes + 3; int n = 1; for (Node* each = nodes; each != end; each++) each->value = n++;
    note(nodes[0].value + nodes[1].value * 10 + nodes[2].value * 100); Node* mid = &nodes[1]; note((mid + 1)->value); note(mid[-1].value);
    exchange(x, y); note(x); exchange(nodes[0], nodes[2]); note(nodes[0].value); exchange(*a, a[4]); note(a[0] - a[4]);
    int& ref = *find(a, 5, a[3]); ref = 1000; note(a[3]); int& inner = mid->list[2]; inner = 6; note(nodes[1].list[2]);
    const void* any = &f; note(*(const float*)any == f); void* some = a; int* back = (int*)some; note(back[1]);
    bool which = x > 0; int* either = which ? nullptr : &x; if (!either) either = &y; *either -= 1; note(y);
    (*either)++; note(y); --*either; note(y--); note(*either);
}

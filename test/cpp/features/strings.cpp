// Text
// String literals where calls take them: in assertions, in printing, as names of arguments; `sizeof` and elements; what arrays start with.
static_assert(sizeof(uint32_t) == 4, "words have four bytes");
template <typename T> constexpr bool fits() { static_assert(sizeof(T) <= 8, "at most a word pair"); return true; }
void of_characters() { note(sizeof("abc")); note("abc"[1]); note(sizeof("")); note("a\xff\0z"[1]); note(sizeof("a\xff\0z")); for (int i = 0; i < 3; ++i) { note("xyz"[i]); } }
namespace viewed {
// Pointers to the characters of literals, in tables and views.
template<class T> class Span{ T* p; size_t n; public: constexpr Span(T* p,size_t n):p(p),n(n){} template<size_t N> constexpr Span(T(&a)[N]):p(a),n(N){} template<size_t N> constexpr Span(std::array<std::remove_const_t<T>,N>& a):p(a.data()),n(N){} constexpr T* begin() const {return p;} constexpr T* end() const {return p+n;} constexpr T& operator[](size_t i) const {return p[i];} constexpr size_t size() const {return n;} constexpr Span subspan(size_t o,size_t c=size_t(-1)) const { return {p+o,c==size_t(-1)?n-o:c}; } constexpr Span first(size_t c) const { return {p,c}; } };
template<class T,size_t N> Span(T(&)[N])->Span<T>; template<class T,size_t N> Span(std::array<T,N>&)->Span<T>;
uint32_t sum(Span<const uint32_t> s){ uint32_t t=0; for(auto x:s) t+=x; return t; } void scale(Span<uint32_t> s,uint32_t k){ for(auto& x:s) x*=k; }
class View{ const char* p; size_t n; public: constexpr View(const char* s):p(s),n(0){ while(s[n]) ++n; } constexpr size_t size() const {return n;} constexpr char operator[](size_t i) const {return p[i];} constexpr bool operator==(View o) const { if(n!=o.n) return false; for(size_t i=0;i<n;i++) if(p[i]!=o.p[i]) return false; return true; } };
constexpr uint32_t hash(View v){ uint32_t h=2166136261u; for(size_t i=0;i<v.size();++i) h=(h^uint8_t(v[i]))*16777619u; return h; } bool same(){ return View("ab")==View("ab"); }
void notes() {
    uint32_t a[5]={1,2,3,4,5}; Span s{a}; note(sum({a,5})); scale(s.subspan(1,3),10); note(a[3]); note(s.subspan(2).size()); note(s.first(2)[1]); std::array<uint32_t,3> b{7,8,9}; Span t{b}; t[1]=80; note(b[1]); note(sum(Span<const uint32_t>(b.data(),2))); note(hash("kernel")); note(hash("b")); constexpr View names[]={"x","yy","zzz"}; for(auto& v:names) note(v.size()); }
}  // namespace viewed
namespace spelled {
char text[] = "abc"; struct T { char name[4] = "xy"; uint8_t n = 3; }; constexpr char known[] = "key";
template <size_t N> constexpr size_t length(const char (&)[N]) { return N; }
void notes() {
    char b[] = "abc"; b[1] = 'x'; note(b[1]); note(sizeof b); char c[6] = "de"; note(c[1]); note(c[5]); const uint8_t u[] = "q\n"; note(u[1]); note(sizeof(u)); text[0] = 'z'; note(text[0] + text[3]);
    T t; note(t.name[1]); note(t.name[3]); T s{"ab", 5}; note(s.name[1]); note(s.n); char rows[2][3] = {"ab", "c"}; note(rows[1][0]); note(rows[0][2]); static_assert(known[1] == 'e'); note(length(known));
}
}
void kernel_main() {
    spelled::notes();
    if (fits<uint64_t>()) { note('x'); note('\n'); note('\\'); note('\0'); }
    of_characters();
    viewed::notes();
}

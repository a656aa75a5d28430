// Floating-point numbers
// `float` in single precision on every processor, `double`, conversions, constants, also hexadecimal.
constexpr float kScale = 1.0f / 3;
float mean(const float* values, uint32_t count) {
    float sum = 0;
    for (uint32_t i = 0; i < count; ++i) { sum += values[i]; }
    return sum / count;
}
void kernel_main() {
    const float values[] = {1.5f, -0.25f, 16777216.0f, 1.0f};
    note(mean(values, 4)); note(mean(values, 2) * 1000); note(kScale * 1e9f); note((int)(-kScale * 100));
    double wide = kScale; note(wide * 1e12); note(values[2] + 1 == values[2]); note(-1.5f < 0u);
    const float zero = 0.0f; note(1 / zero > 1e30f); note(zero / zero != zero / zero); note((bool)0.5f);
    note(0x1.8p3f * 10); note(-0X.C'4p-1 * 1000); note(0x1p2000 > 1e308);
}

// Texts with replacement fields as in the library {fmt}, assertions and log lines.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "connection.hpp"

namespace fmt {
namespace internal {

/// What follows the colon of a replacement field.
struct Spec {
    char fill = ' ', align = 0, sign = '-', type = 0;
    bool alternate = false, zero = false;
    int width = 0, precision = -1;
};

inline Spec parse_spec(std::string_view text) {
    Spec spec;
    size_t i = 0;
    const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^'; };
    const auto number = [&] {
        int made = 0;
        for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; i++) {
            made = made < 10000 ? made * 10 + (text[i] - '0') : made;
        }
        return made;
    };
    if (text.size() > 1 && is_align(text[1])) {
        spec.fill = text[0];
        spec.align = text[1];
        i = 2;
    } else if (!text.empty() && is_align(text[0])) {
        spec.align = text[i++];
    }
    if (i < text.size() && (text[i] == '+' || text[i] == '-' || text[i] == ' ')) {
        spec.sign = text[i++];
    }
    if (i < text.size() && text[i] == '#') {
        spec.alternate = ++i > 0;
    }
    if (i < text.size() && text[i] == '0') {
        spec.zero = ++i > 0;
    }
    spec.width = number();
    if (i < text.size() && text[i] == '.') {
        i++;
        spec.precision = number();
    }
    if (i < text.size()) {
        spec.type = text[i++];
    }
    if (i < text.size()) {
        throw std::runtime_error("unknown format '" + std::string(text) + "'");
    }
    return spec;
}

inline std::string pad(std::string text, const Spec& spec, char usual) {
    const size_t width = static_cast<size_t>(spec.width);
    if (text.size() >= width) {
        return text;
    }
    const size_t missing = width - text.size();
    if (spec.zero && spec.align == 0 && usual == '>') {
        const size_t signs = !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ');
        return text.insert(signs, missing, '0');
    }
    const char align = spec.align ? spec.align : usual;
    const size_t left = align == '>' ? missing : align == '^' ? missing / 2 : 0;
    return std::string(left, spec.fill) + text + std::string(missing - left, spec.fill);
}

inline std::string signed_text(bool negative, std::string digits, const Spec& spec) {
    if (negative) {
        return "-" + digits;
    }
    return spec.sign == '-' ? digits : spec.sign + digits;
}

inline std::string write_integer(bool negative, uint64_t magnitude, const Spec& spec) {
    if (spec.type == 'c') {
        return pad(std::string(1, static_cast<char>(magnitude)), spec, '<');
    }
    const char type = spec.type ? spec.type : 'd';
    const int base = type == 'x' || type == 'X' ? 16 : type == 'b' ? 2 : type == 'o' ? 8 : 10;
    char digits[65];
    const auto end = std::to_chars(digits, digits + sizeof digits, magnitude, base).ptr;
    std::string text(digits, end);
    if (type == 'X') {
        for (char& each : text) {
            each = each >= 'a' && each <= 'f' ? static_cast<char>(each - 'a' + 'A') : each;
        }
    }
    if (spec.alternate && base != 10) {
        text = (base == 8 ? "0" : std::string("0") + type) + text;
    }
    return pad(signed_text(negative, text, spec), spec, '>');
}

template <typename T>
std::string write_real(T value, const Spec& spec) {
    char text[512];
    char* end;
    const bool negative = std::signbit(value);
    const T magnitude = negative ? -value : value;
    if (!spec.type && spec.precision < 0) {
        end = std::to_chars(text, text + sizeof text, magnitude).ptr;
    } else {
        char form[] = {'%', '.', '*', spec.type ? spec.type : 'g', 0};
        const int precision = spec.precision < 0 ? 6 : spec.precision;
        const int size = std::snprintf(
            text, sizeof text, form, precision, static_cast<double>(magnitude));
        end = text + std::min<int>(size, sizeof text - 1);
    }
    return pad(signed_text(negative, std::string(text, end), spec), spec, '>');
}

template <typename T>
std::string write(const T& value, const Spec& spec) {
    if constexpr (std::is_same_v<T, bool>) {
        return spec.type && spec.type != 's' ? write_integer(false, value, spec)
                                             : pad(value ? "true" : "false", spec, '<');
    } else if constexpr (std::is_same_v<T, char>) {
        return spec.type && spec.type != 'c' ? write_integer(value < 0, value, spec)
                                             : pad(std::string(1, value), spec, '<');
    } else if constexpr (std::is_integral_v<T>) {
        const bool negative = value < 0;
        const uint64_t bits = static_cast<uint64_t>(value);
        return write_integer(negative, negative ? 0 - bits : bits, spec);
    } else if constexpr (std::is_floating_point_v<T>) {
        return write_real(value, spec);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
        const std::string_view text = value;
        const bool cut = spec.precision >= 0;
        return pad(std::string(cut ? text.substr(0, spec.precision) : text), spec, '<');
    } else if constexpr (requires(std::ostream& out) { out << value; }) {
        std::ostringstream out;
        out << value;
        return pad(out.str(), spec, '<');
    } else if constexpr (std::is_enum_v<T>) {
        return write(static_cast<std::underlying_type_t<T>>(value), spec);
    } else {
        std::string text = "[";
        for (const auto& each : value) {
            text += (text.size() > 1 ? ", " : "") + write(each, spec);
        }
        return text + "]";
    }
}

/// An argument without its type.
struct Argument {
    const void* value;
    std::string (*write)(const void*, const Spec&);
};

template <typename T>
Argument erase(const T& value) {
    return {&value, [](const void* at, const Spec& spec) {
                return write(*static_cast<const T*>(at), spec);
            }};
}

inline std::string vformat(std::string_view text, std::initializer_list<Argument> arguments) {
    std::string made;
    size_t next = 0;
    for (size_t i = 0; i < text.size(); i++) {
        const bool doubled = i + 1 < text.size() && text[i + 1] == text[i];
        if ((text[i] == '{' || text[i] == '}') && doubled) {
            made += text[i++];
        } else if (text[i] == '{') {
            const size_t end = text.find('}', i);
            if (end == std::string_view::npos) {
                throw std::runtime_error("a '{' of a format has no '}': " + std::string(text));
            }
            std::string_view field = text.substr(i + 1, end - i - 1);
            size_t index = 0, digits = 0;
            while (digits < field.size() && field[digits] >= '0' && field[digits] <= '9') {
                index = index < 1000 ? index * 10 + (field[digits] - '0') : index;
                digits++;
            }
            index = digits ? index : next++;
            field.remove_prefix(digits);
            if (index >= arguments.size()) {
                throw std::runtime_error(
                    "a format has more fields than arguments: " + std::string(text));
            }
            const Argument& argument = arguments.begin()[index];
            const bool has_spec = !field.empty() && field[0] == ':';
            made += argument.write(argument.value, parse_spec(has_spec ? field.substr(1) : field));
            i = end;
        } else {
            made += text[i];
        }
    }
    return made;
}

}  // namespace internal

template <typename... T>
std::string format(std::string_view text, const T&... arguments) {
    if constexpr (sizeof...(T) == 0) {
        return internal::vformat(text, {});
    } else {
        return internal::vformat(text, {internal::erase(arguments)...});
    }
}

template <typename... T>
void print(std::FILE* file, std::string_view text, const T&... arguments) {
    const std::string made = format(text, arguments...);
    std::cout.flush();
    std::fwrite(made.data(), 1, made.size(), file);
}
template <typename... T>
void print(std::string_view text, const T&... arguments) {
    print(stdout, text, arguments...);
}
template <typename... T>
void println(std::string_view text, const T&... arguments) {
    print(stdout, std::string(text) + "\n", arguments...);
}

}  // namespace fmt

namespace ttmlir_host {

template <typename... T>
std::string message_of(const T&... parts) {
    if constexpr (sizeof...(T) == 0) {
        return "";
    } else {
        return ": " + fmt::format(parts...);
    }
}

template <typename... T>
[[noreturn]] void fail(Where where, const char* what, const T&... parts) {
    throw HostError(located(where, what + message_of(parts...)));
}

}  // namespace ttmlir_host

namespace tt {
enum LogType : uint32_t {
    LogAlways, LogTest, LogTestInfo, LogDevice, LogLLRuntime, LogLoader, LogBuildKernels, LogMetal,
    LogMetalTrace, LogVerif, LogOp, LogFabric, LogDistributed, LogInspector
};
inline std::ostream& operator<<(std::ostream& out, LogType type) {
    static const char* const names[] = {
        "Always", "Test", "TestInfo", "Device", "LLRuntime", "Loader", "BuildKernels", "Metal",
        "MetalTrace", "Verif", "Op", "Fabric", "Distributed", "Inspector"};
    return out << names[type];
}
}  // namespace tt

#define TTMLIR_HOST_CHECK(name, condition, ...)                                        \
    do {                                                                               \
        if (!(condition)) [[unlikely]] {                                               \
            ttmlir_host::fail(                                                         \
                ttmlir_host::Where::here(), name __VA_OPT__(, ) __VA_ARGS__);          \
        }                                                                              \
    } while (false)
#define TT_FATAL(condition, ...) \
    TTMLIR_HOST_CHECK("TT_FATAL(" #condition ")", condition __VA_OPT__(, ) __VA_ARGS__)
#define TT_ASSERT(condition, ...) \
    TTMLIR_HOST_CHECK("TT_ASSERT(" #condition ")", condition __VA_OPT__(, ) __VA_ARGS__)
#define TT_THROW(...) ttmlir_host::fail(ttmlir_host::Where::here(), "TT_THROW", __VA_ARGS__)

namespace tt {

template <typename... T>
void write_log(const char* level, LogType type, std::string_view text, const T&... arguments) {
    fmt::print("{} | {} | {}\n", level, type, fmt::format(text, arguments...));
}
template <typename... T>
void write_log(const char* level, std::string_view text, const T&... arguments) {
    write_log(level, LogAlways, text, arguments...);
}
/// Each takes a LogType, which may be left out, a format and its arguments.
template <typename... T>
void log_info(const T&... parts) {
    write_log("info", parts...);
}
template <typename... T>
void log_warning(const T&... parts) {
    write_log("warning", parts...);
}
template <typename... T>
void log_error(const T&... parts) {
    write_log("error", parts...);
}
template <typename... T>
void log_fatal(const T&... parts) {
    write_log("critical", parts...);
}
template <typename... T>
void log_debug(const T&...) {}
template <typename... T>
void log_trace(const T&...) {}

}  // namespace tt

using tt::log_debug;
using tt::log_error;
using tt::log_fatal;
using tt::log_info;
using tt::log_trace;
using tt::log_warning;

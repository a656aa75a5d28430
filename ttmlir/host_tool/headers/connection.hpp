// How a host program speaks to the simulator: each call of the host API is a frame over a socket,
// with the place of the call, and a frame comes back with its result.
//
// A value is a letter for its kind and its bytes, little-endian as memory; ttmlir/host_tool/wire.py
// has the same list.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace ttmlir_host {

/// The line of the host program that makes a call, as the default of a last parameter.
struct Where {
    const char* file;
    int line;
    static constexpr Where here(
        const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

inline std::string located(Where where, std::string_view text) {
    return std::string(where.file) + ":" + std::to_string(where.line) + ": error: " +
           std::string(text);
}

/// A call that cannot be meant, or a kernel that went wrong; the text begins with a place.
struct HostError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// An object of the simulator, known here by its number.
struct Reference {
    uint32_t number;
};

/// Bytes of the program's own memory.
struct Bytes {
    const void* data;
    uint64_t size;
};

/// The arguments of a call.
class Message {
public:
    explicit Message(Where where) : where_(where) {}
    /// The line that makes the call.
    Where where() const { return where_; }
    void put(bool value) { (bytes_ += 'b') += static_cast<char>(value); }
    template <typename T>
        requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
    void put(T value) {
        if constexpr (std::is_signed_v<T>) {
            bytes_ += 'i';
            raw(static_cast<int64_t>(value));
        } else {
            bytes_ += 'u';
            raw(static_cast<uint64_t>(value));
        }
    }
    template <typename T>
        requires std::is_enum_v<T>
    void put(T value) {
        bytes_ += 'e';
        text(name_of(value));
        raw(static_cast<int64_t>(value));
    }
    void put(double value) {
        bytes_ += 'd';
        raw(value);
    }
    void put(float value) { put(static_cast<double>(value)); }
    void put(std::string_view value) {
        bytes_ += 's';
        text(value);
    }
    void put(const std::string& value) { put(std::string_view(value)); }
    void put(const char* value) { put(std::string_view(value)); }
    void put(std::nullopt_t) { bytes_ += 'n'; }
    void put(Reference value) {
        bytes_ += 'o';
        raw(value.number);
    }
    void put(Bytes value) {
        bytes_ += 'y';
        raw(value.size);
        bytes_.append(static_cast<const char*>(value.data), value.size);
    }
    template <typename T>
    void put(const std::optional<T>& value) {
        value ? put(*value) : put(std::nullopt);
    }
    template <typename... T>
    void put(const std::variant<T...>& value) {
        std::visit([this](const auto& each) { put(each); }, value);
    }
    template <typename T>
    void put(std::span<T> values) {
        list(values.size());
        for (const auto& each : values) {
            put(each);
        }
    }
    template <typename T>
    void put(const std::vector<T>& values) {
        put(std::span<const T>(values));
    }
    template <typename K, typename V>
    void put(const std::map<K, V>& values) {
        put_map(values);
    }
    template <typename K, typename V>
    void put(const std::unordered_map<K, V>& values) {
        put_map(values);
    }
    /// A class of ours says itself what it is made of.
    template <typename T>
        requires requires(const T& value, Message& message) { value.encode(message); }
    void put(const T& value) {
        value.encode(*this);
    }
    void list(size_t count) {
        bytes_ += 'l';
        raw(static_cast<uint32_t>(count));
    }
    /// An object that is made from fields, which follow: each `field` has a name, or none.
    void record(std::string_view name, uint32_t fields) {
        bytes_ += 'r';
        text(name);
        raw(fields);
    }
    template <typename T>
    void field(std::string_view name, const T& value) {
        text(name);
        put(value);
    }
    template <typename T>
    void raw(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(std::string_view value) {
        raw(static_cast<uint32_t>(value.size()));
        bytes_ += value;
    }
    const std::string& bytes() const { return bytes_; }

private:
    template <typename M>
    void put_map(const M& values) {
        bytes_ += 'm';
        raw(static_cast<uint32_t>(values.size()));
        for (const auto& [key, value] : values) {
            put(key);
            put(value);
        }
    }
    std::string bytes_;
    Where where_;
};

/// What a call returns.
struct Value {
    Value() = default;
    int64_t number = 0;
    double real = 0;
    std::string text;
    std::vector<Value> items;

    Reference reference() const { return {static_cast<uint32_t>(number)}; }
    template <typename T>
    std::vector<T> numbers() const {
        std::vector<T> made;
        for (const Value& each : items) {
            made.push_back(static_cast<T>(each.number));
        }
        return made;
    }
    /// The bytes of a buffer or a vector as elements of a type.
    template <typename T>
    std::vector<T> elements() const {
        std::vector<T> made(text.size() / sizeof(T));
        std::memcpy(static_cast<void*>(made.data()), text.data(), made.size() * sizeof(T));
        return made;
    }
};

/// The socket to the simulator; there is one in a process.
class Connection {
public:
    static Connection& get() {
        static Connection* const only = new Connection;  // Outlives objects that are static.
        return *only;
    }
    /// The line of the last call.
    static Where last() { return last_; }

    Value call(const char* name, uint32_t count, const Message& arguments) {
        const std::lock_guard<std::mutex> alone(mutex_);
        send(name, count, arguments);
        std::string reply(static_cast<size_t>(receive_number<uint64_t>()), '\0');
        receive(reply.data(), reply.size());
        Reader reader{reply};
        const bool failed = reader.take<uint8_t>() != 0;
        Value value = reader.value();
        for (uint32_t left = reader.take<uint32_t>(); left > 0; left--) {
            const auto number = reader.take<uint32_t>();
            const std::string_view data = reader.bytes(reader.take<uint64_t>());
            const auto found = reads_.find(number);
            if (found != reads_.end()) {
                std::memcpy(found->second, data.data(), data.size());
                reads_.erase(found);
            }
        }
        if (failed) {
            throw HostError(value.text);
        }
        return value;
    }
    /// Tell where the bytes of a read go that is not finished yet.
    void expect(uint32_t read, void* target) {
        const std::lock_guard<std::mutex> alone(mutex_);
        reads_[read] = target;
    }
    /// Give an object back; no reply is waited for.
    void release(Reference object) noexcept {
        if (socket_ < 0) {
            return;
        }
        try {
            const std::lock_guard<std::mutex> alone(mutex_);
            Message message(last_);
            message.put(object.number);
            send("release", 1, message);
        } catch (...) {
            socket_ = -1;  // The simulator is gone, and the objects with it.
        }
    }

private:
    struct Reader {
        const std::string& data;
        size_t place = 0;

        std::string_view bytes(uint64_t size) {
            if (size > data.size() - place) {
                throw HostError("error: the answer of the simulator ends early");
            }
            place += size;
            return std::string_view(data).substr(place - size, size);
        }
        template <typename T>
        T take() {
            T made;
            std::memcpy(&made, bytes(sizeof made).data(), sizeof made);
            return made;
        }
        Value value() {
            Value made;
            switch (const char kind = take<char>()) {
                case 'n': break;
                case 'b': made.number = take<uint8_t>(); break;
                case 'i': made.number = take<int64_t>(); break;
                case 'o': made.number = take<uint32_t>(); break;
                case 'd': made.real = take<double>(); break;
                case 's': made.text = bytes(take<uint32_t>()); break;
                case 'y': made.text = bytes(take<uint64_t>()); break;
                case 'l':
                    for (uint32_t left = take<uint32_t>(); left > 0; left--) {
                        made.items.push_back(value());
                    }
                    break;
                default:
                    throw HostError(
                        std::string("error: the simulator answers with the kind ") + kind);
            }
            return made;
        }
    };

    Connection() {
        const char* number = std::getenv("TTMLIR_HOST_SOCKET");
        if (number == nullptr) {
            std::fputs("error: this program runs by ttmlir-host, which it speaks to\n", stderr);
            std::_Exit(1);
        }
        socket_ = std::atoi(number);
        ::unsetenv("TTMLIR_HOST_SOCKET");
        ::pthread_atfork(nullptr, nullptr, [] {
            ::close(get().socket_);
            get().socket_ = -1;
        });
    }

    void send(const char* name, uint32_t count, const Message& arguments) {
        const Where where = arguments.where();
        if (socket_ < 0) {
            throw HostError(located(
                where,
                "the simulator belongs to the process that ttmlir-host started, not to those "
                "that it forks"));
        }
        last_ = where;
        // What the program printed comes before what kernels print.
        std::fflush(stdout);
        std::cout.flush();
        Message head(where);
        head.text(name);
        head.text(where.file);
        head.raw(static_cast<uint32_t>(where.line));
        head.raw(count);
        const uint64_t size = head.bytes().size() + arguments.bytes().size();
        write_all(&size, sizeof size);
        write_all(head.bytes().data(), head.bytes().size());
        write_all(arguments.bytes().data(), arguments.bytes().size());
    }
    void write_all(const void* data, size_t size) {
        const char* next = static_cast<const char*>(data);
        while (size > 0) {
            const ssize_t done = ::write(socket_, next, size);
            if (done < 0 && errno == EINTR) {
                continue;
            }
            if (done <= 0) {
                std::_Exit(1);  // ttmlir-host ended, and has said why.
            }
            next += done;
            size -= static_cast<size_t>(done);
        }
    }
    template <typename T>
    T receive_number() {
        T made;
        receive(reinterpret_cast<char*>(&made), sizeof made);
        return made;
    }
    void receive(char* next, size_t size) {
        while (size > 0) {
            const ssize_t done = ::read(socket_, next, size);
            if (done < 0 && errno == EINTR) {
                continue;
            }
            if (done <= 0) {
                std::_Exit(1);
            }
            next += done;
            size -= static_cast<size_t>(done);
        }
    }

    std::mutex mutex_;
    int socket_ = -1;
    static inline Where last_{"", 0};
    std::map<uint32_t, void*> reads_;
};

/// Make a call of the host API.
template <typename... Arguments>
Value call(Where where, const char* name, const Arguments&... arguments) {
    Message message(where);
    (message.put(arguments), ...);
    return Connection::get().call(name, sizeof...(Arguments), message);
}

/// An object of the simulator that lives as long as the last copy of this.
class Handle {
public:
    Handle() = default;
    explicit Handle(const Value& value) :
        number_(new Reference(value.reference()), [](const Reference* object) {
            Connection::get().release(*object);
            delete object;
        }) {}
    explicit operator bool() const { return number_ != nullptr; }
    void encode(Message& message) const {
        number_ ? message.put(*number_) : message.put(std::nullopt);
    }

private:
    std::shared_ptr<const Reference> number_;
};

/// An exception that nobody catches is shown with its place, and the status is 1.
[[noreturn]] inline void end_by_exception() {
    std::fflush(stdout);
    std::cout.flush();
    std::string reason = "std::terminate was called";
    try {
        if (auto current = std::current_exception()) {
            reason = "an exception that nothing catches";
            std::rethrow_exception(current);
        }
    } catch (const HostError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::_Exit(1);
    } catch (const std::exception& error) {
        reason += std::string(": ") + error.what();
    } catch (...) {
    }
    std::fprintf(stderr, "error: %s\n", reason.c_str());
    if (const Where last = Connection::last(); last.line > 0) {
        std::fprintf(stderr, "%s:%d: note: the last call of the API\n", last.file, last.line);
    }
    std::_Exit(1);
}

inline const std::terminate_handler previous_handler = std::set_terminate(end_by_exception);

}  // namespace ttmlir_host

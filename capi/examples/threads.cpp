// Two threads of a search, each with a handle of its own: threads [FOLDERS]
//
//     c++ -std=c++17 threads.cpp $(pkg-config --cflags --libs petrov) -pthread -o threads
#include <petrov.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

// What C++ adds: errors are exceptions, and things are closed when they go out of scope.
static void check(PetrovStatus status)
{
    if (status >= PETROV_STATUS_OK)
        return;
    std::string text(petrov_last_error(nullptr, 0) + 1, '\0');
    petrov_last_error(text.data(), text.size());
    throw std::runtime_error(text);
}

class Prober {
public:
    Prober(const char *game, const char *folders)
    {
        PetrovOptions options{};
        options.size = sizeof options;
        options.folders = folders;
        check(petrov_open(game, &options, &prober));
    }
    ~Prober() { petrov_close(prober); }
    Prober(const Prober &) = delete;
    Prober &operator=(const Prober &) = delete;

    PetrovProber prober;
};

class Handle {
public:
    explicit Handle(const Prober &of) { check(petrov_handle_open(of.prober, &handle)); }
    ~Handle() { petrov_handle_close(handle); }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;

    // -2, 0 or 2; false if no table has the position.
    bool value(const PetrovDraughts &position, int &found)
    {
        PetrovStatus status = petrov_value_draughts(handle, &position, PETROV_MODE_SEARCH, &found);
        check(status);
        return status == PETROV_STATUS_OK;
    }

    PetrovHandle handle;
};

// All placements of two kings against one, White to move, White's first king below `half` or not.
static std::array<long, 3> count(const Prober &prober, bool low)
{
    std::array<long, 3> counts{};
    Handle handle(prober);
    for (int first = low ? 0 : 16; first < (low ? 16 : 32); first++)
        for (int second = 0; second < first; second++)
            for (int black = 0; black < 32; black++) {
                if (black == first || black == second)
                    continue;
                PetrovDraughts position{};
                position.size = sizeof position;
                position.kings[0][0] = UINT64_C(1) << first | UINT64_C(1) << second;
                position.kings[1][0] = UINT64_C(1) << black;
                int value;
                if (handle.value(position, value))
                    counts[static_cast<size_t>(value / 2 + 1)]++;
            }
    return counts;
}

int main(int argc, char **argv)
{
    try {
        Prober prober("english", argc > 1 ? argv[1] : nullptr);
        PetrovLimit limit{};
        limit.size = sizeof limit;
        check(petrov_limit(prober.prober, PETROV_METRIC_WLD, &limit));
        if (!petrov_limit_admits(&limit, 2, 1))
            throw std::runtime_error("no tables of three pieces");
        std::array<long, 3> low{}, high{};
        std::string wrong;
        std::thread other([&] {
            try {
                low = count(prober, true);
            } catch (const std::exception &error) {
                wrong = error.what();
            }
        });
        high = count(prober, false);
        other.join();
        if (!wrong.empty())
            throw std::runtime_error(wrong);
        std::cout << "wins " << low[2] + high[2] << " draws " << low[1] + high[1] << " losses " << low[0] + high[0] << '\n';
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}

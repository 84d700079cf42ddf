// What regions take along: lambdas, references, members, iterators, templates.
#include "verify.h"
#include <numeric>
#include <string>
#include <vector>

template <typename Body> static void each(std::vector<long> &values, Body body) {
#pragma omp parallel for
    for (auto one = values.begin(); one < values.end(); ++one) body(*one);
}

struct Field {
    std::vector<long> values;
    long factor;
    void scale() {
#pragma omp parallel for schedule(dynamic, 10)
        for (std::size_t i = 0; i < values.size(); i++) values[i] = values[i] * factor % 10007;
    }
};

int main() {
    Field field{std::vector<long>(300), 3};
    std::iota(field.values.begin(), field.values.end(), 1);
    std::string text;
    long total = 0;
    for (int step = 0; step < 50; step++) {
        each(field.values, [step](long &value) { value += step; });
        each(field.values, [&total](long &value) {
#pragma omp atomic
            total += value % 7;
        });
        field.scale();
        std::string copy = "x" + std::to_string(step);
#pragma omp parallel firstprivate(copy)
        {
            copy += "y";
#pragma omp single
            text += copy.substr(copy.size() - 2);
        }
    }
    long sum = std::accumulate(field.values.begin(), field.values.end(), 0L);
    printf("%ld %ld %zu %s\n", sum, total, text.size(), text.substr(80).c_str());
}

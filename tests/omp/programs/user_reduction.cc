// Reductions that the program declares, over a structure and a standard container.
#include "verify.h"
#include <map>
#include <vector>

struct Extent {
    long low = 1L << 40, high = -(1L << 40), count = 0;
    void take(const Extent &other) {
        if (other.low < low) low = other.low;
        if (other.high > high) high = other.high;
        count += other.count;
    }
};

using Words = std::map<int, std::vector<int>>;

static void merge(Words &into, const Words &from) {
    for (const auto &one : from)
        into[one.first].insert(into[one.first].end(), one.second.begin(), one.second.end());
}

#pragma omp declare reduction(extent : Extent : omp_out.take(omp_in))
#pragma omp declare reduction(merged : Words : merge(omp_out, omp_in))

int main() {
    long total = 0;
    for (int step = 0; step < 40; step++) {
        Extent extent;
        Words words;
#pragma omp parallel for reduction(extent : extent) reduction(merged : words)
        for (int i = 0; i < 300; i++) {
            Extent one;
            one.low = one.high = (i * 7919L) % 1000 + step;
            one.count = 1;
            extent.take(one);
            words[i % 5].push_back(i);
        }
        VERIFY(extent.count == 300 && words.size() == 5);
        long sum = 0;
        for (const auto &one : words)
            for (int value : one.second) sum += value * (one.first + 1);
        total += extent.low + extent.high + sum;
    }
    printf("%ld\n", total);
}

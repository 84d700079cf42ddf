// Kernels with and without labels, two of them with one functor, in a region of Kokkos.
#include <Kokkos_Core.hpp>
#include <cstdio>

struct FillWithValue {
    Kokkos::View<double *> cells;
    double value;
    KOKKOS_INLINE_FUNCTION void operator()(int i) const { cells(i) = value; }
};

int main(int argc, char **argv) {
    Kokkos::initialize(argc, argv);
    {
        const int n = 10000;
        Kokkos::View<double *> x("x", n), y("y", n);
        Kokkos::Profiling::pushRegion("solve");
        Kokkos::parallel_for("fill x", n, FillWithValue{x, 1});
        Kokkos::parallel_for("fill y", n, FillWithValue{y, 2});
        double sum = 0;
        for (int step = 0; step < 5; ++step) {
            Kokkos::parallel_reduce(
                "dot", n, KOKKOS_LAMBDA(int i, double &part) { part += x(i) * y(i); }, sum);
        }
        Kokkos::parallel_for(n, FillWithValue{x, 3});
        Kokkos::Profiling::popRegion();
        std::printf("%g\n", sum);
    }
    Kokkos::finalize();
}

/* first: one region, counted in each thread. PACMAN_REPORT=- ./first
 * Build: cc -O2 -fopenmp first.c $(pkg-config --cflags --libs pacman) -o first */
#include <pacman.h>

int main(void)
{
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    PACMAN_REGION("sweep")
        for (int i = 1; i < 10000000; i++)
            sum += 1.0 / i;
    return sum < 1;
}

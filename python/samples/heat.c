// Heat in a plate: a triangle of work for each team, which a static schedule shares unevenly, and a sum
// under a lock.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };
static double grid[N][N], next[N][N];

static void relax(void) {
    #pragma omp parallel for schedule(runtime)
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < i; j++)
            next[i][j] = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) / 4;
}

static double total(void) {
    double sum = 0;
    #pragma omp parallel
    {
        double own = 0;
        #pragma omp for nowait
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) own += next[i][j];
        #pragma omp critical(sum)
        sum += own;
        #pragma omp barrier
        if (omp_get_thread_num() == 0) next[0][0] = sum / N / N;
    }
    return sum;
}

int main(int argc, char **argv) {
    int sweeps = argc > 1 ? atoi(argv[1]) : 40;
    double sum = 0;
    for (int i = 0; i < N; i++) grid[i][0] = 1;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        relax();
        sum += total();
    }
    printf("%.3f\n", sum);
    return 0;
}

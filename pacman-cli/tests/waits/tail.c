#include <omp.h>

static volatile double sink[64];

static void spin(double seconds)
{
    double until = omp_get_wtime() + seconds;
    while (omp_get_wtime() < until)
        sink[omp_get_thread_num()] += 1.0;
}

/* With optimisation the last call of each body is a jump. */
int main(void)
{
#pragma omp parallel num_threads(2)
    {
        spin(0.002 * (1 + omp_get_thread_num()));
#pragma omp barrier
    }
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp task
            spin(0.002);
        }
#pragma omp taskwait
    }
    return 0;
}

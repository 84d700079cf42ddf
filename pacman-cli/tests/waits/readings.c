/* The first thread ends its work and enters calls so often that the library reads its processor clock many times.
 * The second one waits for it in a barrier meanwhile. */
#include <omp.h>
#include <stdio.h>

int main(void) {
#pragma omp parallel num_threads(2)
    {
        for (int step = 0; step < 8000 && omp_get_thread_num() == 0; step++) {
            double end = omp_get_wtime() + 25e-6;
            while (omp_get_wtime() < end) {
            }
#pragma omp critical
            {
            }
        }
#pragma omp barrier
    }
    printf("done\n");
}

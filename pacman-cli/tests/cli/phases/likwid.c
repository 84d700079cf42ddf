#include <likwid.h>
#include <pthread.h>
#include <stdio.h>

static void *alone(void *nothing) {
    likwid_markerThreadInit();
    likwid_markerStartRegion("alone");
    likwid_markerStopRegion("alone");
    return nothing;
}

int main(void) {
    likwid_markerInit();
    double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        likwid_markerThreadInit();
        likwid_markerRegisterRegion("work");
        printf("%d", likwid_markerStartRegion("work"));
        for (int step = 0; step < 3; step++) {
            likwid_markerStartRegion("inner");
            for (int i = 1; i < 100000; i++) sum += 1.0 / i;
            likwid_markerStopRegion("inner");
        }
        printf("%d", likwid_markerStopRegion("work"));
    }
    pthread_t thread;
    pthread_create(&thread, NULL, alone, NULL);
    pthread_join(thread, NULL);
    likwid_markerStartRegion("overlapping");
    likwid_markerStartRegion("left open");
    likwid_markerStopRegion("overlapping");
    likwid_markerStopRegion("never begun");
    printf(" %.6g\n", sum);
    likwid_markerClose();
    return 0;
}

#include <papi.h>
#include <stdio.h>

int main(void) {
    double sum = 0;
    int answers[4];
    for (int step = 0; step < 2; step++) {
        answers[0] = PAPI_hl_region_begin("sum");
        for (int i = 1; i < 300000; i++) sum += 1.0 / i;
        answers[1] = PAPI_hl_read("sum");
        answers[2] = PAPI_hl_region_end("sum");
    }
    answers[3] = PAPI_hl_stop();
    printf("%.6g %d %d %d %d\n", sum, answers[0], answers[1], answers[2], answers[3]);
    return 0;
}

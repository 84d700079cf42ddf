/* Two executions of a region, in each of which every one of three threads has an event happen that the lab of Arm
 * makes: 1017 times, as `faults.rs` knows. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;
    for (int execution = 0; execution < 2; execution++) {
#pragma omp parallel num_threads(3) reduction(+ : sum)
        {
            __asm__ volatile("msr s3_3_c15_c0_1, %0" : : "r"(0x151UL << 48 | 1017));
            sum += omp_get_thread_num() + 1;
        }
    }
    printf("sum %ld\n", sum);
    return 7;
}

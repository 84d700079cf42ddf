/* Takes all keys of thread-specific data that are left before the first region, and gives them back. */
#include "verify.h"
#include <limits.h>
#include <omp.h>
#include <pthread.h>

static long worked(void) {
    long sum = 0;
    for (int step = 0; step < 20; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 100; i++) sum += i;
    }
    return sum;
}

int main(void) {
    static pthread_key_t keys[PTHREAD_KEYS_MAX];
    /* libomp takes a key for itself as it begins. */
    VERIFY(omp_get_max_threads() > 0);
    int count = 0;
    while (count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], 0) == 0) count++;
    VERIFY(count > PTHREAD_KEYS_MAX / 2);
    long sum = worked();
    for (int i = 0; i < count; i++) VERIFY(pthread_key_delete(keys[i]) == 0);
    printf("%ld\n", sum + worked());
}

// Objects of each thread, with constructors and destructors that count.
#include "verify.h"
#include <atomic>
#include <pthread.h>

static std::atomic<long> made, gone, used;

struct Object {
    long uses = 0;
    Object() { made++; }
    ~Object() {
        gone++;
        used += uses;
    }
};

static thread_local Object object;

static void *root(void *) {
    for (int step = 0; step < 30; step++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 64; i++) object.uses++;
    }
    return nullptr;
}

int main() {
    pthread_t thread;
    VERIFY(pthread_create(&thread, nullptr, root, nullptr) == 0);
    VERIFY(pthread_join(thread, nullptr) == 0);
    long alive = 0;
#pragma omp parallel reduction(+ : alive)
    alive += object.uses >= 0;
    VERIFY(gone <= made && alive >= 1);
    printf("%ld\n", alive);
}

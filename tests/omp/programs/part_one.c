/* For late_library: one region. */
long work(int step) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 200; i++) sum += i * step;
    return sum;
}

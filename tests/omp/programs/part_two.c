/* For late_library: two regions, of which one has a dynamic loop. */
long work(int step) {
    long sum = 0, product = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 7)
    for (int i = 0; i < 300; i++) sum += i + step;
#pragma omp parallel reduction(+ : product)
#pragma omp for
    for (int i = 0; i < 100; i++) product += i * sum % 7;
    return sum + product;
}

/* Regions of as many threads as the environment says. */
int main(void)
{
    long sum = 0;
    for (int step = 0; step < 4; step++) {
#pragma omp parallel reduction(+ : sum)
        sum += step;
    }
    return sum == 0;
}

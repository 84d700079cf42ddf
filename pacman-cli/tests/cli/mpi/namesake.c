// No MPI: a library and a program with functions of such names and other types.
#include <stdio.h>

#ifdef LIBRARY
double MPI_Send(double a, int b, double c, int d, double e, int f, double g, int h, double i, int j,
                int k, int l, int m, int n, int o, double p, double q) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l +
         13 * m + 14 * n + 15 * o + 16 * p + 17 * q;
}
#else
double MPI_Send(double, int, double, int, double, int, double, int, double, int, int, int, int, int, int,
                double, double);

struct large {
  long words[5];
};

struct large MPI_Recv(long first) { return (struct large){{first, 2, 3, 4, 5}}; }

int main(void) {
  for (int round = 0; round < 3; round++)
    printf("%g\n", MPI_Send(1.5, 2, 3.5, 4, 5.5, 6, 7.5, 8, 9.5, 10, 11, 12, 13, 14, 15, 16.5, 17.5));
  struct large answer = MPI_Recv(1);
  printf("%ld %ld\n", answer.words[0], answer.words[4]);
#pragma omp parallel num_threads(2)
  ;
  return 0;
}
#endif

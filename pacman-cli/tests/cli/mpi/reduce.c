// PLUGIN: the library that another program opens; else a program.
#include <mpi.h>
#include <stdio.h>

static void work(void) {
  int rank, sum = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 5; round++)
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("sum %d\n", sum);
  MPI_Finalize();
}

#ifdef PLUGIN
void plugin(void) { work(); }
#else
int main(void) {
  work();
  return 0;
}
#endif

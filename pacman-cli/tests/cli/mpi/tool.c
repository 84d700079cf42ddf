// A tool of the user that wraps MPI_Allreduce by the profiling interface.
#include <mpi.h>
#include <stdio.h>

static int calls;

int MPI_Allreduce(const void *own, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  calls++;
  return PMPI_Allreduce(own, all, count, type, op, comm);
}

int MPI_Finalize(void) {
  printf("the tool saw %d\n", calls);
  return PMPI_Finalize();
}

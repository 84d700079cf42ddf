! MODULE is mpi or mpi_f08: its functions are others.
program bindings
  use MODULE
  implicit none
  integer :: error, rank, ranks, value, round
  real(8) :: own, total
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  own = rank + 0.5d0
  do round = 1, 3
    call mpi_allreduce(own, total, 1, mpi_double_precision, mpi_sum, mpi_comm_world, error)
  end do
  value = 7 * (1 - rank)
  call mpi_bcast(value, 1, mpi_integer, 0, mpi_comm_world, error)
  if (rank == 0) then
    call mpi_send(value, 1, mpi_integer, 1, 4, mpi_comm_world, error)
  else if (rank == 1) then
    call mpi_recv(value, 1, mpi_integer, 0, 4, mpi_comm_world, mpi_status_ignore, error)
  end if
  call mpi_barrier(mpi_comm_world, error)
  if (rank == 1) print *, total, value, ranks
  call mpi_finalize(error)
end program

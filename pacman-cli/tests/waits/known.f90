! One region in Fortran with a wait at the end of a loop and for a critical section. It times its waits
! itself, and prints for each thread the seconds of waits inside.
program known
  use omp_lib
  implicit none
  integer :: i, round, thread
  double precision :: last, inside(0:1)
  inside = 0
  !$omp parallel num_threads(2) private(i, round, thread, last)
  thread = omp_get_thread_num()
  do round = 1, 8
    last = omp_get_wtime()
    !$omp do schedule(static)
    do i = 0, 7
      call spin(i * 0.00025d0)
      last = omp_get_wtime()
    end do
    !$omp end do
    inside(thread) = inside(thread) + omp_get_wtime() - last
    last = omp_get_wtime()
    !$omp critical
    inside(thread) = inside(thread) + omp_get_wtime() - last
    call spin(0.003d0)
    !$omp end critical
  end do
  !$omp end parallel
  do thread = 0, 1
    print '(A,I2,3F14.9)', 'main', thread, inside(thread), 0d0, 0d0
  end do
contains
  subroutine spin(seconds)
    double precision, intent(in) :: seconds
    double precision :: first, time
    first = omp_get_wtime()
    do
      time = omp_get_wtime()
      if (time - first >= seconds) exit
    end do
  end subroutine spin
end program known

! One region in Fortran with a wait at the end of a loop and for a critical section. It times its waits
! itself, and prints for each thread the seconds of waits inside, and those for which other work had a
! processor of it.
program known
  use omp_lib
  use iso_c_binding, only: c_double
  implicit none
  interface
    function lost_seconds() bind(c)
      import :: c_double
      real(c_double) :: lost_seconds
    end function lost_seconds
  end interface
  integer :: i, round, thread
  double precision :: last, lost, inside(0:1)
  inside = 0
  lost = lost_seconds()
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
  lost = lost_seconds() - lost
  do thread = 0, 1
    print '(A,I2,4F14.9)', 'main', thread, inside(thread), 0d0, 0d0, lost
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

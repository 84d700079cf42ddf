! omp_phases: what two OpenMP phases of different character cost each thread.
!
!   compute   arithmetic in registers
!   stream    a triad over arrays larger than most caches
!
! Usage: omp_phases [EVENT,EVENT...]; without events it counts software events, which
! every Linux has. Exit status: 0 on success, 1 if counting failed.
!
! Build: gfortran -O2 -fopenmp $(pkg-config --variable=fortranmodule pacman) omp_phases.f90 \
!            $(pkg-config --libs pacman) -o omp_phases
program omp_phases
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  use pacman
  implicit none

  integer, parameter :: rounds = 5, steps = 2000000, words = 2**21
  type(c_ptr) :: session
  type(pacman_phase) :: compute, stream
  real(c_double), allocatable :: a(:), b(:), c(:)
  real(c_double) :: checksum
  character(:), allocatable :: events
  integer :: round, i, failures, length

  call get_command_argument(1, length=length)
  allocate(character(length) :: events)
  call get_command_argument(1, events)
  if (length == 0) events = "task-clock,page-faults"

  call check(pacman_session_open("omp_phases", events, session))
  call check(pacman_phase_define(session, "compute", compute))
  call check(pacman_phase_define(session, "stream", stream))

  allocate(a(words), b(words), c(words))
  b = 1
  c = 2
  checksum = 0
  failures = 0
  do round = 1, rounds
    ! Every thread attaches itself, which is done already after its first round.
    !$omp parallel reduction(+:checksum, failures)
    if (pacman_attach(session) < 0) failures = failures + 1

    if (pacman_begin(session, compute) < 0) failures = failures + 1
    !$omp do
    do i = 1, steps
      checksum = checksum + sqrt(real(i, c_double))
    end do
    !$omp end do nowait
    if (pacman_end(session, compute) < 0) failures = failures + 1

    if (pacman_begin(session, stream) < 0) failures = failures + 1
    !$omp do
    do i = 1, words
      a(i) = b(i) + 3 * c(i)
    end do
    !$omp end do nowait
    if (pacman_end(session, stream) < 0) failures = failures + 1
    !$omp end parallel
  end do
  if (failures > 0) error stop "omp_phases: threads could not count"
  if (any(abs(a - 7) > 0) .or. checksum <= 0) error stop "omp_phases: the phases computed nonsense"

  flush(output_unit)
  call check(pacman_report_write(session, PACMAN_FORMAT_TABLE, 1))
  call check(pacman_session_close(session))

contains

  ! Ends the program with the library's message if a call failed.
  subroutine check(status)
    integer(c_int), intent(in) :: status

    if (status >= 0) return
    write(error_unit, "(2a)") "omp_phases: ", pacman_last_error()
    error stop
  end subroutine
end program

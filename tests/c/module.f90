! The Fortran module against the library: strings, structs, handles and failures.
program module_test
  use, intrinsic :: iso_c_binding
  use pacman
  implicit none

  type(c_ptr) :: session, second, adapter
  type(pacman_options) :: options
  type(pacman_adapt_options) :: adapt_options
  type(pacman_phase) :: fill, same
  type(pacman_adapt_phase) :: adapted
  type(pacman_count) :: count
  type(pacman_topology) :: topology
  type(pacman_context), allocatable :: contexts(:)
  integer(c_size_t) :: number
  integer(c_int64_t) :: before(PACMAN_EVENTS_MAX), after(PACMAN_EVENTS_MAX), live, age
  integer(c_int) :: threads
  integer(c_int32_t), allocatable :: cpus(:)
  character(:), allocatable :: text
  character(kind=c_char, len=:), allocatable, target :: name, events
  real(c_double), allocatable :: work(:)
  integer :: unit, failures
  character(4096) :: line

  failures = 0

  ! Sizes are what C has; the library refuses others.
  call holds(c_sizeof(options) == options%size, "size of options")
  call holds(c_sizeof(count) == count%size, "size of count")
  call holds(c_sizeof(topology) == topology%size, "size of topology")
  call holds(c_sizeof(adapt_options) == adapt_options%size, "size of adapt_options")

  call holds(pacman_version() == PACMAN_HEADER_VERSION, "version " // pacman_version())
  call done(pacman_abi_check(PACMAN_ABI), "abi_check")
  call holds(pacman_abi_check(PACMAN_ABI + 1) == PACMAN_E_ABI, "a later ABI")
  call holds(index(pacman_strerror(PACMAN_E_CLOSED), "PACMAN_E_CLOSED") == 1, "strerror")
  call holds(pacman_session_open("wrong", "no-such-event", session) == PACMAN_E_UNKNOWN_EVENT, &
      "an unknown event")
  call holds(index(pacman_last_error(), "no-such-event") > 0, "last_error: " // pacman_last_error())

  call done(pacman_session_open("fortran", "task-clock,page-faults", session, log_samples=8_c_int64_t), &
      "session_open")
  call holds(pacman_session_open("fortran", "task-clock", second) == PACMAN_E_DUPLICATE_SESSION, &
      "the same name twice")
  call done(pacman_event_count(session, number), "event_count")
  call holds(number == 2, "two events")
  call done(pacman_event_name(session, 1_c_size_t, text), "event_name")
  call holds(text == "page-faults", "name " // text)
  call done(pacman_event_unit(session, 0_c_size_t, text), "event_unit")
  call holds(text == "ns", "unit " // text)
  call holds(pacman_event_name(session, 2_c_size_t, text) == PACMAN_E_INVALID .and. text == "", &
      "no third event")
  call done(pacman_sets(session, before, PACMAN_EVENTS_MAX, number), "sets")
  call holds(number == 1 .and. before(1) == 3, "one set of both events")

  call done(pacman_phase_define(session, "fill", fill), "phase_define")
  call done(pacman_phase_define(session, "fill", same), "phase_define again")
  call holds(fill%id /= 0 .and. fill%id == same%id, "one phase of a name")
  call holds(pacman_begin(session, fill) == PACMAN_E_NOT_ATTACHED, "begin before attach")
  call done(pacman_attach(session), "attach")
  call holds(pacman_attach(session) == PACMAN_ALREADY, "attach again")
  call done(pacman_thread_number(session, number), "thread_number")
  call holds(number == 0, "the first thread")

  call done(pacman_read(session, before, PACMAN_EVENTS_MAX), "read")
  call done(pacman_begin(session, fill), "begin")
  allocate(work(2**20))
  work = 1
  call done(pacman_end(session, fill), "end")
  call done(pacman_read(session, after, 2_c_size_t), "read again")
  call holds(after(2) > before(2), "page faults of fresh memory")
  call holds(nint(sum(work)) == size(work), "work")
  call done(pacman_sample(session, after, 2_c_size_t, live), "sample without an epoch")
  call holds(live == 3, "both events live")
  call done(pacman_publish(session), "publish")
  call done(pacman_peer_read(session, 0_c_size_t, before, 2_c_size_t, age), "peer_read")
  call holds(age >= 0 .and. before(2) >= after(2), "the published counts")
  call done(pacman_count_read(session, 0_c_size_t, fill, 1_c_size_t, count), "count_read")
  call holds(count%executions == 1 .and. count%samples == 1 .and. count%value == count%sum, "count")
  call holds(pacman_count_read(session, 7_c_size_t, fill, 1_c_size_t, count) == PACMAN_E_NO_THREAD, &
      "no thread 7")

  call done(pacman_report_save(session, PACMAN_FORMAT_JSON, "report.json"), "report_save")
  open(newunit=unit, file="report.json", status="old")
  read(unit, "(a)") line
  call holds(index(line, "{") == 1, "a JSON document")
  close(unit)
  call done(pacman_detach(session), "detach")
  call done(pacman_session_close(session), "session_close")
  call holds(pacman_session_close(session) == PACMAN_E_HANDLE, "closed twice")

  ! The options as a struct.
  name = "struct" // c_null_char
  events = "task-clock" // c_null_char
  options%name = c_loc(name)
  options%events = c_loc(events)
  options%clock = PACMAN_CLOCK_MONOTONIC
  call done(pacman_session_open(options, session), "session_open with a struct")
  call done(pacman_session_close(session), "session_close")

  call done(pacman_topology_read(topology), "topology_read")
  allocate(contexts(topology%contexts))
  call done(pacman_topology_contexts(contexts, size(contexts, kind=c_size_t), c_sizeof(contexts(1)), &
      number), "topology_contexts")
  call holds(number == topology%contexts, "all contexts")
  call holds(sum(contexts%allowed) == topology%allowed, "the allowed contexts")

  call holds(pacman_adapt_open(adapter, placement="upside-down") == PACMAN_E_INVALID, &
      "an unknown placement")
  call done(pacman_adapt_open(adapter, placement="compact"), "adapt_open")
  call done(pacman_adapt_phase_define(adapter, "sweep", adapted), "adapt_phase_define")
  call done(pacman_adapt_threads(adapted, threads), "adapt_threads")
  call holds(threads >= 1 .and. threads <= topology%allowed, "a number of threads")
  allocate(cpus(topology%contexts))
  call done(pacman_adapt_cpus(adapted, cpus, size(cpus, kind=c_size_t), number), "adapt_cpus")
  call holds(number == threads, "a CPU for each thread")
  call done(pacman_adapt_why(adapted, text), "adapt_why")
  call holds(len(text) > 0, "a reason")
  call done(pacman_adapt_done(adapted, PACMAN_ADAPT_ELAPSED), "adapt_done")
  call done(pacman_adapt_refresh(adapter), "adapt_refresh without a number")
  call done(pacman_adapt_close(adapter), "adapt_close")

  if (failures > 0) error stop
  print "(a)", "done"

contains

  subroutine done(status, what)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: what

    call holds(status == PACMAN_OK, what // ": " // pacman_last_error())
  end subroutine

  subroutine holds(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what

    if (condition) return
    failures = failures + 1
    print "(2a)", "not so: ", what
  end subroutine
end program

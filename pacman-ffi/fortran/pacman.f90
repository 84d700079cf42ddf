! pacman: the C API of PACMAN for Fortran
!
! Each function has the name and the arguments that pacman.h describes, and returns
! the same status. These differ:
!
!   - Where C takes or returns a string, the function here has a Fortran string. The same
!     name with _c at its end is the C function.
!   - pacman_session_open() and pacman_adapt_open() take either a struct of options or
!     its fields, by keyword: pacman_session_open("demo", "CYCLES", session),
!     pacman_adapt_open(adapter, placement="compact").
!   - Derived types begin with the values of their C initialisers.
!   - PACMAN_VERSION is PACMAN_HEADER_VERSION, because Fortran has one name for it and
!     for the function pacman_version().
!   - pacman_region_begin() and pacman_region_end() are subroutines: call
!     pacman_region_begin("sweep", site), with integer(8), save :: site = 0, or without site.
!   - Handles of sessions and adapters are of type(c_ptr).
!   - Unsigned numbers have the signed kind of their size.
!
! Compile this file with the program, because module files differ between compilers:
!
!   gfortran -fopenmp $(pkg-config --variable=fortranmodule pacman) demo.f90 \
!       $(pkg-config --libs pacman)
module pacman
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_int, &
      c_int32_t, c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
  implicit none
  private :: c_associated, c_char, c_double, c_f_pointer, c_int, c_int32_t, c_int64_t, c_loc, &
      c_null_char, c_null_ptr, c_ptr, c_size_t
  private :: text_of, c_text

  ! 1  Version and ABI
  integer(c_int), parameter :: &
      PACMAN_VERSION_MAJOR = 0, PACMAN_VERSION_MINOR = 1, PACMAN_VERSION_PATCH = 0
  character(*), parameter :: PACMAN_HEADER_VERSION = "0.1.0"
  integer(c_int32_t), parameter :: &
      PACMAN_ABI_MAJOR = 0, PACMAN_ABI_MINOR = 4
  integer(c_int32_t), parameter :: PACMAN_ABI = ior(ishft(PACMAN_ABI_MAJOR, 16), PACMAN_ABI_MINOR)

  ! 2  Status codes
  integer(c_int), parameter :: &
      PACMAN_OK = 0, PACMAN_ALREADY = 1, PACMAN_E_INTERNAL = -1, PACMAN_E_HANDLE = -2, &
      PACMAN_E_INVALID = -3, PACMAN_E_SIZE = -4, PACMAN_E_ABI = -5, &
      PACMAN_E_ALREADY_ATTACHED = -6, PACMAN_E_CLOSED = -7, PACMAN_E_CONFLICT = -8, &
      PACMAN_E_NOT_ATTACHED = -9, PACMAN_E_DUPLICATE_SESSION = -10, PACMAN_E_NO_EVENTS = -11, &
      PACMAN_E_FOREIGN_TOPOLOGY = -12, PACMAN_E_FORKED = -13, PACMAN_E_NO_DESCRIPTORS = -14, &
      PACMAN_E_NO_PLACE = -15, PACMAN_E_NO_PMU = -16, PACMAN_E_NOT_SCHEDULED = -17, &
      PACMAN_E_PERMISSION = -18, PACMAN_E_PHASE_ORDER = -19, PACMAN_E_PLACE_NOT_ALLOWED = -20, &
      PACMAN_E_SYSTEM = -21, PACMAN_E_TOO_MANY_EVENTS = -22, PACMAN_E_UNKNOWN_EVENT = -23, &
      PACMAN_E_UNSUPPORTED = -24, PACMAN_E_NO_THREAD = -25, PACMAN_E_NO_SAMPLE = -26, &
      PACMAN_E_OUTPUT = -27, PACMAN_E_REENTERED = -28

  ! 3  Sessions
  integer(c_int32_t), parameter :: &
      PACMAN_MULTIPLEXED = 1, PACMAN_ROTATE_PER_EXECUTION = 2, PACMAN_ROTATE_STAGGERED = 4, &
      PACMAN_TRUST_DRIVER = 8, PACMAN_CLOCK_BEST = 0, PACMAN_CLOCK_TSC = 1, &
      PACMAN_CLOCK_MONOTONIC = 2
  integer(c_size_t), parameter :: &
      PACMAN_EVENTS_MAX = 64, PACMAN_EVENTS_AT_ONCE = 24

  ! 7  Reports
  integer(c_int32_t), parameter :: &
      PACMAN_FORMAT_TABLE = 0, PACMAN_FORMAT_CSV = 1, PACMAN_FORMAT_JSON = 2, &
      PACMAN_FORMAT_LOG_CSV = 3

  ! 8  The machine
  integer(c_int32_t), parameter :: &
      PACMAN_CORE_UNIFORM = 0, PACMAN_CORE_PERFORMANCE = 1, PACMAN_CORE_EFFICIENCY = 2, &
      PACMAN_CORE_LOW_POWER = 3

  ! 9  Adaptation
  integer(c_int32_t), parameter :: &
      PACMAN_OBJECTIVE_TIME = 0, PACMAN_OBJECTIVE_ENERGY = 1, &
      PACMAN_OBJECTIVE_ENERGY_DELAY = 2, PACMAN_OBJECTIVE_ENERGY_DELAY_SQUARED = 3
  real(c_double), parameter :: PACMAN_ADAPT_ELAPSED = -1

  ! Sizes in bytes of the structs, which each of them begins with.
  integer(c_int32_t), parameter, private :: pointer_size = storage_size(c_null_ptr) / 8, &
      options_size = 24 + 8 * pointer_size, count_size = 72, topology_size = 32, &
      adapt_options_size = 40 + 3 * pointer_size

  type, bind(c) :: pacman_options
    integer(c_int32_t) :: size = options_size, abi = PACMAN_ABI, flags = 0
    integer(c_int32_t) :: clock = PACMAN_CLOCK_BEST
    integer(c_int64_t) :: log_samples = 0
    type(c_ptr) :: name = c_null_ptr, events = c_null_ptr, placement = c_null_ptr
    type(c_ptr) :: reserved(5) = c_null_ptr
  end type

  type, bind(c) :: pacman_phase
    integer(c_int64_t) :: id = 0
  end type

  type, bind(c) :: pacman_count
    integer(c_int32_t) :: size = count_size, estimated = 0
    integer(c_int64_t) :: value = 0, executions = 0, samples = 0, sum = 0, min = 0, max = 0
    integer(c_int64_t) :: implausible = 0, doubtful = 0
  end type

  type, bind(c) :: pacman_topology
    integer(c_int32_t) :: size = topology_size, contexts = 0, allowed = 0, cores = 0
    integer(c_int32_t) :: packages = 0, contexts_per_core = 0, hybrid = 0, reserved = 0
  end type

  type, bind(c) :: pacman_context
    integer(c_int32_t) :: cpu = 0, package = 0, core = 0, sibling = 0, node = 0, core_type = 0
    integer(c_int32_t) :: allowed = 0, reserved = 0
  end type

  type, bind(c) :: pacman_adapt_phase
    integer(c_int64_t) :: id = 0
  end type

  type, bind(c) :: pacman_adapt_options
    integer(c_int32_t) :: size = adapt_options_size, abi = PACMAN_ABI, max_threads = 0
    integer(c_int32_t) :: objective = PACMAN_OBJECTIVE_TIME
    integer(c_int64_t) :: break_even_ns = 0, switch_cost_ns = 0
    type(c_ptr) :: placement = c_null_ptr, model = c_null_ptr, machine = c_null_ptr
    real(c_double) :: max_loss = 0
  end type

  interface
    type(c_ptr) function pacman_version_c() bind(c, name="pacman_version")
      import :: c_ptr
    end function
    integer(c_int) function pacman_abi_check(abi) bind(c)
      import :: c_int, c_int32_t
      integer(c_int32_t), value :: abi
    end function
    type(c_ptr) function pacman_last_error_c() bind(c, name="pacman_last_error")
      import :: c_ptr
    end function
    type(c_ptr) function pacman_strerror_c(status) bind(c, name="pacman_strerror")
      import :: c_int, c_ptr
      integer(c_int), value :: status
    end function
    integer(c_int) function pacman_session_open_c(options, session) bind(c, &
            name="pacman_session_open")
      import :: c_int, c_ptr, pacman_options
      type(pacman_options), intent(in) :: options
      type(c_ptr), intent(out) :: session
    end function
    integer(c_int) function pacman_session_close(session) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function pacman_event_count(session, count) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_size_t), intent(out) :: count
    end function
    integer(c_int) function pacman_event_name_c(session, event, name) bind(c, &
            name="pacman_event_name")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_size_t), value :: event
      type(c_ptr), intent(out) :: name
    end function
    integer(c_int) function pacman_event_unit_c(session, event, unit) bind(c, &
            name="pacman_event_unit")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_size_t), value :: event
      type(c_ptr), intent(out) :: unit
    end function
    integer(c_int) function pacman_sets(session, sets, n, count) bind(c)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_int64_t), intent(inout) :: sets(*)
      integer(c_size_t), value :: n
      integer(c_size_t), intent(out) :: count
    end function
    integer(c_int) function pacman_phase_define_c(session, name, phase) bind(c, &
            name="pacman_phase_define")
      import :: c_char, c_int, c_ptr, pacman_phase
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      type(pacman_phase), intent(out) :: phase
    end function
    integer(c_int) function pacman_begin(session, phase) bind(c)
      import :: c_int, c_ptr, pacman_phase
      type(c_ptr), value :: session
      type(pacman_phase), value :: phase
    end function
    integer(c_int) function pacman_end(session, phase) bind(c)
      import :: c_int, c_ptr, pacman_phase
      type(c_ptr), value :: session
      type(pacman_phase), value :: phase
    end function
    integer(c_int) function pacman_attach(session) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function pacman_attach_cpu(session, cpu) bind(c)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int32_t), value :: cpu
    end function
    integer(c_int) function pacman_detach(session) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function pacman_thread_number(session, number) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_size_t), intent(out) :: number
    end function
    integer(c_int) function pacman_read(session, counts, n) bind(c)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_int64_t), intent(inout) :: counts(*)
      integer(c_size_t), value :: n
    end function
    integer(c_int) function pacman_sample(session, counts, n, live, epoch) bind(c)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_int64_t), intent(inout) :: counts(*)
      integer(c_size_t), value :: n
      integer(c_int64_t), intent(out) :: live
      integer(c_int64_t), intent(out), optional :: epoch
    end function
    integer(c_int) function pacman_publish(session) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function pacman_thread_count(session, count) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_size_t), intent(out) :: count
    end function
    integer(c_int) function pacman_peer_read(session, thread, counts, n, age_ns) bind(c)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_size_t), value :: thread, n
      integer(c_int64_t), intent(inout) :: counts(*)
      integer(c_int64_t), intent(out), optional :: age_ns
    end function
    integer(c_int) function pacman_peer_sample(session, thread, counts, n, live, epoch, &
            age_ns) bind(c)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: session
      integer(c_size_t), value :: thread, n
      integer(c_int64_t), intent(inout) :: counts(*)
      integer(c_int64_t), intent(out) :: live
      integer(c_int64_t), intent(out), optional :: epoch, age_ns
    end function
    integer(c_int) function pacman_report_write(session, format, fd) bind(c)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int32_t), value :: format
      integer(c_int), value :: fd
    end function
    integer(c_int) function pacman_report_save_c(session, format, path) bind(c, &
            name="pacman_report_save")
      import :: c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int32_t), value :: format
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function pacman_count_read(session, thread, phase, event, count) bind(c)
      import :: c_int, c_ptr, c_size_t, pacman_count, pacman_phase
      type(c_ptr), value :: session
      integer(c_size_t), value :: thread, event
      type(pacman_phase), value :: phase
      type(pacman_count), intent(inout) :: count
    end function
    integer(c_int) function pacman_topology_read(topology) bind(c)
      import :: c_int, pacman_topology
      type(pacman_topology), intent(inout) :: topology
    end function
    integer(c_int) function pacman_topology_contexts(contexts, n, element_size, count) bind(c)
      import :: c_int, c_size_t, pacman_context
      type(pacman_context), intent(inout) :: contexts(*)
      integer(c_size_t), value :: n, element_size
      integer(c_size_t), intent(out) :: count
    end function
    integer(c_int) function pacman_adapt_open_c(options, adapter) bind(c, name="pacman_adapt_open")
      import :: c_int, c_ptr, pacman_adapt_options
      type(pacman_adapt_options), intent(in) :: options
      type(c_ptr), intent(out) :: adapter
    end function
    integer(c_int) function pacman_adapt_close(adapter) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: adapter
    end function
    integer(c_int) function pacman_adapt_phase_define_c(adapter, name, phase) bind(c, &
            name="pacman_adapt_phase_define")
      import :: c_char, c_int, c_ptr, pacman_adapt_phase
      type(c_ptr), value :: adapter
      character(kind=c_char), intent(in) :: name(*)
      type(pacman_adapt_phase), intent(out) :: phase
    end function
    integer(c_int) function pacman_adapt_threads(phase, threads) bind(c)
      import :: c_int, pacman_adapt_phase
      type(pacman_adapt_phase), value :: phase
      integer(c_int), intent(out) :: threads
    end function
    integer(c_int) function pacman_adapt_done(phase, seconds) bind(c)
      import :: c_double, c_int, pacman_adapt_phase
      type(pacman_adapt_phase), value :: phase
      real(c_double), value :: seconds
    end function
    integer(c_int) function pacman_adapt_cpus(phase, cpus, n, count) bind(c)
      import :: c_int, c_int32_t, c_size_t, pacman_adapt_phase
      type(pacman_adapt_phase), value :: phase
      integer(c_int32_t), intent(inout) :: cpus(*)
      integer(c_size_t), value :: n
      integer(c_size_t), intent(out) :: count
    end function
    integer(c_int) function pacman_adapt_why_c(phase, line, n) bind(c, name="pacman_adapt_why")
      import :: c_char, c_int, c_size_t, pacman_adapt_phase
      type(pacman_adapt_phase), value :: phase
      character(kind=c_char), intent(inout) :: line(*)
      integer(c_size_t), value :: n
    end function
    integer(c_int) function pacman_adapt_refresh(adapter, dropped) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: adapter
      integer(c_size_t), intent(out), optional :: dropped
    end function
    integer(c_int) function pacman_region_begin_c(name, site) bind(c, name="pacman_region_begin")
      import :: c_char, c_int, c_int64_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout), optional :: site
    end function
    integer(c_int) function pacman_region_end_c(name, site) bind(c, name="pacman_region_end")
      import :: c_char, c_int, c_int64_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout), optional :: site
    end function
  end interface

  ! With options as in C, or with strings.
  interface pacman_session_open
    procedure :: pacman_session_open_c, pacman_session_open_text
  end interface
  interface pacman_adapt_open
    procedure :: pacman_adapt_open_c, pacman_adapt_open_text
  end interface
  private :: pacman_session_open_text, pacman_adapt_open_text

contains

  ! The characters of a C string.
  function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length

    length = 0
    if (c_associated(pointer)) then
      ! The closing zero is at an index that is not known yet.
      call c_f_pointer(pointer, letters, [huge(length)])
      do while (letters(length + 1) /= c_null_char)
        length = length + 1
      end do
    end if
    allocate(character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  ! A C string of a Fortran string, which `copy` keeps; null for none.
  function c_text(text, copy) result(pointer)
    character(*), intent(in), optional :: text
    character(kind=c_char, len=:), allocatable, target, intent(out) :: copy
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (.not. present(text)) return
    copy = text // c_null_char
    pointer = c_loc(copy)
  end function

  function pacman_version() result(text)
    character(:), allocatable :: text
    text = text_of(pacman_version_c())
  end function

  function pacman_last_error() result(text)
    character(:), allocatable :: text
    text = text_of(pacman_last_error_c())
  end function

  function pacman_strerror(status) result(text)
    integer(c_int), intent(in) :: status
    character(:), allocatable :: text
    text = text_of(pacman_strerror_c(status))
  end function

  integer(c_int) function pacman_session_open_text(name, events, session, placement, flags, &
      clock, log_samples) result(status)
    character(*), intent(in) :: name, events
    type(c_ptr), intent(out) :: session
    character(*), intent(in), optional :: placement
    integer(c_int32_t), intent(in), optional :: flags, clock
    integer(c_int64_t), intent(in), optional :: log_samples
    character(kind=c_char, len=:), allocatable, target :: c_name, c_events, c_placement
    type(pacman_options) :: options

    options%name = c_text(name, c_name)
    options%events = c_text(events, c_events)
    options%placement = c_text(placement, c_placement)
    if (present(flags)) options%flags = flags
    if (present(clock)) options%clock = clock
    if (present(log_samples)) options%log_samples = log_samples
    status = pacman_session_open_c(options, session)
  end function

  integer(c_int) function pacman_event_name(session, event, name) result(status)
    type(c_ptr), intent(in) :: session
    integer(c_size_t), intent(in) :: event
    character(:), allocatable, intent(out) :: name
    type(c_ptr) :: text
    text = c_null_ptr
    status = pacman_event_name_c(session, event, text)
    name = text_of(text)
  end function

  integer(c_int) function pacman_event_unit(session, event, unit) result(status)
    type(c_ptr), intent(in) :: session
    integer(c_size_t), intent(in) :: event
    character(:), allocatable, intent(out) :: unit
    type(c_ptr) :: text
    text = c_null_ptr
    status = pacman_event_unit_c(session, event, text)
    unit = text_of(text)
  end function

  integer(c_int) function pacman_phase_define(session, name, phase) result(status)
    type(c_ptr), intent(in) :: session
    character(*), intent(in) :: name
    type(pacman_phase), intent(out) :: phase
    status = pacman_phase_define_c(session, name // c_null_char, phase)
  end function

  integer(c_int) function pacman_report_save(session, format, path) result(status)
    type(c_ptr), intent(in) :: session
    integer(c_int32_t), intent(in) :: format
    character(*), intent(in) :: path
    status = pacman_report_save_c(session, format, path // c_null_char)
  end function

  integer(c_int) function pacman_adapt_open_text(adapter, max_threads, objective, break_even_ns, &
      switch_cost_ns, placement, model, machine) result(status)
    type(c_ptr), intent(out) :: adapter
    integer(c_int32_t), intent(in), optional :: max_threads, objective
    integer(c_int64_t), intent(in), optional :: break_even_ns, switch_cost_ns
    character(*), intent(in), optional :: placement, model, machine
    character(kind=c_char, len=:), allocatable, target :: c_placement, c_model, c_machine
    type(pacman_adapt_options) :: options

    if (present(max_threads)) options%max_threads = max_threads
    if (present(objective)) options%objective = objective
    if (present(break_even_ns)) options%break_even_ns = break_even_ns
    if (present(switch_cost_ns)) options%switch_cost_ns = switch_cost_ns
    options%placement = c_text(placement, c_placement)
    options%model = c_text(model, c_model)
    options%machine = c_text(machine, c_machine)
    status = pacman_adapt_open_c(options, adapter)
  end function

  integer(c_int) function pacman_adapt_phase_define(adapter, name, phase) result(status)
    type(c_ptr), intent(in) :: adapter
    character(*), intent(in) :: name
    type(pacman_adapt_phase), intent(out) :: phase
    status = pacman_adapt_phase_define_c(adapter, name // c_null_char, phase)
  end function

  ! The whole line, whatever its length.
  integer(c_int) function pacman_adapt_why(phase, line) result(status)
    type(pacman_adapt_phase), intent(in) :: phase
    character(:), allocatable, intent(out) :: line
    character(kind=c_char), target :: buffer(4096)
    buffer(1) = c_null_char
    status = pacman_adapt_why_c(phase, buffer, size(buffer, kind=c_size_t))
    line = text_of(c_loc(buffer))
  end function

  ! Calls of these two are statements: a program goes on without figures.
  subroutine pacman_region_begin(name, site)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(inout), optional :: site
    integer(c_int) :: status
    status = pacman_region_begin_c(name // c_null_char, site)
  end subroutine

  subroutine pacman_region_end(name, site)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(inout), optional :: site
    integer(c_int) :: status
    status = pacman_region_end_c(name // c_null_char, site)
  end subroutine
end module

// A program that, before its first region or after it, allows itself only the system calls that it makes alone.
// Any other call ends it. Arguments: how it installs the filter, "prctl", "syscall" or "instruction"; "late" for a region
// before; "exit" to end without exit handlers. "instruction" installs it by instructions of its own, so that no function
// of a library sees it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int allowed[] = {
    SYS_write,       SYS_futex,         SYS_mmap,           SYS_munmap,          SYS_mprotect,
    SYS_clone,       SYS_clone3,        SYS_rseq,           SYS_set_robust_list, SYS_exit,     SYS_exit_group,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_sched_yield,
#ifdef __clang__ // Its runtime reads the machine at the first region.
    SYS_brk,         SYS_close,         SYS_getpid,         SYS_getuid,          SYS_madvise,  SYS_newfstatat,
    SYS_openat,      SYS_read,          SYS_unlink,         SYS_sched_getaffinity, SYS_sched_setaffinity,
    SYS_fstat,       SYS_prlimit64,     SYS_sysinfo,        SYS_ftruncate,
#endif
};
enum { COUNT = sizeof allowed / sizeof *allowed };

static long instruction(long number, long first, long second, long third) {
  long result;
  __asm__ volatile("xor %%r10d, %%r10d\n\txor %%r8d, %%r8d\n\tsyscall"
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second), "d"(third)
                   : "rcx", "r8", "r10", "r11", "memory");
  return result;
}

static void install(const char *how) {
  struct sock_filter rules[COUNT + 3];
  int used = 0;
  rules[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int one = 0; one < COUNT; one++)
    rules[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[one], COUNT - one, 0);
  rules[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  rules[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {used, rules};
  int is_own = !strcmp(how, "instruction");
  if (is_own)
    instruction(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0);
  else
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  long refused = is_own ? instruction(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, (long)&program)
               : strcmp(how, "prctl") ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)
                                      : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  if (refused) {
    puts("skipped: the kernel refuses a filter of system calls");
    fflush(stdout);
    _exit(0);
  }
}

static double sums[4096];
static long total;

static void share(int round) {
#pragma omp parallel for num_threads(2)
  for (int at = 0; at < 4096; at++) sums[at] += at * round;
}

static void meet(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    total++;
#pragma omp barrier
#pragma omp critical
    {
#pragma omp atomic
      total++;
    }
#pragma omp single
#pragma omp task
    {
#pragma omp atomic
      total++;
    }
  }
}

int main(int count, char **words) {
  char line[64];
  int is_late = 0, exits = 0;
  for (int at = 2; at < count; at++) {
    is_late |= !strcmp(words[at], "late");
    exits |= !strcmp(words[at], "exit");
  }
  if (is_late) {
    share(0);
    meet();
  }
  install(words[1]);
  for (int round = 0; round < 200; round++) share(round);
  for (int round = 0; round < 50; round++) meet();
  int length = snprintf(line, sizeof line, "%ld %.0f\n", total, sums[7]);
  if (write(1, line, length) != length || exits) _exit(3 - 3 * exits);
  return 0;
}

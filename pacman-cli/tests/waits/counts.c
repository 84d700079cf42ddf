// Thread 0 touches new pages while thread 1 waits at a barrier. The second part's new pages are
// touched by a task, which the thread that waits runs.
#include <omp.h>
#include <sys/mman.h>

enum { PAGE = 4096, WORK = 2000, TASK = 700 };

// Pages that nobody touched, one by one even where the system has larger ones.
static volatile char *new_pages(int pages) {
  char *place = mmap(0, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
  madvise(place, (size_t)pages * PAGE, MADV_NOHUGEPAGE);
  return place;
}

static void touch(volatile char *place, int pages) {
  for (int page = 0; page < pages; page++)
    place[(size_t)page * PAGE] = 1;
}

static void spin(int milliseconds) {
  double end = omp_get_wtime() + milliseconds * 1e-3;
  while (omp_get_wtime() < end)
    ;
}

static void work(void) {
  volatile char *place = new_pages(WORK);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      spin(20);
      touch(place, WORK);
    }
#pragma omp barrier
    __asm__ volatile("");
  }
}

static void task(void) {
  volatile char *place = new_pages(TASK);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp task
      touch(place, TASK);
      spin(20);
    }
#pragma omp barrier
    __asm__ volatile("");
  }
}

int main(void) {
  work();
  task();
  return 0;
}

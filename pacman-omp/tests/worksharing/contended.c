// A hoisted time loop whose static loop takes longer the more threads take part: each turn at a
// lock lasts as long as there are threads that want it. Sections and a dynamic loop beside it.
#include <omp.h>
#include <unistd.h>

static int work;
#ifdef THREADPRIVATE
static int mine;
#pragma omp threadprivate(mine)
#endif

int main(void) {
  int wanting = 0, sections = 0, fetched = 0;
#pragma omp parallel
  for (int step = 0; step < 200; step++) {
    int wants = 0;
#ifdef ASKS
    wants = omp_get_thread_num() < 0;
#pragma omp for schedule(static, 1)
#else
#pragma omp for
#endif
    for (int i = 0; i < 16; i++) {
      if (!wants) {
        wants = 1;
#pragma omp atomic
        wanting++;
      }
#pragma omp critical
      {
        int many;
#pragma omp atomic read
        many = wanting;
        usleep(20 * many * many);
        work++;
      }
    }
#pragma omp single
    wanting = 0;
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp atomic
        sections++;
      }
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 16; i++)
#pragma omp atomic
      fetched++;
#ifdef THREADPRIVATE
    mine++;
#endif
  }
  return work != 16 * 200 || sections != 200 || fetched != 16 * 200;
}

// The time for which other work kept the process from its processors.
#include <dirent.h>
#include <stdio.h>

// Seconds for which threads of this process that live were ready to run and had no processor; 0 where the
// kernel does not say.
double lost_seconds(void) {
  double sum = 0;
  DIR *tasks = opendir("/proc/self/task");
  struct dirent *task;
  while (tasks && (task = readdir(tasks))) {
    char path[300];
    unsigned long long nanoseconds;
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    if (fscanf(file, "%*u %llu", &nanoseconds) == 1) sum += nanoseconds * 1e-9;
    fclose(file);
  }
  if (tasks) closedir(tasks);
  return sum;
}

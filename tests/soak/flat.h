/* Does a part again and again, and prints the resources of the process after each stretch, for soak tests:
 * resident kilobytes without pages of files, and open descriptors. */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int entries(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;

    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* When no more than so many threads are left. */
static void stands(int threads)
{
    long anonymous = -1, shared = -1;
    char line[256];
    int descriptors, tries;
    FILE *file;

    /* Threads that a runtime lets go end when they come to it; "." and ".." are entries, too. */
    for (tries = 0; entries("/proc/self/task") > threads + 2 && tries < 10000; tries++)
        usleep(1000);
    /* Freed memory is not in use. */
    malloc_trim(0);
    descriptors = entries("/proc/self/fd");
    file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "RssAnon: %ld", &anonymous);
        sscanf(line, "RssShmem: %ld", &shared);
    }
    fclose(file);
    if (anonymous < 0 || shared < 0)
        perror("RssAnon or RssShmem");
    printf("stands %ld %d\n", anonymous + shared, descriptors);
    fflush(stdout);
}

/* Arguments: how often at first, how often in all, and in how many stretches after the first. */
static void soak(void (*part)(long), char **argument, int threads)
{
    long warm = atol(argument[0]), rest = atol(argument[1]) - warm, stretches = atol(argument[2]), stretch;

    part(warm);
    stands(threads);
    for (stretch = 1; stretch <= stretches; stretch++) {
        part(stretch < stretches ? rest / stretches : rest - rest / stretches * (stretches - 1));
        stands(threads);
    }
}

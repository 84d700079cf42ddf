/* The resources of a process when no more than so many threads are left, for soak tests: a line with a word,
 * resident kilobytes without pages of files, and open descriptors. */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
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

static void stands(const char *word, int threads)
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
    printf("%s %ld %d\n", word, anonymous + shared, descriptors);
    fflush(stdout);
}

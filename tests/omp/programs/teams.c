/* Teams on the host: a league, and loops shared out among it. */
#include "verify.h"
#include <omp.h>

enum { LENGTH = 600, STEPS = 20 };
static int seen[LENGTH];

int main(void) {
    long total = 0;
    for (int step = 0; step < STEPS; step++) {
        long teams = 0;
#pragma omp teams num_teams(3) thread_limit(2) reduction(+ : teams)
        teams += omp_get_team_num() + 1;
        VERIFY(teams >= 1 && teams <= 6);
#pragma omp teams distribute parallel for num_teams(2) thread_limit(4)
        for (int i = 0; i < LENGTH; i++) seen[i]++;
#pragma omp teams num_teams(2)
        {
#pragma omp distribute
            for (int i = 0; i < LENGTH; i++) seen[i]++;
        }
        long sum = 0;
#pragma omp teams distribute parallel for reduction(+ : sum) num_teams(2) thread_limit(4)
        for (int i = 0; i < LENGTH; i++) sum += seen[i];
        VERIFY(sum == LENGTH * 2L * (step + 1));
        total += sum;
    }
    printf("%ld\n", total);
}

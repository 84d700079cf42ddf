/* Numbers that get away: no region is proved. */
#include "team.h"

enum { MOST = 4000 };
double a[MOST], b[MOST];
long partial[64];
int number;
int kept;
volatile int seen;

void stored_by_number(void) {
    int n = number;
#pragma omp parallel
    {
        long own = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) own += i;
        partial[omp_get_thread_num()] = own;
    }
}

void stored_itself(void) {
    int n = number;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        kept = omp_get_num_threads();
    }
}

void passed(void) {
    int n = number;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        elsewhere(omp_get_thread_num());
    }
}

void passed_by_reference(void) {
    int n = number;
#pragma omp parallel
    {
        int mine = omp_get_thread_num();
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        with_place(&mine);
    }
}

void compared_with_zero(void) {
    int n = number;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        if (omp_get_thread_num() == 0) kept++;
    }
}

void compared_with_another(void) {
    int n = number;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        if (omp_get_thread_num() < number) kept++;
    }
}

void beside_the_index(void) {
    int n = number;
#pragma omp parallel
    {
        int mine = omp_get_thread_num();
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i + 64 * mine] += b[i];
    }
}

void added_to_the_value(void) {
    int n = number;
#pragma omp parallel
    {
        int mine = omp_get_thread_num();
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i + mine;
    }
}

void chunk_of_its_own(void) {
    int n = number;
#pragma omp parallel
    {
        int size = (n + omp_get_num_threads() - 1) / omp_get_num_threads();
        int from = size * omp_get_thread_num(), to = from + size < n ? from + size : n;
        for (int i = from; i < to; i++) a[i] = i;
    }
}

void share_without_remainder(void) {
    int n = number;
#pragma omp parallel
    {
        int size = n / omp_get_num_threads();
        int from = size * omp_get_thread_num();
        for (int i = from; i < from + size; i++) a[i] = i;
    }
}

void share_with_a_gap(void) {
    int n = number;
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), mine = omp_get_thread_num();
        int size = n / threads, rest = n % threads;
        if (mine < rest) size++, rest = 0;
        int from = size * mine + rest + 1, to = from + size;
        for (int i = from; i < to; i++) a[i] = i;
    }
}

void share_of_another_number(void) {
    int n = number;
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), mine = omp_get_thread_num();
        int size = n / threads, rest = (n + 1) % threads;
        if (mine < rest) size++, rest = 0;
        int from = size * mine + rest, to = from + size;
        for (int i = from; i < to; i++) a[i] = i;
    }
}

void strided(void) {
    int n = number;
#pragma omp parallel
    for (int i = omp_get_thread_num(); i < n; i += omp_get_num_threads()) a[i] = partial[i % 64];
}

void seed(void) {
    int n = number;
#pragma omp parallel
    {
        unsigned state = 17u * (unsigned)omp_get_thread_num();
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            a[i] = state;
        }
    }
}

void length_of_the_team(void) {
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < omp_get_num_threads(); i++) a[i] = i;
    }
}

void in_a_switch(void) {
    int n = number;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        switch (omp_get_thread_num()) {
        case 0: kept = 3; break;
        case 1: kept = 7; break;
        case 2: kept = 2; break;
        case 3: elsewhere(9); break;
        case 4: kept = -1; break;
        case 5: elsewhere(4); break;
        }
    }
}

void in_floating_point(void) {
    int n = number;
#pragma omp parallel
    {
        double mine = omp_get_thread_num();
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = b[i] * mine;
    }
}

/* The remainder tells threads apart, as it does in static loops. */
void below_the_remainder(void) {
    int n = number;
#pragma omp parallel
    if (omp_get_thread_num() < n % omp_get_num_threads()) {
#pragma omp atomic
        kept++;
    }
}

void length_of_a_share(void) {
    int n = number;
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), mine = omp_get_thread_num();
        int size = n / threads;
        if (mine < n % threads) size = 7;
#pragma omp critical
        kept += size;
    }
}

void kept_side(void) {
    int n = number;
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), mine = omp_get_thread_num(), is_longer = 3;
        if (mine < n % threads) is_longer = 5;
#pragma omp critical
        kept += is_longer;
    }
}

void side_after_a_loop(void) {
    int n = number;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        if (omp_get_thread_num() < n % omp_get_num_threads()) elsewhere(3);
    }
}

void number_as_an_iteration(void) {
    int n = number;
#pragma omp parallel
    {
        int mine = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++)
            if (i == mine) kept = i;
    }
}

/* `inc` leaves the carry flag of the comparison. */
void carry_beside_another_result(void) {
    int n = number;
#pragma omp parallel
    {
        int mine = omp_get_thread_num(), count = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        asm volatile("cmpl %3, %2\n\tincl %0\n\tjae 1f\n\tmovl $5, %1\n1:"
                     : "+r"(count), "+m"(kept)
                     : "r"(mine), "r"(n)
                     : "cc");
    }
}

void copied_by_a_string_instruction(void) {
    int n = number;
    long *to = partial;
#pragma omp parallel
    {
        int place[8] = {1, 2, 3};
        place[3] = omp_get_thread_num();
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        void *from = place, *target = to;
        long length = sizeof place;
        asm volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(length) : : "memory");
    }
}

/* The program may change what the variable calls. */
int (*who)(void) = omp_get_thread_num;

void called_by_a_variable(void) {
    int n = number;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
        partial[who()] = n + omp_get_thread_num();
    }
}

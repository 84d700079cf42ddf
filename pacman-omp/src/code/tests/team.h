/* Regions whose bodies are told and not run. Each function of a test is `void name(void)` and starts one
   region or more. The questions for numbers are never called. */
#ifdef __cplusplus
extern "C" {
#endif

typedef void (*body)(void *);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
void elsewhere(long);
void with_place(int *);
double some_double(double);

body bodies[64];
int known;

void GOMP_parallel(body of, void *data, unsigned threads, unsigned flags) {
    (void)data, (void)threads, (void)flags;
    bodies[known++] = of;
}

#ifdef __cplusplus
}
#endif

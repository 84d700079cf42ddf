/* The functions that tested regions call. Nobody calls them, because no region is run. */
int omp_get_thread_num(void) { return 0; }
int omp_get_num_threads(void) { return 1; }
int omp_get_max_threads(void) { return 1; }
void elsewhere(long number) { (void)number; }
void with_place(int *place) { (void)place; }
double some_double(double value) { return value; }
void GOMP_barrier(void) {}
void GOMP_critical_start(void) {}
void GOMP_critical_end(void) {}
void GOMP_atomic_start(void) {}
void GOMP_atomic_end(void) {}

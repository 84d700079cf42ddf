/* Adaptation with a model: the loop, and every model that is refused.
 *
 * Usage: model MODEL OF_ANOTHER_MACHINE THAT_NEEDS_COUNTS, all for at most two threads. */
#include "check.h"

static int opened(pacman_adapt_options *options, const char *model)
{
    pacman_adapter *adapter = NULL;
    int status;

    options->model = model;
    status = pacman_adapt_open(options, &adapter);
    if (status >= 0)
        CHECK(pacman_adapt_close(adapter) == PACMAN_OK);
    return status;
}

int main(int argc, char **argv)
{
    pacman_adapt_options options = PACMAN_ADAPT_OPTIONS_INIT;
    pacman_adapter *adapter = NULL;
    pacman_adapt_phase phase = {0};
    char why[512];
    int i, threads;

    check_begin();
    if (argc != 4)
        return 2;
    options.break_even_ns = 1;
    options.max_threads = 2;

    options.model = argv[1];
    ANSWERS(PACMAN_OK, pacman_adapt_open(&options, &adapter));
    ANSWERS(PACMAN_OK, pacman_adapt_phase_define(adapter, "loop", &phase));
    for (i = 0; i < 300; i++) {
        threads = check_threads(phase);
        CHECK(threads == 1 || threads == 2);
        ANSWERS(PACMAN_OK, pacman_adapt_done(phase, 0.01 * threads));
    }
    /* As in the data: each thread only costs. */
    CHECK(check_threads(phase) == 1);
    ANSWERS(PACMAN_OK, pacman_adapt_why(phase, why, sizeof why));
    ANSWERS(PACMAN_OK, pacman_adapt_close(adapter));

    ANSWERS(PACMAN_E_UNSUPPORTED, opened(&options, argv[2]));
    CHECK(strstr(pacman_last_error(), "is for machine \"Keystone\", not for"));
    options.machine = "Keystone";
    CHECK(opened(&options, argv[2]) == PACMAN_OK);
    ANSWERS(PACMAN_E_UNSUPPORTED, opened(&options, argv[1]));
    options.machine = NULL;
    ANSWERS(PACMAN_E_UNSUPPORTED, opened(&options, argv[3]));
    CHECK(strstr(pacman_last_error(), "needs counts of"));
    ANSWERS(PACMAN_E_SYSTEM, opened(&options, "/no/such/model.json"));
    ANSWERS(PACMAN_E_INVALID, opened(&options, argv[0]));
    options.objective = PACMAN_OBJECTIVE_ENERGY;
    ANSWERS(PACMAN_E_INVALID, opened(&options, argv[1]));
    CHECK(strstr(pacman_last_error(), "cannot adapt for energy with this predictor"));
    options.objective = PACMAN_OBJECTIVE_TIME;
    options.max_threads = 1;
    ANSWERS(PACMAN_E_INVALID, opened(&options, argv[1]));
    CHECK(strstr(pacman_last_error(), "within 1 threads with this predictor: it predicts from"));
    options.max_threads = 2;

    /* Compiled before there were models: what is behind the placement is not read. */
    options.size = (uint32_t)offsetof(pacman_adapt_options, model);
    CHECK(opened(&options, argv[2]) == PACMAN_OK);
    return check_end();
}

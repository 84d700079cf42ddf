/* Prints every name that libpfm4 has for the processors named in the arguments, with its encoding:
 * PMU, name, error code, and two code words, separated by tabs.
 * A name is an event, or an event and one unit mask. With --pairs first, AMD's events with two unit
 * masks follow: one mask of each group, or two of the same. */
#include <inttypes.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(const char *pmu, const char *name)
{
	char full[512];
	uint64_t codes[8] = { 0 }, *words = codes;
	int count = 8;
	snprintf(full, sizeof full, "%s::%s", pmu, name);
	int error = pfm_get_event_encoding(full, PFM_PLM3, NULL, NULL, &words, &count);
	printf("%s\t%s\t%d\t%#" PRIx64 "\t%#" PRIx64 "\n", pmu, name, error, codes[0], codes[1]);
}

static void pairs(const pfm_pmu_info_t *pmu, int at, const pfm_event_info_t *event)
{
	for (int one = 0; one < event->nattrs; one++) {
		for (int other = one + 1; other < event->nattrs; other++) {
			pfm_event_attr_info_t masks[2] = { { .size = sizeof masks[0] },
							   { .size = sizeof masks[0] } };
			char name[384];
			if (pfm_get_event_attr_info(at, one, PFM_OS_NONE, &masks[0]) != PFM_SUCCESS ||
			    pfm_get_event_attr_info(at, other, PFM_OS_NONE, &masks[1]) != PFM_SUCCESS)
				exit(1);
			if (masks[0].type != PFM_ATTR_UMASK || masks[1].type != PFM_ATTR_UMASK)
				continue;
			snprintf(name, sizeof name, "%s:%s:%s", event->name, masks[0].name,
				 masks[1].name);
			print(pmu->name, name);
		}
	}
}

static void events(const pfm_pmu_info_t *pmu, int with_pairs)
{
	for (int at = pmu->first_event; at != -1; at = pfm_get_event_next(at)) {
		pfm_event_info_t event = { .size = sizeof event };
		if (pfm_get_event_info(at, PFM_OS_NONE, &event) != PFM_SUCCESS)
			exit(1);
		print(pmu->name, event.name);
		for (int index = 0; index < event.nattrs; index++) {
			pfm_event_attr_info_t mask = { .size = sizeof mask };
			char name[384];
			if (pfm_get_event_attr_info(at, index, PFM_OS_NONE, &mask) != PFM_SUCCESS)
				exit(1);
			if (mask.type != PFM_ATTR_UMASK)
				continue;
			snprintf(name, sizeof name, "%s:%s", event.name, mask.name);
			print(pmu->name, name);
		}
		if (with_pairs && !strncmp(pmu->name, "amd64", 5))
			pairs(pmu, at, &event);
	}
}

int main(int count, char **names)
{
	int with_pairs = count > 1 && !strcmp(names[1], "--pairs");
	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	for (int number = 0; number < PFM_PMU_MAX; number++) {
		pfm_pmu_info_t pmu = { .size = sizeof pmu };
		if (pfm_get_pmu_info(number, &pmu) != PFM_SUCCESS)
			continue;
		for (int name = 1; name < count; name++)
			if (!strcmp(names[name], pmu.name))
				events(&pmu, with_pairs);
	}
	return 0;
}

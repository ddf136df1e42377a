/* Probes WDL tables with libfathom, for the benchmark `chess_probing`.
 *
 *     fathom DIR
 *
 * reads from standard input the number of positions, then a line for each:
 * bitboards of white, black, kings, queens, rooks, bishops, knights and pawns
 * in hexadecimal, and 1 if White is to move. After that each further line asks
 * for one pass over all positions. It is answered with the nanoseconds it took
 * and a digit for each position, 0 for a loss to 4 for a win, `-` for a
 * position without a table.
 *
 * A program of its own, so that nothing else is linked with the library.
 */
#define _POSIX_C_SOURCE 199309L

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tbprobe.h>

struct placement {
    uint64_t white, black, kings, queens, rooks, bishops, knights, pawns;
    bool white_to_move;
};

static int fail(const char *reason)
{
    fprintf(stderr, "fathom: %s\n", reason);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fail("expected the folder of the tables");
    if (!tb_init(argv[1]) || TB_LARGEST == 0)
        return fail("no tables there");

    size_t count;
    if (scanf("%zu", &count) != 1 || count == 0)
        return fail("expected the number of positions");
    struct placement *placements = calloc(count, sizeof *placements);
    char *values = calloc(count + 1, 1);
    if (placements == NULL || values == NULL)
        return fail("not enough memory");
    for (size_t i = 0; i < count; i++) {
        struct placement *p = &placements[i];
        int white_to_move;
        if (scanf("%" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %d",
                  &p->white, &p->black, &p->kings, &p->queens, &p->rooks, &p->bishops, &p->knights, &p->pawns,
                  &white_to_move) != 9)
            return fail("expected eight bitboards and the side to move");
        p->white_to_move = white_to_move != 0;
    }

    char word[16];
    while (scanf("%15s", word) == 1) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (size_t i = 0; i < count; i++) {
            const struct placement *p = &placements[i];
            unsigned value = tb_probe_wdl(p->white, p->black, p->kings, p->queens, p->rooks, p->bishops, p->knights,
                                          p->pawns, 0, 0, 0, p->white_to_move);
            values[i] = value == TB_RESULT_FAILED ? '-' : (char)('0' + value);
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        int64_t nanoseconds = (int64_t)(end.tv_sec - start.tv_sec) * 1000000000 + (end.tv_nsec - start.tv_nsec);
        printf("%" PRId64 " %s\n", nanoseconds, values);
        fflush(stdout);
    }
    tb_free();
    return 0;
}

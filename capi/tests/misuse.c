/* Every call with every kind of wrong argument: a status, never a crash. Prints nothing and returns 0 if all is well. */
#include <petrov.h>
#include <stdio.h>
#include <string.h>

static int failures;

#define IS(call, expected)                                                                                             \
    do {                                                                                                               \
        int found = (int)(call);                                                                                       \
        if (found != (int)(expected)) {                                                                                \
            printf("line %d: %s: %d, expected %d\n", __LINE__, #call, found, (int)(expected));                         \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

static void check_text(int line, const char *part)
{
    char text[1024], cut[5] = "xxxx";
    size_t length = petrov_last_error(text, sizeof text);
    if (strlen(text) != length || strstr(text, part) == NULL) {
        printf("line %d: the text is %s, expected one with %s\n", line, text, part);
        failures++;
    }
    if (petrov_last_error(cut, sizeof cut) != length || strlen(cut) != 4 || memcmp(cut, text, 4) != 0) {
        printf("line %d: cut short the text is %s\n", line, cut);
        failures++;
    }
    petrov_last_error(NULL, 0);
}
#define TEXT(part) check_text(__LINE__, part)

int main(void)
{
    const char *fen = "W:WKe1,Kc3:BKa5";
    PetrovProber prober = {0}, closed = {0}, chess;
    PetrovHandle handle = {0}, none = {0}, other;
    PetrovOptions options = {0};
    int value = 77, result = 77;
    size_t count = 77;
    PetrovMove moves[64];

    if (strchr(petrov_version(), '.') == NULL)
        failures++;

    /* Opening. */
    IS(petrov_open(NULL, NULL, &prober), PETROV_STATUS_NULL);
    IS(petrov_open("russian", NULL, NULL), PETROV_STATUS_NULL);
    TEXT("NULL");
    IS(petrov_open("rusian", NULL, &prober), PETROV_STATUS_ARGUMENT);
    TEXT("did you mean russian");
    IS(petrov_open("\xff\xfe", NULL, &prober), PETROV_STATUS_ARGUMENT);
    IS(petrov_open("russian", &options, &prober), PETROV_STATUS_SIZE);
    options.size = sizeof options + 8;
    IS(petrov_open("russian", &options, &prober), PETROV_STATUS_SIZE);
    options.size = sizeof options;
    options.read = 9;
    IS(petrov_open("russian", &options, &prober), PETROV_STATUS_ARGUMENT);
    options.read = PETROV_READ_PREAD;
    options.rules = "/no/such/file.toml";
    IS(petrov_open("russian", &options, &prober), PETROV_STATUS_ARGUMENT);
    TEXT("/no/such/file.toml");
    options.rules = NULL;
    options.folders = "/dev/null";
    IS(petrov_open("russian", &options, &prober), PETROV_STATUS_TABLE);
    TEXT("/dev/null");
    options.folders = NULL;
    IS(prober.id, 0);
    IS(petrov_open("russian", &options, &prober), PETROV_STATUS_OK);
    IS(petrov_open("chess", NULL, &chess), PETROV_STATUS_OK);

    /* Handles. */
    IS(petrov_handle_open(closed, &handle), PETROV_STATUS_CLOSED);
    closed.id = UINT64_MAX;
    IS(petrov_handle_open(closed, &handle), PETROV_STATUS_CLOSED);
    IS(petrov_handle_open(prober, NULL), PETROV_STATUS_NULL);
    IS(petrov_handle_open(prober, &handle), PETROV_STATUS_OK);
    IS(petrov_handle_open(chess, &other), PETROV_STATUS_OK);

    /* Values. */
    IS(petrov_value_fen(none, fen, PETROV_MODE_SEARCH, &value), PETROV_STATUS_CLOSED);
    TEXT("open");
    IS(petrov_value_fen(handle, NULL, PETROV_MODE_SEARCH, &value), PETROV_STATUS_NULL);
    IS(petrov_value_fen(handle, fen, PETROV_MODE_SEARCH, NULL), PETROV_STATUS_NULL);
    IS(petrov_value_fen(handle, fen, 5, &value), PETROV_STATUS_ARGUMENT);
    IS(petrov_value_fen(handle, "W:WKa1,Kz9:BKh2", PETROV_MODE_SEARCH, &value), PETROV_STATUS_FEN);
    TEXT("z9");
    IS(petrov_value_fen(handle, "", PETROV_MODE_SEARCH, &value), PETROV_STATUS_FEN);
    IS(petrov_value_fen(other, fen, PETROV_MODE_SEARCH, &value), PETROV_STATUS_FEN);
    IS(petrov_value_fen(handle, "W:Wa1,b2,c1,c3,d2:Bh8,g7,f8,e7,d8", PETROV_MODE_SEARCH, &value), PETROV_STATUS_NOT_IN_TABLE);
    IS(value, 77);
    IS(petrov_value_fen(handle, fen, PETROV_MODE_SEARCH, &value), PETROV_STATUS_OK);
    IS(value, PETROV_VALUE_WIN);
    IS(petrov_value_fen(handle, "W:WKa1,Kc1:BKd2", PETROV_MODE_LOOKUP, &value), PETROV_STATUS_NEEDS_CAPTURE_SEARCH);
    IS(petrov_value_fen(handle, "W:WKa1,Kc1:BKd2", PETROV_MODE_SEARCH, &value), PETROV_STATUS_OK);
    IS(value, PETROV_VALUE_WIN);

    PetrovDraughts draughts = {0};
    value = 77;
    draughts.kings[0][0] = 1;
    draughts.kings[1][0] = UINT64_C(1) << 31;
    IS(petrov_value_draughts(handle, NULL, PETROV_MODE_SEARCH, &value), PETROV_STATUS_NULL);
    IS(petrov_value_draughts(handle, &draughts, PETROV_MODE_SEARCH, &value), PETROV_STATUS_SIZE);
    draughts.size = sizeof draughts;
    IS(petrov_value_draughts(handle, &draughts, PETROV_MODE_SEARCH, &value), PETROV_STATUS_OK);
    IS(petrov_value_draughts(other, &draughts, PETROV_MODE_SEARCH, &value), PETROV_STATUS_ARGUMENT);
    draughts.turn = 2;
    IS(petrov_value_draughts(handle, &draughts, PETROV_MODE_SEARCH, &value), PETROV_STATUS_ARGUMENT);
    draughts.turn = 1;
    draughts.men[0][0] = 1;
    IS(petrov_value_draughts(handle, &draughts, PETROV_MODE_SEARCH, &value), PETROV_STATUS_POSITION);
    draughts.men[0][0] = UINT64_C(1) << 31;
    IS(petrov_value_draughts(handle, &draughts, PETROV_MODE_SEARCH, &value), PETROV_STATUS_POSITION);
    draughts.men[0][0] = UINT64_C(1) << 32;
    IS(petrov_value_draughts(handle, &draughts, PETROV_MODE_SEARCH, &value), PETROV_STATUS_POSITION);
    draughts.men[0][0] = 0;
    draughts.men[0][1] = UINT64_C(1) << 63;
    IS(petrov_value_draughts(handle, &draughts, PETROV_MODE_SEARCH, &value), PETROV_STATUS_POSITION);
    TEXT("stand where they cannot");

    /* White: Ka1, pe5; Black: Kh8, pd5. */
    PetrovChess pieces = {0};
    pieces.size = sizeof pieces;
    pieces.white = UINT64_C(1);
    pieces.black = UINT64_C(1) << 63;
    pieces.kings = pieces.white | pieces.black;
    pieces.en_passant = -1;
    IS(petrov_value_chess(other, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_OK);
    IS(value, PETROV_VALUE_DRAW);
    pieces.castling = 1;
    IS(petrov_value_chess(other, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_NOT_IN_TABLE);
    pieces.castling = 0;
    pieces.en_passant = 64;
    IS(petrov_value_chess(other, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_ARGUMENT);
    pieces.en_passant = 43;
    IS(petrov_value_chess(other, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_POSITION);
    pieces.en_passant = -1;
    pieces.queens = 2;
    IS(petrov_value_chess(other, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_POSITION);
    pieces.white |= 2;
    IS(petrov_value_chess(other, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_OK);
    IS(value, PETROV_VALUE_WIN);
    pieces.rooks = 2;
    IS(petrov_value_chess(other, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_POSITION);
    pieces.rooks = 0;
    pieces.turn = -1;
    IS(petrov_value_chess(other, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_ARGUMENT);
    pieces.turn = 0;
    pieces.kings = 0;
    IS(petrov_value_chess(other, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_POSITION);
    IS(petrov_value_chess(handle, &pieces, PETROV_MODE_SEARCH, &value), PETROV_STATUS_ARGUMENT);

    /* Distances and moves. */
    int plies = 77;
    IS(petrov_distance_fen(handle, fen, 3, &value, &plies), PETROV_STATUS_ARGUMENT);
    IS(petrov_distance_fen(handle, fen, PETROV_METRIC_DTW, &value, NULL), PETROV_STATUS_NULL);
    IS(petrov_distance_fen(handle, fen, PETROV_METRIC_DTW, &value, &plies), PETROV_STATUS_OK);
    IS(plies > 0 && plies < 77, 1);
    IS(petrov_best_moves(handle, fen, PETROV_METRIC_WLD, NULL, moves, sizeof moves[0], 64, &count, &result), PETROV_STATUS_ARGUMENT);
    IS(petrov_best_moves(handle, fen, PETROV_METRIC_DTW, NULL, moves, sizeof moves[0] - 4, 64, &count, &result), PETROV_STATUS_SIZE);
    IS(petrov_best_moves(handle, fen, PETROV_METRIC_DTW, NULL, NULL, sizeof moves[0], 64, &count, &result), PETROV_STATUS_NULL);
    IS(petrov_best_moves(handle, fen, PETROV_METRIC_DTW, NULL, moves, sizeof moves[0], 64, NULL, &result), PETROV_STATUS_NULL);
    IS(petrov_best_moves(handle, fen, PETROV_METRIC_DTW, NULL, NULL, sizeof moves[0], 0, &count, &result), PETROV_STATUS_OK);
    IS(result, PETROV_VALUE_WIN);
    size_t all = count;
    memset(moves, 'x', sizeof moves);
    IS(petrov_best_moves(handle, fen, PETROV_METRIC_DTW, NULL, moves, sizeof moves[0], 1, &count, &result), PETROV_STATUS_OK);
    IS(count == all && all > 0, 1);
    IS(moves[0].dtw, plies);
    IS(strlen(moves[0].text) >= 5 && strlen(moves[0].text) < 10, 1);
    IS(moves[1].text[0], 'x');
    PetrovCount rule = {0};
    IS(petrov_best_moves(handle, fen, PETROV_METRIC_DTW, &rule, moves, sizeof moves[0], 64, &count, &result), PETROV_STATUS_SIZE);
    rule.size = sizeof rule;
    IS(petrov_best_moves(handle, fen, PETROV_METRIC_DTW, &rule, moves, sizeof moves[0], 64, &count, &result), PETROV_STATUS_OK);
    rule.limit = 30;
    /* The starter set has no dtz tables. */
    IS(petrov_best_moves(handle, fen, PETROV_METRIC_DTW, &rule, moves, sizeof moves[0], 64, &count, &result), PETROV_STATUS_NOT_IN_TABLE);
    TEXT("dtz");

    /* The rest. */
    PetrovLimit limit = {0};
    IS(petrov_limit(prober, PETROV_METRIC_WLD, &limit), PETROV_STATUS_SIZE);
    limit.size = sizeof limit;
    IS(petrov_limit(prober, PETROV_METRIC_WLD, NULL), PETROV_STATUS_NULL);
    IS(petrov_limit(prober, -1, &limit), PETROV_STATUS_ARGUMENT);
    IS(petrov_limit(prober, PETROV_METRIC_WLD, &limit), PETROV_STATUS_OK);
    IS(petrov_limit_admits(&limit, 2, 1), 1);
    IS(petrov_limit_admits(&limit, 12, 12), 0);
    PetrovFilled filled = {0};
    IS(petrov_warm(prober, PETROV_METRIC_WLD, 3, 1 << 20, &filled), PETROV_STATUS_SIZE);
    filled.size = sizeof filled;
    IS(petrov_warm(prober, PETROV_METRIC_WLD, 3, 1 << 20, &filled), PETROV_STATUS_OK);
    IS(filled.asked == filled.done && filled.done > 0, 1);
    IS(petrov_unpack(prober, 2, 1 << 20, NULL), PETROV_STATUS_OK);
    IS(petrov_unpack(prober, 3, 1 << 20, &filled), PETROV_STATUS_OK);
    IS(filled.asked == filled.done && filled.bytes > 0 && filled.bytes <= 1 << 20, 1);
    IS(petrov_value_fen(handle, "W:WKa1,Kc1:BKd2", PETROV_MODE_LOOKUP, &value), PETROV_STATUS_OK);
    IS(value, PETROV_VALUE_WIN);
    IS(petrov_prefetch_fen(handle, fen, PETROV_METRIC_DTW), PETROV_STATUS_OK);
    IS(petrov_prefetch_fen(handle, "?", PETROV_METRIC_DTW), PETROV_STATUS_FEN);
    PetrovStats stats = {0};
    IS(petrov_stats(handle, &stats), PETROV_STATUS_SIZE);
    stats.size = sizeof stats;
    IS(petrov_stats(handle, &stats), PETROV_STATUS_OK);
    IS(stats.probes > 0 && stats.lookups > 0 && stats.cache_budget == 64 << 20, 1);

    /* A handle outlives its prober; what is closed is an error for good. */
    IS(petrov_close(prober), PETROV_STATUS_OK);
    IS(petrov_close(prober), PETROV_STATUS_CLOSED);
    IS(petrov_warm(prober, PETROV_METRIC_WLD, 3, 1 << 20, NULL), PETROV_STATUS_CLOSED);
    IS(petrov_unpack(prober, 3, 1 << 20, NULL), PETROV_STATUS_CLOSED);
    IS(petrov_limit(prober, PETROV_METRIC_WLD, &limit), PETROV_STATUS_CLOSED);
    IS(petrov_value_fen(handle, fen, PETROV_MODE_SEARCH, &value), PETROV_STATUS_OK);
    IS(petrov_handle_close(handle), PETROV_STATUS_OK);
    IS(petrov_handle_close(handle), PETROV_STATUS_CLOSED);
    IS(petrov_value_fen(handle, fen, PETROV_MODE_SEARCH, &value), PETROV_STATUS_CLOSED);
    IS(petrov_stats(handle, &stats), PETROV_STATUS_CLOSED);
    IS(petrov_open("russian", NULL, &prober), PETROV_STATUS_OK);
    none = handle;
    IS(petrov_handle_open(prober, &handle), PETROV_STATUS_OK);
    IS(petrov_value_fen(none, fen, PETROV_MODE_SEARCH, &value), PETROV_STATUS_CLOSED);
    IS(petrov_handle_close(handle), PETROV_STATUS_OK);
    IS(petrov_close(prober), PETROV_STATUS_OK);
    IS(petrov_handle_close(other), PETROV_STATUS_OK);
    IS(petrov_close(chess), PETROV_STATUS_OK);
    return failures != 0;
}

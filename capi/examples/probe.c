/* Looks up one position: probe GAME FEN [FOLDERS]
 *
 *     cc -std=c99 probe.c $(pkg-config --cflags --libs petrov) -o probe
 */
#include <petrov.h>
#include <stdio.h>

static int failed(const char *what)
{
    char text[512];
    petrov_last_error(text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
    return 1;
}

int main(int count, char **arguments)
{
    if (count < 3) {
        fprintf(stderr, "usage: probe GAME FEN [FOLDERS]\n");
        return 2;
    }
    /* The default folders, and the starter set of the library, unless folders are named. */
    PetrovOptions options = {0};
    options.size = sizeof options;
    options.folders = count > 3 ? arguments[3] : NULL;

    PetrovProber prober;
    PetrovHandle handle;
    if (petrov_open(arguments[1], &options, &prober) != PETROV_STATUS_OK)
        return failed(arguments[1]);
    if (petrov_handle_open(prober, &handle) != PETROV_STATUS_OK)
        return failed("handle");

    int value;
    PetrovStatus status = petrov_value_fen(handle, arguments[2], PETROV_MODE_SEARCH, &value);
    if (status == PETROV_STATUS_NOT_IN_TABLE)
        puts("not in a table");
    else if (status != PETROV_STATUS_OK)
        return failed(arguments[2]);
    else
        puts(value == PETROV_VALUE_WIN ? "win" : value == PETROV_VALUE_LOSS ? "loss" : "draw");

    PetrovMove moves[8];
    size_t found;
    int result;
    status = petrov_best_moves(handle, arguments[2], PETROV_METRIC_DTW, NULL, moves, sizeof moves[0], 8, &found, &result);
    if (status == PETROV_STATUS_OK)
        for (size_t n = 0; n < found && n < 8; n++)
            printf("%s %d\n", moves[n].text, (int)moves[n].dtw);
    else {
        /* Such as that there are no distances, or none by which the game's rule of counting could be kept. */
        char text[512];
        petrov_last_error(text, sizeof text);
        printf("no moves: %s\n", text);
    }

    petrov_handle_close(handle);
    petrov_close(prober);
    return 0;
}

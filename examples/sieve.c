/* C: the sieve of Eratosthenes. The bound is the first argument. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments) {
    int bound = count > 1 ? atoi(arguments[1]) : 100;
    if (bound < 2 || bound > 10000000) {
        fprintf(stderr, "the bound must be from 2 to 10000000\n");
        return 2;
    }
    char *crossed = calloc((size_t)bound + 1, 1);
    if (crossed == NULL) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    int primes = 0;
    for (int number = 2; number <= bound; number++) {
        if (crossed[number]) continue;
        primes++;
        for (long multiple = (long)number * number; multiple <= bound; multiple += number)
            crossed[multiple] = 1;
    }
    printf("%d primes up to %d\n", primes, bound);
    free(crossed);
    return 0;
}

/*
 * The yardstick: what libcurl's multi interface does by itself, with one thread and one loop.
 *
 *     multi BASE_URL [FIELD...]
 *
 * Each FIELD is a header field of every request, such as "Accept-Encoding: gzip", and "Accept:" takes that of libcurl away.
 * Reads orders from standard input, a line each, and answers each with a line, as the contenders in Swift do:
 *     order:   PATH REQUESTS AT_ONCE
 *     answer:  WALL_MICROSECONDS CPU_MICROSECONDS BODY_BYTES RESIDENT_KILOBYTES
 * Every body is collected in memory. Anything but a 200 ends the program.
 */

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct transfer {
    CURL *easy;
    char *bytes;
    size_t count, capacity;
};

static void fail(const char *what) {
    fprintf(stderr, "multi: %s\n", what);
    exit(1);
}

static size_t take(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    size_t more = size * count;
    if (transfer->count + more > transfer->capacity) {
        size_t capacity = (transfer->count + more) * 2;
        char *larger = realloc(transfer->bytes, capacity);
        if (!larger) return 0;
        transfer->bytes = larger;
        transfer->capacity = capacity;
    }
    memcpy(transfer->bytes + transfer->count, bytes, more);
    transfer->count += more;
    return more;
}

static long long wall(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static long long cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* 0 where the system doesn't tell. */
static long resident(void) {
    char line[256];
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) break;
    fclose(file);
    return kilobytes;
}

static long long run(CURLM *multi, const char *url, struct curl_slist *fields, long requests, long at_once) {
    struct transfer *transfers = calloc((size_t)at_once, sizeof *transfers);
    if (!transfers) fail("out of memory");
    long started = 0, finished = 0;
    long long total = 0;
    for (long index = 0; index < at_once && index < requests; index++, started++) {
        CURL *easy = curl_easy_init();
        if (!easy) fail("no handle");
        transfers[index].easy = easy;
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfers[index]);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfers[index]);
        curl_multi_add_handle(multi, easy);
    }
    while (finished < requests) {
        int running, left, restarted = 0;
        if (curl_multi_perform(multi, &running) != CURLM_OK) fail("curl_multi_perform");
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *easy = message->easy_handle;
            CURLcode result = message->data.result;
            struct transfer *transfer;
            long status = 0;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            if (result != CURLE_OK) fail(curl_easy_strerror(result));
            if (status != 200) fail("a status other than 200");
            total += (long long)transfer->count;
            transfer->count = 0;
            finished++;
            curl_multi_remove_handle(multi, easy);
            if (started < requests) {
                started++;
                curl_multi_add_handle(multi, easy);
                restarted = 1;
            }
        }
        if (!restarted && finished < requests) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    for (long index = 0; index < at_once; index++) {
        if (transfers[index].easy) curl_easy_cleanup(transfers[index].easy);
        free(transfers[index].bytes);
    }
    free(transfers);
    return total;
}

int main(int count, char **arguments) {
    char line[512], path[256], url[1024];
    long requests, at_once;
    struct curl_slist *fields = NULL;
    if (count < 2) fail("usage: multi BASE_URL [FIELD...]");
    for (int index = 2; index < count; index++) {
        struct curl_slist *more = curl_slist_append(fields, arguments[index]);
        if (!more) fail("out of memory");
        fields = more;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    if (!multi) fail("no multi handle");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 128L);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%255s %ld %ld", path, &requests, &at_once) != 3 || at_once < 1) fail("an order is PATH REQUESTS AT_ONCE");
        snprintf(url, sizeof url, "%s%s", arguments[1], path);
        long long wall_start = wall(), cpu_start = cpu();
        long long bytes = run(multi, url, fields, requests, at_once);
        long long wall_end = wall(), cpu_end = cpu();
        printf("%lld %lld %lld %ld\n", wall_end - wall_start, cpu_end - cpu_start, bytes, resident());
        fflush(stdout);
    }
    curl_multi_cleanup(multi);
    curl_slist_free_all(fields);
    return 0;
}

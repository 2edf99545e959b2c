// SPDX-License-Identifier: BSD-3-Clause
// A library to preload, in the place of name servers: "slow.test" is looked up for a minute, and "two.test" has two
// addresses, 127.0.0.3 and 127.0.0.1.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*ask)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
    if (name != NULL && strcmp(name, "slow.test") == 0) {
        sleep(60);
        return EAI_AGAIN;
    }
    if (name == NULL || strcmp(name, "two.test") != 0) return ask(name, service, hints, found);
    const int code = ask("127.0.0.3", service, hints, found);
    return code != 0 ? code : ask("127.0.0.1", service, hints, &(*found)->ai_next);
}

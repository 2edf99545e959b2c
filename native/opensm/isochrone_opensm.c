/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An event plugin of OpenSM that writes what happens to the fabric, a line for each event, so that
 * `isochrone fabric dump --watch` reads the tables again. OpenSM loads it with `event_plugin_name
 * isochrone_opensm` in its configuration; `event_plugin_options` names the file, otherwise it is
 * /var/log/isochrone-opensm.events.
 *
 *   1764057421.123456 SUBNET_UP
 *   1764057421.101010 LFT_CHANGE switch=0x0002c90300100000 block=3
 *   1764057421.000100 TRAP number=128 lid=2
 *
 * The first sweep gives no LFT_CHANGE: all tables are to be read at SUBNET_UP. A line that cannot be
 * written is lost; OpenSM is never kept waiting or ended by that.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* First: what it defines says which members OpenSM's structures have. */
#include <infiniband/opensm/osm_config.h>

#include <infiniband/opensm/osm_version.h>
#include <infiniband/opensm/osm_opensm.h>
#include <infiniband/opensm/osm_log.h>

#define DEFAULT_FILE "/var/log/isochrone-opensm.events"
#define MOST_BYTES (16 * 1024 * 1024)
#define LINE_BYTES 256

struct events {
    char path[4000];
    int file;
    pthread_mutex_t lock; /* OpenSM reports from several threads */
};

static const char *const names[] = {
    [OSM_EVENT_ID_PORT_ERRORS] = NULL,        /* counters of the performance manager: not about routes */
    [OSM_EVENT_ID_PORT_DATA_COUNTERS] = NULL,
    [OSM_EVENT_ID_PORT_SELECT] = NULL,
    [OSM_EVENT_ID_TRAP] = "TRAP",
    [OSM_EVENT_ID_SUBNET_UP] = "SUBNET_UP",
    [OSM_EVENT_ID_HEAVY_SWEEP_START] = "HEAVY_SWEEP_START",
    [OSM_EVENT_ID_HEAVY_SWEEP_DONE] = "HEAVY_SWEEP_DONE",
    [OSM_EVENT_ID_UCAST_ROUTING_DONE] = "UCAST_ROUTING_DONE",
    [OSM_EVENT_ID_STATE_CHANGE] = "STATE_CHANGE",
    [OSM_EVENT_ID_SA_DB_DUMPED] = NULL,
    [OSM_EVENT_ID_LFT_CHANGE] = "LFT_CHANGE",
};

/* What cannot be a file for events, such as a pipe that nobody reads, is not opened for good. */
static void open_file(struct events *events)
{
    struct stat status;
    events->file = open(events->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (events->file >= 0 && (fstat(events->file, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(events->file);
        events->file = -1;
        errno = EINVAL;
    }
}

/* One file of the past is kept; where there can be none, the events begin anew. */
static void turn_over(struct events *events)
{
    struct stat status;
    char old[sizeof events->path + 2];
    if (fstat(events->file, &status) != 0 || status.st_size < MOST_BYTES)
        return;
    snprintf(old, sizeof old, "%s.1", events->path);
    if (rename(events->path, old) != 0) {
        if (ftruncate(events->file, 0) != 0)
            return; /* and tried again with the next event */
    } else {
        close(events->file);
        open_file(events);
    }
}

static void put(struct events *events, const char *format, ...)
{
    struct timespec now;
    char line[LINE_BYTES];
    va_list values;
    int begin, length;
    clock_gettime(CLOCK_REALTIME, &now);
    begin = snprintf(line, sizeof line, "%lld.%06ld ", (long long)now.tv_sec, now.tv_nsec / 1000);
    va_start(values, format);
    length = vsnprintf(line + begin, sizeof line - begin - 1, format, values);
    va_end(values);
    if (length < 0 || length >= (int)sizeof line - begin - 1)
        return;
    line[begin + length] = '\n';
    pthread_mutex_lock(&events->lock);
    if (events->file < 0)
        open_file(events); /* what was in the way may be gone */
    if (events->file >= 0 && write(events->file, line, begin + length + 1) >= 0)
        turn_over(events);
    pthread_mutex_unlock(&events->lock);
}

static void *create(struct osm_opensm *osm)
{
    struct events *events = calloc(1, sizeof *events);
    const char *path = osm->subn.opt.event_plugin_options;
    if (events == NULL)
        return NULL;
    path = path != NULL && *path == '/' ? path : DEFAULT_FILE;
    pthread_mutex_init(&events->lock, NULL);
    snprintf(events->path, sizeof events->path, "%s", path);
    open_file(events);
    if (events->file < 0)
        osm_log(&osm->log, OSM_LOG_ERROR, "isochrone_opensm: cannot write events to %s (%s): none are written\n",
                events->path, strerror(errno));
    return events;
}

static void end(void *data)
{
    struct events *events = data;
    if (events->file >= 0)
        close(events->file);
    pthread_mutex_destroy(&events->lock);
    free(events);
}

static void report(void *data, osm_epi_event_id_t id, void *event)
{
    struct events *events = data;
    if ((size_t)id >= sizeof names / sizeof *names || names[id] == NULL)
        return;
    if (id == OSM_EVENT_ID_LFT_CHANGE && event != NULL) {
        const osm_epi_lft_change_event_t *change = event;
        put(events, "%s switch=0x%016" PRIx64 " block=%" PRIu32, names[id],
            cl_ntoh64(osm_node_get_node_guid(change->p_sw->p_node)), change->block_num);
    } else if (id == OSM_EVENT_ID_TRAP && event != NULL) {
        const ib_mad_notice_attr_t *trap = event;
        if (ib_notice_is_generic(trap))
            put(events, "%s number=%u lid=%u", names[id], (unsigned)cl_ntoh16(trap->g_or_v.generic.trap_num),
                (unsigned)cl_ntoh16(trap->issuer_lid));
    } else {
        put(events, "%s", names[id]);
    }
}

osm_event_plugin_t osm_event_plugin = {
    .osm_version = OSM_VERSION,
    .create = create,
    .delete = end,
    .report = report,
};

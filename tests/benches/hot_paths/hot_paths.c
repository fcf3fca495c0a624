/* The hot paths in straight C, which cuda-hostfn is measured against.
 *
 *     cc -O2 -I INCLUDE hot_paths.c -lcuda -lpthread -o hot_paths && ./hot_paths fill.ptx
 *
 * Serves rounds: a line "CALLS PATH" on standard input is answered by the nanoseconds that a call took, or by "-" if
 * there is no such path. */
#include <cuda.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult code = (call);                                                                                        \
        if (code != CUDA_SUCCESS) {                                                                                    \
            fprintf(stderr, "%s: %d\n", #call, (int)code);                                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define NODES 100
#define STREAMS 64

static CUcontext context;
static CUstream stream, streams[STREAMS];
static CUfunction fill;
static CUdeviceptr memory;
static CUevent event;
static CUgraphExec graph;
static sem_t done, gate;
static atomic_ulong number;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void CUDA_CB count(void *data) { atomic_fetch_add_explicit((atomic_ulong *)data, 1, memory_order_relaxed); }

static void CUDA_CB post(void *data) { sem_post(data); }

static void CUDA_CB hold(void *data) { sem_wait(data); }

static double launch(int calls, CUlaunchAttribute *attributes, unsigned attribute_count) {
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
                             .hStream = stream, .attrs = attributes, .numAttrs = attribute_count};
    double start = now();
    for (int call = 0; call < calls; call++) {
        unsigned length = 0, value = 7;
        void *arguments[] = {&memory, &length, &value};
        CHECK(cuLaunchKernelEx(&config, fill, arguments, NULL));
    }
    double end = now();
    CHECK(cuStreamSynchronize(stream));
    return end - start;
}

static double launch_0(int calls) { return launch(calls, NULL, 0); }

static double launch_1(int calls) {
    CUlaunchAttribute attributes[1] = {{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY}};
    return launch(calls, attributes, 1);
}

static double launch_3(int calls) {
    CUlaunchAttribute attributes[3] = {{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY},
                                       {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE},
                                       {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION}};
    return launch(calls, attributes, 3);
}

static double set_attribute(int calls) {
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    value.syncPolicy = CU_SYNC_POLICY_SPIN;
    double start = now();
    for (int call = 0; call < calls; call++)
        CHECK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    return now() - start;
}

static double attribute(int calls) {
    CUstreamAttrValue value;
    double start = now();
    for (int call = 0; call < calls; call++) {
        memset(&value, 0, sizeof value);
        CHECK(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
        if (value.syncPolicy != CU_SYNC_POLICY_SPIN) exit(1);
    }
    return now() - start;
}

static double host_launch(int calls) {
    double start = now();
    for (int call = 0; call < calls; call++) CHECK(cuLaunchHostFunc(stream, count, &number));
    double end = now();
    CHECK(cuStreamSynchronize(stream));
    return end - start;
}

/* The stream gets to no call before all are in it. */
static double host_launch_held(int calls) {
    CHECK(cuLaunchHostFunc(stream, hold, &gate));
    double start = now();
    for (int call = 0; call < calls; call++) CHECK(cuLaunchHostFunc(stream, count, &number));
    double end = now();
    sem_post(&gate);
    CHECK(cuStreamSynchronize(stream));
    return end - start;
}

static double host_launch_drained(int calls) {
    double start = now();
    host_launch(calls);
    return now() - start;
}

static double host_launch_round_trip(int calls) {
    double start = now();
    for (int call = 0; call < calls; call++) {
        CHECK(cuLaunchHostFunc(stream, count, &number));
        CHECK(cuStreamSynchronize(stream));
    }
    return now() - start;
}

static double host_task_join(int calls) {
    double start = now();
    for (int call = 0; call < calls; call++) {
        CHECK(cuLaunchHostFunc(stream, post, &done));
        sem_wait(&done);
    }
    double end = now();
    CHECK(cuStreamSynchronize(stream));
    return end - start;
}

static double host_node(int calls) {
    double start = now();
    for (int call = 0; call < calls; call += NODES) {
        CHECK(cuGraphLaunch(graph, stream));
        CHECK(cuStreamSynchronize(stream));
    }
    return now() - start;
}

static double event_record(int calls) {
    double start = now();
    for (int call = 0; call < calls; call++) CHECK(cuEventRecord(event, stream));
    double end = now();
    CHECK(cuStreamSynchronize(stream));
    return end - start;
}

static double stream_query(int calls) {
    double start = now();
    for (int call = 0; call < calls; call++) CHECK(cuStreamQuery(stream));
    return now() - start;
}

static double driver_version(int calls) {
    int version;
    double start = now();
    for (int call = 0; call < calls; call++) CHECK(cuDriverGetVersion(&version));
    return now() - start;
}

struct share {
    int first, step, count, calls;
    pthread_barrier_t *barrier;
};

static void *enqueue(void *argument) {
    struct share *share = argument;
    CHECK(cuCtxSetCurrent(context));
    pthread_barrier_wait(share->barrier);
    for (int call = 0, index = share->first; call < share->calls; call++, index = (index + share->step) % share->count)
        CHECK(cuLaunchHostFunc(streams[index], count, &number));
    return NULL;
}

/* Until all calls of all threads have run. */
static double spread(int calls, int thread_count, int stream_count) {
    pthread_t threads[STREAMS];
    struct share shares[STREAMS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, thread_count + 1);
    for (int thread = 0; thread < thread_count; thread++) {
        int step = stream_count > thread_count ? thread_count : stream_count;
        shares[thread] = (struct share){thread % stream_count, step, stream_count, calls / thread_count, &barrier};
        pthread_create(&threads[thread], NULL, enqueue, &shares[thread]);
    }
    double start = now();
    pthread_barrier_wait(&barrier);
    for (int thread = 0; thread < thread_count; thread++) pthread_join(threads[thread], NULL);
    for (int index = 0; index < stream_count; index++) CHECK(cuStreamSynchronize(streams[index]));
    pthread_barrier_destroy(&barrier);
    return now() - start;
}

static const struct {
    const char *name;
    double (*run)(int calls);
} PATHS[] = {
    {"launch, no attribute", launch_0},
    {"launch, no attribute, context not current", launch_0},
    {"launch, 1 attribute", launch_1},
    {"launch, 3 attributes", launch_3},
    {"set_attribute", set_attribute},
    {"set_attribute, context not current", set_attribute},
    {"attribute", attribute},
    {"host_launch_raw", host_launch},
    {"host_launch", host_launch},
    {"host_launch, an Arc captured", host_launch},
    {"host_task, detached", host_launch},
    {"host_launch_raw, stream held", host_launch_held},
    {"host_launch, stream held", host_launch_held},
    {"host_launch, an Arc captured, stream held", host_launch_held},
    {"host_task, detached, stream held", host_launch_held},
    {"host_launch, drained", host_launch_drained},
    {"host_launch, an Arc captured, drained", host_launch_drained},
    {"host_task, detached, drained", host_launch_drained},
    {"host_launch, round trip", host_launch_round_trip},
    {"host_task, joined", host_task_join},
    {"replayed host node", host_node},
    {"event record", event_record},
    {"event record, context not current", event_record},
    {"stream query", stream_query},
    {"cuDriverGetVersion", driver_version},
};

static void make_graph(void) {
    CUgraph source;
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS host = {.fn = count, .userData = &number};
    CHECK(cuGraphCreate(&source, 0));
    for (int index = 0; index < NODES; index++) {
        CUgraphNode before = node;
        CHECK(cuGraphAddHostNode(&node, source, index ? &before : NULL, index != 0, &host));
    }
    CHECK(cuGraphInstantiateWithFlags(&graph, source, 0));
}

static char *read_file(const char *name) {
    static char text[1 << 16];
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        exit(1);
    }
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

int main(int argument_count, char **arguments) {
    if (argument_count != 2) return fprintf(stderr, "usage: %s fill.ptx\n", arguments[0]), 2;
    CUdevice device;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, 0));
    for (int index = 0; index < STREAMS; index++) CHECK(cuStreamCreate(&streams[index], CU_STREAM_NON_BLOCKING));
    CHECK(cuModuleLoadData(&module, read_file(arguments[1])));
    CHECK(cuModuleGetFunction(&fill, module, "fill"));
    CHECK(cuMemAlloc(&memory, 256));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    make_graph();
    sem_init(&done, 0, 0);
    sem_init(&gate, 0, 0);
    set_attribute(1);

    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        int calls, threads, count, start = 0;
        double time = -1;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%d %n", &calls, &start) != 1) return 2;
        if (sscanf(line + start, "%d threads, %d streams", &threads, &count) == 2) time = spread(calls, threads, count);
        for (size_t path = 0; path < sizeof PATHS / sizeof *PATHS; path++)
            if (!strcmp(PATHS[path].name, line + start)) time = PATHS[path].run(calls);
        if (time < 0)
            puts("-");
        else
            printf("%.3f\n", time / calls);
        fflush(stdout);
    }
    return 0;
}

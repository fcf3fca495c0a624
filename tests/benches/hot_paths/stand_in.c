/* A driver that does nothing but call host functions, from a thread of its own: shows what a library adds, memory that passes
 * between processors included, where there is no GPU and the simulated driver's own work would hide it.
 *
 *     cc -O2 -fPIC -shared stand_in.c -o libcuda.so.1 -lpthread
 *     ENQUEUE_NS=1500 CALL_NS=2000 CUDA_SYS_DRIVER=./libcuda.so.1 \
 *         hot_paths --only host_ "C=./hot_paths_c fill.ptx" "before=OTHER_BUILD --serve"
 *
 * An enqueue takes ENQUEUE_NS and a call CALL_NS of spinning; the two threads are pinned to processors 0 and 1. What is
 * not about host functions answers success. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define ROOM 1024

typedef void (*function)(void *);

static struct {
    function function;
    void *data;
} queue[ROOM];
static _Alignas(128) atomic_ulong enqueued;
static _Alignas(128) atomic_ulong called;
static _Alignas(128) pthread_mutex_t enqueueing = PTHREAD_MUTEX_INITIALIZER;
static int64_t enqueue_ns, call_ns;
static int is_capturing;
static uint64_t object[8];
static __thread void *current;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void spin(int64_t ns) {
    for (int64_t end = now() + ns; ns && now() < end;)
        ;
}

static void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *call(void *nothing) {
    pin(1);
    for (unsigned long next = 0, idle = 0;;) {
        if (atomic_load_explicit(&enqueued, memory_order_acquire) == next) {
            if (++idle > 3000) nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
            continue;
        }
        idle = 0;
        spin(call_ns);
        queue[next % ROOM].function(queue[next % ROOM].data);
        atomic_store_explicit(&called, ++next, memory_order_release);
    }
    return nothing;
}

int cuInit(unsigned flags) {
    static atomic_flag is_done = ATOMIC_FLAG_INIT;
    pthread_t thread;
    if (atomic_flag_test_and_set(&is_done)) return (int)flags;
    enqueue_ns = getenv("ENQUEUE_NS") ? atol(getenv("ENQUEUE_NS")) : 0;
    call_ns = getenv("CALL_NS") ? atol(getenv("CALL_NS")) : 0;
    pin(0);
    return pthread_create(&thread, NULL, call, NULL);
}

int cuLaunchHostFunc(void *stream, function function, void *data) {
    (void)stream;
    if (is_capturing) return 0;
    spin(enqueue_ns);
    pthread_mutex_lock(&enqueueing);
    unsigned long next = atomic_load_explicit(&enqueued, memory_order_relaxed);
    while (next - atomic_load_explicit(&called, memory_order_acquire) >= ROOM)
        ;
    queue[next % ROOM].function = function;
    queue[next % ROOM].data = data;
    atomic_store_explicit(&enqueued, next + 1, memory_order_release);
    pthread_mutex_unlock(&enqueueing);
    return 0;
}

int cuStreamSynchronize(void *stream) {
    (void)stream;
    while (atomic_load_explicit(&called, memory_order_acquire) != atomic_load(&enqueued))
        ;
    return 0;
}

/* What else the contenders ask for before they begin. */
#define GIVES(name, type, value, ...)                                                                                  \
    int name(type *out, ##__VA_ARGS__) {                                                                               \
        *out = value;                                                                                                  \
        return 0;                                                                                                      \
    }
#define SUCCEEDS(name)                                                                                                 \
    int name(void) { return 0; }

GIVES(cuDriverGetVersion, int, 13000)
GIVES(cuDeviceGet, int, 0)
GIVES(cuDevicePrimaryCtxRetain, void *, object)
GIVES(cuCtxGetCurrent, void *, current)
GIVES(cuStreamCreate, void *, object)
GIVES(cuStreamCreateWithPriority, void *, object)
GIVES(cuEventCreate, void *, object)
GIVES(cuModuleLoadData, void *, object)
GIVES(cuModuleLoadDataEx, void *, object)
GIVES(cuModuleGetFunction, void *, object)
GIVES(cuMemAlloc_v2, void *, object)
GIVES(cuGraphCreate, void *, object)
GIVES(cuGraphAddHostNode, void *, object)
GIVES(cuGraphInstantiateWithFlags, void *, object)
GIVES(cuUserObjectCreate, void *, object)
SUCCEEDS(cuStreamSetAttribute)
SUCCEEDS(cuStreamQuery)
SUCCEEDS(cuEventRecord)
SUCCEEDS(cuLaunchKernelEx)
SUCCEEDS(cuGraphLaunch)
SUCCEEDS(cuThreadExchangeStreamCaptureMode)
SUCCEEDS(cuGraphRetainUserObject)
SUCCEEDS(cuGraphDestroy)
SUCCEEDS(cuGraphExecDestroy)
SUCCEEDS(cuStreamDestroy_v2)
SUCCEEDS(cuEventDestroy_v2)
SUCCEEDS(cuModuleUnload)
SUCCEEDS(cuDevicePrimaryCtxRelease_v2)

/* To spin, as all contenders have set. */
int cuStreamGetAttribute(void *stream, int id, int *value) {
    (void)stream;
    (void)id;
    *value = 2;
    return 0;
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return 0;
}

int cuCtxSetCurrent(void *context) {
    current = context;
    return 0;
}

int cuCtxPushCurrent_v2(void *context) { return cuCtxSetCurrent(context); }

int cuCtxPopCurrent_v2(void **context) {
    *context = current;
    return cuCtxSetCurrent(NULL);
}

int cuCtxGetId(void *context, uint64_t *id) {
    (void)context;
    *id = 1;
    return 0;
}

int cuFuncGetAttribute(int *value, int attribute, void *kernel) {
    (void)kernel;
    *value = attribute ? 0 : 1024;
    return 0;
}

int cuFuncGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *size) {
    (void)kernel;
    *offset = index ? 4 + 4 * index : 0;
    *size = index ? 4 : 8;
    return index > 2;
}

int cuStreamIsCapturing(void *stream, int *status) {
    (void)stream;
    *status = is_capturing;
    return 0;
}

int cuStreamBeginCapture_v2(void *stream) {
    (void)stream;
    is_capturing = 1;
    return 0;
}

int cuStreamEndCapture(void *stream, void **graph) {
    (void)stream;
    is_capturing = 0;
    *graph = object;
    return 0;
}

int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id, void **graph) {
    if (id) *id = 1;
    if (graph) *graph = object;
    return cuStreamIsCapturing(stream, status);
}

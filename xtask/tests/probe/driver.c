/* A driver of two devices that do nothing, for the probe's own tests: which ids it takes where is made up, and
 * DRIVER_FAULT makes it misbehave (`crash`, `hang` or `break` at a launch with FAULTY; `lenient` to unassigned ids) or
 * be of another kind (`empty`, `turing`, or `old` or `taken` in its first device). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  SUCCESS = 0, INVALID_VALUE = 1, DEVICE_UNAVAILABLE = 46, NO_DEVICE = 100, LAUNCH_FAILED = 719, NOT_SUPPORTED = 801,
  INVALID_CLUSTER_SIZE = 912,
};
enum { FAULTY = 5, CLUSTER = 4, POLICY = 3, PRIORITY = 8, UPDATABLE = 13, NEWEST = 14 };

typedef struct { uint32_t id, pad; union { int32_t word[16]; uint8_t byte[64]; } value; } attribute;
typedef struct { uint32_t grid[3], block[3], shared; void *stream; attribute *attributes; uint32_t count; } config;
typedef struct { int32_t policy, priority; int capturing; } stream;
typedef struct { int32_t priority; } node;

static stream special[3];
static node captured;
static int broken;

static int fault(const char *name) {
  const char *asked = getenv("DRIVER_FAULT");
  return asked && !strcmp(asked, name);
}

static stream *of(void *handle) { return (uintptr_t)handle < 3 ? &special[(uintptr_t)handle] : handle; }

static int refuses(const attribute *a) {
  if (a->id > NEWEST) return fault("lenient") ? SUCCESS : INVALID_VALUE;
  if (a->id == POLICY) return INVALID_VALUE;
  if (a->id == CLUSTER) {
    int divides = a->value.word[0] == 0 || 16 % a->value.word[0] == 0;
    return divides && !fault("turing") ? SUCCESS : INVALID_CLUSTER_SIZE;
  }
  return SUCCESS;
}

int cuLaunchKernelEx(const config *c, void *function, void **parameters, void **extra) {
  for (uint32_t i = 0; i < c->count; i++) {
    const attribute *a = &c->attributes[i];
    if (a->id == FAULTY && fault("crash")) abort();
    if (a->id == FAULTY && fault("hang")) for (;;) pause();
    if (a->id == FAULTY && fault("break")) return broken = 1, SUCCESS;
    if (a->id == UPDATABLE && !of(c->stream)->capturing) return NOT_SUPPORTED;
    int status = refuses(a);
    if (status) {
      if (status == INVALID_CLUSTER_SIZE && of(c->stream)->capturing) of(c->stream)->capturing = 2;
      return status;
    }
    if (a->id == PRIORITY) captured.priority = a->value.word[0];
  }
  return SUCCESS;
}

int cuStreamSetAttribute(void *handle, uint32_t id, const int32_t *word) {
  int32_t value = *word;
  if (id == POLICY && value >= 1 && value <= 4) return of(handle)->policy = value, SUCCESS;
  if (id == PRIORITY) return of(handle)->priority = value > 0 ? 0 : value < -5 ? -5 : value, SUCCESS;
  return INVALID_VALUE;
}
int cuStreamGetAttribute(void *handle, uint32_t id, int32_t *value) {
  if (id == POLICY) return *value = of(handle)->policy, SUCCESS;
  if (id == PRIORITY) return *value = of(handle)->priority, SUCCESS;
  return INVALID_VALUE;
}
int cuGraphKernelNodeSetAttribute(node *n, uint32_t id, const int32_t *value) {
  return id == PRIORITY ? (n->priority = *value, SUCCESS) : INVALID_VALUE;
}
int cuGraphKernelNodeGetAttribute(const node *n, uint32_t id, int32_t *value) {
  return id == PRIORITY ? (*value = n->priority, SUCCESS) : INVALID_VALUE;
}

int cuStreamBeginCapture_v2(void *handle, int mode) {
  if ((uintptr_t)handle < 2) return 900;
  captured.priority = of(handle)->priority;
  return of(handle)->capturing = 1, SUCCESS;
}
int cuStreamIsCapturing(void *handle, int *status) { return *status = of(handle)->capturing, SUCCESS; }
int cuStreamEndCapture(void *handle, void **graph) {
  int invalidated = of(handle)->capturing == 2;
  of(handle)->capturing = 0;
  *graph = invalidated ? NULL : &captured;
  return invalidated ? 901 : SUCCESS;
}
int cuGraphGetNodes(void *graph, void **nodes, size_t *count) { return *nodes = graph, *count = 1, SUCCESS; }
int cuGraphNodeGetType(void *n, int *type) { return *type = 0, SUCCESS; }
int cuGraphCreate(void **graph, unsigned flags) { return *graph = calloc(1, sizeof(node)), SUCCESS; }
int cuGraphDestroy(void *graph) { return SUCCESS; }
int cuGraphAddKernelNode_v2(void **n, void *graph, void *after, size_t count, void *parameters) {
  return *n = graph, SUCCESS;
}
int cuGraphAddKernelNode(void **n, void *graph, void *after, size_t count, void *parameters) {
  return *n = graph, SUCCESS;
}

int cuStreamCreate(void **handle, unsigned flags) {
  stream *s = calloc(1, sizeof *s);
  s->policy = -1;
  return *handle = s, SUCCESS;
}
int cuStreamDestroy_v2(void *handle) { return free(handle), SUCCESS; }
int cuStreamSynchronize(void *handle) { return broken ? LAUNCH_FAILED : SUCCESS; }
int cuEventCreate(void **event, unsigned flags) { return *event = malloc(1), SUCCESS; }
int cuEventDestroy_v2(void *event) { return free(event), SUCCESS; }

int cuInit(unsigned flags) { return fault("empty") ? NO_DEVICE : SUCCESS; }
int cuDriverGetVersion(int *version) { return *version = 12060, SUCCESS; }
int cuGetErrorName(int code, const char **name) {
  static const struct { int code; const char *name; } names[] = {
    { SUCCESS, "CUDA_SUCCESS" }, { INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE" }, { NO_DEVICE, "CUDA_ERROR_NO_DEVICE" },
    { LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED" }, { NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED" },
    { INVALID_CLUSTER_SIZE, "CUDA_ERROR_INVALID_CLUSTER_SIZE" },
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) return *name = names[i].name, SUCCESS;
  return INVALID_VALUE;
}
int cuDeviceGetCount(int *count) { return *count = 2, SUCCESS; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, SUCCESS; }
int cuDeviceGetName(char *name, int room, int device) {
  return strcpy(name, device ? "Made-up GPU 1" : "Made-up GPU 0"), SUCCESS;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  int old = fault("old") && device == 0, turing = fault("turing");
  switch (attribute) {
    case 75: *value = old || turing ? 7 : 9; break;
    case 76: *value = turing ? 5 : 0; break;
    case 109: *value = 1 << 20; break;
    case 120: *value = !turing; break;
    case 126: *value = 4; break;
    default: *value = 1;
  }
  return SUCCESS;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &broken;
  return fault("taken") && device == 0 ? DEVICE_UNAVAILABLE : SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return SUCCESS; }
int cuCtxSetCurrent(void *context) { return SUCCESS; }
int cuCtxSynchronize(void) { return broken ? LAUNCH_FAILED : SUCCESS; }
int cuCtxGetStreamPriorityRange(int *least, int *greatest) { return *least = 0, *greatest = -5, SUCCESS; }
int cuMemAlloc_v2(uint64_t *address, size_t bytes) { return *address = (uintptr_t)malloc(1), SUCCESS; }
int cuMemFree_v2(uint64_t address) { return free((void *)(uintptr_t)address), SUCCESS; }
int cuModuleLoadData(void **module, const void *image) { return *module = &captured, SUCCESS; }
int cuModuleUnload(void *module) { return SUCCESS; }
int cuModuleGetFunction(void **function, void *module, const char *name) { return *function = &captured, SUCCESS; }
int cuFuncSetAttribute(void *function, int attribute, int value) { return SUCCESS; }
int cuOccupancyMaxPotentialClusterSize(int *size, void *function, const config *c) { return *size = 8, SUCCESS; }

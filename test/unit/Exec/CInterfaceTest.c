/*===- CInterfaceTest.c - vdnn.h is C, and enough to train
 * ----------------------------------------------------===*/

#include "runtime/exec/vdnn.h"

#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,       \
              vdnn_error());                                                   \
      return 1;                                                                \
    }                                                                          \
  } while (0)

/* Whether the head of a .safetensors file has this text. */
static int hasSeed(const char *path, const char *text) {
  char head[2048] = {0};
  FILE *file = fopen(path, "rb");
  if (!file) {
    return 0;
  }
  size_t count = fread(head, 1, sizeof(head) - 1, file);
  fclose(file);
  return count > 8 && strstr(head + 8, text) != NULL;
}

/* Called by CInterfaceMain.cpp with a plan of a parameter `w` and the input
 * `x`, four floats each, which computes loss = sum(x + w) and w = w - rate * (x
 * + w). */
int testCInterface(const char *plan, const char *weights) {
  EXPECT(!vdnn_load("absent.vdnn", NULL));
  EXPECT(strstr(vdnn_error(), "absent.vdnn"));
  vdnn_options options = {0};
  uint64_t seed = 3;
  options.seed = &seed;
  options.threads = 1;
  vdnn_run *run = vdnn_load(plan, &options);
  EXPECT(run);
  float x[4] = {1, 2, 3, 4};
  float w[4];
  float next[4];
  double loss = 0;
  EXPECT(vdnn_bytes(run, "w") == sizeof(w));
  EXPECT(vdnn_bytes(run, "nothing") == 0);
  EXPECT(vdnn_loss(run, &loss) != 0);
  EXPECT(vdnn_set_input(run, "x", x, sizeof(x)) == 0);
  EXPECT(vdnn_set_input(run, "x", x, 1) != 0);
  EXPECT(strstr(vdnn_error(), "16 bytes, got 1"));
  EXPECT(vdnn_set_input(run, "w", x, sizeof(x)) != 0);
  EXPECT(vdnn_get(run, "w", w, sizeof(w)) == 0);
  EXPECT(vdnn_set_rate(run, 0.5) == 0);
  EXPECT(vdnn_step(run) == 0);
  EXPECT(vdnn_loss(run, &loss) == 0);
  EXPECT(vdnn_get(run, "w", next, sizeof(next)) == 0);
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += (double)x[i] + w[i];
    EXPECT(next[i] == w[i] - 0.5f * (x[i] + w[i]));
  }
  EXPECT(loss - sum < 1e-5 && sum - loss < 1e-5);
  EXPECT(vdnn_save(run, weights) == 0);
  vdnn_destroy(run);

  options.resume = weights;
  run = vdnn_load(plan, &options);
  EXPECT(run);
  EXPECT(vdnn_get(run, "w", w, sizeof(w)) == 0);
  EXPECT(memcmp(w, next, sizeof(w)) == 0);
  vdnn_destroy(run);

  /* A seed of 0 is one that can be given: it replaces the 3 of the file. */
  const char *again = weights;
  for (uint64_t other = 0; other < 2; ++other) {
    seed = 1 - other;
    options.seed = other == 1 ? &seed : NULL;
    options.resume = again;
    run = vdnn_load(plan, &options);
    EXPECT(run);
    EXPECT(vdnn_save(run, weights) == 0);
    vdnn_destroy(run);
    EXPECT(hasSeed(weights,
                   other == 1 ? "\"vdnn.seed\":\"0\"" : "\"vdnn.seed\":\"3\""));
  }

  options.resume = NULL;
  options.device = "toaster";
  EXPECT(!vdnn_load(plan, &options));
  EXPECT(strstr(vdnn_error(), "this build has no device 'toaster', expected"));
  return 0;
}

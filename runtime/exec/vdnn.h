/*===- vdnn.h - runs plans from C -----------------------------------------===
 *
 *     vdnn_run *run = vdnn_load("plan.vdnn", NULL);
 *     if (!run) { fprintf(stderr, "%s\n", vdnn_error()); exit(1); }
 *     vdnn_set_input(run, "x", images, sizeof(images));
 *     vdnn_set_input(run, "labels", labels, sizeof(labels));
 *     vdnn_step(run);
 *     double loss;
 *     vdnn_loss(run, &loss);
 *     vdnn_save(run, "net.safetensors");
 *     vdnn_destroy(run);
 *
 * Functions that return an int return 0 for success; otherwise vdnn_error()
 *says what went wrong. A run is used by one thread at a time; different runs
 *are independent. Tensors are dense, row major and little endian, in the
 *element type of the plan.
 *
 *===----------------------------------------------------------------------===*/

#ifndef VDNN_RUNTIME_EXEC_VDNN_H
#define VDNN_RUNTIME_EXEC_VDNN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C */
typedef struct vdnn_run vdnn_run;

/* Zero and NULL mean the default. What they point to is copied. */
typedef struct vdnn_options {
  const char *device;   /* "cpu" or "cuda", if this build has it, or "sim";
                           default: what the plan is made for */
  unsigned threads;     /* of the cpu device; default: all cores */
  const char *weights;  /* .safetensors; default: the file beside the plan, of
                           the same stem */
  const char *resume;   /* a file that vdnn_save wrote, to go on from */
  const uint64_t *seed; /* of initial weights and dropout; default: that of
                           `resume`, else 0 */
  int no_graph; /* nonzero: submit the commands of every step one by one,
                   also where the device can replay them as a graph */
} vdnn_options;

/* What the last call of this thread that failed has to say; valid until the
 * next call. Never NULL. */
const char *vdnn_error(void);

/* Loads a .vdnn file, proves that it may run, and takes its memory. `options`
 * may be NULL. NULL where it fails; else the caller destroys the run. */
vdnn_run *vdnn_load(const char *plan, const vdnn_options *options);
void vdnn_destroy(vdnn_run *run);

/* Copies an input, which stays set until it is set again. `bytes` must be those
 * of the tensor. */
int vdnn_set_input(vdnn_run *run, const char *name, const void *data,
                   size_t bytes);

/* The learning rate from the next step on; default 0.01. */
int vdnn_set_rate(vdnn_run *run, double rate);

/* Runs one step and waits for its end. */
int vdnn_step(vdnn_run *run);

/* The output `loss` of the last step. An error where there is none. */
int vdnn_loss(const vdnn_run *run, double *loss);

/* Bytes of a tensor; 0 where there is none of that name. */
size_t vdnn_bytes(const vdnn_run *run, const char *name);

/* Copies the value of an output, parameter or state after the last step.
 * `bytes` must be those of the tensor. */
int vdnn_get(vdnn_run *run, const char *name, void *data, size_t bytes);

/* Writes weights and state to a .safetensors file, atomically. */
int vdnn_save(vdnn_run *run, const char *path);
/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif

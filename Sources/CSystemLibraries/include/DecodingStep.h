#ifndef CSYSTEMLIBRARIES_DECODINGSTEP_H
#define CSYSTEMLIBRARIES_DECODINGSTEP_H

#include <stddef.h>
#include <stdint.h>

// The common interface of all decoders: they work step by step, with the available input and room.

/// The state of a decoder after a step.
enum csl_decoding {
    /// All input is consumed, and its output is complete.
    CSL_DECODING_NEEDS_INPUT = 0,
    /// The output is full: there may be more, even without further input.
    CSL_DECODING_OUTPUT_FULL = 1,
    /// The stream has ended, with correct checksums. The remaining input belongs to something else.
    CSL_DECODING_FINISHED = 2,
    /// The input isn't such a stream, or is damaged.
    CSL_DECODING_CORRUPT = 3,
    /// The stream needs more memory for its window than allowed.
    CSL_DECODING_TOO_LARGE = 4,
    /// Memory is exhausted.
    CSL_DECODING_NO_MEMORY = 5,
};

/// The bytes of a step. The decoder advances the pointers and lowers the counts.
typedef struct csl_decoding_bytes {
    const uint8_t *input;
    size_t input_count;
    uint8_t *output;
    size_t output_room;
} csl_decoding_bytes;

#endif

#ifndef CSYSTEMLIBRARIES_DECODINGSTEP_H
#define CSYSTEMLIBRARIES_DECODINGSTEP_H

#include <stddef.h>
#include <stdint.h>

// What the decoders of all libraries have in common: they go on step by step, with whatever input and room there is.

/// Where a decoder stands after a step.
enum csl_decoding {
    /// All of the input is used up, and all that it makes is in the output.
    CSL_DECODING_NEEDS_INPUT = 0,
    /// The output is full: there may be more, also without further input.
    CSL_DECODING_OUTPUT_FULL = 1,
    /// The stream has come to its end, with its checksums right. Input that is left belongs to something else.
    CSL_DECODING_FINISHED = 2,
    /// The input is no such stream, or a damaged one.
    CSL_DECODING_CORRUPT = 3,
    /// The stream needs more memory for its window than is allowed.
    CSL_DECODING_TOO_LARGE = 4,
    /// There is no memory.
    CSL_DECODING_NO_MEMORY = 5,
};

/// The bytes of a step. The decoder moves the pointers on and lowers the counts.
typedef struct csl_decoding_bytes {
    const uint8_t *input;
    size_t input_count;
    uint8_t *output;
    size_t output_room;
} csl_decoding_bytes;

#endif

#ifndef CSYSTEMLIBRARIES_ENCODINGSTEP_H
#define CSYSTEMLIBRARIES_ENCODINGSTEP_H

// The common interface of all encoders: they work step by step, like decoders, with the available input and room.

#include "DecodingStep.h"

/// The state of an encoder after a step.
enum csl_encoding {
    /// All input is consumed. The encoder may hold back output until there is more input.
    CSL_ENCODING_NEEDS_INPUT = 0,
    /// The output is full: there may be more, even without further input.
    CSL_ENCODING_OUTPUT_FULL = 1,
    /// The stream is complete.
    CSL_ENCODING_FINISHED = 2,
    /// The library failed, mostly because memory is exhausted.
    CSL_ENCODING_FAILED = 3,
};

#endif

#ifndef CSYSTEMLIBRARIES_SYSTEMSIGNALS_H
#define CSYSTEMLIBRARIES_SYSTEMSIGNALS_H

#include <signal.h>

/// All signals except those for a thread's own faults: with these blocked, a fault ends the process without a message, and no handler can
/// report its place.
sigset_t csl_signals_to_block(void);

#endif

#ifndef CSYSTEMLIBRARIES_SYSTEMSIGNALS_H
#define CSYSTEMLIBRARIES_SYSTEMSIGNALS_H

#include <signal.h>

/// All signals but those by which a thread learns of its own faults: blocked, they end the process without a word, and no handler can tell
/// where.
sigset_t csl_signals_of_others(void);

#endif

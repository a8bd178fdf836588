#ifndef CSYSTEMLIBRARIES_H
#define CSYSTEMLIBRARIES_H

// System libraries opened at run time: the package builds and starts without them. Each has a separate header with typed functions; none of
// their symbols is linked.
#include "SystemBrotli.h"
#include "SystemCrypto.h"
#include "SystemCurl.h"
#include "SystemZlib.h"
#include "SystemZstd.h"

// An atomic type, which Swift lacks on older systems.
#include "SharedNumber.h"

// Descriptors that those libraries leave open to child processes.
#include "SystemDescriptors.h"

// Structures of the C library whose members Swift can't use.
#include "SystemClock.h"
#include "SystemFile.h"
#include "SystemNetlink.h"
#include "SystemText.h"

#endif

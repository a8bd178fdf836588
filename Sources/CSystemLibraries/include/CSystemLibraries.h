#ifndef CSYSTEMLIBRARIES_H
#define CSYSTEMLIBRARIES_H

// Libraries of the system that are opened at run time: nothing here is needed to build or to start the package.
// Each has a header of its own with typed functions; none of their symbols is linked.
#include "SystemBrotli.h"
#include "SystemCurl.h"
#include "SystemZlib.h"
#include "SystemZstd.h"

// What Swift lacks on older systems.
#include "SharedNumber.h"

// What those libraries leave open to child processes.
#include "SystemDescriptors.h"

// And the C library's own structures, of which Swift gets no members.
#include "SystemClock.h"
#include "SystemFile.h"
#include "SystemText.h"

#endif

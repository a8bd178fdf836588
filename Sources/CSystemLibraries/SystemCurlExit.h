#ifndef CSYSTEMLIBRARIES_SYSTEMCURLEXIT_H
#define CSYSTEMLIBRARIES_SYSTEMCURLEXIT_H

/// From here on the end of the process waits for those who are inside of libcurl, and lets nobody in any more.
void csl_curl_heed_exit(void);

#endif

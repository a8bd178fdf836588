#ifndef CSYSTEMLIBRARIES_SYSTEMCURLEXIT_H
#define CSYSTEMLIBRARIES_SYSTEMCURLEXIT_H

/// After this call, the exit of the process waits for the threads inside libcurl, and lets no thread enter.
void csl_curl_register_exit_handler(void);

#endif

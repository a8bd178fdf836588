// Nothing to call: what this module is for happens when the process starts.

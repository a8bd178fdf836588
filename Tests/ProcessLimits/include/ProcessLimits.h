// Declares nothing: this module acts when the process starts.

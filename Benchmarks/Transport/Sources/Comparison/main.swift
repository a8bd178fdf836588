// comparison [memory] [OPTIONS]: see `Benchmarks/transport`, which builds everything, starts the server and calls this.

import Foundation

do {
    let options = try Options(CommandLine.arguments.dropFirst())
    // An early exit of a contender must become an error, not a signal.
    signal(SIGPIPE, SIG_IGN)
    if options.isMemory {
        try MemoryComparison(options).run()
    } else {
        try TimeComparison(options).run()
    }
} catch {
    FileHandle.standardError.write(Data("comparison: \(error)\n".utf8))
    exit(1)
}

// contender NAME BASE_URL
//
// Runs one HTTP engine: reads orders from standard input, one per line, and answers each with a line.
//     order:   PATH REQUESTS AT_ONCE
//     answer:  WALL_MICROSECONDS CPU_MICROSECONDS BODY_BYTES RESIDENT_KILOBYTES
// Without arguments it prints the available names. `C/multi.c` uses the same protocol.

import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
guard let name = arguments.first else {
    for name in Contenders.names { print(name) }
    exit(0)
}
guard arguments.count == 2, let fetching = try Contenders.fetching(named: name, from: arguments[1]) else {
    FileHandle.standardError.write(Data("contender: NAME BASE_URL, with a NAME of: \(Contenders.names.joined(separator: " "))\n".utf8))
    exit(2)
}
while let line = readLine() {
    do {
        let order = try Order(line, base: arguments[1])
        let before = ProcessFigures.now
        let bytes = try await order.run(fetching)
        let after = ProcessFigures.now
        print(after.wall - before.wall, after.cpu - before.cpu, bytes, ProcessFigures.residentKilobytes)
        fflush(nil)
    } catch {
        FileHandle.standardError.write(Data("contender \(name): \(error)\n".utf8))
        exit(1)
    }
}
// Exits without cleanup: the process's end closes everything.
exit(0)

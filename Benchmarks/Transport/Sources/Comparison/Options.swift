import Foundation

/// The command-line options of a comparison.
struct Options {
    /// Whether to compare memory instead of time.
    var isMemory = false
    /// The number of counted rounds.
    var rounds = 5
    /// The factor for every number of requests: less than 1 for a quick run.
    var scale = 1.0
    /// The JSON file for the figures.
    var json: URL?
    /// The names of the contenders to run; all if empty.
    var only: [String] = []
    /// The server's base URL, without a trailing slash.
    var server = ""
    /// The executable of the Swift contenders.
    var contender = ""
    /// The executable of the C contender; `nil` if it could not be built.
    var multi: String?

    init(_ arguments: some Sequence<String>) throws {
        var arguments = Array(arguments)[...]
        while let argument = arguments.popFirst() {
            if argument == "memory" {
                isMemory = true
                continue
            }
            guard let value = arguments.popFirst() else { throw Fault("\(argument) needs a value") }
            switch argument {
            case "--rounds": rounds = try Self.number(value, of: argument, atLeast: 1)
            case "--scale":
                guard let factor = Double(value), factor > 0, factor <= 100 else {
                    throw Fault("--scale is a number above 0, not \(value)")
                }
                scale = factor
            case "--json": json = URL(fileURLWithPath: value)
            case "--only": only = value.split(separator: ",").map(String.init)
            case "--server": server = value
            case "--contender": contender = value
            case "--multi": multi = value
            default: throw Fault("there is no option \(argument)")
            }
        }
        guard !server.isEmpty, !contender.isEmpty else { throw Fault("--server and --contender are needed") }
    }

    private static func number(_ text: String, of option: String, atLeast least: Int) throws -> Int {
        guard let number = Int(text), number >= least else { throw Fault("\(option) is a number from \(least) on, not \(text)") }
        return number
    }

    /// The participating contenders, the yardstick first.
    func contenders() throws -> [Contender] {
        var all: [(name: String, command: [String])] = []
        if let multi {
            all.append((Contender.yardstick, [multi, server]))
            // Sends the same request as CurlTransport: the difference is libcurl's time for its fields.
            all.append(("\(Contender.yardstick)-same-request", [multi, server, "Accept:", "Accept-Encoding: gzip, deflate, br, zstd"]))
        }
        for name in try Contender.output(of: [contender]).split(separator: "\n").map(String.init) {
            all.append((name, [contender, name, server]))
        }
        for name in only where !all.contains(where: { $0.name == name }) {
            throw Fault("there is no contender \(name); there are: \(all.map(\.name).joined(separator: " "))")
        }
        return try all.filter { only.isEmpty || only.contains($0.name) }.map { try Contender(name: $0.name, command: $0.command) }
    }
}

/// An error that ends the comparison.
struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

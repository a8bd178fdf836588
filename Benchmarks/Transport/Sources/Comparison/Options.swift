import Foundation

/// What is to be compared, from the command line.
struct Options {
    /// Memory instead of time.
    var isMemory = false
    /// How many rounds are counted.
    var rounds = 5
    /// The factor on every number of requests: less than 1 for a quick look.
    var scale = 1.0
    /// Where the figures go as JSON.
    var json: URL?
    /// Only contenders of these names; all if it is empty.
    var only: [String] = []
    /// The server's base URL, without a slash at its end.
    var server = ""
    /// The executable of the contenders in Swift.
    var contender = ""
    /// The executable in C; `nil` where it could not be built.
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

    /// The contenders that take part, the yardstick first.
    func contenders() throws -> [Contender] {
        var all: [(name: String, command: [String])] = []
        if let multi {
            all.append((Contender.yardstick, [multi, server]))
            // The request that CurlTransport sends: the difference is what libcurl takes for its fields.
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

/// Something that ends the comparison.
struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

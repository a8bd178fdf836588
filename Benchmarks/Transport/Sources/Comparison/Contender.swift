import Foundation

/// A contender's process: it runs orders and reports their costs.
final class Contender {
    /// The C program that is the baseline.
    static let yardstick = "libcurl-in-C"
    /// The library's transport alone, and a declared call over it. The difference is the call's overhead.
    static let bareTransport = "CurlTransport"
    static let declaredCall = "declared call over CurlTransport"

    /// The cost of an order.
    struct Answer {
        let wall: Double
        let cpu: Double
        let bytes: Int
        let residentKilobytes: Int
    }

    let name: String
    private let process = Process()
    private let orders = Pipe()
    private let answers = Pipe()

    /// Starts the process. It ends when the value is released.
    init(name: String, command: [String]) throws {
        self.name = name
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = orders
        process.standardOutput = answers
        try process.run()
    }

    deinit {
        try? orders.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Returns the output of a command.
    static func output(of command: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }

    /// Runs a workload and checks that all bodies are complete.
    func run(_ workload: Workload) throws -> Answer {
        let order = "\(workload.path) \(workload.requests) \(workload.atOnce)\n"
        try orders.fileHandleForWriting.write(contentsOf: Data(order.utf8))
        let numbers = readLine().split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 4 else { throw Fault("\(name) has ended at \(workload.name)") }
        guard numbers[2] == workload.requests * workload.bytes else {
            throw Fault("\(name) has read \(numbers[2]) bytes at \(workload.name), not \(workload.requests * workload.bytes)")
        }
        return Answer(wall: Double(numbers[0]), cpu: Double(numbers[1]), bytes: numbers[2], residentKilobytes: numbers[3])
    }

    private func readLine() -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = answers.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            line.append(more)
        }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }
}

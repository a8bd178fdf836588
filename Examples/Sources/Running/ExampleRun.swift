import Foundation
import WebServiceTesting

/// An example: code that uses a client, with a service on the loopback interface in place of the real one.
protocol Example: Sendable {
    /// The name on the command line.
    static var name: String { get }
    /// The lines that the example prints.
    static var summary: String { get }

    /// Uses the client.
    ///
    /// - Throws: ``ExampleError`` if the outcome isn't the expected one; the errors of calls.
    static func run() async throws
}

/// Runs examples, and reports them.
enum ExampleRun {
    static let all: [any Example.Type] = [
        IssuesExample.self, PaymentsExample.self, TokensExample.self, BlobsExample.self, LanguageModelExample.self, CheckoutExample.self,
    ]

    static let usage = """
        usage: swift run Examples [NAME...]

        Runs all examples, or those with these names:

        \(all.map { "  \($0.name.padding(toLength: 16, withPad: " ", startingAt: 0))\($0.summary)" }.joined(separator: "\n"))
        """

    /// Returns the exit code: 0 if all succeed, 1 if one fails, 2 for wrong arguments.
    static func run(_ arguments: [String]) async -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(usage)
            return 0
        }
        if let unknown = arguments.first(where: { name in !all.contains { $0.name == name } }) {
            print("There is no example \"\(unknown)\".\n\n\(usage)")
            return 2
        }
        do {
            try checkTables()
        } catch {
            print("FAILED: \(error)")
            return 1
        }
        var failed: [String] = []
        for example in all where arguments.isEmpty || arguments.contains(example.name) {
            print("\n\(example.name): \(example.summary)")
            do {
                try await example.run()
            } catch {
                print("  FAILED: \(error)")
                failed.append(example.name)
            }
        }
        print(failed.isEmpty ? "\nExamples: all passed." : "\nExamples: failed: \(failed.joined(separator: ", ")).")
        return failed.isEmpty ? 0 : 1
    }

    /// Compares the tables with the methods, as a program's tests do. Optimized builds don't have the symbols of the internal methods.
    private static func checkTables() throws(TestingFailure) {
        #if DEBUG
        try expectEndpointsMatchMethods(
            of: GitHub.self, Payments.self, Inventory.self, BlobStore.self, LanguageModel.self, Stock.self, Carrier.self)
        #endif
    }

    /// Prints a result of an example.
    static func show(_ text: String) {
        print("  \(text)")
    }

    /// Fails the example unless the condition is true.
    ///
    /// - Parameter expectation: What should be the case, as a sentence.
    static func expect(_ condition: Bool, _ expectation: @autoclosure () -> String) throws(ExampleError) {
        guard condition else { throw ExampleError(description: "Expected: \(expectation())") }
    }

    /// Returns the error of a call that must fail.
    static func failure<Failure: Error>(_ type: Failure.Type, of body: () async throws -> Void) async throws -> Failure {
        do {
            try await body()
        } catch let error as Failure {
            return error
        }
        throw ExampleError(description: "Expected: the call fails.")
    }

    /// Calls a closure with a folder, which is removed afterwards.
    static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }
}

/// An outcome that isn't the expected one.
struct ExampleError: Error, CustomStringConvertible {
    let description: String
}

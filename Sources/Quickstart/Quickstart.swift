import Foundation

/// Runs the library's three jobs against an embedded service, or explores the OData service at a URL.
enum Quickstart {
    /// Runs the requested jobs and returns the exit code: 0 if all succeed, 1 if a job fails, 2 for wrong arguments.
    static func run(_ arguments: [String]) async -> Int32 {
        let options: Options
        do {
            options = try Options(arguments)
        } catch {
            print("\(error)\n\n\(Options.usage)")
            return 2
        }
        if options.wantsHelp {
            print(Options.usage)
            return 0
        }
        if let root = options.service {
            return await job("Exploring an OData service") { try await Explorer(root: root, set: options.set).run() } ? 0 : 1
        }
        return await runEmbedded() ? 0 : 1
    }

    /// Runs all three jobs, even if an earlier one fails.
    private static func runEmbedded() async -> Bool {
        let service: EmbeddedService
        do {
            service = try EmbeddedService()
        } catch {
            print("The embedded service can't start: \(error)")
            return false
        }
        defer { service.stop() }
        print("Quickstart: a small shop listens on \(service.url) and has \(service.productCount) products.")

        let rest = await job("1. Calling declared endpoints") { try await RESTJob(service: service).run() }
        let odata = await job("2. Fetching an OData entity set") { try await QueryJob(service: service).run() }
        let logging = await job("3. Shipping log records") { try await LoggingJob(service: service).run() }
        let allDone = rest && odata && logging
        print(allDone ? "\nQuickstart: all three jobs done." : "\nQuickstart: not every job succeeded.")
        return allDone
    }

    private static func job(_ title: String, _ body: () async throws -> Void) async -> Bool {
        print("\n\(title)\n")
        do {
            try await body()
            return true
        } catch {
            // A ServiceError describes itself in some lines: the call, the failure, the request and the response, without secrets.
            print("  FAILED: \(error)")
            return false
        }
    }
}

/// The reason for a failed job, as a sentence.
struct QuickstartError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The options on the command line.
struct Options {
    static let usage = """
        usage: swift run Quickstart [--service URL [--set NAME]]

          --service URL   explore the OData V4 service with this root instead of running the jobs on the embedded shop
          --set NAME      show this entity set instead of the first
          --help          show this
        """

    var service: String?
    var set: String?
    var wantsHelp = false

    /// Reads the arguments after the program's name.
    ///
    /// - Throws: ``QuickstartError`` that names the wrong argument.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": wantsHelp = true
            case "--service", "--set":
                guard let value = rest.popFirst(), !value.hasPrefix("--") else {
                    throw QuickstartError("\(argument) needs a value.")
                }
                if argument == "--set" { set = value } else { service = value }
            default: throw QuickstartError("There is no argument \"\(argument)\".")
            }
        }
        if set != nil, service == nil { throw QuickstartError("--set needs --service: the embedded shop has one entity set only.") }
    }
}

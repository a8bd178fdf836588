import Foundation
import WebServiceClient
import Workloads

/// A workload that runs a given number of times, so that `perf stat -e instructions:u` or callgrind can count its instructions:
///
///     ratios only declared-60 20000
///
/// The difference of two runs, divided by the difference of their numbers, is one repetition without the program's start.
enum CountedWork: String, CaseIterable {
    case declared60 = "declared-60"
    case declared2k = "declared-2k"
    case bare60 = "bare-60"
    case controlled60 = "controlled-60"
    case log
    case pageWhole = "page-whole"
    case pageInPieces = "page-in-pieces"
    case exchange

    /// Runs the workload.
    ///
    /// - Parameter url: The URL that `exchange` requests, from a server that keeps connections open.
    func run(_ count: Int, url: URL?) async throws {
        let names = ["swift", "swift-nio", "orders", "stocks"]
        switch self {
        case .declared60:
            let client = DeclaredCalls(Engine(answering: Payloads.small))
            for number in 0..<count { keep(try await client.health(service: names[number % 4])) }
        case .declared2k:
            let client = DeclaredCalls(Engine(answering: Payloads.large))
            for number in 0..<count { keep(try await client.repository(owner: "swiftlang", name: names[number % 4])) }
        case .bare60, .controlled60:
            let client = DeclaredCalls(Engine(answering: Payloads.small), stages: self == .bare60 ? .bare : .controlled)
            for number in 0..<count { keep(try await client.health(service: names[number % 4])) }
        case .log:
            let log = LogWork()
            for number in 0..<count { log.taken(number) }
        case .pageWhole:
            let page = Self.page
            for _ in 0..<count { keep(try JSONReader().decode([Repository].self, from: page)) }
        case .pageInPieces:
            let page = Self.page
            for _ in 0..<count {
                let pieces = ResponseBody(expectedLength: nil, next: Self.pieces(of: page), cancel: {})
                for try await repository in JSONReader().elements(of: Repository.self, in: pieces) { keep(repository) }
            }
        case .exchange:
            guard let url else { throw Usage() }
            let transport = try CurlTransport()
            let request = ServiceRequest(url: url)
            for _ in 0..<count { keep(try await transport.send(request).body.collect(upTo: 1 << 20)) }
        }
    }

    /// About 29 MB of JSON.
    private static var page: Data {
        let element = Payloads.large
        var page = Data("[".utf8)
        for number in 0..<(29_000_000 / element.count) {
            if number > 0 { page.append(UInt8(ascii: ",")) }
            page.append(element)
        }
        page.append(UInt8(ascii: "]"))
        return page
    }

    private static func pieces(of page: Data) -> @Sendable () async throws -> Data? {
        let position = Position()
        return {
            let start = position.value
            guard start < page.count else { return nil }
            position.value = min(page.count, start + 1 << 16)
            return page[start..<position.value]
        }
    }

    /// How far a page has been read. Only one task at a time reads it.
    private final class Position: @unchecked Sendable {
        var value = 0
    }

    struct Usage: Error {}
}

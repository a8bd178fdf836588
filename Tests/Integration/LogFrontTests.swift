import Foundation
import RemoteLogger
import Testing
import WebServiceClient

extension IntegrationTests {
    /// Logs through nginx, which limits their size and rate, cuts connections and uses TLS. It writes the accepted requests to a file.
    @Suite struct LogFrontTests {
        /// A request as logged by nginx.
        private struct Seen: Decodable {
            let path: String
            let status: Int
            let secure: String
            let body: String
        }

        private struct Line: Decodable {
            struct Metadata: Decodable { let n: Int }
            let label: String
            let metadata: Metadata
        }

        /// Distinguishes this test's records from others.
        private let label = UUID().uuidString
        private let bodies: String

        init() throws {
            bodies = try #require(try TestServer.named("logs").bodies)
        }

        private func url(_ path: String, over server: String = "logs", host: String = "127.0.0.1") throws -> URL {
            try #require(URL(string: try TestServer.named(server).url.replacingOccurrences(of: "127.0.0.1", with: host) + path))
        }

        private func seen() throws -> [Seen] {
            try Data(contentsOf: URL(filePath: bodies)).split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(Seen.self, from: $0)
            }
        }

        /// Returns the numbers of this test's records that have arrived.
        private func numbers() throws -> [Int] {
            try seen().filter { $0.status == 200 }.flatMap { seen in
                seen.body.utf8.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONDecoder().decode(Line.self, from: Data($0)) }
            }.filter { $0.label == label }.map(\.metadata.n)
        }

        private func arrive(_ expected: [Int], orAgain: Bool = false) async throws -> Bool {
            try await eventually(within: .seconds(30)) {
                guard let numbers = try? numbers() else { return false }
                return orAgain ? Set(numbers) == Set(expected) : numbers.sorted() == expected
            }
        }

        private func shipper(to url: URL, _ configure: (inout ShippingSettings) -> Void = { _ in }) throws -> LogShipper {
            try LogShipper(to: url, format: NDJSONFormat()) { settings in
                settings.compression = .none
                settings.reportsLosses = false
                settings.backoff = Backoff(base: .milliseconds(5), cap: .milliseconds(50))
                settings.batch = BatchLimits(records: 50, interval: .milliseconds(10))
                configure(&settings)
            }
        }

        @Test func `batches that are too large are split, and what alone is too large is told apart`() async throws {
            let shipper = try shipper(to: try url("/small")) { $0.batch = BatchLimits(records: 500, interval: .milliseconds(50)) }
            let logger = RemoteLogger(label: label, sinks: [shipper])
            for number in 0..<400 { logger.info(number == 123 ? String(repeating: "x", count: 5_000) : "record", ["n": number]) }
            #expect(await logger.shutdown(within: .seconds(60)) == false, "One isn't delivered.")
            #expect(try await arrive((0..<400).filter { $0 != 123 }))
            let counts = shipper.statistics
            #expect(counts.delivered == 399 && counts.droppedInAll == 1 && counts.dropped[.oversize] == 1, "\(counts)")
            #expect(try seen().contains { $0.path == "/small" && $0.status == 413 })
        }

        @Test func `who sends too often waits as long as nginx says`() async throws {
            let shipper = try shipper(to: try url("/limited")) { $0.batch = BatchLimits(records: 10, interval: .milliseconds(1)) }
            let logger = RemoteLogger(label: label, sinks: [shipper])
            let start = ContinuousClock.now
            for number in 0..<80 { logger.info("record", ["n": number]) }
            #expect(await logger.shutdown(within: .seconds(60)))
            // Eight requests: three at once, and then at most two per second.
            #expect(ContinuousClock.now - start > .seconds(1))
            #expect(try await arrive(Array(0..<80)))
            #expect(shipper.statistics.delivered == 80 && shipper.statistics.droppedInAll == 0)
            #expect(try seen().contains { $0.path == "/limited" && $0.status == 429 })
        }

        @Test func `cut connections lose nothing`() async throws {
            let shipper = try shipper(to: try url("/cut"))
            let logger = RemoteLogger(label: label, sinks: [shipper])
            for number in 0..<2_000 { logger.info("record", ["n": number]) }
            #expect(await logger.shutdown(within: .seconds(60)))
            #expect(try await arrive(Array(0..<2_000), orAgain: true))
            #expect(shipper.statistics.delivered == 2_000 && shipper.statistics.droppedInAll == 0)
            #expect(try seen().contains { $0.path == "/cut" && $0.status == 444 })
        }

        @Test(.enabled(if: CurlTransport.shared?.capabilities.contains(.pinning) == true, "needs libcurl 7.80 or later with OpenSSL"))
        func `over TLS the trust policy decides`() async throws {
            let files = try #require(try TestServer.named("tls-logs").tls)
            let own = TrustPolicy(authorities: try files.ownAuthorityOnly())
            let others = TrustPolicy(authorities: .only([try TestCertificates.certificate(files.otherRoot)]))
            let trusted = try shipper(to: try url("/all", over: "tls-logs", host: "localhost")) { $0.trust = own }
            let logger = RemoteLogger(label: label, sinks: [trusted])
            for number in 0..<100 { logger.info("record", ["n": number]) }
            #expect(await logger.shutdown(within: .seconds(60)))
            #expect(try await arrive(Array(0..<100)))
            #expect(try seen().contains { $0.secure == "on" })

            let events = Locked<[String]>([])
            let strange = try shipper(to: try url("/all", over: "tls-logs", host: "localhost")) {
                $0.trust = others
                $0.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } }
            }
            let other = RemoteLogger(label: label, sinks: [strange])
            other.info("record", ["n": 100])
            #expect(try await eventually(within: .seconds(30)) { events.withLock { $0.contains { $0.contains("No trusted authority") } } })
            #expect(await other.shutdown(within: .milliseconds(10)) == false)
            #expect(try numbers().max() == 99)
        }
    }
}

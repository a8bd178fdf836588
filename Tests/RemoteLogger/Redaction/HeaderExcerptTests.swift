import Foundation
import RemoteLogger
import Testing
import WebServiceClient

@Suite struct HeaderExcerptTests {
    private let sink = CollectingSink()

    /// The logged fields of the response.
    private func logged(_ headers: HTTPFields) async throws -> LogMetadata {
        let logger = RemoteLogger(label: "calls", pipeline: LogPipeline(sinks: [sink], clock: ManualLogClock()), minimumLevel: .trace)
        let request = ServiceRequest(method: .get, url: try #require(URL(string: "https://api.test/orders")))
        _ = try await CallLogger(logger, logsHeaders: true).intercept(request, context: CallContext()) { request, _ in
            TransportResponse(status: 200, headers: headers, url: request.url)
        }
        guard case .dictionary(let fields) = try #require(sink.records.last).metadata["http.response.header"] else { return [:] }
        return fields
    }

    @Test func `a long field is cut behind its masks, between characters`() async throws {
        for length in 1_015...1_030 {
            let fields = try await logged(["Warning": String(repeating: "é", count: length / 2) + "x", "Via": "1.1 p"])
            guard case .string(let text) = fields["warning"] else { return #expect(Bool(false), "no text") }
            #expect(text.utf8.count <= 1_024 && text.hasSuffix("…") == (length / 2 * 2 + 1 > 1_024))
            #expect(text.allSatisfy { "éx…".contains($0) } && fields["via"] == "1.1 p")
        }
        for before in stride(from: 980, to: 1_030, by: 3) {
            let fields = try await logged([
                "Warning": String(repeating: "a ", count: before / 2) + "password=hunter2hunter2 " + String(repeating: "b", count: 99)
            ])
            #expect(!"\(fields)".contains("hunt"), "\(before)")
        }
        let repeated = try await logged(
            HTTPFields((0..<100).map { HTTPFields.Field(name: "Warning", value: "\($0) " + String(repeating: "v", count: 60)) }))
        guard case .string(let text) = repeated["warning"] else { return #expect(Bool(false), "no text") }
        #expect(text.utf8.count <= 1_024 && text.hasPrefix("0 v") && text.hasSuffix("…"))
    }

    @Test func `all fields together are bounded, and it is told how many were left out`() async throws {
        let many = (0..<500).map { HTTPFields.Field(name: HTTPFields.Name("RateLimit-\($0)"), value: String(repeating: "v", count: 200)) }
        let fields = try await logged(HTTPFields(many))
        #expect("\(fields)".utf8.count < 20_000 && fields.count > 70 && fields["ratelimit-0"] != nil)
        #expect(fields["…"] == .string("\(500 - fields.count + 1) left out"))
        let few = try await logged(HTTPFields(many.prefix(70)))
        #expect(few.count == 70 && few["…"] == nil)
    }
}

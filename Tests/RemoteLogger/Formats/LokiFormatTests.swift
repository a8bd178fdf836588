import Foundation
import RemoteLogger
import Testing
import WebServiceClient

@Suite struct LokiFormatTests {
    /// The structured metadata of the single line.
    private func metadata(of record: LogRecord, _ format: LokiFormat = LokiFormat(labels: ["app": "shop"])) throws -> [String: String] {
        let push = try #require(try JSONSerialization.jsonObject(with: try format.encode([record])) as? [String: Any])
        let stream = try #require((push["streams"] as? [[String: Any]])?.first)
        return try #require((stream["values"] as? [[Any]])?.first?.last as? [String: String])
    }

    private func bytes(_ metadata: [String: String]) -> Int {
        metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }

    @Test func `structured metadata keeps Loki's bound of bytes, and says what it cost`() throws {
        var values = LogMetadata()
        for number in 0..<20 { values["k\(number)"] = .string(String(repeating: "Ω", count: 4_000)) }
        values["small"] = 7
        let record = LogRecord.sample(
            1, .info, String(repeating: "m", count: 300_000), metadata: values, error: String(repeating: "é", count: 10_000))
        let metadata = try metadata(of: record)
        #expect(bytes(metadata) <= 64_000 && bytes(metadata) > 60_000, "\(bytes(metadata))")
        #expect(metadata["record_id"] == record.id.description && metadata["sequence"] == "1" && metadata["line_bytes"] == "300000")
        let whole = (0..<20).filter { metadata["k\($0)"]?.utf8.count == 8_000 }.count
        #expect(whole == 5 && metadata["error"]?.utf8.count == 20_000)
        // The values that are cut or missing.
        let dropped = 21 - whole - (metadata["small"] == nil ? 0 : 1)
        #expect(metadata["dropped_metadata"] == String(dropped))
    }

    @Test(arguments: [0, 1, 100, 1_000, 63_990, 64_000, 64_001, 70_000, 200_000])
    func `one value of any size fits`(size: Int) throws {
        let metadata = try metadata(of: .sample(metadata: ["v": String(repeating: "x", count: size)]))
        #expect(bytes(metadata) <= 64_000)
        #expect((metadata["dropped_metadata"] == nil) == (metadata["v"]?.utf8.count == size))
        #expect(size > 60_000 || metadata["v"]?.utf8.count == size)
    }

    @Test func `a bound of one's own is kept, whatever else is said`() throws {
        var format = LokiFormat(labels: ["app": "shop"])
        format.maximumMetadataBytes = 300
        let metadata = try metadata(of: .sample(metadata: ["v": String(repeating: "Ω", count: 500), "w": "x"]), format)
        #expect(bytes(metadata) <= 300 && metadata["record_id"] != nil && metadata["v"]?.allSatisfy { $0 == "Ω" } == true)
    }
}

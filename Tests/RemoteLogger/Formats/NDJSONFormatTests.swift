import Foundation
import RemoteLogger
import TestSupport
import Testing

@Suite struct NDJSONFormatTests {
    @Test func `a record is one line with everything it knows`() throws {
        let record = LogRecord.sample(
            7, .warning, "Line\nbreak",
            metadata: [
                "n": Int64.max, "list": [1, 2], "map": ["k": "v"], "data": Data([1, 2, 3]), "none": LogValue.null, "nan": Double.nan,
            ],
            error: "gone", trace: TraceContext(traceID: "4bf92f3577b34da6a3ce929d0e0e4736", spanID: "00f067aa0ba902b7", flags: 1),
            source: LogSource(file: "Shop/Orders.swift", function: "place()", line: 42))
        let text = String(decoding: try NDJSONFormat().encode([record]), as: UTF8.self)
        #expect(
            text == #"{"time":"2026-03-01T09:30:00.123456789Z","level":"warning","label":"test","message":"Line\nbreak","#
                + #""metadata":{"n":9223372036854775807,"list":[1,2],"map":{"k":"v"},"data":"AQID","none":null,"nan":"NaN"},"#
                + #""error":"gone","id":"00000000000000ab0000000000000007","sequence":7,"uptime":7,"#
                + #""trace":"4bf92f3577b34da6a3ce929d0e0e4736","span":"00f067aa0ba902b7","flags":1,"#
                + #""file":"Shop/Orders.swift","function":"place()","line":42}"# + "\n")
    }

    @Test func `any record is a line that Foundation reads`() throws {
        var generator = SeededGenerator(seed: 3)
        let records = (0..<1_000).map { LogRecord.random($0, using: &generator) }
        let lines = try NDJSONFormat().encode(records).split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == records.count)
        for (line, record) in zip(lines, records) {
            let read = try JSONDecoder().decode(NDJSONLine.self, from: line)
            #expect(read.message == record.message)
            #expect(read.id == record.id.description)
            #expect(Set(read.metadata?.keys.map { $0 } ?? []) == Set(record.metadata.map(\.key)))
        }
    }

    @Test func `what is nested too deep is cut and said`() throws {
        var value = LogValue.int(1)
        for level in 0..<500 { value = level % 2 == 0 ? .array([value]) : ["a": value] }
        let text = String(decoding: try NDJSONFormat().encode([.sample(metadata: ["deep": value])]), as: UTF8.self)
        #expect(text.contains(LogValue.tooDeep))
    }

    @Test(
        arguments: [
            (200, .delivered()), (204, .delivered()), (202, .delivered()), (413, .split), (429, .retry), (408, .retry), (500, .retry),
            (503, .retry), (501, .pause(reason: "x")), (400, .isolate(reason: "x")), (422, .isolate(reason: "x")),
            (404, .pause(reason: "x")),
            (401, .pause(reason: "x")),
            (403, .pause(reason: "x")), (307, .pause(reason: "x")),
        ] as [(Int, DeliveryVerdict)])
    func `statuses are judged`(status: Int, verdict: DeliveryVerdict) {
        #expect(NDJSONFormat().judge(ReceiverAnswer(status: status, body: Data("x".utf8), records: 3)) == verdict)
    }
}

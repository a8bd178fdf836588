import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct ValueTextTests {
    private struct Event: Sendable { var name: String, at: Date }
    private struct Failure: Error { var event: Event, others: [String: [Date?]] = [:] }
    private enum Refusal: Error { case late(Date), window(from: Date, to: Date), plain }
    private final class Box: Sendable {
        let date: Date
        init(_ date: Date) { self.date = date }
    }
    private struct Nested: Sendable { var inner: [Nested] = [] }
    private struct Chatty: CustomStringConvertible { var description: String { String(repeating: "x", count: 1_000_000) } }

    private static let nan = Date(timeIntervalSince1970: .nan)

    /// Values that contain a date with the interval NaN, on whose description `String(describing:)` traps.
    static let unspeakable: [any Sendable] = [
        nan, Optional(nan), [nan], ["a": nan], Set([nan]), (1, nan), Event(name: "a", at: nan), [Event(name: "a", at: nan)], Box(nan),
        ["a": [["b": nan]]], DateInterval(start: .distantPast, duration: 1), Date(timeIntervalSince1970: .infinity),
        Date(timeIntervalSince1970: -.infinity), Date(timeIntervalSince1970: 1e300), Date(timeIntervalSince1970: -1e18),
        Date.distantFuture.addingTimeInterval(1e12), Result<Date, Never>.success(nan),
        DateInterval(start: nan, duration: 0), [1: DateInterval(start: nan, duration: 0)], Range(uncheckedBounds: (nan, nan)),
        ClosedRange(uncheckedBounds: (nan, nan)), PartialRangeFrom(nan), [nan, nan][1...], ContiguousArray([nan]),
        Failure(event: Event(name: "a", at: nan)),
        NSError(domain: "D", code: 1, userInfo: ["date": nan]), CocoaError(.coderReadCorrupt, userInfo: ["date": nan]),
        URLError(.badURL, userInfo: ["interval": DateInterval(start: nan, duration: 0)]),
        EncodingError.invalidValue(nan, EncodingError.Context(codingPath: [], debugDescription: "")),
        DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: [], debugDescription: "", underlyingError: CocoaError(.fileNoSuchFile, userInfo: ["d": nan]))),
    ]

    @Test(arguments: 0..<unspeakable.count) func `Every value has a text`(index: Int) {
        let value = Self.unspeakable[index]
        #expect(!ValueText.text(of: value).isEmpty)
        #expect(!ValueText.reflection(of: value).isEmpty)
        #expect(!MaskedMirror.text(of: Mirror(reflecting: value), type: "T").isEmpty)
    }

    @Test func `Parts of system types that call their descriptions are named`() {
        let interval = DateInterval(start: Self.nan, duration: 5)
        let text = ValueText.text(of: ["k": interval])
        #expect(text.contains("start: a date nan seconds from 1970") && text.contains("duration: 5.0"), "\(text)")
        #expect(ValueText.text(of: [Self.nan: 1].keys) == "[a date nan seconds from 1970]")
        #expect(ValueText.text(of: [1: Self.nan].values) == "[a date nan seconds from 1970]")
        let pairs: KeyValuePairs = ["a": Self.nan]
        #expect(ValueText.text(of: pairs).contains("a date nan seconds from 1970"))
        let refusal = URLError(.badURL, userInfo: ["NSErrorFailingDate": Self.nan])
        #expect(ValueText.text(of: refusal).contains("-1000 [(key: \"NSErrorFailingDate\", value: a date nan seconds from 1970)]"))
    }

    @Test func `What can be described is described as usual`() {
        let event = Event(name: "a \"b\"", at: Date(timeIntervalSince1970: 0))
        let values: [Any] = [
            event, [event], Refusal.late(event.at), Refusal.plain, Failure(event: event), 1, "text", ["a": 1], Optional(1) as Any,
            Decimal.nan, Data([1]), URL(fileURLWithPath: "/"), Box(event.at), DecodingError.Context(codingPath: [], debugDescription: "x"),
            Double.nan, CocoaError(.fileNoSuchFile), URLError(.timedOut), 0..<1_000_000, 1...2, DateInterval(start: event.at, duration: 1),
            [1: 2].keys, [1: 2].values, ["a": 1] as KeyValuePairs, Character("a"), "text".dropFirst(), DateComponents(year: 1),
        ]
        for value in values {
            #expect(ValueText.text(of: value) == String(describing: value))
            #expect(ValueText.reflection(of: value) == String(reflecting: value))
        }
    }

    @Test func `Parts are named where the whole can't be described`() {
        let failure = Failure(event: Event(name: "a", at: Self.nan), others: ["k": [nil]])
        #expect(
            ValueText.text(of: failure)
                == "Failure(event: Event(name: \"a\", at: a date nan seconds from 1970), others: [(key: \"k\", value: [nil])])")
        #expect(ValueText.text(of: Refusal.late(Self.nan)) == "late(a date nan seconds from 1970)")
        #expect(
            ValueText.text(of: Refusal.window(from: Date(timeIntervalSince1970: 0), to: Self.nan))
                == "window(from: 1970-01-01T00:00:00Z, to: a date nan seconds from 1970)")
    }

    @Test func `Large and deep values have a bound`() {
        #expect(ValueText.text(of: Chatty()).count == 64 * 1024 + 1 && ValueText.reflection(of: Chatty()).count == 64 * 1024 + 1)
        // The limit counts scalars: not bytes, and not characters, which have no bound.
        let accents = String(repeating: "é", count: 40_000)
        #expect(ValueText.text(of: accents) == accents)
        #expect(ValueText.text(of: "a" + String(repeating: "\u{301}", count: 1_000_000)).unicodeScalars.count <= 64 * 1024 + 1)
        #expect(ValueText.text(of: [Int](repeating: 1, count: 1_000_000)).count < 5000)
        #expect(ValueText.text(of: [Date](repeating: Self.nan, count: 100_000)).count < 5000)
        var nested = Nested()
        for _ in 0..<2000 { nested = Nested(inner: [nested]) }
        #expect(ValueText.text(of: nested).count < 5000)
    }

    @Test func `The errors of encoders and decoders hold no value that ends the process`() {
        let context = EncodingError.Context(codingPath: [WireKey("a"), WireKey("b")], debugDescription: "It has no text.")
        #expect(
            ServiceError.text(of: EncodingError.invalidValue(Self.nan, context)) == "the Date can't be encoded: It has no text at a.b")
        let unwritten = #expect(throws: EncodingError.self) { try JSONSerializer().encode(["a": Self.nan]) }
        #expect(
            unwritten.map { ServiceError.text(of: $0) } == "the Date can't be encoded: The date can't be written in ISO 8601 at a")
        for dates in [JSONDates.iso8601, .iso8601(fractionDigits: 9), .seconds, .milliseconds] {
            for date in [Self.nan, Date(timeIntervalSince1970: .infinity)] {
                let error = #expect(throws: (any Error).self) { try JSONSerializer(dates: dates).encode(["a": date]) }
                // A program may print the error.
                if let error { #expect(!"\(error)".isEmpty && !ServiceError.text(of: error).isEmpty) }
            }
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, 253_402_300_800])
    func `A call with such a date fails with a text`(seconds: Double) async throws {
        let date = Date(timeIntervalSince1970: seconds)
        for call in [
            { @Sendable (client: Store) in client.http.post("/a").body(["at": date]) }, { $0.http.get("/a/%%0%%", date) },
            { $0.http.get("/a").query("at", date) },
            { $0.http.get("/a").query(Event(name: "a", at: date)) }, { $0.http.get(uriTemplate: "/a{?0}", date) },
        ] as [@Sendable (Store) -> ServiceCall] {
            let error = await serviceError { _ = try await url(call) }
            #expect(error?.description.isEmpty == false)
        }
    }
}

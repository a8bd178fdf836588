import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Dates and times of day in the spelling of versions 2 and 3.
@Suite struct V2TimeTests {
    struct Event: Decodable, Sendable { let at: Date }
    struct Times: Decodable, Sendable { let time: EdmTimeOfDay }
    struct Lengths: Decodable, Sendable { let length: Duration, same: EdmDuration }

    /// Texts and their seconds since 1970.
    static let instants: [(String, Double)] = [
        ("2019-05-22T00:00:00", 1_558_483_200), ("2019-05-22T00:00:00.0000000", 1_558_483_200), ("2019-05-22T13:14:15.5", 1_558_530_855.5),
        ("1969-12-31T23:59:59", -1), ("2019-05-22T00:00", 1_558_483_200), ("2019-05-22T00:00:00Z", 1_558_483_200),
        ("2019-05-22T02:00:00+02:00", 1_558_483_200), ("/Date(1558483200000)/", 1_558_483_200),
        ("/Date(1558483200000+0120)/", 1_558_483_200),
        ("/Date(1558483200000-0330)/", 1_558_483_200), ("/Date(-1)/", -0.001), ("/Date(0)/", 0),
        ("/Date(-62135596800000)/", -62_135_596_800),
    ]

    @Test(arguments: instants) func `instants are read with an offset or without`(text: String, seconds: Double) async throws {
        let date = Date(timeIntervalSince1970: seconds)
        let entity = #"{"at":"\#(text)"}"#
        for body in [#"{"d":\#(entity)}"#, #"{"d":{"results":\#(entity)}}"#, #"{"odata.metadata":"x","at":"\#(text)"}"#] {
            if body.contains("results") { continue }
            #expect(try ODataDecoder().decode(Event.self, from: Data(body.utf8)).at == date, "\(body)")
        }
        for body in [#"{"d":{"results":[\#(entity)]}}"#, #"{"d":[\#(entity)]}"#, #"{"odata.metadata":"x","value":[\#(entity)]}"#] {
            #expect(try ODataDecoder().decode(ODataPage<Event>.self, from: Data(body.utf8)).entities.map(\.at) == [date], "\(body)")
        }
        // A client of version 2 reads any format.
        let stub = StubTransport()
        let client = stub.client(.v2)
        for body in [entity, #"{"d":\#(entity)}"#] {
            stub.fallback(.json(body))
            #expect(try await client.fetch(EntityRequest<Event>(at: "E(1)")).at == date)
        }
        for body in [#"{"d":{"results":[\#(entity)]}}"#, #"{"results":[\#(entity)]}"#, #"{"value":[\#(entity)]}"#, "[\(entity)]"] {
            stub.fallback(.json(body))
            #expect(try await client.fetch(FetchRequest<Event>(from: "E")).map(\.at) == [date])
            #expect(try await client.page(FetchRequest<Event>(from: "E")).entities.map(\.at) == [date])
        }
        stub.fallback(.json(#"{"d":{"F":"\#(text)"}}"#))
        #expect(try await client.evaluate(ResourcePath(function: "F")) as Date == date)
    }

    @Test func `in version 4 an instant without an offset is an error`() async throws {
        #expect(throws: DecodingError.self) { try ODataDecoder().decode(Event.self, from: Data(#"{"at":"2019-05-22T00:00:00"}"#.utf8)) }
        let stub = StubTransport()
        let client = stub.client()
        stub.fallback(.json(#"{"value":[{"at":"2019-05-22T00:00:00"}]}"#))
        await #expect(throws: ServiceError.self) { try await client.fetch(FetchRequest<Event>(from: "E")) }
    }

    static let times: [(String, String)] = [
        ("PT24H00M00S", "24:00:00"), ("PT24H", "24:00:00"), ("P1D", "24:00:00"), ("PT1440M", "24:00:00"), ("PT86400S", "24:00:00"),
        ("PT0S", "00:00:00"), ("PT00H00M00S", "00:00:00"), ("P0D", "00:00:00"), ("PT13H20M", "13:20:00"), ("PT13H20M00S", "13:20:00"),
        ("P0DT13H20M", "13:20:00"), ("P0Y0M0DT13H20M11S", "13:20:11"), ("P0Y0M0DT13H20M11.000S", "13:20:11"), ("P0M0DT1H", "01:00:00"),
        ("P00Y00M00DT00H00M01S", "00:00:01"), ("PT3661S", "01:01:01"), ("PT90M", "01:30:00"), ("PT23H59M59.9999999S", "23:59:59.9999999"),
        ("P0YT5M", "00:05:00"), ("P0Y", "00:00:00"), ("P0Y0M", "00:00:00"), ("13:20:00", "13:20:00"), ("P0Y0M1D", "24:00:00"),
    ]

    @Test(arguments: times) func `times of day are read, including the day's end`(text: String, time: String) throws {
        for body in [#"{"d":{"time":"\#(text)"}}"#, #"{"time":"\#(text)"}"#] {
            #expect(try ODataDecoder().decode(Times.self, from: Data(body.utf8)).time.description == time)
        }
        let page = try ODataDecoder().decode(ODataPage<Times>.self, from: Data(#"{"d":{"results":[{"time":"\#(text)"}]}}"#.utf8))
        #expect(page.entities.first?.time.description == time)
    }

    @Test(arguments: [
        "PT24H00M01S", "PT25H", "-PT1H", "P1Y", "P1M", "P0Y1M", "PT", "P", "", "P0YT", "24:00:00", "PT1H0Y", "P0D0Y", "0Y", "P-0Y",
    ])
    func `other texts than times of day are errors`(text: String) {
        #expect(throws: DecodingError.self) { try ODataDecoder().decode(Times.self, from: Data(#"{"time":"\#(text)"}"#.utf8)) }
    }

    @Test(arguments: [
        ("PT24H00M00S", 86_400), ("P0Y0M0DT13H20M11S", 48_011), ("P0Y0M2DT1S", 172_801), ("-P0Y0M1D", -86_400), ("PT36H", 129_600),
        ("P0M", 0),
        ("-P0YT1M", -60), ("P2DT0S", 172_800), ("PT90M", 5_400), ("P0Y0M0D", 0), ("p0y0m0dt1s", 1),
    ])
    func `durations can't contain years and months`(text: String, seconds: Int) throws {
        let body = Data(#"{"length":"\#(text)","same":"\#(text)"}"#.utf8)
        let lengths = try ODataDecoder().decode(Lengths.self, from: body)
        #expect(lengths.length == .seconds(seconds) && lengths.same.duration == .seconds(seconds))
    }

    @Test func `the day's end is written in version 2 only`() throws {
        let end = EdmTimeOfDay.endOfDay
        #expect(try ODataEncoder(.init(version: .v2)).encode(["a": end]) == Data(#"{"a":"PT24H"}"#.utf8))
        #expect(throws: EncodingError.self) { try ODataEncoder().encode(["a": end]) }
        #expect(try QueryPrinter(version: .v2).text(of: EdmValue.timeOfDay(end)) == "time'PT24H'")
        #expect(throws: ODataQueryError.self) { try QueryPrinter().text(of: EdmValue.timeOfDay(end)) }
        let last = try #require(EdmTimeOfDay("23:59:59.999"))
        #expect(end > last && end.hour == 24 && EdmTimeOfDay("24:00") == nil && EdmTimeOfDay(hour: 24, minute: 0) == nil)
    }
}

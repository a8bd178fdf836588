import Foundation
import TestSupport
import Testing

@testable import OData

@Suite struct ODataEncoderTests {
    private func text(_ value: some Encodable, _ version: ODataVersion = .v4, compatible: Bool = false) throws -> String {
        String(decoding: try ODataEncoder(.init(version: version, isIEEE754Compatible: compatible)).encode(value), as: UTF8.self)
    }

    private struct Order: Codable, Equatable {
        var id: Int64 = 9_007_199_254_740_993
        var count: Int32 = 3
        var number = 7
        var price = EdmDecimal("3.1991163E7") ?? 0
        var tax = Decimal(string: "0.19") ?? 0
        var weight = 1.5
        var ratio: Float = 0.1
        var placed = Date(timeIntervalSince1970: 1_354_511_783.5)
        var exact = EdmDateTimeOffset("2026-11-21T07:59:59.123+01:00")
        var day = EdmDate("2026-11-21")
        var opens = EdmTimeOfDay("09:50:04")
        var takes = EdmDuration("PT1H30M")
        var key = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")
        var bytes = Data([0xFB, 0xFF, 1, 2])
        var note: String?
    }

    @Test func `V4 writes numbers without exponents, base64url and ISO 8601`() throws {
        #expect(
            try text(Order())
                == #"{"id":9007199254740993,"count":3,"number":7,"price":31991163,"tax":0.19,"weight":1.5,"ratio":0.1,"placed":"2012-12-03T05:16:23.5Z","#
                + #""exact":"2026-11-21T07:59:59.123+01:00","day":"2026-11-21","opens":"09:50:04","takes":"PT1H30M","key":"01234567-89ab-cdef-0123-456789abcdef","bytes":"-_8BAg"}"#
        )
    }

    @Test func `Int64 and Decimal are strings only with the media type for it`() throws {
        #expect(
            try text(Order(), compatible: true).hasPrefix(
                #"{"id":"9007199254740993","count":3,"number":7,"price":"31991163","tax":"0.19","weight":1.5"#))
        #expect(PayloadFormat(isIEEE754Compatible: true).contentType == "application/json;odata.metadata=minimal;IEEE754Compatible=true")
        #expect(!PayloadFormat().contentType.contains("IEEE754"))
        #expect(PayloadFormat(version: .v401).contentType == "application/json;metadata=minimal")
        #expect(PayloadFormat(version: .v2, isIEEE754Compatible: true).contentType == "application/json")
    }

    @Test func `V2 writes strings for Int64, Decimal, Double and Single, its own dates and times, and base64`() throws {
        #expect(
            try text(Order(), .v2)
                == #"{"id":"9007199254740993","count":3,"number":7,"price":"31991163","tax":"0.19","weight":"1.5","ratio":"0.1","placed":"/Date(1354511783500)/","#
                + #""exact":"/Date(1795244399123+0060)/","day":"/Date(1795219200000)/","opens":"PT9H50M4S","takes":"PT1H30M","#
                + #""key":"01234567-89ab-cdef-0123-456789abcdef","bytes":"+/8BAg=="}"#)
    }

    @Test func `each version reads the values that it writes`() throws {
        for version in ODataVersion.allCases {
            for compatible in [false, true] {
                let data = try ODataEncoder(.init(version: version, isIEEE754Compatible: compatible)).encode(Order())
                #expect(try ODataDecoder().decode(Order.self, from: data) == Order(), "\(version)")
            }
        }
    }

    @Test func `values at their bounds are read as they were written in every version`() throws {
        var generator = SeededGenerator(seed: 77)
        struct Bounds: Codable, Equatable {
            var a: Int64, b: UInt64, c: Int, d: Double, e: Float, f: EdmDecimal, g: EdmTimeOfDay, h: EdmDuration, i: Data
        }
        for _ in 0..<2_000 {
            let value = Bounds(
                a: .random(in: .min ... .max, using: &generator), b: .random(in: .min ... .max, using: &generator),
                c: .random(in: .min ... .max, using: &generator), d: Double(bitPattern: generator.next()),
                e: Float(bitPattern: UInt32(truncatingIfNeeded: generator.next())),
                f: EdmDecimal(Double.random(in: -1e20...1e20, using: &generator)),
                g: EdmTimeOfDay(
                    hour: .random(in: 0...23, using: &generator), minute: .random(in: 0...59, using: &generator),
                    second: .random(in: 0...59, using: &generator), picosecond: .random(in: 0..<1_000_000_000_000, using: &generator))
                    ?? EdmTimeOfDay.midnight,
                h: EdmDuration(
                    Duration(
                        secondsComponent: .random(in: -1_000_000_000_000...1_000_000_000_000, using: &generator), attosecondsComponent: 0)),
                i: Data((0..<Int.random(in: 0...9, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }))
            guard !value.d.isNaN, !value.e.isNaN else { continue }
            for version in ODataVersion.allCases {
                let data = try ODataEncoder(.init(version: version, isIEEE754Compatible: Bool.random(using: &generator))).encode(value)
                #expect(try ODataDecoder().decode(Bounds.self, from: data) == value)
            }
        }
    }

    private struct Deadline: Codable { var at: Date }

    @Test(arguments: ["9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999999999999Z", "9999-12-31T21:59:59.9999999-02:00"])
    func `the last moment of the year 9999 stays in this year`(wire: String) throws {
        let read = try ODataDecoder().decode(Deadline.self, from: Data("{\"at\":\"\(wire)\"}".utf8))
        #expect(read.at < Date(timeIntervalSince1970: 253_402_300_800))
        #expect(try text(read) == #"{"at":"9999-12-31T23:59:59.99997Z"}"#)
        #expect(try text(read, .v2) == #"{"at":"/Date(253402300799999)/"}"#)
        #expect(EdmDateTimeOffset("10000-01-01T00:00:00.5Z")?.instant == Date(timeIntervalSince1970: 253_402_300_800.5))
    }

    /// Foundation's description of a date that isn't a number ends the process.
    @Test func `the error of a value that can't be written can be printed`() throws {
        let nan = Date(timeIntervalSince1970: .nan)
        for version in ODataVersion.allCases {
            for value in [Deadline(at: nan), ["a": [nan]], [Deadline(at: nan)]] as [any Encodable] {
                let thrown = #expect(throws: EncodingError.self) { try ODataEncoder(.init(version: version)).encode(value) }
                let error = try #require(thrown)
                var dumped = ""
                dump(error, to: &dumped)
                #expect("\(error)".contains("nan") && String(reflecting: error).contains("nan") && !dumped.isEmpty)
            }
        }
    }

    @Test func `INF is a string, for Single and Double in all versions and for Decimal from 4_01 on`() throws {
        for version in ODataVersion.allCases {
            #expect(try text([Double.infinity, -.infinity, .nan], version) == #"["INF","-INF","NaN"]"#)
        }
        #expect(try text([EdmDecimal("INF")], .v401) == #"["INF"]"#)
        #expect(throws: EncodingError.self) { try text([EdmDecimal("INF")], .v4) }
        #expect(throws: EncodingError.self) { try text([Decimal.nan]) }
    }

    @Test func `a value that a version can't represent is an error with a fix`() throws {
        let fine = try #require(EdmDateTimeOffset("2026-11-21T07:59:59.1234Z"))
        let error = #expect(throws: EncodingError.self) { try text([fine], .v2) }
        #expect("\(String(describing: error))".contains("truncated(toFractionDigits: 3)"))
        #expect(try text([fine.truncated(toFractionDigits: 3)], .v2) == #"["/Date(1795247999123)/"]"#)
        let local = try #require(EdmDateTimeOffset("2026-11-21T07:59:59"))
        #expect(throws: EncodingError.self) { try text([local]) }
        #expect(try text([local], .v2) == #"["/Date(1795247999000)/"]"#)
        #expect(throws: EncodingError.self) { try text([Date(timeIntervalSince1970: 1e300)], .v2) }
        // A Double close to a whole millisecond is that millisecond; finer fractions are rounded.
        for milliseconds in [1_795_247_999_123.0, 978_307_200_001, -62_135_596_799_999, 253_402_300_799_999, 1] {
            #expect(try text([Date(timeIntervalSince1970: milliseconds / 1_000)], .v2) == #"["/Date(\#(Int64(milliseconds)))/"]"#)
        }
        for (fine, rounded) in [(1_795_247_999.123_4, 1_795_247_999_123), (978_307_200.000_75, 978_307_200_001), (-0.001_6, -2)] {
            #expect(try text([Date(timeIntervalSince1970: fine)], .v2) == #"["/Date(\#(rounded))/"]"#)
        }
        #expect(throws: EncodingError.self) { try text([Date(timeIntervalSince1970: 1e300)]) }
        #expect(throws: EncodingError.self) { try text([EdmDecimal("1e5000")]) }
    }

    @Test func `Int is written as Int32 if it fits, else as Int64`() throws {
        #expect(try text([5, 5_000_000_000], .v2) == #"[5,"5000000000"]"#)
        #expect(try text([5, 5_000_000_000]) == "[5,5000000000]")
        #expect(try text([UInt64.max]) == "[18446744073709551615]")
        #expect(try text([UInt64.max], .v2) == #"["18446744073709551615"]"#)
    }

    @Test func `control information has the version's spelling`() {
        let (old, new) = (PayloadFormat(version: .v4), PayloadFormat(version: .v401))
        #expect(old.controlName("type") == "@odata.type" && new.controlName("type") == "@type")
        #expect(old.typeReference("Sales.Person") == "#Sales.Person" && new.typeReference("Sales.Person") == "#Sales.Person")
        #expect(old.typeReference("Int64") == "#Int64" && new.typeReference("Int64") == "Int64")
    }

    // MARK: Depth

    /// Encodes itself to a given depth.
    private struct Abyss: Encodable {
        var levels: Int
        /// Whether one call encodes all levels.
        var isLoop: Bool
        var isEmpty = false

        private struct Key: CodingKey {
            var stringValue = "a"
            var intValue: Int? { nil }
            init() {}
            init?(stringValue: String) { nil }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            guard isLoop else {
                var container = encoder.container(keyedBy: Key.self)
                if levels > 0 { try container.encode(Abyss(levels: levels - 1, isLoop: false), forKey: Key()) }
                return
            }
            var container = encoder.unkeyedContainer()
            for level in 1..<levels {
                if level % 2 == 0 {
                    container = container.nestedUnkeyedContainer()
                } else {
                    var object = container.nestedContainer(keyedBy: Key.self)
                    container = object.nestedUnkeyedContainer(forKey: Key())
                }
            }
            if !isEmpty { try container.encode(1) }
        }
    }

    @Test func `types that encode themselves endlessly are an error`() async throws {
        await onSmallStack {
            for value in [Abyss(levels: 1_000_000, isLoop: false), Abyss(levels: 200_000, isLoop: true)] {
                #expect(throws: EncodingError.self) { try ODataEncoder().encode(value) }
            }
            #expect(throws: EncodingError.self) { try ODataEncoder().encode(Abyss(levels: 200_000, isLoop: true, isEmpty: true)) }
        }
        let deep = try ODataEncoder().encode(Abyss(levels: 500, isLoop: false))
        #expect(deep.count == 3_002)
    }
}

extension EdmTimeOfDay {
    fileprivate static let midnight = EdmTimeOfDay(payload: "PT0S") ?? EdmTimeOfDay.propertySample(0).unsafelyUnwrapped
}

import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Files written by version 1, which must stay readable forever.
@Suite struct GoldenSpoolTests {
    /// The records of the segment, at positions 1 to 9.
    private static let records: [LogRecord] = [
        record(1, .trace, "plain"), record(2, .debug, ""), record(3, .info, "Grüße, 🦊\nand a line", label: "shop.orders"),
        record(
            4, .notice, "values",
            metadata: [
                "null": LogValue.null, "no": false, "yes": true, "text": "t\u{0}\"", "int": Int64.min, "double": -0.1, "nan": Double.nan,
                "date": Date(timeIntervalSinceReferenceDate: 12_345.678), "data": LogValue.data(Data([0, 1, 254, 255])),
                "array": LogValue.array([.int(.max), .string(""), .array([])]),
                "inner": LogValue.dictionary(["a": LogValue.dictionary(["b": 1])]),
            ]),
        record(5, .warning, "error", error: "It failed.\nTwice."),
        record(6, .error, "trace", trace: TraceContext(traceHigh: 0x0123_4567_89AB_CDEF, traceLow: .max, span: nil, flags: 1)),
        record(7, .critical, "span", label: "shop.orders", trace: TraceContext(traceHigh: 1, traceLow: 2, span: 0xFEDC_BA98, flags: 0)),
        record(8, .info, "source", source: LogSource(file: "Shop/Orders.swift", function: "place(_:)", line: 70_000)),
        record(
            9, .error, "all", metadata: ["text": "again"], label: "shop.orders", error: "no",
            trace: TraceContext(traceHigh: 3, traceLow: 4, span: 5, flags: 1),
            source: LogSource(file: "Shop/Orders.swift", function: "place(_:)", line: 1)),
    ]

    private static func record(
        _ number: UInt64, _ level: LogLevel, _ message: String, metadata: LogMetadata = [:], label: String = "shop", error: String? = nil,
        trace: TraceContext? = nil, source: LogSource? = nil
    ) -> LogRecord {
        LogRecord(
            id: LogRecordID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EE00 + number), sequence: number * 1_000,
            time: 1_772_357_400_123_456_789 + number, uptime: 987_654_321 + number, level: level, label: label, message: message,
            metadata: metadata, error: error, trace: trace, source: source)
    }

    /// The files of a directory, in Base64. These bytes must never change: if the code can't read them, users lose records on update. Later
    /// versions add their own files.
    private static let files = [
        "0000000000000001-0000000000000001.segment": """
        UmVtTG9nU3ABAAAAQAAAAJ/6F5O3SjJiAAAAAAMQ/r1SZW1Mb2dTcAEAAABAAAAAn/oXk7dKMmIAAAAAAxD+vfXBnvowAAAAHGS6EAEAAAAA\
        AAAAAAB3ZlVEMyIRAAHu3cy7qpmI6AcWvWRBqq2YGLJo3joAAAAABHNob3AFcGxhaW4A9cGe+isAAADTBWGIAgAAAAAAAAABAHdmVUQzIhEA\
        Au7dzLuqmYjQDxe9ZEGqrZgYs2jeOgAAAAAEc2hvcAAA9cGe+koAAABIL7c3AwAAAAAAAAACAHdmVUQzIhEAA+7dzLuqmYi4Fxi9ZEGqrZgY\
        tGjeOgAAAAALc2hvcC5vcmRlcnMYR3LDvMOfZSwg8J+migphbmQgYSBsaW5lAPXBnvq5AAAA5ZpOugQAAAAAAAAAAwB3ZlVEMyIRAATu3cy7\
        qpmIoB8ZvWRBqq2YGLVo3joAAAAABHNob3AGdmFsdWVzCwRudWxsAAJubwQDeWVzBQR0ZXh0AQN0ACIDaW50AgAAAAAAAACABmRvdWJsZQOa\
        mZmZmZm5vwNuYW4DAAAAAAAA+H8EZGF0ZQhYObTI1hzIQARkYXRhCQQAAf7/BWFycmF5BgMC/////////38BAAYABWlubmVyBwEBYQcBAWIC\
        AQAAAAAAAAD1wZ76QgAAACrASgwFAAAAAAAAAAQBd2ZVRDMiEQAF7t3Mu6qZiIgnGr1kQaqtmBi2aN46AAAAAARzaG9wBWVycm9yABFJdCBm\
        YWlsZWQuClR3aWNlLvXBnvpBAAAAxEapAwYAAAAAAAAABQJ3ZlVEMyIRAAbu3cy7qpmI8C4bvWRBqq2YGLdo3joAAAAABHNob3AFdHJhY2UA\
        782riWdFIwH//////////wH1wZ76TwAAAAiiYFwHAAAAAAAAAAYGd2ZVRDMiEQAH7t3Mu6qZiNg2HL1kQaqtmBi4aN46AAAAAAtzaG9wLm9y\
        ZGVycwRzcGFuAAEAAAAAAAAAAgAAAAAAAAAAmLrc/gAAAAD1wZ76UAAAAJJ1azUIAAAAAAAAAAIId2ZVRDMiEQAI7t3Mu6qZiMA+Hb1kQaqt\
        mBi5aN46AAAAAARzaG9wBnNvdXJjZQARU2hvcC9PcmRlcnMuc3dpZnQJcGxhY2UoXzop8KIE9cGe+noAAAAHAWWVCQAAAAAAAAAFD3dmVUQz\
        IhEACe7dzLuqmYioRh69ZEGqrZgYumjeOgAAAAALc2hvcC5vcmRlcnMDYWxsAQR0ZXh0AQVhZ2FpbgJubwMAAAAAAAAABAAAAAAAAAABBQAA\
        AAAAAAARU2hvcC9PcmRlcnMuc3dpZnQJcGxhY2UoXzopAQ==
        """,
        "default.cursor": """
        UkxvZwEAAAACAAAAAAAAAAUAAAAAAAAAAAAAAJUuRTxSTG9nAQAAAAEAAAAAAAAAAgAAAAAAAAAAAAAAwhrU8w==
        """,
        "other%20%ce%a9.cursor": """
        UkxvZwEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB9FdKZSTG9nAQAAAAEAAAAAAAAACAAAAAAAAAAAAAAA02VVHw==
        """,
    ]

    private static func content(_ file: String) throws -> [UInt8] {
        Array(try #require(files[file].flatMap { Data(base64Encoded: $0) }))
    }

    private static let segment = "0000000000000001-0000000000000001.segment"

    @Test func `each record of a segment of version 1 is what it was`() throws {
        let segment = SpoolSegment(Data(try Self.content(Self.segment)))
        #expect(segment.version == 1 && segment.damages == 0 && segment.records.count == 9)
        for (found, expected) in zip(segment.records, Self.records) {
            #expect(bytes(of: found) == bytes(of: expected))
            // NDJSON omits or rounds values that other formats keep.
            #expect(
                found.id == expected.id && found.time == expected.time && found.uptime == expected.uptime && found.level == expected.level)
            #expect(found.trace == expected.trace && found.source == expected.source && found.error == expected.error)
            #expect(String(describing: found.metadata) == String(describing: expected.metadata))
        }
    }

    @Test func `a spool of version 1 goes on where it was`() async throws {
        let disk = MemoryDisk()
        for file in Self.files.keys { disk["/spool/0/" + file] = try Self.content(file) }
        let harness = try SpoolHarness(disk)
        #expect(harness.spool.statistics.directory == "/spool/0" && harness.events.withLock { $0.isEmpty })
        // The later of the cursor's two slots counts, which is 5.
        #expect(await harness.readAll().map(\.position) == [6, 7, 8, 9])
        let other = try #require(harness.spool.store(for: "other Ω", minimumLevel: .error))
        #expect(await other.read(after: 0, limits: BatchLimits()).sequences == [9_000])
        harness.append([.sample(10_000)])
        #expect(await harness.spool.sync())
        let all = await harness.readAll()
        #expect(all.sequences == [6_000, 7_000, 8_000, 9_000, 10_000] && all.map(\.position) == [6, 7, 8, 9, 10])
    }
}

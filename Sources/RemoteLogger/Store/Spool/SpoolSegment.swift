public import Foundation

/// The content of a ``Spool`` file, for inspection.
public struct SpoolSegment: Sendable {
    /// The version of the file format; `nil` if the header is damaged beyond repair, which makes the rest unreadable, too.
    public let version: Int?
    /// The intact records, in order, each once.
    public let records: [LogRecord]
    /// The number of damaged stretches in the file. Each may have contained one or more records.
    public let damages: Int

    /// Reads the bytes of a file. Arbitrary bytes are safe. Records of an unknown version aren't read.
    public init(_ bytes: Data) {
        let content = bytes.withUnsafeBytes { bytes -> (Int?, [LogRecord], Int) in
            guard let header = SegmentHeader(bytes) else { return (nil, [], bytes.isEmpty ? 0 : 1) }
            guard header.version == SegmentHeader.version else { return (Int(header.version), [], 0) }
            var records: [LogRecord] = []
            var last: RecordPosition = 0
            var decoder = RecordDecoder()
            var scanner = SegmentScanner(bytes, from: min(bytes.count, SegmentHeader.size), salt: header.salt)
            while let frame = scanner.next() {
                guard frame.position > last else { continue }
                guard let record = decoder.record(in: UnsafeRawBufferPointer(rebasing: bytes[frame.payload])) else { continue }
                last = frame.position
                records.append(record)
            }
            return (Int(header.version), records, scanner.damages)
        }
        (version, records, damages) = content
    }

    /// Returns a record's payload: the bytes in a segment after the record's checksum and position.
    public static func payload(of record: LogRecord) -> Data {
        var encoder = RecordEncoder()
        encoder.write(record)
        return Data(encoder.bytes)
    }

    /// Returns the record of a payload; `nil` if the bytes aren't a record. Arbitrary bytes are safe; bytes after the record are ignored.
    public static func record(ofPayload payload: Data) -> LogRecord? {
        payload.withUnsafeBytes { bytes in
            var decoder = RecordDecoder()
            return decoder.record(in: bytes)
        }
    }
}

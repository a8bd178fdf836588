public import Foundation
import HTTPTransport

/// What a destination's shipper waits for, and somebody else has brought.
struct SpoolNews: Sendable {
    let destination: String
    let news: StoreNews
}

extension SpoolCore {
    /// Says what ends a destination's sleep.
    ///
    /// - Returns: whether so much isn't there yet.
    func sleep(until condition: WakeCondition, for destination: String) -> Bool {
        state.withLock { state in
            state.destinations.change(destination) { destination in
                destination.wake = condition
                return !destination.wake.take(destination.unread, destination.unreadBytes)
            } ?? true
        }
    }

    /// Tells a destination of its next loss.
    ///
    /// - Returns: whether there is none yet.
    func awaitLosses(for destination: String) -> Bool {
        state.withLock { state in
            state.destinations.change(destination) { destination in
                destination.isLossAwaited = destination.losses.isEmpty
                return destination.isLossAwaited
            } ?? true
        }
    }

    /// Tells those who wait for what reading or writing has brought about.
    func tellNews() {
        let news = state.withLock { state in
            var news: [SpoolNews] = []
            state.destinations.changeEach { name, destination in
                destination.takeNews { news.append(SpoolNews(destination: name, news: $0)) }
            }
            return news
        }
        if !news.isEmpty { tell(news) }
    }

    func tell(_ news: [SpoolNews]) {
        let listeners = self.news.withLock { $0 }
        for item in news { listeners[item.destination]?(item.news) }
    }
}

/// What a file of a ``Spool`` holds, for those who want to look into one.
public struct SpoolSegment: Sendable {
    /// The version of the file's form; `nil` when its header is damaged beyond repair, and with it everything else.
    public let version: Int?
    /// The records that are whole, in order, each once.
    public let records: [LogRecord]
    /// How many stretches of the file are damaged. Each may have held one record or several.
    public let damages: Int

    /// Reads a file's bytes. Any bytes may come. Of a version that this one doesn't know nothing is read.
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

    /// A record's payload: what stands in a segment behind the record's checksum and position.
    public static func payload(of record: LogRecord) -> Data {
        var encoder = RecordEncoder()
        encoder.write(record)
        return Data(encoder.bytes)
    }

    /// The record of a payload; `nil` when the bytes are none. Any bytes may come; what stands behind the record is passed over.
    public static func record(ofPayload payload: Data) -> LogRecord? {
        payload.withUnsafeBytes { bytes in
            var decoder = RecordDecoder()
            return decoder.record(in: bytes)
        }
    }
}

import Foundation

/// The decision how a download uses a response. The response needn't match the request: servers ignore ranges, or send other ones.
enum DownloadVerdict: Hashable, Sendable {
    /// The body continues the file at a position, and ends before another one. `total` is the length of the file, if the server knows it.
    case part(from: Int64, upTo: Int64, total: Int64?)
    /// The body is the whole file.
    case whole
    /// The partial file has all bytes.
    case complete
    /// The response can't be combined with the bytes of the partial file.
    case startOver(StartOver)

    /// The reason why a download begins again.
    struct StartOver: Error, Hashable, Sendable {
        /// The reason as part of a sentence.
        let reason: String
        /// Whether the server's ranges are unreliable, so that the next request has none.
        let hasBadRanges: Bool
        /// Whether the file has a content coding, so that the transport must decode it as a whole.
        var isCoded = false
    }

    /// The bytes that a request asked for.
    struct Question: Hashable, Sendable {
        /// The first byte.
        var position: Int64
        /// The end, exclusive; `nil` for the rest of the file.
        var end: Int64?
        /// Whether the request has a `Range`.
        var isRange: Bool
        /// Whether the bytes before the position may be written again.
        var isSequential = true

        /// The value of `Range` (RFC 9110 §14.2).
        var range: String { "bytes=\(position)-" + (end.map { "\($0 - 1)" } ?? "") }
    }

    /// Judges a response with the status 206, 416, or one that means success.
    ///
    /// - Parameter record: The record of the file; `nil` before the first response.
    init(status: Int, headers: HTTPFields, to question: Question, of record: DownloadRecord?) {
        let isCoded = ContentCoding.isPresent(in: headers)
        switch status {
        case 206:
            self = Self.ofPart(headers, isCoded: isCoded, to: question, of: record)
        case 416:
            guard question.isRange, let range = ContentRange(headers[.contentRange]), range.bytes == nil, let record,
                let total = range.total, total == question.position, record.length ?? total == total,
                record.validator?.fits(headers) == true
            else {
                self = .startOver(StartOver(reason: "the server refused the range", hasBadRanges: true))
                return
            }
            self = .complete
        default:
            self = isCoded ? .startOver(Self.coded) : .whole
        }
    }

    private static func ofPart(
        _ headers: HTTPFields, isCoded: Bool, to question: Question, of record: DownloadRecord?
    ) -> DownloadVerdict {
        func refused(_ reason: String) -> DownloadVerdict { .startOver(StartOver(reason: reason, hasBadRanges: true)) }
        func changed(_ reason: String) -> DownloadVerdict { .startOver(StartOver(reason: reason, hasBadRanges: false)) }

        guard question.isRange else { return refused("the server sent a part of the file, although the whole was requested") }
        guard !isCoded else { return .startOver(coded) }
        if headers.isMultipartByteRanges {
            return refused("the server sent several ranges as multipart/byteranges")
        }
        guard let range = ContentRange(headers[.contentRange]), let bytes = range.bytes else {
            return refused("the server's Content-Range is missing or invalid")
        }
        if let length = record?.length, let total = range.total, total != length {
            return changed("the length of the file is \(total) bytes now, and was \(length)")
        }
        if let validator = record?.validator, !validator.fits(headers) { return changed("the file has another version now") }
        guard bytes.lowerBound <= question.position, bytes.upperBound >= question.position else {
            return refused("the server sent the bytes from \(bytes.lowerBound), not from \(question.position)")
        }
        guard bytes.lowerBound == question.position || question.isSequential else {
            return refused("the server sent the bytes from \(bytes.lowerBound), not from \(question.position)")
        }
        return .part(from: bytes.lowerBound, upTo: bytes.upperBound + 1, total: range.total)
    }

    private static let coded = StartOver(reason: "the server compresses the file", hasBadRanges: true, isCoded: true)
}

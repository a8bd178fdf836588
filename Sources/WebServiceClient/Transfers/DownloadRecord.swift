import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// The description of a partial file. It is stored in a file next to the partial file, so that it survives the end of the process.
///
/// It is JSON with the mode 0600. It has no secrets: the URL is masked.
struct DownloadRecord: Hashable, Sendable, Codable {
    /// A part of the file that successive requests fill.
    struct Piece: Hashable, Sendable, Codable {
        /// The first byte.
        var start: Int64
        /// The end, exclusive; `nil` while the length of the file is unknown.
        var end: Int64?
        /// The number of bytes that are in the file.
        var done: Int64 = 0
        /// The number of those bytes that are synchronized to the disk.
        var synced: Int64 = 0

        /// The position of the next byte.
        var position: Int64 { start + done }
        /// The number of missing bytes; `nil` if it isn't known.
        var missing: Int64? { end.map { $0 - position } }
        var isComplete: Bool { missing == 0 }
    }

    /// The version of the format.
    var version = Self.currentVersion
    /// The URL as first requested, masked. Redirects may lead to URLs that expire.
    var url: String
    /// Proves that a range belongs to the same version of the file. Without it, the download can't continue.
    var validator: EntityValidator?
    /// The length of the whole file; `nil` if it is unknown.
    var length: Int64?
    /// The checksums that the server sent.
    var checksums: [ContentDigest] = []
    /// The pieces in order. They are adjacent, and cover the file from its beginning.
    var pieces: [Piece]
    /// Identifies the boot of the operating system under which `done` is valid.
    var boot: String?

    static let currentVersion = 1
    /// The maximum number of bytes of a record's file.
    static let sizeLimit: Int64 = 1 << 20
    /// The minimum number of bytes of a piece after a split.
    static let smallestPiece: Int64 = 1 << 20
    /// The maximum number of concurrent requests.
    static let segmentLimit = 16

    /// The number of bytes that are in the file.
    var done: Int64 { pieces.reduce(0) { $0 + $1.done } }
    var isComplete: Bool { length != nil && pieces.allSatisfy(\.isComplete) }

    /// Reads a record; `nil` if the data isn't one of this version, or contradicts itself.
    init?(_ data: Data) {
        guard let record = try? JSONDecoder().decode(Self.self, from: data), record.isValid else { return nil }
        self = record
    }

    init(url: String, validator: EntityValidator?, length: Int64?, checksums: [ContentDigest] = []) {
        self.url = url
        self.validator = validator
        self.length = length
        self.checksums = checksums
        pieces = [Piece(start: 0, end: length)]
    }

    /// The digests of the whole file in a response: `Repr-Digest` (RFC 9530 §3), and `Content-MD5` (RFC 1864) unless the response is a
    /// part. Unknown algorithms are ignored, as the RFC requires.
    static func checksums(in headers: HTTPFields, isWhole: Bool) -> [ContentDigest] {
        var digests = (try? ContentDigest.digests(in: headers[values: .reprDigest])) ?? []
        if isWhole, let text = headers["Content-MD5"], let bytes = Data(base64Encoded: text.trimmingCharacters(in: .whitespaces)) {
            digests.append(ContentDigest(.md5, bytes))
        }
        return digests.filter(\.isValid)
    }

    /// The record as JSON.
    func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    private var isValid: Bool {
        guard version == Self.currentVersion, validator?.isValid != false, length ?? 0 >= 0, !pieces.isEmpty, pieces.count <= 10_000 else {
            return false
        }
        var position: Int64 = 0
        for (index, piece) in pieces.enumerated() {
            guard piece.start == position, (0...Int64.max - position).contains(piece.done), (0...piece.done).contains(piece.synced) else {
                return false
            }
            guard let end = piece.end else { return length == nil && index == pieces.count - 1 }
            guard end >= piece.position else { return false }
            position = end
        }
        return length == position
    }

    /// Adjusts the record to the file that it describes.
    ///
    /// A single piece is written sequentially, so the size of the file is the exact count. With several pieces, the counts in the last
    /// written record apply. After a restart of the system, only synchronized bytes count.
    ///
    /// - Returns: Whether the file can be continued.
    mutating func adjust(toFileOf size: Int64, boot current: String?) -> Bool {
        guard validator != nil, size <= length ?? .max else { return false }
        let isSameBoot = boot != nil && boot == current
        if pieces.count == 1 {
            guard size >= pieces[0].synced else { return false }
            pieces[0].done = isSameBoot ? size : min(size, pieces[0].synced)
        } else {
            for index in pieces.indices {
                if !isSameBoot { pieces[index].done = pieces[index].synced }
                guard pieces[index].done == 0 || pieces[index].position <= size else { return false }
            }
        }
        boot = current
        return true
    }

    /// Splits the largest pieces until several requests can run concurrently.
    mutating func split(for segments: Int) {
        guard length != nil, validator != nil else { return }
        while pieces.filter({ !$0.isComplete }).count < min(segments, Self.segmentLimit) {
            let largest = pieces.indices.max { pieces[$0].missing ?? 0 < pieces[$1].missing ?? 0 }
            guard let largest, let end = pieces[largest].end, let missing = pieces[largest].missing, missing >= 2 * Self.smallestPiece
            else {
                return
            }
            let middle = pieces[largest].position + missing / 2
            pieces[largest].end = middle
            pieces.insert(Piece(start: middle, end: end), at: largest + 1)
        }
    }

    /// Identifies the boot of the operating system; `nil` if the system has no such value. Then only synchronized bytes count.
    static let currentBoot: String? = {
        #if canImport(Darwin)
        var size = 0
        guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, (1...256).contains(size) else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines)
        #endif
    }()
}

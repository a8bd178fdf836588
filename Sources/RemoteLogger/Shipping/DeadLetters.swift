public import Foundation
import HTTPTransport

/// A file for records that a receiver has permanently refused, in NDJSON. Each line contains the receiver, the reason, and the record with
/// secrets masked.
///
///     let shipper = try LogShipper(to: collector, format: OTLPFormat()) {
///         $0.deadLetters = DeadLetters(file: URL(filePath: "/var/log/shop/refused.ndjson"))
///     }
///
/// The size is limited: at half of ``maximumBytes`` the file is renamed with the suffix `.1`, replacing its predecessor, and a new one is
/// started. Several shippers may share a dead-letter file.
public final class DeadLetters: Sendable {
    /// The file.
    public let file: URL
    /// The maximum size of the file and its predecessor together, in bytes. A line longer than half of it isn't written.
    public let maximumBytes: Int

    private struct State: Sendable {
        var written: UInt64 = 0
        var lost: UInt64 = 0
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "RemoteLogger.DeadLetters", qos: .utility)
    private let files: SpoolFileSystem

    /// Creates a dead-letter file in an existing directory. The file itself is created for the first record.
    public convenience init(file: URL, maximumBytes: Int = 16 << 20) {
        self.init(file: file, maximumBytes: maximumBytes, files: .system)
    }

    package init(file: URL, maximumBytes: Int, files: SpoolFileSystem) {
        self.file = file
        self.maximumBytes = max(2, maximumBytes)
        self.files = files
    }

    /// The number of records written so far.
    public var written: UInt64 { state.withLock { $0.written } }
    /// The number of records that couldn't be written, because the disk failed or the line was too long.
    public var lost: UInt64 { state.withLock { $0.lost } }

    /// Writes records and syncs them.
    func write(_ records: [LogRecord], _ reason: DropReason, _ message: String, receiver: String) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                let written = write(records.map { Self.line(of: $0, reason, message, receiver) })
                state.withLock { state in
                    state.written += UInt64(written)
                    state.lost += UInt64(records.count - written)
                }
                continuation.resume()
            }
        }
    }

    private static func line(of record: LogRecord, _ reason: DropReason, _ message: String, _ receiver: String) -> [UInt8] {
        var text = JSONText()
        text.raw("{\"receiver\":")
        text.string(receiver)
        text.raw(",\"reason\":")
        text.string(reason.rawValue)
        text.raw(",\"message\":")
        text.string(LogRedaction.standard.masked(message))
        text.raw(",\"record\":")
        NDJSONFormat.write(record, into: &text)
        text.raw("}\n")
        return Array(text.data)
    }

    private var path: String { file.path(percentEncoded: false) }

    /// Appends lines to the file.
    ///
    /// - Returns: The number of lines on disk.
    private func write(_ lines: [[UInt8]]) -> Int {
        let half = maximumBytes / 2
        var written = 0
        do throws(SpoolFault) {
            var (size, piece) = try end()
            var count = 0
            for line in lines where line.count <= half {
                if size + piece.count + line.count > half {
                    if count > 0 { try append(piece, at: size) }
                    written += count
                    if size + count > 0 { try files.rename(path, path + ".1") }
                    (size, piece, count) = (0, [], 0)
                }
                piece += line
                count += 1
            }
            if count > 0 { try append(piece, at: size) }
            written += count
        } catch {
            // Unwritten lines count as lost.
        }
        return written
    }

    /// Returns the file's size, and the newline that must precede the next line if an earlier process left an incomplete one.
    ///
    /// Only a missing file counts as empty: a file that can't be read now would otherwise be overwritten.
    private func end() throws(SpoolFault) -> (size: Int, gap: [UInt8]) {
        do throws(SpoolFault) {
            return try files.with(path, .read) { file throws(SpoolFault) in
                let size = try files.size(file)
                let last = try files.readAll(file, max(0, size - 1)..<size)
                let newline = UInt8(ascii: "\n")
                return (size, last.count == 0 || last.last == newline ? [] : [newline])
            }
        } catch {
            guard error.isMissing else { throw error }
            return (0, [])
        }
    }

    private func append(_ bytes: [UInt8], at size: Int) throws(SpoolFault) {
        try files.with(path, size == 0 ? .create : .update) { file throws(SpoolFault) in
            do throws(SpoolFault) {
                try files.writeAll(file, size, bytes)
                try files.sync(file)
            } catch {
                // An incomplete line would corrupt the next one, too.
                try? files.truncate(file, size)
                throw error
            }
        }
    }
}

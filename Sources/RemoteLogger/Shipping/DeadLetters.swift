public import Foundation
import HTTPTransport

/// A file for records that a receiver has refused for good: NDJSON, a line for each, of who refused it and why, and the record with secrets
/// masked.
///
///     let shipper = try LogShipper(to: collector, format: OTLPFormat()) {
///         $0.deadLetters = DeadLetters(file: URL(filePath: "/var/log/shop/refused.ndjson"))
///     }
///
/// The file is bounded: when it has half of ``maximumBytes`` it takes the place of its predecessor, whose name has `.1` at its end, and
/// a new one begins. Shippers may share one.
public final class DeadLetters: Sendable {
    /// The file.
    public let file: URL
    /// The most bytes of the file and its predecessor together. A line that is longer than half of them isn't written.
    public let maximumBytes: Int

    private struct State: Sendable {
        var written: UInt64 = 0
        var lost: UInt64 = 0
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "RemoteLogger.DeadLetters", qos: .utility)
    private let files: SpoolFileSystem

    /// A file for dead letters, whose directory exists. It is made when the first one comes.
    public convenience init(file: URL, maximumBytes: Int = 16 << 20) {
        self.init(file: file, maximumBytes: maximumBytes, files: .system)
    }

    package init(file: URL, maximumBytes: Int, files: SpoolFileSystem) {
        self.file = file
        self.maximumBytes = max(2, maximumBytes)
        self.files = files
    }

    /// How many records were written to it so far.
    public var written: UInt64 { state.withLock { $0.written } }
    /// How many could not be written, since the disk failed or the line was too long.
    public var lost: UInt64 { state.withLock { $0.lost } }

    /// Writes records and syncs them.
    func bury(_ records: [LogRecord], _ reason: DropReason, _ message: String, receiver: String) async {
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

    /// - Returns: how many lines are on disk.
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
            // What isn't there is counted as lost.
        }
        return written
    }

    /// The file's size, and what has to stand before the next line: the end of one that was torn when a process ended.
    ///
    /// Only a file that isn't there is empty: one that can't be asked now would be overwritten else.
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
                // Half a line would spoil the next one, too.
                try? files.truncate(file, size)
                throw error
            }
        }
    }
}

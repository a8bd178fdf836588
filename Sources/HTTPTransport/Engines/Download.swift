import CSystemLibraries
public import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension TransportResponse {
    /// Writes the body to a file while it arrives; see ``ResponseBody/write(to:replacing:progress:)``.
    ///
    /// The status is the caller's to check: the body of a 404 is written as well.
    @discardableResult
    public func write(
        to destination: URL, replacing: Bool = false, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Int64 {
        try await body.write(to: destination, replacing: replacing, progress: progress)
    }
}

extension ResponseBody {
    /// Writes the body to a file while it arrives.
    ///
    /// The bytes go to a temporary file in the destination's folder, which takes the destination's place in one step when the last byte is
    /// there. When anything fails, or the task is cancelled, that file is removed and the destination is what it was.
    ///
    /// - Parameters:
    ///   - destination: the file; its folder must exist.
    ///   - replacing: whether a file that is there already is replaced. Otherwise it is refused, before anything of the body is read.
    ///   - progress: told of the bytes written, in order.
    /// - Returns: the number of bytes written.
    /// - Throws: ``DownloadError``, `CancellationError`, and what the transfer throws when it breaks.
    @discardableResult
    public func write(
        to destination: URL, replacing: Bool = false, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Int64 {
        let file = try DownloadFile(destination: destination, replacing: replacing)
        let meter = progress.map { DownloadMeter(total: expectedLength, report: $0) }
        do {
            var written: Int64 = 0
            for try await piece in self {
                try file.write(piece)
                written += Int64(piece.count)
                meter?.passed(piece)
            }
            try Task.checkCancellation()
            try file.moveInPlace()
            meter?.passed(nil)
            return written
        } catch {
            file.discard()
            cancel()
            throw error
        }
    }
}

/// Why a body could not be written to a file.
public struct DownloadError: DescribedError, Sendable {
    /// What is wrong and what to do.
    public let message: String
    /// Whether the destination was there already, and was not to be replaced.
    public let destinationExists: Bool

    /// An error with that message.
    public init(message: String, destinationExists: Bool = false) {
        self.message = message
        self.destinationExists = destinationExists
    }

    /// The message.
    public var description: String { message }
}

/// A file that is being downloaded: a temporary one beside its destination, until it takes its place.
struct DownloadFile {
    private let destination: String
    private let temporary: String
    private let name: String
    private let replacing: Bool
    private let handle: FileHandle

    /// Creates the temporary file.
    init(destination: URL, replacing: Bool) throws(DownloadError) {
        guard destination.isFileURL else {
            throw DownloadError(message: "The destination \(SecretMask.text(of: destination)) is no file: give a file URL.")
        }
        let folder = destination.deletingLastPathComponent()
        name = destination.lastPathComponent
        self.destination = destination.path(percentEncoded: false)
        self.replacing = replacing
        var status = csl_file_status()
        if csl_status_at_path(self.destination, false, &status) == 0 {
            guard !status.is_folder else {
                throw DownloadError(message: "The destination \(name) is a folder: name a file in it.", destinationExists: true)
            }
            guard replacing else { throw Self.exists(name) }
        }
        temporary = folder.appending(path: ".download-\(UUID().uuidString)", directoryHint: .notDirectory).path(percentEncoded: false)
        let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            if let shortage = DescriptorShortage.sentence(for: errno) {
                throw DownloadError(message: "No file can be made for the download of \(name) now. \(shortage)")
            }
            throw DownloadError(
                message:
                    "No file can be made beside \(name) in \(folder.lastPathComponent) (\(Self.reason)): is the folder there and writable?")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Writes a piece at the end.
    func write(_ piece: Data) throws(DownloadError) {
        do {
            try handle.write(contentsOf: piece)
        } catch {
            throw DownloadError(message: "The download of \(name) could not be written: is the disk full?")
        }
    }

    /// Lets the file take its destination's place in one step.
    func moveInPlace() throws(DownloadError) {
        do {
            try handle.close()
        } catch {
            throw DownloadError(message: "The download of \(name) could not be written to its end: is the disk full?")
        }
        guard replacing || !linkInPlace() else { return }
        if !replacing {
            guard errno != EEXIST else { throw Self.exists(name) }
            // The file system has no links; then there is a moment between looking and moving.
            guard access(destination, F_OK) != 0 else { throw Self.exists(name) }
        }
        guard rename(temporary, destination) == 0 else {
            throw DownloadError(message: "The download could not be moved to \(name) (\(Self.reason)).")
        }
    }

    /// Gives the file its name as long as nothing else has it: a link fails where a renaming would replace.
    private func linkInPlace() -> Bool {
        guard link(temporary, destination) == 0 else { return false }
        unlink(temporary)
        return true
    }

    /// Removes the temporary file.
    func discard() {
        try? handle.close()
        unlink(temporary)
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func exists(_ name: String) -> DownloadError {
        DownloadError(
            message: "The destination \(name) is there already: choose another name, or allow replacing.", destinationExists: true)
    }
}

/// Tells of a response body's arrival while it is read, and once more at its end where the total wasn't known.
final class DownloadMeter: Sendable {
    private let total: Int64?
    private let report: @Sendable (TransferProgress) -> Void
    private let state = Locked((completed: Int64(0), isFinished: false))

    /// A meter for a body of that length, if it is known.
    init(total: Int64?, report: @escaping @Sendable (TransferProgress) -> Void) {
        self.total = total
        self.report = report
    }

    /// A piece was read, or the end.
    func passed(_ piece: Data?) {
        let progress: TransferProgress? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.completed += Int64(piece?.count ?? 0)
            state.isFinished = piece == nil || state.completed == total
            return TransferProgress(completed: state.completed, total: state.isFinished ? state.completed : total)
        }
        if let progress { report(progress) }
    }
}
